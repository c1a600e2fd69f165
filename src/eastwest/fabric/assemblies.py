"""Which links share one piece that can be ordered: a cable with fixed ends over both ports of a cage, a splitter, a
fibre cord. Everything follows from the cages at the two ends.

A cable with fixed ends fills a cage: straight when all links of one cage go to one other cage of the same size, a
splitter when the links of one cage go to cages of one port each. Links of a cage that go to several cages of two ports
(a leaf's twin-port cage to two spines) have no such cable: they take optics, whose connectors are cabled singly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eastwest.units import GIGA

Ints = NDArray[np.int64]
MPO_LANES = 4  # lanes of one MPO-12 connector as SR4 and DR4 use it: 8 of its 12 fibres (IEEE 802.3bs, 802.3db)
TWIN_FROM_LANE_BPS = 100 * GIGA  # eight such lanes go to two connectors (2xSR4, 2xDR4), slower ones to one MPO-16
STRAIGHT, SPLIT, COUPLED = 0, 1, 2  # cords: connector to connector, 1:n, and two 1:n joined leg by leg


@dataclass(frozen=True, eq=False)
class Cages:
    """Cages of all nodes: `of_port` (n_ports,) number of each port's cage; by cage `ports` (logical), `rate_bps` of all
    its ports together, `lane_rate_bps`, `is_even` (ports of one rate only).
    """

    of_port: Ints
    ports: Ints
    rate_bps: Ints
    lane_rate_bps: Ints
    is_even: NDArray[np.bool_]

    @property
    def connector_lanes(self) -> Ints:
        """(n_cages,) lanes on one optical connector of the cage's module."""
        lanes = self.lanes
        is_twin = (self.lane_rate_bps >= TWIN_FROM_LANE_BPS) & (lanes > MPO_LANES)
        found: Ints = np.where(is_twin, MPO_LANES, lanes)
        return found

    @property
    def lanes(self) -> Ints:
        """(n_cages,) lanes of the cage."""
        return -(-self.rate_bps // np.maximum(1, self.lane_rate_bps))

    @property
    def connectors(self) -> Ints:
        """(n_cages,) optical connectors of the cage's module."""
        return -(-self.lanes // np.maximum(1, self.connector_lanes))


@dataclass(frozen=True, eq=False)
class FixedCables:
    """(n_links,) the cable with fixed ends that could carry each link: `number` of the cable (-1: there is none of that
    shape), `legs` of a splitter (1: straight), `rate_bps` of its thick end.
    """

    number: Ints
    legs: Ints
    rate_bps: Ints


@dataclass(frozen=True, eq=False)
class Cords:
    """(n_links,) the fibre of each link: `shape`, `number` of the cord that it shares (-1: none shared), `count` of
    straight cords, `legs` of a splitter, `lanes` on the connector; `a`, `b` connector at each end.
    """

    shape: Ints
    number: Ints
    count: Ints
    legs: Ints
    lanes: Ints
    a: Ints
    b: Ints


def cage_numbers(ports: NDArray[np.void]) -> Ints:
    """(n_ports,) int64 a number for each cage of each node, from 0; ports stand in the order of node and cage."""
    if len(ports) == 0:
        return np.zeros(0, np.int64)
    node, cage = ports["node"], ports["cage"]
    number: Ints = np.cumsum(np.r_[False, (node[1:] != node[:-1]) | (cage[1:] != cage[:-1])], dtype=np.int64)
    return number


def cages_of(ports: NDArray[np.void]) -> Cages:
    """The cages of all ports, used or free."""
    of_port = cage_numbers(ports)
    if len(ports) == 0:
        return Cages(of_port, of_port, of_port, of_port, of_port.astype(bool))
    start = np.flatnonzero(np.r_[True, of_port[1:] != of_port[:-1]])
    rate, lane = ports["rate_bps"], ports["lane_rate_bps"]
    is_even = np.maximum.reduceat(rate, start) == np.minimum.reduceat(rate, start)
    size = np.diff(np.r_[start, len(ports)]).astype(np.int64)
    return Cages(of_port, size, np.add.reduceat(rate, start), np.maximum.reduceat(lane, start), is_even)


def fixed_cables(links: NDArray[np.void], cages: Cages) -> FixedCables:
    """The cable with fixed ends of every link, whatever its length."""
    a, b = cages.of_port[links["a_port"]], cages.of_port[links["b_port"]]
    size = cages.ports
    far = np.zeros(len(size), np.int64)
    np.maximum.at(far, a, size[b])
    np.maximum.at(far, b, size[a])
    is_even = cages.is_even[a] & cages.is_even[b]
    straight = is_even & (size[a] == size[b]) & _alone_together(a, b, len(size))
    at_b, at_a = (is_even & (size[end] > 1) & (far[end] == 1) & ~straight for end in (b, a))
    number = np.where(straight | at_b, b, np.where(at_a, a, -1))
    legs = np.where(at_b, size[b], np.where(at_a, size[a], 1))
    return FixedCables(number, legs, cages.rate_bps[np.where(at_a, a, b)])


def _alone_together(a: Ints, b: Ints, n: int) -> NDArray[np.bool_]:
    """(n_links,) whether every link at either end of a link joins the same two ends."""
    used = np.bincount(a, minlength=n) + np.bincount(b, minlength=n)
    _, inverse, counts = np.unique(a * n + b, return_inverse=True, return_counts=True)
    pair = counts[inverse.reshape(-1)]
    together: NDArray[np.bool_] = (pair == used[a]) & (pair == used[b])
    return together


def cords_of(links: NDArray[np.void], ports: NDArray[np.void], cages: Cages) -> Cords:
    """The fibre cord of every link, if it were optical."""
    on_connector, connectors = cages.connector_lanes, cages.connectors
    first = np.cumsum(connectors) - connectors
    ends = {}
    for side in ("a_port", "b_port"):
        port = links[side]
        cage = cages.of_port[port]
        most = np.maximum(1, on_connector[cage])
        lanes = -(-ports["rate_bps"][port] // np.maximum(1, cages.lane_rate_bps[cage]))
        connector = first[cage] + ports["lane"][port].astype(np.int64) // most
        ends[side] = connector, np.maximum(1, most // np.maximum(1, lanes)), np.maximum(1, lanes // most), most
    (a, legs_a, count_a, lanes_a), (b, legs_b, count_b, lanes_b) = ends["a_port"], ends["b_port"]
    both = (legs_a > 1) & (legs_b > 1)
    joined = both & _alone_together(a, b, int(connectors.sum()))
    coupled, at_b, at_a = both & ~joined, (legs_b > 1) & ~both, (legs_a > 1) & ~both
    return Cords(
        shape=np.where(coupled, COUPLED, np.where(at_a | at_b, SPLIT, STRAIGHT)),
        number=np.where(at_b | joined, b, np.where(at_a, a, -1)),
        count=np.maximum(count_a, count_b),
        legs=np.where(joined, 1, np.maximum(legs_a, legs_b)),
        lanes=np.maximum(lanes_a, lanes_b),
        a=a,
        b=b,
    )


def longest_of(number: Ints, length_m: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) m the longest of those that share a number; its own where the number is -1."""
    longest = np.zeros(int(number.max(initial=-1)) + 1)
    mine = number >= 0
    np.maximum.at(longest, number[mine], length_m[mine])
    found = length_m.copy()
    found[mine] = longest[number[mine]]
    return found
