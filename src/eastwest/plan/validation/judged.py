"""Every case of a table predicted: by the shipped constants, without its source, and by the naive model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eastwest.finding import Finding
from eastwest.plan.validation.cases import TrainingCase
from eastwest.plan.validation.intervals import half_widths
from eastwest.plan.validation.leave_one_out import Rule, StepModel, leave_one_out
from eastwest.plan.validation.metrics import abs_errors
from eastwest.plan.validation.naive import naive_seconds, naive_seconds_without_source
from eastwest.plan.validation.reasons import Skip
from eastwest.simulate.analytic.training_run import TrainingRun

Values = NDArray[np.float64]
Assume = Callable[[TrainingRun], Sequence[str]]  # what the step model chooses where a run leaves it open


@dataclass(frozen=True, slots=True)
class Judged:
    """The cases that could be predicted, in the order of the table, and their seconds: (n,) each, nan for none.

    `scored` leaves suspect rows out; `left_out` is the prediction without the row's source, `widths` the half widths of
    its 80 % interval as factor - 1, `skipped` the cases that could not be predicted.
    """

    cases: tuple[TrainingCase, ...]
    skipped: tuple[TrainingCase, ...]
    measured: Values
    predicted: Values
    left_out: Values
    naive: Values
    naive_left_out: Values
    widths: Values
    scored: NDArray[np.bool_]
    rules: Mapping[str, Rule]

    @property
    def errors(self) -> Values:
        """|predicted / measured - 1| with the shipped constants."""
        return abs_errors(self.predicted, self.measured)

    @property
    def left_out_errors(self) -> Values:
        """|predicted / measured - 1| without the row's source."""
        return abs_errors(self.left_out, self.measured)


def judge(cases: Sequence[TrainingCase], model: StepModel[Any], assume: Assume) -> Judged:
    """Every case with a run predicted. A run for which the model gives no finite time joins the skipped ones."""
    complete = [_assumed(case, assume) for case in cases if case.run is not None]
    skipped = [case for case in cases if case.run is None]
    runs = [case.run for case in complete if case.run is not None]
    with np.errstate(all="ignore"):  # what overflows is no finite time, and is skipped for that
        predicted = model.seconds(runs, model.shipped) if runs else np.empty(0)
    usable = np.isfinite(predicted) & (predicted > 0)
    skipped += [_outside(case) for case, fine in zip(complete, usable, strict=True) if not fine]
    kept = tuple(case for case, fine in zip(complete, usable, strict=True) if fine)
    skipped.sort(key=lambda case: case.row.number)
    return _judged(kept, tuple(skipped), predicted[usable], model)


def _assumed(case: TrainingCase, assume: Assume) -> TrainingCase:
    """The case with what the step model assumes of its run."""
    if case.run is None:
        return case
    said = (text.removeprefix("assumed: ") for text in assume(case.run))
    return replace(case, assumed=(*case.assumed, *said))


def _outside(case: TrainingCase) -> TrainingCase:
    return replace(case, run=None, skip=Skip.not_computable)


def _judged(
    cases: tuple[TrainingCase, ...], skipped: tuple[TrainingCase, ...], predicted: Values, model: StepModel[Any]
) -> Judged:
    runs = [case.run for case in cases if case.run is not None]
    measured = np.array([case.measured.seconds for case in cases if case.measured is not None])
    scored = np.array([not case.is_suspect for case in cases], np.bool_)
    if not runs:
        none = np.empty(0)
        return Judged(cases, skipped, none, none, none, none, none, none, scored, {})
    left = leave_one_out(model, runs, measured, scored)
    families, sources = [case.family for case in cases], [case.source for case in cases]
    basis = np.where(scored, left.seconds, np.nan)
    return Judged(
        cases=cases,
        skipped=skipped,
        measured=measured,
        predicted=predicted,
        left_out=left.seconds,
        naive=naive_seconds(runs, measured),
        naive_left_out=naive_seconds_without_source(runs, measured),
        widths=half_widths(basis, measured, families, sources),
        scored=scored,
        rules=left.rules,
    )


def rows_json(judged: Judged, lang: str) -> list[dict[str, Any]]:
    """Every row of the table, in its order, in the shape of the command line's contract."""
    found = [(case.row.number, _row(judged, index, lang)) for index, case in enumerate(judged.cases)]
    found += [(case.row.number, _skipped(case, lang)) for case in judged.skipped]
    return [row for _, row in sorted(found, key=lambda item: item[0])]


def _row(judged: Judged, index: int, lang: str) -> dict[str, Any]:
    case = judged.cases[index]
    assert case.measured is not None  # every judged case has one
    width = number(judged.widths[index])
    middle = number(judged.left_out[index])
    interval = None
    if width is not None and middle is not None:
        interval = {"low_s": middle / (1 + width), "high_s": middle * (1 + width)}
    return {
        **_head(case, lang),
        "predicted": {"value": number(judged.predicted[index]), "unit": "s"},
        "measured": {"value": case.measured.seconds, "unit": "s"},
        "measured_from": {
            "key": case.measured.key,
            "value": case.measured.printed,
            "convention": case.measured.convention,
        },
        "abs_error_ratio": number(judged.errors[index]),
        "naive_abs_error_ratio": number(abs(judged.naive[index] / judged.measured[index] - 1)),
        "loso_predicted": {"value": middle, "unit": "s"},
        "loso_abs_error_ratio": number(judged.left_out_errors[index]),
        "interval": interval,
        "scored": bool(judged.scored[index]),
        "assumed": list(case.assumed),
        "skipped": None,
    }


def _skipped(case: TrainingCase, lang: str) -> dict[str, Any]:
    nothing = {"value": None, "unit": "s"}
    seconds = {"value": case.measured.seconds if case.measured else None, "unit": "s"}
    return {
        **_head(case, lang),
        "predicted": nothing,
        "measured": seconds,
        "measured_from": None,
        "abs_error_ratio": None,
        "naive_abs_error_ratio": None,
        "loso_predicted": nothing,
        "loso_abs_error_ratio": None,
        "interval": None,
        "scored": False,
        "assumed": list(case.assumed),
        "skipped": reason(case, lang),
    }


def _head(case: TrainingCase, lang: str) -> dict[str, Any]:
    return {
        "id": case.row.id,
        "line": case.row.line,
        "family": case.family,
        "source": case.source,
        "suspect": case.suspect or doubt(case, lang) or None,
        "warning": case.row.text("warning") or None,
    }


def doubt(case: TrainingCase, lang: str) -> str:
    """Why a case cannot be as it is written, in words."""
    return Finding(str(case.doubt), "info", case.row.id).sentence(lang) if case.doubt else ""


def reason(case: TrainingCase, lang: str) -> str:
    """Why a case is skipped, in words."""
    return Finding(str(case.skip), "info", case.row.id).sentence(lang) if case.skip else ""


def number(value: float) -> float | None:
    """A finite number, or None, which JSON can say."""
    return float(value) if math.isfinite(value) else None
