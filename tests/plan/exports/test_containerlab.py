"""The containerlab file: every node once, every cable once, interface names that each kind takes."""

import re
from collections import Counter

import pytest
from ruamel.yaml import YAML

from eastwest.plan.exports import containerlab
from eastwest.plan.exports.names import host_names
from eastwest.plan.plan import make_plan
from eastwest.spec.site import Site
from tests.plan.exports.plans import SITES, cabling, plan_of

TOP_KEYS = {"name", "prefix", "mgmt", "settings", "topology"}  # containerlab's schema of a topology file
INTERFACE = re.compile(r"(eth|swp)[1-9][0-9]*")
MAX_INTERFACE_NAME = 15  # characters, Linux IFNAMSIZ without the final zero


def read(plan):
    return YAML(typ="safe").load(containerlab.files(plan)["topology.clab.yml"])


@pytest.mark.parametrize("name", SITES)
def test_the_links_are_the_cables_of_the_plan(name):
    plan = plan_of(name)
    document = read(plan)
    assert set(document) <= TOP_KEYS
    nodes, links = document["topology"]["nodes"], document["topology"]["links"]
    assert len(nodes) == len(plan.fabric.nodes)
    assert {node["kind"] for node in nodes.values()} <= set(document["topology"]["kinds"])
    ends = Counter(end for link in links for end in link["endpoints"])
    assert max(ends.values()) == 1
    plan_name = dict(zip(host_names(plan.fabric), plan.fabric.names, strict=True))
    found = set()
    for link in links:
        pair = [end.split(":") for end in link["endpoints"]]
        assert all(INTERFACE.fullmatch(port) and len(port) <= MAX_INTERFACE_NAME for _, port in pair)
        found.add(frozenset((plan_name[node], int(re.sub(r"\D", "", port))) for node, port in pair))
    assert len(links) == len(plan.fabric.links)
    assert found == cabling(plan)


@pytest.mark.parametrize(("os", "kind"), [("sonic", "sonic-vs"), ("EOS", "arista_ceos"), ("unheard-of", "sonic-vs")])
def test_the_kind_follows_the_operating_system(os, kind):
    site = {
        **SITES["leaf_spine"],
        "fabric": {"family": "leaf_spine", "switch": {"ports": 64, "rate": "400G", "os": os}},
    }
    document = read(make_plan(Site.model_validate(site)))
    assert document["topology"]["nodes"]["leaf-01"]["kind"] == kind
    assert document["topology"]["nodes"]["gpu-01"]["kind"] == "linux"


def test_a_large_lab_says_so():
    assert "too many for one machine" in containerlab.files(plan_of("large"))["topology.clab.yml"]
    assert "too many" not in containerlab.files(plan_of("leaf_spine"))["topology.clab.yml"]
