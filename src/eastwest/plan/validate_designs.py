"""`validate designs`: published designs against the fabric builder, every printed count singly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eastwest.finding import Finding, Verdict, verdict_of
from eastwest.plan.designs.judge import Judged, judge_row
from eastwest.plan.designs.table import read_rows
from eastwest.plan.validation.document import groups_by_family, head


@dataclass(frozen=True, slots=True)
class ValidatedDesigns:
    """Every row judged, in the order of the table."""

    rows: tuple[Judged, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Counts that differ: a warning each, information where the row itself warns."""
        return tuple(finding for row in self.rows for finding in row.findings)

    @property
    def verdict(self) -> Verdict:
        """Unknown when no row could be judged; differing counts without a warning of the row give `warn`."""
        if all(row.skipped for row in self.rows):
            return "unknown"
        return verdict_of(self.findings)

    def as_json(self, lang: str = "en") -> dict[str, Any]:
        """The document of the command line's contract."""
        return {
            **head("designs", self.verdict, self.findings, lang),
            "rows": [row.as_json(lang) for row in self.rows],
            "summary": self.summary(),
        }

    def summary(self) -> dict[str, dict[str, int]]:
        """Family -> rows by status and counts that match; `all` for the whole table."""
        return {name: _tally(rows) for name, rows in groups_by_family(self.rows, lambda row: row.row.family).items()}


def _tally(rows: tuple[Judged, ...]) -> dict[str, int]:
    by_status = [row.status for row in rows]
    counts = [count for row in rows for count in row.counts]
    return {
        "n": len(rows),
        "judged": len(rows) - by_status.count("skipped"),
        "match": by_status.count("match"),
        "explained": by_status.count("explained"),
        "mismatch": by_status.count("mismatch"),
        "skipped": by_status.count("skipped"),
        "counts": len(counts),
        "counts_judged": sum(count.match is not None for count in counts),
        "counts_match": sum(count.match is True for count in counts),
    }


def validate_designs(text: str, source: str) -> ValidatedDesigns:
    """Every row of a designs table judged. Raises InputError, with lines, when the text is no such table."""
    rows = read_rows(text, source)
    lines = tuple(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    return ValidatedDesigns(tuple(judge_row(row, source, lines) for row in rows))
