"""A price file (YAML or CSV, a filled-in bill too): part -> price of one piece in one currency; read with the line of
every mistake.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eastwest.errors import InputError
from eastwest.finding import Evidence, Finding
from eastwest.registry import nearest
from eastwest.spec.document import Document, DocumentError, Flaw, read_document
from eastwest.spec.mistakes import findings_of_flaws, quoted, shown

MAX_FILE_BYTES = 4 * 1_048_576
MAX_PRICE = 1e12  # of one piece; above it somebody forgot a decimal point
COLUMNS = ("part", "price", "currency")
EACH = "unit_price"  # column of bom.csv: its `price` is of all pieces of the line
KEYS = ("currency", "prices")
SEPARATORS = (",", ";", "\t")
# ISO 4217 codes of the currencies in which network hardware is quoted.
CURRENCIES = frozenset(
    (
        *("AED", "AUD", "BRL", "CAD", "CHF", "CLP", "CNY", "CZK", "DKK", "EUR", "GBP", "HKD", "HUF", "IDR", "ILS"),
        *("INR", "JPY", "KRW", "KZT", "MXN", "MYR", "NOK", "NZD", "PHP", "PLN", "QAR", "RON", "SAR", "SEK", "SGD"),
        *("THB", "TRY", "TWD", "USD", "VND", "ZAR"),
    )
)


@dataclass(frozen=True, slots=True)
class Price:
    """What one piece of a part costs, and the line that says so."""

    part: str
    price: float
    line: int


@dataclass(frozen=True, slots=True)
class PriceFile:
    """Every price of one file, all in one currency; `lines` is its text."""

    source: str
    currency: str
    prices: tuple[Price, ...]
    lines: tuple[str, ...]


def load_prices(path: Path | str) -> PriceFile:
    """The prices of a file: CSV when its name ends so, else YAML. Raises InputError with every mistake at once."""
    source = str(path)
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or str(error)
        raise InputError([_file_mistake("EW-PRICE-001", source, problem)]) from error
    if len(content) > MAX_FILE_BYTES:
        raise InputError([_file_mistake("EW-PRICE-001", source, f"larger than {MAX_FILE_BYTES:,} bytes")])
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError([_file_mistake("EW-PRICE-001", source, "not text in UTF-8")]) from error
    return parse_prices(text, source)


def parse_prices(text: str, source: str) -> PriceFile:
    """The prices that a text states. Raises InputError with every mistake at once."""
    lines = tuple(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    mistakes = Mistakes(source, lines)
    if not text.strip():
        mistakes.add("EW-PRICE-002", None)
        mistakes.stop()
    is_csv = source.lower().endswith(".csv")
    currency, prices = _read_csv(lines, mistakes) if is_csv else _read_yaml(text, mistakes)
    if not prices and not mistakes.found:
        mistakes.add("EW-PRICE-002", None)
    mistakes.stop()
    return PriceFile(source, currency or "", prices, lines)


class Mistakes:
    """The mistakes of one file; it lives while the file is read."""

    def __init__(self, source: str, lines: Sequence[str]) -> None:
        self.source, self.lines = source, lines
        self.found: list[Finding] = []

    def add(self, code: str, line: int | None, **words: Any) -> None:
        """One mistake, with the user's line."""
        where = f"{self.source}:{line}" if line else self.source
        text = self.lines[line - 1] if line and line <= len(self.lines) else ""
        evidence = (Evidence(self.source, line, quoted(text)),) if line else ()
        self.found.append(Finding(code, "error", self.source, args={"where": where, **words}, evidence=evidence))

    def stop(self) -> None:
        """Raise InputError when there is any."""
        if self.found:
            ordered: list[Finding] = sorted(self.found, key=_line_of)
            raise InputError(ordered)


def _line_of(finding: Finding) -> int:
    return (finding.evidence[0].line or 0) if finding.evidence else 0


def _file_mistake(code: str, source: str, problem: str) -> Finding:
    return Finding(code, "error", source, args={"where": source, "problem": problem})


def _read_yaml(text: str, mistakes: Mistakes) -> tuple[str | None, tuple[Price, ...]]:
    """`currency: USD` and `prices: {part: price}`."""
    try:
        document = read_document(text)
    except DocumentError as error:
        mistakes.found += _yaml_mistakes([error.flaw], None, mistakes)
        mistakes.stop()
        raise
    mistakes.found += _yaml_mistakes(document.flaws, document, mistakes)
    data, at = document.data, document.line_numbers
    for key in data:
        if key not in KEYS:
            mistakes.add("EW-PRICE-003", at.get((key,)), found=shown(key), expected=", ".join(KEYS))
    currency = _currency(data.get("currency"), at.get(("currency",)), mistakes)
    table = data.get("prices")
    if table is not None and not isinstance(table, dict):
        mistakes.add("EW-PRICE-004", at.get(("prices",)), found=shown(table))
        table = None
    if "prices" not in data:
        mistakes.add("EW-PRICE-005", None, missing="prices")
    prices = [_price(part, value, at.get(("prices", part)) or 1, mistakes) for part, value in (table or {}).items()]
    return currency, tuple(price for price in prices if price)


def _yaml_mistakes(flaws: Sequence[Flaw], document: Document | None, mistakes: Mistakes) -> Iterator[Finding]:
    """Flaws of the text in the words of a price file where the site file's do not fit."""
    for flaw in flaws:
        if flaw.code == "EW-SITE-013":
            mistakes.add("EW-PRICE-010", flaw.line, part=shown(flaw.args["key"]), first=flaw.args["first"])
        elif flaw.code == "EW-SITE-005":
            mistakes.add("EW-PRICE-002", None)
        elif flaw.code == "EW-SITE-012":
            mistakes.add("EW-PRICE-005", flaw.line, missing=" and ".join(KEYS))
        else:
            yield from findings_of_flaws([flaw], mistakes.source, document, mistakes.lines)


def _read_csv(lines: Sequence[str], mistakes: Mistakes) -> tuple[str | None, tuple[Price, ...]]:
    """A table with the header part,price,currency, or a bill whose unit prices are filled in."""
    try:
        rows = list(_csv_rows(lines))
    except csv.Error as error:
        mistakes.add("EW-PRICE-006", None, problem=str(error))
        return None, ()
    first_line, header = rows[0]
    names = [name.strip().lower() for name in header]
    is_bill = EACH in names
    _judge_header(names, first_line, is_bill, mistakes)
    currency: str | None = None
    prices: list[Price] = []
    for line, cells in rows[1:]:
        if len(cells) != len(names):
            mistakes.add("EW-PRICE-007", line, found=len(cells), expected=len(names))
            continue
        row = dict(zip(names, (cell.strip() for cell in cells), strict=True))
        value = _unit_price(row) if is_bill else row["price"]
        if is_bill and value == "":
            continue
        currency = _same_currency(row["currency"], currency, line, mistakes)
        price = _price(row["part"], value, line, mistakes)
        if price:
            prices += _unless_repeated(price, prices, is_bill, mistakes)
    return currency, tuple(prices)


def _judge_header(names: Sequence[str], line: int, is_bill: bool, mistakes: Mistakes) -> None:
    """Columns that are unknown, twice there or missing; of a bill the three that count, whatever else it has."""
    wanted = ("part", EACH, "currency") if is_bill else COLUMNS
    for name in names:
        if (name not in wanted and not is_bill) or (name in wanted and names.count(name) > 1):
            mistakes.add("EW-PRICE-003", line, found=shown(name), expected=", ".join(wanted))
    for name in wanted:
        if name not in names:
            mistakes.add("EW-PRICE-005", line, missing=name)
    mistakes.stop()


def _unit_price(row: Mapping[str, str]) -> str:
    """The price of one piece of a line of a bill, from that of all pieces when only this is filled in; empty without
    either.
    """
    whole, quantity = _number(row.get("price") or None), _number(row.get("quantity") or None)
    if row[EACH] or whole is None or not quantity:
        return row[EACH] or row.get("price", "")
    return str(whole / quantity)


def _csv_rows(lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Line and cells of each row that is neither empty nor a comment; cells by the separator of the header.

    A spreadsheet writes semicolons where the comma is the decimal mark.
    """
    header = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
    separator = max(SEPARATORS, key=header.count)
    reader = csv.reader(lines, delimiter=separator, strict=True)
    for cells in reader:
        if any(cell.strip() for cell in cells) and not cells[0].lstrip().startswith("#"):
            yield reader.line_num, cells


def _unless_repeated(price: Price, before: Sequence[Price], is_bill: bool, mistakes: Mistakes) -> list[Price]:
    """The price unless its part has one already; a bill may say the same price on several lines."""
    first = next((other for other in before if folded(other.part) == folded(price.part)), None)
    if first is None:
        return [price]
    if not is_bill or first.price != price.price:
        mistakes.add("EW-PRICE-010", price.line, part=shown(price.part), first=first.line)
    return []


def _currency(value: Any, line: int | None, mistakes: Mistakes) -> str | None:
    """The ISO 4217 code; a mistake when it is missing or unknown."""
    if value is None or value == "":
        mistakes.add("EW-PRICE-008", line)
        return None
    if value not in CURRENCIES:
        near = nearest(str(value), sorted(CURRENCIES)) or "USD"
        mistakes.add("EW-PRICE-009", line, found=shown(value), near=near)
        return None
    return str(value)


def _same_currency(value: str, first: str | None, line: int, mistakes: Mistakes) -> str | None:
    """The currency of all rows; a mistake when this row has another."""
    found = _currency(value, line, mistakes)
    if found and first and found != first:
        mistakes.add("EW-PRICE-011", line, found=found, first=first)
    return first or found


def _price(part: str, value: Any, line: int, mistakes: Mistakes) -> Price | None:
    """One price; a mistake when the part has no name, or the price is no number, endless, or below zero."""
    if not part.strip():
        mistakes.add("EW-PRICE-012", line)
        return None
    number = _number(value)
    if number is None or number > MAX_PRICE:
        mistakes.add("EW-PRICE-013", line, part=shown(part), found=shown(value))
        return None
    if number < 0:
        mistakes.add("EW-PRICE-014", line, part=shown(part), found=shown(value))
        return None
    return Price(part.strip(), number, line)


def _number(value: Any) -> float | None:
    """A plain finite number; None for text such as `1,200`, `$12` or `nan`."""
    if isinstance(value, bool) or value is None:
        return None
    text = str(value)
    if not set(text) <= set("+-.0123456789eE"):
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def folded(part: str) -> str:
    """A part's name without case and with single blanks."""
    return " ".join(part.lower().split())
