"""Faults against a naive oracle (links pulled out, every path walked in plain Python), closed forms and properties."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eastwest.fabric.bottleneck import bottleneck
from eastwest.fabric.fault_loads import Network, Traffic, after, row_times, spread_of, stress_of, traffic_of
from eastwest.fabric.faults import FaultKind, cuts_of, faults_of, loss_of, switch_classes, without
from eastwest.fabric.pair_loads import hop_table, pair_loads
from eastwest.fabric.routing import edge_loads, hop_counts, server_links, switch_graph
from eastwest.fabric.symmetry import quotient, refine
from eastwest.fabric.tables import LinkKind, NodeKind
from eastwest.workload.ledger import Grid
from tests.fabric.sites import fabric_of, row, two_rooms

BITS = 8
SMALL = {
    "leaf-spine": lambda: fabric_of("leaf_spine", 6, switch="8x400G", nics=2),
    "pairs": lambda: fabric_of("leaf_spine", 4, switch="16x400G", nics=4),
    "uneven": lambda: fabric_of("leaf_spine", 7, switch="16x400G", nics=4, oversubscription="2:1"),
    "rails": lambda: fabric_of("rail_optimized", 8, switch="8x400G", nics=2),
    "planes": lambda: fabric_of("dual_plane", 8, switch="8x400G", nics=2),
    "pods": lambda: fabric_of("three_tier", 16, switch="8x400G", nics=1),
    "rooms": lambda: two_rooms(4, links=4, switch="16x400G", nics=4),
    "one-spine": lambda: fabric_of("leaf_spine", 4, switch="32x400G", nics=4),
}


def naive_loads(fabric, traffic):
    """Bytes of each link and direction, and whether something is stuck: every transfer walked hop by hop, each hop
    split equally over its links on shortest paths.
    """
    loads, stuck, table = np.zeros((len(fabric.links), 2)), False, server_links(fabric)
    hops = _hops(fabric)
    for src, out, dst, into, size in zip(
        traffic.src, traffic.src_nic, traffic.dst, traffic.dst_nic, traffic.size_bytes, strict=True
    ):
        ways = [p for p in range(table.shape[2]) if table[src, out, p] >= 0 and table[dst, into, p] >= 0]
        stuck |= not ways
        for port in ways:
            first, last = table[src, out, port], table[dst, into, port]
            loads[first, 0] += size / len(ways)
            loads[last, 1] += size / len(ways)
            a, b = int(fabric.links["b"][first]), int(fabric.links["b"][last])
            stuck |= _walk(fabric, hops, a, b, size / len(ways), loads)
    return loads, stuck


def _hops(fabric):
    """Node -> [(link, direction, next node)] over switches."""
    found = {}
    for i, link in enumerate(fabric.links):
        if link["kind"] in (LinkKind.LEAF_SPINE, LinkKind.SPINE_CORE, LinkKind.ROOM):
            a, b = int(link["a"]), int(link["b"])
            found.setdefault(a, []).append((i, 0, b))
            found.setdefault(b, []).append((i, 1, a))
    return found


def _walk(fabric, hops, a, b, size, loads):
    distance, queue = {b: 0}, [b]
    for node in queue:
        for _, _, n in hops.get(node, []):
            if n not in distance:
                distance[n] = distance[node] + 1
                queue.append(n)
    if a not in distance:
        return True
    flow = {a: size}
    while flow:
        node = max(flow, key=lambda n: distance[n])
        amount = flow.pop(node)
        if node == b:
            continue
        nearer = [hop for hop in hops[node] if distance.get(hop[2], 99) == distance[node] - 1]
        total = sum(int(fabric.links["rate_bps"][link]) for link, _, _ in nearer)
        for link, way, n in nearer:
            part = amount * int(fabric.links["rate_bps"][link]) / total
            loads[link, way] += part
            flow[n] = flow.get(n, 0.0) + part
    return False


def everybody(fabric, seed=1, n=60):
    """Random transfers between NICs of different servers, rails kept."""
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, fabric.n_servers, (2, n))
    dst = np.where(src == dst, (dst + 1) % fabric.n_servers, dst)
    nic = rng.integers(0, fabric.nics_per_server, n)
    return Traffic(src, nic, dst, nic, rng.integers(1, 100, n).astype(float))


def evaluate(fabric, fault, traffic, network=None):
    network = network or Network(fabric)
    return row_times(network, after(network, fault), traffic, spread_of(network, network.table, traffic))


@pytest.mark.parametrize("name", SMALL)
def test_the_sound_fabric_is_walked_as_the_oracle_walks_it(name):
    fabric = SMALL[name]()
    traffic = everybody(fabric)
    loads, stuck = naive_loads(fabric, traffic)
    times = evaluate(fabric, None, traffic)
    assert not times.is_cut
    assert not stuck
    assert times.ecmp_s == pytest.approx((loads.max(axis=1) * BITS / fabric.links["rate_bps"]).max(), rel=1e-9)


@pytest.mark.parametrize("name", SMALL)
def test_every_fault_above_the_servers_costs_what_the_oracle_finds(name):
    fabric = SMALL[name]()
    traffic, network = everybody(fabric), Network(fabric)
    kinds = set()
    for fault in faults_of(fabric, stress_of(network, [spread_of(network, network.table, traffic)])):
        if loss_of(fabric, fault, network.cuts, network.table).nics:
            continue  # a GPU without its NIC moves to another one; the oracle does not
        kinds.add(fault.kind)
        left = without(fabric, fault.links)
        loads, stuck = naive_loads(left, traffic)
        times = evaluate(fabric, fault, traffic, network)
        assert times.is_cut == stuck, fault.subject
        if not stuck:
            expected = (loads.max(axis=1) * BITS / left.links["rate_bps"]).max()
            assert times.ecmp_s == pytest.approx(expected, rel=1e-9), fault.subject
            assert times.adaptive_s <= times.ecmp_s * (1 + 1e-9)
    assert FaultKind.LEAF_SPINE_LINK in kinds


@pytest.mark.parametrize("name", SMALL)
def test_all_members_of_a_class_cost_the_same_under_uniform_traffic(name):
    fabric = SMALL[name]()
    n, nics = fabric.n_servers, fabric.nics_per_server
    src, dst, nic = (grid.ravel() for grid in np.meshgrid(np.arange(n), np.arange(n), np.arange(nics)))
    apart = src != dst
    traffic = Traffic(src[apart], nic[apart], dst[apart], nic[apart], np.ones(apart.sum()))
    network, classes = Network(fabric), switch_classes(fabric)
    spines = fabric.nodes_of(NodeKind.SPINE)
    by_class = {}
    for fault in (f for f in faults_of(fabric) if f.kind == FaultKind.SPINE):
        for spine in spines[classes[spines] == classes[fabric.index[fault.subject]]]:
            links = np.flatnonzero((fabric.links["a"] == spine) | (fabric.links["b"] == spine))
            other = type(fault)(fault.kind, fabric.names[spine], links, fault.alike, fault.population)
            by_class.setdefault(fault.subject, []).append(evaluate(fabric, other, traffic, network))
    for subject, times in by_class.items():
        cut = {time.is_cut for time in times}
        assert len(cut) == 1, subject
        if cut == {False}:
            assert np.ptp([time.ecmp_s for time in times]) <= 1e-9 * times[0].ecmp_s, subject


@pytest.mark.parametrize("name", SMALL)
def test_classes_count_every_part_once(name):
    fabric = SMALL[name]()
    sizes = {}
    for fault in faults_of(fabric):
        sizes.setdefault(fault.kind, []).append((fault.alike, fault.population))
    assert all(sum(alike for alike, _ in rows) == rows[0][1] for rows in sizes.values())
    fabric_counts = {FaultKind.LEAF: NodeKind.LEAF, FaultKind.SPINE: NodeKind.SPINE}
    assert all(sizes[kind][0][1] == fabric.nodes_of(node).size for kind, node in fabric_counts.items())
    assert sizes[FaultKind.NIC][0][1] == fabric.n_servers * fabric.nics_per_server


def test_a_lost_spine_of_n_leaves_the_share_of_the_others():
    fabric = fabric_of("rail_optimized", 64)  # 16 leaves with 32 uplinks over 8 spines, 4 links a pair
    network = Network(fabric)
    across = Traffic(*np.array([[0], [0], [32], [0]]), np.array([1e9]))
    sound = evaluate(fabric, None, across, network)
    spine = next(f for f in faults_of(fabric) if f.kind == FaultKind.SPINE)
    assert spine.alike == spine.population == 8
    assert loss_of(fabric, spine, network.cuts, network.table).remaining_ratio == 7 / 8
    loads, _ = naive_loads(fabric, across)
    up_s = loads[fabric.links_of(LinkKind.LEAF_SPINE)].max() * BITS / 400e9
    assert up_s == pytest.approx(1e9 / 32 * BITS / 400e9)
    assert evaluate(fabric, spine, across, network).ecmp_s == sound.ecmp_s  # one NIC does not fill 28 uplinks


@pytest.mark.parametrize(("servers", "per_pair"), [(64, 4), (128, 2), (256, 1)])
def test_a_lost_cable_of_a_pair_concentrates_plain_ecmp(servers, per_pair):
    """Under ECMP the k - 1 cables that are left carry what k carried; with k = 1 routing withdraws the spine and 32/31
    remain; traffic that follows bandwidth needs 32/31 in every case.
    """
    fabric = fabric_of("rail_optimized", servers)
    assert fabric.facts["links_per_leaf_spine_pair"] == per_pair
    network = Network(fabric)
    src = np.arange(32, 64)  # one NIC each of the second unit, all to rail 0 of the first: its leaf is full
    zero = np.zeros(32, np.int64)
    traffic = Traffic(src, zero, src - 32, zero, np.full(32, 1e9))
    sound = evaluate(fabric, None, traffic, network)
    stress = stress_of(network, [spread_of(network, network.table, traffic)])
    link = next(f for f in faults_of(fabric, stress) if f.kind == FaultKind.LEAF_SPINE_LINK)
    times = evaluate(fabric, link, traffic, network)
    expected = per_pair / (per_pair - 1) if per_pair > 1 else 32 / 31
    assert times.ecmp_s / sound.ecmp_s == pytest.approx(expected)
    assert times.adaptive_s / sound.adaptive_s == pytest.approx(32 / 31)


def test_a_dead_nic_shares_its_neighbour_and_its_peer_follows():
    fabric = fabric_of("rail_optimized", 8)
    network = Network(fabric)
    rails = np.arange(8)
    ring = Traffic(np.zeros(8, np.int64), rails, np.ones(8, np.int64), rails, np.full(8, 1e9))
    nic = next(f for f in faults_of(fabric) if f.kind == FaultKind.NIC)
    sound, times = evaluate(fabric, None, ring, network), evaluate(fabric, nic, ring, network)
    assert not times.is_cut
    assert times.ecmp_s / sound.ecmp_s == pytest.approx(2)
    loss = loss_of(fabric, nic, network.cuts, network.table)
    assert (loss.nics, loss.gpus, loss.servers_touched, loss.servers_cut, loss.remaining_ratio) == (1, 1, 1, 0, 7 / 8)


def test_a_leaf_takes_whole_servers_or_one_rail_of_each():
    losses = {}
    for family in ("leaf_spine", "rail_optimized"):
        fabric = fabric_of(family, 32)
        leaf = next(f for f in faults_of(fabric) if f.kind == FaultKind.LEAF)
        losses[family] = loss_of(fabric, leaf, cuts_of(fabric), server_links(fabric))
    whole, rail = losses["leaf_spine"], losses["rail_optimized"]
    assert (whole.gpus, whole.servers_cut) == (32, 4)
    assert (rail.gpus, rail.servers_cut, rail.servers_touched) == (32, 0, 32)


def test_a_plane_leaves_every_nic_its_other_port():
    fabric = fabric_of("dual_plane", 8, switch="8x400G", nics=2)
    network = Network(fabric)
    plane = next(f for f in faults_of(fabric) if f.kind == FaultKind.PLANE)
    loss = loss_of(fabric, plane, network.cuts, network.table)
    assert (loss.nics, loss.gpus, loss.ports, loss.remaining_ratio) == (0, 0, 16, 0.5)
    traffic = everybody(fabric)
    sound, times = evaluate(fabric, None, traffic, network), evaluate(fabric, plane, traffic, network)
    assert not times.is_cut
    assert times.ecmp_s == pytest.approx(2 * sound.ecmp_s)


def test_all_cables_between_two_rooms_cut_them_apart_and_one_does_not():
    fabric = two_rooms(8, links=8)
    network = Network(fabric)
    across = Traffic(np.arange(4), np.zeros(4, np.int64), np.arange(4, 8), np.zeros(4, np.int64), np.full(4, 1e9))
    faults = {f.kind: f for f in faults_of(fabric)}
    assert evaluate(fabric, faults[FaultKind.ROOM_PATH], across, network).is_cut
    one = evaluate(fabric, faults[FaultKind.ROOM_LINK], across, network)
    assert not one.is_cut
    assert faults[FaultKind.ROOM_LINK].alike == 8
    loss = loss_of(fabric, faults[FaultKind.ROOM_LINK], network.cuts, network.table)
    assert loss.remaining_ratio == pytest.approx(7 / 8)


@pytest.mark.parametrize("name", SMALL)
def test_the_graph_of_classes_carries_the_loads_of_the_whole(name):
    """Refinement keeps leaves apart; every link's load over rate is then that of its class."""
    fabric = SMALL[name]()
    graph, network = switch_graph(fabric), Network(fabric)
    classes = refine(graph, network.seed_colours)
    small = quotient(graph, classes)
    assert small.rate_bps.sum() == pytest.approx(graph.rate_bps.sum())
    into = {}
    for u, v, rate in zip(graph.u, graph.v, graph.rate_bps, strict=True):
        into.setdefault(u, {}).setdefault(classes[v], 0.0)
        into[u][classes[v]] += rate
    for members in (np.flatnonzero(classes == c) for c in range(classes.max() + 1)):
        assert all(into.get(int(m)) == into.get(int(members[0])) for m in members)


@pytest.mark.parametrize("name", SMALL)
def test_hops_and_pair_loads_are_those_of_routing(name):
    fabric = SMALL[name]()
    graph = switch_graph(fabric)
    n = len(graph.nodes)
    hops = hop_table(graph)
    assert (hops == hop_counts(graph, np.arange(n))).all()
    rng = np.random.default_rng(3)
    src, dst = rng.integers(0, n, (2, 200))
    size = rng.integers(1, 9, 200).astype(float)
    assert pair_loads(graph, hops, src, dst, size) == pytest.approx(edge_loads(graph, src, dst, size), rel=1e-9)


def test_bottleneck_of_a_row_is_that_of_the_sound_fabric():
    fabric = fabric_of("rail_optimized", 64)
    grid, gpus = Grid(dp=512), np.arange(512)
    ring, pairs = row("dp", 512, "all_reduce", 10**9), row("dp", 512, "all_to_all", 10**9)
    network = Network(fabric)
    for one in (ring, pairs):
        times = evaluate(fabric, None, traffic_of(network, grid, gpus, one), network)
        assert times.ecmp_s == pytest.approx(bottleneck(fabric, grid, gpus, one).network_s, rel=1e-9)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    family=st.sampled_from(["leaf_spine", "rail_optimized", "dual_plane"]),
    servers=st.integers(2, 24),
    nics=st.sampled_from([2, 4]),
    ratio=st.sampled_from(["1:1", "2:1"]),
    seed=st.integers(0, 1000),
)
def test_what_is_left_bounds_the_time_and_a_loss_never_helps(family, servers, nics, ratio, seed):
    fabric = fabric_of(family, servers, switch="32x400G", nics=nics, oversubscription=ratio)
    network, traffic = Network(fabric), everybody(fabric, seed)
    sound = evaluate(fabric, None, traffic, network)
    for fault in faults_of(fabric):
        loss = loss_of(fabric, fault, network.cuts, network.table)
        times = evaluate(fabric, fault, traffic, network)
        assert 0 <= loss.remaining_ratio <= 1
        if times.is_cut:
            continue
        assert sound.adaptive_s * (1 - 1e-9) <= times.adaptive_s <= times.ecmp_s * (1 + 1e-9)
        if not loss.ports and loss.remaining_ratio:
            assert times.adaptive_s <= sound.adaptive_s / loss.remaining_ratio * (1 + 1e-9)
