"""Constants of the step model from measured training runs: `calibrate` and what it reports.

The logarithm of predicted over measured step time is made small for all runs together, with a prior on every constant
(step_priors), so that a few runs move only what they show. A source with many rows counts less for each row: rows of
one page share its mistakes. Constants belong to a GPU type and class of precision, an architecture, or to all: never to
a row or a source.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eastwest.plan.calibration.least_squares import Problem, solve
from eastwest.simulate.analytic.assumptions import ARCHITECTURES
from eastwest.simulate.analytic.step import step_seconds
from eastwest.simulate.analytic.step_constants import Residual, StepConstants
from eastwest.simulate.analytic.step_priors import CLASS_OF, Prior, priors_of
from eastwest.simulate.analytic.step_table import Table, pack
from eastwest.simulate.analytic.training_run import TrainingRun

Floats = NDArray[np.float64]
USUAL_RESIDUAL = 0.06  # log: identical runs of different releases and months differ by this much
SOURCE_POWER = -0.35  # weight of a row of a source with n rows: n^-0.35, between each row alike and each source alike
COVERAGE = 0.80  # of the rows that an interval holds
AT_BOUND = 1e-6  # log distance
MOE_GROUP = "moe"
START_TIGHTER = 2.0  # fitted constants are better known than priors


@dataclass(frozen=True, slots=True)
class Calibration:
    """Fitted constants with their residuals, and predicted over measured of every run of the fit (n,)."""

    constants: StepConstants
    ratios: Floats


def calibrate(
    runs: Sequence[TrainingRun], measured_s: Floats | Sequence[float], start: StepConstants | None = None
) -> Calibration:
    """Constants from runs and their measured step times (s). With `start` (a user's own runs on top of the shipped
    constants) they are the priors, held START_TIGHTER times as tight, and what the runs do not show stays as it was.

    Raises ValueError for lengths that differ, no runs, or a time that is not a positive number; UsageError for a GPU
    that the catalogue does not have.
    """
    seconds = _checked(runs, measured_s)
    table = pack(runs)
    priors = _priors(runs, start)
    names = [prior.name for prior in priors]
    logs = np.log(seconds)

    def residuals(unknowns: Floats) -> Floats:
        return np.log(step_seconds(table, StepConstants(_values(names, unknowns)))) - logs

    middle = np.log([prior.value for prior in priors])
    bounds = np.log([prior.bounds for prior in priors])
    spread = np.array([prior.sigma for prior in priors])
    problem = Problem(residuals, row_weights(runs), USUAL_RESIDUAL, middle, spread, bounds[:, 0], bounds[:, 1])
    unknowns = solve(problem)
    edge = np.minimum(unknowns - bounds[:, 0], bounds[:, 1] - unknowns)
    ratios = np.exp(residuals(unknowns))
    constants = StepConstants(
        values=_values(names, unknowns),
        at_bound=tuple(name for name, distance in zip(names, edge, strict=True) if distance < AT_BOUND),
        sources=tuple(sorted({run.source for run in runs}.union(start.sources if start else ()))),
        rows=(*(start.rows if start else ()), *(run.id for run in runs)),
        residuals={**(start.residuals if start else {}), **residuals_by_group(runs, table, ratios)},
    )
    return Calibration(constants, ratios)


def _checked(runs: Sequence[TrainingRun], measured_s: Floats | Sequence[float]) -> Floats:
    """The step times (n,), one positive number for each run. Raises ValueError otherwise."""
    seconds = np.asarray(measured_s, dtype=np.float64)
    if len(runs) != len(seconds) or not len(runs):
        raise ValueError(f"{len(runs)} runs and {len(seconds)} step times: one time is needed for each of some runs")
    if not (np.isfinite(seconds) & (seconds > 0)).all():
        raise ValueError("every step time must be a positive number of seconds")
    return seconds


def _priors(runs: Sequence[TrainingRun], start: StepConstants | None) -> tuple[Prior, ...]:
    """Priors of every constant that the runs or the constants to start from have."""
    pairs = {(run.gpu, CLASS_OF[run.precision]) for run in runs}
    if start is None:
        return priors_of(pairs)
    shared = {prior.name for prior in priors_of(())}
    known = (name.split(".", 2) for name in start.values if name not in shared)
    priors = priors_of(pairs.union((gpu, kind) for _, gpu, kind in known))
    return tuple(replace(prior, value=start.value(prior.name), sigma=prior.sigma / START_TIGHTER) for prior in priors)


def without_each_source(
    runs: Sequence[TrainingRun], measured_s: Floats | Sequence[float]
) -> Mapping[str, StepConstants]:
    """Source -> the constants fitted on all other sources' runs."""
    seconds = np.asarray(measured_s, dtype=np.float64)
    found = {}
    for source in sorted({run.source for run in runs}):
        others = [index for index, run in enumerate(runs) if run.source != source]
        if others:
            found[source] = calibrate([runs[index] for index in others], seconds[others]).constants
    return found


def row_weights(runs: Sequence[TrainingRun]) -> Floats:
    """Weight of each run by the number of runs of its source and architecture, dense and with experts apart (n,)."""
    kinds = [(run.source, run.model.moe is not None) for run in runs]
    counts = Counter(kinds)
    return np.array([counts[kind] ** SOURCE_POWER for kind in kinds])


def residuals_by_group(runs: Sequence[TrainingRun], table: Table, ratios: Floats) -> dict[str, Residual]:
    """Residuals by `gpu class`, by architecture (dense) and of all runs with experts."""
    groups: dict[str, list[int]] = {}
    for index, run in enumerate(runs):
        groups.setdefault(f"{run.gpu} {CLASS_OF[run.precision]}", []).append(index)
        architecture = ARCHITECTURES[int(table["architecture"][index])]
        groups.setdefault(MOE_GROUP if run.model.moe else architecture, []).append(index)
    return {name: residual(ratios[rows]) for name, rows in sorted(groups.items())}


def residual(ratios: Floats) -> Residual:
    """How well some runs are met, from predicted over measured (n,)."""
    errors = np.abs(ratios - 1)
    return Residual(
        rows=len(ratios),
        median_ratio=float(np.median(errors)),
        p90_ratio=float(np.percentile(errors, 90)),
        bias_ratio=float(np.median(ratios - 1)),
        spread_log=float(np.quantile(np.abs(np.log(ratios)), COVERAGE)),
    )


def _values(names: Sequence[str], unknowns: Floats) -> dict[str, float]:
    return dict(zip(names, np.exp(unknowns).tolist(), strict=True))
