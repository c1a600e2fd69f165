"""A judged table as a document: findings, totals, predicted against measured, residuals by source, every row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import eastwest
from eastwest.report.blocks import Block, Column, Document, Fact, Paragraph, Section, Table
from eastwest.report.chapters.verdict import findings_section, verdict_sentence, verdict_word
from eastwest.report.measured_charts import Measured, residuals, scatter
from eastwest.report.values import Json, at, clean, number, object_at, quantity, rows_at, text_of
from eastwest.report.wording import Words, words_of

SHARES = (
    ("median", "median_abs_error_ratio"),
    ("p90", "p90_abs_error_ratio"),
    ("loso_median", "loso_median_abs_error_ratio"),
    ("loso_p90", "loso_p90_abs_error_ratio"),
    ("naive_median", "naive_median_abs_error_ratio"),
)
COUNTS = ("n", "judged", "match", "mismatch", "skipped")


def validation_document(validated: Json, source: str, lang: Literal["en", "zh"]) -> Document:
    """The document of `validate` (schema `eastwest.validate/1`, any table) in English or Chinese."""
    words, safe = words_of(lang), clean(validated)
    code, word = verdict_word(safe, words)
    total = object_at(safe, "summary", "all")
    judged = words("sheet.rows_judged", judged=text_of(words, total.get("judged")), n=text_of(words, total.get("n")))
    return Document(
        lang=lang,
        title=words("sheet.validated", table=text_of(words, safe.get("table")), source=clean(source)),
        subtitle=words("sheet.subtitle", version=eastwest.__version__),
        verdict=code,
        verdict_word=word,
        verdict_text=f"{judged}; {verdict_sentence(safe, words)}",
        facts=tuple(_facts(total, words)),
        sections=tuple(_sections(safe, words)),
    )


def _sections(validated: Json, words: Words) -> Iterator[Section]:
    yield Section("summary", words("sheet.summary"), (_summary(validated, words),))
    points = measured_points(validated)
    if points:
        yield Section("pictures", words("sheet.pictures"), (scatter(points, words), residuals(points, words)))
    yield findings_section(validated, words)
    yield Section("rows", words("sheet.rows"), (_rows(validated, words),))
    rules = object_at(validated, "rules")
    if rules:
        blocks: tuple[Block, ...] = tuple(
            Paragraph(words("named", name=key, text=text_of(words, value))) for key, value in rules.items()
        )
        yield Section("rules", words("sheet.rules"), blocks)


def measured_points(validated: Json) -> list[Measured]:
    """Every scored measurement with a time: a row, or each point of a row; predicted without its own source where that
    is known.
    """
    found = []
    for row in rows_at(validated, "rows"):
        if row.get("scored") is not True:
            continue
        for label, predicted, measured in _times(row):
            if predicted and measured and predicted > 0 and measured > 0:
                name = f"{row.get('id')}{f', {label}' if label else ''}"
                found.append(Measured(name, str(row.get("family")), str(row.get("source")), predicted, measured))
    return found


def _times(row: Json) -> Iterator[tuple[str, float | None, float | None]]:
    points = rows_at(row, "points")
    if points:
        for point in points:
            predicted = number(point.get("loso_predicted_s")) or number(point.get("predicted_s"))
            yield str(point.get("label") or ""), predicted, number(point.get("measured_s"))
    elif at(row, "measured", "unit") == "s":
        predicted = number(at(row, "loso_predicted", "value")) or number(at(row, "predicted", "value"))
        yield "", predicted, number(at(row, "measured", "value"))


def _facts(total: Json, words: Words) -> Iterator[Fact]:
    for label, key in SHARES:
        value = number(total.get(key))
        if value is not None:
            yield Fact(words(f"sheet.{label}"), f"{value:.1%}")


def _summary(validated: Json, words: Words) -> Table:
    """A row for each family, with the columns that its figures have."""
    families = object_at(validated, "summary")
    counts = [key for key in COUNTS if any(key in object_at(families, name) for name in families)]
    shares = [(label, key) for label, key in SHARES if any(key in object_at(families, name) for name in families)]
    columns = [Column(words("sheet.family"))]
    columns += [Column(words(f"sheet.{label}"), numeric=True) for label in (*counts, *(label for label, _ in shares))]
    rows = []
    for name, figures in families.items():
        cells = [text_of(words, at(figures, key)) for key in counts]
        cells += [_percent(at(figures, key), words) for _, key in shares]
        rows.append((str(name), *cells))
    return Table("summary", words("sheet.summary"), tuple(columns), tuple(rows))


def _rows(validated: Json, words: Words) -> Table:
    """Every row of the table with prediction, measurement, error and why it does not count."""
    titles: Sequence[tuple[str, bool]] = (
        ("id", False),
        ("family", False),
        ("source", False),
        ("predicted", True),
        ("measured", True),
        ("error", True),
        ("loso_median", True),
        ("remark", False),
    )
    columns = tuple(Column(words(f"sheet.{title}"), numeric=numeric) for title, numeric in titles)
    rows = tuple(_row(row, words) for row in rows_at(validated, "rows"))
    return Table("rows", words("sheet.rows"), columns, rows, folded=True)


def _row(row: Json, words: Words) -> tuple[str, ...]:
    cells = [
        quantity(words, at(row, name, "value"), at(row, name, "unit"))
        if number(at(row, name, "value")) is not None
        else ""
        for name in ("predicted", "measured")
    ]
    errors = [_percent(row.get(key), words) for key in ("abs_error_ratio", "loso_abs_error_ratio")]
    remark = row.get("skipped") or row.get("suspect") or row.get("explanation") or row.get("status") or ""
    return (str(row.get("id")), str(row.get("family")), str(row.get("source") or ""), *cells, *errors, str(remark))


def _percent(value: Any, words: Words) -> str:
    found = number(value)
    return "" if found is None else f"{found:.1%}"
