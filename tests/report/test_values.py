"""Values of a plan as people read them: a missing one is never zero, a hostile one never acts."""

from __future__ import annotations

import math
from typing import Any

import pytest

from eastwest.report.values import at, clean, layout_text, named, number, quantity, rows_at, text_of
from eastwest.report.wording import words_of

EN, ZH = words_of("en"), words_of("zh")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (400e9, "bps", "400G"),
        (9216, "bytes", "9,216 B"),
        (25_000_000, "bytes", "25 MB"),
        (48e9, "bytes_per_s", "48 GB/s"),
        (0.0042, "s", "4.2 ms"),
        (2.0, "down:up", "2:1"),
        (0, "bytes", "0 B"),
        (0, "", "0"),
        (32, "ports", "32 ports"),
        (0.00042, "", "0.00042"),
        (None, "bps", "not given"),
        (math.nan, "bps", "not given"),
        (True, "", "yes"),
        ("leaf_spine", "", "leaf_spine"),
        (["tp", "dp"], "", "tp, dp"),
    ],
)
def test_a_quantity_is_scaled_by_its_unit_and_a_missing_one_is_not_zero(value: Any, unit: str, text: str) -> None:
    assert quantity(EN, value, unit) == text


def test_a_missing_value_is_said_to_be_missing_in_both_languages() -> None:
    assert (text_of(EN, None), text_of(ZH, None)) == ("not given", "未给出")


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("port_rate_bps", 400e9, "400G"),
        ("peak_bytes_per_s", 48e9, "48 GB/s"),
        ("bytes_per_gpu", 25e6, "25,000,000"),
        ("size_bytes_per_gpu", 25e6, "25 MB"),
        ("ports", 64, "64"),
        ("delay_ps", 5e6, "5 µs"),
        ("bytes_per_s", 48e9, "48 GB/s"),
        ("samples_per_s", 4000.0, "4,000"),
        ("bytes_per_m", 129_290.0, "129,290"),
    ],
)
def test_the_suffix_of_a_key_is_its_unit(name: str, value: float, text: str) -> None:
    assert named(EN, name, value) == text


def test_control_and_direction_characters_become_visible() -> None:
    cleaned = clean({"name": "a\x1b[31mb\u202ec\nd", "list": ["\x07"]})
    assert cleaned == {"name": "a\\x1b[31mb\\u202ec d", "list": ["\\x07"]}


def test_a_path_through_missing_parts_is_none() -> None:
    assert at({"fabric": None}, "fabric", "ports", "leaf") is None
    assert at({"fabric": [1]}, "fabric", "ports") is None
    assert rows_at({"jobs": [None, 3, {"name": "a"}]}, "jobs") == [{"name": "a"}]


def test_numbers_are_finite_and_no_booleans() -> None:
    assert [number(value) for value in (1, 2.5, True, "3", math.inf, None)] == [1, 2.5, None, None, None, None]


def test_a_layout_names_the_degrees_above_one() -> None:
    assert layout_text(EN, {"tp": 8, "pp": 1, "dp": 16, "cp": 1, "ep": 1}) == "TP8 DP16"
    assert layout_text(EN, {"tp": 1, "dp": 1}) == "TP1"
    assert layout_text(EN, None) == "not given"
