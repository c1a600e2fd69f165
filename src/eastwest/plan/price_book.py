"""Prices by the names of the bill: found by exact name, catalogue model or alias, or by a name without length; put into
a bill, with what a price file gives that the bill cannot use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from eastwest.errors import UsageError
from eastwest.finding import Finding
from eastwest.plan.bom import BomRow
from eastwest.plan.part_names import read_part, wider_names
from eastwest.plan.prices import Mistakes, Price, PriceFile, folded
from eastwest.registry import nearest
from eastwest.spec import catalogue
from eastwest.spec.mistakes import shown


@dataclass(frozen=True, slots=True)
class PriceBook:
    """Every price of a file by each name that it holds for, without case and with single blanks."""

    currency: str
    by_name: Mapping[str, Price]

    def find(self, part: str) -> Price | None:
        """The price of a part by the name that the bill gives it: its own line before one for any length."""
        return next((self.by_name[key] for name in wider_names(part) if (key := folded(name)) in self.by_name), None)

    def price_of(self, part: str) -> float | None:
        """Price of one piece; None when nobody gave it."""
        found = self.find(part)
        return found.price if found else None


def book_of(file: PriceFile) -> PriceBook:
    """The prices of a file by name, and by the name of the catalogue model that an alias means."""
    by_name = {folded(price.part): price for price in reversed(file.prices)}
    for price in file.prices:
        by_name.setdefault(folded(_catalogue_name(price.part) or price.part), price)
    return PriceBook(file.currency, by_name)


def apply_prices(bom: Sequence[BomRow], file: PriceFile) -> tuple[BomRow, ...]:
    """The bill with the file's prices; parts of other designs are left out of it, and so is a part that another line
    pays for.

    A part is named as in the bill, without its length, or by a catalogue model or alias. Raises InputError for a part
    that neither the bill nor the catalogue nor any pattern of part names knows, and for a part that is priced twice
    under two names.
    """
    mistakes = Mistakes(file.source, file.lines)
    in_bill = {folded(row.part): row.part for row in bom}
    chosen: dict[str, Price] = {}
    for price in file.prices:
        part = in_bill.get(folded(price.part)) or _catalogue_name(price.part)
        if part is None and read_part(price.part) is None:
            _unknown(price, in_bill, mistakes)
            continue
        name = folded(part or price.part)
        if name in chosen:
            mistakes.add("EW-PRICE-010", price.line, part=shown(price.part), first=chosen[name].line)
        chosen.setdefault(name, price)
    mistakes.stop()
    book = book_of(file)
    return tuple(row if row.included else _priced(row, book) for row in bom)


def _priced(row: BomRow, book: PriceBook) -> BomRow:
    price = book.price_of(row.part)
    return row if price is None else replace(row, unit_price=price, currency=book.currency)


def judge_prices(bom: Sequence[BomRow], file: PriceFile) -> Iterator[Finding]:
    """Prices that the bill cannot use: none at all is of a part of it, or a part is paid for by another line."""
    book = book_of(file)
    if not any(book.find(row.part) for row in bom):
        words = {"where": file.source, "first": file.prices[0].part, "part": bom[0].part}
        yield Finding("EW-PRICE-017", "warning", "bill", 1, 0, "prices", {**words, "prices": len(file.prices)})
    for row in bom:
        price = book.find(row.part)
        if row.included and price:
            words = {"where": f"{file.source}:{price.line}", "note": row.note}
            yield Finding("EW-PRICE-018", "info", row.part, 0, price.price, book.currency, words)


def _catalogue_name(part: str) -> str | None:
    """The name of a catalogue model under which the bill lists it."""
    try:
        return catalogue.find(part)[1].name
    except UsageError:
        return next((name for name in _catalogue_names() if folded(name) == folded(part)), None)


def _catalogue_names() -> Iterator[str]:
    for kind in catalogue.KINDS:
        if kind != "model":
            yield from (catalogue.get(kind, model).name for model in catalogue.names(kind))


def _unknown(price: Price, in_bill: Mapping[str, str], mistakes: Mistakes) -> None:
    near = nearest(price.part, in_bill.values())
    if near:
        mistakes.add("EW-PRICE-015", price.line, part=shown(price.part), near=near)
    else:
        mistakes.add("EW-PRICE-016", price.line, part=shown(price.part))
