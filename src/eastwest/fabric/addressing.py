"""Addresses from private blocks: a subnet for the server links of each leaf, a /31 for each link between switches, a
loopback and an AS number each.

The plan routes at the leaf: no VLAN spans leaves, so no flooding domain does either, and ECMP works at L3. All spines
of a room and plane share one AS number, every leaf has its own: a route that came down from a spine is then not sent up
again (valley-free). Source: RFC 7938, section 5.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Network
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eastwest.errors import UsageError
from eastwest.fabric.cabling import full_port_names, port_names
from eastwest.fabric.tables import SWITCHES, Fabric, LinkKind, NodeKind

DEFAULT_BLOCK = "10.0.0.0/8"  # RFC 1918
LEAF_ASN, SPINE_ASN, CORE_ASN = 4_200_000_001, 4_200_100_001, 4_200_200_001  # private 4-byte range, RFC 6996
LINK_SHARE, LOOPBACK_SHARE = 0.5, 0.75  # of the block: server subnets below, then switch links, then loopbacks
RESERVED_IN_SUBNET = 3  # network, broadcast and the leaf's own address (gateway)
POINT_TO_POINT_PREFIX = 31  # RFC 3021

Ints = NDArray[np.int64]


class AddressRow(NamedTuple):
    """One address: the device and port that has it, the other end, and what it is for."""

    device: str
    port: str
    address: str
    prefix: int
    purpose: str
    subnet: str
    gateway: str
    peer: str
    rail: int | None
    asn: int | None


@dataclass(frozen=True, eq=False)
class AddressPlan:
    """All addresses as 32-bit numbers.

    `leaf_subnets`, `leaf_prefix`: the subnet of each leaf (n_leaves,) and its prefix length; `server_addresses`
    (n_links,) of the server end, 0 for other links; `link_addresses` (n_links, 2) of both ends of switch links, 0 for
    others; `loopbacks`, `asns` (n_nodes,), 0 for what is no switch.
    """

    block: str
    leaf_subnets: Ints
    leaf_prefix: int
    server_addresses: Ints
    link_addresses: Ints
    loopbacks: Ints
    asns: Ints


def plan_addresses(fabric: Fabric, block: str = DEFAULT_BLOCK, server_links: str = "subnet") -> AddressPlan:
    """The address plan in one block; `server_links` is "subnet" (one a leaf, the default) or "p2p" (a /31 each).

    Raises UsageError when the block is not private or too small.
    """
    network = IPv4Network(block)
    if not network.is_private:
        raise UsageError(f"{block} is not a private block", hint="use 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16")
    first, size = int(network.network_address), network.num_addresses
    links = fabric.links
    is_server = links["kind"] == LinkKind.SERVER_LEAF
    leaves = fabric.nodes_of(NodeKind.LEAF)
    subnets, prefix, servers = _leaf_subnets(fabric, leaves, first)
    pairs = np.zeros((len(links), 2), np.int64)
    routed = np.ones(len(links), bool) if server_links == "p2p" else ~is_server
    base = first + int(size * (0 if server_links == "p2p" else LINK_SHARE))
    pairs[routed] = base + 2 * np.arange(np.count_nonzero(routed))[:, None] + np.arange(2)
    if server_links == "p2p":
        servers, subnets, prefix = (
            np.where(is_server, pairs[:, 0], 0),
            np.zeros(len(leaves), np.int64),
            POINT_TO_POINT_PREFIX,
        )
    switches = np.flatnonzero(np.isin(fabric.nodes["kind"], SWITCHES))
    loopbacks = np.zeros(len(fabric.nodes), np.int64)
    loopbacks[switches] = first + int(size * LOOPBACK_SHARE) + 1 + np.arange(len(switches))
    low_end = int(subnets.max(initial=first)) + (1 << (32 - prefix)) if server_links == "subnet" else first
    link_end, loop_end = int(pairs.max(initial=first)), int(loopbacks.max(initial=first))
    if low_end > first + size * LINK_SHARE or link_end >= first + size * LOOPBACK_SHARE or loop_end >= first + size:
        raise UsageError(
            f"{block} is too small for {len(links)} links", hint=f"use a larger private block such as {DEFAULT_BLOCK}"
        )
    return AddressPlan(block, subnets, prefix, servers, pairs, loopbacks, asn_plan(fabric))


def _leaf_subnets(fabric: Fabric, leaves: Ints, first: int) -> tuple[Ints, int, Ints]:
    """Subnet of each leaf, their common prefix length, and the address of each server link's server end (the n-th
    cable of a leaf gets host n + 1).
    """
    links = fabric.links
    mine = np.flatnonzero(links["kind"] == LinkKind.SERVER_LEAF)
    ports = np.bincount(links["b"][mine], minlength=len(fabric.nodes))
    room = max(int(ports.max(initial=0)), int(fabric.facts.get("leaf_down_ports", 0)))
    bits = int(np.ceil(np.log2(room + RESERVED_IN_SUBNET)))
    subnets = first + (np.arange(len(leaves), dtype=np.int64) << bits)
    number = np.zeros(len(fabric.nodes), np.int64)
    number[leaves] = np.arange(len(leaves))
    order = np.argsort(links["b"][mine], kind="stable")
    leaf = links["b"][mine][order]
    starts = np.cumsum(ports) - ports
    host = np.arange(len(mine)) - starts[leaf] + 2
    addresses = np.zeros(len(links), np.int64)
    addresses[mine[order]] = subnets[number[leaf]] + host
    return subnets, 32 - bits, addresses


def asn_plan(fabric: Fabric) -> Ints:
    """(n_nodes,) int64 AS number of every switch, 0 for hosts.

    Leaves are numbered one by one; spines share a number per room and plane (and pod, with three tiers), cores per
    room and plane. Source: RFC 7938 section 5.2.1.
    """
    nodes = fabric.nodes
    asns = np.zeros(len(nodes), np.int64)
    leaves = fabric.nodes_of(NodeKind.LEAF)
    asns[leaves] = LEAF_ASN + np.arange(leaves.size)
    for kind, first in ((NodeKind.SPINE, SPINE_ASN), (NodeKind.CORE, CORE_ASN)):
        mine = fabric.nodes_of(kind)
        key = np.stack([nodes["room"][mine], nodes["plane"][mine], nodes["pod"][mine]], axis=1)
        if mine.size:
            _, number = np.unique(key, axis=0, return_inverse=True)
            asns[mine] = first + number.reshape(-1)
    return asns


def address_rows(fabric: Fabric, plan: AddressPlan) -> Iterator[AddressRow]:
    """Every address as a row: loopbacks, leaf gateways, then the server end or both ends of every link, in their
    order.
    """
    names, prefix = fabric.names, plan.leaf_prefix
    for node in np.flatnonzero(plan.loopbacks).tolist():
        address = text_of(int(plan.loopbacks[node]))
        yield AddressRow(names[node], "lo", address, 32, "loopback", "", "", "", None, int(plan.asns[node]))
    if plan.leaf_subnets.any():
        for leaf, subnet in zip(fabric.nodes_of(NodeKind.LEAF).tolist(), plan.leaf_subnets.tolist(), strict=True):
            gate, net = text_of(subnet + 1), _subnet(subnet, prefix)
            yield AddressRow(names[leaf], "servers", gate, prefix, "gateway", net, gate, "", None, None)
    yield from _link_rows(fabric, plan)


@lru_cache(maxsize=1)
def all_addresses(fabric: Fabric) -> tuple[AddressRow, ...]:
    """The rows of the usual plan of addresses; kept for the last fabric, since several lists are made of it."""
    return tuple(address_rows(fabric, plan_addresses(fabric)))


def _link_rows(fabric: Fabric, plan: AddressPlan) -> Iterator[AddressRow]:
    """The server end of a link in its leaf's subnet, or both ends of a /31."""
    names, ports, peers, prefix = fabric.names, port_names(fabric), full_port_names(fabric), plan.leaf_prefix
    columns = [fabric.links[name].tolist() for name in ("a", "a_port", "b", "b_port", "rail")]
    gates: dict[int, tuple[str, str]] = {}  # subnet -> its text and its gateway's address
    pairs, servers = plan.link_addresses.tolist(), plan.server_addresses.tolist()
    for (low, high), address, a, a_port, b, b_port, rail in zip(pairs, servers, *columns, strict=True):
        device, port, peer = names[a], ports[a_port], peers[b_port]
        known = rail if rail >= 0 else None
        if low == 0:
            subnet = address >> (32 - prefix) << (32 - prefix)
            if subnet not in gates:
                gates[subnet] = _subnet(subnet, prefix), text_of(subnet + 1)
            yield AddressRow(device, port, text_of(address), prefix, "server", *gates[subnet], peer, known, None)
            continue
        own = text_of(low)
        net = f"{own}/{POINT_TO_POINT_PREFIX}"
        yield AddressRow(device, port, own, POINT_TO_POINT_PREFIX, "link", net, "", peer, known, None)
        device, port, peer, own = names[b], ports[b_port], peers[a_port], text_of(high)
        yield AddressRow(device, port, own, POINT_TO_POINT_PREFIX, "link", net, "", peer, known, None)


def text_of(address: int) -> str:
    """Dotted quad of a 32-bit number."""
    return f"{address >> 24}.{address >> 16 & 255}.{address >> 8 & 255}.{address & 255}"


def _subnet(address: int, prefix: int) -> str:
    return f"{text_of(address)}/{prefix}"
