"""All ways between two leaves at once: the share of a sprayed flow on each link, equal or by the capacity behind it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.network import Ints, Network
from eastwest.simulate.routes import Graph, next_hops

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Spread:
    """Compressed rows: `links[first[p]:first[p + 1]]` with `shares` of each, and `delay_ps` (n,) of the longest way."""

    first: Ints
    links: Ints
    shares: Floats
    delay_ps: Ints


@dataclass(frozen=True, eq=False)
class _Hop:
    """One hop of all pairs: edges from `place` (index among the hop's places) over `link` to `following` (index among
    the next hop's places).
    """

    place: Ints
    link: Ints
    following: Ints
    pair: Ints


def spread(
    network: Network, graph: Graph, distance: NDArray[np.int16], leaf: Ints, target: Ints, *, by_capacity: bool
) -> Spread:
    """The split of each pair (leaf, index of target leaf): at every switch equal over its next hops, or in proportion
    to the capacity towards the destination.

    A capacity is counted from the destination back: the links to a next hop are worth the lesser of their rates and of
    what its own next hops are worth together.
    """
    hops, n_places = _expand(network, graph, distance, leaf, target)
    rate = network.links["rate_bps"].astype(np.float64)
    weights = _capacities(hops, n_places, rate) if by_capacity else [np.ones(len(hop.link)) for hop in hops]
    delays = network.links["delay_ps"]
    share: Floats = np.ones(len(leaf))
    late = np.zeros(len(leaf), np.int64)
    longest = np.zeros(len(leaf), np.int64)
    parts: list[tuple[Ints, Ints, Floats]] = []
    for hop, weight, n_next in zip(hops, weights, n_places[1:], strict=True):
        total = np.bincount(hop.place, weight, minlength=len(share))
        part = share[hop.place] * weight / np.maximum(total[hop.place], np.finfo(float).tiny)
        parts.append((hop.pair, hop.link, part))
        share = np.bincount(hop.following, part, minlength=n_next).astype(np.float64)
        arrival = np.zeros(n_next, np.int64)
        np.maximum.at(arrival, hop.following, late[hop.place] + delays[hop.link])
        np.maximum.at(longest, hop.pair, arrival[hop.following])
        late = arrival
    return _rows(parts, len(leaf), longest)


def _expand(
    network: Network, graph: Graph, distance: NDArray[np.int16], leaf: Ints, target: Ints
) -> tuple[list[_Hop], list[int]]:
    """Edges hop by hop, and the number of places (pair, node) at the start of each hop and at the end."""
    pair, node = np.arange(len(leaf), dtype=np.int64), leaf
    hops: list[_Hop] = []
    sizes = [len(leaf)]
    n_nodes = len(network.names)
    while True:
        goes_on = distance[target[pair], node] > 0
        place = np.flatnonzero(goes_on)
        if not len(place):
            return hops, sizes
        found = next_hops(graph, distance, node[place], target[pair[place]])
        edge = np.repeat(place, found.counts)
        there = pair[edge] * n_nodes + network.links["dst"][found.links]
        places, following = np.unique(there, return_inverse=True)
        hops.append(_Hop(edge, found.links, following.reshape(-1).astype(np.int64), pair[edge]))
        pair, node = places // n_nodes, places % n_nodes
        sizes.append(len(places))


def _capacities(hops: list[_Hop], n_places: list[int], rate: Floats) -> list[Floats]:
    """Worth of each edge of each hop, bit/s."""
    found: list[Floats] = []
    worth = np.full(n_places[-1], np.inf)
    for hop, size in zip(reversed(hops), reversed(n_places[:-1]), strict=True):
        bundles, bundle = np.unique(hop.place * (len(worth) + 1) + hop.following, return_inverse=True)
        bundle = bundle.reshape(-1)  # parallel links to one switch are worth no more together than what is behind it
        together = np.bincount(bundle, rate[hop.link], minlength=len(bundles))[bundle]
        edge = rate[hop.link] * np.minimum(1.0, worth[hop.following] / together)
        found.append(edge)
        sums = np.bincount(hop.place, edge, minlength=size)
        worth = np.where(np.bincount(hop.place, minlength=size) > 0, sums, np.inf)  # a place without edges has arrived
    return found[::-1]


def _rows(parts: list[tuple[Ints, Ints, Floats]], n: int, delay_ps: Ints) -> Spread:
    if not parts:
        return Spread(np.zeros(n + 1, np.int64), np.zeros(0, np.int64), np.zeros(0), delay_ps)
    pair, link, share = (np.concatenate([part[column] for part in parts]) for column in range(3))
    order = np.argsort(pair, kind="stable")
    first = np.searchsorted(pair[order], np.arange(n + 1)).astype(np.int64)
    return Spread(first, link[order].astype(np.int64), share[order], delay_ps)
