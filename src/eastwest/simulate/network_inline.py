"""Networks of a few words: fat-tree, leaf-spine, rail-optimized, ring, single switch; all names count from 0: h0,
leaf0, spine0, core0.

In the fat-tree of parameter k host h is on edge switch `leaf{h // (k/2)}` in pod h // (k/2)^2; aggregation switch a of
pod p is `spine{p*k/2 + a}` and joins cores a*(k/2) … a*(k/2)+k/2-1. With `gpus_per_server` above 1 that many hosts in
turn are one server and reach each other over `scaleup{server}`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eastwest.simulate.network import Draft, Ints, Level, Network, Place

INLINE_FAMILIES = ("fat_tree", "leaf_spine", "rail_optimized", "ring", "single_switch")


@dataclass(frozen=True, slots=True)
class InlineFabric:
    """A fabric in a few words.

    `k` of a fat-tree; `leaves`, `spines`, `hosts_per_leaf` of a leaf-spine; `servers` of a rail-optimized fabric and
    `servers_per_group` under one group of leaves; `leaves` of a ring, each joined to the next;
    `hosts` of a single switch; `links_per_pair` cables between a leaf
    and a spine; `rate_bps` of host links, `uplink_rate_bps` of links between switches; `delay_ps` of each cable,
    `switch_delay_ps` of each switch; `gpus_per_server`, `scale_up_bps` and `scale_up_delay_ps` of a server.
    """

    family: str
    rate_bps: int
    delay_ps: int
    switch_delay_ps: int = 0
    uplink_rate_bps: int = 0
    k: int = 0
    leaves: int = 0
    spines: int = 0
    hosts_per_leaf: int = 0
    links_per_pair: int = 1
    hosts: int = 0
    servers: int = 0
    servers_per_group: int = 0
    gpus_per_server: int = 1
    scale_up_bps: int = 0
    scale_up_delay_ps: int = 0

    @property
    def n_hosts(self) -> int:
        """Hosts of the fabric."""
        return {
            "fat_tree": self.k**3 // 4,
            "leaf_spine": self.leaves * self.hosts_per_leaf,
            "rail_optimized": self.servers * self.gpus_per_server,
            "ring": self.leaves * self.hosts_per_leaf,
            "single_switch": self.hosts,
        }[self.family]


def build_inline(wish: InlineFabric) -> Network:
    """The network of a few words."""
    draft = Draft()
    host = np.arange(wish.n_hosts, dtype=np.int64)
    hosts = draft.add_nodes(Place.HOST, [f"h{number}" for number in host])
    leaf_of = _leaf_of(wish, host)
    leaves = draft.add_nodes(Place.LEAF, [f"leaf{number}" for number in range(_n_leaves(wish, leaf_of))])
    up, down = draft.add_cables(hosts, leaves[leaf_of], wish.rate_bps, wish.delay_ps, Level.NIC)
    _add_switches(draft, wish, leaves)
    domain_nodes = _add_domains(draft, wish, hosts)
    links = draft.links()
    switches = np.isin(draft.all_kinds()[links["src"]], [Place.LEAF, Place.SPINE, Place.CORE])
    links["delay_ps"] += np.where(switches, wish.switch_delay_ps, 0)
    server = host // wish.gpus_per_server
    return Network(
        wish.family,
        tuple(draft.names),
        draft.all_kinds(),
        links,
        hosts,
        server,
        server if wish.gpus_per_server > 1 else host,
        domain_nodes,
        host,
        host,
        up[:, None],
        down[:, None],
        host % wish.gpus_per_server,
        wish.gpus_per_server,
        keeps_rail=wish.family == "rail_optimized" and wish.gpus_per_server > 1,
        aliases={f"s{number}": int(number) * wish.gpus_per_server for number in np.unique(server)},
    )


def _leaf_of(wish: InlineFabric, host: Ints) -> Ints:
    """(n_hosts,) number of the leaf of each host."""
    if wish.family == "rail_optimized":
        group = host // wish.gpus_per_server // wish.servers_per_group
        return group * wish.gpus_per_server + host % wish.gpus_per_server
    per_leaf = {"fat_tree": wish.k // 2, "single_switch": wish.hosts}.get(wish.family, wish.hosts_per_leaf)
    return host // max(1, per_leaf)


def _n_leaves(wish: InlineFabric, leaf_of: Ints) -> int:
    return int(leaf_of.max(initial=0)) + 1


def _add_switches(draft: Draft, wish: InlineFabric, leaves: Ints) -> None:
    """Spines and cores with their cables."""
    rate = wish.uplink_rate_bps or wish.rate_bps
    if wish.family == "fat_tree":
        half = wish.k // 2
        spines = draft.add_nodes(Place.SPINE, [f"spine{number}" for number in range(wish.k * half)])
        cores = draft.add_nodes(Place.CORE, [f"core{number}" for number in range(half * half)])
        leaf, a = np.divmod(np.arange(len(leaves) * half, dtype=np.int64), half)
        draft.add_cables(leaves[leaf], spines[leaf // half * half + a], rate, wish.delay_ps, Level.LEAF_SPINE)
        spine, j = np.divmod(np.arange(len(spines) * half, dtype=np.int64), half)
        draft.add_cables(spines[spine], cores[spine % half * half + j], rate, wish.delay_ps, Level.SPINE_CORE)
    elif wish.family == "ring":
        pairs = leaves if len(leaves) > 2 else leaves[:1]
        after = np.roll(leaves, -1)[: len(pairs)]
        draft.add_cables(pairs, after, rate, wish.delay_ps, Level.LEAF_SPINE)
    elif wish.spines:
        spines = draft.add_nodes(Place.SPINE, [f"spine{number}" for number in range(wish.spines)])
        leaf, rest = np.divmod(
            np.arange(len(leaves) * wish.spines * wish.links_per_pair, dtype=np.int64),
            wish.spines * wish.links_per_pair,
        )
        draft.add_cables(leaves[leaf], spines[rest // wish.links_per_pair], rate, wish.delay_ps, Level.LEAF_SPINE)


def _add_domains(draft: Draft, wish: InlineFabric, hosts: Ints) -> Ints:
    """(n_domains,) node of each server's scale-up switch; -1 for each host when a server holds one."""
    if wish.gpus_per_server == 1:
        return np.full(len(hosts), -1, np.int64)
    server = np.arange(len(hosts), dtype=np.int64) // wish.gpus_per_server
    nodes = draft.add_nodes(Place.SCALE_UP, [f"scaleup{number}" for number in range(int(server.max()) + 1)])
    draft.add_cables(hosts, nodes[server], wish.scale_up_bps, wish.scale_up_delay_ps, Level.SCALE_UP)
    return nodes
