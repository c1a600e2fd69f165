"""What `eastwest why` and `eastwest size` print: complete, in both languages, never wider than the terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.report.formats import text_size, text_why
from eastwest.report.formats.text_layout import display_width
from tests.report import synthetic_plan

ENTRY = {
    "id": "fabric.spines",
    "value": 400_000_000_000,
    "unit": "bit/s",
    "because": "the fewest over which the uplinks divide evenly",
    "formula": "ceil(leaves * uplinks / ports)",
    "inputs": {"rate_bps": 400_000_000_000, "leaves": 8},
    "source": "derived",
    "alternatives": [{"value": 100_000_000_000, "rejected_because": "a NIC could not be filled"}],
}


@pytest.mark.parametrize(("lang", "because"), [("en", "because"), ("zh", "原因")])
def test_every_part_of_a_decision_is_shown(lang, because):
    text = text_why.render([ENTRY], lang)
    head, *rest = text.splitlines()
    assert head == "fabric.spines = 400G"
    assert because in rest[0]
    for words in ("ceil(leaves * uplinks / ports)", "rate_bps = 400G", "leaves = 8", "derived", "100G: a NIC could"):
        assert words in text


def test_the_heading_names_the_plan():
    site = {"name": "synthetic", "source": "site.yaml"}
    assert text_why.heading(site) == "plan of synthetic (site.yaml)"
    assert "synthetic" in text_why.heading(site, "zh")
    assert text_why.heading({})


def test_a_target_without_a_number_says_how_it_limits():
    entry = {"id": "counter.pfc", "kind": "bounded", "value": None, "unit": "1", "because": "b", "source": "s"}
    assert text_why.listing([entry]) == "counter.pfc  bounded (no fixed number)"


@given(st.text(max_size=300), st.integers(min_value=8, max_value=120))
def test_wrapping_loses_nothing_but_spaces_and_keeps_the_width(text, width):
    lines = text_why.wrap(text, width)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(display_width(line) <= width for line in lines)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [60, 100])
def test_a_sized_fabric_is_shown_with_its_offers(lang, width):
    fabric = synthetic_plan.plan()["fabric"]
    offer = {"change": "switch 64x800G", "because": "fewer and larger switches", **fabric}
    document = {"verdict": "pass", "fabric": fabric, "findings": [], "decisions": [ENTRY], "offers": [offer]}
    text = text_size.render(document, lang, width)
    assert "switch 64x800G" in text
    assert text.count(f"{fabric['max_gpus']:,}") == 2
