"""The printed counts of a published row against the fabric builder, as `validate designs` judges them."""

from __future__ import annotations

from typing import Any

from eastwest.finding import Finding, Severity
from eastwest.plan.checking.ports import Short, Sums
from eastwest.plan.checking.read import Subject
from eastwest.plan.checking.sheet import Sheet
from eastwest.plan.designs.case import Row
from eastwest.plan.designs.judge import judge_row
from eastwest.units import GIGA

_PRINTED = {"leaves": "leaf", "spines": "spine", "cores": "core", "switches": "total_switches"}


def judge_published(subject: Subject) -> Sums:
    """Each count that a row prints, or that a text gives beside GPUs and a switch, against what these need.

    Fewer switches or cables than needed are an error, more are information: a design may be larger than its GPUs need.
    """
    sheet = subject.sheet
    row = subject.row or _row_of(sheet)
    if row is None:
        return Sums()
    judged = judge_row(row, sheet.source)
    findings: list[Finding] = []
    short: list[Short] = []
    compared = 0
    for count in judged.counts:
        if count.match is None:
            continue
        compared += 1
        if count.match:
            continue
        is_whole = isinstance(count.predicted, int) and isinstance(count.published, int | float)
        is_short = is_whole and count.published < count.predicted
        if is_short and isinstance(count.predicted, int):
            short.append(Short(count.name, count.predicted, int(count.published), "pieces"))
        severity: Severity = "error" if is_short or not is_whole else "info"
        code = "EW-CHK-045" if severity == "error" else "EW-CHK-046"
        args = {"name": count.name, "because": count.because}
        evidence = sheet.evidence(_fact_of(count.name)) or sheet.evidence(*list(sheet.facts)[:1])
        findings.append(Finding(code, severity, row.id, count.predicted, count.published, "", args, evidence))
    return Sums(tuple(findings), tuple(short), (), frozenset(_PRINTED), compared)


def _fact_of(name: str) -> str:
    return next((fact for fact, printed in _PRINTED.items() if printed == name), name)


def _row_of(sheet: Sheet) -> Row | None:
    """A row made of a text's own numbers, when it names GPUs or servers, a whole switch, and how many switches."""
    if not (sheet.whole("gpus") or sheet.whole("servers")) or not sheet.whole("switch_ports"):
        return None
    if sheet.whole("switches") is None or sheet.whole("leaves") or sheet.whole("leaf_up") or sheet.whole("leaf_down"):
        return None  # its ports are added up one by one
    rate = sheet.whole("switch_ports_bps") or sheet.whole("nic_bps")
    inputs: dict[str, Any] = {
        "gpus": sheet.whole("gpus"),
        "nodes": sheet.whole("servers"),
        "gpus_per_node": sheet.whole("gpus_per_server"),
        "nics_per_node": sheet.whole("nics_per_server"),
        "nic_gbps": sheet.whole("nic_bps"),
        "radix": sheet.whole("switch_ports"),
        "oversubscription": sheet.ratio("ratio"),
    }
    if rate:
        inputs["switch"] = f"{sheet.whole('switch_ports')}x{rate // GIGA}G"
    outputs = {printed: sheet.whole(fact) for fact, printed in _PRINTED.items() if sheet.whole(fact) is not None}
    given = {key: value for key, value in inputs.items() if value is not None}
    return Row("design", "", given, outputs, "", None, {}) if outputs else None
