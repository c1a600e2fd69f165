"""Properties of every fabric: ports used at most once, everything reachable, closed-form counts, bytes conserved."""

from math import ceil
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eastwest.fabric.all_to_all import uniform_exchange
from eastwest.fabric.demand import row_loads, tier_bytes_of
from eastwest.fabric.placement import loads, place
from eastwest.fabric.routing import crossing_loads, unreachable_servers
from eastwest.fabric.tables import Fabric, LinkKind, NodeKind
from eastwest.fabric.topology import build
from eastwest.fabric.transfers import tiers_of, transfers_of, where
from eastwest.spec.site import Site
from eastwest.workload.ledger import Grid, LedgerRow
from tests.fabric.sites import fabric_of, ledger, row, two_rooms

FAMILIES = ("leaf_spine", "rail_optimized", "three_tier", "dual_plane", "dual_tor", "multi_plane")
SHAPES = st.fixed_dictionaries(
    {
        "family": st.sampled_from(
            ["leaf_spine", "rail_optimized", "three_tier", "dual_plane", "dual_tor", "multi_plane"]
        ),
        "servers": st.integers(1, 40),
        "switch": st.sampled_from(["32x400G", "64x400G", "64x800G", "40x200G", "128x400G"]),
        "nic": st.sampled_from(["100G", "200G"]),
        "nics": st.sampled_from([1, 2, 4, 8]),
        "oversubscription": st.sampled_from(["1:1", "1.5:1", "2:1", "3:1"]),
        "spare_ports": st.integers(0, 2),
        "planes": st.sampled_from([1, 2]),
    }
)


def _fabric(shape: dict[str, Any]) -> Fabric:
    wish = dict(shape)
    if wish["family"] in ("dual_plane", "multi_plane"):
        wish["planes"] = 2
    if wish["family"] == "dual_tor":
        wish["planes"] = 1
    return fabric_of(wish.pop("family"), wish.pop("servers"), **wish)


@given(SHAPES)
@settings(max_examples=60)
def test_every_port_is_used_at_most_once(shape: dict[str, Any]) -> None:
    fabric = _fabric(shape)
    ends = np.concatenate([fabric.links["a_port"], fabric.links["b_port"]])
    assert len(np.unique(ends)) == len(ends) == 2 * len(fabric.links)
    for side in ("a", "b"):
        ports = fabric.ports[fabric.links[f"{side}_port"]]
        assert (ports["node"] == fabric.links[side]).all()
        assert (ports["link"] == np.arange(len(fabric.links))).all()
        assert (ports["rate_bps"] == fabric.links["rate_bps"]).all()
    assert np.count_nonzero(fabric.ports["link"] >= 0) == len(ends)


@given(SHAPES)
@settings(max_examples=60)
def test_ports_of_a_switch_fit_its_data_sheet(shape: dict[str, Any]) -> None:
    fabric = _fabric(shape)
    ports, rate = (int(part.rstrip("G")) for part in shape["switch"].split("x"))
    for kind in (NodeKind.LEAF, NodeKind.SPINE, NodeKind.CORE):
        for node in fabric.nodes_of(kind):
            first, n = fabric.nodes["first_port"][node], fabric.nodes["n_ports"][node]
            mine = fabric.ports[first : first + n]
            assert (mine["node"] == node).all()
            assert len(np.unique(mine["cage"])) == ports
            assert int(mine["rate_bps"].sum()) <= ports * rate * 10**9
            lanes = mine["cage"].astype(np.int64) * 1000 + mine["lane"]
            assert len(np.unique(lanes)) == len(mine)


@given(SHAPES)
@settings(max_examples=60)
def test_every_server_reaches_every_other_and_counts_follow_the_closed_form(shape: dict[str, Any]) -> None:
    fabric = _fabric(shape)
    if any(finding.severity == "error" for finding in fabric.findings):
        return
    assert len(unreachable_servers(fabric)) == 0
    facts, planes = fabric.facts, fabric.planes
    counts = fabric.as_json()
    groups = ceil(shape["servers"] / facts["servers_per_leaf_group"])
    leaves = groups * facts["leaves_per_group"] * planes
    assert counts["leaves"] == leaves
    assert counts["links"]["server_leaf"] == shape["servers"] * shape["nics"] * fabric.links_per_nic
    assert counts["links"]["leaf_spine"] == leaves * facts["leaf_uplinks"]
    pods = max(1, fabric.pods)
    assert counts["spines"] * facts["links_per_leaf_spine_pair"] == facts["leaf_uplinks"] * planes * pods
    assert counts["links"]["spine_core"] == (counts["spines"] * facts["spine_uplinks"] if fabric.tiers == 3 else 0)
    assert counts["servers"] * 8 <= fabric.max_gpus
    wish = float(shape["oversubscription"].split(":")[0])
    assert fabric.oversubscription["leaf"] <= wish * (1 + 1e-9)


@given(
    SHAPES,
    st.sampled_from(["all_reduce", "all_to_all", "broadcast"]),
    st.sampled_from([1, 2, 4, 8, 16]),
    st.integers(1, 3),
)
@settings(max_examples=60)
def test_bytes_are_conserved_from_ledger_to_links(shape: dict[str, Any], collective: str, tp: int, pp: int) -> None:
    fabric = _fabric(shape)
    dp = fabric.n_gpus // (tp * pp)
    if dp == 0 or any(finding.severity == "error" for finding in fabric.findings):
        return
    _assert_conserved(fabric, Grid(tp=tp, dp=dp, pp=pp), collective)


@given(st.integers(2, 12), st.sampled_from(["all_reduce", "all_to_all"]), st.sampled_from([1, 8]))
@settings(max_examples=20)
def test_bytes_are_conserved_between_rooms(servers: int, collective: str, tp: int) -> None:
    fabric = two_rooms(servers, boxes=({"name": "wan", "kind": "wan"},))
    _assert_conserved(fabric, Grid(tp=tp, dp=servers * 8 // tp), collective)


@given(
    st.sampled_from(["leaf_spine", "rail_optimized", "three_tier", "dual_tor", "rail_only", "multi_plane"]),
    st.integers(2, 24),
    st.sampled_from([1, 2, 4, 8]),
    st.sampled_from([1, 4, 8]),
)
@settings(max_examples=60)
def test_a_large_all_to_all_is_summed_as_its_pairs_are(family: str, servers: int, nics: int, ep_share: int) -> None:
    more = {"plane_by": "nic"} if family == "multi_plane" else {}
    rooms = {"rooms": [{"name": "hall", "pods": 2}]} if family == "three_tier" else {}
    fabric = fabric_of(family, servers, switch="16x400G", nic="100G", nics=nics, top=rooms, **more)
    if any(finding.severity == "error" for finding in fabric.findings):
        return
    grid = Grid(dp=servers * 8, ep=servers * 8 // ep_share)
    item = row("ep", grid.ep, "all_to_all", 9_000)
    _assert_same_sums(fabric, grid, item)


def _assert_same_sums(fabric: Fabric, grid: Grid, item: LedgerRow) -> None:
    gpus = np.random.default_rng(7).permutation(grid.n_ranks)
    pairs = tier_bytes_of(fabric, item, grid, gpus)[0], *row_loads(fabric, item, grid, gpus)
    members = gpus[grid.groups("ep")]
    summed = uniform_exchange(fabric, members, float(item.bytes_per_gpu))
    assert {tier: summed.tier_bytes[tier] for tier in pairs[0]} == pytest.approx(pairs[0])
    assert summed.tier_bytes.sum() == pytest.approx(sum(pairs[0].values()))
    assert summed.scale_up_bytes == pytest.approx(pairs[2])
    if pairs[1] is not None:
        assert np.allclose(crossing_loads(fabric, summed.crossing), pairs[1])


def test_racks_that_are_domains_are_summed_as_their_pairs_are() -> None:
    site = {"name": "synthetic", "servers": [{"model": "gb200-nvl72", "count": 54}]}
    fabric = build(Site.model_validate({**site, "fabric": {"family": "nvl72", "switch": "64x400G"}}))
    grid = Grid(dp=216, ep=108)
    _assert_same_sums(fabric, grid, row("ep", 108, "all_to_all", 9_000))


def _assert_conserved(fabric: Fabric, grid: Grid, collective: str) -> None:
    account = ledger(grid, row("tp", grid.tp, "all_reduce", 7_000), row("dp", grid.dp, collective, 9_000))
    placement = place(fabric, account)
    load = loads(fabric, placement, account)
    places = where(fabric)
    leaving = 0.0
    for item in account.rows:
        moves = transfers_of(item, grid, placement.gpus["job"], fabric.gpus_per_server)
        leaving += float(moves.size_bytes[tiers_of(places, moves) > 1].sum())
        placed = next(r for r in placement.rows if r.traffic == item.traffic)
        assert abs(sum(placed.tier_bytes.values()) - moves.size_bytes.sum()) <= len(placed.tier_bytes)
        if item.collective != "broadcast" and item.group_size > 1:
            assert np.isclose(moves.size_bytes.sum(), item.bytes_per_gpu * grid.n_ranks)
    nic = fabric.links["kind"] == LinkKind.SERVER_LEAF
    assert np.isclose(load[nic, 0].sum(), leaving)
    assert np.isclose(load[nic, 1].sum(), leaving)
    into = np.bincount(fabric.links["b"], load[:, 0], minlength=len(fabric.nodes))
    into += np.bincount(fabric.links["a"], load[:, 1], minlength=len(fabric.nodes))
    out = np.bincount(fabric.links["a"], load[:, 0], minlength=len(fabric.nodes))
    out += np.bincount(fabric.links["b"], load[:, 1], minlength=len(fabric.nodes))
    switches = fabric.nodes["kind"] != NodeKind.SERVER
    assert np.allclose(into[switches], out[switches])


@given(SHAPES)
@settings(max_examples=20)
def test_deterministic(shape: dict[str, Any]) -> None:
    one, two = _fabric(shape), _fabric(shape)
    assert one.names == two.names
    assert one.as_json() == two.as_json()
    assert (one.links == two.links).all()
