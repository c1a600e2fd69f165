"""Ways through the switches: distances, next hops, and the way of each request by hash, by destination or over all at
once.

A request is (source host, destination host, flow label): requests that are equal take the same way. Next hops are all
links that lead one switch nearer to the destination's leaf; links of rate 0 do not exist.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.network import Ints, Network, Place

UNREACHED = np.int16(1 << 14)
ENTRIES_AT_ONCE = 20_000_000  # (link, target) marks looked at together: 20 MB
SWITCHES = (Place.LEAF, Place.SPINE, Place.CORE, Place.BOX)


@dataclass(frozen=True, eq=False)
class Graph:
    """Links between switches that carry something, sorted by their source: `links` (n,) rows of the network,
    `first` (n_nodes + 1,) where each node's begin.
    """

    links: Ints
    src: Ints
    dst: Ints
    first: Ints
    rate_bps: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Hops:
    """Next hops of pairs (node, target): pair p may take `links[first[p]:first[p + 1]]` of the network."""

    first: Ints
    links: Ints

    @property
    def counts(self) -> Ints:
        """(n_pairs,) next hops of each pair."""
        return np.diff(self.first)


def switch_links(network: Network) -> Graph:
    """The graph between switches, without links of rate 0."""
    links, is_switch = network.links, np.isin(network.kinds, SWITCHES)
    rows = np.flatnonzero(is_switch[links["src"]] & is_switch[links["dst"]] & (links["rate_bps"] > 0))
    rows = rows[np.argsort(links["src"][rows], kind="stable")].astype(np.int64)
    src, dst = links["src"][rows].astype(np.int64), links["dst"][rows].astype(np.int64)
    first = np.searchsorted(src, np.arange(len(network.names) + 1)).astype(np.int64)
    return Graph(rows, src, dst, first, links["rate_bps"][rows].astype(np.float64))


def distances(graph: Graph, n_nodes: int, targets: Ints) -> NDArray[np.int16]:
    """(n_targets, n_nodes) int16 links from each node to each target; UNREACHED when there is no way."""
    found = np.full((len(targets), n_nodes), UNREACHED, np.int16)
    found[np.arange(len(targets)), targets] = 0
    if not len(graph.links):
        return found
    starts = np.flatnonzero(np.r_[True, graph.src[1:] != graph.src[:-1]])
    froms = graph.src[starts]
    at_once = max(1, ENTRIES_AT_ONCE // len(graph.links))
    for low in range(0, len(targets), at_once):
        _spread(found[low : low + at_once], graph.dst, starts, froms)
    return found


def _spread(distance: NDArray[np.int16], dst: Ints, starts: Ints, froms: Ints) -> None:
    """Fills the distances of some targets, one hop after another."""
    hop = 0
    while True:
        near = (distance == hop)[:, dst]
        reached = np.logical_or.reduceat(near, starts, axis=1)
        fresh = reached & (distance[:, froms] == UNREACHED)
        if not fresh.any():
            return
        hop += 1
        target, place = np.nonzero(fresh)
        distance[target, froms[place]] = hop


def next_hops(graph: Graph, distance: NDArray[np.int16], node: Ints, target: Ints) -> Hops:
    """Next hops of each pair (node, index of target), in the order of the network's links."""
    n_out = graph.first[node + 1] - graph.first[node]
    pair = np.repeat(np.arange(len(node), dtype=np.int64), n_out)
    slot = ranges(graph.first[node], n_out)
    nearer = distance[target[pair], graph.dst[slot]] == distance[target[pair], node[pair]] - 1
    counts = np.bincount(pair[nearer], minlength=len(node))
    return Hops(np.r_[0, np.cumsum(counts)].astype(np.int64), graph.links[slot[nearer]])


def ranges(first: Ints, counts: Ints) -> Ints:
    """(sum of counts,) int64 first[0], first[0] + 1, … of each range in turn.

    >>> ranges(np.array([5, 9]), np.array([2, 1])).tolist()
    [5, 6, 9]
    """
    ends = np.cumsum(counts)
    found: Ints = np.arange(int(ends[-1]) if len(ends) else 0, dtype=np.int64)
    found += np.repeat(first - (ends - counts), counts)
    return found
