"""Kubernetes labels: valid by the documented rules, and the same groups as Slurm's tree."""

import re

import pytest
from ruamel.yaml import YAML

from eastwest.fabric.tables import NodeKind
from eastwest.plan.exports import kubernetes, slurm
from eastwest.plan.exports.names import host_names
from tests.plan.exports.plans import SITES, plan_of
from tests.plan.exports.test_names import VALUE, expand

# Kubernetes documentation, "Labels and Selectors": name after the prefix, and the prefix as a DNS subdomain.
KEY_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def read(plan):
    return YAML(typ="safe").load(kubernetes.files(plan)["kubernetes/labels.yaml"])


@pytest.mark.parametrize("name", SITES)
def test_labels_are_valid_and_every_server_has_them(name):
    plan = plan_of(name)
    document = read(plan)
    assert (document["apiVersion"], document["kind"]) == ("v1", "List")
    names = [item["metadata"]["name"] for item in document["items"]]
    hosts = host_names(plan.fabric)
    assert names == [hosts[node] for node in plan.fabric.nodes_of(NodeKind.SERVER)]
    assert all(SUBDOMAIN.fullmatch(host) and len(host) <= 253 for host in names)
    for item in document["items"]:
        assert (item["apiVersion"], item["kind"]) == ("v1", "Node")
        for key, value in item["metadata"]["labels"].items():
            prefix, _, short = key.partition("/")
            assert SUBDOMAIN.fullmatch(prefix)
            assert KEY_NAME.fullmatch(short)
            assert isinstance(value, str)
            assert value
            assert VALUE.fullmatch(value)
            assert len(value) <= 63


def test_zone_is_the_room_and_rack_units_are_text():
    labels = [item["metadata"]["labels"] for item in read(plan_of("hostile"))["items"]]
    assert [row["topology.kubernetes.io/zone"] for row in labels] == ["Room.A"] * 3 + ["room_b"] * 3
    assert {row["topology.kubernetes.io/region"] for row in labels} == {"Site_of.Tests"}
    assert labels[0]["topology.eastwest/rack-unit"] == "1"


@pytest.mark.parametrize("name", ["rails", "hostile", "leaf_spine"])
def test_leaf_groups_are_those_of_slurm(name):
    plan = plan_of(name)
    by_label: dict[str, set[str]] = {}
    for item in read(plan)["items"]:
        by_label.setdefault(item["metadata"]["labels"]["topology.eastwest/leaf-group"], set()).add(
            item["metadata"]["name"]
        )
    leaves = [set(expand(switch.nodes)) for switch in slurm.tree(plan) if switch.nodes]
    assert sorted(map(sorted, by_label.values())) == sorted(map(sorted, leaves))


def test_commands_set_the_same_labels():
    plan = plan_of("domains")
    text = kubernetes.files(plan)["kubernetes/labels.yaml"]
    commands = re.findall(r"^#   kubectl label node (\S+) --overwrite (.*)$", text, re.MULTILINE)
    given = {host: dict(pair.split("=") for pair in pairs.split()) for host, pairs in commands}
    assert given == {item["metadata"]["name"]: item["metadata"]["labels"] for item in read(plan)["items"]}
    assert {labels["topology.eastwest/scale-up-domain"] for labels in given.values()} == {"block-1", "block-2"}
