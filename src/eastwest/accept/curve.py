"""The shape of a result over message size: its plateau, where that begins, dips, a collapse, latency at small sizes.

The average line of nccl-tests is not used: it is a mean over sizes, so it says which sizes were run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log2
from statistics import median

from eastwest.dialects.readings import Row
from eastwest.units import KIBI, MEBI

FLAT_GROWTH = 1.10  # per doubling of the size: less growth is a plateau
NEAR_PLATEAU_RATIO = 0.9  # "90 % of the plateau" in the sizes named
SINGLE_SIZE_BYTES = 128 * MEBI  # one size alone stands for the plateau from here on
LEAST_BANDWIDTH_BYTES = 16 * MEBI  # below, time is latency: never a verdict on bandwidth
SMALL_BYTES = 4 * KIBI  # latency is judged up to here
DIP_RATIO = 0.75  # of the size before, at sizes that the rest exceeds again
COLLAPSE_RATIO = 0.7  # of the own peak: the seeds' floor, at every larger size
LEAST_DIP_BYTES = 256 * KIBI
LEAST_DIP_SHARE_RATIO = 0.05  # of the peak: below, noise of small messages
SLOW_FIRST_CALL = 3.0  # out of place against in place: a cold call, not the network


@dataclass(frozen=True, slots=True)
class Point:
    """One size with its bandwidth (bytes/s) and time (s); `row` where it was printed."""

    size_bytes: int
    bandwidth_bytes_per_s: float
    time_s: float | None
    in_place_bytes_per_s: float | None
    row: Row


@dataclass(frozen=True, slots=True)
class Curve:
    """Points by size, each size once.

    `is_flat` whether the largest sizes show a plateau; `start_bytes` from where all points reach 90 % of the
    largest size's; `peak` the best point; `dips` single sizes below both neighbours; `collapse` the point after which
    every larger one stays below 70 % of it; `cold` points whose out-of-place time is a first call's.
    """

    points: tuple[Point, ...]
    is_flat: bool
    start_bytes: int | None
    peak: Point | None
    dips: tuple[Point, ...] = ()
    collapse: Point | None = None
    cold: tuple[Point, ...] = ()
    latency_s: float | None = None

    @property
    def last(self) -> Point | None:
        """The largest size."""
        return self.points[-1] if self.points else None


def curve_of(rows: Sequence[Row]) -> Curve:
    """The curve of one table; a size printed twice counts with its median."""
    points = _points(rows)
    peak = max(points, key=lambda point: point.bandwidth_bytes_per_s, default=None)
    collapse = _collapse(points, peak)
    return Curve(
        points=points,
        is_flat=_is_flat(points, peak),
        start_bytes=_start(points),
        peak=peak,
        dips=() if collapse else _dips(points, peak),
        collapse=collapse,
        cold=tuple(point for point in points if _is_cold(point)),
        latency_s=_latency(rows),
    )


def _points(rows: Sequence[Row]) -> tuple[Point, ...]:
    by_size: dict[int, list[Row]] = {}
    for row in rows:
        if row.size_bytes and (row.out.busbw_bytes_per_s is not None):
            by_size.setdefault(row.size_bytes, []).append(row)
    return tuple(_point(size, by_size[size]) for size in sorted(by_size))


def _point(size: int, rows: Sequence[Row]) -> Point:
    """The middle row of those that print the same size (runs in cycles)."""
    ordered = sorted(rows, key=lambda row: row.out.busbw_bytes_per_s or 0.0)
    row = ordered[(len(ordered) - 1) // 2]
    in_place = row.in_place.busbw_bytes_per_s if row.in_place else None
    return Point(size, row.out.busbw_bytes_per_s or 0.0, row.out.time_s, in_place, row)


def _is_flat(points: Sequence[Point], peak: Point | None) -> bool:
    """Whether the largest size is on a plateau: little growth per doubling, and no fall that one point alone shows."""
    if not points or peak is None or points[-1].size_bytes < LEAST_BANDWIDTH_BYTES:
        return False
    last = points[-1]
    if len(points) == 1:
        return last.size_bytes >= SINGLE_SIZE_BYTES
    before = points[-2]
    if not before.bandwidth_bytes_per_s:
        return False
    doublings = max(1.0, log2(last.size_bytes / before.size_bytes))
    growth = (last.bandwidth_bytes_per_s / before.bandwidth_bytes_per_s) ** (1 / doublings)
    fell_at_last = last.bandwidth_bytes_per_s < DIP_RATIO * before.bandwidth_bytes_per_s
    return growth < FLAT_GROWTH and not fell_at_last


def _start(points: Sequence[Point]) -> int | None:
    """The smallest size from which on every point has 90 % of the largest size's bandwidth."""
    if not points:
        return None
    floor = NEAR_PLATEAU_RATIO * points[-1].bandwidth_bytes_per_s
    start = points[-1].size_bytes
    for point in reversed(points):
        if point.bandwidth_bytes_per_s < floor:
            break
        start = point.size_bytes
    return start


def _collapse(points: Sequence[Point], peak: Point | None) -> Point | None:
    """The peak, when at least two larger sizes follow and all of them stay below 70 % of it."""
    if peak is None or peak.size_bytes < LEAST_DIP_BYTES:
        return None
    after = [point for point in points if point.size_bytes > peak.size_bytes]
    floor = COLLAPSE_RATIO * peak.bandwidth_bytes_per_s
    is_low = all(_best(point) < floor for point in after)
    return peak if len(after) >= 2 and is_low else None


def _best(point: Point) -> float:
    return max(point.bandwidth_bytes_per_s, point.in_place_bytes_per_s or 0.0)


def _dips(points: Sequence[Point], peak: Point | None) -> tuple[Point, ...]:
    """Sizes where both blocks fall below 75 % of the size before."""
    if peak is None:
        return ()
    floor = LEAST_DIP_SHARE_RATIO * peak.bandwidth_bytes_per_s
    return tuple(
        point
        for before, point in pairwise(points)
        if point.size_bytes >= LEAST_DIP_BYTES and before.bandwidth_bytes_per_s >= floor
        if _best(point) < DIP_RATIO * before.bandwidth_bytes_per_s
    )


def _is_cold(point: Point) -> bool:
    """Whether the out-of-place block is far slower than the in-place one of the same size."""
    in_place = point.in_place_bytes_per_s or 0.0
    is_large = point.size_bytes >= LEAST_DIP_BYTES
    return is_large and point.bandwidth_bytes_per_s > 0 and in_place > SLOW_FIRST_CALL * point.bandwidth_bytes_per_s


def _latency(rows: Sequence[Row]) -> float | None:
    """Median seconds of one operation over the sizes up to 4 KiB; None when fewer than two were run."""
    times = [
        row.out.time_s
        for row in rows
        if row.size_bytes and row.size_bytes <= SMALL_BYTES and row.out.time_s is not None
    ]
    return median(times) if len(times) >= 2 else None
