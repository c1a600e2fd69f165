"""Loads of a small graph, pair by pair: the walk of `routing.edge_loads` for graphs of few edges a node and many rows
of traffic, with the hop counts found once for all rows.
"""

from __future__ import annotations

import numpy as np

from eastwest.fabric.routing import DESTINATIONS_AT_ONCE, UNREACHED, Floats, Ints, SwitchGraph, hop_counts
from eastwest.fabric.symmetry import quotient, twins


def hop_table(graph: SwitchGraph) -> Ints:
    """(n, n) int64 hops from each node to each other; UNREACHED where there is no way.

    Nodes with the same neighbours are two hops from each other and equally far from all others, so that one of them is
    walked for all.
    """
    if len(graph.nodes) == 0:
        return np.zeros((0, 0), np.int64)
    twin = twins(graph)
    few = quotient(graph, twin)
    n = len(few.nodes)
    chunks = [np.arange(first, min(n, first + DESTINATIONS_AT_ONCE)) for first in range(0, n, DESTINATIONS_AT_ONCE)]
    between = np.concatenate([hop_counts(few, chunk) for chunk in chunks], axis=1)
    joined = np.isin(np.arange(len(graph.nodes)), graph.u)
    own = np.full(n, UNREACHED, np.int64)
    own[twin[joined]] = 2
    between[np.arange(n), np.arange(n)] = own
    hops: Ints = between[np.ix_(twin, twin)]
    np.fill_diagonal(hops, 0)
    return hops


def pair_loads(graph: SwitchGraph, hops: Ints, src: Ints, dst: Ints, size_bytes: Floats) -> Floats:
    """(n_edges,) float64 bytes of each edge when pairs of nodes send along shortest paths, split by rate at every hop;
    `hops` is the graph's `hop_table`. Pairs without a way load nothing.
    """
    n, carried = len(graph.nodes), np.zeros(len(graph.u))
    first = np.searchsorted(graph.u, np.arange(n + 1))
    degree = np.diff(first)
    good = (src != dst) & (hops[src, dst] < UNREACHED)
    at, to, amount = src[good], dst[good], size_bytes[good]
    while len(at):
        count = degree[at]
        row = np.repeat(np.arange(len(at)), count)
        edge = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count) + first[at[row]]
        nearer = hops[graph.v[edge], to[row]] < hops[at[row], to[row]]
        row, edge = row[nearer], edge[nearer]
        weight = graph.rate_bps[edge]
        total = np.bincount(row, weight, minlength=len(at))
        moved = amount[row] * weight / total[row]
        carried += np.bincount(edge, moved, minlength=len(carried))
        key = graph.v[edge] * n + to[row]
        keys, inverse = np.unique(key, return_inverse=True)
        size = np.bincount(inverse.reshape(-1), moved, minlength=len(keys))
        on = keys // n != keys % n
        at, to, amount = keys[on] // n, keys[on] % n, size[on]
    return carried
