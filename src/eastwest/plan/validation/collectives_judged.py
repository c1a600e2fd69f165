"""Every case of a collectives table predicted: by the shipped constants, without its source, and at the wire rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from eastwest.plan.own_constants.file import OwnConstants
from eastwest.plan.validation.collectives_cases import CollectiveCase
from eastwest.plan.validation.collectives_reasons import Unscored
from eastwest.plan.validation.collectives_table import collective_source
from eastwest.plan.validation.intervals import half_widths
from eastwest.simulate.analytic.collective_constants import Constants, shipped, shipped_constants, theta_of
from eastwest.simulate.analytic.collective_fit import REFIT_STEPS, MeasuredRun, fit_collectives
from eastwest.simulate.analytic.collective_run import pack
from eastwest.simulate.analytic.collective_time import time_of_points
from eastwest.simulate.analytic.published_runs import published_runs
from eastwest.units import MEBI

Values = NDArray[np.float64]
LARGE_BYTES = 512 * MEBI  # from here on bandwidth alone counts


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """One case with the seconds of its points, (n_points,) each; `left_out` without the row's source, nan for none.

    `width` is the half width of the 80 % interval of the row's median ratio as factor - 1, `point_widths` (n_points,)
    those of its points, nan for none.
    """

    case: CollectiveCase
    measured: Values
    predicted: Values
    left_out: Values
    naive: Values
    width: float = float("nan")
    point_widths: Values = field(default_factory=lambda: np.empty(0))

    @property
    def is_scored(self) -> bool:
        """Whether the row counts."""
        return self.case.unscored is None and len(self.measured) > 0

    def error(self, seconds: Values, large: bool = False) -> float | None:
        """The median over the points of |predicted / measured - 1|; of sizes from 512 MiB only when `large`."""
        sizes = np.array([point.size_bytes for point in self.case.points])
        mask = np.isfinite(seconds) & ((sizes >= LARGE_BYTES) if large else True)
        errors = np.abs(seconds[mask] / self.measured[mask] - 1)
        return float(np.median(errors)) if errors.size else None


def judge_collectives(cases: Sequence[CollectiveCase], own: OwnConstants | None = None) -> tuple[JudgedRow, ...]:
    """Every case predicted, in the order of the table; by own constants where given."""
    cases = [_computable(case) for case in cases]
    constants = (own.collectives if own else None) or shipped_constants()
    predicted = [_seconds(case, constants) for case in cases]
    left_out = _without_sources(cases, constants, frozenset(own.collective_sources) if own else frozenset())
    rows = [
        JudgedRow(
            case,
            np.array([point.measured_s for point in case.points]),
            now,
            left,
            np.array([point.naive_s for point in case.points]),
        )
        for case, now, left in zip(cases, predicted, left_out, strict=True)
    ]
    return _with_widths(rows)


def _computable(case: CollectiveCase) -> CollectiveCase:
    """The case with the points for which the model has a time: NCCL has no NVLS on Ampere, say."""
    finite = np.isfinite(_seconds(case, shipped_constants()))
    if finite.all():
        return case
    kept = tuple(point for point, fine in zip(case.points, finite, strict=True) if fine)
    lost = None if kept else Unscored.not_computable
    return replace(case, points=kept, unscored=case.unscored or lost)


def _seconds(case: CollectiveCase, constants: Constants) -> Values:
    """(n_points,) seconds of a case's points."""
    found = np.array([point.closed_s or np.nan for point in case.points])
    with_run = [(index, point) for index, point in enumerate(case.points) if point.run is not None]
    if with_run:
        packed = np.concatenate([pack(p.run, [p.size_bytes]) for _, p in with_run if p.run is not None])
        found[[index for index, _ in with_run]] = time_of_points(packed, constants).time_s
    return found


def _without_sources(cases: Sequence[CollectiveCase], unseen: Constants, own_sources: frozenset[str]) -> list[Values]:
    """Seconds with constants that never saw the row's source: `unseen` where they do not know it, else a fit on the
    other sources of this table and of the package; nan for the sources of own constants.

    The closed forms of perftest hold no constant of a table; those of expert exchanges rest on the only source there
    is, so that without it there is no prediction.
    """
    runs = measured_runs(cases)
    seen = {collective_source(str(run["source"])) for run in shipped()["runs"]}
    start = theta_of(shipped()["constants"])
    constants: dict[str, Constants] = {}
    for source in dict.fromkeys(case.row.source for case in cases if _has_runs(case) and case.row.source in seen):
        others = [run for run in runs if collective_source(run.source) != source]
        constants[source] = fit_collectives(others, start, REFIT_STEPS).constants
    found = []
    for case in cases:
        seconds = _seconds(case, constants.get(case.row.source) or unseen)
        is_known = case.family == "expert_exchange" or case.row.text("source") in own_sources
        found.append(np.full(len(seconds), np.nan) if is_known else seconds)
    return found


def _has_runs(case: CollectiveCase) -> bool:
    return any(point.run is not None for point in case.points)


def measured_runs(cases: Sequence[CollectiveCase]) -> tuple[MeasuredRun, ...]:
    """What a fit reads of a table: its scored rows, then the published runs of the package."""
    found = []
    for case in cases:
        if case.unscored is not None:
            continue
        with_run = [point for point in case.points if point.run is not None]
        for run, points in groupby(with_run, key=lambda point: point.run):
            alike = list(points)
            sizes, times = (tuple(p.size_bytes for p in alike), tuple(p.measured_s for p in alike))
            if run is not None:
                found.append(MeasuredRun(case.row.id, case.row.text("source"), run, sizes, times))
    return (*found, *published_runs())


def _with_widths(rows: Sequence[JudgedRow]) -> tuple[JudgedRow, ...]:
    """The rows with the half widths of their intervals: residuals of scored rows of other sources (split conformal), of
    rows by the median of their points, of points in the same class and band of sizes.
    """
    ratios = np.array([_ratio(row) if row.is_scored else np.nan for row in rows])
    families = [row.case.family for row in rows]
    sources = [row.case.row.source for row in rows]
    widths = half_widths(ratios, np.ones(len(rows)), families, sources)
    of_points = _point_widths(rows)
    return tuple(
        replace(row, width=float(width), point_widths=own)
        for row, width, own in zip(rows, widths, of_points, strict=True)
    )


def _point_widths(rows: Sequence[JudgedRow]) -> list[Values]:
    """(n_points,) half widths of each row's points."""
    scored = [np.full(len(row.measured), row.is_scored) for row in rows]
    ratios = np.concatenate([row.left_out / row.measured for row in rows]) if rows else np.empty(0)
    ratios = np.where(np.concatenate(scored), ratios, np.nan) if rows else ratios
    bands = [f"{row.case.family} {_band(point.size_bytes)}" for row in rows for point in row.case.points]
    sources = [row.case.row.source for row in rows for _ in row.case.points]
    widths = half_widths(ratios, np.ones(len(ratios)), bands, sources)
    ends = np.cumsum([len(row.measured) for row in rows])[:-1]
    return list(np.split(widths, ends))


def _band(size_bytes: float) -> str:
    """Sizes whose errors are alike: latency, ramp, bandwidth."""
    if size_bytes < MEBI:
        return "small"
    return "large" if size_bytes >= LARGE_BYTES else "middle"


def _ratio(row: JudgedRow) -> float:
    """Median over the points of predicted / measured, without the row's source; nan for none."""
    ratios = row.left_out / row.measured
    finite = ratios[np.isfinite(ratios)]
    return float(np.median(finite)) if finite.size else float("nan")


def coverage(rows: Sequence[JudgedRow]) -> tuple[int, int]:
    """(scored rows whose median ratio lies inside their interval, scored rows that have one)."""
    has = [row for row in rows if row.is_scored and np.isfinite(row.width) and np.isfinite(_ratio(row))]
    return sum(abs(np.log(_ratio(row))) <= np.log1p(row.width) for row in has), len(has)


def point_coverage(rows: Sequence[JudgedRow]) -> tuple[int, int]:
    """(points of scored rows inside their interval, points of scored rows that have one)."""
    inside = has = 0
    for row in rows:
        if row.is_scored:
            known = np.isfinite(row.point_widths) & np.isfinite(row.left_out)
            off = np.abs(np.log(row.left_out[known] / row.measured[known]))
            inside += int((off <= np.log1p(row.point_widths[known])).sum())
            has += int(known.sum())
    return inside, has
