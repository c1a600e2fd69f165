"""Predictions with constants that never saw the row's own source.

The rule, printed with the result: shipped constants that were fitted without the source are used as they are; where
they know the source, the constants stored without it; where none are stored, constants fitted on the other sources of
this very file, when it has rows enough. Suspect rows are predicted and never fitted on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.analytic.training_run import TrainingRun

Values = NDArray[np.float64]
Constants = TypeVar("Constants")
LEAST_ROWS = 100  # of other sources in the file: fewer leave most GPUs and precisions without any


class Rule(StrEnum):
    """Which constants predicted the rows of a source, without it."""

    unseen = "unseen"  # shipped constants, which never saw the source
    stored = "stored"  # shipped beside them, fitted without the source
    refitted = "refitted"  # fitted on the other sources of the file
    impossible = "impossible"  # constants know the source and the file is too small


@dataclass(frozen=True, slots=True)
class StepModel(Generic[Constants]):
    """A step model with its constants: `seconds(runs, constants)` yields (n,) s, nan outside the model;
    `fit(runs, measured_s)` yields constants; `sources` are those that `shipped` was fitted on, `without` holds
    constants fitted without one source. `ablations` names terms that `ablate(runs, constants, term)` leaves out.
    """

    seconds: Callable[[Sequence[TrainingRun], Constants], Values]
    fit: Callable[[Sequence[TrainingRun], Values], Constants]
    shipped: Constants
    sources: frozenset[str] = frozenset()
    without: Mapping[str, Constants] = field(default_factory=dict)
    ablations: tuple[str, ...] = ()
    ablate: Callable[[Sequence[TrainingRun], Constants, str], Values] | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Seconds of every run without its source (n,), nan where impossible; source -> the rule that was applied."""

    seconds: Values
    rules: Mapping[str, Rule]


def leave_one_out(
    model: StepModel[Constants], runs: Sequence[TrainingRun], measured: Values, fitted_on: NDArray[np.bool_]
) -> LeftOut:
    """Every run predicted without its source; `fitted_on` (n,) bool says which rows a fit may use."""
    sources = np.array([run.source for run in runs], dtype=object)
    found, rules = np.full(len(runs), np.nan), {}
    for source in dict.fromkeys(sources.tolist()):
        own = np.flatnonzero(sources == source).tolist()
        others = np.flatnonzero((sources != source) & fitted_on).tolist()
        rule = _rule(model, source, len(others))
        rules[source] = rule
        if rule is Rule.impossible:
            continue
        if rule is Rule.refitted:
            constants = model.fit([runs[index] for index in others], measured[others])
        else:
            constants = model.shipped if rule is Rule.unseen else model.without[source]
        found[own] = model.seconds([runs[index] for index in own], constants)
    return LeftOut(found, rules)


def _rule(model: StepModel[Constants], source: str, n_others: int) -> Rule:
    if source not in model.sources:
        return Rule.unseen
    if source in model.without:
        return Rule.stored
    return Rule.refitted if n_others >= LEAST_ROWS else Rule.impossible
