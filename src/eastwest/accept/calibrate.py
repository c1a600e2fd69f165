"""`calibrate_texts`: own training runs, own nccl-tests output and NCCL logs to constants, with what they are worth.

Every constant starts at its shipped value and moves as far as the measurements show; the error before, after, and of
constants that never saw a run's group say whether the move is worth keeping.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eastwest.accept.calibrate_rows import Repeated, UsableCurves, UsableRuns, usable_curves, usable_runs
from eastwest.accept.facts import Facts
from eastwest.accept.measured_runs import LeftOut, MeasuredTexts, measured_texts
from eastwest.finding import Finding, Verdict, sort_findings, verdict_of
from eastwest.plan.own_constants.collectives import LEAST_POINTS, OwnCollectives
from eastwest.plan.own_constants.file import OwnConstants
from eastwest.plan.own_constants.training import LEAST_ROWS, OwnStep
from eastwest.plan.validation.cases import TrainingCase

SCHEMA = "eastwest.calibrate/1"
FAR_RATIO = 1.5  # measured over predicted, or the inverse: a defect or a wrong input, not a constant
_ROWS = re.compile(r"^rows[ \t]*:", re.M)


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Own constants of the step model and of collectives, each None without measurements; what was left out and why,
    and what was joined because its inputs are the same."""

    step: OwnStep | None
    collectives: OwnCollectives | None
    texts: MeasuredTexts
    cases: tuple[TrainingCase, ...]
    repeated: tuple[Repeated, ...]
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> Verdict:
        """Unknown when nothing could be fitted."""
        fitted = self.step is not None or self.collectives is not None
        return verdict_of(self.findings) if fitted else "unknown"

    @property
    def own(self) -> OwnConstants:
        """What the file of constants holds."""
        sources = tuple(dict.fromkeys(run.source for run in self.collectives.runs)) if self.collectives else ()
        return OwnConstants(
            self.step.constants if self.step else None, self.collectives.theta if self.collectives else None, sources
        )

    def as_json(self, lang: str = "en") -> dict[str, Any]:
        """The document of the command line's contract."""
        from eastwest.accept.calibrate_document import document_of

        return document_of(self, lang)


def calibrate_texts(texts: Sequence[tuple[str, str]], facts: Facts) -> Calibrated:
    """Constants from (source, text) pairs: training tables, collectives tables, benchmark output and NCCL logs, each
    recognised. Raises InputError for a table with wrong values and UsageError for an unknown GPU.
    """
    tables = [(source, text) for source, text in texts if _ROWS.search(text)]
    pasted = measured_texts([pair for pair in texts if pair not in tables], facts)
    cases: list[TrainingCase] = []
    runs = list(pasted.runs)
    left_out = list(pasted.left_out)
    for source, text in tables:
        if is_training(text, source):
            cases += _training_cases(text, source)
        else:
            found, without = _collective_runs(text, source)
            runs += found
            left_out += without
    rows, curves = usable_runs(cases), usable_curves(runs)
    step, collectives = _step(rows), _collectives(curves)
    left_out += [*rows.left_out, *curves.left_out]
    measured = MeasuredTexts(tuple(runs), tuple(left_out), pasted.assumed, pasted.logs)
    repeated = (*rows.repeated, *curves.repeated)
    findings = sort_findings(tuple(_findings(step, collectives, measured, repeated)))
    return Calibrated(step, collectives, measured, tuple(cases), repeated, tuple(findings))


def is_training(text: str, source: str) -> bool:
    """Whether a table holds training runs, else collectives. Raises InputError for a text that is no table."""
    from eastwest.plan.designs.source import read_yaml

    rows = read_yaml(text, source).data.get("rows")
    first = [row for row in rows[:20] if isinstance(row, dict)] if isinstance(rows, list) else []
    return not any("collective" in row or "points" in row for row in first)


def _training_cases(text: str, source: str) -> Sequence[TrainingCase]:
    from eastwest.plan.validation.cases import cases_of
    from eastwest.plan.validation.training_table import read_rows

    return cases_of(read_rows(text, source))


def _collective_runs(text: str, source: str) -> tuple[list[Any], list[LeftOut]]:
    from eastwest.plan.validation.collectives_cases import case_of
    from eastwest.plan.validation.collectives_judged import measured_runs
    from eastwest.plan.validation.collectives_table import read_collectives
    from eastwest.simulate.analytic.published_runs import published_runs

    cases = [case_of(row) for row in read_collectives(text, source)]
    found = measured_runs(cases)
    left_out = [LeftOut(case.row.id, str(case.unscored), {}) for case in cases if case.unscored is not None]
    return list(found[: len(found) - len(published_runs())]), left_out


def _step(usable: UsableRuns) -> OwnStep | None:
    if not usable.runs:
        return None
    from eastwest.plan.own_constants.training import shrink
    from eastwest.simulate.analytic.step import step_seconds
    from eastwest.simulate.analytic.step_constants_file import shipped_constants

    seconds = np.array(usable.seconds)
    with np.errstate(all="ignore"):  # what overflows is no finite time, and is left out for that
        predicted = step_seconds(usable.runs, shipped_constants())
    fine = np.flatnonzero(np.isfinite(predicted) & (predicted > 0)).tolist()
    return shrink([usable.runs[index] for index in fine], seconds[fine], shipped_constants()) if fine else None


def _collectives(usable: UsableCurves) -> OwnCollectives | None:
    if not usable.runs:
        return None
    from eastwest.plan.own_constants.collectives import shrink

    return shrink(usable.runs)


def error_of(ratios: np.ndarray[Any, np.dtype[np.float64]]) -> float | None:
    """Median of |predicted / measured - 1|; None for none."""
    known = ratios[np.isfinite(ratios)]
    return float(np.median(np.abs(known - 1))) if known.size else None


def _findings(
    step: OwnStep | None, collectives: OwnCollectives | None, texts: MeasuredTexts, repeated: Sequence[Repeated]
) -> Iterator[Finding]:
    if step is None and collectives is None:
        yield Finding("EW-CAL-005", "warning", "calibrate")
    if step is not None:
        yield from _of_step(step)
    if collectives is not None:
        yield from _of_collectives(collectives)
    for found in repeated:
        yield Finding("EW-CAL-017", "info", found.subject, 1, len(found.names), "measurements", {})
    for source in texts.logs:
        if not any(run.source == source for run in texts.runs):
            yield Finding("EW-CAL-006", "info", source)
    for item in texts.left_out:
        severity = "info" if item.code.startswith("EW-VAL") else "warning"
        yield Finding(item.code, severity, item.subject, args=dict(item.args))  # type: ignore[arg-type]


def _of_step(step: OwnStep) -> Iterator[Finding]:
    for (gpu, kind), rows in step.level_only.items():
        yield Finding("EW-CAL-001", "info", f"{gpu} {kind}", LEAST_ROWS, rows, "rows", {})
    for name in step.constants.at_bound:
        yield Finding("EW-CAL-002", "warning", name)
    for run, ratio in zip(step.runs, step.shipped_ratios, strict=True):
        if not 1 / FAR_RATIO <= ratio <= FAR_RATIO:
            yield Finding("EW-CAL-004", "warning", run.id, args={"times": f"{1 / ratio:.2f}"})
    yield from _worth("step time", step.shipped_ratios, step.left_out_ratios)


def _of_collectives(collectives: OwnCollectives) -> Iterator[Finding]:
    for name, points in collectives.share_only.items():
        yield Finding("EW-CAL-007", "info", name, LEAST_POINTS, points, "points", {})
    for constant in collectives.moved:
        if constant.is_at_bound:
            yield Finding("EW-CAL-002", "warning", f"{constant.name} {constant.of_class}")
    for run, ratios in zip(collectives.runs, collectives.shipped_ratios, strict=True):
        ratio = float(np.median(ratios))
        if not 1 / FAR_RATIO <= ratio <= FAR_RATIO:
            yield Finding("EW-CAL-004", "warning", run.id, args={"times": f"{1 / ratio:.2f}"})
    yield from _worth(
        "collectives", np.concatenate(collectives.shipped_ratios), np.concatenate(collectives.left_out_ratios)
    )


def _worth(subject: str, shipped: Any, left_out: Any) -> Iterator[Finding]:
    """Whether constants that never saw a group predict it better than the shipped ones."""
    before, without = error_of(shipped), error_of(left_out)
    if without is None:
        yield Finding("EW-CAL-008", "info", subject)
    elif before is not None and without > before:
        yield Finding("EW-CAL-003", "warning", subject, f"{before:.1%}", f"{without:.1%}")
