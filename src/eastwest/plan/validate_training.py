"""`validate training`: published training runs against the step model, each with and without its own source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eastwest.finding import Finding, Verdict, verdict_of
from eastwest.plan.validation.ablations import ablations_of
from eastwest.plan.validation.cases import cases_of
from eastwest.plan.validation.document import head
from eastwest.plan.validation.families import ORDER
from eastwest.plan.validation.judged import Assume, Judged, judge, rows_json
from eastwest.plan.validation.leave_one_out import StepModel
from eastwest.plan.validation.naive import RULE as NAIVE_RULE
from eastwest.plan.validation.promises import missed
from eastwest.plan.validation.ranking import rank, tables_of
from eastwest.plan.validation.scaling import points_of
from eastwest.plan.validation.scaling import summary as scaling_summary
from eastwest.plan.validation.summaries import (
    by_family,
    by_source,
    interval_summary,
    notes_of,
    skipped_by_reason,
)
from eastwest.plan.validation.training_table import read_rows

LOSO_RULE = (
    "constants that never saw the row's source: the shipped ones where they do not know it, else those stored without "
    "it, else a fit on the other sources of this file"
)

RULES = {
    "family": ORDER,
    "loso": LOSO_RULE,
    "naive": NAIVE_RULE,
    "naive_loso": "the same median without the row's source; the others' share of the peak for a GPU alone",
    "interval": "holds 80 % of |ln(predicted / measured)| of the family's rows of other sources",
    "ranking": "tables: rows of one section with the same params_b, gpus and global_batch, at least 3; Spearman of all "
    "their times, and of ranks inside tables",
    "scaling": "tokens/s of a GPU over those of the smallest run with the same source, model, hardware and layout",
    "scored": "judged rows that neither their own table nor the reader finds suspect",
}


@dataclass(frozen=True, slots=True)
class ValidatedTraining:
    """Every row of a training table judged, and the figures that its targets speak of."""

    judged: Judged
    findings: tuple[Finding, ...]
    families: dict[str, dict[str, Any]]
    ranking: dict[str, Any]
    scaling: dict[str, Any]
    intervals: dict[str, Any]
    ablations: list[dict[str, Any]]

    @property
    def verdict(self) -> Verdict:
        """Unknown when no row could be judged; a missed target gives `warn`: the errors are the answer."""
        return verdict_of(self.findings) if self.judged.cases else "unknown"

    def as_json(self, lang: str = "en") -> dict[str, Any]:
        """The document of the command line's contract, with rankings, scaling, intervals and sources beside it."""
        return {
            **head("training", self.verdict, self.findings, lang),
            "summary": self.families,
            "ranking": self.ranking,
            "scaling": self.scaling,
            "intervals": self.intervals,
            "sources": by_source(self.judged),
            "ablations": self.ablations,
            "skipped": skipped_by_reason(self.judged, lang),
            "rules": RULES,
            "rows": rows_json(self.judged, lang),
        }


def validate_training(
    text: str, source: str, model: StepModel[Any] | None = None, assume: Assume | None = None
) -> ValidatedTraining:
    """Every row of a training table judged; `model` and `assume` are the shipped step model unless given.

    Raises InputError, with lines, when the text is no such table.
    """
    cases = cases_of(read_rows(text, source))
    if model is None or assume is None:
        from eastwest.plan.validation.analytic_model import assumptions_of, shipped_model

        model, assume = model or shipped_model(), assume or assumptions_of
    judged = judge(cases, model, assume)
    families, intervals = by_family(judged), interval_summary(judged)
    ranking, scaling = _ranking(judged), _scaling(judged)
    findings = (*missed(families, ranking["loso"], scaling["loso"], intervals), *notes_of(judged))
    return ValidatedTraining(judged, findings, families, ranking, scaling, intervals, _ablations(judged, model))


def _ranking(judged: Judged) -> dict[str, Any]:
    """Layout search: figures with the shipped constants, and without the source where every row of a table has that."""
    tables, left_out = tables_of(judged.cases), judged.left_out
    known = tuple(table for table in tables if all(left_out[row] > 0 for row in table.rows))
    return {
        "shipped": rank(tables, judged.predicted, judged.measured).as_json(),
        "loso": rank(known, left_out, judged.measured).as_json(),
    }


def _scaling(judged: Judged) -> dict[str, Any]:
    """Scaling efficiency: with the shipped constants, without the source, and every point of the latter."""
    points = points_of(judged.cases, judged.left_out, judged.measured)
    known = [point for point in points if point.predicted > 0]
    return {
        "shipped": scaling_summary(points_of(judged.cases, judged.predicted, judged.measured)),
        "loso": scaling_summary(known),
        "points": [point.as_json() for point in known],
    }


def _ablations(judged: Judged, model: StepModel[Any]) -> list[dict[str, Any]]:
    ablate = model.ablate
    if ablate is None:
        return []
    return ablations_of(judged, model.ablations, lambda runs, term: ablate(runs, model.shipped, term))
