"""What to buy: totals, the parts of the fabric, the networks beside it, and the cables."""

from __future__ import annotations

from collections.abc import Iterator

from eastwest import units
from eastwest.report.blocks import Block, Column, Paragraph, Section, Table
from eastwest.report.values import Json, number, object_at, rows_at, share_text, shown, text_of, texts_at
from eastwest.report.wording import Words

SIDE_GROUPS = ("storage", "out_of_band", "monitoring")
SHOWN_UNPRICED = 12  # parts without a price that are named; the others are counted


def bill_section(plan: Json, words: Words) -> Section:
    """What to buy and what it adds up to, the networks beside the fabric, and the cables by tier, medium and length."""
    parts, cables, bill = rows_at(plan, "bom"), rows_at(plan, "cables_summary"), object_at(plan, "bill")
    side = [row for row in parts if row.get("group") in SIDE_GROUPS]
    main = [row for row in parts if row.get("group") not in SIDE_GROUPS]
    blocks: list[Block] = [Paragraph(text) for text in _totals(bill, words)]
    if rows_at(bill, "groups"):
        blocks.append(_group_table(bill, words))
    if main:
        blocks.append(_bom_table("bom", main, words))
    if side:
        blocks.append(_bom_table("side", side, words))
    if cables:
        blocks.append(_cable_table(cables, words))
    return Section("bill", words("section.bill"), tuple(blocks) or (Paragraph(words("bill.missing")),))


def money(amount: object, currency: object) -> str:
    """`12,500.00 CNY`; an empty text without an amount."""
    price = number(amount)
    return "" if price is None else f"{price:,.2f} {currency or ''}".rstrip()


def _some(parts: list[str], words: Words) -> str:
    """The first parts of a list, and how many more there are."""
    more = [words("bill.more", n=len(parts) - SHOWN_UNPRICED)] if len(parts) > SHOWN_UNPRICED else []
    return words("list_joiner").join([*parts[:SHOWN_UNPRICED], *more])


def _totals(bill: Json, words: Words) -> Iterator[str]:
    """The price with its currency and what it leaves out, the power, and the fullest rack."""
    if not bill:
        return
    price, unpriced = money(bill.get("price"), bill.get("currency")), texts_at(bill, "unpriced_parts")
    if price:
        yield words("bill.price", price=price, n=len(unpriced))
    elif unpriced:
        yield words("bill.unpriced")
    if price and unpriced:
        yield words("bill.without", parts=_some(unpriced, words))
    if "power_w" in bill:
        yield words("bill.power", power=shown(words, bill.get("power_w"), units.format_power))
    silent = texts_at(bill, "unpowered_parts")
    if silent:
        yield words("bill.unpowered", parts=_some(silent, words))
    racks = object_at(bill, "racks")
    if number(racks.get("racks")):
        powers = {key: shown(words, racks.get(f"{key}_w"), units.format_power) for key in ("most", "mean", "limit")}
        yield words(
            "bill.racks",
            racks=shown(words, racks.get("racks")),
            rack=text_of(words, racks.get("most_rack")),
            **powers,
        )


def _group_table(bill: Json, words: Words) -> Table:
    """Each group of the bill; columns of prices only where something has a price."""
    has_price = number(bill.get("price")) is not None
    columns = ("group", "lines", "power", "power_share", *(("price", "price_share", "unpriced") if has_price else ()))
    return Table(
        "bill-table",
        words("table.bill_groups"),
        (Column(words("column.part_group")), *(Column(words(f"column.{name}"), True) for name in columns[1:])),
        tuple(_group_cells(row, bill, has_price, words) for row in rows_at(bill, "groups")),
    )


def _group_cells(row: Json, bill: Json, has_price: bool, words: Words) -> tuple[str, ...]:
    power = (
        shown(words, row.get("power_w"), units.format_power),
        shown(words, row.get("power_share_ratio"), share_text),
    )
    cells = (words.name("bill_group", row.get("group")), shown(words, row.get("lines")), *power)
    if not has_price:
        return cells
    price, share = money(row.get("price"), bill.get("currency")), row.get("price_share_ratio")
    return (*cells, price, shown(words, share, share_text) if price else "", shown(words, row.get("unpriced")))


def _bom_table(key: str, parts: list[Json], words: Words) -> Table:
    """Parts of the bill (`bom`, or `side` with the network that each belongs to); columns that no row has anything to
    say in are left out.
    """
    candidates = ("power", "unit_price", "price", "source", "note")
    optional = [name for name in candidates if any(_bom_cell(row, name, words) for row in parts)]
    columns = (*(("part_group",) if key == "side" else ()), "part", "description", "quantity", "unit", "where")
    columns += tuple(optional)
    numeric = {"quantity", "power", "unit_price", "price"}
    return Table(
        f"{key}-table",
        words(f"table.{key}"),
        tuple(Column(words(f"column.{name}"), name in numeric) for name in columns),
        tuple(tuple(_bom_cell(row, name, words) for name in columns) for row in parts),
    )


def _bom_cell(row: Json, name: str, words: Words) -> str:
    """One cell of the bill; a part that draws no power of its own, or needs no note, leaves its cell empty."""
    if name == "power":
        return "" if row.get("power_w") is None else shown(words, row.get("power_w"), units.format_power)
    if name == "part_group":
        return words.name("bill_group", row.get("group"))
    if name in {"unit_price", "price"}:
        return money(row.get(name), row.get("currency"))
    if name in {"source", "note"}:
        return str(row.get(name) or "")
    return text_of(words, row.get(name))


def _cable_table(cables: list[Json], words: Words) -> Table:
    """The cables; the columns part and rate are left out when no row has them."""
    optional = [name for name, key in (("part", "part"), ("rate", "rate_bps")) if any(row.get(key) for row in cables)]
    columns = ("tier", "medium", *optional, "length", "quantity")
    return Table(
        "cable-table",
        words("table.cables"),
        tuple(Column(words(f"column.{name}"), name in {"rate", "length", "quantity"}) for name in columns),
        tuple(tuple(_cable_cell(row, name, words) for name in columns) for row in cables),
    )


def _cable_cell(row: Json, name: str, words: Words) -> str:
    if name == "tier":
        return words.name("link" if f"link.{row.get('tier')}" in words else "tier", row.get("tier"))
    if name == "length":
        return shown(words, row.get("length_m"), units.format_length)
    if name == "rate":
        return shown(words, row.get("rate_bps"), units.format_rate)
    return text_of(words, row.get(name))
