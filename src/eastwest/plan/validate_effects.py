"""`validate effects`: published effects of network conditions, their direction and size class, against closed forms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from eastwest.finding import Finding, Verdict, verdict_of
from eastwest.plan.validation.document import by_reason, groups_by_family, head, reason
from eastwest.plan.validation.effects_closed import CLOSED, NEEDS_ANOTHER, Foreseen
from eastwest.plan.validation.effects_collectives import BY_COLLECTIVE
from eastwest.plan.validation.effects_table import (
    CLASSES,
    EffectRow,
    Span,
    Untold,
    direction,
    published_factor,
    read_effects,
    size_class,
)

Status = Literal["match", "direction", "mismatch", "skipped"]
RULES = {
    "factor": "performance under the condition over performance at the baseline: above 1 is better",
    "direction": "better, worse, or none within 5 %",
    "size_class": "none below 1.05, small below 1.25, medium below 2, large below 10, huge from 10 on (or the inverse)",
    "match": "published and predicted factor overlap, or share direction and size class",
}


@dataclass(frozen=True, slots=True)
class JudgedEffect:
    """One row: what it publishes, what a closed form expects, or why nobody can tell here."""

    row: EffectRow
    published: Span | None
    foreseen: Foreseen | None
    untold: Untold | None

    @property
    def status(self) -> Status:
        """`match`: direction and size; `direction`: the size differs; `mismatch`: the direction does."""
        if self.published is None or self.foreseen is None:
            return "skipped"
        mine, theirs = self.foreseen.factor, self.published
        if mine.low <= theirs.high and theirs.low <= mine.high:
            return "match"
        if not _directions(mine) & _directions(theirs):
            return "mismatch"
        alike = size_class(mine.middle) == size_class(theirs.middle)
        return "match" if alike and direction(mine.middle) == direction(theirs.middle) else "direction"


def _directions(span: Span) -> set[int]:
    return {direction(span.low), direction(span.high), direction(span.middle)}


@dataclass(frozen=True, slots=True)
class ValidatedEffects:
    """Every row of an effects table judged, in its order."""

    rows: tuple[JudgedEffect, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """A warning for every effect whose direction differs, information where only its size does."""
        found = []
        for row in self.rows:
            if row.status in ("mismatch", "direction") and row.published and row.foreseen:
                severity: Literal["warning", "info"] = "warning" if row.status == "mismatch" else "info"
                shown = (_written(row.published), _written(row.foreseen.factor))
                code = "EW-VAL-308" if row.status == "mismatch" else "EW-VAL-309"
                found.append(Finding(code, severity, row.row.id, *shown, "", {"formula": row.foreseen.formula}))
        return tuple(found)

    @property
    def verdict(self) -> Verdict:
        """Unknown when no row could be judged; a wrong direction gives `warn`."""
        if all(row.status == "skipped" for row in self.rows):
            return "unknown"
        return verdict_of(self.findings)

    def as_json(self, lang: str = "en") -> dict[str, Any]:
        """The document of the command line's contract."""
        return {
            **head("effects", self.verdict, self.findings, lang),
            "summary": self.summary(),
            "skipped": by_reason(_skipped(self.rows), lang),
            "rules": RULES,
            "rows": [_row(row, lang) for row in self.rows],
        }

    def summary(self) -> dict[str, dict[str, int]]:
        """Category -> rows by status; `all` for the whole table."""
        return {name: _tally(rows) for name, rows in groups_by_family(self.rows, lambda row: row.row.category).items()}


def validate_effects(text: str, source: str) -> ValidatedEffects:
    """Every row of an effects table judged. Raises InputError, with lines, when the text is no such table."""
    return ValidatedEffects(tuple(judge_effect(row) for row in read_effects(text, source)))


def judge_effect(row: EffectRow) -> JudgedEffect:
    """One row by the predictor of its category; a category that nobody knows needs another engine."""
    published = published_factor(row)
    predictor = CLOSED.get(row.category) or BY_COLLECTIVE.get(row.category)
    if predictor is None:
        return JudgedEffect(row, published, None, NEEDS_ANOTHER.get(row.category, Untold.outside))
    found = predictor(row)
    if isinstance(found, Untold):
        return JudgedEffect(row, published, None, found)
    return JudgedEffect(row, published, found, None if published else Untold.no_figure)


def _tally(rows: Sequence[JudgedEffect]) -> dict[str, int]:
    by_status = [row.status for row in rows]
    return {
        "n": len(rows),
        "judged": len(rows) - by_status.count("skipped"),
        "match": by_status.count("match"),
        "direction": by_status.count("direction"),
        "mismatch": by_status.count("mismatch"),
        "skipped": by_status.count("skipped"),
    }


def _row(row: JudgedEffect, lang: str) -> dict[str, Any]:
    foreseen = row.foreseen
    return {
        "id": row.row.id,
        "line": row.row.line,
        "family": row.row.category,
        "source": row.row.source,
        "status": row.status,
        "predicted": _span(foreseen.factor if foreseen else None),
        "measured": _span(row.published),
        "direction_match": row.status in ("match", "direction") if row.status != "skipped" else None,
        "size_match": row.status == "match" if row.status != "skipped" else None,
        "formula": foreseen.formula if foreseen else None,
        "assumed": list(foreseen.assumed) if foreseen else [],
        "skipped": reason(row.untold or Untold.no_figure, lang) if row.status == "skipped" else None,
    }


def _span(span: Span | None) -> dict[str, Any]:
    if span is None:
        return {"value": None, "unit": "factor", "low": None, "high": None, "size_class": None}
    ends = [end if math.isfinite(end) else None for end in (span.middle, span.low, span.high)]
    return {
        "value": ends[0],
        "unit": "factor",
        "low": ends[1],
        "high": ends[2],
        "size_class": CLASSES[size_class(span.middle)],
    }


def _written(span: Span) -> str:
    if span.low == span.high:
        return f"x {span.low:.3g}"
    if math.isinf(span.high):
        return f"x {span.low:.3g} or more"
    return f"x {span.low:.3g} to {span.high:.3g}"


def _skipped(rows: Sequence[JudgedEffect]) -> list[tuple[str, str]]:
    return [(row.untold or Untold.no_figure, row.row.id) for row in rows if row.status == "skipped"]
