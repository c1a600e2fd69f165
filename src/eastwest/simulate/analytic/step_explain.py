"""One run's step explained: every term in seconds, an interval, the largest sensitivities, what was assumed, and where
the model does not hold.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from eastwest.finding import Finding
from eastwest.simulate.analytic.assumptions import ARCHITECTURES, assume
from eastwest.simulate.analytic.step import StepTimes, step_seconds, step_times
from eastwest.simulate.analytic.step_constants import StepConstants
from eastwest.simulate.analytic.step_priors import CLASS_OF
from eastwest.simulate.analytic.step_table import Table, pack
from eastwest.simulate.analytic.training_run import TrainingRun

# Runs of a source that the fit never saw stray this much further than those of the fit; found by leaving each source
# out in turn: 80 % of the rows then lie inside.
OTHER_SOURCE = 1.4
EXTRAPOLATED = 1.5  # further widening for a GPU type or precision without measurements
UNKNOWN_SPREAD = 0.15  # log half width where no group was fitted
LARGER = 1.10  # inputs are raised by a tenth
MOST_SENSITIVITIES = 3
INPUTS = {  # column of the table -> words
    "nic_rate": "NIC rate +10 %",
    "scale_up_rate": "scale-up rate +10 %",
    "memory_rate": "memory rate +10 %",
    "flops_16": "16-bit FLOP/s +10 %",
    "flops_8": "8-bit FLOP/s +10 %",
    "flops_4": "4-bit FLOP/s +10 %",
}
MOE_GROUP = "moe"


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """An input raised by a tenth, and what it changes (s; below 0: faster)."""

    what: str
    delta_s: float


@dataclass(frozen=True, slots=True)
class ExplainedStep:
    """Seconds of a step: the prediction, its 80 % interval, every term (they add up), the largest sensitivities, what
    was assumed, whether the GPU and precision were never measured, and why the figure may not hold.
    """

    step_s: float
    low_s: float
    high_s: float
    terms_s: dict[str, float]
    sensitivities: tuple[Sensitivity, ...]
    assumed: tuple[str, ...]
    extrapolates: tuple[Finding, ...]

    @property
    def visible_communication_s(self) -> float:
        """Seconds of communication that no computation hides."""
        names = ("tensor parallel", "context parallel", "expert exchange", "pipeline transfers", "data parallel")
        return sum(self.terms_s.get(name, 0.0) for name in names)


def explain(run: TrainingRun, constants: StepConstants, without: Collection[str] = ()) -> ExplainedStep:
    """One run explained. Raises UsageError for a GPU that neither the catalogue nor the run describes."""
    table = pack([run])
    times = step_times(table, constants, without)
    step = float(times.step_s[0])
    reasons = extrapolations(run, constants)
    width = spread_log(run, table, constants) * (EXTRAPOLATED if reasons else 1.0)
    return ExplainedStep(
        step_s=step,
        low_s=step * math.exp(-width),
        high_s=step * math.exp(width),
        terms_s=_terms(times),
        sensitivities=sensitivities(table, constants, step),
        assumed=assume(run).texts,
        extrapolates=reasons,
    )


def spread_log(run: TrainingRun, table: Table, constants: StepConstants) -> float:
    """Half width (log) of the 80 % interval of a run whose source was not in the fit."""
    group = MOE_GROUP if run.model.moe else ARCHITECTURES[int(table["architecture"][0])]
    found = constants.residuals.get(group)
    return (found.spread_log if found else UNKNOWN_SPREAD) * OTHER_SOURCE


def extrapolations(run: TrainingRun, constants: StepConstants) -> tuple[Finding, ...]:
    """What of the run no measurement of the fit shows."""
    if constants.knows(run.gpu, CLASS_OF[run.precision]):
        return ()
    return (Finding("EW-PRD-069", "info", run.id, args={"gpu": run.gpu, "precision": run.precision}),)


def sensitivities(table: Table, constants: StepConstants, step_s: float) -> tuple[Sensitivity, ...]:
    """The inputs that change the step of the one run of a table the most, largest first."""
    raised = np.repeat(table, len(INPUTS))
    for row, column in enumerate(INPUTS):
        raised[column][row] *= LARGER
    seconds = step_seconds(raised, constants)
    found = [Sensitivity(words, float(s) - step_s) for words, s in zip(INPUTS.values(), seconds, strict=True)]
    return tuple(sorted(found, key=lambda item: -abs(item.delta_s))[:MOST_SENSITIVITIES])


def _terms(times: StepTimes) -> dict[str, float]:
    return {name: float(values[0]) for name, values in times.terms.items() if values[0]}
