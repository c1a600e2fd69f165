"""`Network`: what the engines run on: directed links as one record array, and where every host joins them.

Every cable is two directed links of its full rate. A host is one end of traffic (a GPU with its NIC); hosts of one
scale-up domain also reach each other over the domain's switch. A box with a rate limit is two nodes with one link
between them, which both directions share. Built from a few words (`network_inline`) or from a `Fabric`
(`network_of_fabric`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class Place(IntEnum):
    """What a node is."""

    HOST = 0
    NIC = 1
    SCALE_UP = 2
    LEAF = 3
    SPINE = 4
    CORE = 5
    BOX = 6


class Level(IntEnum):
    """What a link belongs to, from the host outwards."""

    SCALE_UP = 0
    PCIE = 1
    NIC = 2
    LEAF_SPINE = 3
    SPINE_CORE = 4
    ROOM = 5


# The tier that a flow crosses, by the highest level of its links; the words of `fabric.placement`.
TIER_OF_LEVEL: Mapping[Level, str] = {
    Level.SCALE_UP: "scale_up",
    Level.PCIE: "leaf",
    Level.NIC: "leaf",
    Level.LEAF_SPINE: "spine",
    Level.SPINE_CORE: "core",
    Level.ROOM: "room",
}
TIERS = ("local", "scale_up", "leaf", "spine", "core", "room")
LINK = np.dtype(
    [
        ("src", np.int32),  # node
        ("dst", np.int32),
        ("rate_bps", np.int64),
        ("delay_ps", np.int64),  # of the cable, and of the switch that sends
        ("level", np.int8),  # Level
        ("cable", np.int32),  # the same for both directions of one cable
    ]
)


@dataclass(frozen=True, eq=False)
class Network:
    """Nodes, directed links, and the hosts' places.

    `names`, `kinds` (n_nodes,) of Place; `links` (n_links,) LINK; `hosts` (n_hosts,) node of each host; `server`,
    `domain` (n_hosts,) numbers of server and scale-up domain; `domain_nodes` (n_domains,) node of each domain's switch,
    -1 without one; `nic` (n_hosts,) NIC of each host; `nic_hosts` (n_nics,) the first host of each NIC; `up`, `down`
    (n_nics, n_ports) links from NIC to leaf and back, -1 where there is none; `rail` (n_nics,) index of the NIC in its
    server; `nics_per_server`; `keeps_rail` says that bytes cross on the destination's rail, handed over inside the
    domain first (PXN); `aliases` further names of hosts.
    """

    family: str
    names: tuple[str, ...]
    kinds: NDArray[np.int8]
    links: NDArray[np.void]
    hosts: Ints
    server: Ints
    domain: Ints
    domain_nodes: Ints
    nic: Ints
    nic_hosts: Ints
    up: Ints
    down: Ints
    rail: Ints
    nics_per_server: int
    keeps_rail: bool = False
    aliases: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Name -> node."""
        return {name: node for node, name in enumerate(self.names)}

    @cached_property
    def host_index(self) -> Mapping[str, int]:
        """Name, or a further name -> host."""
        return {**self.aliases, **{self.names[node]: host for host, node in enumerate(self.hosts.tolist())}}

    @property
    def n_hosts(self) -> int:
        """Hosts."""
        return len(self.hosts)

    def links_between(self, a: str, b: str) -> Ints:
        """(n,) int64 links from `a` to `b` and from `b` to `a`, by names of nodes; empty when nothing joins them."""
        src, dst = self.index.get(a, -1), self.index.get(b, -1)
        there = (self.links["src"] == src) & (self.links["dst"] == dst)
        back = (self.links["src"] == dst) & (self.links["dst"] == src)
        return np.flatnonzero(there | back).astype(np.int64)

    def with_rates(self, rate_bps: Ints) -> Network:
        """The same network with other rates, (n_links,) int64 bit/s."""
        links = self.links.copy()
        links["rate_bps"] = rate_bps
        return replace(self, links=links)


class Draft:
    """A network that is being drawn: nodes and cables in the order in which they come."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.kinds: list[NDArray[np.int8]] = []
        self._links: list[NDArray[np.void]] = []
        self._n_links = self._n_cables = 0

    def add_nodes(self, kind: Place, names: list[str]) -> Ints:
        """(n,) int64 numbers of new nodes."""
        first = len(self.names)
        self.names += names
        self.kinds.append(np.full(len(names), kind, np.int8))
        return np.arange(first, first + len(names), dtype=np.int64)

    def add_cables(
        self,
        a: Ints,
        b: Ints,
        rate_bps: int | Ints,
        delay_ps: int | Ints,
        level: Level,
        *,
        back_delay_ps: int | Ints | None = None,
    ) -> tuple[Ints, Ints]:
        """(n,) links a to b and (n,) links b to a of new cables."""
        return self.add_pairs((a, b), (b, a), rate_bps, delay_ps, level, back_delay_ps=back_delay_ps)

    def add_pairs(
        self,
        there: tuple[Ints, Ints],
        back: tuple[Ints, Ints],
        rate_bps: int | Ints,
        delay_ps: int | Ints,
        level: Level,
        *,
        back_delay_ps: int | Ints | None = None,
    ) -> tuple[Ints, Ints]:
        """(n,) links `there` and (n,) links `back` of new cables, each (source nodes, destination nodes)."""
        n = len(there[0])
        delays = (delay_ps, delay_ps if back_delay_ps is None else back_delay_ps)
        found = [self._add(pair, rate_bps, delay, level) for pair, delay in zip((there, back), delays, strict=True)]
        self._n_cables += n
        return found[0], found[1]

    def add_one_way(self, a: Ints, b: Ints, rate_bps: int, level: Level) -> Ints:
        """(n,) links a to b without a way back and without delay."""
        found = self._add((a, b), rate_bps, 0, level)
        self._n_cables += len(a)
        return found

    def _add(self, ends: tuple[Ints, Ints], rate_bps: int | Ints, delay_ps: int | Ints, level: Level) -> Ints:
        rows = np.zeros(len(ends[0]), LINK)
        rows["src"], rows["dst"] = ends
        rows["rate_bps"], rows["delay_ps"], rows["level"] = rate_bps, delay_ps, level
        rows["cable"] = self._n_cables + np.arange(len(rows))
        self._links.append(rows)
        self._n_links += len(rows)
        return np.arange(self._n_links - len(rows), self._n_links, dtype=np.int64)

    def links(self) -> NDArray[np.void]:
        """(n_links,) LINK of all cables so far."""
        return np.concatenate(self._links) if self._links else np.zeros(0, LINK)

    def all_kinds(self) -> NDArray[np.int8]:
        """(n_nodes,) Place of all nodes so far."""
        return np.concatenate(self.kinds) if self.kinds else np.zeros(0, np.int8)
