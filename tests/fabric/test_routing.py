"""Ideal ECMP against a naive walk of every shortest path, and against the closed form of a two-tier fabric."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from eastwest.fabric.even_split import regular_tree
from eastwest.fabric.routing import ecmp_groups, hop_counts, link_loads, server_links, switch_graph
from eastwest.fabric.tables import Fabric, LinkKind, NodeKind
from tests.fabric.sites import fabric_of, two_rooms


def _naive_loads(fabric: Fabric, moves: list[tuple[int, int, int, int, int]]) -> dict[tuple[int, int], Fraction]:
    """(link, direction) -> bytes, by walking hop after hop in exact fractions."""
    neighbours: dict[int, list[tuple[int, int, int, int]]] = {}
    for number, link in enumerate(fabric.links):
        if link["kind"] != LinkKind.SERVER_LEAF:
            a, b, rate = int(link["a"]), int(link["b"]), int(link["rate_bps"])
            neighbours.setdefault(a, []).append((b, number, 0, rate))
            neighbours.setdefault(b, []).append((a, number, 1, rate))
    table = server_links(fabric)[:, :, 0]
    loads: dict[tuple[int, int], Fraction] = {}

    def add(link: int, direction: int, size: Fraction) -> None:
        loads[link, direction] = loads.get((link, direction), Fraction(0)) + size

    def distances(target: int) -> dict[int, int]:
        found, frontier = {target: 0}, [target]
        while frontier:
            step = [n for node in frontier for n, *_ in neighbours.get(node, []) if n not in found]
            found |= dict.fromkeys(step, found[frontier[0]] + 1)
            frontier = list(dict.fromkeys(step))
        return found

    def walk(node: int, target: int, size: Fraction, hops: dict[int, int]) -> None:
        if node == target:
            return
        nexts = [n for n in neighbours[node] if hops[n[0]] == hops[node] - 1]
        total = sum(rate for *_, rate in nexts)
        for peer, link, direction, rate in nexts:
            add(link, direction, size * rate / total)
            walk(peer, target, size * rate / total, hops)

    for src, src_nic, dst, dst_nic, size in moves:
        out, into = int(table[src, src_nic]), int(table[dst, dst_nic])
        add(out, 0, Fraction(size))
        add(into, 1, Fraction(size))
        start, target = int(fabric.links["b"][out]), int(fabric.links["b"][into])
        walk(start, target, Fraction(size), distances(target))
    return loads


def _small(name: str) -> Fabric:
    """A small fabric of each kind that splits differently."""
    switch = "8x400G"
    if name == "rooms":
        return two_rooms(4, ({"name": "wan", "kind": "wan"},), links=2, switch=switch, nics=2)
    if name == "pods":
        rooms = {"rooms": [{"name": "hall", "pods": 3}]}
        return fabric_of("three_tier", 6, switch=switch, nics=2, top=rooms)
    if name == "shared cores":
        wish = {"servers_per_pod": 2, "oversubscription": {"leaf": "1:1", "spine": "4:1"}}
        return fabric_of("three_tier", 5, switch="16x400G", nics=2, rail_optimized=True, servers_per_leaf=2, **wish)
    return fabric_of(name, 6, switch=switch, nics=2)


SMALL = ["leaf_spine", "rail_optimized", "rooms", "pods", "shared cores"]


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("walked", [False, True], ids=["closed form", "walked"])
def test_loads_equal_a_naive_walk(name: str, walked: bool) -> None:
    fabric = _small(name)
    moves = [(0, 0, 1, 1, 1000), (0, 1, 3, 0, 777), (2, 0, 3, 1, 50), (1, 1, 2, 0, 12345), (3, 0, 0, 1, 9)]
    columns = [np.array(column, np.int64) for column in zip(*moves, strict=True)]
    graph = switch_graph(fabric) if walked else None
    got = link_loads(fabric, *columns[:4], columns[4].astype(np.float64), graph)
    want = np.zeros_like(got)
    for (link, direction), size in _naive_loads(fabric, moves).items():
        want[link, direction] = float(size)
    assert np.allclose(got, want)


def test_all_to_all_loads_every_uplink_alike() -> None:
    fabric = fabric_of("leaf_spine", 16)
    n = 16
    src, dst = (index.ravel() for index in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    nic = np.zeros(n * n, np.int64)
    load = link_loads(fabric, src, nic, dst, nic, np.ones(n * n))
    up = load[fabric.links_of(LinkKind.LEAF_SPINE)]
    # 4 servers a leaf send 1 byte to each of 12 servers elsewhere over 32 uplinks
    assert np.allclose(up, 4 * 12 / 32)


def test_hops_and_next_hops_of_a_two_tier_fabric() -> None:
    fabric = fabric_of("rail_optimized", 64)
    graph = switch_graph(fabric)
    leaves = graph.number[fabric.nodes_of(NodeKind.LEAF)]
    hops = hop_counts(graph, leaves)[leaves]
    assert (hops[~np.eye(len(leaves), dtype=bool)] == 2).all()
    assert (ecmp_groups(fabric) == 32).all()


@pytest.mark.parametrize("kind", [LinkKind.LEAF_SPINE, LinkKind.SPINE_CORE])
def test_a_regular_tree_is_known_until_a_link_is_lost(kind: LinkKind) -> None:
    rooms = {"rooms": [{"name": "hall", "pods": 2}]}
    fabric = fabric_of("three_tier", 70, rail_optimized=True, top=rooms)
    assert regular_tree(fabric) is not None
    lost = np.delete(fabric.links, fabric.links_of(kind)[0])
    assert regular_tree(replace(fabric, links=lost)) is None


def test_hops_over_three_tiers() -> None:
    fabric = fabric_of("three_tier", 512, rail_optimized=True)
    graph = switch_graph(fabric)
    leaves = fabric.nodes_of(NodeKind.LEAF)
    pod = fabric.nodes["pod"][leaves]
    hops = hop_counts(graph, graph.number[leaves])[graph.number[leaves]]
    same = pod[:, None] == pod[None, :]
    assert (hops[same & ~np.eye(len(leaves), dtype=bool)] == 2).all()
    assert (hops[~same] == 4).all()


def test_planes_share_a_transfer() -> None:
    fabric = fabric_of("rail_optimized", 4, switch="64x800G", nic="800G", planes=2)
    zero, one = np.zeros(1, np.int64), np.ones(1, np.int64)
    load = link_loads(fabric, zero, zero, one, zero, np.array([10.0]))
    assert load.sum() == 20.0
    assert load[server_links(fabric)[0, 0], 0].tolist() == [5.0, 5.0]
