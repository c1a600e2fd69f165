"""The chapter on growth: phases as the plan gives them, sums over phases that fit, and one line without steps."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from eastwest.report.blocks import Figure, Paragraph, Table
from eastwest.report.chapters.growth import growth_line, growth_section
from eastwest.report.growth_figure import growth_figure
from eastwest.report.growth_ways import way_rows
from eastwest.report.wording import words_of
from tests.report import synthetic_plan

EN = words_of("en")


def _tables(plan: dict[str, Any]) -> dict[str, Table]:
    return {block.key: block for block in growth_section(plan, EN).blocks if isinstance(block, Table)}


def _texts(plan: dict[str, Any]) -> str:
    return " ".join(block.text for block in growth_section(plan, EN).blocks if isinstance(block, Paragraph))


@pytest.mark.parametrize(
    ("plan", "text"), [({"growth": []}, "No growth steps given."), ({}, "The growth is not given.")]
)
def test_without_steps_the_chapter_is_one_line(plan: dict[str, Any], text: str) -> None:
    assert growth_section(plan, EN).blocks == (Paragraph(text),)
    assert growth_line(plan, EN) == ""


def test_phases_say_what_is_bought_and_moved() -> None:
    rows = _tables(synthetic_plan.plan())["phase-table"].rows
    assert rows[1] == ("next-year", "32", "256", "yes", "leaf 8, spine 4", "leaf 8", "96", "0", "0", "0")
    assert [row[3] for row in rows] == ["yes", "yes", "no"]


def test_both_ways_stand_side_by_side_and_a_phase_that_does_not_fit_counts_for_neither() -> None:
    plan = synthetic_plan.plan()
    rows = _tables(plan)["strategy-table"].rows
    assert [row[:2] for row in rows] == [
        ("today", "reserve now"),
        ("today", "recable later"),
        ("next-year", "reserve now"),
        ("next-year", "recable later"),
    ]
    # 40 moved and 2 pulled out when recabled; the 1,998 of the phase that does not fit are in no sum.
    assert "over all steps that fit: 0; with recable later: 42." in _texts(plan)
    assert "Phase some-day does not fit" in _texts(plan)
    assert "Phase next-year falls short of: EW-FAB-015." in _texts(plan)


def test_both_ways_are_compared_in_switches_ports_optics_cables_space_power_and_money() -> None:
    rows = way_rows(synthetic_plan.plan(), EN)
    assert rows[0] == ("today", "reserve now", "8", "192/64", "400", "0", "100", "180 kW", "1,000,000+ EUR")
    assert rows[1] == ("today", "recable later", "7", "192/32", "380", "0", "98", "178 kW", "900,000 EUR")
    assert [row[0] for row in rows] == ["today", "today", "next-year", "next-year"]
    table = _tables(synthetic_plan.plan())["strategy-table"]
    assert [row[8] for row in table.rows[:2]] == ["1,000,000+ EUR", "900,000 EUR"]


def test_a_plan_without_prices_says_so() -> None:
    plan = synthetic_plan.plan()
    for row in plan["growth"]:
        row["cost"] = None
    assert way_rows(plan, EN)[0][-1] == "no prices"


def test_a_way_that_one_phase_lacks_is_not_summed_up() -> None:
    plan = synthetic_plan.plan()
    plan["growth"][1]["alternative"] = None
    assert "The other way was not computed." in _texts(plan)
    plan["growth"][1]["cables"] = {"moved": 3}
    assert "over all steps that fit: not given." in _texts(plan)


def test_the_figure_has_a_bar_a_tier_the_other_way_as_a_mark_and_its_data() -> None:
    figure = growth_figure(synthetic_plan.plan(), EN)
    assert isinstance(figure, Figure)
    assert figure.plotly is not None
    bars = {trace["name"]: trace["x"] for trace in figure.plotly["data"]}
    assert bars == {"leaf": [4, 8], "spine": [4, 4], "recable later: switches in all": [7, 12]}
    assert "today: 16 servers, 128 GPUs, switches: 8, live cables moved or pulled out: 0" in figure.alt
    rows = list(csv.DictReader(io.StringIO(figure.data.csv())))
    assert rows[1] == {
        "phase": "next-year",
        "servers": "32",
        "gpus": "256",
        "leaf": "8",
        "spine": "4",
        "core": "",
        "switches_of_other_way": "12",
        "cables_touched": "0",
    }


def test_the_figure_is_left_out_where_no_phase_says_its_switches() -> None:
    assert growth_figure({"growth": [{"phase": "today"}, {}]}, EN) is None


def test_the_terminal_says_how_far_and_which_way() -> None:
    assert growth_line(synthetic_plan.plan(), EN) == (
        "growth to 32 servers (next-year; some-day does not fit): reserve now, live cables touched: 0 "
        "(recable later: 42)"
    )


@pytest.mark.parametrize("key", list(synthetic_plan.plan()["growth"][0]))
@pytest.mark.parametrize("value", [None, {}, [], "text", 7])
def test_any_part_of_a_phase_may_be_missing(key: str, value: Any) -> None:
    plan = synthetic_plan.plan()
    for row in plan["growth"]:
        row[key] = value
    assert growth_section(plan, EN).blocks
    assert isinstance(growth_line(plan, EN), str)
