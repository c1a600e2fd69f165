"""How a switch chooses among equal next hops: the keys of flows, the seed of each switch, and the choice itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from eastwest.policy.hashing import FIVE_TUPLE
from eastwest.simulate.hashing import FIELD_ORDER, ROCE_PORT, TCP, UDP, hash_words, mixed, rotated
from eastwest.simulate.network import Ints, Network, Place

TIER_OF_PLACE: Mapping[Place, str] = {Place.LEAF: "leaf", Place.SPINE: "spine", Place.CORE: "core", Place.BOX: "core"}
FIRST_ADDRESS = 0x0A000001  # 10.0.0.1, RFC 1918: host h has the h-th address from here
FIRST_PORT, PORT_BITS = 49152, 14  # dynamic ports, RFC 6335: what a NIC draws a UDP source port from
QP_BITS = 24  # of a queue pair number, InfiniBand specification
PER_SWITCH = "switch"


@dataclass(frozen=True, slots=True)
class HashWish:
    """The hash of all switches: function, fields, seeds and offsets by tier (`leaf`, `spine`, `core`).

    `per_switch` draws another seed for every switch instead. `fixed_port` is a NIC that gives every queue pair the same
    UDP source port.
    """

    function: str = "mixed"
    fields: tuple[str, ...] = tuple(name for name in FIELD_ORDER if name in FIVE_TUPLE)
    seeds: Mapping[str, int] = field(default_factory=dict)
    offsets: Mapping[str, int] = field(default_factory=dict)
    per_switch: bool = False
    fixed_port: bool = False


@dataclass(frozen=True, eq=False)
class Requests:
    """Ways that are asked for, (n,) each: hosts `src` and `dst`, `label` that tells flows between them apart, and the
    `way`, a Way: to the other host, only to or from its own scale-up switch, or nowhere.
    """

    src: Ints
    dst: Ints
    label: Ints
    way: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.src)


def keys_of(requests: Requests, wish: HashWish, seed: int, protocol: int = UDP) -> NDArray[np.uint32]:
    """(n, n_fields) uint32 the fields of each flow that the hash reads: addresses by host, a source port and a
    destination QP drawn for each label.
    """
    src, dst = requests.src.astype(np.uint32), requests.dst.astype(np.uint32)
    low, high = requests.label & 0xFFFFFFFF, requests.label >> 32
    pair = mixed(mixed(src + np.uint32(seed & 0xFFFFFFFF)) ^ dst)
    drawn = mixed(pair ^ low.astype(np.uint32) ^ high.astype(np.uint32))
    port = np.uint32(FIRST_PORT) + (drawn & np.uint32((1 << PORT_BITS) - 1))
    values = {
        "src_ip": np.uint32(FIRST_ADDRESS) + src,
        "dst_ip": np.uint32(FIRST_ADDRESS) + dst,
        "protocol": np.full(len(src), TCP if protocol == TCP else UDP, np.uint32),
        "src_port": np.full(len(src), FIRST_PORT, np.uint32) if wish.fixed_port else port,
        "dst_port": np.full(len(src), ROCE_PORT, np.uint32),
        "rdma_qp": mixed(drawn + np.uint32(1)) & np.uint32((1 << QP_BITS) - 1),
    }
    chosen = [values[name] for name in FIELD_ORDER if name in wish.fields]
    return np.stack(chosen, axis=1) if chosen else np.zeros((len(src), 1), np.uint32)


def seeds_of(network: Network, wish: HashWish) -> NDArray[np.uint32]:
    """(n_nodes,) uint32 seed of each switch; 0 of other nodes."""
    found = np.zeros(len(network.names), np.uint32)
    for place, tier in TIER_OF_PLACE.items():
        found[network.kinds == place] = np.uint32(wish.seeds.get(tier, 0) & 0xFFFFFFFF)
    if wish.per_switch:
        found = mixed((found + np.arange(len(found))).astype(np.uint32))
    return found


def hashed_choice(
    network: Network, wish: HashWish, keys: NDArray[np.uint32], node: Ints, seeds: NDArray[np.uint32], count: Ints
) -> Ints:
    """(n,) int64 number of the next hop that each switch `node` takes out of `count`: hash modulo count."""
    words = hash_words(keys, wish.function, seeds[node])
    for place, tier in TIER_OF_PLACE.items():
        offset = wish.offsets.get(tier, 0)
        if offset:
            here = network.kinds[node] == place
            words[here] = rotated(words[here], offset)
    found: Ints = (words % count.astype(np.uint32)).astype(np.int64)
    return found
