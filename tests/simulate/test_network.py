"""Networks of a few words and of a site: counts by formula, numbering, rates, boxes with one rate for both ways."""

import numpy as np
import pytest

from eastwest.fabric.topology import build
from eastwest.simulate.network import Level, Place
from eastwest.simulate.network_fabric import network_of_fabric, pcie_bps
from eastwest.simulate.network_inline import InlineFabric, build_inline
from eastwest.spec.resolve import resolve_server
from tests.fabric.sites import site, two_rooms

G = 10**9


@pytest.mark.parametrize("k", [2, 4, 8])
def test_a_fat_tree_has_the_counts_of_its_formula_and_the_numbering_of_the_peers(k: int) -> None:
    """k^3/4 hosts, 5k^2/4 switches, 3 x k^3/4 cables (Al-Fares et al. 2008)."""
    net = build_inline(InlineFabric("fat_tree", 100 * G, 10**6, k=k))
    assert net.n_hosts == k**3 // 4
    assert (net.kinds != Place.HOST).sum() == 5 * k * k // 4
    assert len(net.links) == 2 * 3 * k**3 // 4
    half = k // 2
    host = net.n_hosts - 1
    assert len(net.links_between(f"h{host}", f"leaf{host // half}")) == 2
    assert len(net.links_between(f"spine{half - 1}", f"core{(half - 1) * half}")) == 2
    assert len(net.links_between(f"leaf{half - 1}", f"spine{half - 1}")) == 2
    assert (np.bincount(net.links["src"][net.links["level"] > Level.NIC], minlength=len(net.names))[-1:] == k).all()


def test_servers_of_several_hosts_share_a_scale_up_switch_and_rails_have_their_leaves() -> None:
    wish = InlineFabric(
        "rail_optimized", 100 * G, 0, servers=4, servers_per_group=2, gpus_per_server=4, spines=2, scale_up_bps=900 * G
    )
    net = build_inline(wish)
    assert net.n_hosts == 16
    assert net.keeps_rail
    assert len(net.links_between("h5", "leaf1")) == 2  # server 1, rail 1, first group
    assert len(net.links_between("h13", "leaf5")) == 2  # server 3, rail 1, second group
    assert len(net.links_between("h5", "scaleup1")) == 2
    assert net.host_index["s3"] == 12


def test_both_directions_of_a_cable_have_its_number() -> None:
    net = build_inline(InlineFabric("leaf_spine", 100 * G, 0, leaves=2, spines=2, hosts_per_leaf=2, links_per_pair=3))
    pair = net.links_between("leaf1", "spine0")
    assert len(pair) == 6
    assert sorted(np.bincount(net.links["cable"][pair])[np.unique(net.links["cable"][pair])]) == [2, 2, 2]


def test_the_delay_of_a_switch_is_on_the_links_that_it_sends_over() -> None:
    net = build_inline(InlineFabric("single_switch", 100 * G, 1000, 700, hosts=2))
    there = net.links[net.up[0, 0]]
    back = net.links[net.down[0, 0]]
    assert (there["delay_ps"], back["delay_ps"]) == (1000, 1700)


def test_a_sites_gpus_reach_their_leaves_over_nics_at_the_cables_rates() -> None:
    wish = site("rail_optimized", 4, nic="400G")
    fabric = build(wish)
    net = network_of_fabric(fabric, resolve_server(wish.servers[0]))
    assert net.n_hosts == fabric.n_gpus == 32
    assert net.names[net.hosts[9]] == "server-02/gpu1" or net.names[net.hosts[9]].endswith("/gpu1")
    assert set(net.links["rate_bps"][net.links["level"] == Level.NIC].tolist()) == {400 * G}
    n_cables = int((net.links["level"] == Level.NIC).sum() + (net.links["level"] == Level.LEAF_SPINE).sum()) // 2
    assert n_cables == len(fabric.links)
    assert set(net.host_index) >= {fabric.names[0]}


def test_a_box_between_rooms_is_one_link_that_all_flows_share() -> None:
    fabric = two_rooms(8, boxes=({"name": "fw", "kind": "firewall", "rate_limit": "100G"},))
    wish = site("leaf_spine", 8)
    net = network_of_fabric(fabric, resolve_server(wish.servers[0]))
    inner = net.links_between("fw", "fw:out")
    assert net.links["rate_bps"][inner].tolist() == [100 * G]


def test_a_slot_carries_its_raw_rate_times_the_share_of_payload() -> None:
    """PCIe 5 x16: 32 GT/s x 16 = 512 Gb/s raw, 85 % of it payload."""
    facts = resolve_server(site("leaf_spine", 1).servers[0])
    from dataclasses import replace

    assert pcie_bps(replace(facts, pcie_generation=5, pcie_lanes=16)) == round(0.85 * 512 * G)
