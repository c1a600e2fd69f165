"""`check`: a published or hand-made design, bill or optics list: does it add up, what is short, the repairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from eastwest.finding import Finding, Verdict, sort_findings, verdict_of
from eastwest.plan.checking.functions import judge_functions
from eastwest.plan.checking.optics import OpticsVerdict, judge_optics
from eastwest.plan.checking.pieces import judge_pieces
from eastwest.plan.checking.ports import Short, add_up
from eastwest.plan.checking.published import judge_published
from eastwest.plan.checking.rails import judge_rails
from eastwest.plan.checking.read import Subject, read_subjects
from eastwest.plan.checking.repairs import Repair, repairs_of
from eastwest.plan.checking.shape import Shape, shape_of

MISSING = {  # what a comparison of ports needs
    "leaves": "leaves",
    "down": "ports down of a leaf",
    "up": "uplinks of a leaf",
    "spines": "spines",
    "spine_ports": "ports of a spine",
    "nic_links": "GPUs, servers or NICs",
}


@dataclass(frozen=True, slots=True)
class CheckedDesign:
    """One design of the text: findings, shortages, repairs, totals of its optics, and how many checks had numbers."""

    subject: Subject
    findings: tuple[Finding, ...]
    short: tuple[Short, ...]
    repairs: tuple[Repair, ...]
    optics: OpticsVerdict
    missing: tuple[str, ...]
    n_checks: int


@dataclass(frozen=True, slots=True)
class Checked:
    """All designs of a text judged."""

    source: str
    designs: tuple[CheckedDesign, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings of all designs, errors first."""
        return sort_findings(finding for design in self.designs for finding in design.findings)

    @property
    def verdict(self) -> Verdict:
        """Fail with an error; unknown when no check had its numbers; else warn or pass."""
        verdict = verdict_of(self.findings)
        if verdict == "fail":
            return verdict
        return verdict if any(design.n_checks for design in self.designs) else "unknown"

    @property
    def missing(self) -> tuple[str, ...]:
        """Numbers that would let more be judged, of designs of which nothing could be."""
        return tuple(dict.fromkeys(name for design in self.designs if not design.n_checks for name in design.missing))

    def as_json(self, lang: str = "en") -> dict[str, Any]:
        """The document of the command line's contract."""
        return {
            "schema": "eastwest.check/1",
            "verdict": self.verdict,
            "findings": [finding.as_json(lang) for finding in self.findings],
            "short": [short.as_json(d.subject.name) for d in self.designs for short in d.short],
            "repairs": [repair.as_json(d.subject.name) for d in self.designs for repair in d.repairs],
            "missing": list(self.missing) if self.verdict == "unknown" else [],
            "designs": [_design(design) for design in self.designs],
            "totals": [total for design in self.designs for total in design.optics.totals],
            "unknown_lines": [
                {"source": line.source, "line": line.line, "text": line.text}
                for design in self.designs
                if not design.optics.n_lines
                for line in design.subject.sheet.unknown
            ],
        }


def _design(design: CheckedDesign) -> dict[str, Any]:
    """Name, checks that were made, and the numbers that were read, each with its line."""
    facts = {
        fact.name: {"value": fact.value, "line": fact.evidence.line}
        for fact in sorted(design.subject.sheet.facts.values(), key=lambda fact: fact.name)
    }
    return {"name": design.subject.name or None, "checks": design.n_checks, "read": facts}


def check_text(text: str, source: str) -> Checked:
    """Every design of a text judged. Raises InputError for a broken table or YAML, or an empty text."""
    return Checked(source, tuple(_check(subject) for subject in read_subjects(text, source)))


def _check(subject: Subject) -> CheckedDesign:
    sheet = subject.sheet
    shape = shape_of(sheet)
    sums = add_up(sheet, shape)
    optics = judge_optics(sheet)
    rails, functions = tuple(judge_rails(sheet, shape)), tuple(judge_functions(sheet))
    pieces = judge_pieces(sheet, shape)
    published = judge_published(subject)
    found = (*sums.findings, *rails, *functions, *pieces.findings, *published.findings, *optics.findings)
    findings = tuple(_named(finding, subject.name) for finding in found)
    counted = (sums.n_compared, len(rails), len(functions), pieces.n_compared, published.n_compared, optics.n_lines)
    return CheckedDesign(
        subject,
        findings,
        (*sums.short, *pieces.short, *published.short),
        repairs_of(sheet, shape, (*sums.short, *pieces.short)),
        optics,
        _missing(shape),
        sum(counted),
    )


def _named(finding: Finding, design: str) -> Finding:
    """A finding whose subject begins with the design, where a text holds several."""
    if not design or finding.subject.startswith(design):
        return finding
    return replace(finding, subject=f"{design}: {finding.subject}")


def _missing(shape: Shape) -> tuple[str, ...]:
    return tuple(words for name, words in MISSING.items() if getattr(shape, name) is None)
