"""What the design promises and rests on: prediction, targets, decisions and sources."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from eastwest import units
from eastwest.report.blocks import Block, Column, Derivation, Paragraph, Section, Table
from eastwest.report.values import Json, at, named, number, object_at, quantity, rows_at, shown, text_of, texts_at
from eastwest.report.wording import Words

PREDICTED = (
    "step_time_s",
    "compute_s",
    "bubble_s",
    "exposed_communication_s",
    "communication_share_ratio",
    "mfu_ratio",
    "tokens_per_s_per_gpu",
    "time_to_first_token_s",
    "time_per_token_s",
)
LIMITED = {"at_least": "≥", "at_most": "≤", "equal": "=", "zero": "="}


def predictions_of(plan: Json) -> list[tuple[str, Json]]:
    """(job, prediction) of every job that has one; the plan's own prediction when no job carries any."""
    jobs = [(str(job.get("name") or "job"), object_at(job, "prediction")) for job in rows_at(plan, "jobs")]
    found = [(name, prediction) for name, prediction in jobs if prediction]
    own = object_at(plan, "prediction")
    return found or ([("", own)] if own else [])


def predicted(words: Words, key: str, value: object) -> str:
    """One predicted value: shares in per cent, times in their natural unit."""
    if key.endswith("_ratio"):
        return shown(words, value, units.format_percent)
    if key == "tokens_per_s_per_gpu":
        return shown(words, value)
    return named(words, key, value)


def prediction_section(plan: Json, words: Words) -> Section:
    """Step time, exposed communication and MFU of each job, by traffic class, with what is assumed and where it stops
    being true.
    """
    predictions = predictions_of(plan)
    if not predictions:
        return Section("prediction", words("section.prediction"), (Paragraph(words("prediction.missing")),))
    keys = [key for key in PREDICTED if any(key in prediction for _, prediction in predictions)]
    table = Table(
        "prediction-table",
        words("table.prediction"),
        (Column(words("column.job")), *(Column(words(f"predicted.{key}"), True) for key in keys)),
        tuple(
            (job or words("prediction.all"), *(predicted(words, key, p.get(key)) for key in keys))
            for job, p in predictions
        ),
    )
    blocks: list[Block] = [table]
    exposed = tuple(row for job, prediction in predictions for row in _exposed_rows(job, prediction, words))
    if exposed:
        columns = (
            Column(words("column.job")),
            Column(words("column.traffic")),
            Column(words("column.time"), True),
            Column(words("column.exposed"), True),
        )
        blocks.append(Table("exposed-table", words("table.exposed"), columns, exposed))
    for key in ("assumed", "invalid"):
        texts = list(dict.fromkeys(text for _, prediction in predictions for text in texts_at(prediction, key)))
        blocks += [Paragraph(words(f"prediction.{key}", text=text), note=True) for text in texts]
    return Section("prediction", words("section.prediction"), tuple(blocks))


def _exposed_rows(job: str, prediction: Json, words: Words) -> Iterator[tuple[str, ...]]:
    exposed, whole = object_at(prediction, "exposed_by_traffic_s"), object_at(prediction, "time_by_traffic_s")
    for traffic in exposed:
        yield (
            job or words("prediction.all"),
            words.name("traffic", traffic),
            shown(words, at(whole, traffic), units.format_time),
            shown(words, exposed[traffic], units.format_time),
        )


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
