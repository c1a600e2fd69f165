"""From requests to paths: the links of each way, the share of the flow on each link, and the delay of the last byte.

Load balancing by name: `ecmp` hashes each request at every switch; `flowlet` does the same with a label for each
message, as a gap stands between two messages and none inside one; `pinned` chooses by destination (d-mod-k, as subnet
managers do), so that no permutation collides on the way down; `spray` splits equally over all next hops, whatever they
lead to; `adaptive` splits by the capacity that is left towards the destination.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.choice import HashWish, Requests, hashed_choice, keys_of, seeds_of
from eastwest.simulate.hashing import TCP, UDP
from eastwest.simulate.messages import Way
from eastwest.simulate.network import Ints, Network
from eastwest.simulate.routes import UNREACHED, Graph, distances, next_hops, ranges, switch_links
from eastwest.simulate.spreading import Spread, spread

Floats = NDArray[np.float64]
SPREAD = ("spray", "adaptive")
BALANCINGS = ("adaptive", "ecmp", "flowlet", "pinned", "spray")


@dataclass(frozen=True, eq=False)
class Paths:
    """Paths as compressed rows: `links[first[p]:first[p + 1]]` with `shares`, `delay_ps` (n,) of the last byte, and
    `reached` (n,) whether there is a way at all (without one the row is empty).
    """

    first: Ints
    links: Ints
    shares: Floats
    delay_ps: Ints
    reached: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Ends:
    """What a request fixes before and after the switches: `before`, `after` (n, 4) links, -1 where there is none, and
    the leaves between them; `inside` says that it stays in its scale-up domain, `joined` that both ends have a port.
    """

    before: Ints
    after: Ints
    src_leaf: Ints
    dst_leaf: Ints
    inside: NDArray[np.bool_]
    joined: NDArray[np.bool_]


class Router:
    """Ways through one state of a network (links of rate 0 are down); it keeps what all requests share."""

    def __init__(
        self,
        network: Network,
        how: str,
        hashes: HashWish,
        seed: int,
        transport: str = "roce",
        *,
        uses_partner: bool = False,
    ) -> None:
        self.network, self.how, self.hashes, self.seed = network, how, hashes, seed
        self._uses_partner = uses_partner
        self.graph: Graph = switch_links(network)
        self._seeds = seeds_of(network, hashes)
        self._protocol = TCP if transport == "tcp" else UDP
        self._scale_up = _scale_up_links(network)
        self._pcie = _pcie_links(network)

    def paths(self, requests: Requests) -> Paths:
        """The path of each request."""
        keys = keys_of(requests, self.hashes, self.seed, self._protocol)
        ends = self._ends(requests, keys)
        crosses = ends.joined & ~ends.inside
        targets, target = np.unique(np.where(crosses, ends.dst_leaf, -1), return_inverse=True)
        if len(targets) and targets[0] < 0:
            targets, target = targets[1:], target - 1
        distance = distances(self.graph, len(self.network.names), targets.astype(np.int64))
        reached: NDArray[np.bool_] = ends.joined.copy()
        rows = np.flatnonzero(crosses)
        target = target.reshape(-1).astype(np.int64)
        reached[rows] &= distance[target[rows], ends.src_leaf[rows]] < UNREACHED
        rows = np.flatnonzero(crosses & reached)
        if self.how in SPREAD:
            middle = self._spread(ends, targets, target, distance, rows)
        else:
            middle = self._walk(requests, keys, ends, target, distance, rows)
        return _joined(self.network, ends, reached, rows, middle)

    def _ends(self, requests: Requests, keys: NDArray[np.uint32]) -> Ends:
        """The links that hosts themselves decide: scale-up, PCIe, and the NIC port that still works at both ends."""
        net = self.network
        src, dst = requests.src, requests.dst
        n = len(requests)
        before, after = np.full((n, 4), -1, np.int64), np.full((n, 4), -1, np.int64)
        way = requests.way
        inside = (net.domain[src] == net.domain[dst]) & (net.domain_nodes[net.domain[src]] >= 0)
        receiving = self._partner(dst)
        sending = self._partner(self._sending_host(src, receiving))
        hands_over = inside | (sending != src)
        to = np.where(inside, dst, sending)
        before[:, 0] = np.where(hands_over & (way != Way.OUT_OF_SWITCH), self._scale_up[0][src], -1)
        before[:, 1] = np.where(hands_over & (way != Way.INTO_SWITCH), self._scale_up[1][to], -1)
        before[:, 2] = np.where(inside, -1, self._pcie[0][sending])
        after[:, 1] = np.where(inside, -1, self._pcie[1][receiving])
        is_partner = ~inside & (receiving != dst)
        after[:, 2] = np.where(is_partner, self._scale_up[0][receiving], -1)
        after[:, 3] = np.where(is_partner, self._scale_up[1][dst], -1)
        out, into = net.nic[sending], net.nic[receiving]
        port, works = self._port(out, into, keys)
        before[:, 3] = np.where(inside | ~works, -1, net.up[out, port])
        after[:, 0] = np.where(inside | ~works, -1, net.down[into, port])
        stays = way == Way.STAYS
        before[stays] = after[stays] = -1
        inside |= stays
        leaf = np.where(works & ~inside, net.links["dst"][before[:, 3]], -1).astype(np.int64)
        far = np.where(works & ~inside, net.links["src"][after[:, 0]], -1).astype(np.int64)
        carried = self._carries(before) & self._carries(after)
        joined: NDArray[np.bool_] = (inside | works) & carried & ((src != dst) | (way > 0))
        return Ends(before, after, leaf, far, inside, joined)

    def _sending_host(self, src: Ints, dst: Ints) -> Ints:
        """(n,) host whose NIC sends: the source, or its neighbour on the destination's rail."""
        net = self.network
        if not net.keeps_rail:
            return src
        per = net.nics_per_server
        wanted = net.server[src] * per + net.rail[net.nic[dst]]
        same = net.nic[src] == wanted
        return np.where(same, src, net.nic_hosts[wanted])

    def _partner(self, host: Ints) -> Ints:
        """(n,) the host whose NIC works for each host: itself, or the next in its scale-up domain when its own NIC has
        no port left and the scenario lets traffic move.
        """
        net, rate = self.network, self.network.links["rate_bps"]
        if not self._uses_partner:
            return host
        has_port: NDArray[np.bool_] = (net.up >= 0) & (rate[net.up] > 0) & (net.down >= 0) & (rate[net.down] > 0)
        works = np.asarray(has_port.any(axis=1))
        found, per = host.copy(), net.nics_per_server
        for turn in range(1, per):
            dead = np.flatnonzero(~works[net.nic[found]])
            if not len(dead):
                break
            own = net.nic[host[dead]]
            other = net.nic_hosts[own // per * per + (own + turn) % per]
            is_near = (net.domain[other] == net.domain[host[dead]]) & (net.domain_nodes[net.domain[other]] >= 0)
            found[dead[is_near]] = other[is_near]
        found[~works[net.nic[found]]] = host[~works[net.nic[found]]]
        return found

    def _port(self, out: Ints, into: Ints, keys: NDArray[np.uint32]) -> tuple[Ints, NDArray[np.bool_]]:
        """(n,) NIC port, the same at both ends, out of those that work at both, by hash; and whether there is one."""
        net, rate = self.network, self.network.links["rate_bps"]
        up, down = net.up[out], net.down[into]
        works = (up >= 0) & (down >= 0) & (rate[up] > 0) & (rate[down] > 0)
        count = works.sum(axis=1)
        if net.up.shape[1] == 1:
            return np.zeros(len(out), np.int64), works[:, 0]
        word = np.bitwise_xor.reduce(keys, axis=1).astype(np.int64)
        wanted = np.where(count > 0, word % np.maximum(count, 1), 0)
        port = np.argmax(np.cumsum(works, axis=1) > wanted[:, None], axis=1).astype(np.int64)
        return port, count > 0

    def _carries(self, links: Ints) -> NDArray[np.bool_]:
        rate = self.network.links["rate_bps"]
        found: NDArray[np.bool_] = np.all((links < 0) | (rate[links] > 0), axis=1)
        return found

    def _walk(
        self,
        requests: Requests,
        keys: NDArray[np.uint32],
        ends: Ends,
        target: Ints,
        distance: NDArray[np.int16],
        rows: Ints,
    ) -> Spread:
        """One way for each of `rows`: at every switch one next hop."""
        node, digits = ends.src_leaf[rows].copy(), requests.dst[rows].copy()
        steps: list[tuple[Ints, Ints]] = []
        live = np.flatnonzero(node != ends.dst_leaf[rows])
        while len(live):
            here, goal = node[live], target[rows[live]]
            pairs, pair = np.unique(here * len(distance) + goal, return_inverse=True)
            pair = pair.reshape(-1)
            hops = next_hops(self.graph, distance, pairs // len(distance), pairs % len(distance))
            count = hops.counts[pair]
            if self.how == "pinned":
                choice = digits[live] % count
                digits[live] //= count
            else:
                choice = hashed_choice(self.network, self.hashes, keys[rows[live]], here, self._seeds, count)
            link = hops.links[hops.first[pair] + choice]
            steps.append((live, link))
            node[live] = self.network.links["dst"][link]
            live = live[node[live] != ends.dst_leaf[rows[live]]]
        return _ordered(steps, len(rows), self.network)

    def _spread(self, ends: Ends, targets: Ints, target: Ints, distance: NDArray[np.int16], rows: Ints) -> Spread:
        """All ways of each of `rows`, found once for each pair of leaves."""
        leaf = ends.src_leaf[rows]
        pairs, pair = np.unique(leaf * max(1, len(targets)) + target[rows], return_inverse=True)
        found = spread(
            self.network,
            self.graph,
            distance,
            pairs // max(1, len(targets)),
            pairs % max(1, len(targets)),
            by_capacity=self.how == "adaptive",
        )
        pair = pair.reshape(-1)
        counts = np.diff(found.first)[pair]
        slot = ranges(found.first[pair], counts)
        first = np.r_[0, np.cumsum(counts)].astype(np.int64)
        return Spread(first, found.links[slot], found.shares[slot], found.delay_ps[pair])


def _ordered(steps: list[tuple[Ints, Ints]], n: int, network: Network) -> Spread:
    """Steps of all walks as compressed rows in the order of travel."""
    row = np.concatenate([part for part, _ in steps]) if steps else np.zeros(0, np.int64)
    link = np.concatenate([part for _, part in steps]) if steps else np.zeros(0, np.int64)
    order = np.argsort(row, kind="stable")
    first = np.searchsorted(row[order], np.arange(n + 1)).astype(np.int64)
    delay = np.bincount(row, network.links["delay_ps"][link], minlength=n)
    return Spread(first, link[order], np.ones(len(link)), delay.astype(np.int64))


def cut_between(network: Network, src: int, dst: int) -> tuple[str, ...]:
    """Links of rate 0 that part the source host from the destination host, as `leaf1 - spine2`, or the dead ports of
    their NICs; empty when no cable at all leads on.
    """
    links = network.links
    live = links["rate_bps"] > 0
    reached = np.zeros(len(network.names), bool)
    reached[network.hosts[src]] = True
    while True:
        fresh = links["dst"][live & reached[links["src"]]]
        if reached[fresh].all():
            break
        reached[fresh] = True
    back = np.zeros(len(network.names), bool)
    back[network.hosts[dst]] = True
    while True:
        fresh = links["src"][back[links["dst"]]]
        if back[fresh].all():
            break
        back[fresh] = True
    cut = ~live & reached[links["src"]] & ~reached[links["dst"]] & back[links["dst"]]
    if not cut.any():  # the scale-up domain leads around a dead NIC, which traffic may not use
        ports = np.concatenate([network.up[network.nic[src]], network.down[network.nic[dst]]])
        cut[ports[ports >= 0]] = ~live[ports[ports >= 0]]
    pairs = sorted({(int(row["src"]), int(row["dst"])) for row in links[cut]})
    return tuple(f"{network.names[a]} - {network.names[b]}" for a, b in pairs)


def _joined(network: Network, ends: Ends, reached: NDArray[np.bool_], rows: Ints, middle: Spread) -> Paths:
    """Ends and middles as whole paths."""
    n = len(reached)
    within = np.zeros(n, np.int64)
    within[rows] = np.diff(middle.first)
    outer = [np.where(reached[:, None], part, -1) for part in (ends.before, ends.after)]
    lengths = [(part >= 0).sum(axis=1) for part in outer]
    first = np.r_[0, np.cumsum(lengths[0] + within + lengths[1])].astype(np.int64)
    links, shares = np.zeros(first[-1], np.int64), np.ones(int(first[-1]))
    links[ranges(first[:-1], lengths[0])] = outer[0][outer[0] >= 0]
    slot = ranges(first[:-1][rows] + lengths[0][rows], within[rows])
    links[slot], shares[slot] = middle.links, middle.shares
    links[ranges(first[:-1] + lengths[0] + within, lengths[1])] = outer[1][outer[1] >= 0]
    delays = network.links["delay_ps"]
    delay = sum(np.where(part >= 0, delays[part], 0).sum(axis=1) for part in outer)
    total = np.asarray(delay, np.int64)
    total[rows] += middle.delay_ps
    return Paths(first, links, shares, total, reached)


def _scale_up_links(network: Network) -> tuple[Ints, Ints]:
    """(n_hosts,) link of each host to its domain's switch, and back; -1 without one."""
    node = network.domain_nodes[network.domain]
    return _links_of_pairs(network, network.hosts, node), _links_of_pairs(network, node, network.hosts)


def _pcie_links(network: Network) -> tuple[Ints, Ints]:
    """(n_hosts,) link of each host to its NIC, and back; -1 where the host is the NIC."""
    leaf_of = network.up.max(axis=1)
    node = np.where(leaf_of >= 0, network.links["src"][leaf_of], -1).astype(np.int64)[network.nic]
    node = np.where(node == network.hosts, -1, node)
    return _links_of_pairs(network, network.hosts, node), _links_of_pairs(network, node, network.hosts)


def _links_of_pairs(network: Network, src: Ints, dst: Ints) -> Ints:
    """(n,) the first link from each `src` to each `dst`, -1 where either is -1 or nothing joins them."""
    n = len(network.names)
    key = network.links["src"].astype(np.int64) * n + network.links["dst"]
    order = np.argsort(key, kind="stable")
    wanted = src * n + dst
    at = np.minimum(np.searchsorted(key[order], wanted), max(0, len(order) - 1))
    if not len(order):
        return np.full(len(src), -1, np.int64)
    found: Ints = np.where((src >= 0) & (dst >= 0) & (key[order][at] == wanted), order[at], -1).astype(np.int64)
    return found
