"""The shipped constants from a training table: one call makes both files again.

Suspect rows, rows of other tasks and rows that cannot be computed are left out, as `validate training` lists them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eastwest.plan.calibrate import Calibration, calibrate, without_each_source
from eastwest.plan.validation.cases import TrainingCase, cases_of
from eastwest.plan.validation.training_table import read_rows
from eastwest.simulate.analytic.step_constants_file import SHIPPED, SHIPPED_WITHOUT, constants_text, without_text
from eastwest.simulate.analytic.training_run import TrainingRun


@dataclass(frozen=True, slots=True)
class Measurements:
    """Runs of a table that a fit may use, and their measured step times (n,) s."""

    runs: tuple[TrainingRun, ...]
    seconds: NDArray[np.float64]


def measurements_of(cases: Sequence[TrainingCase]) -> Measurements:
    """What a fit may use of the cases of a table."""
    usable = [case for case in cases if case.run and case.measured and case.skip is None and not case.is_suspect]
    runs = tuple(case.run for case in usable if case.run)
    return Measurements(runs, np.array([case.measured.seconds for case in usable if case.measured]))


def calibrate_table(text: str, source: str) -> tuple[Calibration, Measurements]:
    """Constants from the text of a training table. Raises InputError for a text that is no such table."""
    found = measurements_of(cases_of(read_rows(text, source)))
    return calibrate(found.runs, found.seconds), found


def write_shipped(table: Path, folder: Path) -> None:
    """Writes the constants of a training table, and those without each source, into `folder`."""
    fitted, found = calibrate_table(table.read_text(encoding="utf-8"), str(table))
    (folder / SHIPPED).write_text(constants_text(fitted.constants), encoding="utf-8")
    without = without_each_source(found.runs, found.seconds)
    (folder / SHIPPED_WITHOUT).write_text(without_text(without), encoding="utf-8")
