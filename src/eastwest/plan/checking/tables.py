"""Tables of parts: a header with a part and mostly a quantity, cells by comma, semicolon, tab or bar."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from eastwest.errors import InputError
from eastwest.finding import Evidence, Finding
from eastwest.plan.checking.sheet import PartLine
from eastwest.spec.mistakes import quoted
from eastwest.units import M_PER_KM

MOST_CELL = 500  # characters of a cell that are read
MOST_QUANTITY = 10_000_000
_PART = re.compile(
    r"part.*|item|description|model|sku|product|component|name|material|optic|cable|module|部件|物料|型号", re.I
)
_QUANTITY = re.compile(r"qty|quantity|count|pcs|pieces|units?_?(?:needed|ordered)|amount|number|数量", re.I)
_LENGTH = re.compile(r"length.*|len|metres|meters|distance.*|长度", re.I)
_ENDS = re.compile(r"a_device|from|end_?a|b_device|to|end_?b|line|port|where|location|rate|speed|unit", re.I)
_WHOLE = re.compile(r"\s*(\d[\d,_ ]*)(?:\.0+)?\s*(?:x|pcs|ea|pieces)?\s*", re.I)
_NUMBER = re.compile(r"line|no|pos|position|ref|row", re.I)  # a column that numbers the lines
_METRES = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(km|m)?\s*", re.I)
_IGNORED = re.compile(r"label|cable_id|id|[ab]_(?:device|port)|unit_price|price|currency|power_w")
_ROLES = {"number": _NUMBER, "length": _LENGTH, "quantity": _QUANTITY}
_SPARE = re.compile(r"\bspares?\b|备件", re.I)


@dataclass(frozen=True)
class TableShape:
    """Where a table begins (line from 1), what parts its cells, and the names of its columns."""

    line: int
    delimiter: str
    header: tuple[str, ...]

    @cached_property
    def roles(self) -> tuple[str, ...]:
        """What each column is: the first quantity, length and number of the line; devices and labels are ignored."""
        first = {role: self.column(pattern) for role, pattern in _ROLES.items()}
        by_column = {column: role for role, column in first.items() if column is not None}
        return tuple(
            by_column.get(i, "ignored" if _IGNORED.fullmatch(name) else "part") for i, name in enumerate(self.header)
        )

    def column(self, pattern: re.Pattern[str]) -> int | None:
        """The first column whose name matches."""
        return next((i for i, name in enumerate(self.header) if pattern.fullmatch(name)), None)


def find_table(lines: Sequence[str]) -> TableShape | None:
    """The table that a text is: its first line names a part, and a quantity, length or end. None when it is none."""
    first = next(((n, line) for n, line in enumerate(lines) if line.strip() and not line.startswith("#")), None)
    if first is None:
        return None
    number, line = first
    for delimiter in (",", ";", "\t", "|"):
        cells = tuple(_name(cell) for cell in _cells(line, delimiter))
        named = [name for name in cells if name]
        if len(named) <= 1 or any(re.search(r"\d", name) for name in named):
            continue
        shape = TableShape(number + 1, delimiter, cells)
        others = (_QUANTITY, _LENGTH, _ENDS)
        if shape.column(_PART) is not None and any(shape.column(pattern) is not None for pattern in others):
            return shape
    return None


def _name(cell: str) -> str:
    return re.sub(r"\W+", "_", cell.strip().lower()).strip("_")


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line[: MOST_CELL * 40]], delimiter=delimiter), [])
    except csv.Error:
        return line.split(delimiter)


def read_table(lines: Sequence[str], shape: TableShape, source: str) -> tuple[PartLine, ...]:
    """Every line of a table. Raises InputError, one finding a line, for quantities that are none and cells too many."""
    flaws: list[Finding] = []
    parts: list[PartLine] = []
    for number, line in enumerate(lines[shape.line :], start=shape.line + 1):
        if not line.strip() or line.startswith("#") or re.fullmatch(r"[\s|:+-]+", line):
            continue
        cells = [cell.strip()[:MOST_CELL] for cell in _cells(line, shape.delimiter)]
        evidence = Evidence(source, number, quoted(line))
        flaws += _flaws(cells, shape, evidence)
        parts.append(_part(cells, shape, evidence))
    if not parts:
        flaws.append(Finding("EW-CHK-071", "error", source, args={"where": f"{source}:{shape.line}"}))
    if flaws:
        raise InputError(flaws)
    return tuple(parts)


def _flaws(cells: list[str], shape: TableShape, evidence: Evidence) -> Iterator[Finding]:
    where = f"{evidence.source}:{evidence.line}"
    if len([cell for cell in cells if cell]) and len(cells) > len(shape.header):
        args = {"where": where}
        yield Finding("EW-CHK-073", "error", where, len(shape.header), len(cells), args=args, evidence=(evidence,))
    column = shape.roles.index("quantity") if "quantity" in shape.roles else None
    cell = cells[column] if column is not None and column < len(cells) else ""
    if cell and _whole(cell) is None:
        args = {"where": where, "column": shape.header[column or 0], "found": cell[:40]}
        yield Finding("EW-CHK-070", "error", where, args=args, evidence=(evidence,))


def _whole(cell: str) -> int | None:
    match = _WHOLE.fullmatch(cell)
    if not match:
        return None
    digits = re.sub(r"\D", "", match[1])
    return int(digits) if len(digits) <= len(str(MOST_QUANTITY)) and int(digits) <= MOST_QUANTITY else None


def _part(cells: list[str], shape: TableShape, evidence: Evidence) -> PartLine:
    """The part of a line; cells that number it, name devices, or are numbers are no part of its text."""
    quantity, length_m = None, None
    label, words = "", []
    for role, cell in zip(shape.roles, cells, strict=False):
        if role == "quantity" and cell:
            quantity = _whole(cell)
        elif role == "length":
            length_m = _metres(cell)
        elif role == "number":
            label = cell
        elif cell and role != "ignored" and not _is_number(cell):
            words.append(cell)
    text = "; ".join(words)
    if length_m is None and (found := re.search(r"(\d+(?:\.\d+)?)\s*(km|m)\b", text)):
        length_m = _metres(found[0])
    return PartLine(label or f"line {evidence.line}", text, quantity, length_m, evidence, bool(_SPARE.search(text)))


def _metres(cell: str) -> float | None:
    match = _METRES.fullmatch(cell)
    return float(match[1][:12]) * (M_PER_KM if (match[2] or "m").lower() == "km" else 1.0) if match else None


def _is_number(cell: str) -> bool:
    return bool(re.fullmatch(r"[\d.,]+", cell))
