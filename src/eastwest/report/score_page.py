"""Judged benchmark results as a document: verdict, results, the bandwidth curve of each with its ceiling, findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import eastwest
from eastwest import units
from eastwest.accept.results import size_name
from eastwest.report.blocks import Block, Column, Document, Fact, Figure, Paragraph, Section, Table
from eastwest.report.chapters.verdict import findings_section, verdict_sentence, verdict_word
from eastwest.report.measured_charts import BusCurve, bus_curve
from eastwest.report.values import Json, clean, number, text_of
from eastwest.report.wording import Words, words_of

if TYPE_CHECKING:
    from eastwest.accept.results import Result

LEAST_POINTS = 2  # of a curve


def score_document(
    score: Json, results: tuple[Result, ...], limits: Mapping[str, float], lang: Literal["en", "zh"]
) -> Document:
    """The document of `score` (its JSON `score`, and the `results` behind it) in English or Chinese; `limits` are the
    shares of the ceiling by verdict.
    """
    words, safe = words_of(lang), clean(score)
    code, word = verdict_word(safe, words)
    return Document(
        lang=lang,
        title=words("sheet.scored"),
        subtitle=words("sheet.subtitle", version=eastwest.__version__),
        verdict=code,
        verdict_word=word,
        verdict_text=verdict_sentence(safe, words),
        facts=tuple(_facts(safe, words)),
        sections=tuple(_sections(safe, results, limits, words)),
    )


def _facts(score: Json, words: Words) -> Iterator[Fact]:
    known = [row for row in score["results"] if number(row.get("of_ceiling_ratio")) is not None]
    for row in known[:4]:
        ceiling = f"{row['ceiling']['name']} {units.format_bandwidth(row['ceiling']['bytes_per_s'])}"
        remark = f"{words('sheet.of_ceiling')}: {ceiling}"
        yield Fact(str(row["collective"]), units.format_percent(row["of_ceiling_ratio"]), remark)


def _sections(score: Json, results: tuple[Result, ...], limits: Mapping[str, float], words: Words) -> Iterator[Section]:
    yield Section("results", words("sheet.results"), (_results(score, words),))
    figures: tuple[Block, ...] = tuple(curves(results, limits, words))
    yield Section("pictures", words("sheet.pictures"), figures or (Paragraph(words("sheet.no_curve"), note=True),))
    yield findings_section(score, words)
    assumed: tuple[Block, ...] = tuple(Paragraph(str(text)) for text in score["assumed"])
    if assumed:
        yield Section("assumed", words("sheet.assumed"), assumed)


def curves(results: tuple[Result, ...], limits: Mapping[str, float], words: Words) -> Iterator[Figure]:
    """The bandwidth curve of every result that has two sizes or more."""
    for index, result in enumerate(results, start=1):
        points = [
            (point.size_bytes, point.bandwidth_bytes_per_s, point.in_place_bytes_per_s)
            for point in (result.curve.points if result.curve else ())
        ]
        if len(points) < LEAST_POINTS or not any(value > 0 for _, value, _ in points):
            continue
        name = clean(f"{result.collective}, {_machine(result, words)}")
        ceiling = result.ceiling
        yield bus_curve(
            BusCurve(
                f"busbw-{index}",
                name,
                points,
                ceiling.name if ceiling else "",
                ceiling.bytes_per_s if ceiling else None,
                {words(f"verdict.{key}"): share for key, share in limits.items()},
            ),
            words,
        )


def _machine(result: Result, words: Words) -> str:
    parts = [(result.nodes, "sheet.servers"), (result.gpus, "sheet.gpus")]
    return ", ".join(f"{value} {words(key)}" for value, key in parts if value) or words("not_given")


def _results(score: Json, words: Words) -> Table:
    titles = ("collective", "servers", "gpus", "size", "measured", "ceiling", "of_ceiling", "verdict", "source")
    numeric = {"servers", "gpus", "size", "measured", "ceiling", "of_ceiling"}
    columns = tuple(Column(words(f"sheet.{title}"), title in numeric) for title in titles)
    rows = tuple(_row(row, words) for row in score["results"])
    return Table("results", words("sheet.results"), columns, rows)


def _row(row: Any, words: Words) -> tuple[str, ...]:
    ceiling, ratio = row["ceiling"], number(row["of_ceiling_ratio"])
    measured = number(row["measured_bytes_per_s"])
    seconds = number(row["measured_s"])
    value = units.format_bandwidth(measured) if measured is not None else ""
    value = value or (units.format_time(seconds) if seconds is not None else "")
    return (
        str(row["collective"]),
        text_of(words, row["nodes"]),
        text_of(words, row["gpus"]),
        size_name(row["size_bytes"]) if row["size_bytes"] else "",
        value,
        f"{ceiling['name']}: {units.format_bandwidth(ceiling['bytes_per_s'])}" if ceiling else "",
        units.format_percent(ratio) if ratio is not None else "",
        words(f"verdict.{row['verdict']}"),
        str(row["source"]),
    )
