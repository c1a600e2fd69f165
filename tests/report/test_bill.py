"""The bill: totals with their currency, what has no price, and the networks beside the fabric."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from eastwest.plan.bom import Group
from eastwest.report.blocks import Paragraph, Table
from eastwest.report.chapters.bill import SHOWN_UNPRICED, SIDE_GROUPS, bill_section
from eastwest.report.wording import words_of
from tests.report import synthetic_plan

EN = words_of("en")


def _tables(plan: dict[str, Any]) -> dict[str, Table]:
    return {block.key: block for block in bill_section(plan, EN).blocks if isinstance(block, Table)}


def _texts(plan: dict[str, Any]) -> list[str]:
    return [block.text for block in bill_section(plan, EN).blocks if isinstance(block, Paragraph)]


def test_totals_name_currency_and_what_has_no_price() -> None:
    assert _texts(synthetic_plan.plan())[:2] == [
        "800,000.00 CNY for what has a price; 2 parts have none.",
        "Parts without a price: aoc-400g-30m, management-switch.",
    ]
    rows = _tables(synthetic_plan.plan())["bill-table"].rows
    assert rows[0] == ("switches", "1", "9.6 kW", "99 %", "800,000.00 CNY", "100 %", "0")
    assert rows[2] == ("out-of-band network", "1", "100 W", "1 %", "", "", "1")


def test_without_any_price_there_are_no_columns_of_prices() -> None:
    plan = synthetic_plan.plan()
    plan["bill"] |= {"price": None, "currency": None}
    assert _texts(plan)[0] == "No part has a price; --prices FILE reads prices."
    assert [column.title for column in _tables(plan)["bill-table"].columns] == [
        "Group",
        "Lines",
        "Power",
        "Share of power",
    ]


def test_a_long_list_of_unpriced_parts_is_counted() -> None:
    plan = synthetic_plan.plan()
    plan["bill"]["unpriced_parts"] = [f"part-{index:02d}" for index in range(SHOWN_UNPRICED + 5)]
    assert _texts(plan)[1].endswith("part-11, 5 more.")


def test_parts_without_a_known_power_are_named_beside_the_power() -> None:
    plan = synthetic_plan.plan()
    plan["bill"]["unpowered_parts"] = ["4,096 x DR 200G single-port"]
    assert "Not in it, since no data sheet says what they draw: 4,096 x DR 200G single-port." in _texts(plan)


def test_side_networks_have_a_table_of_their_own_and_no_part_is_lost() -> None:
    tables = _tables(synthetic_plan.plan())
    assert [row[0] for row in tables["bom-table"].rows] == ["switch-64x400", "aoc-400g-30m"]
    assert [row[:2] for row in tables["side-table"].rows] == [("out-of-band network", "management-switch")]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_group_of_the_bill_has_a_word(lang: str) -> None:
    assert [group for group in get_args(Group) if f"bill_group.{group}" not in words_of(lang)] == []
    assert set(SIDE_GROUPS) <= set(get_args(Group))


@pytest.mark.parametrize("key", list(synthetic_plan.plan()["bill"]))
@pytest.mark.parametrize("value", [None, {}, [], "text", [None, {}]])
def test_any_part_of_the_totals_may_be_missing(key: str, value: Any) -> None:
    plan = synthetic_plan.plan()
    plan["bill"][key] = value
    assert bill_section(plan, EN).blocks
