"""`Document`, the format-neutral report: sections of paragraphs, tables, figures, findings and derivations; each
format draws these blocks.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

# A spreadsheet reads a cell that starts so as a formula; such text gets an apostrophe in front (OWASP, "CSV
# Injection").
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its heading, and whether its cells are numbers (drawn flush right)."""

    title: str
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text; `note` is drawn smaller (an assumption, a limit, a way to read)."""

    kind: ClassVar[str] = "paragraph"
    text: str
    note: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells as text, under a caption; `key` is unique in the document, `folded` shows the caption first."""

    kind: ClassVar[str] = "table"
    key: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    folded: bool = False


@dataclass(frozen=True, slots=True)
class FigureData:
    """What a figure draws, as raw numbers in base units; the column names carry the unit."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def csv(self) -> str:
        """The data as CSV text (RFC 4180), safe to open in a spreadsheet."""
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow(self.columns)
        writer.writerows([_csv_cell(cell) for cell in row] for row in self.rows)
        return out.getvalue()


def _csv_cell(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA_STARTS) else cell


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture: either a Plotly figure as plain JSON (`plotly`) or our own SVG (`svg`), with its text alternative
    and its data.
    """

    kind: ClassVar[str] = "figure"
    key: str
    title: str
    alt: str
    data: FigureData
    plotly: Mapping[str, Any] | None = None
    svg: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """One finding in words: what, where, expected against observed, what to do, and the quoted lines that prove it."""

    kind: ClassVar[str] = "notice"
    severity: str
    severity_word: str
    code: str
    subject: str
    text: str
    hint: str = ""
    measured: str = ""
    waived: str = ""
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Derivation:
    """One decision that defends itself: value, reason, formula with its inputs, source, and what was rejected."""

    kind: ClassVar[str] = "derivation"
    anchor: str
    name: str
    value: str
    because: str
    formula: str
    inputs: tuple[tuple[str, str], ...]
    source: str
    alternatives: tuple[tuple[str, str], ...] = ()


Block = Paragraph | Table | Figure | Notice | Derivation


@dataclass(frozen=True, slots=True)
class Section:
    """One chapter of the report; `key` is its anchor."""

    key: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """A headline number with its label; `remark` says what it is measured against."""

    label: str
    value: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report in one language."""

    lang: Literal["en", "zh"]
    title: str
    subtitle: str
    verdict: str
    verdict_word: str
    verdict_text: str
    facts: tuple[Fact, ...]
    sections: tuple[Section, ...]

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Every figure, in reading order."""
        return tuple(block for section in self.sections for block in section.blocks if isinstance(block, Figure))
