"""Run flows over links: max-min fair rates from one instant to the next.

The model: a flow is a fluid. At every moment each gets its max-min fair rate, at once; a byte that leaves is received
one propagation delay later. It is wrong where packets matter: queues, pauses, marks and losses, incast of short
messages, and times shorter than a round trip.
"""

from __future__ import annotations

import numpy as np

from eastwest.simulate.compiled import kernel_that_allocates
from eastwest.simulate.flow.build import event_table
from eastwest.simulate.flow.checks import check_order, check_tables
from eastwest.simulate.flow.loop import ENDED, POOL_IS_FULL, advance
from eastwest.simulate.flow.outside import book_carried, bring_up_to_now
from eastwest.simulate.flow.recording import record_end
from eastwest.simulate.flow.records import AMOUNT_PER_BYTE, Records, World
from eastwest.simulate.flow.symmetric import (
    FIRST_STEPS,
    LEAST_GAIN,
    LOOK_EVERY,
    MORE_STEPS,
    continued_outcome,
    first_steps,
    period_of,
    steady_steps,
)
from eastwest.simulate.flow.tables import (
    NOT_YET_PS,
    EventTable,
    Float64,
    FlowOutcome,
    FlowState,
    FlowTable,
    Int8,
    Int64,
    LinkTable,
    PathTable,
    Progress,
    ProgressReport,
    RecordWish,
    RunStatus,
    WindowFacts,
)
from eastwest.simulate.flow.transport_table import TransportTable, check_transport
from eastwest.simulate.flow.world import build_world, children_of, first_pool, larger_pool, wants_of

ACTIVE = int(FlowState.ACTIVE)
WORK_PER_FLOW = 3  # a start, an end and a rate at least
LONGEST_STRETCH = 200_000  # events and rates between two looks at Ctrl-C: some tenths of a second


@kernel_that_allocates
def book_live(world: World) -> Float64:
    """Bytes that the active flows sent until now, added to their links, and the stopped until then; (n_flows,), 0 for
    the others.
    """
    sent = np.zeros(len(world.runs))
    for flow in range(len(world.runs)):
        index = int(world.runs[flow]["slot"])
        if index == -1:
            continue
        if index < -1:  # stopped: its slot is kept as it was then
            sent[flow] = world.wants.size_bytes[flow] - world.slots[-2 - index]["left"] / AMOUNT_PER_BYTE
            continue
        bring_up_to_now(world, index)
        if world.state[0]["has_loss"]:
            book_carried(world, index)
        slot = world.slots[index]
        sent[flow] = world.wants.size_bytes[flow] - slot["left"] / AMOUNT_PER_BYTE
        amount = (slot["booked"] - slot["left"]) / AMOUNT_PER_BYTE
        slot["booked"] = slot["left"]
        for row in range(slot["hop_first"], slot["hop_end"]):
            world.sent_bytes[world.hops[row]["link"]] += amount * world.hops[row]["share"]
    return sent


class Run:
    """One run in progress: its tables and how far it is."""

    def __init__(
        self,
        links: LinkTable,
        paths: PathTable,
        flows: FlowTable,
        events: EventTable,
        wish: RecordWish,
        transport: TransportTable | None = None,
    ) -> None:
        check_tables(links, paths, flows, events)
        transport = transport or TransportTable()
        check_transport(transport, links.n_links, flows.n_flows, paths.n_paths)
        child_offsets, children = children_of(flows.parent_offsets, flows.parents)
        check_order(flows, child_offsets, children)
        wants = wants_of(flows, child_offsets, children)
        self.flows, self.wish = flows, wish
        self.world: World = build_world(links, paths, flows, events, wish, wants, transport)
        self.pool: Records = first_pool(links)
        self.has_ended = False

    def advance(self, max_work: int) -> None:
        """Go on for about that many events and rates, or to the end."""
        reason = advance(self.world, self.pool, max_work)
        while reason == POOL_IS_FULL:
            self.pool = larger_pool(self.pool)
            reason = advance(self.world, self.pool, max_work)
        self.has_ended = reason == ENDED

    def start_at_zero(self) -> Float64:
        """Start what starts at time 0 and find the rates, bit/s (n_flows,); nothing is sent."""
        self.advance(1)
        slot = self.world.runs["slot"]
        rates = np.zeros(len(slot))
        rates[slot >= 0] = self.world.slots["rate_bps"][slot[slot >= 0]]
        return rates

    def report(self) -> ProgressReport:
        """Where the run is."""
        now = self.world.state[0]
        return ProgressReport(
            time_ps=round(float(now["now_ps"])),
            n_events=int(now["n_events"]),
            n_live=int(now["n_live"]),
            n_ended=int(now["n_ended"]),
            n_flows=self.flows.n_flows,
        )

    def outcome(self) -> FlowOutcome:
        """What came of it so far."""
        world, now = self.world, self.world.state[0]
        if len(world.loads):
            record_end(world)
        state = world.runs["state"].copy()
        sent = np.where(state == FlowState.DONE, self.flows.size_bytes, np.rint(book_live(world)).astype(np.int64))
        is_active = state == ACTIVE
        status = RunStatus.INTERRUPTED if not self.has_ended else RunStatus.STALLED if is_active.any() else None
        return FlowOutcome(
            status=RunStatus.COMPLETE if status is None else status,
            time_ps=round(float(now["now_ps"])),
            start_ps=whole_ps(world.runs["start_ps"]),
            end_ps=whole_ps(world.runs["end_ps"]),
            state=state,
            sent_bytes=sent,
            link_bytes=np.rint(world.sent_bytes).astype(np.int64),
            link_peak_bps=world.loads["peak_bps"].copy() if len(world.loads) else None,
            link_busy_ps=whole_ps(world.loads["busy_ps"]) if len(world.loads) else None,
            series_bytes=world.series if world.series.size else None,
            series_bin_ps=round(float(now["bin_ps"])),
            n_events=int(now["n_events"]),
            n_solves=int(now["n_solves"]),
            n_rates=int(now["n_rates"]),
            stalled=np.flatnonzero(is_active) if self.has_ended else np.empty(0, np.int64),
            path=world.runs["way"].copy() if now["has_flowlets"] else None,
            carried_bytes=self._carried(state, sent) if now["has_loss"] else None,
            windows=self._windows() if now["has_windows"] else None,
        )

    def _carried(self, state: Int8, sent: Int64) -> Float64:
        """(n_flows,) bytes that the flows sent for what arrived, repetitions counted."""
        found: Float64 = np.maximum(self.world.fates["carried"], np.where(state == FlowState.DONE, sent, 0.0))
        return found

    def _windows(self) -> WindowFacts:
        """What came of the windows."""
        found = self.world.connections
        return WindowFacts(
            found["window"].copy(), found["slow_ps"].copy(), found["n_restarts"].copy(), found["is_lossy"] > 0
        )


def whole_ps(times_ps: Float64) -> Int64:
    """Times rounded to whole picoseconds; `NOT_YET_PS` stays."""
    return np.where(times_ps < 0, NOT_YET_PS, np.rint(times_ps)).astype(np.int64)


def carry_on(run: Run, progress: Progress | None) -> None:
    """Run to the end, reporting on the way; KeyboardInterrupt ends it early."""
    stretch = min(run.wish.progress_every, LONGEST_STRETCH)
    reported = 0
    try:
        while not run.has_ended:
            run.advance(stretch)
            n_events = int(run.world.state[0]["n_events"])
            if progress is not None and n_events >= reported + run.wish.progress_every:
                reported = n_events
                progress(run.report())
    except KeyboardInterrupt:
        return


def run_repeating(links: LinkTable, paths: PathTable, flows: FlowTable, wish: RecordWish) -> FlowOutcome | None:
    """Run the first steps of a table that repeats itself and continue them; None when that does not hold."""
    period = period_of(flows)
    if period is None:
        return None
    n_steps = FIRST_STEPS
    while LEAST_GAIN * n_steps * period < flows.n_flows:
        run = Run(links, paths, first_steps(flows, n_steps * period), event_table(), wish)
        while not run.has_ended:
            run.advance(LOOK_EVERY * WORK_PER_FLOW * period)
            steady = steady_steps(paths, flows, period, run.world.runs["start_ps"], run.world.runs["end_ps"])
            if steady is not None:
                return continued_outcome(run.outcome(), steady, paths, flows, period, links.n_links)
        n_steps *= MORE_STEPS
    return None


def run_flows(
    links: LinkTable,
    paths: PathTable,
    flows: FlowTable,
    events: EventTable | None = None,
    wish: RecordWish | None = None,
    progress: Progress | None = None,
    *,
    repeats_once: bool = True,
    transport: TransportTable | None = None,
) -> FlowOutcome:
    """Run all flows to the end, or to a KeyboardInterrupt (from the keyboard or from `progress`).

    Completion time = transmission at max-min fair rates plus the path's propagation delay. With `repeats_once`, a
    table of identical dependent steps is run only until its steps repeat (`FlowOutcome.n_skipped` says how many flows
    follow from that), unless there are events or loads to record. `transport` adds windows, losses and flowlets.

    Raises:
        UsageError: a table is malformed, an index points nowhere, or flows wait for each other in a circle.
    """
    wish, events = wish or RecordWish(), event_table() if events is None else events
    is_interrupted = False
    if repeats_once and transport is None and not events.n_events and not wish.link_load and not wish.bin_ps:
        try:
            found = run_repeating(links, paths, flows, wish)
            if found is not None:
                return found
        except KeyboardInterrupt:
            is_interrupted = True
    run = Run(links, paths, flows, events, wish, transport)
    if not is_interrupted:
        carry_on(run, progress)
    return run.outcome()
