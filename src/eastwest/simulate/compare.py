"""Two results side by side: times, completion times, bytes by tier, and how much the second differs from the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eastwest.finding import Finding, Verdict, sort_findings, verdict_of
from eastwest.simulate.result import SCHEMA, SimResult, summary_of


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One quantity of both results; `ratio` is the second over the first, None when that says nothing."""

    name: str
    first: float | None
    second: float | None

    @property
    def ratio(self) -> float | None:
        """Second over first."""
        if not self.first or self.second is None:
            return None
        return self.second / self.first

    def as_json(self) -> dict[str, Any]:
        """The row in JSON's types."""
        return {"name": self.name, "first": self.first, "second": self.second, "ratio": self.ratio}


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two results and their rows."""

    first: SimResult
    second: SimResult
    rows: tuple[ComparedRow, ...]
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> Verdict:
        """The worse of both."""
        return verdict_of(self.findings)

    def as_json(self, lang: str = "en") -> dict[str, Any]:
        """The document of the command line's contract."""
        return {
            "schema": SCHEMA,
            "verdict": self.verdict,
            "findings": [finding.as_json(lang) for finding in self.findings],
            "scenarios": [self.first.scenario, self.second.scenario],
            "engines": [self.first.engine, self.second.engine],
            "rows": [row.as_json() for row in self.rows],
        }


def compare(first: SimResult, second: SimResult) -> Comparison:
    """Two results side by side."""
    one, other = summary_of(first), summary_of(second)
    names = [name for name in one if name != "traffics"] + [name for name in other if name not in one]
    rows = [ComparedRow(name, one.get(name), other.get(name)) for name in names]
    tiers, more = first.tier_bytes, second.tier_bytes
    rows += [
        ComparedRow(f"tier_{tier}_bytes", tiers.get(tier), more.get(tier)) for tier in dict.fromkeys([*tiers, *more])
    ]
    found = {(finding.code, finding.subject): finding for finding in (*first.findings, *second.findings)}
    return Comparison(first, second, tuple(rows), sort_findings(found.values()))
