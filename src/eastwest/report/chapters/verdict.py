"""The verdict in a sentence, the findings with their evidence, the headline numbers, and the answer in a paragraph."""

from __future__ import annotations

from typing import Any

from eastwest import units
from eastwest.report.blocks import Block, Fact, Notice, Paragraph, Section
from eastwest.report.figures import memory_sentence
from eastwest.report.values import (
    Json,
    at,
    counted,
    layout_text,
    number,
    object_at,
    quantity,
    rows_at,
    shown,
    text_of,
    texts_at,
)
from eastwest.report.wording import Words

SEVERITIES = ("error", "warning", "info")


def ordered_findings(plan: Json) -> list[Json]:
    """Findings as the plan gives them, errors first; inside a severity the plan's order stays."""
    rank = {severity: index for index, severity in enumerate(SEVERITIES)}
    return sorted(rows_at(plan, "findings"), key=lambda row: rank.get(str(row.get("severity")), len(SEVERITIES)))


def verdict_word(plan: Json, words: Words) -> tuple[str, str]:
    """The verdict's code and its word; a document without a verdict is `unknown`, never a pass."""
    verdict = str(plan.get("verdict") or "unknown")
    known = verdict if verdict in {"pass", "warn", "fail"} else "unknown"
    return known, words(f"verdict.{known}")


def verdict_sentence(plan: Json, words: Words) -> str:
    """How many errors, warnings and notes; how many of them somebody accepted."""
    findings = rows_at(plan, "findings")
    counts = [
        sum(row.get("severity") == severity and not row.get("waived") for row in findings) for severity in SEVERITIES
    ]
    named_counts = zip(("errors", "warnings", "notes"), counts, strict=True)
    parts = [counted(words, key, n) for key, n in named_counts if n or key != "notes"]
    waived = sum(bool(row.get("waived")) for row in findings)
    if waived:
        parts.append(words("verdict.waived", n=waived))
    return words("list_joiner").join(parts)


def findings_section(plan: Json, words: Words) -> Section:
    """Every finding: what, where, expected against observed, what to do, and the lines that prove it."""
    blocks: list[Block] = [_notice(row, words) for row in ordered_findings(plan)]
    if "findings" not in plan:
        blocks.append(Paragraph(words("findings.missing")))
    elif not blocks:
        blocks.append(Paragraph(words("findings.none")))
    return Section("findings", words("section.findings"), tuple(blocks))


def _notice(row: Json, words: Words) -> Notice:
    unit = row.get("unit")
    measured = ""
    if row.get("expected") is not None and row.get("observed") is not None:
        measured = words(
            "findings.measured",
            expected=quantity(words, row.get("expected"), unit),
            observed=quantity(words, row.get("observed"), unit),
        )
    severity = str(row.get("severity") or "info")
    return Notice(
        severity=severity if severity in SEVERITIES else "info",
        severity_word=words.name("severity", severity),
        code=str(row.get("code") or ""),
        subject=str(row.get("subject") or ""),
        text=text_of(words, row.get("message")),
        hint=str(row.get("hint") or ""),
        measured=measured,
        waived=words("findings.waived", reason=row["waived"]) if row.get("waived") else "",
        evidence=tuple(_quotation(line, words) for line in rows_at(row, "evidence")),
    )


def _quotation(line: Json, words: Words) -> str:
    where = str(line.get("source") or words("not_given"))
    number_ = line.get("line")
    return f"{where}:{number_}: {line.get('text', '')}" if number_ is not None else f"{where}: {line.get('text', '')}"


def headline_facts(plan: Json, words: Words) -> tuple[Fact, ...]:
    """Size, switches, oversubscription and prediction as headline numbers; the prediction only where the plan has
    one.
    """
    fabric, prediction = at(plan, "fabric"), at(plan, "prediction")
    facts = [
        Fact(words("fact.gpus"), shown(words, at(fabric, "gpus")), counted(words, "servers", at(fabric, "servers"))),
        Fact(words("fact.switches"), _switch_text(fabric, words), words.name("family", at(fabric, "family"))),
        Fact(
            words("fact.oversubscription"),
            shown(words, at(fabric, "oversubscription_ratio", "leaf"), units.format_ratio),
            words("fact.at_leaf"),
        ),
    ]
    if number(at(prediction, "step_time_s")) is not None:
        share = shown(words, at(prediction, "communication_share_ratio"), units.format_percent)
        facts.append(
            Fact(
                words("fact.step"),
                shown(words, at(prediction, "step_time_s"), units.format_time),
                words("fact.exposed", share=share),
            )
        )
        facts.append(
            Fact("MFU", shown(words, at(prediction, "mfu_ratio"), units.format_percent), words("fact.predicted"))
        )
    return tuple(facts)


def _switch_text(fabric: Any, words: Words) -> str:
    tiers = ("leaves", "spines", "cores") if at(fabric, "cores") else ("leaves", "spines")
    return " + ".join(shown(words, at(fabric, tier)) for tier in tiers)


def answer_section(plan: Json, words: Words) -> Section:
    """The whole answer in one paragraph: what is built, what it carries, how long a step takes, what does not fit."""
    sentences = [_fabric_sentence(plan, words)]
    for job in rows_at(plan, "jobs"):
        sentences.append(_job_sentence(job, words))
        sentences.append(memory_sentence(job, words))
    sentences.append(_step_sentence(plan, words))
    description = at(plan, "site", "description")
    blocks = [Paragraph(str(description), note=True)] if description else []
    return Section(
        "answer",
        words("section.answer"),
        (*blocks, Paragraph(words("sentence_joiner").join(s for s in sentences if s))),
    )


def _fabric_sentence(plan: Json, words: Words) -> str:
    fabric, site = object_at(plan, "fabric"), at(plan, "site")
    if not fabric:
        return words("fabric.missing")
    return words(
        "answer.fabric",
        site=text_of(words, at(site, "name")),
        family=words.name("family", fabric.get("family")),
        tiers=counted(words, "tiers", fabric.get("tiers")),
        servers=counted(words, "servers", fabric.get("servers")),
        gpus=counted(words, "gpus", fabric.get("gpus")),
        leaves=counted(words, "leaves", fabric.get("leaves")),
        spines=counted(words, "spines", fabric.get("spines")),
        transport=words.name("transport", at(site, "transport")),
        regime=words.name("regime", at(site, "loss_regime")),
        ratio=shown(words, at(fabric, "oversubscription_ratio", "leaf"), units.format_ratio),
        max_gpus=shown(words, fabric.get("max_gpus")),
    )


def _job_sentence(job: Json, words: Words) -> str:
    return words(
        "answer.job",
        job=text_of(words, job.get("name")),
        kind=words.name("kind", job.get("kind")),
        params=shown(words, job.get("params"), units.format_count),
        gpus=counted(words, "gpus", job.get("gpus")),
        layout=layout_text(words, job.get("layout")),
    )


def _step_sentence(plan: Json, words: Words) -> str:
    prediction = at(plan, "prediction")
    if number(at(prediction, "step_time_s")) is None:
        return ""
    return words(
        "answer.step",
        step=shown(words, at(prediction, "step_time_s"), units.format_time),
        exposed=shown(words, at(prediction, "exposed_communication_s"), units.format_time),
        share=shown(words, at(prediction, "communication_share_ratio"), units.format_percent),
        mfu=shown(words, at(prediction, "mfu_ratio"), units.format_percent),
        n=len(texts_at(prediction, "assumed")),
    )
