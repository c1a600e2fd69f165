"""What the design promises and rests on: targets, decisions and sources."""

from __future__ import annotations

from collections import Counter, defaultdict

from eastwest.report.blocks import Block, Column, Derivation, Paragraph, Section, Table
from eastwest.report.values import Json, named, number, object_at, quantity, rows_at, text_of, texts_at
from eastwest.report.wording import Words

LIMITED = {"at_least": "≥", "at_most": "≤", "equal": "=", "zero": "="}


def targets_section(plan: Json, words: Words) -> Section:
    """What acceptance must measure, each limit with the reason it follows from."""
    rows = rows_at(plan, "targets")
    if not rows:
        return Section("targets", words("section.targets"), (Paragraph(words("targets.missing")),))
    table = Table(
        "targets-table",
        words("table.targets"),
        tuple(
            Column(words(f"column.{name}"), name == "limit")
            for name in ("target", "limit", "test", "because", "formula", "source")
        ),
        tuple(
            (
                text_of(words, row.get("id")),
                limit_text(row, words),
                text_of(words, row.get("test")),
                text_of(words, row.get("because")),
                text_of(words, row.get("formula")),
                text_of(words, row.get("source")),
            )
            for row in rows
        ),
    )
    return Section("targets", words("section.targets"), (table,))


def limit_text(row: Json, words: Words) -> str:
    """`≥ 44.1 GB/s`, `= 0`, `−8 … 4 dBm`, or the word for a limit without a number."""
    kind, unit = str(row.get("kind") or ""), "" if row.get("unit") == "1" else row.get("unit")
    if kind in {"bounded", "ignored"} and number(row.get("value")) is None:
        return words.name("limit", kind)
    value = quantity(words, row.get("value"), unit)
    if kind == "window":
        return f"{value} … {quantity(words, row.get('upper'), unit)}"
    return f"{LIMITED.get(kind, words.name('limit', kind))} {value}"


def decisions_section(plan: Json, words: Words) -> Section:
    """Every chosen value with its reason, formula, inputs, source and the alternatives that were rejected."""
    rows = rows_at(plan, "decisions")
    if not rows:
        return Section("decisions", words("section.decisions"), (Paragraph(words("decisions.missing")),))
    return Section(
        "decisions",
        words("section.decisions"),
        (Paragraph(words("decisions.intro")), *(_derivation(row, words) for row in rows)),
    )


def _derivation(row: Json, words: Words) -> Derivation:
    name, inputs = text_of(words, row.get("id")), object_at(row, "inputs")
    return Derivation(
        anchor=f"why-{name}",
        name=name,
        value=decided(row, words),
        because=text_of(words, row.get("because")),
        formula=str(row.get("formula") or ""),
        inputs=tuple((str(key), named(words, str(key), value)) for key, value in inputs.items()),
        source=text_of(words, row.get("source")),
        alternatives=tuple(
            (quantity(words, other.get("value"), row.get("unit")), text_of(words, other.get("rejected_because")))
            for other in rows_at(row, "alternatives")
        ),
    )


def decided(row: Json, words: Words) -> str:
    """The value of a decision with its unit; unit `1` is a bare number."""
    unit = row.get("unit")
    return quantity(words, row.get("value"), "" if unit == "1" else unit)


def sources_section(plan: Json, words: Words) -> Section:
    """Every source that a number of this plan names and where it is used, and what nobody gave."""
    used: dict[str, Counter[str]] = defaultdict(Counter)
    for part in ("ledger", "targets", "decisions", "bom"):
        for row in rows_at(plan, part):
            if row.get("source"):
                used[str(row["source"])][part] += 1
    rows = tuple(
        (source, words("list_joiner").join(f"{words(f'part.{part}')} {n}" for part, n in counts.items()))
        for source, counts in sorted(used.items())
    )
    columns = (Column(words("column.source")), Column(words("column.used_in")))
    blocks: list[Block] = [Paragraph(words("sources.missing"))]
    if rows:
        blocks = [Table("sources-table", words("table.sources"), columns, rows)]
    assumed = tuple((text,) for text in texts_at(plan, "assumed"))
    if assumed:
        blocks.append(Table("assumed-table", words("table.assumed"), (Column(words("column.assumption")),), assumed))
    return Section("sources", words("section.sources"), tuple(blocks))
