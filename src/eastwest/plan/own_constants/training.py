"""Constants of the step model shrunk from the shipped ones to a user's own runs.

The prior of every constant is the shipped value, so that runs move only what they show. A GPU type and precision with
fewer than LEAST_ROWS different runs moves one constant, its level: a few runs cannot tell a slow kernel from a slow
network.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eastwest.plan.calibrate import AT_BOUND, USUAL_RESIDUAL, residuals_by_group, row_weights
from eastwest.plan.calibration.least_squares import Problem, solve
from eastwest.plan.own_constants.reach import sigma_of
from eastwest.simulate.analytic.step import step_seconds
from eastwest.simulate.analytic.step_constants import StepConstants
from eastwest.simulate.analytic.step_priors import (
    BOUND_SIGMAS,
    BY_ARCHITECTURE,
    CLASS_OF,
    SHARED,
    gpu_prior,
)
from eastwest.simulate.analytic.step_table import pack
from eastwest.simulate.analytic.training_run import TrainingRun

Floats = NDArray[np.float64]
LEAST_ROWS = 8  # of one GPU type and class of precision: fewer move its level only
MOST_FOLDS = 10  # of leaving one group out: more groups are joined
LEAST_GROUPS = 3

Pair = tuple[str, str]  # GPU type, class of precision


@dataclass(frozen=True, slots=True)
class OwnStep:
    """Constants after own runs: `moved` the names that were free, `level_only` (GPU, class) -> rows where only the
    level was; `shipped_ratios`, `ratios` and `left_out_ratios` (n,) predicted over measured with the shipped constants,
    with these, and with constants that never saw the run's group (nan with fewer than 3 groups, named by `groups`).
    """

    constants: StepConstants
    runs: tuple[TrainingRun, ...]
    moved: tuple[str, ...]
    level_only: Mapping[Pair, int]
    shipped_ratios: Floats
    ratios: Floats
    left_out_ratios: Floats
    groups: tuple[str, ...]


def shrink(runs: Sequence[TrainingRun], measured_s: Floats | Sequence[float], shipped: StepConstants) -> OwnStep:
    """The shipped constants moved to own runs. Raises ValueError for no runs or a time that is no positive number."""
    seconds = np.asarray(measured_s, dtype=np.float64)
    if len(runs) != len(seconds) or not len(runs):
        raise ValueError(f"{len(runs)} runs and {len(seconds)} step times: one time is needed for each of some runs")
    if not (np.isfinite(seconds) & (seconds > 0)).all():
        raise ValueError("every step time must be a positive number of seconds")
    values, moved, level_only = _fitted(runs, seconds, shipped)
    table = pack(runs)
    ratios = step_seconds(table, StepConstants(values)) / seconds
    constants = StepConstants(
        values=values,
        at_bound=tuple(name for name in moved if _is_at_bound(name, values, shipped)),
        sources=tuple(sorted({*shipped.sources, *(run.source for run in runs)})),
        rows=tuple(run.id for run in runs),
        residuals={**shipped.residuals, **residuals_by_group(runs, table, ratios)},
    )
    groups = groups_of(runs)
    left_out = _left_out(runs, seconds, shipped, groups)
    return OwnStep(
        constants, tuple(runs), moved, level_only, step_seconds(table, shipped) / seconds, ratios, left_out, groups
    )


def inputs_of(run: TrainingRun) -> TrainingRun:
    """What the step model reads of a run: two runs with the same inputs are one measurement, made twice."""
    return replace(run, id="", source="")


def groups_of(runs: Sequence[TrainingRun]) -> tuple[str, ...]:
    """The group of each run that is left out with it: its source where there are 3 or more, else its model and number
    of GPUs, else itself. Runs with the same inputs share a group, whatever their sources are.
    """
    inputs = [inputs_of(run) for run in runs]
    names = (
        tuple(run.source for run in runs),
        tuple(f"{run.model.name} on {run.gpus}" for run in runs),
        tuple(f"run {index + 1}" for index in range(len(runs))),
    )
    joined = [joined_groups(found, inputs) for found in names]
    return next((found for found in joined if len(set(found)) >= LEAST_GROUPS), joined[-1])


def joined_groups(names: Sequence[str], inputs: Sequence[Hashable]) -> tuple[str, ...]:
    """Names of groups, those joined under the first that share a run with the same inputs."""
    first: dict[Hashable, str] = {}
    head = {name: name for name in names}
    for name, own in zip(names, inputs, strict=True):
        other = first.setdefault(own, name)
        kept, gone = head[other], head[name]
        head = {key: kept if value == gone else value for key, value in head.items()}
    return tuple(head[name] for name in names)


def _fitted(
    runs: Sequence[TrainingRun], seconds: Floats, shipped: StepConstants
) -> tuple[dict[str, float], tuple[str, ...], dict[Pair, int]]:
    """Values of all constants, the names that were free, and the rows of pairs where only the level was."""
    counts = Counter(_pair(run) for run in {inputs_of(run): run for run in runs}.values())
    level_only = {pair: n for pair, n in sorted(counts.items()) if n < LEAST_ROWS}
    wide = [index for index, run in enumerate(runs) if _pair(run) not in level_only]
    few = [index for index, run in enumerate(runs) if _pair(run) in level_only]
    values, moved = dict(shipped.values), []
    if wide:
        own = [_level(pair) for pair in sorted(counts) if pair not in level_only]
        names = [*own, *(prior.name for prior in (*SHARED, *BY_ARCHITECTURE))]
        values |= _solved([runs[index] for index in wide], seconds[wide], names, values, shipped)
        moved += names
    if few:
        names = [_level(pair) for pair in level_only]
        values |= _solved([runs[index] for index in few], seconds[few], names, values, shipped)
        moved += names
    return values, tuple(moved), level_only


def _solved(
    runs: Sequence[TrainingRun],
    seconds: Floats,
    names: Sequence[str],
    values: Mapping[str, float],
    shipped: StepConstants,
) -> dict[str, float]:
    """Values of some constants, the others kept at `values`."""
    table, logs = pack(runs), np.log(seconds)
    prior = np.log([StepConstants(values).value(name) for name in names])
    spread = np.array([sigma_of(name, shipped) for name in names])

    def residuals(unknowns: Floats) -> Floats:
        moved = dict(zip(names, np.exp(unknowns).tolist(), strict=True))
        return np.log(step_seconds(table, StepConstants({**values, **moved}))) - logs

    low, high = prior - BOUND_SIGMAS * spread, prior + BOUND_SIGMAS * spread
    found = solve(Problem(residuals, row_weights(runs), USUAL_RESIDUAL, prior, spread, low, high))
    return dict(zip(names, np.exp(found).tolist(), strict=True))


def _is_at_bound(name: str, values: Mapping[str, float], shipped: StepConstants) -> bool:
    moved = abs(np.log(values[name] / shipped.value(name)))
    return bool(moved > BOUND_SIGMAS * sigma_of(name, shipped) - AT_BOUND)


def _left_out(runs: Sequence[TrainingRun], seconds: Floats, shipped: StepConstants, groups: Sequence[str]) -> Floats:
    """Predicted over measured of each run by constants that never saw its group (n,); nan with too few groups."""
    found = np.full(len(runs), np.nan)
    names = list(dict.fromkeys(groups))
    if len(names) < LEAST_GROUPS:
        return found
    fold = np.array([names.index(group) % MOST_FOLDS for group in groups])
    for number in range(min(MOST_FOLDS, len(names))):
        out, kept = np.flatnonzero(fold == number).tolist(), np.flatnonzero(fold != number).tolist()
        values, _, _ = _fitted([runs[index] for index in kept], seconds[kept], shipped)
        found[out] = step_seconds([runs[index] for index in out], StepConstants(values)) / seconds[out]
    return found


def _pair(run: TrainingRun) -> Pair:
    return run.gpu, CLASS_OF[run.precision]


def _level(pair: Pair) -> str:
    return gpu_prior(*pair).name


def with_sources(constants: StepConstants, sources: Sequence[str]) -> StepConstants:
    """The constants with these sources in place of theirs."""
    return replace(constants, sources=tuple(sources))
