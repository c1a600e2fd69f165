"""Charts as SVG: well-formed, accessible, units on the axes, marks where the numbers say, hostile names escaped."""

import math
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.report.chart import (
    LEFT,
    PLOT_HEIGHT,
    RIGHT,
    TOP,
    WIDTH,
    Axis,
    Chart,
    Rule,
    Series,
    draw,
    linear_axis,
    log_axis,
    size_axis,
)

SVG = "{http://www.w3.org/2000/svg}"


def chart(**more) -> Chart:
    x, y = Axis("size, B", 1.0, 100.0, ((1.0, "1"), (10.0, "10")), True), Axis("rate, GB/s", 0.0, 10.0, ((5.0, "5"),))
    return Chart("A <title>", "An alternative & more", x, y, (Series("one", ((10.0, 5.0, "a <point>"),)),), **more)


def test_the_text_alternative_stands_first_and_the_axes_have_units():
    root = ElementTree.fromstring(draw(chart()))
    assert root.get("role") == "img"
    title, text = root[0], root[1]
    assert (title.text, text.text) == ("A <title>", "An alternative & more")
    assert root.get("aria-labelledby") == f"{title.get('id')} {text.get('id')}"
    words = [element.text for element in root.iter(f"{SVG}text")]
    assert {"size, B", "rate, GB/s", "one", "5", "10"} <= set(words)


def test_a_mark_stands_where_its_numbers_are():
    circle = next(ElementTree.fromstring(draw(chart())).iter(f"{SVG}circle"))
    assert float(circle.get("cx")) == pytest.approx((LEFT + WIDTH - RIGHT) / 2, abs=0.1)  # 10 between 1 and 100
    assert float(circle.get("cy")) == pytest.approx(TOP + PLOT_HEIGHT / 2, abs=0.1)
    assert circle[0].text == "a <point>"


def test_the_same_chart_is_the_same_text():
    assert draw(chart()) == draw(chart())
    drawn = draw(chart(rules=(Rule((1.0, 5.0), (100.0, 5.0), "limit", dashed=True),)))
    assert "stroke-dasharray" in drawn
    assert "limit" in drawn


@given(st.floats(1e-9, 1e9), st.floats(1.0, 1e6))
def test_axes_hold_their_values_and_have_ticks(low, factor):
    values = (low, low * factor)
    for axis in (log_axis("s", values), linear_axis("GB/s", 0.0, values[1])):
        assert all(0.0 <= axis.share(value) <= 1.0 for value in values)
        assert all(axis.low <= value <= axis.high * (1 + 1e-9) for value, _ in axis.ticks)
        assert len(axis.ticks) <= 16
        assert not any(math.isnan(value) for value, _ in axis.ticks)


def test_sizes_are_told_in_powers_of_two():
    axis = size_axis("size", [8.0, 8 * 2.0**30])
    assert axis.ticks[-1] == (8 * 2.0**30, "8 GiB")
    assert 5 <= len(axis.ticks) <= 9
