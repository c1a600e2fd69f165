"""The chapter on failures: the loss of one part by class, spares, and rates that nobody publishes said as such."""

from __future__ import annotations

from typing import Any

import pytest

from eastwest.fabric.faults import FaultKind
from eastwest.report.blocks import Paragraph, Table
from eastwest.report.chapters.failures import failure_line, failures_section, worst_of
from eastwest.report.wording import words_of
from tests.report import synthetic_plan

EN = words_of("en")


def _tables(plan: dict[str, Any]) -> dict[str, Table]:
    return {block.key: block for block in failures_section(plan, EN).blocks if isinstance(block, Table)}


def _texts(plan: dict[str, Any]) -> str:
    return " ".join(block.text for block in failures_section(plan, EN).blocks if isinstance(block, Paragraph))


def test_a_class_says_what_one_loss_does_to_each_job() -> None:
    rows = _tables(synthetic_plan.plan())["failure-table"].rows
    assert rows[0] == ("leaf", "leaf-1", "4", "32", "75 %", "0.02", "pretrain: stops, 128 GPUs wait", "2.5")
    assert rows[1][6] == "pretrain: goes on slower, × 1.125"


def test_a_rate_that_nobody_publishes_is_not_zero() -> None:
    tables = _tables(synthetic_plan.plan())
    assert (tables["failure-table"].rows[2][5], tables["failure-table"].rows[2][7]) == ("no published rate",) * 2
    # 0.02 events a month of 4 alike parts are 0.005 of one part.
    assert [row[1] for row in tables["rate-table"].rows] == ["0.005", "0.005", ""]
    assert tables["rate-table"].rows[0][2] == "a synthetic fleet"


def test_the_worst_class_is_the_one_that_costs_most_gpu_hours() -> None:
    plan = synthetic_plan.plan()
    assert "one class costs most: leaf (such as leaf-1) with 2.5." in _texts(plan)
    assert "Of 3 GPU-hours lost a month" in _texts(plan)
    assert failure_line(plan, EN) == (
        "worst failure: leaf, 2.5 GPU-hours a month (0.02 events); pretrain: stops, 128 GPUs wait"
    )
    assert worst_of([{"lost_gpu_hours_per_month": None}, {"lost_gpu_hours_per_month": 0.0}]) is None


def test_stops_of_a_job_come_with_what_a_stop_is_taken_to_cost() -> None:
    text = _texts(synthetic_plan.plan())
    assert "pretrain: 0.08 stops a month are expected" in text
    assert "restarts within 15 min" in text
    assert "repaired within 4 h" in text


def test_spares_say_how_long_they_last() -> None:
    plan = synthetic_plan.plan()
    assert _tables(plan)["spare-table"].rows == (("switch-64x400", "8", "switch", "0.04", "1", "a synthetic fleet"),)
    assert "The stock lasts 30 d from order to delivery with 95 % chance." in _texts(plan)


@pytest.mark.parametrize(
    ("plan", "text"), [({"failures": []}, "No class of parts was judged."), ({}, "The failures are not given.")]
)
def test_without_failures_the_chapter_is_one_line(plan: dict[str, Any], text: str) -> None:
    assert failures_section(plan, EN).blocks == (Paragraph(text),)
    assert failure_line(plan, EN) == ""


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_kind_of_failure_has_a_word(lang: str) -> None:
    assert [kind for kind in FaultKind if f"failure_kind.{kind}" not in words_of(lang)] == []


@pytest.mark.parametrize("key", [*synthetic_plan.plan()["failures"][0], "absent"])
@pytest.mark.parametrize("value", [None, {}, [], "text"])
def test_any_part_of_a_class_may_be_missing(key: str, value: Any) -> None:
    plan = synthetic_plan.plan()
    for row in plan["failures"]:
        row[key] = value
    assert failures_section(plan, EN).blocks
    assert isinstance(failure_line(plan, EN), str)
