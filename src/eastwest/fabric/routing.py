"""Routes: shortest paths over switches, next-hop groups, and the load of every link when each hop splits equally over
its next hops (ideal ECMP).

Ideal means by the byte, not by the flow: real hashing collides; `simulate ecmp` says by how much.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric.tables import Fabric, LinkKind, NodeKind

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
UNREACHED = 1 << 30
DESTINATIONS_AT_ONCE = 256  # leaves solved together: bounds memory at edges x 256 float64


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


def switch_graph(fabric: Fabric) -> SwitchGraph:
    """The graph of everything between the server links."""
    links = np.flatnonzero(fabric.links["kind"] != LinkKind.SERVER_LEAF).astype(np.int64)
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


def server_links(fabric: Fabric) -> Ints:
    """(n_servers, nics, planes) int64 link of each NIC port; -1 where no port was left for it."""
    table = np.full((fabric.n_servers, fabric.nics_per_server, fabric.planes), -1, np.int64)
    links = np.flatnonzero(fabric.nodes["kind"][fabric.links["a"]] == NodeKind.SERVER)
    number = np.full(len(fabric.nodes), -1, np.int64)
    number[fabric.nodes_of(NodeKind.SERVER)] = np.arange(fabric.n_servers)
    rows = fabric.links[links]
    table[number[rows["a"]], rows["rail"], rows["plane"]] = links
    return table


def unreachable_servers(fabric: Fabric) -> Ints:
    """Servers that the first server cannot reach over any of its NICs, switches and boxes."""
    label = np.arange(len(fabric.nodes))
    a, b = fabric.links["a"], fabric.links["b"]
    while True:
        before = label.copy()
        low = np.minimum(label[a], label[b])
        np.minimum.at(label, a, low)
        np.minimum.at(label, b, low)
        label = label[label]
        if np.array_equal(before, label):
            break
    servers = fabric.nodes_of(NodeKind.SERVER)
    return servers[label[servers] != label[servers[0]]] if len(servers) else servers


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

    `src`, `dst` (n,) server numbers, `src_nic`, `dst_nic` (n,) NIC indices, `size_bytes` (n,); `graph` saves drawing it
    anew. A transfer is split equally over the planes. Transfers inside one server, or whose NIC has no link, load
    nothing.
    """
    graph = graph or switch_graph(fabric)
    table = server_links(fabric)
    loads = np.zeros((len(fabric.links), 2))
    for plane in range(fabric.planes):
        out, into = table[src, src_nic, plane], table[dst, dst_nic, plane]
        good = (out >= 0) & (into >= 0) & (src != dst)
        part = size_bytes[good] / fabric.planes
        loads[:, 0] += np.bincount(out[good], part, minlength=len(loads))
        loads[:, 1] += np.bincount(into[good], part, minlength=len(loads))
        _add_switch_loads(graph, fabric.links["b"][out[good]], fabric.links["b"][into[good]], part, loads)
    return loads


def _add_switch_loads(graph: SwitchGraph, src_leaf: Ints, dst_leaf: Ints, size_bytes: Floats, loads: Floats) -> None:
    """Adds the bytes between leaves to the links between switches."""
    a, b = graph.number[src_leaf], graph.number[dst_leaf]
    far = a != b
    if not far.any():
        return
    n = len(graph.nodes)
    pairs, inverse = np.unique(a[far] * n + b[far], return_inverse=True)
    amount = np.bincount(inverse.reshape(-1), size_bytes[far])
    a, b = pairs // n, pairs % n
    targets = np.unique(b)
    edge_bytes = np.zeros(len(graph.u))
    for first in range(0, len(targets), DESTINATIONS_AT_ONCE):
        chunk = targets[first : first + DESTINATIONS_AT_ONCE]
        mine = np.isin(b, chunk)
        flow = np.zeros((n, len(chunk)))
        flow[a[mine], np.searchsorted(chunk, b[mine])] = amount[mine]
        edge_bytes += _push(graph, flow, hop_counts(graph, chunk))
    loads[graph.links, 0] += edge_bytes[graph.forward] * graph.share
    loads[graph.links, 1] += edge_bytes[graph.backward] * graph.share


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
