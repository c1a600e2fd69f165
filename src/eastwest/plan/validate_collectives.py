"""`validate collectives`: measured collectives against the model, each with and without its own source."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eastwest.finding import Finding, Verdict, verdict_of
from eastwest.plan.own_constants.file import OwnConstants
from eastwest.plan.validation.collectives_cases import CLASSES, case_of
from eastwest.plan.validation.collectives_judged import JudgedRow, coverage, judge_collectives, point_coverage
from eastwest.plan.validation.collectives_table import read_collectives
from eastwest.plan.validation.document import by_reason, head, reason
from eastwest.plan.validation.families import ALL
from eastwest.plan.validation.intervals import TARGET as COVERAGE_TARGET
from eastwest.plan.validation.metrics import median, p90

ALL_SIZES_RATIO, LARGE_RATIO = 0.10, 0.08  # promised medians of the error of time: over all sizes, from 512 MiB on
PROMISED = ("one_node", "four_or_more_nodes", "one_nvl72_set")  # classes with a promise for large sizes
REPORTED_ONLY = ("several_nvl72_sets", "expert_exchange", "other", "nodes_not_said")
RULES = {
    "family": (
        "perftest, expert_exchange and p2p by the collective; else by scale-up domains: one_nvl72_set and "
        "several_nvl72_sets where a domain has more than 8 GPUs; one_node, two_nodes, three_nodes; four_or_more_nodes "
        "of 8 GPUs; nodes_not_said; other"
    ),
    "error": "of a row: the median over its points of |predicted time / measured time - 1|",
    "loso": (
        "constants that never saw the row's source: the shipped ones where they do not know it, else a fit without "
        "every row of the source, on the other rows of this file and on the package's published runs"
    ),
    "naive": "bus bandwidth is the wire rate at every size",
    "plateau": "a row without sizes is taken at 8 GiB",
}


@dataclass(frozen=True, slots=True)
class ValidatedCollectives:
    """Every row of a collectives table, and the figures that its targets speak of."""

    rows: tuple[JudgedRow, ...]
    findings: tuple[Finding, ...]
    classes: dict[str, dict[str, Any]]

    @property
    def verdict(self) -> Verdict:
        """Unknown when no row counts; a missed target gives `warn`: the errors are the answer."""
        return verdict_of(self.findings) if any(row.is_scored for row in self.rows) else "unknown"

    def as_json(self, lang: str = "en") -> dict[str, Any]:
        """The document of the command line's contract, with every point of every row."""
        inside, has = coverage(self.rows)
        points_inside, points = point_coverage(self.rows)
        return {
            **head("collectives", self.verdict, self.findings, lang),
            "summary": self.classes,
            "intervals": {
                "rows": has,
                "points": points,
                "point_coverage_ratio": points_inside / points if points else None,
                "coverage_ratio": inside / has if has else None,
                "target": {"low_ratio": COVERAGE_TARGET[0], "high_ratio": COVERAGE_TARGET[1]},
            },
            "skipped": by_reason(_skipped(self.rows), lang),
            "rules": RULES,
            "rows": [_row(row, lang) for row in self.rows],
        }


def validate_collectives(text: str, source: str, own: OwnConstants | None = None) -> ValidatedCollectives:
    """Every row of a collectives table judged, by own constants where given. Raises InputError, with lines, when the
    text is no such table.
    """
    rows = judge_collectives([case_of(row) for row in read_collectives(text, source)], own)
    classes = {ALL: _summary(rows, ALL)} | {
        name: _summary([row for row in rows if row.case.family == name], name)
        for name in CLASSES
        if any(row.case.family == name for row in rows)
    }
    return ValidatedCollectives(rows, tuple(_findings(rows, classes)), classes)


def _summary(rows: Sequence[JudgedRow], name: str) -> dict[str, Any]:
    """Counts, medians over rows, medians over all points pooled, and the targets that apply."""
    scored = [row for row in rows if row.is_scored]
    inside, has = coverage(rows)
    return {
        "n": len(rows),
        "judged": sum(len(row.measured) > 0 for row in rows),
        "scored": len(scored),
        **_figures("", [row.error(row.predicted) for row in scored]),
        **_figures("naive_", [row.error(row.naive) for row in scored]),
        **_figures("loso_", [row.error(row.left_out) for row in scored]),
        **_figures("large_", [row.error(row.predicted, large=True) for row in scored]),
        **_figures("loso_large_", [row.error(row.left_out, large=True) for row in scored]),
        "points": sum(len(row.measured) for row in scored),
        "pooled_median_abs_error_ratio": _pooled([(row.predicted, row.measured) for row in scored]),
        "loso_pooled_median_abs_error_ratio": _pooled([(row.left_out, row.measured) for row in scored]),
        "interval_coverage_ratio": inside / has if has else None,
        "targets": _targets(name),
    }


def _figures(prefix: str, errors: Iterable[float | None]) -> dict[str, float | None]:
    known = np.array([error for error in errors if error is not None], dtype="f8")
    return {f"{prefix}median_abs_error_ratio": median(known), f"{prefix}p90_abs_error_ratio": p90(known)}


def _pooled(pairs: Sequence[tuple[Any, Any]]) -> float | None:
    errors = [np.abs(predicted / measured - 1) for predicted, measured in pairs]
    return median(np.concatenate(errors)) if errors else None


def _targets(name: str) -> dict[str, float] | None:
    if name in REPORTED_ONLY:
        return None
    found = {"loso_median_abs_error_ratio": ALL_SIZES_RATIO}
    return found | ({"loso_large_median_abs_error_ratio": LARGE_RATIO} if name in PROMISED else {})


_WORDS = {"loso_median_abs_error_ratio": "median", "loso_large_median_abs_error_ratio": "median from 512 MiB"}


def _findings(rows: Sequence[JudgedRow], classes: Mapping[str, Mapping[str, Any]]) -> Iterable[Finding]:
    """A warning for every target that is missed, information about rows that their own table doubts."""
    for name, figures in classes.items():
        for key, limit in (figures["targets"] or {}).items():
            value = figures[key]
            if value is not None and value > limit:
                args = {"figure": _WORDS[key]}
                yield Finding("EW-VAL-032", "warning", name, f"{limit:.1%}", f"{value:.1%}", "", args)
    for row in rows:
        if row.case.row.text("suspect"):
            yield Finding("EW-VAL-212", "info", row.case.row.id, args={"reason": row.case.row.text("suspect")})


def _row(row: JudgedRow, lang: str) -> dict[str, Any]:
    case = row.case
    last = len(row.measured) - 1
    return {
        "id": case.row.id,
        "line": case.row.line,
        "family": case.family,
        "source": case.row.source,
        "suspect": case.row.text("suspect") or None,
        "predicted": {"value": _number(row.predicted[last]) if last >= 0 else None, "unit": "s"},
        "measured": {"value": _number(row.measured[last]) if last >= 0 else None, "unit": "s"},
        "abs_error_ratio": row.error(row.predicted),
        "naive_abs_error_ratio": row.error(row.naive),
        "loso_abs_error_ratio": row.error(row.left_out),
        "large_abs_error_ratio": row.error(row.predicted, large=True),
        "loso_large_abs_error_ratio": row.error(row.left_out, large=True),
        "interval_factor": _number(1 + row.width),
        "scored": row.is_scored,
        "points": [_point(row, index) for index in range(last + 1)],
        "assumed": list(case.assumed),
        "skipped": reason(case.unscored, lang) if case.unscored else None,
    }


def _point(row: JudgedRow, index: int) -> dict[str, Any]:
    point, middle = row.case.points[index], _number(row.left_out[index])
    interval = None
    width = float(row.point_widths[index])
    if middle is not None and math.isfinite(width):
        interval = {"low_s": middle / (1 + width), "high_s": middle * (1 + width)}
    return {
        "label": point.label,
        "size_bytes": point.size_bytes,
        "measured_s": point.measured_s,
        "predicted_s": _number(row.predicted[index]),
        "loso_predicted_s": middle,
        "abs_error_ratio": _number(abs(row.predicted[index] / point.measured_s - 1)),
        "loso_abs_error_ratio": _number(abs(row.left_out[index] / point.measured_s - 1)),
        "naive_abs_error_ratio": _number(abs(row.naive[index] / point.measured_s - 1)),
        "interval": interval,
    }


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _skipped(rows: Sequence[JudgedRow]) -> list[tuple[str, str]]:
    return [(row.case.unscored, row.case.row.id) for row in rows if row.case.unscored]
