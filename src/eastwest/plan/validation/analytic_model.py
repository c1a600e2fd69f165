"""The shipped step model as the harness of validation takes it: predictions, fit, constants, ablations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eastwest.plan.validation.leave_one_out import StepModel
from eastwest.simulate.analytic.assumptions import assume
from eastwest.simulate.analytic.step import ABLATIONS, step_seconds
from eastwest.simulate.analytic.step_constants import StepConstants
from eastwest.simulate.analytic.step_constants_file import shipped_constants, shipped_without
from eastwest.simulate.analytic.training_run import TrainingRun

Values = NDArray[np.float64]


def shipped_model() -> StepModel[StepConstants]:
    """The step model with the constants of the package."""
    constants = shipped_constants()
    return StepModel(
        seconds=step_seconds,
        fit=_fit,
        shipped=constants,
        sources=frozenset(constants.sources),
        without=shipped_without(),
        ablations=ABLATIONS,
        ablate=lambda runs, constants, term: step_seconds(runs, constants, (term,)),
    )


def model_with(constants: StepConstants) -> StepModel[StepConstants]:
    """The step model with own constants, which know the shipped sources and their own."""
    shipped = shipped_constants()
    return StepModel(
        seconds=step_seconds,
        fit=_fit,
        shipped=constants,
        sources=frozenset((*shipped.sources, *constants.sources)),
        without={name: found for name, found in shipped_without().items() if name in shipped.sources},
        ablations=ABLATIONS,
        ablate=lambda runs, found, term: step_seconds(runs, found, (term,)),
    )


def assumptions_of(run: TrainingRun) -> Sequence[str]:
    """What the step model assumes of a run, in words."""
    return assume(run).texts


def _fit(runs: Sequence[TrainingRun], measured_s: Values) -> StepConstants:
    """Constants fitted on some runs."""
    from eastwest.plan.calibrate import calibrate

    return calibrate(runs, measured_s).constants
