"""Tables of parts: a header with a part and mostly a quantity, cells by comma, semicolon, tab or bar."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from eastwest.errors import InputError
from eastwest.finding import Evidence, Finding
from eastwest.plan.checking.cable_ends import EndColumns, end_columns, ends_of
from eastwest.plan.checking.keywords import key_name
from eastwest.plan.checking.sheet import MOST_DIGITS, PartLine, length_in_m
from eastwest.plan.designs.terms import PIECE, plain
from eastwest.spec.mistakes import quoted
from eastwest.units import M_PER_KM

MOST_CELL = 500  # characters of a cell that are read
MOST_CELLS = 40  # cells of that size in a line that is read
SHOWN_CHARS = 40  # of a cell in a sentence
MOST_TITLES = 12  # lines above the header of a spreadsheet: title, customer, date
MOST_QUANTITY = 10_000_000  # pieces; more is taken for no quantity
_PART = re.compile(
    r"part.*|item|items|description|model|sku|product|component|device|equipment|name|material|optics?(?:_.*)?|cable.*|"
    r"module.*|transceiver.*|kind|type|category|what|thing|role|tier|fib(?:re|er)|bezeichnung|artikel.*|beschreibung|部件|物料|规格.*|物料名称|型号|名称|设备|项目|类别|类型",
    re.I,
)
_QUANTITY = re.compile(
    r"qty.*|quantity|quantities|count|pcs|pieces|units?(?:_?(?:needed|ordered))?|amount|number|num|n|total|value|switches|devices|menge|anzahl|stück(?:zahl)?|数量.*|数值|值|台数|件数|个数",
    re.I,
)
_SECOND = re.compile(r"(?:qty|quantity|count|pieces|pcs|ordered|needed|menge|anzahl|数量).*", re.I)
_LENGTH = re.compile(r"length.*|len|metres|meters|distance.*|länge.*|长度.*", re.I)
_ENDS = re.compile(r"a_device|from|end_?a|b_device|to|end_?b|line|port|where|location|rate|speed|unit", re.I)
_SIDE = re.compile(
    r"(?:(?P<first>a|from|source|src|near|local)|(?P<second>b|to|destination|dst|dest|far|remote))_(?P<of>\w+)"
    r"|(?P<name>\w+?)_(?:(?P<tail_first>a|1|from|near|local)|(?P<tail_second>b|2|to|far|remote))"
    r"|(?P<end_first>from|source|src)|(?P<end_second>to|destination|dst|dest)"
)
_OF_AN_END = re.compile(r"optics?|modules?|transceivers?|part|model|type|connector|sfp|光模块")
_WHOLE = re.compile(
    r"\s*(\d[\d,_ ]*)(?:\.0+)?\s*(?:x|pcs?\.?|ea\.?|each|pieces|units?|sets?|nos?\.?|st(?:k|ück)?\.?)?\s*", re.I
)
_NUMBER = re.compile(r"line|no|pos|position|ref|row", re.I)  # a column that numbers the lines
_METRES = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(km|m|米)?\s*", re.I)
_VENDOR = re.compile(r"vendor|manufacturer|brand|supplier|make|oem|hersteller|厂商|厂家|品牌|供应商", re.I)
_IGNORED = re.compile(r"label|cable_id|id|[ab]_(?:device|port)|unit_price|price|currency|power_w|preis|单价|总价")
_ROLES = {"number": _NUMBER, "length": _LENGTH, "quantity": _QUANTITY}
_RULER, _DIGITS, _NO_DIGIT = re.compile(r"[\s|:+-]+"), re.compile(r"[\d.,]+"), re.compile(r"\D")
_TOTAL = re.compile(r"\s*(?:sub-?|grand )?totals?(?: .*)?|\s*sum|合计|总计|小计|总价", re.I)
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
            by_column.get(i, "ignored" if _IGNORED.fullmatch(name) or _VENDOR.fullmatch(name) else "part")
            for i, name in enumerate(self.header)
        )

    @cached_property
    def sides(self) -> tuple[int, ...]:
        """The end of a link that each column describes: 1 or 2, 0 for both; all 0 unless each end has an optic."""
        found = [_SIDE.fullmatch(name) for name in self.header]
        sides = tuple(0 if not m else 1 if m["first"] or m["tail_first"] or m["end_first"] else 2 for m in found)
        has_optics = {
            side for side, m in zip(sides, found, strict=True) if m and _OF_AN_END.fullmatch(m["of"] or m["name"] or "")
        }
        return sides if has_optics == {1, 2} else (0,) * len(self.header)

    @cached_property
    def ends(self) -> tuple[EndColumns, ...]:
        """The columns of device and port at each end of a cable."""
        return end_columns(self.header)

    def column(self, pattern: re.Pattern[str]) -> int | None:
        """The first column whose name matches."""
        return next((i for i, name in enumerate(self.header) if pattern.fullmatch(name)), None)


def find_table(lines: Sequence[str]) -> TableShape | None:
    """The table that a text is: its first line names a part, and a quantity, length or end. None when it is none.

    A bill out of a spreadsheet has a title above: there a later line is the header, if it names a part and a quantity.
    """
    written = ((n, line) for n, line in enumerate(lines) if line.strip() and not line.startswith("#"))
    for n, (number, line) in enumerate(islice(written, MOST_TITLES)):
        shape = _header(number, line)
        if shape is not None and (n == 0 or _is_whole(shape)):
            return shape
    return None


def _is_whole(shape: TableShape) -> bool:
    """Whether a header names a part and a quantity, so that it can be no sentence with commas."""
    return shape.column(_PART) is not None and shape.column(_QUANTITY) is not None


def _header(number: int, line: str) -> TableShape | None:
    """The line as a header, by the separator that makes one of it; None when none does."""
    for delimiter in (",", ";", "\t", "|"):
        cells = tuple(_name(cell) for cell in _cells(line, delimiter))
        named = [name for name in cells if name]
        if len(named) <= 1 or any(re.search(r"\d", name) for name in named):
            continue
        shape = TableShape(number + 1, delimiter, cells)
        if shape.ends:
            return shape
        others = (_QUANTITY, _LENGTH, _ENDS)
        is_named = shape.column(_PART) is not None and any(shape.column(pattern) is not None for pattern in others)
        if is_named or shape.column(_QUANTITY) is not None or any(shape.sides):
            return shape
    return None


def _name(cell: str) -> str:
    return re.sub(r"\W+", "_", cell.strip().lower()).strip("_")


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line[: MOST_CELL * MOST_CELLS]], delimiter=delimiter), [])
    except csv.Error:
        return line.split(delimiter)


def read_table(lines: Sequence[str], shape: TableShape, source: str) -> tuple[PartLine, ...]:
    """Every line of a table. Raises InputError, one finding a line, for quantities that are none and cells too many."""
    flaws: list[Finding] = []
    parts: list[PartLine] = []
    for number, line in enumerate(lines[shape.line :], start=shape.line + 1):
        if not line.strip() or line.startswith("#") or _RULER.fullmatch(line):
            continue
        cells = [cell.strip()[:MOST_CELL] for cell in _cells(line, shape.delimiter)]
        if _TOTAL.fullmatch(next((cell for cell in cells if cell), "")):
            continue
        evidence = Evidence(source, number, quoted(line))
        flaws += _flaws(cells, shape, evidence)
        parts += _parts(cells, shape, evidence)
    if not parts:
        flaws.append(Finding("EW-CHK-071", "error", source, args={"where": f"{source}:{shape.line}"}))
    if flaws:
        raise InputError(flaws)
    return tuple(parts)


def _flaws(cells: list[str], shape: TableShape, evidence: Evidence) -> Iterator[Finding]:
    where = f"{evidence.source}:{evidence.line}"
    if any(cells) and len(cells) > len(shape.header):
        args = {"where": where}
        yield Finding("EW-CHK-073", "error", where, len(shape.header), len(cells), args=args, evidence=(evidence,))
    column = shape.roles.index("quantity") if "quantity" in shape.roles else None
    cell = cells[column] if column is not None and column < len(cells) else ""
    if cell and _whole(cell) is None:
        args = {"where": where, "column": shape.header[column or 0], "found": cell[:SHOWN_CHARS]}
        yield Finding("EW-CHK-070", "error", where, args=args, evidence=(evidence,))


def _whole(cell: str) -> int | None:
    match = _WHOLE.fullmatch(cell if cell.isascii() else plain(f"{cell}台").replace(PIECE, ""))
    if not match:
        return None
    digits = match[1] if match[1].isdecimal() else _NO_DIGIT.sub("", match[1])
    return int(digits) if len(digits) <= len(str(MOST_QUANTITY)) and int(digits) <= MOST_QUANTITY else None


def _parts(cells: list[str], shape: TableShape, evidence: Evidence) -> Iterator[PartLine]:
    """The part of a line; of a line with an optic at each end, the part at each end."""
    if not any(shape.sides):
        yield _part(cells, shape, evidence, 0)
        return
    for side in (1, 2):
        part = _part(cells, shape, evidence, side)
        end = next((c for c, s, r in zip(cells, shape.sides, shape.roles, strict=False) if s == side and c), "")
        yield replace(part, label=f"{part.label} ({end[:SHOWN_CHARS]})", is_end=True)


def _part(cells: list[str], shape: TableShape, evidence: Evidence, side: int) -> PartLine:
    """The part of a line; cells that number it, name devices, or are numbers are no part of its text."""
    quantity, length_m = None, None
    label, words, others = "", [], []
    for role, of_side, name, cell in zip(shape.roles, shape.sides, shape.header, cells, strict=False):
        if side and of_side not in (0, side):
            continue
        if role == "quantity" and cell:
            quantity = _whole(cell)
        elif role == "length":
            length_m = _metres(cell)
        elif role == "number":
            label = cell
        elif cell and _SECOND.fullmatch(name) and _whole(cell) is not None:
            others.append(f"{name} {_whole(cell)}" if _whole(cell) != quantity else "")
        elif role == "part" and _is_number(cell) and key_name(name):
            words.append(f"{cell} {name.replace('_', ' ')}")
        elif cell and (role != "ignored" or of_side) and not _is_number(cell):
            words.append(cell)
    text = "; ".join(words)
    length_m = length_in_m(text) if length_m is None else length_m
    name, is_spare = label or f"line {evidence.line}", bool(_SPARE.search(text))
    ends = ends_of(cells, shape.ends) if side < 2 and shape.ends and quantity in (None, 1) else ()
    return PartLine(name, text, quantity, length_m, evidence, is_spare, ends=ends, others=tuple(filter(None, others)))


def _metres(cell: str) -> float | None:
    """Metres of a cell that is a length and nothing else; without a unit they are metres."""
    match = _METRES.fullmatch(cell)
    return float(match[1][:MOST_DIGITS]) * (M_PER_KM if (match[2] or "m").lower() == "km" else 1.0) if match else None


def _is_number(cell: str) -> bool:
    return _DIGITS.fullmatch(cell) is not None
