"""The picture of the fabric: one box a switch while that is true and legible, else one box a tier and group."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from eastwest.report.fabric_picture import fabric_figure, fitted, short_name
from eastwest.report.fabric_shape import shape_of
from eastwest.report.wording import words_of
from tests.report import synthetic_plan

EN = words_of("en")


def _svg(plan: dict[str, Any]) -> ElementTree.Element:
    figure = fabric_figure(plan, EN)
    assert figure is not None
    return ElementTree.fromstring(figure.svg)


def _boxes(svg: ElementTree.Element, css: str) -> int:
    return sum(css in str(rect.get("class")).split() for rect in svg.iter("rect"))


def _segments(svg: ElementTree.Element, css: str) -> int:
    return sum(str(path.get("d")).count("M") for path in svg.iter("path") if path.get("class") == css)


def test_a_small_fabric_is_drawn_switch_by_switch() -> None:
    svg = _svg(synthetic_plan.plan())
    assert (_boxes(svg, "spine"), _boxes(svg, "leaf"), _boxes(svg, "server")) == (4, 4, 16)
    # Two rooms, each with 2 leaves and 2 spines: 2 x 2 x 2 pairs, none across rooms.
    assert _segments(svg, "mesh") == 8
    assert (_boxes(svg, "room"), _boxes(svg, "box")) == (2, 1)


def test_above_200_nodes_equal_parts_are_one_box_with_their_number() -> None:
    plan = synthetic_plan.large_plan()
    svg = _svg(plan)
    texts = " ".join(str(text.text) for text in svg.iter("text"))
    assert "64 spines" in texts
    assert "32 cores" in texts
    assert "13 more groups" in texts  # 16 groups, three drawn
    assert _boxes(svg, "server") == 0
    assert len(fabric_figure(plan, EN).svg) < 10_000


@pytest.mark.parametrize(
    "change",
    [
        {"planes": 2},
        {"cores": 2},
        {"groups": []},
        {"links": {"server_leaf": 128, "leaf_spine": 7, "spine_core": 0}},
        {"links": {"server_leaf": 16, "leaf_spine": 64, "spine_core": 0}},
        {"links": None},
        {"servers": 400},
        {"groups": [{"name": f"g{i}", "servers": 1, "leaves": [f"leaf-{i}"]} for i in range(16)], "spines": 0},
    ],
)
def test_a_mesh_that_is_not_certain_is_not_drawn(change: dict[str, Any]) -> None:
    assert shape_of(synthetic_plan.fabric()).detailed
    assert not shape_of(synthetic_plan.fabric() | change).detailed


@pytest.mark.parametrize("fabric", [{"family": "leaf_spine"}, {"rooms": [{}]}, {"groups": [{}], "room_links": [{}]}])
def test_a_fabric_with_missing_parts_is_drawn_without_them(fabric: dict[str, Any]) -> None:
    figure = fabric_figure({"fabric": fabric}, EN)
    assert figure is not None
    assert "not given" in figure.alt
    assert ElementTree.fromstring(figure.svg) is not None


def test_without_a_fabric_there_is_no_picture() -> None:
    assert fabric_figure({}, EN) is None
    assert fabric_figure({"fabric": None}, EN) is None


def test_groups_of_an_unknown_room_are_drawn_once() -> None:
    fabric = synthetic_plan.fabric()
    fabric["groups"][1]["room"] = "attic"
    shape = shape_of(fabric)
    assert [[group.name for group in room.groups if group.name] for room in shape.rooms] == [["group-1", "group-2"], []]


def test_the_alternative_names_the_boxes_between_rooms() -> None:
    figure = fabric_figure(synthetic_plan.plan(), EN)
    assert figure is not None
    assert "north – south: 10 km, 8 links, 3.2T in all, through firewall fw-1 (at most 100G)." in figure.alt


def test_rails_have_a_number_beside_their_colour() -> None:
    plan = {"fabric": synthetic_plan.fabric("rail_optimized", two_rooms=False)}
    texts = [text.text for text in _svg(plan).iter("text")]
    assert texts.count("R0") == texts.count("R1") == 2


def test_names_are_shortened_to_their_box() -> None:
    assert fitted("leaf-12", 100) == "leaf-12"
    assert fitted("机房东侧列头柜", 40) == "机房…"
    assert (short_name("pod1-leaf-12"), short_name("tor-a")) == ("L12", "tor-a")
