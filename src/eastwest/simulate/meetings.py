"""Elephants that meet on one link again and again: a link that is idle on average and the narrow place of every step.

The average of such a link hides the collision; what shows it is who sends on it when. A meeting is a stretch of time in
which transfers of two or more senders overlap on a link and each takes longer than alone; it counts here when the same
senders meet at least twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.messages import Way
from eastwest.simulate.network import Ints, Level
from eastwest.simulate.prepared import Prepared
from eastwest.simulate.result import SimResult
from eastwest.simulate.routing_paths import SPREAD
from eastwest.units import BITS_PER_BYTE, PS_PER_S

ELEPHANT_RATIO = 0.1  # of the largest transfer on the link: smaller ones are not what makes the others wait
LEAST_STRETCH = 1.1  # times the time alone, from which a meeting costs something
LEAST_MEETINGS = 2
MOST_LOAD_RATIO = 0.5  # of the line on average: above it the link is narrow all the time, which its load shows
MOST_LINKS = 64  # the links with the most bytes for their rate are looked at
MOST_TRANSFERS = 200_000  # in all, above which the search would cost more than the run
FABRIC_LEVELS = (Level.LEAF_SPINE, Level.SPINE_CORE, Level.ROOM)


@dataclass(frozen=True, slots=True)
class Meetings:
    """The senders that meet on one link: `pairs` (source host, destination host) in order, starts and lengths of the
    meetings in ps, and the longest that one of the transfers would take alone.
    """

    link: int
    pairs: tuple[tuple[int, int], ...]
    start_ps: tuple[int, ...]
    length_ps: tuple[int, ...]
    alone_ps: int

    @property
    def period_ps(self) -> int:
        """Median time from one meeting to the next."""
        return int(np.median(np.diff(self.start_ps)))

    @property
    def stretch(self) -> float:
        """Median length of a meeting over the longest transfer alone."""
        return float(np.median(self.length_ps)) / max(1, self.alone_ps)


def meetings_of(prepared: Prepared, result: SimResult) -> Iterator[Meetings]:
    """The meetings on each link between switches that is idle most of the time, the most loaded link first; none where
    packets are spread, since there no link belongs to a transfer.
    """
    if len(result.flows) > MOST_TRANSFERS or prepared.scenario.load_balancing in SPREAD or result.time_ps <= 0:
        return
    message, link = _crossings(prepared)
    ended = result.flows.end_ps[message] >= 0
    message, link = message[ended], link[ended]
    alone_ps = _alone_ps(prepared, result)
    for busy in _busiest(prepared, result):
        found = _on_link(busy, np.unique(message[link == busy]), result, alone_ps)
        if found and len(found.start_ps) >= LEAST_MEETINGS and found.stretch >= LEAST_STRETCH:
            yield found


def _crossings(prepared: Prepared) -> tuple[Ints, Ints]:
    """(m,) row of the result and link of every link on the first path of every flow; the rows of a result are the
    messages without those that stay (the computations of steps).
    """
    paths, request = prepared.paths, prepared.flows.path.astype(np.int64)
    counts = np.diff(paths.offsets)[request]
    row = np.cumsum(prepared.messages.way != Way.STAYS) - 1 if prepared.steps else np.arange(len(prepared.messages))
    message = np.repeat(row[prepared.message_of_flow], counts)
    begins = np.repeat(paths.offsets[request] - np.r_[0, np.cumsum(counts)[:-1]], counts)
    return message, paths.links[begins + np.arange(len(message))].astype(np.int64)


def _alone_ps(prepared: Prepared, result: SimResult) -> NDArray[np.float64]:
    """(n_messages,) float64 ps each message takes with its slowest link to itself."""
    message, link = _crossings(prepared)
    slowest = np.full(len(result.flows), np.inf)
    np.minimum.at(slowest, message, result.links.rate_bps[link].astype(np.float64))
    bits = result.flows.wire_bytes.astype(np.float64) * BITS_PER_BYTE
    alone: NDArray[np.float64] = bits * PS_PER_S / np.maximum(slowest, 1.0)
    return alone


def _busiest(prepared: Prepared, result: SimResult) -> list[int]:
    """Links between switches that carried the most for their rate, without those that are simply too narrow."""
    seconds = result.time_ps / PS_PER_S
    load = result.links.carried_bytes * BITS_PER_BYTE / (np.maximum(result.links.rate_bps, 1) * seconds)
    load[~np.isin(prepared.network.links["level"], FABRIC_LEVELS) | (load > MOST_LOAD_RATIO)] = 0
    return [link for link in np.argsort(-load, kind="stable")[:MOST_LINKS].tolist() if load[link]]


def _on_link(link: int, messages: Ints, result: SimResult, alone_ps: NDArray[np.float64]) -> Meetings | None:
    """The meetings of one set of senders on a link: the set that meets most often."""
    flows = result.flows
    if len(messages) < 2 * LEAST_MEETINGS:
        return None
    size = flows.wire_bytes[messages]
    rows = messages[size >= ELEPHANT_RATIO * size.max()]
    rows = rows[np.argsort(flows.start_ps[rows], kind="stable")]
    until = np.maximum.accumulate(flows.end_ps[rows])
    first = np.flatnonzero(np.r_[True, flows.start_ps[rows][1:] >= until[:-1]])
    sets: dict[tuple[tuple[int, int], ...], list[Ints]] = {}
    for part in np.split(rows, first[1:]):
        pairs = tuple(sorted(set(zip(flows.src[part].tolist(), flows.dst[part].tolist(), strict=True))))
        if len({src for src, _ in pairs}) > 1:
            sets.setdefault(pairs, []).append(part)
    if not sets:
        return None
    pairs, parts = max(sets.items(), key=lambda item: len(item[1]))
    return Meetings(
        link,
        pairs,
        tuple(int(flows.start_ps[part].min()) for part in parts),
        tuple(int(flows.end_ps[part].max() - flows.start_ps[part].min()) for part in parts),
        int(max(alone_ps[part].max() for part in parts)),
    )
