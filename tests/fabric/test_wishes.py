"""Wishes that a family cannot follow are named, never dropped: keys, NIC ports, lowered numbers, impossible rates."""

from typing import Any

import pytest

from eastwest.fabric.topology import build
from eastwest.fabric.wishes import TIERS_OF_FAMILY
from eastwest.finding import Finding
from eastwest.spec.site import Site
from eastwest.spec.switches import FAMILIES
from tests.fabric.sites import codes, fabric_of, two_rooms


def found(code: str, family: str, servers: int, **more: Any) -> Finding | None:
    return next((f for f in fabric_of(family, servers, **more).findings if f.code == code), None)


def of_servers(server: dict[str, Any], **fabric: Any) -> dict[str, str]:
    return codes(build(Site.model_validate({"name": "synthetic", "servers": [server], "fabric": fabric})))


def test_every_family_says_its_tiers() -> None:
    assert set(TIERS_OF_FAMILY) == set(FAMILIES)


@pytest.mark.parametrize(
    ("family", "wish", "subject"),
    [
        ("leaf_spine", {"tiers": 1}, "tiers: 1"),
        ("single_switch", {"tiers": 2}, "tiers: 2"),
        ("three_tier", {"tiers": 2}, "tiers: 2"),
        ("leaf_spine", {"cross_rail": "16:1"}, "cross_rail"),
        ("leaf_spine", {"core": "64x400G"}, "core"),
        ("leaf_spine", {"plane_by": "nic"}, "plane_by"),
        ("leaf_spine", {"servers_per_pod": 8}, "servers_per_pod"),
        ("rail_optimized", {"rail_optimized": False}, "rail_optimized: false"),
        ("leaf_spine", {"rail_optimized": True}, "rail_optimized: true"),
        ("single_switch", {"spines": 2}, "spines"),
    ],
)
def test_a_key_that_the_family_does_not_have_is_an_error(family: str, wish: dict[str, Any], subject: str) -> None:
    finding = found("EW-FAB-047", family, 8, **wish)
    assert finding is not None
    assert (finding.subject, finding.severity) == (subject, "error")
    assert finding.path == f"fabric.{subject.split(':')[0]}"
    assert family not in finding.args["others"].split(", ")


@pytest.mark.parametrize(
    ("family", "wish"),
    [
        ("leaf_spine", {"tiers": 3, "core": "64x400G", "servers_per_pod": 8}),
        ("leaf_spine", {"planes": 2, "plane_by": "nic"}),
        ("rail_only", {"cross_rail": "16:1"}),
        ("rail_only", {"tiers": 2}),
        ("dual_plane", {"plane_by": "nic"}),
        ("three_tier", {"tiers": 3, "rail_optimized": True, "servers_per_pod": 32}),
    ],
)
def test_a_key_that_the_family_has_is_none(family: str, wish: dict[str, Any]) -> None:
    assert found("EW-FAB-047", family, 32, **wish) is None


def test_a_lowered_wish_is_noted() -> None:
    finding = found("EW-FAB-048", "leaf_spine", 8, servers_per_leaf=5)  # 32 ports down: four servers of eight links
    assert finding is not None
    assert (finding.expected, finding.observed, finding.severity) == (5, 4, "info")
    assert found("EW-FAB-048", "leaf_spine", 8, servers_per_leaf=4) is None


@pytest.mark.parametrize(
    ("nic", "fabric", "is_wrong"),
    [
        ({"rate": "400G", "ports": 2}, {"family": "leaf_spine"}, True),
        ({"rate": "400G", "ports": 2}, {"family": "dual_tor"}, False),
        ({"rate": "400G", "ports": 1}, {"family": "dual_tor"}, True),
        ({"rate": "400G"}, {"family": "dual_tor"}, False),  # nothing is said: two ports are taken
        ({"rate": "400G", "ports": 4}, {"family": "dual_plane"}, True),
        ({"model": "connectx-7"}, {"family": "dual_plane"}, False),  # sold as 2 x 200G too
        ({"model": "connectx-7"}, {"family": "multi_plane", "planes": 8}, True),
    ],
)
def test_nic_ports_must_be_those_that_are_cabled(nic: dict[str, Any], fabric: dict[str, Any], is_wrong: bool) -> None:
    got = of_servers({"count": 16, "gpus": 8, "nic": {"count": 8, **nic}}, switch="64x800G", **fabric)
    assert ("EW-FAB-045" in got) == is_wrong


def test_a_server_that_is_its_own_domain_is_no_nvl72() -> None:
    assert of_servers({"count": 18, "model": "hgx-h100"}, family="nvl72", switch="64x400G")["EW-FAB-049"] == "error"
    assert "EW-FAB-049" not in of_servers({"count": 18, "model": "gb200-nvl72"}, family="nvl72", switch="64x400G")


@pytest.mark.parametrize(
    ("nic", "switch", "is_possible"),
    [
        ("400G", "64x400G", True),
        ("200G", "64x400G", True),
        ("100G", "64x800G", True),
        ("25G", "64x800G", False),
        ("150G", "64x400G", False),
        ("300G", "64x400G", False),
        ("25G", "32x100G", True),
        ("400G", "64x1000G", False),
    ],
)
def test_rates_that_no_port_has_are_errors(nic: str, switch: str, is_possible: bool) -> None:
    assert ("EW-FAB-046" in codes(fabric_of("leaf_spine", 8, nic=nic, switch=switch))) == (not is_possible)


def test_a_room_link_of_a_rate_that_no_port_has_is_an_error() -> None:
    link = {"between": ["a", "b"], "distance": "2km", "count": 8, "boxes": []}
    for rate, is_possible in (("400G", True), ("100G", True), ("1G", False), ("300G", False)):
        fabric = two_rooms(top={"room_links": [{**link, "rate": rate}]})
        assert ("EW-FAB-046" in codes(fabric)) == (not is_possible)
