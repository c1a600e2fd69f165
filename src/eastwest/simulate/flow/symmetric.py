"""Identical steps run once: when a step is the one before it, shifted in time, all later steps follow by arithmetic.

A table is periodic with period P when row i + P is row i with its parents P rows later (rings, pairwise exchanges in
rounds, anything that repeats the same transfers). The first steps are run in full. Steps a, a + 1 … v whose every start
and end is that of the step before plus the same Δ settle it: a system that does not depend on the clock repeats what it
did Δ ago, as long as all flows that overlap with the next step belong to steps that are known to repeat. So step a must
have left the links before step v + 1 starts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.flow.records import TIE_RATIO
from eastwest.simulate.flow.tables import Float64, FlowOutcome, FlowState, FlowTable, Int64, PathTable, RunStatus

FIRST_STEPS, MORE_STEPS = 128, 4  # steps run at first, and by what they grow until the steps repeat
LOOK_EVERY = 32  # steps between two looks at whether they repeat
BLOCK_ROWS = 32_768  # compared at a time: what is made on the way stays in the processor's cache
LEAST_GAIN = 2  # run fewer than one of that many steps, or all


@dataclass(frozen=True, slots=True, eq=False)
class SteadySteps:
    """Starts and ends of the steps up to the last one that was run, and the time from each step to the next."""

    start_ps: Float64  # (n_known, period)
    end_ps: Float64
    step_ps: float


def period_of(flows: FlowTable) -> int | None:
    """Rows after which the table repeats itself; None when it does not."""
    n, offsets = flows.n_flows, flows.parent_offsets
    period = int(np.searchsorted(offsets, 0, side="right")) - 1  # rows before the first that has a parent
    if period < 1 or n % period or n <= LEAST_GAIN * FIRST_STEPS * period:
        return None
    own, per_step = offsets[period : 2 * period + 1], int(offsets[2 * period])
    columns = (flows.size_bytes, flows.path, flows.weight, flows.cap_bps, flows.priority)
    is_periodic = (
        bool((np.diff(own) > 0).all())
        and all(_repeats(column, period) for column in columns)
        and not flows.start_ps[period:].any()
        and _repeats(flows.parent_delay_ps[period:], period)
        and _repeats(offsets[period:], period, per_step)
        and _repeats(flows.parents, per_step, period)
    )
    return period if is_periodic else None


def _repeats(column: NDArray[np.number], period: int, step: int = 0) -> bool:
    """Whether each value is the one `period` rows before plus `step`."""
    for first in range(period, len(column), BLOCK_ROWS):
        end = min(first + BLOCK_ROWS, len(column))
        before = column[first - period : end - period]
        if not np.array_equal(column[first:end], before + column.dtype.type(step) if step else before):
            return False
    return True


def first_steps(flows: FlowTable, n_rows: int) -> FlowTable:
    """The first rows of a table whose parents are earlier rows or rows of the same step."""
    n_parents = flows.parent_offsets[n_rows]
    return FlowTable(
        size_bytes=flows.size_bytes[:n_rows],
        path=flows.path[:n_rows],
        start_ps=flows.start_ps[:n_rows],
        weight=flows.weight[:n_rows],
        cap_bps=flows.cap_bps[:n_rows],
        priority=flows.priority[:n_rows],
        parent_offsets=flows.parent_offsets[: n_rows + 1],
        parents=flows.parents[:n_parents],
        parent_delay_ps=flows.parent_delay_ps[:n_rows],
    )


def _next_start(flows: FlowTable, period: int, end_ps: Float64) -> float:
    """When the first step that was left out would have started: until then the run is what it would have been."""
    first = end_ps.size
    offsets = flows.parent_offsets[first : first + period + 1]
    parents = flows.parents[offsets[0] : offsets[-1]]
    known = np.append(
        end_ps.ravel(), np.inf
    )  # parents that have not ended, or in the step itself: later than the first
    ends = known[np.minimum(parents, first)]
    delays = flows.parent_delay_ps[first : first + period]
    return float((np.maximum.reduceat(ends, offsets[:-1] - offsets[0]) + delays).min())


def steady_steps(
    paths: PathTable, flows: FlowTable, period: int, start_ps: Float64, end_ps: Float64
) -> SteadySteps | None:
    """The repeating steps in the run of the first rows; None when they do not repeat yet.

    `start_ps`, `end_ps`: (n_rows,) of the rows that are run, unrounded, negative for those that have not ended.
    """
    starts, ends = start_ps.reshape(-1, period), np.where(end_ps < 0, np.inf, end_ps).reshape(-1, period)
    left = (ends - paths.delay_ps[flows.path[:period]]).max(axis=1)  # last byte off the links
    is_known = (np.maximum.accumulate(left) <= _next_start(flows, period, ends)) & (left < np.inf)
    n_known = int(np.argmin(np.append(is_known, False)))
    if n_known < LEAST_GAIN + 1:
        return None
    starts, ends, left = starts[:n_known], ends[:n_known], left[:n_known]
    step_ps = float(starts[-1, 0] - starts[-2, 0])
    near = TIE_RATIO * float(ends[-1].max())
    both = np.concatenate([starts, ends], axis=1)
    is_shift = np.all(np.abs(np.diff(both, axis=0) - step_ps) <= near, axis=1)
    n_shifts = int(np.argmin(np.append(is_shift[::-1], False)))
    first = n_known - 1 - n_shifts
    if not n_shifts or left[first] > starts[-1].min() + step_ps:
        return None
    return SteadySteps(starts, ends, float(starts[-1, 0] - starts[first, 0]) / n_shifts)


def continued(known: Float64, step_ps: float, n_steps: int) -> Int64:
    """Times of all steps, ps, (n_steps · period,): those known, then the last one shifted again and again."""
    n_known, period = known.shape
    times = np.empty((n_steps, period), np.int64)
    times[:n_known] = np.rint(known)
    shifts = np.arange(1, n_steps - n_known + 1) * step_ps
    if step_ps.is_integer():
        np.add(np.rint(known[-1]).astype(np.int64), shifts.astype(np.int64)[:, None], out=times[n_known:])
    else:
        times[n_known:] = np.rint(known[-1] + shifts[:, None])
    return times.reshape(-1)


def link_bytes(paths: PathTable, flows: FlowTable, period: int, n_links: int) -> Int64:
    """Bytes that every step together puts on each link, (n_links,)."""
    of_path = np.bincount(flows.path[:period], weights=flows.size_bytes[:period], minlength=paths.n_paths)
    of_hop = np.repeat(of_path, np.diff(paths.offsets)) * paths.shares
    total = np.bincount(paths.links, weights=of_hop, minlength=n_links) * (flows.n_flows // period)
    return np.rint(total).astype(np.int64)


def continued_outcome(
    partial: FlowOutcome, steady: SteadySteps, paths: PathTable, flows: FlowTable, period: int, n_links: int
) -> FlowOutcome:
    """The outcome of the whole table from that of its first steps."""
    n_steps, n_known = flows.n_flows // period, len(steady.start_ps)
    end_ps = continued(steady.end_ps, steady.step_ps, n_steps)
    last = end_ps[-period:] - paths.delay_ps[flows.path[-period:]]
    return replace(
        partial,
        status=RunStatus.COMPLETE,
        time_ps=int(last.max()),
        start_ps=continued(steady.start_ps, steady.step_ps, n_steps),
        end_ps=end_ps,
        state=np.full(flows.n_flows, FlowState.DONE, np.int8),
        sent_bytes=flows.size_bytes,
        link_bytes=link_bytes(paths, flows, period, n_links),
        n_events=2 * flows.n_flows,
        n_skipped=flows.n_flows - n_known * period,
    )
