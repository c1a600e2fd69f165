"""What the design promises and rests on: prediction, targets, bill of materials, decisions and sources."""

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


def bill_section(plan: Json, words: Words) -> Section:
    """What to buy, and the cables by tier, medium and length."""
    parts, cables = rows_at(plan, "bom"), rows_at(plan, "cables_summary")
    blocks: list[Block] = []
    if parts:
        blocks.append(_bom_table(parts, words))
    if cables:
        blocks.append(_cable_table(cables, words))
    return Section("bill", words("section.bill"), tuple(blocks) or (Paragraph(words("bill.missing")),))


def _bom_table(parts: list[Json], words: Words) -> Table:
    """The parts; columns that no row has anything to say in are left out."""
    candidates = ("power", "unit_price", "price", "source", "note")
    optional = [name for name in candidates if any(_bom_cell(row, name, words) for row in parts)]
    columns = ("part", "description", "quantity", "unit", "where", *optional)
    return Table(
        "bom-table",
        words("table.bom"),
        tuple(
            Column(words(f"column.{name}"), name in {"quantity", "power", "unit_price", "price"}) for name in columns
        ),
        tuple(tuple(_bom_cell(row, name, words) for name in columns) for row in parts),
    )


def _bom_cell(row: Json, name: str, words: Words) -> str:
    """One cell of the bill; a part that draws no power of its own, or needs no note, leaves its cell empty."""
    if name == "power":
        return "" if row.get("power_w") is None else shown(words, row.get("power_w"), units.format_power)
    if name in {"unit_price", "price"}:
        price = number(row.get(name))
        return "" if price is None else f"{price:,.2f} {row.get('currency') or ''}".rstrip()
    if name in {"source", "note"}:
        return str(row.get(name) or "")
    return text_of(words, row.get(name))


def _cable_table(cables: list[Json], words: Words) -> Table:
    """The cables; the columns part and rate are left out when no row has them."""
    optional = [name for name, key in (("part", "part"), ("rate", "rate_bps")) if any(row.get(key) for row in cables)]
    columns = ("tier", "medium", *optional, "length", "quantity")
    return Table(
        "cable-table",
        words("table.cables"),
        tuple(Column(words(f"column.{name}"), name in {"rate", "length", "quantity"}) for name in columns),
        tuple(tuple(_cable_cell(row, name, words) for name in columns) for row in cables),
    )


def _cable_cell(row: Json, name: str, words: Words) -> str:
    if name == "tier":
        return words.name("link" if f"link.{row.get('tier')}" in words else "tier", row.get("tier"))
    if name == "length":
        return shown(words, row.get("length_m"), units.format_length)
    if name == "rate":
        return shown(words, row.get("rate_bps"), units.format_rate)
    return text_of(words, row.get(name))


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
    """Every source that a number of this plan names, and where it is used."""
    used: dict[str, Counter[str]] = defaultdict(Counter)
    for part in ("ledger", "targets", "decisions", "bom"):
        for row in rows_at(plan, part):
            if row.get("source"):
                used[str(row["source"])][part] += 1
    rows = tuple(
        (source, words("list_joiner").join(f"{words(f'part.{part}')} {n}" for part, n in counts.items()))
        for source, counts in sorted(used.items())
    )
    if not rows:
        return Section("sources", words("section.sources"), (Paragraph(words("sources.missing")),))
    columns = (Column(words("column.source")), Column(words("column.used_in")))
    return Section(
        "sources", words("section.sources"), (Table("sources-table", words("table.sources"), columns, rows),)
    )
