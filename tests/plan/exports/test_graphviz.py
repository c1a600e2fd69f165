"""The Graphviz file: every cable is counted once, and `dot` draws it."""

import re
import subprocess
import xml.etree.ElementTree as ET

import pytest

from eastwest.plan.exports import graphviz
from tests.plan.exports.plans import SITES, plan_of
from tests.plan.exports.programs import need

EDGE = re.compile(r"^  n(\d+) -- n(\d+)(?: \[label=\"×(\d+)\"\])?;$", re.MULTILINE)
NODE = re.compile(r"^    n(\d+) \[label=\"(.*)\"\];$", re.MULTILINE)


@pytest.mark.parametrize("name", SITES)
def test_edges_add_up_to_the_cables(name):
    plan = plan_of(name)
    text = graphviz.files(plan)["graphviz/fabric.dot"]
    assert sum(int(count or 1) for _, _, count in EDGE.findall(text)) == len(plan.fabric.links)


def test_a_small_fabric_shows_every_device():
    plan = plan_of("hostile")
    assert [label for _, label in NODE.findall(graphviz.files(plan)["graphviz/fabric.dot"])] != []
    assert {label for _, label in NODE.findall(graphviz.files(plan)["graphviz/fabric.dot"])} == set(plan.fabric.names)


def test_a_large_fabric_is_drawn_by_counts():
    plan = plan_of("large")
    labels = [label for _, label in NODE.findall(graphviz.files(plan)["graphviz/fabric.dot"])]
    assert sum(int(label.split()[0]) for label in labels) == len(plan.fabric.nodes)
    assert sorted(label.split()[1] for label in labels) == ["leaves", "servers", "spines"]


@pytest.mark.parametrize("name", ["hostile", "large"])
def test_dot_draws_it(name):
    need("dot")
    text = graphviz.files(plan_of(name))["graphviz/fabric.dot"]
    drawn = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True, timeout=120, check=True)
    assert drawn.stderr == ""
    svg = ET.fromstring(drawn.stdout)
    groups = [element.get("class") for element in svg.iter("{http://www.w3.org/2000/svg}g")]
    assert groups.count("node") == len(NODE.findall(text))
    assert groups.count("edge") == len(EDGE.findall(text))
