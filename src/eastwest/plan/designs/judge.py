"""A row judged: every printed count against the predicted one, singly, and in words why they differ."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from eastwest.finding import Evidence, Finding, Severity
from eastwest.plan.designs import rules_fabric, rules_groups, rules_ports, rules_stripes
from eastwest.plan.designs.case import Row
from eastwest.plan.designs.contradiction import contradiction_of
from eastwest.plan.designs.prediction import Prediction, agrees, nearest
from eastwest.plan.designs.written import whole_of

Status = Literal["match", "explained", "mismatch", "skipped"]
RULES = [
    (re.compile(pattern), rule)
    for rules in (rules_stripes.RULES, rules_ports.RULES, rules_groups.RULES, rules_fabric.RULES)
    for pattern, rule in rules.items()
]
_SIZES = frozenset({"gpus", "nodes", "ports", "stripes", "scalable_units", "racks", "node_bandwidth_gbps", "tiers"})


@dataclass(frozen=True, slots=True)
class Count:
    """One printed count: `match` None where the inputs leave it open, or where it cannot be read."""

    name: str
    predicted: int | str | None
    published: Any
    match: bool | None
    because: str


@dataclass(frozen=True, slots=True)
class Judged:
    """One row: its counts, whether they match, what is to be said about it, and why it is skipped when it is."""

    row: Row
    counts: tuple[Count, ...]
    findings: tuple[Finding, ...]
    notes: tuple[Finding, ...]
    skipped: Finding | None

    @property
    def status(self) -> Status:
        """Match, explained (its own warning says that it is wrong), mismatch, or skipped."""
        if self.skipped is not None:
            return "skipped"
        if all(count.match is not False for count in self.counts):
            return "match"
        return "explained" if self.row.warning else "mismatch"

    def explanation(self, lang: str) -> str:
        """All that is to be said about the row."""
        return " ".join(f"{finding.sentence(lang)}." for finding in (*self.findings, *self.notes))

    def as_json(self, lang: str) -> dict[str, Any]:
        """The row in the shape of the command line's contract."""
        return {
            "id": self.row.id,
            "family": self.row.family,
            "status": self.status,
            "match": None if self.skipped else self.status == "match",
            "counts": [
                {
                    "name": count.name,
                    "predicted": count.predicted,
                    "published": count.published,
                    "match": count.match,
                    "because": count.because,
                }
                for count in self.counts
            ],
            "explanation": self.explanation(lang),
            "skipped": self.skipped.sentence(lang) if self.skipped else None,
        }


def judge_row(row: Row, source: str, lines: tuple[str, ...] = ()) -> Judged:
    """Every printed count of a row against the arithmetic of its inputs."""
    counts = tuple(_count(row, name, printed) for name, printed in row.printed.items())
    judged, own = [count for count in counts if count.match is not None], _quoted(source, row.line, lines)
    flaw = contradiction_of(row)
    if flaw:
        refused = Finding("EW-CHK-025", "warning", row.id, args={"reason": flaw}, evidence=own)
        skipped = Finding("EW-CHK-015", "info", row.id, evidence=own)
        return Judged(row, tuple(replace(count, match=None) for count in counts), (refused,), (), skipped)
    if not judged:
        return Judged(row, counts, (), (), replace(_skipped(row, counts), evidence=own))
    differing = [_mismatch(row, count, source, lines) for count in judged if not count.match]
    findings = (*differing, *_unread(row, source, lines))
    notes = tuple(replace(note, evidence=own) for note in _notes(row, bool(differing), judged))
    return Judged(row, counts, findings, notes, None)


def predict(row: Row, name: str) -> Prediction | None:
    """What the inputs of a row give for one of its printed counts; None when they leave it open."""
    for pattern, rule in RULES:
        match = pattern.fullmatch(name)
        found = rule(row, match) if match else None
        if found is not None:
            return found
    return None


def _count(row: Row, name: str, printed: Any) -> Count:
    prediction = predict(row, name)
    if prediction is None:
        return Count(name, None, printed, None, "")
    prediction = nearest(prediction, printed)
    verdict = agrees(prediction, printed)
    if verdict is False and prediction.is_on_switch and row.design.is_on_assumed_switch:
        verdict = None  # the row names no switch: another one may give what it prints
    return Count(name, prediction.shown, printed, verdict, prediction.because)


def _skipped(row: Row, counts: tuple[Count, ...]) -> Finding:
    """Why nothing of a row can be judged, from a fixed list."""
    design = row.design
    if not counts:
        code = "EW-CHK-012"
    elif design.nodes and design.switch and row.counts is None:
        code = "EW-CHK-015"
    elif design.switch is None and any(re.search(r"max_|leaf|spine|switch", count.name) for count in counts):
        code = "EW-CHK-014" if row.given.keys() & _SIZES else "EW-CHK-016"
    elif design.nodes is None and not row.given.keys() & _SIZES:
        code = "EW-CHK-013"
    else:
        code = "EW-CHK-016"
    return Finding(code, "info", row.id)


def _mismatch(row: Row, count: Count, source: str, lines: tuple[str, ...]) -> Finding:
    severity: Severity = "info" if row.warning else "warning"
    code = "EW-CHK-021" if row.warning else "EW-CHK-020"
    args = {"name": count.name, "because": count.because, "warning": row.warning}
    evidence = _quoted(source, row.lines.get(count.name.split(".")[0], row.line), lines)
    return Finding(code, severity, row.id, count.predicted, count.published, args=args, evidence=evidence)


def _unread(row: Row, source: str, lines: tuple[str, ...]) -> Iterator[Finding]:
    """Printed values that are no count under a name that is one's: `leaf: many`."""
    for name, value in row.unread.items():
        if any(pattern.fullmatch(name) for pattern, _ in RULES):
            evidence = _quoted(source, row.lines.get(name, row.line), lines)
            yield Finding("EW-CHK-026", "warning", row.id, None, value, args={"name": name}, evidence=evidence)


def _quoted(source: str, line: int | None, lines: tuple[str, ...]) -> tuple[Evidence, ...]:
    """A line of the table, where the table's lines are at hand."""
    text = lines[line - 1].strip() if line and line <= len(lines) else ""
    return (Evidence(source, line, text),)


def _notes(row: Row, differs: bool, judged: list[Count]) -> Iterator[Finding]:
    """What else a reader should know: assumptions, a warning that the arithmetic does not share, printed GPUs."""
    if row.warning and not differs:
        because = "; ".join(f"{count.name}: {count.because}" for count in judged)
        yield Finding("EW-CHK-023", "info", row.id, args={"warning": row.warning, "because": because})
    if row.design.assumed and (row.design.nodes or differs):
        yield Finding("EW-CHK-022", "info", row.id, args={"assumed": ", ".join(row.design.assumed)})
    printed, gpus = whole_of(row.given.get("gpus_printed")), row.design.gpus
    if printed and gpus and printed != gpus:
        args = {"nodes": row.design.nodes, "per_node": row.design.gpus_per_node}
        yield Finding("EW-CHK-024", "info", row.id, expected=gpus, observed=printed, args=args)
