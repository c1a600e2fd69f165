"""Paths: a naive search agrees on their length, they are connected, shares add up, and one lost link shows the
difference of spray and adaptive.
"""

from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eastwest.simulate.choice import HashWish, Requests
from eastwest.simulate.network import Network
from eastwest.simulate.network_inline import InlineFabric, build_inline
from eastwest.simulate.routing_paths import BALANCINGS, SPREAD, Paths, Router, cut_between

G = 10**9
FAT = build_inline(InlineFabric("fat_tree", 100 * G, 10**6, k=4))
TWO = build_inline(InlineFabric("leaf_spine", 100 * G, 10**6, leaves=2, spines=4, hosts_per_leaf=8, links_per_pair=2))


def requests(pairs: list[tuple[int, int]]) -> Requests:
    src, dst = np.array(pairs, np.int64).T
    return Requests(src, dst, np.arange(len(pairs)), np.zeros(len(pairs), np.int8))


def paths(net: Network, how: str, pairs: list[tuple[int, int]]) -> Paths:
    return Router(net, how, HashWish(seeds={"leaf": 1, "spine": 2, "core": 3}), 1).paths(requests(pairs))


def naive_distance(net: Network, src: int, dst: int) -> int:
    """Links on a shortest way, by breadth-first search over everything; -1 when there is none."""
    out: dict[int, list[int]] = {}
    for row in net.links[net.links["rate_bps"] > 0]:
        out.setdefault(int(row["src"]), []).append(int(row["dst"]))
    seen, queue = {int(net.hosts[src]): 0}, deque([int(net.hosts[src])])
    while queue:
        node = queue.popleft()
        for there in out.get(node, []):
            if there not in seen:
                seen[there] = seen[node] + 1
                queue.append(there)
    return seen.get(int(net.hosts[dst]), -1)


def row(found: Paths, number: int) -> tuple[np.ndarray, np.ndarray]:
    part = slice(int(found.first[number]), int(found.first[number + 1]))
    return found.links[part], found.shares[part]


@settings(max_examples=25)
@given(st.sets(st.integers(0, 47), max_size=12), st.integers(0, 15), st.integers(0, 15))
def test_every_way_is_a_shortest_way_of_a_network_with_dead_cables(dead: set[int], src: int, dst: int) -> None:
    if src == dst:
        return
    net = FAT.with_rates(np.where(np.isin(FAT.links["cable"], list(dead)), 0, FAT.links["rate_bps"]))
    length = naive_distance(net, src, dst)
    for how in BALANCINGS:
        found = paths(net, how, [(src, dst)])
        assert bool(found.reached[0]) == (length >= 0)
        if length < 0:
            assert cut_between(net, src, dst)
            continue
        links, shares = row(found, 0)
        assert (net.links["rate_bps"][links] > 0).all()
        assert found.delay_ps[0] == length * 10**6
        inflow = np.zeros(len(net.names))
        np.add.at(inflow, net.links["dst"][links], shares)
        np.add.at(inflow, net.links["src"][links], -shares)
        assert inflow[net.hosts[src]] == pytest.approx(-1)
        assert inflow[net.hosts[dst]] == pytest.approx(1)
        assert np.abs(np.delete(inflow, [net.hosts[src], net.hosts[dst]])).max() < 1e-12
        assert len(links) == length or how in SPREAD


def test_spray_is_equal_over_all_cables() -> None:
    links, shares = row(paths(TWO, "spray", [(0, 8)]), 0)
    inner = TWO.links["level"][links] == 3
    assert shares[inner].tolist() == [1 / 8] * 16


def test_after_one_lost_cable_spray_sends_as_before_and_adaptive_by_what_is_left() -> None:
    """4 spines x 2 cables; one of spine 2's cables to the far leaf is gone: 7 cables are left there. Spray sends 1/4 to
    each spine, so 1/4 onto the lone cable; adaptive sends 2/7 to whole spines and 1/7 to the hurt one.
    """
    lost = TWO.links_between("spine2", "leaf1")
    cable = TWO.links["cable"][lost].min()
    net = TWO.with_rates(np.where(TWO.links["cable"] == cable, 0, TWO.links["rate_bps"]))
    load = {}
    for how in SPREAD:
        links, shares = row(paths(net, how, [(0, 8)]), 0)
        down = net.links["dst"][links] == net.index["leaf1"]
        load[how] = sorted(shares[down])
    assert load["spray"] == pytest.approx([1 / 8] * 6 + [1 / 4])
    assert load["adaptive"] == pytest.approx([1 / 7] * 7)


def test_pinned_ways_of_a_permutation_never_meet_on_the_way_down() -> None:
    """D-mod-k routing: contention-free towards destinations (Zahavi 2010)."""
    order = np.random.default_rng(3).permutation(16)
    pairs = [(i, int(j)) for i, j in enumerate(order) if i != j]
    found = paths(FAT, "pinned", pairs)
    down = np.isin(FAT.kinds[FAT.links["src"]], [4, 5]) & (FAT.kinds[FAT.links["dst"]] < FAT.kinds[FAT.links["src"]])
    counts = np.bincount(found.links, minlength=len(FAT.links))
    assert counts[down].max() == 1


def test_the_same_label_takes_the_same_way_and_other_labels_spread() -> None:
    same = Requests(np.zeros(50, int), np.full(50, 15), np.zeros(50, int), np.zeros(50, np.int8))
    router = Router(FAT, "ecmp", HashWish(seeds={"leaf": 1, "spine": 2, "core": 3}), 1)
    found = router.paths(same)
    assert len(np.unique(found.links.reshape(50, 6), axis=0)) == 1
    other = router.paths(Requests(same.src, same.dst, np.arange(50), same.way))
    assert len(np.unique(other.links.reshape(50, 6), axis=0)) == 4


def test_a_dead_host_link_is_the_cut_that_is_named() -> None:
    net = FAT.with_rates(np.where(np.isin(np.arange(len(FAT.links)), FAT.down[3]), 0, FAT.links["rate_bps"]))
    assert not paths(net, "ecmp", [(0, 3)]).reached[0]
    assert cut_between(net, 0, 3) == ("leaf1 - h3",)


def test_inside_a_server_the_scale_up_switch_and_across_the_destinations_rail() -> None:
    wish = InlineFabric(
        "rail_optimized", 100 * G, 0, servers=4, servers_per_group=2, gpus_per_server=4, spines=2, scale_up_bps=900 * G
    )
    net = build_inline(wish)

    def nodes(src: int, dst: int) -> list[str]:
        links, _ = row(paths(net, "ecmp", [(src, dst)]), 0)
        return [net.names[net.links["src"][links[0]]], *(net.names[node] for node in net.links["dst"][links])]

    assert nodes(0, 3) == ["h0", "scaleup0", "h3"]
    assert nodes(0, 4) == ["h0", "leaf0", "h4"]
    assert nodes(0, 5) == ["h0", "scaleup0", "h1", "leaf1", "h5"]
