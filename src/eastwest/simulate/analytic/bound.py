"""The analytic engine: no scenario ends before its most loaded link has sent, nor before its longest chain of messages.

Both are exact lower bounds for flows that share links by max-min, and reached when one link limits all: incast,
permutations without collisions, rings. It stops being a prediction where flows collide in several places in turn.
Events are not followed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.flow.tables import FlowTable, LinkTable, PathTable
from eastwest.units import BITS_PER_BYTE, PS_PER_S

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Bound:
    """(n_flows,) earliest start and end of each flow, (n_links,) bytes and time of each link, the most loaded link,
    and the earliest end of all.
    """

    start_ps: Ints
    end_ps: Ints
    link_bytes: Ints
    link_ps: Ints
    worst_link: int
    time_ps: int


def bound_of(links: LinkTable, paths: PathTable, flows: FlowTable) -> Bound:
    """The lower bounds of a set of flows, every flow as if it were alone but for the sum on each link."""
    path = flows.path.astype(np.int64)
    carried = _link_bytes(links, paths, flows, path)
    link_ps = link_times_ps(links, paths, flows)
    alone = _alone_ps(links, paths, flows, path)
    start, end = _in_order(flows, alone)
    worst = int(link_ps.argmax()) if len(link_ps) else 0
    busiest = int(flows.start_ps.min(initial=0)) + _with_delay(paths, flows, path, link_ps, worst)
    return Bound(start, end, carried.round().astype(np.int64), link_ps, worst, max(int(end.max(initial=0)), busiest))


def link_times_ps(links: LinkTable, paths: PathTable, flows: FlowTable) -> Ints:
    """(n_links,) int64 picoseconds that each link needs for the bytes of all flows; 0 of a link that is down."""
    carried = _link_bytes(links, paths, flows, flows.path.astype(np.int64))
    seconds = np.divide(carried * BITS_PER_BYTE, links.rate_bps, out=np.zeros(len(carried)), where=links.rate_bps > 0)
    found: Ints = np.round(seconds * PS_PER_S).astype(np.int64)
    return found


def _link_bytes(links: LinkTable, paths: PathTable, flows: FlowTable, path: Ints) -> Floats:
    """(n_links,) bytes of all flows on each link."""
    of_path = np.bincount(path, flows.size_bytes, minlength=paths.n_paths)
    lengths = np.diff(paths.offsets)
    found = np.bincount(paths.links, paths.shares * np.repeat(of_path, lengths), minlength=links.n_links)
    return found.astype(np.float64)


def _alone_ps(links: LinkTable, paths: PathTable, flows: FlowTable, path: Ints) -> Ints:
    """(n_flows,) time of each flow if it had its links for itself: bytes over its narrowest link, and the delay."""
    lengths = np.diff(paths.offsets)
    row = np.repeat(np.arange(paths.n_paths), lengths)
    rate = np.full(paths.n_paths, np.inf)
    np.minimum.at(rate, row, links.rate_bps[paths.links] / np.maximum(paths.shares, np.finfo(float).tiny))
    least = np.minimum(rate[path], flows.cap_bps)
    seconds = flows.size_bytes * BITS_PER_BYTE / np.maximum(least, 1)
    found: Ints = np.round(seconds * PS_PER_S).astype(np.int64) + np.where(
        flows.size_bytes > 0, paths.delay_ps[path], 0
    )
    return found


def _in_order(flows: FlowTable, alone: Ints) -> tuple[Ints, Ints]:
    """(n_flows,) earliest start and end along the chains of parents."""
    from eastwest.simulate.routes import ranges

    n = flows.n_flows
    n_waits = np.diff(flows.parent_offsets)
    start, end = flows.start_ps.copy(), flows.start_ps + alone
    if not n_waits.any():
        return start, end
    child = np.repeat(np.arange(n, dtype=np.int64), n_waits)
    order = np.argsort(flows.parents, kind="stable")
    first = np.searchsorted(flows.parents[order], np.arange(n + 1)).astype(np.int64)
    left, ready = n_waits.copy(), np.flatnonzero(n_waits == 0)
    while len(ready):
        counts = first[ready + 1] - first[ready]
        touched = child[order[ranges(first[ready], counts)]]
        earliest = np.repeat(end[ready], counts) + flows.parent_delay_ps[touched]
        np.maximum.at(start, touched, earliest)
        np.subtract.at(left, touched, 1)
        candidates = np.unique(touched)
        ready = candidates[left[candidates] == 0]
        end[ready] = start[ready] + alone[ready]
    return start, end


def _with_delay(paths: PathTable, flows: FlowTable, path: Ints, link_ps: Ints, worst: int) -> int:
    """Time of the most loaded link and the least delay of a path over it."""
    lengths = np.diff(paths.offsets)
    over = np.unique(np.repeat(np.arange(paths.n_paths), lengths)[paths.links == worst])
    used = over[np.isin(over, path)]
    return int(link_ps[worst]) + int(
        paths.delay_ps[used].min(initial=0) if not len(used) else paths.delay_ps[used].min()
    )
