"""The picture of the fabric: one box a switch while that is true and legible, else one box a tier and group."""

from __future__ import annotations

from typing import Any, get_args
from xml.etree import ElementTree

import pytest

from eastwest.report.fabric_picture import fabric_figure, fitted, leaf_marks, short_name
from eastwest.report.fabric_shape import shape_of
from eastwest.report.wording import words_of
from eastwest.spec.switches import Family
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


def test_servers_that_are_cabled_directly_have_no_leaf_between_them() -> None:
    fabric = {"family": "direct", "servers": 2, "gpus": 16, "leaves": 0, "spines": 0, "links": {"direct": 8}}
    svg = _svg({"fabric": fabric})
    assert (_boxes(svg, "leaf"), _boxes(svg, "servers")) == (0, 1)
    figure = fabric_figure({"fabric": fabric}, EN)
    assert figure is not None
    assert figure.alt.startswith("direct cables: 2 servers, 16 GPUs, 8 direct cables.")


def test_planes_without_spines_are_drawn_leaf_by_leaf() -> None:
    leaves = [f"leaf-01-p{plane + 1}" for plane in range(4)]
    fabric = {
        "family": "rail_only",
        "planes": 4,
        "rails": 4,
        "servers": 8,
        "leaves": 4,
        "spines": 0,
        "links": {"server_leaf": 32, "leaf_spine": 0},
        "groups": [{"name": "group-1", "servers": 8, "leaves": leaves}],
    }
    svg = _svg({"fabric": fabric})
    assert (_boxes(svg, "leaf"), _segments(svg, "mesh"), _segments(svg, "down")) == (4, 0, 4)
    assert [text.text for text in svg.iter("text")][:4] == ["P1", "P2", "P3", "P4"]


def test_spines_of_several_planes_say_how_many() -> None:
    texts = [text.text for text in _svg({"fabric": synthetic_plan.fabric() | {"planes": 2}}).iter("text")]
    assert texts.count("2 planes") == 2  # in each of two rooms


def test_the_rail_of_a_leaf_is_the_one_in_its_name() -> None:
    assert leaf_marks(("su01-leaf-r1t1", "su01-leaf-r1t2"), 2) == [("R1T1", 0), ("R1T2", 0)]
    assert leaf_marks(("leaf-1", "leaf-2"), 2) == [("R0", 0), ("R1", 1)]
    assert leaf_marks(("leaf-1", "leaf-2"), 3) == [("L1", None), ("L2", None)]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_family_has_a_word(lang: str) -> None:
    assert [family for family in get_args(Family) if f"family.{family}" not in words_of(lang)] == []
