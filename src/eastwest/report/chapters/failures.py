"""What failures cost: the loss of one part of each class, the spare stock, and where the rates come from."""

from __future__ import annotations

from collections.abc import Iterator

from eastwest import units
from eastwest.report.blocks import Block, Column, Paragraph, Section, Table
from eastwest.report.values import Json, at, counted, number, rows_at, shown, text_of
from eastwest.report.wording import Words

STOPS = "failure.stops."  # id of the decision that says how often a job stops, before the job's name


def failures_section(plan: Json, words: Words) -> Section:
    """Every class of parts with the loss of one of them, how often each job stops, the spares, and the rates' sources;
    a class without a published rate says so.
    """
    rows, title = rows_at(plan, "failures"), words("section.failures")
    blocks: list[Block] = []
    if rows:
        blocks += [Paragraph(words("failures.intro"), note=True), Paragraph(_worst_sentence(rows, words))]
        blocks += [Paragraph(text) for text in _stop_sentences(plan, words)]
        blocks.append(_failure_table(rows, words))
    else:
        given = isinstance(plan.get("failures"), list | tuple)
        blocks.append(Paragraph(words("failures.none" if given else "failures.missing")))
    blocks += _spare_blocks(rows_at(plan, "spares"), words)
    blocks += [_rate_table(rows, words)] if rows else []
    return Section("failures", title, tuple(blocks))


def worst_of(rows: list[Json]) -> Json | None:
    """The class that costs most GPU-hours a month; None when none costs any."""
    known = [row for row in _counted(rows) if (number(row.get("lost_gpu_hours_per_month")) or 0) > 0]
    return max(known, key=lambda row: number(row.get("lost_gpu_hours_per_month")) or 0, default=None)


def _counted(rows: list[Json]) -> list[Json]:
    """The classes that sums are made of: failures of modules are in those of their links already."""
    return [row for row in rows if not row.get("counted_in")]


def _worst_sentence(rows: list[Json], words: Words) -> str:
    worst = worst_of(rows)
    if worst is None:
        return words("failures.nothing")
    hours = [number(row.get("lost_gpu_hours_per_month")) or 0 for row in _counted(rows)]
    return words(
        "failures.worst",
        kind=words.name("failure_kind", worst.get("kind")),
        subject=text_of(words, worst.get("subject")),
        hours=shown(words, worst.get("lost_gpu_hours_per_month")),
        total=shown(words, sum(hours)),
    )


def _stop_sentences(plan: Json, words: Words) -> Iterator[str]:
    """How often each job stops, in the words of its decision, and what a stop is taken to cost."""
    rows = [row for row in rows_at(plan, "decisions") if str(row.get("id") or "").startswith(STOPS)]
    for row in rows:
        job, n = str(row["id"]).removeprefix(STOPS), shown(words, row.get("value"))
        yield words("failures.stops", job=job, n=n, text=text_of(words, row.get("because"))) + words("sentence_end")
    if rows:
        restart, repair = (
            shown(words, at(rows[0], "inputs", key), units.format_time) for key in ("restart_s", "repair_s")
        )
        yield words("failures.assumed", restart=restart, repair=repair)


def _failure_table(rows: list[Json], words: Words) -> Table:
    columns = ("kind", "example", "alike", "gpus_lost", "remaining", "events", "outcome", "lost_hours")
    return Table(
        "failure-table",
        words("table.failures"),
        tuple(Column(words(f"column.{name}"), name not in {"kind", "example", "outcome"}) for name in columns),
        tuple(
            (
                words.name("failure_kind", row.get("kind")),
                text_of(words, row.get("subject")),
                shown(words, row.get("alike")),
                shown(words, row.get("gpus_lost")),
                shown(words, row.get("remaining_ratio"), units.format_percent),
                _rated(row, "events_per_month", words),
                outcomes_text(row, words),
                _rated(row, "lost_gpu_hours_per_month", words),
            )
            for row in rows
        ),
    )


def _rated(row: Json, key: str, words: Words) -> str:
    """A number that follows from a rate; a null one says that nobody publishes the rate, a missing one that it is not
    given.
    """
    return words("failures.no_rate") if key in row and row[key] is None else shown(words, row.get(key))


def outcomes_text(row: Json, words: Words) -> str:
    """`train: stops, 96 GPUs wait; serve: goes on`: what the loss does to each job."""
    texts = [
        words("failures.outcome", job=text_of(words, job.get("job")), outcome=_outcome(job, words))
        for job in rows_at(row, "jobs")
    ]
    return words("clause_joiner").join(texts) or words("not_given")


def _outcome(job: Json, words: Words) -> str:
    outcome, idle, ratio = words.name("outcome", job.get("outcome")), number(job.get("gpus_idle")), None
    if job.get("outcome") == "slower":
        ratio = number(job.get("step_time_ratio"))
    if ratio is not None:
        return words("failures.slower", outcome=outcome, ratio=f"{ratio:.4g}")
    return words("failures.idle", outcome=outcome, gpus=counted(words, "gpus", idle)) if idle else outcome


def _spare_blocks(rows: list[Json], words: Words) -> Iterator[Block]:
    """The stock of each part, with the time and the chance that it is made for."""
    if not rows:
        return
    columns = ("part", "in_use", "unit", "expected", "stock", "source")
    yield Table(
        "spare-table",
        words("table.spares"),
        tuple(Column(words(f"column.{name}"), name in {"in_use", "expected", "stock"}) for name in columns),
        tuple(
            (
                text_of(words, row.get("part")),
                shown(words, row.get("in_use")),
                text_of(words, row.get("unit")),
                shown(words, row.get("expected_in_lead_time")),
                shown(words, row.get("stock")),
                text_of(words, row.get("source")),
            )
            for row in rows
        ),
    )
    lead, confidence = rows[0].get("lead_time_s"), rows[0].get("confidence_ratio")
    days, chance = shown(words, lead, units.format_time), shown(words, confidence, units.format_percent)
    yield Paragraph(words("failures.spares", days=days, confidence=chance), note=True)


def _rate_table(rows: list[Json], words: Words) -> Table:
    """One line a kind of part: failures of one part a month, and who published that."""
    by_kind = {str(row.get("kind") or ""): row for row in reversed(rows)}
    columns = ("kind", "part_events", "source")
    return Table(
        "rate-table",
        words("table.rates"),
        tuple(Column(words(f"column.{name}"), name == "part_events") for name in columns),
        tuple(
            (
                words.name("failure_kind", row.get("kind")),
                "" if _unrated(row) else _part_events(row, words),
                words("failures.no_rate") if _unrated(row) else text_of(words, row.get("source")),
            )
            for row in reversed(by_kind.values())
        ),
    )


def _unrated(row: Json) -> bool:
    return "events_per_month" in row and row["events_per_month"] is None


def _part_events(row: Json, words: Words) -> str:
    events, alike = number(row.get("events_per_month")), number(row.get("alike"))
    return shown(words, events / alike if events is not None and alike else None)


def failure_line(plan: Json, words: Words) -> str:
    """The class that costs most GPU-hours a month in one line for the terminal; empty when none costs any."""
    worst = worst_of(rows_at(plan, "failures"))
    if worst is None:
        return ""
    return words(
        "text.failure",
        kind=words.name("failure_kind", worst.get("kind")),
        events=shown(words, worst.get("events_per_month")),
        outcome=outcomes_text(worst, words),
        hours=shown(words, worst.get("lost_gpu_hours_per_month")),
    )
