"""Counts of the shared table of published designs, row by row: what the families build against what is printed.

The wish of a row says in keys of `fabric` what its `inputs` say in words; an explanation stands where a row needs one.
"""

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from eastwest.fabric.tables import Fabric
from eastwest.fabric.topology import build
from eastwest.spec.site import Site

DESIGNS = Path(__file__).resolve().parents[3] / "shared" / "data" / "validation" / "designs.yaml"
RAILS_3 = {"family": "three_tier", "rail_optimized": True}
RAILS = {"family": "rail_optimized"}
TWIN_SPECTRUM = {"family": "dual_plane", "switch": "64x800G"}
QUANTUM_40 = {**RAILS, "switch": "40x200G", "spare_ports": {"spine": 1}}  # full leaves: the subnet manager on a spine
JUNIPER = {**RAILS, "switch": "64x800G", "spines": 4, "oversubscription": "2:1"}
META = {
    "family": "three_tier",
    "leaf": "32x400G",
    "spine": "576x400G",
    "core": "576x400G",
    "servers_per_leaf": 2,
    "servers_per_pod": 384,
    "oversubscription": {"leaf": "1:1", "spine": "7:1"},
}
HPN = {"family": "dual_plane", "switch": "128x400G", "servers_per_leaf": 128, "oversubscription": "16:15"}
LEAVES_AND_SPINES = {"leaf": "leaves", "spine": "spines", "core": "cores"}
ROWS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # row -> server group, fabric
    "superpod-b200-16su": ({"count": 512}, {**RAILS_3, "switch": "64x400G"}),
    "superpod-b200-64su": ({"count": 2048}, {**RAILS_3, "switch": "64x400G"}),
    "h100-4096-3tier": ({"count": 512}, {**RAILS_3, "switch": "64x400G"}),
    "superpod-b300-eth-1su": ({"count": 64, "rate": "800G"}, TWIN_SPECTRUM),
    "superpod-b300-eth-8su": ({"count": 512, "rate": "800G"}, TWIN_SPECTRUM),
    "superpod-b300-xdr-1su": ({"count": 72, "rate": "800G"}, {**RAILS, "switch": "144x800G"}),
    "superpod-b300-xdr-2su": ({"count": 144, "rate": "800G"}, {**RAILS, "switch": "144x800G"}),
    # 72 uplinks do not divide by the 32 spines that would suffice; by 36 they do
    "superpod-b300-xdr-8su": ({"count": 576, "rate": "800G"}, {**RAILS, "switch": "144x800G"}),
    "superpod-a100-1su": ({"count": 20, "rate": "200G"}, QUANTUM_40),
    "superpod-a100-4su": ({"count": 80, "rate": "200G"}, QUANTUM_40),
    "asterfusion-256": ({"count": 64, "gpus": 4, "nics": 4}, {"family": "leaf_spine", "switch": "64x800G"}),
    "lossless-256": ({"count": 32}, {**RAILS, "switch": "64x400G"}),
    "lossless-1024": ({"count": 128}, {**RAILS, "switch": "64x400G", "oversubscription": "2:1"}),
    "juniper-jvd-200g": ({"count": 8, "rate": "200G"}, {**JUNIPER, "servers_per_leaf": 4, "link_rate": "200G"}),
    "juniper-jvd-800g": ({"count": 8, "rate": "200G"}, {**JUNIPER, "servers_per_leaf": 4, "link_rate": "800G"}),
}


def _printed(name: str) -> dict[str, Any]:
    if not DESIGNS.exists():
        pytest.skip("the shared validation data is not beside the project")
    rows = YAML(typ="safe").load(DESIGNS.read_text(encoding="utf-8"))["rows"]
    found: dict[str, Any] = next(row for row in rows if row["id"] == name)["outputs"]
    return found


def _fabric(server: dict[str, Any], fabric: dict[str, Any]) -> Fabric:
    gpus = server.get("gpus", 8)
    nic = {"count": server.get("nics", 8), "rate": server.get("rate", "400G")}
    group = {"count": server["count"], "gpu": "h100", "gpus": gpus, "nic": nic}
    return build(Site.model_validate({"name": "published", "servers": [group], "fabric": fabric}))


@pytest.mark.parametrize("name", ROWS)
def test_published_switches_come_out(name: str) -> None:
    printed = _printed(name)
    counts = _fabric(*ROWS[name]).as_json()
    built = {tier: counts[LEAVES_AND_SPINES[tier]] for tier in LEAVES_AND_SPINES if tier in printed}
    assert built == {tier: printed[tier] for tier in built}


@pytest.mark.parametrize("name", [name for name in ROWS if name.startswith("superpod")])
def test_published_cables_come_out(name: str) -> None:
    # an 800G NIC of two planes is printed as one cable, and is two links of 400G here
    printed, fabric = _printed(name), _fabric(*ROWS[name])
    links = fabric.as_json()["links"]
    assert links["server_leaf"] // fabric.planes == printed["node_leaf_cables"]
    for tier in ("leaf_spine", "spine_core"):
        if f"{tier}_cables" in printed:
            assert links[tier] == printed[f"{tier}_cables"]


def test_a_pod_of_the_512_server_note() -> None:
    pod, facts = _printed("h100-4096-3tier")["per_pod"], _fabric(*ROWS["h100-4096-3tier"]).facts
    assert (facts["leaves_per_pod"], facts["spines_per_pod"]) == (pod["leaf"], pod["spine"])
    assert facts["cores_by_room"][0] // facts["pods_by_room"][0] == pod["core_share"]


@pytest.mark.parametrize(("gpus", "agrees"), [(512, False), (1024, True), (2048, True)])
def test_switches_of_the_price_sheet(gpus: int, agrees: bool) -> None:
    # 8 switches for 512 GPUs cannot be a 1:1 fabric of two tiers: 24 are
    counts = _fabric({"count": gpus // 8}, {"family": "leaf_spine", "switch": "64x400G"}).as_json()
    total = counts["leaves"] + counts["spines"]
    assert (total == _printed(f"gpusheet-{gpus}")["total_switches"]) is agrees
    assert total == 3 * gpus // 64


def test_nodes_of_a_tor_set_with_split_ports() -> None:
    fabric = _fabric({"count": 1024, "rate": "200G"}, {**RAILS_3, "switch": "64x400G"})
    assert fabric.facts["servers_per_leaf_group"] == _printed("megascale-fabric")["nodes_per_tor_set"]
    assert fabric.max_gpus > 10_000


def test_pods_of_the_24k_cluster() -> None:
    printed, fabric = _printed("meta-24k-roce"), _fabric({"count": 3072}, META)
    assert fabric.as_json()["leaves"] == printed["racks"]
    assert (fabric.pods, fabric.facts["servers_per_pod"] * 8) == (printed["pods"], printed["gpus_per_pod"])
    assert fabric.facts["leaves_per_pod"] == printed["racks_per_pod"]
    assert round(fabric.oversubscription["spine"]) == 7
    assert fabric.oversubscription["leaf"] == 1.0


def test_ports_of_an_hpn_tor() -> None:
    printed, fabric = _printed("alibaba-hpn7-segment"), _fabric({"count": 128}, HPN)
    facts = fabric.facts
    assert fabric.as_json()["leaves"] == printed["tor"]
    down = f"{facts['servers_per_leaf_group']}x{facts['leaf_down_rate_bps'] // 10**9}G"
    up = f"{facts['leaf_uplinks']}x{facts['leaf_up_rate_bps'] // 10**9}G"
    assert (down, up) == (printed["tor_down_ports"], printed["tor_up_ports"])
    assert f"{fabric.oversubscription['leaf']:.3f}:1" == printed["tier1_oversubscription"]


@pytest.mark.parametrize(("name", "rate"), [("juniper-jvd-200g", "200G"), ("juniper-jvd-800g", "800G")])
def test_total_bandwidth_between_leaves_and_spines(name: str, rate: str) -> None:
    fabric = _fabric(*ROWS[name])
    total = 2 * fabric.facts["bisection_bps"] / 1e12
    assert f"{total:g}T" == _printed(name)["total_leaf_spine_bandwidth"]


@pytest.mark.parametrize(("name", "servers_per_leaf"), [("2x2", 8), ("4x2", 4)])
def test_small_clos_of_a_validated_design(name: str, servers_per_leaf: int) -> None:
    printed = _printed("cisco-amd-mi300x-128")
    wish = {"family": "leaf_spine", "switch": "64x800G", "servers_per_leaf": servers_per_leaf, "spines": 2}
    counts = _fabric({"count": 16}, wish).as_json()
    assert (counts["leaves"], counts["spines"]) == (printed[f"leaf_{name}"], printed[f"spine_{name}"])


def test_planes_against_tiers() -> None:
    printed = _printed("arista-multiplane-4096")
    one = {"gpus": 1, "nics": 1}
    a = _fabric({"count": 4096, "rate": "100G", **one}, {"family": "leaf_spine", "switch": "512x100G"}).as_json()
    wish = {"family": "multi_plane", "planes": 8, "tiers": 1, "switch": "512x100G"}
    b = _fabric({"count": 512, "rate": "800G", **one}, wish).as_json()
    assert a["leaves"] + a["spines"] == printed["switches_option_a"]
    assert b["leaves"] + b["spines"] == printed["switches_option_b"]


@pytest.mark.parametrize("radix", [32, 40, 64, 128, 144])
def test_the_most_ends_of_a_radix(radix: int) -> None:
    printed = _printed(f"clos-max-radix-{radix}")
    server = {"count": 2, "gpus": 1, "nics": 1}
    for tiers, family in ((2, "leaf_spine"), (3, "three_tier")):
        most = _fabric(server, {"family": family, "switch": f"{radix}x400G"}).max_gpus
        assert most == printed[f"max_endpoints_{tiers}tier"]
