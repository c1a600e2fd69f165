"""Loads after a fault: the time of a row's most loaded link when parts are gone, under ideal ECMP and under ideal
adaptive routing.

*ECMP*: every switch splits equally over the next hops that are left on shortest paths and knows nothing of what is
beyond them. *Adaptive*: traffic follows the bandwidth that is left, so only the bandwidth that leaves a leaf, pod or
room bounds it (a floor; in a Clos that lost one part it is reached). A GPU whose NIC is dead shares the next living
rail of its server; with rails kept, its peer changes rail with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric.all_to_all import server_exchange
from eastwest.fabric.demand import large_groups
from eastwest.fabric.faults import Cut, Fault, Stress, cuts_of, live_table, living, rate_left
from eastwest.fabric.pair_loads import hop_table, pair_loads
from eastwest.fabric.rooms import share_between
from eastwest.fabric.routing import UNREACHED, Floats, Ints, SwitchGraph, server_links, switch_graph
from eastwest.fabric.symmetry import number_values, quotient, refine
from eastwest.fabric.tables import Fabric, LinkKind, Tier
from eastwest.fabric.transfers import Where, tiers_of, transfers_of, where
from eastwest.units import BITS_PER_BYTE
from eastwest.workload.ledger import Grid, LedgerRow

NO_LINKS = np.zeros(0, np.int64)
ROUNDING = 1e-9  # bytes between two leaves below this share of the most are what subtraction left of nothing


@dataclass(frozen=True, eq=False)
class Traffic:
    """What one row sends over the network in one `per`: (n,) server and NIC of both ends, and bytes."""

    src: Ints
    src_nic: Ints
    dst: Ints
    dst_nic: Ints
    size_bytes: Floats


@dataclass(frozen=True, eq=False)
class Spread:
    """Traffic on the ground: `port_bytes` (n_links, 2) of server links, from and to the server; `size_bytes` (n_pairs,)
    between leaves `a` and `b` (nodes); `is_cut` when a transfer found no way.
    """

    port_bytes: Floats
    a: Ints
    b: Ints
    size_bytes: Floats
    is_cut: bool

    @property
    def fuller_bytes(self) -> Floats:
        """(n_links,) bytes of the fuller direction of server links."""
        return np.maximum(self.port_bytes[:, 0], self.port_bytes[:, 1])  # a reduction over two is ten times slower


@dataclass(frozen=True, slots=True)
class RowTimes:
    """Seconds of the most loaded link at line rate under ideal ECMP and under ideal adaptive routing; `is_cut` when
    some of the row's traffic has no way left.
    """

    ecmp_s: float
    adaptive_s: float
    is_cut: bool


@dataclass(frozen=True, eq=False)
class Network:
    """What all faults of one fabric share."""

    fabric: Fabric

    @cached_property
    def places(self) -> Where:
        """Server, domain, room and leaf of GPUs."""
        return where(self.fabric)

    @cached_property
    def table(self) -> Ints:
        """(n_servers, nics, links_per_nic) int64 link of each NIC port."""
        return server_links(self.fabric)

    @cached_property
    def graph(self) -> SwitchGraph:
        """Switches and boxes."""
        return switch_graph(self.fabric)

    @cached_property
    def cuts(self) -> tuple[Cut, ...]:
        """Leaves, pods and rooms, and the links that leave them."""
        return cuts_of(self.fabric)

    @cached_property
    def seed_colours(self) -> Ints:
        """(n_graph_nodes,) int64 what must stay apart: every leaf with servers; of others kind and room."""
        nodes = self.graph.nodes
        single = np.zeros(len(self.fabric.nodes), bool)
        single[self.fabric.links["b"][self.table[self.table >= 0]]] = True
        own = np.where(single[nodes], nodes, -1)
        return number_values(own, self.fabric.nodes["kind"][nodes], self.fabric.nodes["room"][nodes])


@dataclass(frozen=True, eq=False)
class After:
    """The fabric after a fault: living server links, the graph of switch classes, bandwidth that leaves each part."""

    lost: Ints
    table: Ints
    touched: NDArray[np.bool_]
    graph: SwitchGraph
    hops: Ints
    room: Ints
    cut_rates_bps: tuple[Floats, ...]
    room_rates_bps: tuple[float, ...]


def traffic_of(network: Network, grid: Grid, gpus: Ints, row: LedgerRow) -> Traffic:
    """The row's transfers between servers that have a way on the sound fabric; `gpus` (n_ranks,) is where the ranks
    sit.
    """
    places, live = network.places, network.table >= 0
    members = large_groups(network.fabric, row, grid, gpus)
    if members is not None:
        a, out, b, into, size = server_exchange(places, members, float(row.bytes_per_gpu))
        good = (live[a, out] & live[b, into]).any(axis=1)
        return Traffic(a[good], out[good], b[good], into[good], size[good])
    moves = transfers_of(row, grid, gpus, places.domain)
    wire = tiers_of(places, moves) > Tier.SCALE_UP
    src, dst = moves.src[wire], moves.dst[wire]
    out, into = places.nic_pair(src, dst)
    a, b = src // places.per_server, dst // places.per_server
    good = (live[a, out] & live[b, into]).any(axis=1) & (a != b)
    return Traffic(a[good], out[good], b[good], into[good], moves.size_bytes[wire][good])


def spread_of(network: Network, table: Ints, traffic: Traffic) -> Spread:
    """Where the traffic goes over the living server links in `table`: equally over the ports (planes, or leaves of two
    ToRs) that both ends have, port p to port p.
    """
    fabric, n_links = network.fabric, len(network.fabric.links)
    out, into = table[traffic.src, traffic.src_nic], table[traffic.dst, traffic.dst_nic]
    good = (out >= 0) & (into >= 0)
    ways = good.sum(axis=1)
    part = np.divide(traffic.size_bytes, ways, out=np.zeros(len(ways)), where=ways > 0)
    size = np.repeat(part[:, None], good.shape[1], axis=1)[good]
    ends = out[good], into[good]
    port_bytes = np.stack([np.bincount(end, size, minlength=n_links) for end in ends], axis=1).astype(np.float64)
    a, b = (fabric.links["b"][end].astype(np.int64) for end in ends)
    far = a != b
    a, b, size = merge_pairs(a[far], b[far], size[far], len(fabric.nodes))
    return Spread(port_bytes, a, b, size, bool((ways == 0).any()))


def merge_pairs(a: Ints, b: Ints, size_bytes: Floats, n_nodes: int) -> tuple[Ints, Ints, Floats]:
    """Each pair once, with all its bytes."""
    pairs, inverse = np.unique(a * n_nodes + b, return_inverse=True)
    amount = np.bincount(inverse.reshape(-1), size_bytes, minlength=len(pairs)).astype(np.float64)
    return pairs // n_nodes, pairs % n_nodes, amount


def stress_of(network: Network, spreads: list[Spread]) -> Stress:
    """How much each part carries: bytes of server links, bytes that leaves exchange, handed upward to spines and
    cores.
    """
    fabric = network.fabric
    links, nodes = np.zeros(len(fabric.links)), np.zeros(len(fabric.nodes))
    for spread in spreads:
        links += spread.fuller_bytes
        nodes += np.bincount(spread.a, spread.size_bytes, len(nodes)) + np.bincount(
            spread.b, spread.size_bytes, len(nodes)
        )
    down = fabric.links_of(LinkKind.SERVER_LEAF)
    nodes += np.bincount(fabric.links["b"][down], links[down], minlength=len(nodes))
    for kind in (LinkKind.LEAF_SPINE, LinkKind.SPINE_CORE):
        rows = fabric.links[fabric.links_of(kind)]
        nodes += np.bincount(rows["b"], nodes[rows["a"]], minlength=len(nodes))
    return Stress(nodes, links)


def after(network: Network, fault: Fault | None, sound: After | None = None) -> After:
    """The fabric after a fault, or the sound one; with `sound` given, what a fault at a server leaves as it was is not
    found again.
    """
    fabric, graph = network.fabric, network.graph
    lost = fault.links if fault else NO_LINKS
    table = live_table(network.table, lost) if len(lost) else network.table
    if sound is not None and not np.isin(graph.links, lost).any():
        return replace(sound, lost=lost, table=table, touched=(table != network.table).any(axis=(1, 2)))
    left = _graph_without(graph, fabric, lost)
    classes = refine(left, network.seed_colours)
    small = quotient(left, classes)
    room = np.zeros(len(small.nodes), np.int64)
    room[classes] = fabric.nodes["room"][graph.nodes]
    return After(
        lost=lost,
        table=table,
        touched=(table != network.table).any(axis=(1, 2)),
        graph=small,
        hops=hop_table(small),
        room=room,
        cut_rates_bps=tuple(rate_left(cut, fabric, lost) for cut in network.cuts),
        room_rates_bps=_room_rates(fabric, lost),
    )


def _graph_without(graph: SwitchGraph, fabric: Fabric, lost: Ints) -> SwitchGraph:
    """The graph with the rates of lost links taken off its edges; edges without any rate go. It has no links."""
    at = np.flatnonzero(np.isin(graph.links, lost))
    off = fabric.links["rate_bps"][graph.links[at]].astype(np.float64)
    rate = graph.rate_bps.copy()
    for edge in (graph.forward[at], graph.backward[at]):
        rate -= np.bincount(edge, off, minlength=len(rate))
    keep = rate > 0
    none, nothing = NO_LINKS, np.zeros(0)
    return SwitchGraph(graph.nodes, graph.u[keep], graph.v[keep], rate[keep], graph.number, none, none, none, nothing)


def _room_rates(fabric: Fabric, lost: Ints) -> tuple[float, ...]:
    """Bit/s of each room link: what its boxes let through, at most its living cables."""
    alive = np.ones(len(fabric.links), bool)
    alive[lost] = False
    room = fabric.nodes["room"]
    a, b = room[fabric.links["a"]], room[fabric.links["b"]]
    rates = []
    for link in fabric.room_links:
        first, second = link.rooms
        mine = ((a == first) & (b == second)) | ((a == second) & (b == first))
        living_bps = fabric.links["rate_bps"][mine & alive].sum() * share_between(fabric.room_links, link)
        rates.append(float(min(link.rate_bps, living_bps)))
    return tuple(rates)


def row_times(network: Network, state: After, traffic: Traffic, sound: Spread) -> RowTimes:
    """Times of one row after a fault; `sound` is where its traffic goes without the fault."""
    spread = _respread(network, state, traffic, sound)
    rate = network.fabric.links["rate_bps"]
    port_s = float((spread.fuller_bytes * BITS_PER_BYTE / rate).max(initial=0.0))
    small = state.graph
    a, b = small.number[spread.a], small.number[spread.b]
    is_cut = spread.is_cut or bool((state.hops[a, b] == UNREACHED).any())
    carried = pair_loads(small, state.hops, a, b, spread.size_bytes)
    room_s = _room_s(network, state, carried)
    ecmp_s = float((carried * BITS_PER_BYTE / small.rate_bps).max(initial=0.0))
    rates = zip(network.cuts, state.cut_rates_bps, strict=True)
    adaptive_s = max((_cut_s(cut, rate_bps, spread) for cut, rate_bps in rates), default=0.0)
    return RowTimes(max(port_s, ecmp_s, room_s), max(port_s, adaptive_s, room_s), is_cut)


def _respread(network: Network, state: After, traffic: Traffic, sound: Spread) -> Spread:
    """The sound spread with the transfers of touched servers moved to what is left of their ports."""
    hit = np.flatnonzero(state.touched[traffic.src] | state.touched[traffic.dst])
    if len(hit) == 0:
        return sound
    old = Traffic(*(getattr(traffic, name)[hit] for name in ("src", "src_nic", "dst", "dst_nic", "size_bytes")))
    new, moved = _moved_to_living_nics(state.table, old), spread_of(network, network.table, old)
    fresh = spread_of(network, state.table, new)
    a, b = (np.concatenate([getattr(part, side) for part in (sound, moved, fresh)]) for side in "ab")
    size = np.concatenate([sound.size_bytes, -moved.size_bytes, fresh.size_bytes])
    a, b, size = merge_pairs(a, b, size, len(network.fabric.nodes))
    left = size > ROUNDING * size.max(initial=0.0)
    ports = np.maximum(0.0, sound.port_bytes - moved.port_bytes + fresh.port_bytes)
    return Spread(ports, a[left], b[left], size[left], fresh.is_cut)


def _moved_to_living_nics(table: Ints, traffic: Traffic) -> Traffic:
    """The same transfers on NICs that live: equal rails move together to the next one alive at both ends, else each
    dead end for itself. Where none lives the NIC stays and the transfer is cut.
    """
    live = living(table)
    n_nics = live.shape[1]
    same: NDArray[np.bool_] = np.equal(traffic.src_nic, traffic.dst_nic)
    out = _next_living(live[traffic.src] & (live[traffic.dst] | ~same[:, None]), traffic.src_nic, n_nics)
    into = np.where(same, out, _next_living(live[traffic.dst], traffic.dst_nic, n_nics))
    return Traffic(traffic.src, out, traffic.dst, into, traffic.size_bytes)


def _next_living(live: NDArray[np.bool_], nic: Ints, n_nics: int) -> Ints:
    """(n,) int64 `nic` or the next one that lives, in turn; `live` (n, n_nics)."""
    turn = (nic[:, None] + np.arange(n_nics)) % n_nics
    first = np.take_along_axis(live, turn, axis=1).argmax(axis=1)
    found: Ints = np.take_along_axis(turn, first[:, None], axis=1)[:, 0].astype(np.int64)
    return found


def _cut_s(cut: Cut, rate_bps: Floats, spread: Spread) -> float:
    """Seconds that the bandwidth leaving the fullest part needs; parts that nothing leaves any more are not counted
    (their traffic is cut).
    """
    a, b = cut.part[spread.a], cut.part[spread.b]
    far: NDArray[np.bool_] = np.not_equal(a, b)
    n = len(rate_bps)
    load = np.maximum(*(np.bincount(end[far], spread.size_bytes[far], minlength=n) for end in (a, b)))
    seconds = np.divide(load * BITS_PER_BYTE, rate_bps, out=np.zeros(n), where=rate_bps > 0)
    return float(seconds.max(initial=0.0))


def _room_s(network: Network, state: After, carried: Floats) -> float:
    """Seconds of the fullest room link, boxes included."""
    small, slowest_s = state.graph, 0.0
    for link, rate_bps in zip(network.fabric.room_links, state.room_rates_bps, strict=True):
        for first, second in (link.rooms, link.rooms[::-1]):
            mine = (state.room[small.u] == first) & (state.room[small.v] == second)
            if rate_bps > 0:
                size_bytes = float(carried[mine].sum()) * share_between(network.fabric.room_links, link)
                slowest_s = max(slowest_s, size_bytes * BITS_PER_BYTE / rate_bps)
    return slowest_s
