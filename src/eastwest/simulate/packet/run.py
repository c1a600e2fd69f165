"""Run a prepared scenario packet by packet, in stretches between which Ctrl-C and outside events are looked at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eastwest.simulate.flow.tables import Progress, ProgressReport, RunStatus
from eastwest.simulate.network import Ints
from eastwest.simulate.packet.build import build_world, payload_of
from eastwest.simulate.packet.engine import ENDED, OUTSIDE_EVENT, POOL_IS_SHORT, advance
from eastwest.simulate.packet.events import INDEX_BITS, KIND_MASK, MAX_EVENTS, OUTSIDE, START, renumber
from eastwest.simulate.packet.flows import ACTIVE, DONE, FAILED, STOPPED
from eastwest.simulate.packet.kernel import table
from eastwest.simulate.packet.outside import apply_outside
from eastwest.simulate.packet.params import NO_LIFETIME_PS, PacketParams
from eastwest.simulate.packet.pool import PACKET
from eastwest.simulate.packet.watch import find_cycle
from eastwest.simulate.packet.world import World
from eastwest.simulate.prepared import Prepared

STRETCH_EVENTS = 200_000  # between two looks at Ctrl-C: some tenths of a second
LAST_NUMBER = MAX_EVENTS // 2  # of an event, before they are numbered anew; a stretch uses far fewer
STRETCH_PS = 10_000_000_000  # between two looks at whether anything moves: 10 ms


@dataclass(frozen=True, eq=False)
class PacketOutcome:
    """What came of a run: times of flows (-1: not), bytes, and the tables with their counters."""

    status: RunStatus
    time_ps: int
    start_ps: Ints
    end_ps: Ints
    sent_bytes: Ints
    world: World
    cycle: tuple[int, ...] = ()  # links whose paused queues wait for each other
    stuck_ps: int = -1  # since when they do

    @property
    def n_hops(self) -> int:
        """Packets times links, answers included."""
        return int(self.world.clock[0]["n_hops"])

    @property
    def n_events(self) -> int:
        """Events handled."""
        return int(self.world.clock[0]["n_events"])


def run_packets(
    prepared: Prepared, params: PacketParams | None = None, progress: Progress | None = None
) -> PacketOutcome:
    """Run to the end of the last flow. Raises UsageError when the tables do not fit; Ctrl-C gives what there is."""
    world, routes = build_world(prepared, params or PacketParams())
    status, reason, seen, stuck_ps = RunStatus.COMPLETE, -1, -1, -1
    cycle: tuple[int, ...] = ()
    watch = Silence()
    try:
        while reason != ENDED:
            reason = advance(world, STRETCH_EVENTS, int(world.clock[0]["now_ps"]) + STRETCH_PS)
            if reason == POOL_IS_SHORT:
                world = with_more_packets(world)
            elif reason == OUTSIDE_EVENT:
                world = apply_outside(world, prepared, routes, int(world.clock[0]["next_outside"]))
            else:
                if progress is not None:
                    progress(_report(prepared, world))
                if not cycle:
                    cycle, seen = _watched(world, seen)
                    stuck_ps = seen if cycle else -1
                if (cycle and not can_unlock(world)) or is_at_rest(world) or watch.is_silent(world):
                    break
                if world.clock[0]["sequence"] > LAST_NUMBER:
                    renumber(world.heap, world.clock)
    except KeyboardInterrupt:
        status = RunStatus.INTERRUPTED
    return _outcome(prepared, world, status, cycle, stuck_ps)


def _outcome(
    prepared: Prepared, world: World, status: RunStatus, cycle: tuple[int, ...], stuck_ps: int
) -> PacketOutcome:
    """What came of it, from the tables as they are now."""
    if status == RunStatus.COMPLETE and not np.isin(world.flows["state"], (DONE, STOPPED, FAILED)).all():
        status = RunStatus.STALLED
    flows = world.flows
    payload = payload_of(prepared)
    received = np.minimum(flows["expected"].astype(np.int64) * prepared.scenario.payload_bytes, payload)
    wire = received + flows["expected"].astype(np.int64) * prepared.scenario.overhead_bytes
    is_whole = status == RunStatus.COMPLETE and not (flows["state"] == FAILED).any()
    time_ps = int(flows["end_ps"].max(initial=0)) if is_whole else int(world.clock[0]["now_ps"])
    return PacketOutcome(
        status, time_ps, flows["start_ps"].copy(), flows["end_ps"].copy(), wire, world, cycle, stuck_ps
    )


def _watched(world: World, seen: int) -> tuple[tuple[int, ...], int]:
    """A cycle of paused queues when no packet has reached a host since the last look, and when one last did."""
    moved = int(world.clock[0]["progress_ps"])
    return (tuple(find_cycle(world)) if moved == seen else ()), moved


def is_at_rest(world: World) -> bool:
    """Whether no flow sends and none will: only what repeats itself (watchdog, pauses) is left to come."""
    state = world.clock[0]
    if state["n_live"] > 0:
        return False
    due = world.heap["code"][int(state["has_hole"]) : int(state["n_due"])]
    kinds = (due >> INDEX_BITS) & KIND_MASK
    return not np.isin(kinds, (START, OUTSIDE)).any()


class Silence:
    """Whether for longer than any timer nothing has left on any link: timers alone go on for ever then."""

    def __init__(self) -> None:
        self.n_hops, self.since_ps = -1, 0

    def is_silent(self, world: World) -> bool:
        """Look again; True when it has lasted too long."""
        state, wish = world.clock[0], world.params[0]
        if int(state["n_hops"]) != self.n_hops:
            self.n_hops, self.since_ps = int(state["n_hops"]), int(state["now_ps"])
        timers = int(world.flows["timeout_ps"][world.flows["state"] == ACTIVE].max(initial=0))
        lifetime = int(wish["head_of_queue_ps"]) if has_credits(world) and can_unlock(world) else 0
        watchdog = int(wish["detect_ps"] + wish["restore_ps"])
        return int(state["now_ps"]) - self.since_ps > 2 * max(timers, watchdog, lifetime, STRETCH_PS)


def can_unlock(world: World) -> bool:
    """Whether something ends a deadlock: a watchdog, or with credits the lifetime at the head of a queue."""
    if has_credits(world):
        return bool(world.params[0]["head_of_queue_ps"] < NO_LIFETIME_PS)
    return bool(world.params[0]["watchdog"])


def has_credits(world: World) -> bool:
    """Whether this is InfiniBand."""
    return bool((world.queues["is_credited"] > 0).any())


def with_more_packets(world: World) -> World:
    """The world with twice the rows for packets."""
    packets = table(2 * len(world.packets), PACKET)
    packets[: len(world.packets)] = world.packets
    world.clock[0]["n_free"] += len(world.packets)
    return world._replace(packets=packets)


def _report(prepared: Prepared, world: World) -> ProgressReport:
    state = world.clock[0]
    n_flows = prepared.flows.n_flows
    return ProgressReport(
        time_ps=int(state["now_ps"]),
        n_events=int(state["n_events"]),
        n_live=int(state["n_live"]),
        n_ended=n_flows - int(state["n_open"]),
        n_flows=n_flows,
    )
