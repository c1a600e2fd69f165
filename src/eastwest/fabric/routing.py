"""Routes: shortest paths over switches, next-hop groups, and the load of every link when each hop splits equally over
its next hops (ideal ECMP).

Ideal means by the byte, not by the flow: real hashing collides; `simulate ecmp` says by how much.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric.even_split import even_loads
from eastwest.fabric.tables import Fabric, LinkKind, NodeKind

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
UNREACHED = 1 << 30
DESTINATIONS_AT_ONCE = 256  # leaves solved together, at most
ENTRIES_AT_ONCE = 4_000_000  # edges x destinations solved together: bounds memory at 32 MB an array of float64
REMEMBERED = 2  # fabrics whose graph and tables are kept: the one at work, and one to compare it with


@dataclass(frozen=True, eq=False)
class Crossing:
    """What crosses the fabric: bytes out of and into each NIC, split over its links, and between leaves.

    `out_bytes`, `in_bytes` (n_links,) of server links; `src_leaf`, `dst_leaf` (n,) fabric nodes with `size_bytes` (n,)
    between them, each pair inside one plane.
    """

    out_bytes: Floats
    in_bytes: Floats
    src_leaf: Ints
    dst_leaf: Ints
    size_bytes: Floats


@dataclass(frozen=True, eq=False)
class SwitchGraph:
    """Switches and boxes as a directed graph: one edge for all parallel links of a pair and direction.

    `nodes` (n,) fabric nodes; `u`, `v` (n_edges,) indices into `nodes`, sorted by `u`; `rate_bps` (n_edges,) of all
    links together; `number` (n_nodes of the fabric,) index into `nodes` or -1; `links` links between switches, each
    with `forward` and `backward` (n,) its two edges and `share` of its edge.
    """

    nodes: Ints
    u: Ints
    v: Ints
    rate_bps: Floats
    number: Ints
    links: Ints
    forward: Ints
    backward: Ints
    share: Floats


@lru_cache(maxsize=REMEMBERED)
def switch_graph(fabric: Fabric) -> SwitchGraph:
    """The graph of everything between the server links; drawn once for a fabric."""
    hosts = (LinkKind.SERVER_LEAF, LinkKind.DIRECT)
    links = np.flatnonzero(~np.isin(fabric.links["kind"], hosts)).astype(np.int64)
    is_host = np.isin(fabric.nodes["kind"], [NodeKind.SERVER, NodeKind.CONTROLLER])
    nodes = np.flatnonzero(~is_host).astype(np.int64)
    number = np.full(len(fabric.nodes), -1, np.int64)
    number[nodes] = np.arange(len(nodes))
    a, b = number[fabric.links["a"][links]], number[fabric.links["b"][links]]
    rate = fabric.links["rate_bps"][links].astype(np.float64)
    key = np.concatenate([a * len(nodes) + b, b * len(nodes) + a])
    edges, inverse = np.unique(key, return_inverse=True)
    inverse = inverse.reshape(-1)
    total = np.bincount(inverse, np.tile(rate, 2), minlength=len(edges)).astype(np.float64)
    forward, backward = inverse[: len(links)], inverse[len(links) :]
    n = max(1, len(nodes))
    return SwitchGraph(
        nodes,
        edges // n,
        edges % n,
        total,
        number,
        links,
        forward,
        backward,
        rate / total[forward] if len(links) else rate,
    )


def hop_counts(graph: SwitchGraph, destinations: Ints) -> Ints:
    """(n, n_destinations) int64 switch-to-switch links on a shortest path; UNREACHED when there is none."""
    distance = np.full((len(graph.nodes), len(destinations)), UNREACHED, np.int64)
    distance[destinations, np.arange(len(destinations))] = 0
    starts = _starts(graph.u)
    froms = graph.u[starts]
    for hop in range(1, len(graph.nodes) + 1):
        near = (distance == hop - 1)[graph.v]
        reached = (
            np.logical_or.reduceat(near, starts, axis=0) if len(starts) else np.zeros((0, len(destinations)), bool)
        )
        fresh = reached & (distance[froms] == UNREACHED)
        if not fresh.any():
            break
        rows, columns = np.nonzero(fresh)
        distance[froms[rows], columns] = hop
    return distance


def _starts(sorted_ids: Ints) -> Ints:
    """First index of each run of equal values."""
    return np.flatnonzero(np.r_[True, sorted_ids[1:] != sorted_ids[:-1]]) if len(sorted_ids) else np.zeros(0, np.int64)


@lru_cache(maxsize=REMEMBERED)
def server_links(fabric: Fabric) -> Ints:
    """(n_servers, nics, links_per_nic) int64 link of each NIC port to its leaf; -1 where there is none."""
    table = np.full((fabric.n_servers, fabric.nics_per_server, fabric.links_per_nic), -1, np.int64)
    is_down = (fabric.links["kind"] == LinkKind.SERVER_LEAF) & (
        fabric.nodes["kind"][fabric.links["a"]] == NodeKind.SERVER
    )
    links = np.flatnonzero(is_down)
    number = np.full(len(fabric.nodes), -1, np.int64)
    number[fabric.nodes_of(NodeKind.SERVER)] = np.arange(fabric.n_servers)
    rows = fabric.links[links]
    server, nic = number[rows["a"]], rows["rail"].astype(np.int64)
    if fabric.plane_by == "port" and fabric.planes > 1:
        port = rows["plane"].astype(np.int64)
    else:
        order = np.lexsort((links, nic, server))
        starts = _starts((server * fabric.nics_per_server + nic)[order])
        port = np.empty(len(links), np.int64)
        port[order] = np.arange(len(links)) - np.repeat(starts, np.diff(np.r_[starts, len(links)]))
    table[server, nic, port] = links
    return table


def unreachable_servers(fabric: Fabric) -> Ints:
    """Servers that the first server cannot reach over any of its NICs, switches and boxes."""
    part = components(len(fabric.nodes), fabric.links["a"], fabric.links["b"])
    servers = fabric.nodes_of(NodeKind.SERVER)
    return servers[part[servers] != part[servers[0]]] if len(servers) else servers


def components(n: int, a: NDArray[np.integer], b: NDArray[np.integer]) -> Ints:
    """(n,) int64 number from 0 of the connected part of each of `n` nodes joined by edges `a`, `b`."""
    label = np.arange(n, dtype=np.int64)
    while True:
        before = label.copy()
        low = np.minimum(label[a], label[b])
        np.minimum.at(label, a, low)
        np.minimum.at(label, b, low)
        label = label[label]
        if np.array_equal(before, label):
            break
    _, number = np.unique(label, return_inverse=True)
    found: Ints = number.reshape(-1).astype(np.int64)
    return found


def ecmp_groups(fabric: Fabric) -> Ints:
    """(n_leaves,) int64 equal-cost next-hop links of each leaf towards another leaf of its room."""
    up = fabric.links[fabric.links_of(LinkKind.LEAF_SPINE)]
    counts = np.bincount(up["a"], minlength=len(fabric.nodes))
    found: Ints = counts[fabric.nodes_of(NodeKind.LEAF)].astype(np.int64)
    return found


def link_loads(
    fabric: Fabric,
    src: Ints,
    src_nic: Ints,
    dst: Ints,
    dst_nic: Ints,
    size_bytes: Floats,
    graph: SwitchGraph | None = None,
) -> Floats:
    """(n_links, 2) float64 bytes of each link, a to b and b to a, for transfers between NICs of servers.

    `src`, `dst` (n,) server numbers, `src_nic`, `dst_nic` (n,) NIC indices, `size_bytes` (n,); `graph` is drawn when
    not given. A transfer is split equally over the ports of a NIC, port p to port p, or over the cables between two
    servers that are cabled directly. Transfers inside one server, or whose NIC has no link, load nothing.
    """
    if fabric.tiers == 0:
        return _direct_loads(fabric, src, dst, size_bytes)
    return crossing_loads(fabric, crossing_of(fabric, src, src_nic, dst, dst_nic, size_bytes), graph)


def crossing_of(fabric: Fabric, src: Ints, src_nic: Ints, dst: Ints, dst_nic: Ints, size_bytes: Floats) -> Crossing:
    """What transfers between NICs of servers ask of server links and leaves; arguments as in `link_loads`."""
    table, n = server_links(fabric), len(fabric.links)
    sums = np.zeros((2, n))
    ends = []
    for port in range(fabric.links_per_nic):
        out, into = table[src, src_nic, port], table[dst, dst_nic, port]
        good = (out >= 0) & (into >= 0) & (src != dst)
        part = size_bytes[good] / fabric.links_per_nic
        sums[0] += np.bincount(out[good], part, minlength=n)
        sums[1] += np.bincount(into[good], part, minlength=n)
        ends.append((fabric.links["b"][out[good]], fabric.links["b"][into[good]], part))
    src_leaf, dst_leaf, part = (np.concatenate(column) for column in zip(*ends, strict=True))
    return Crossing(sums[0], sums[1], src_leaf.astype(np.int64), dst_leaf.astype(np.int64), part)


def crossing_loads(fabric: Fabric, crossing: Crossing, graph: SwitchGraph | None = None) -> Floats:
    """(n_links, 2) float64 bytes of each link, a to b and b to a.

    A regular Clos splits evenly, in closed form; anything else, and what crosses rooms, is walked hop by hop on the
    graph. With a `graph` given it is always walked.
    """
    loads = np.stack([crossing.out_bytes, crossing.in_bytes], axis=1)
    pairs = crossing.src_leaf, crossing.dst_leaf, crossing.size_bytes
    even = even_loads(fabric, *pairs) if graph is None else None
    if even is not None:
        return loads + even
    _add_switch_loads(graph or switch_graph(fabric), *pairs, loads)
    return loads


def _direct_loads(fabric: Fabric, src: Ints, dst: Ints, size_bytes: Floats) -> Floats:
    """Loads of cables from server to server: each pair's bytes equally over its cables."""
    links, n = fabric.links, fabric.n_servers
    key = links["a"].astype(np.int64) * n + links["b"]
    count = np.bincount(key, minlength=n * n)
    there = np.bincount(src * n + dst, size_bytes, minlength=n * n)
    back = np.bincount(dst * n + src, size_bytes, minlength=n * n)
    found: Floats = np.stack([there[key] / count[key], back[key] / count[key]], axis=1)
    return found


def _add_switch_loads(graph: SwitchGraph, src_leaf: Ints, dst_leaf: Ints, size_bytes: Floats, loads: Floats) -> None:
    """Adds the bytes between leaves to the links between switches."""
    edge_bytes = edge_loads(graph, graph.number[src_leaf], graph.number[dst_leaf], size_bytes)
    loads[graph.links, 0] += edge_bytes[graph.forward] * graph.share
    loads[graph.links, 1] += edge_bytes[graph.backward] * graph.share


def edge_loads(graph: SwitchGraph, src: Ints, dst: Ints, size_bytes: Floats) -> Floats:
    """(n_edges,) float64 bytes of each edge for transfers between nodes of the graph; what cannot arrive loads
    nothing beyond where it gets stuck.
    """
    edge_bytes = np.zeros(len(graph.u))
    far = src != dst
    if not far.any():
        return edge_bytes
    n = len(graph.nodes)
    pairs, inverse = np.unique(src[far] * n + dst[far], return_inverse=True)
    amount = np.bincount(inverse.reshape(-1), size_bytes[far])
    a, b = pairs // n, pairs % n
    targets = np.unique(b)
    step = max(1, min(DESTINATIONS_AT_ONCE, ENTRIES_AT_ONCE // max(1, len(graph.u))))
    for first in range(0, len(targets), step):
        chunk = targets[first : first + step]
        mine = np.isin(b, chunk)
        flow = np.zeros((n, len(chunk)))
        flow[a[mine], np.searchsorted(chunk, b[mine])] = amount[mine]
        edge_bytes += _push(graph, flow, hop_counts(graph, chunk))
    return edge_bytes


def _push(graph: SwitchGraph, flow: Floats, distance: Ints) -> Floats:
    """(n_edges,) bytes of each edge when `flow` (n, n_destinations) moves to its destinations, farthest first, split
    by rate at every hop.
    """
    carried = np.zeros(len(graph.u))
    reached = distance < UNREACHED
    for hop in range(int(distance[reached & (flow > 0)].max(initial=0)), 0, -1):
        edge = np.flatnonzero(((distance == hop) & (flow > 0)).any(axis=1)[graph.u])
        u, v = graph.u[edge], graph.v[edge]
        weight = ((distance[u] == hop) & (distance[v] == hop - 1)) * graph.rate_bps[edge, None]
        starts = _starts(u)
        total = np.repeat(np.add.reduceat(weight, starts, axis=0), np.diff(np.r_[starts, len(u)]), axis=0)
        moved = flow[u] * np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
        carried[edge] += moved.sum(axis=1)
        order = np.argsort(v, kind="stable")
        heads = _starts(v[order])
        flow[v[order][heads]] += np.add.reduceat(moved[order], heads, axis=0)
    return carried
