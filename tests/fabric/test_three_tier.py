"""Counts of three-tier fabrics against published designs and the closed form k^3/4."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eastwest.fabric.addressing import asn_plan
from eastwest.fabric.tables import Fabric, LinkKind, NodeKind
from tests.fabric.sites import codes, fabric_of

# Meta, SIGCOMM 2024: racks of 2 servers, 192 racks and 3,072 GPUs a pod, 7:1 between pods; spines are a 576 x 400G
# chassis, leaves have 16 ports down and 16 up.
META = {
    "switch": None,
    "leaf": "32x400G",
    "spine": "576x400G",
    "core": "576x400G",
    "servers_per_leaf": 2,
    "servers_per_pod": 384,
    "oversubscription": {"leaf": "1:1", "spine": "7:1"},
}
# Alibaba HPN, SIGCOMM 2024: 51.2T chips as 128 x 400G, NICs of 2 x 200G in two planes, 128 servers a segment, 15
# segments a pod, 1.067:1 at the ToR, 15:1 at the core.
HPN = {
    "switch": "128x400G",
    "servers_per_leaf": 128,
    "oversubscription": {"leaf": "16:15", "spine": "15:1"},
}


def _counts(fabric: Fabric) -> tuple[int, int, int]:
    counts = fabric.as_json()
    return counts["leaves"], counts["spines"], counts["cores"]


# NVIDIA DGX SuperPOD (B200), compute fabric table; an independent 512-server note has 32/32/16 in each of 4 pods.
@pytest.mark.parametrize(("servers", "counts", "pods"), [(512, (128, 128, 64), 4), (2048, (512, 512, 256), 16)])
def test_superpod_counts(servers: int, counts: tuple[int, int, int], pods: int) -> None:
    fabric = fabric_of("three_tier", servers, rail_optimized=True)
    assert _counts(fabric) == counts
    links = fabric.as_json()["links"]
    assert links["server_leaf"] == links["leaf_spine"] == links["spine_core"] == servers * 8
    assert fabric.pods == pods
    assert (fabric.facts["leaves_per_pod"], fabric.facts["spines_per_pod"], fabric.facts["servers_per_pod"]) == (
        32,
        32,
        128,
    )
    assert fabric.oversubscription == {"leaf": 1.0, "spine": 1.0}
    assert not fabric.findings


@given(st.sampled_from([4, 6, 8, 16, 32, 64, 128]), st.sampled_from([2, 3]))
@settings(max_examples=20)
def test_the_closed_forms_of_a_clos(radix: int, tiers: int) -> None:
    # endpoints of k-port switches at 1:1: k^2/2 in two tiers, k^3/4 in three (Al-Fares and others, SIGCOMM 2008)
    family = {2: "leaf_spine", 3: "three_tier"}[tiers]
    fabric = fabric_of(family, 2, switch=f"{radix}x400G", nics=1, top=_one_gpu())
    assert fabric.max_gpus == {2: radix**2 // 2, 3: radix**3 // 4}[tiers]


def _one_gpu() -> dict[str, Any]:
    return {"servers": [{"count": 2, "gpu": "h100", "gpus": 1, "nic": {"count": 1, "rate": "400G"}}]}


@pytest.mark.parametrize("radix", [4, 8, 16])
def test_a_full_three_tier_fabric_uses_every_port(radix: int) -> None:
    servers = [{"count": radix**3 // 4, "gpu": "h100", "gpus": 1, "nic": {"count": 1, "rate": "400G"}}]
    fabric = fabric_of("three_tier", 1, switch=f"{radix}x400G", top={"servers": servers})
    assert _counts(fabric) == (radix**2 // 2, radix**2 // 2, radix**2 // 4)
    assert all(tier.free == 0 for tier in fabric.tier_ports.values())
    assert fabric.pods == radix


def test_pods_seven_to_one() -> None:
    fabric = fabric_of("three_tier", 3072, **META)
    assert fabric.as_json()["gpus"] == 24_576
    assert (fabric.as_json()["leaves"], fabric.pods, fabric.facts["leaves_per_pod"]) == (1536, 8, 192)
    assert fabric.oversubscription["leaf"] == 1.0
    assert 6.5 < fabric.oversubscription["spine"] <= 7.0
    assert codes(fabric) == {"EW-FAB-037": "info"}


def test_segments_of_hpn_fifteen_to_one() -> None:
    fabric = fabric_of("dual_plane", 1920, tiers=3, **HPN)
    assert (fabric.planes, fabric.as_json()["gpus"], fabric.pods) == (2, 15_360, 1)
    assert fabric.as_json()["leaves"] == 15 * 16
    assert fabric.facts["leaf_uplinks"] == 60
    assert fabric.facts["spines_per_pod"] == 60
    assert fabric.oversubscription["leaf"] == pytest.approx(128 * 200 / (60 * 400))
    assert fabric.oversubscription["spine"] == 15.0


def test_the_last_pod_may_be_smaller_and_keeps_its_spines() -> None:
    fabric = fabric_of("three_tier", 300, rail_optimized=True, servers_per_pod=128)
    pod = fabric.nodes["pod"]
    leaves, spines = fabric.nodes_of(NodeKind.LEAF), fabric.nodes_of(NodeKind.SPINE)
    assert np.bincount(pod[leaves]).tolist() == [32, 32, 16]
    assert np.bincount(pod[spines]).tolist() == [32, 32, 32]
    up = fabric.links[fabric.links_of(LinkKind.SPINE_CORE)]
    assert len(set(np.bincount(up["a"])[spines].tolist())) == 1
    assert codes(fabric) == {"EW-FAB-050": "warning"}  # 44 of 128 servers under the spines of a full pod
    found = fabric.findings[0]
    assert (found.expected, found.observed) == (128, 44)
    assert found.args["cables"] == 32 * 32
    assert found.args["idle"] == 1024 - 1024 * 44 // 128
    assert codes(fabric_of("three_tier", 128 + 64, rail_optimized=True, servers_per_pod=128)) == {}


def test_a_leaf_group_is_not_larger_than_the_pod() -> None:
    ratios = {"leaf": "3:1", "spine": "7:1"}
    railed = fabric_of("three_tier", 100, rail_optimized=True, servers_per_pod=32, oversubscription=ratios)
    servers = railed.nodes["pod"][railed.nodes_of(NodeKind.SERVER)]
    assert np.bincount(servers).tolist() == [32, 32, 32, 4]
    assert next(f for f in railed.findings if f.code == "EW-FAB-037").args["pod_gpus"] == 32 * 8


def test_a_pod_that_whole_leaf_groups_do_not_fill_is_said() -> None:
    # 64 x 400G at 1:1: four whole servers a leaf give 28 of 31, three give 30; 33 are eleven leaves of three
    fabric = fabric_of("three_tier", 60, servers_per_pod=31)
    lowered = next(f for f in fabric.findings if f.code == "EW-FAB-048")
    assert (lowered.subject, lowered.expected, lowered.observed) == ("servers_per_pod", 31, 30)
    servers = fabric.nodes["pod"][fabric.nodes_of(NodeKind.SERVER)]
    assert np.bincount(servers).tolist() == [30, 30]
    exact = fabric_of("three_tier", 66, servers_per_pod=33)
    assert codes(exact) == {}
    assert np.bincount(exact.nodes["pod"][exact.nodes_of(NodeKind.SERVER)]).tolist() == [33, 33]


def test_what_no_three_tiers_hold_is_short_at_the_core_only_by_what_is_over() -> None:
    # k = 64: 65,536 NICs; one server more needs one pod more than a core has ports
    fabric = fabric_of("three_tier", 8193)
    assert codes(fabric)["EW-FAB-028"] == "error"
    assert fabric.pods == 65
    short = next(f for f in fabric.findings if f.code == "EW-FAB-001")
    assert short.subject == "core"
    assert short.args["short"] == short.args["switches"] == 1024


def test_the_wished_number_of_pods_is_dealt_evenly() -> None:
    fabric = fabric_of("three_tier", 20, top={"rooms": [{"name": "hall", "pods": 3}]})
    servers = fabric.nodes["pod"][fabric.nodes_of(NodeKind.SERVER)]
    assert np.bincount(servers).tolist() == [8, 8, 4]  # 5 leaves of 4 servers: 2, 2, 1
    assert fabric.pods == 3


def test_a_pod_that_is_too_large_is_an_error() -> None:
    assert codes(fabric_of("three_tier", 512, servers_per_pod=512))["EW-FAB-028"] == "error"


def test_each_spine_reaches_one_set_of_cores_alike() -> None:
    fabric = fabric_of("three_tier", 512, rail_optimized=True)
    up = fabric.links[fabric.links_of(LinkKind.SPINE_CORE)]
    pairs, counts = np.unique(np.stack([up["a"], up["b"]]), axis=1, return_counts=True)
    assert set(counts.tolist()) == {16}
    number = (pairs[0] - fabric.nodes_of(NodeKind.SPINE)[0]) % 32
    for core in np.unique(pairs[1]):
        assert len(set(number[pairs[1] == core].tolist())) == 1


def test_as_numbers_are_one_for_the_spines_of_a_pod_and_one_for_the_cores() -> None:
    fabric = fabric_of("three_tier", 40, rail_optimized=True, top={"rooms": [{"name": "hall", "pods": 2}]})
    asns, pod = asn_plan(fabric), fabric.nodes["pod"]
    spines = fabric.nodes_of(NodeKind.SPINE)
    assert len(set(asns[spines].tolist())) == 2
    assert all(len(set(asns[spines][pod[spines] == p].tolist())) == 1 for p in (0, 1))
    assert len(set(asns[fabric.nodes_of(NodeKind.CORE)].tolist())) == 1


def test_spare_ports_by_tier_stay_free() -> None:
    fabric = fabric_of("three_tier", 64, rail_optimized=True, spare_ports={"leaf": 1, "spine": 2, "core": 3})
    for kind, least in ((NodeKind.SPINE, 2), (NodeKind.CORE, 3)):
        for node in fabric.nodes_of(kind):
            ports = fabric.ports["link"][fabric.ports["node"] == node]
            assert np.count_nonzero(ports < 0) >= least
    assert fabric.facts["servers_per_leaf_group"] <= 31


def test_mixed_switches_and_breakout() -> None:
    # NICs of 200G on broken-out leaf ports, spines of 800G that break out to 400G leaves, cores of 800G
    fabric = fabric_of("three_tier", 512, nic="200G", switch=None, leaf="64x400G", spine="64x800G", core="64x800G")
    assert fabric.facts["leaf_down_rate_bps"] == 200 * 10**9
    assert fabric.facts["leaf_up_rate_bps"] == 400 * 10**9
    assert fabric.facts["spine_up_rate_bps"] == 800 * 10**9
    assert not [code for code, severity in codes(fabric).items() if severity == "error"]


def test_rooms_have_their_own_cores_and_links_end_on_them() -> None:
    link = {"between": ["a", "b"], "distance": "2km", "count": 4, "rate": "400G"}
    top = {"rooms": [{"name": "a"}, {"name": "b"}], "room_links": [link]}
    fabric = fabric_of("three_tier", 80, rail_optimized=True, top=top)
    cores = fabric.nodes_of(NodeKind.CORE)
    assert {int(fabric.nodes["room"][core]) for core in cores} == {0, 1}
    rooms = fabric.links[fabric.links_of(LinkKind.ROOM)]
    assert len(rooms) == 4
    assert np.isin(rooms["a"], cores).all()
    assert np.isin(rooms["b"], cores).all()
    assert codes(fabric) == {}


def test_decisions_have_their_ids_formulas_and_alternatives() -> None:
    decisions = {d.id: d for d in fabric_of("three_tier", 512, rail_optimized=True).decisions}
    wanted = {
        "fabric.tiers": 3,
        "fabric.pods": 4,
        "fabric.spine.down_ports": 32,
        "fabric.spine.uplinks": 32,
        "fabric.cores": 64,
        "fabric.links_per_pair.core": 16,
        "fabric.oversubscription.spine": 1.0,
        "fabric.max_gpus": 65_536,
    }
    assert {name: decisions[name].value for name in wanted} == wanted
    assert all(decision.formula and decision.because for decision in decisions.values())
    assert "2,048 GPUs" in decisions["fabric.tiers"].alternatives[0].rejected_because


@pytest.mark.parametrize(("family", "railed"), [("rail_optimized", True), ("leaf_spine", False)])
def test_a_two_tier_family_with_three_tiers_is_the_three_tier_one(family: str, railed: bool) -> None:
    wished = fabric_of(family, 64, tiers=3, servers_per_pod=32)
    same = fabric_of("three_tier", 64, rail_optimized=railed, servers_per_pod=32)
    assert wished.tiers == 3
    assert wished.pods == 2
    assert wished.as_json() | {"family": ""} == same.as_json() | {"family": ""}
