"""Constants of collectives shrunk from the shipped ones to a user's own curves of nccl-tests.

Only factors of the GPU generation and transport class that were measured move, from their shipped values; a class with
fewer than LEAST_POINTS points moves shares of bandwidth only, no latency.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from eastwest.plan.own_constants.training import joined_groups
from eastwest.simulate.analytic.collective_constants import (
    TABLE,
    Floats,
    factors_of,
    shipped,
    shipped_constants,
    theta_of,
)
from eastwest.simulate.analytic.collective_fit import Around, MeasuredRun, fit_collectives, seen_logarithms
from eastwest.simulate.analytic.collective_run import pack
from eastwest.simulate.analytic.collective_time import time_of_points

LEAST_POINTS = 10  # of one generation or transport: fewer move shares of bandwidth only
REACH = 3.0  # standard deviations: a constant beyond them is said to be at its bound
MOVED_RATIO = 5e-4  # a constant that moved less did not move
LEAST_GROUPS, MOST_FOLDS = 3, 10


@dataclass(frozen=True, slots=True)
class OwnConstant:
    """One constant of one class: its value before and after, and whether it is as far as the prior lets it go."""

    name: str
    of_class: str
    shipped: float
    value: float
    is_at_bound: bool


@dataclass(frozen=True, slots=True)
class OwnCollectives:
    """Logarithms `theta` after own curves, and constants that moved; `shipped_ratios`, `ratios` and `left_out_ratios`
    of each run (n_points,) predicted over measured: shipped, these, and by constants that never saw the run's group
    (`groups` (n_runs,); nan with fewer than 3). `share_only` class -> points where only shares of bandwidth moved.
    """

    theta: Floats
    runs: tuple[MeasuredRun, ...]
    moved: tuple[OwnConstant, ...]
    share_only: dict[str, int]
    shipped_ratios: tuple[Floats, ...]
    ratios: tuple[Floats, ...]
    left_out_ratios: tuple[Floats, ...]
    groups: tuple[str, ...]


def shrink(runs: Sequence[MeasuredRun]) -> OwnCollectives:
    """The shipped constants moved to own curves. Raises ValueError for no runs."""
    if not runs:
        raise ValueError("no measured run of a collective")
    share_only, around = _around(runs)
    theta = fit_collectives(runs, around=around).theta
    groups = groups_of(runs)
    before = [time_of_points(pack(run.run, run.sizes_bytes), shipped_constants()).time_s for run in runs]
    after = [time_of_points(pack(run.run, run.sizes_bytes), factors_of(theta)).time_s for run in runs]
    return OwnCollectives(
        theta,
        tuple(runs),
        tuple(_moved(theta, around)),
        share_only,
        tuple(seconds / np.array(run.times_s) for seconds, run in zip(before, runs, strict=True)),
        tuple(seconds / np.array(run.times_s) for seconds, run in zip(after, runs, strict=True)),
        _left_out(runs, groups),
        groups,
    )


def groups_of(runs: Sequence[MeasuredRun]) -> tuple[str, ...]:
    """The group of each curve that is left out with it: its source; sources that ran the same on the same machine are
    one group.
    """
    inputs = [replace(run.run, algorithm=None, protocol=None) for run in runs]
    return joined_groups([run.source for run in runs], inputs)


def _around(runs: Sequence[MeasuredRun]) -> tuple[dict[str, int], Around]:
    """The prior: shipped values, free where a class was measured; and the classes with few points."""
    points: Counter[str] = Counter()
    for run in runs:
        points[run.run.generation] += len(run.sizes_bytes)
        if run.run.domains > 1:
            points[run.run.transport] += len(run.sizes_bytes)
    spread, at = np.zeros(len(theta_of(shipped()["constants"]))), 0
    seen = set(seen_logarithms(np.concatenate([pack(run.run, run.sizes_bytes) for run in runs])))
    for constant in TABLE:
        for index, name in enumerate(constant.classes):
            is_level = constant.name.endswith("share") and not constant.name.startswith(("ll", "outer_ll"))
            place = at + 1 + index
            measured = points.get(name, 0) if len(constant.classes) > 1 else 0
            if place in seen and (measured >= LEAST_POINTS or (measured and is_level)):
                spread[place] = float(np.hypot(constant.shared_sd, constant.class_sd))
        at += 1 + len(constant.classes)
    few = {name: n for name, n in sorted(points.items()) if n < LEAST_POINTS}
    return few, Around(theta_of(shipped()["constants"]), spread)


def _moved(theta: Floats, around: Around) -> list[OwnConstant]:
    """Every constant that moved, in the order of the table."""
    found, at = [], 0
    before, after = factors_of(around.mean).values, factors_of(theta).values
    pull = around.pull(theta)
    for constant in TABLE:
        for index, name in enumerate(constant.classes):
            old, new = float(before[constant.name][0, index]), float(after[constant.name][0, index])
            if abs(np.log(new / old)) > MOVED_RATIO:
                beyond = bool(abs(pull[at + 1 + index]) >= REACH)
                found.append(OwnConstant(constant.name, name, old, new, beyond))
        at += 1 + len(constant.classes)
    return found


def _left_out(runs: Sequence[MeasuredRun], groups: Sequence[str]) -> tuple[Floats, ...]:
    """Predicted over measured of each run by constants that never saw its group."""
    names = list(dict.fromkeys(groups))
    found = [np.full(len(run.sizes_bytes), np.nan) for run in runs]
    if len(names) < LEAST_GROUPS:
        return tuple(found)
    fold = [names.index(group) % MOST_FOLDS for group in groups]
    for number in range(min(MOST_FOLDS, len(names))):
        kept = [run for run, own in zip(runs, fold, strict=True) if own != number]
        constants = fit_collectives(kept, around=_around(kept)[1]).constants
        for index, run in enumerate(runs):
            if fold[index] == number:
                seconds = time_of_points(pack(run.run, run.sizes_bytes), constants).time_s
                found[index] = seconds / np.array(run.times_s)
    return tuple(found)
