"""The rows of a table of measured collectives: YAML with `rows`, read without trust; a table of another shape at once.

Every key may be missing. What is read has a bound; what is not a number where one is needed counts as missing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eastwest.errors import InputError
from eastwest.plan.designs.source import flaws_found, read_yaml
from eastwest.plan.designs.written import text_of
from eastwest.plan.validation.sources import CONTROLS, source_key
from eastwest.spec.document import Flaw
from eastwest.spec.mistakes import shown

MOST_RANKS, MOST_BYTES = 10_000_000, 1e18
LEAST_NUMBER = 1e-12  # no rate, size or time of a table is smaller; divided by less, times overflow
LONGEST_NUMBER = 40  # characters
LONGEST_TEXT = 500  # characters of a text that is searched
_NUMBER = re.compile(r"[<>~≈\s]*([-+]?[\d,_]*\.?\d+(?:[eE][-+]?\d{1,3})?)\s*%?\s*$")
_GITHUB = re.compile(r"github(?:\.com/|:)\s*([\w.-]+/[\w.-]+)", re.I)


@dataclass(frozen=True, slots=True)
class CollectiveRow:
    """One row as written: `data` its keys, `points` its measurements, `line` where it stands, `number` from 1."""

    id: str
    number: int
    line: int | None
    data: Mapping[str, Any]
    points: tuple[Mapping[str, Any], ...]

    def text(self, *keys: str) -> str:
        """The texts of some keys joined; "" when they are missing."""
        found = (text_of(self.data.get(key)) for key in keys if not isinstance(self.data.get(key), dict | list))
        return " ".join(word[:LONGEST_TEXT] for word in found if word)

    def number_of(self, key: str) -> float | None:
        """A number of the row above 0; None when it is missing or is none."""
        return number(self.data.get(key))

    def count(self, key: str) -> int | None:
        """A count of the row; None when it is missing, is none, or is several (`2,4,8`)."""
        value = number(self.data.get(key))
        return int(value) if value is not None and value == int(value) and value <= MOST_RANKS else None

    @property
    def source(self) -> str:
        """The repository or paper of the row, also when it only reproduces another's figures."""
        return collective_source(self.text("source"))


def collective_source(text: str) -> str:
    """The repository that a source text names anywhere, else its first words.

    >>> collective_source("plots of a talk, reproduced in github:someone/book@744d:network/README.md")
    'github:someone/book'
    """
    text = CONTROLS.sub(" ", text)
    github = _GITHUB.search(text)
    if github:
        return "github:" + re.split(r"\.git\b", github[1])[0]
    return source_key(text) if re.match(r"(https?://)?arxiv", text, re.I) else text.split(",")[0].strip() or "unknown"


def number(value: Any) -> float | None:
    """A finite number above LEAST_NUMBER, also as text with a bound (`>95`); None for anything else.

    >>> number(">95"), number("6-83"), number(True)
    (95.0, None, None)
    """
    if isinstance(value, str) and len(value) <= LONGEST_NUMBER:
        match = _NUMBER.fullmatch(value.strip())
        value = float(re.sub(r"[,_]", "", match[1])) if match else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if LEAST_NUMBER <= value <= MOST_BYTES and math.isfinite(value) else None


def read_collectives(text: str, source: str) -> tuple[CollectiveRow, ...]:
    """Every row of a table. Raises InputError, with lines, when the text is no such table."""
    document = read_yaml(text, source)
    rows = document.data.get("rows")
    if not isinstance(rows, list) or not rows:
        flaw = Flaw("EW-VAL-200", None if "rows" in document.data else 1, ("rows",), {"found": shown(rows)})
        raise InputError(flaws_found([flaw], source, document))
    flaws = [
        Flaw("EW-VAL-211", None, ("rows", index), {"number": index + 1, "found": shown(row)})
        for index, row in enumerate(rows)
        if not isinstance(row, dict)
    ]
    if flaws:
        raise InputError(flaws_found(flaws, source, document))
    return tuple(_row(index, row, document.line_numbers.get(("rows", index))) for index, row in enumerate(rows))


def _row(index: int, row: Mapping[str, Any], line: int | None) -> CollectiveRow:
    points = row.get("points")
    kept = tuple(point for point in points if isinstance(point, dict)) if isinstance(points, list) else ()
    data = {str(key): value for key, value in row.items() if value is not None}
    name = "" if isinstance(row.get("id"), dict | list) else text_of(row.get("id"))
    return CollectiveRow(name or f"row {index + 1}", index + 1, line, data, kept)
