"""Decisions and targets in plain text for a terminal: what `eastwest why` prints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from eastwest.report.formats.text_layout import display_width, wrap
from eastwest.report.values import Json, clean, named, object_at, quantity, rows_at, text_of
from eastwest.report.wording import Words, words_of


def heading(site: Json, lang: Literal["en", "zh"] = "en") -> str:
    """Which plan is explained: its site's name and the file that it was made from."""
    words, site = words_of(lang), clean(site)
    return words("why.plan", name=text_of(words, site.get("name")), source=text_of(words, site.get("source")))


def listing(entries: Iterable[Json], lang: Literal["en", "zh"] = "en") -> str:
    """Every id with its value, a line each."""
    words, rows = words_of(lang), [clean(entry) for entry in entries]
    width = max((len(str(row["id"])) for row in rows), default=0)
    return "\n".join(f"{row['id']:<{width}}  {value_text(row, words)}" for row in rows)


def render(entries: Iterable[Json], lang: Literal["en", "zh"] = "en", width: int = 100) -> str:
    """One paragraph for each decision or target: the reason, formula, inputs, source, and what was rejected."""
    words = words_of(lang)
    return "\n\n".join("\n".join(_paragraph(clean(entry), words, width)) for entry in entries)


def value_text(entry: Json, words: Words) -> str:
    """The value with its unit, or for a target without one how it limits (bounded, ignored)."""
    if entry.get("value") is None and entry.get("kind"):
        return words.name("limit", entry["kind"])
    return quantity(words, entry.get("value"), entry.get("unit"))


def _paragraph(entry: Json, words: Words, width: int) -> list[str]:
    rows = [("because", text_of(words, entry.get("because")))]
    if entry.get("formula"):
        rows.append(("formula", str(entry["formula"])))
    rows += [("input", f"{name} = {named(words, name, value)}") for name, value in object_at(entry, "inputs").items()]
    if entry.get("test"):
        rows.append(("test", str(entry["test"])))
    rows.append(("source", text_of(words, entry.get("source"))))
    rows += [
        (
            "not",
            f"{quantity(words, row.get('value'), entry.get('unit'))}: {text_of(words, row.get('rejected_because'))}",
        )
        for row in rows_at(entry, "alternatives")
    ]
    labels = [words(f"why.{key}") for key, _ in rows]
    column = max(display_width(label) for label in labels) + 4
    lines = [f"{entry['id']} = {value_text(entry, words)}"]
    for label, (_, text) in zip(labels, rows, strict=True):
        head = f"  {label}" + " " * (column - 2 - display_width(label))
        first, *more = wrap(text, width - column)
        lines += [head + first, *(" " * column + line for line in more)]
    return lines
