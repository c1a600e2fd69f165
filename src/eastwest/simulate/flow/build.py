"""Tables of a run from lists and arrays, with what is left out filled in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eastwest.simulate.flow.tables import (
    NO_CAP_BPS,
    EventKind,
    EventTable,
    FlowTable,
    Int64,
    LinkTable,
    PathTable,
)


def link_table(rate_bps: ArrayLike, delay_ps: ArrayLike = 0) -> LinkTable:
    """Links of these rates (bit/s) and delays (ps; one number: the same for all)."""
    rates = np.ascontiguousarray(rate_bps, np.int64)
    return LinkTable(rates, np.array(np.broadcast_to(np.asarray(delay_ps, np.int64), rates.shape)))


def path_table(
    rows: Sequence[Sequence[int]],
    links: LinkTable,
    *,
    shares: Sequence[Sequence[float]] | None = None,
    delay_ps: ArrayLike | None = None,
) -> PathTable:
    """Paths of these link indices; shares are 1 and a path's delay (ps) the sum of its links' when not given."""
    offsets = offsets_of([len(row) for row in rows])
    flat = np.array([link for row in rows for link in row], np.int32)
    parts = np.ones(len(flat)) if shares is None else np.array([part for row in shares for part in row], np.float64)
    if delay_ps is None:
        running = np.concatenate([[0], np.cumsum(links.delay_ps[flat])])
        delay_ps = running[offsets[1:]] - running[offsets[:-1]]
    delays = np.array(np.broadcast_to(np.asarray(delay_ps, np.int64), (len(rows),)))
    return PathTable(offsets, flat, parts, delays)


def offsets_of(lengths: ArrayLike) -> Int64:
    """Offsets of compressed rows of these lengths, (n + 1,) int64."""
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, np.int64))]).astype(np.int64)


def flow_table(
    size_bytes: ArrayLike,
    path: ArrayLike,
    *,
    start_ps: ArrayLike = 0,
    weight: ArrayLike = 1.0,
    cap_bps: ArrayLike = NO_CAP_BPS,
    priority: ArrayLike = 0,
    parents: Sequence[Sequence[int]] | tuple[Int64, ArrayLike] | None = None,
    parent_delay_ps: ArrayLike = 0,
) -> FlowTable:
    """Flows of these sizes (bytes) on these paths; one number in a column means the same for all.

    `parents`: the flows that each waits for, as a list a flow, or as (offsets, indices).
    """
    sizes = np.ascontiguousarray(size_bytes, np.int64)
    n = len(sizes)

    def column(values: ArrayLike, dtype: type) -> NDArray[Any]:
        return np.array(np.broadcast_to(np.asarray(values, dtype), (n,)))

    if parents is None:
        offsets, flat = np.zeros(n + 1, np.int64), np.empty(0, np.int32)
    elif isinstance(parents, tuple):
        offsets, flat = np.ascontiguousarray(parents[0], np.int64), np.ascontiguousarray(parents[1], np.int32)
    else:
        offsets = offsets_of([len(row) for row in parents])
        flat = np.array([parent for row in parents for parent in row], np.int32)
    return FlowTable(
        size_bytes=sizes,
        path=column(path, np.int32),
        start_ps=column(start_ps, np.int64),
        weight=column(weight, np.float64),
        cap_bps=column(cap_bps, np.int64),
        priority=column(priority, np.int8),
        parent_offsets=offsets,
        parents=flat,
        parent_delay_ps=column(parent_delay_ps, np.int64),
    )


def event_table(rows: Sequence[tuple[int, EventKind, int, int]] = ()) -> EventTable:
    """Events of (time in ps, kind, subject, value)."""
    at_ps, kind, subject, value = (
        np.array([[int(cell) for cell in row] for row in rows], np.int64).reshape(-1, 4).T.copy()
    )
    return EventTable(at_ps, kind.astype(np.int8), subject, value)
