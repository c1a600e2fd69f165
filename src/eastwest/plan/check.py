"""`check`: a published or hand-made design, bill or optics list: does it add up, what is short, the repairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from eastwest.finding import Finding, Verdict, sort_findings, verdict_of
from eastwest.plan.checking.agreement import agree
from eastwest.plan.checking.cable_ends import judge_ends
from eastwest.plan.checking.decided import WORDS as MISSING_WORDS
from eastwest.plan.checking.decided import Decided, decide
from eastwest.plan.checking.functions import judge_functions
from eastwest.plan.checking.next_step import next_step
from eastwest.plan.checking.optics import OpticsVerdict, judge_optics
from eastwest.plan.checking.ports import Short, Sum, Sums, add_up
from eastwest.plan.checking.published import judge_published
from eastwest.plan.checking.rails import USED as USED_OF_RAILS
from eastwest.plan.checking.rails import judge_rails
from eastwest.plan.checking.read import Subject, read_subjects
from eastwest.plan.checking.repairs import Repair, repairs_of
from eastwest.plan.checking.shape import shape_of
from eastwest.plan.checking.sheet import Sheet, Unused


@dataclass(frozen=True, slots=True)
class CheckedDesign:
    """One design of the text: findings, shortages, repairs, the sums that were made, totals of its optics, how many
    checks had numbers, what keeps it from being judged, and the command that would help.
    """

    subject: Subject
    findings: tuple[Finding, ...]
    short: tuple[Short, ...]
    repairs: tuple[Repair, ...]
    sums: tuple[Sum, ...]
    optics: OpticsVerdict
    decided: Decided
    n_checks: int
    next_step: str

    @property
    def unused(self) -> tuple[Unused, ...]:
        """Numbers of the text that no check used; none of a published row, whose counts are judged one by one."""
        sheet = self.subject.sheet
        if self.subject.row is not None:
            return ()
        facts = tuple(Unused(f"{fact.name} {fact.value}", fact.evidence) for fact in self.decided.unused)
        return (*sheet.unused, *facts)

    @property
    def verdict(self) -> Verdict:
        """Fail with an error; unknown when no check had its numbers, a needed sum could not be made, a number was left
        unused or has two values; else warn or pass.
        """
        verdict = verdict_of(self.findings)
        clashes = self.subject.sheet.clashes if self.subject.row is None else ()
        is_open = not self.n_checks or self.decided.is_open or self.unused or clashes
        return "unknown" if is_open and verdict != "fail" else verdict


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
        """The worst of all designs; rows of a table that print no count do not make the others unknown."""
        found = {design.verdict for design in self.designs}
        is_table = any(design.subject.row is not None for design in self.designs)
        if is_table and found != {"unknown"}:
            found.discard("unknown")
        return next((verdict for verdict in ("fail", "unknown", "warn") if verdict in found), "pass")

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of the numbers that would let more be judged."""
        return tuple(dict.fromkeys(name for design in self.designs for name in design.decided.missing))

    @property
    def next_steps(self) -> tuple[str, ...]:
        """Commands that would help with what cannot be judged."""
        return tuple(dict.fromkeys(d.next_step for d in self.designs if d.next_step and d.verdict == "unknown"))

    def as_json(self, lang: str = "en") -> dict[str, Any]:
        """The document of the command line's contract."""
        return {
            "schema": "eastwest.check/1",
            "verdict": self.verdict,
            "findings": [finding.as_json(lang) for finding in self.findings],
            "short": [short.as_json(d.subject.name) for d in self.designs for short in d.short],
            "repairs": [repair.as_json(d.subject.name) for d in self.designs for repair in d.repairs],
            "missing": [MISSING_WORDS.get(name, name) for name in self.missing] if self.verdict == "unknown" else [],
            "unused": [
                {"design": d.subject.name or None, "text": u.text, "source": u.evidence.source, "line": u.evidence.line}
                for d in self.designs
                for u in d.unused
            ],
            "next": list(self.next_steps) if self.verdict == "unknown" else [],
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
    """Name, verdict, sums that were made, and the numbers that were read, each with its line."""
    facts = {
        fact.name: {"value": fact.value, "line": fact.evidence.line}
        for fact in sorted(design.subject.sheet.facts.values(), key=lambda fact: fact.name)
    }
    sums = [{"links": s.links, "needed": s.needed, "against": s.what, "have": s.have} for s in design.sums]
    return {
        "name": design.subject.name or None,
        "verdict": design.verdict,
        "checks": design.n_checks,
        "sums": sums,
        "read": facts,
    }


def check_text(text: str, source: str) -> Checked:
    """Every design of a text judged. Raises InputError for a broken table or YAML, an empty or too long text, and a
    site file.
    """
    return Checked(source, tuple(_check(subject) for subject in read_subjects(text, source)))


def _check(subject: Subject) -> CheckedDesign:
    sheet = subject.sheet
    shape = shape_of(sheet)
    is_row = subject.row is not None
    sums, published = add_up(sheet, shape, is_row=is_row), judge_published(subject)
    agreed = Sums() if is_row else agree(sheet, shape)
    optics = judge_optics(sheet)
    ends, n_ends = judge_ends(sheet)
    rails, functions = tuple(judge_rails(sheet, shape)), tuple(judge_functions(sheet))
    found = (*sums.findings, *rails, *functions, *agreed.findings, *published.findings, *optics.findings, *ends)
    short = (*sums.short, *agreed.short, *published.short)
    judged = (sums, agreed, published, Sums(used=USED_OF_RAILS if rails else frozenset()))
    return CheckedDesign(
        subject,
        tuple(_named(finding, subject.name) for finding in (*(() if is_row else _clashes(sheet)), *found)),
        short,
        repairs_of(sheet, shape, short),
        sums.made,
        optics,
        decide(sheet, shape, judged, is_judged_as_row=is_row or bool(published.n_compared)),
        sum((*(item.n_compared for item in judged), len(rails), len(functions), optics.n_lines, n_ends)),
        next_step(sheet, shape),
    )


def _clashes(sheet: Sheet) -> tuple[Finding, ...]:
    """A quantity with two values: neither is used."""
    return tuple(
        Finding(
            "EW-CHK-075",
            "warning",
            clash.name,
            clash.first.value,
            clash.other.value,
            args={"name": clash.name},
            evidence=tuple(dict.fromkeys((clash.first.evidence, clash.other.evidence))),
        )
        for clash in sheet.clashes
    )


def _named(finding: Finding, design: str) -> Finding:
    """A finding whose subject begins with the design, where a text holds several."""
    if not design or finding.subject.startswith(design):
        return finding
    return replace(finding, subject=f"{design}: {finding.subject}")
