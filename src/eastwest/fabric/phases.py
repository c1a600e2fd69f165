"""A phase of a design: the servers of that phase and only the switches and cables that they need, each in the place,
rack and port that it has in the last phase, so that nothing moves from one phase to the next.

A leaf is there as soon as one of its servers is, with all its uplinks; a spine as soon as one of its leaves is; cores
wait until there is a second pod to reach, and links between rooms until both rooms have servers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric import capacity
from eastwest.fabric.ports import count_ports
from eastwest.fabric.routing import components
from eastwest.fabric.tables import TIER_OF_KIND, Fabric, LinkKind, NodeKind, TierPorts, numbers_among

Marks = NDArray[np.bool_]


def restrict(fabric: Fabric, servers_by_room: list[int]) -> Fabric:
    """The part of a design that the first so many servers of each room need. Findings of the whole are left out, its
    decisions stay; oversubscription and limits are those of the whole.
    """
    nodes, links = _living(fabric, servers_by_room)
    return _cut_out(fabric, nodes, links)


def _living(fabric: Fabric, servers_by_room: list[int]) -> tuple[Marks, Marks]:
    """(n_nodes,) and (n_links,) whether a node or link is there in the phase."""
    kind, rows = fabric.nodes["kind"], fabric.links
    there = _hosts(fabric, servers_by_room)
    alive = np.zeros(len(rows), bool)
    for tier in (LinkKind.SERVER_LEAF, LinkKind.LEAF_SPINE):
        alive |= (rows["kind"] == tier) & there[rows["a"]]
        there[rows["b"][alive]] = True
    alive |= (rows["kind"] == LinkKind.DIRECT) & there[rows["a"]] & there[rows["b"]]
    room = fabric.nodes["room"]
    used = np.zeros(len(fabric.rooms), bool)
    used[room[there & (kind == NodeKind.SERVER)]] = True
    crossing = _room_cables(fabric, used)
    if _has_pods_to_join(fabric, there, alive) or bool(
        np.isin(rows["b"][crossing], np.flatnonzero(kind == NodeKind.CORE)).any()
    ):
        upward = (rows["kind"] == LinkKind.SPINE_CORE) & there[rows["a"]]
        there[rows["b"][upward]] = True
        alive |= upward
    alive |= crossing
    there[rows["a"][crossing]] = there[rows["b"][crossing]] = True
    return there, alive


def _hosts(fabric: Fabric, servers_by_room: list[int]) -> Marks:
    """(n_nodes,) the first servers of each room, and all controllers."""
    kind, room = fabric.nodes["kind"], fabric.nodes["room"]
    there = kind == NodeKind.CONTROLLER
    for number, count in enumerate(servers_by_room):
        there[np.flatnonzero((kind == NodeKind.SERVER) & (room == number))[:count]] = True
    marks: Marks = there
    return marks


def _room_cables(fabric: Fabric, used: Marks) -> Marks:
    """(n_links,) links between rooms that both have servers, with the pieces to the boxes in their path."""
    rows, room = fabric.links, fabric.nodes["room"]
    both = used[room[rows["a"]]] & used[room[rows["b"]]]
    marks: Marks = both & (rows["kind"] == LinkKind.ROOM) & bool(used.sum() > 1)
    return marks


def _has_pods_to_join(fabric: Fabric, there: Marks, alive: Marks) -> bool:
    """Whether leaves of one plane fall apart without cores."""
    rows = fabric.links[alive & (fabric.links["kind"] == LinkKind.LEAF_SPINE)]
    part = components(len(fabric.nodes), rows["a"], rows["b"])
    leaves = np.flatnonzero(there & (fabric.nodes["kind"] == NodeKind.LEAF))
    room, plane = fabric.nodes["room"][leaves], fabric.nodes["plane"][leaves]
    pods = {(int(r), int(p), int(c)) for r, p, c in zip(room, plane, part[leaves], strict=True)}
    return len(pods) > len({(r, p) for r, p, _ in pods})


def _cut_out(fabric: Fabric, there: Marks, alive: Marks) -> Fabric:
    """The fabric of those nodes and links, numbered anew."""
    node, link = numbers_among(there), numbers_among(alive)
    keep = there[fabric.ports["node"]]
    port = numbers_among(keep)
    nodes, links, ports = fabric.nodes[there], fabric.links[alive], fabric.ports[keep]
    for side in ("a", "b"):
        links[side], links[f"{side}_port"] = node[links[side]], port[links[f"{side}_port"]]
    ports["node"] = node[ports["node"]]
    ports["link"] = np.where(ports["link"] >= 0, link[ports["link"]], -1)
    nodes["first_port"] = np.cumsum(nodes["n_ports"]) - nodes["n_ports"]
    rooms = set(np.unique(nodes["room"][nodes["kind"] == NodeKind.SERVER]).tolist())
    return replace(
        fabric,
        names=tuple(name for name, mine in zip(fabric.names, there.tolist(), strict=True) if mine),
        nodes=nodes,
        ports=ports,
        links=links,
        tier_ports=_tier_ports(fabric, nodes, ports),
        pods=len(np.unique(nodes["pod"][nodes["kind"] == NodeKind.LEAF])) if fabric.pods else 0,
        room_links=tuple(link for link in fabric.room_links if set(link.rooms) <= rooms),
        findings=(),
        facts=_facts(fabric, nodes, links),
    )


def _tier_ports(fabric: Fabric, nodes: NDArray[np.void], ports: NDArray[np.void]) -> dict[str, TierPorts]:
    """Ports used and free of the tiers that the design has."""
    kind = nodes["kind"][ports["node"]]
    found: dict[str, TierPorts] = {}
    for member, tier in TIER_OF_KIND.items():
        if tier in fabric.tier_ports:
            found[tier] = count_ports(ports[kind == member])
    return found


def _facts(fabric: Fabric, nodes: NDArray[np.void], links: NDArray[np.void]) -> dict[str, Any]:
    """The design's facts with those replaced that count what is there."""
    facts = dict(fabric.facts) | {"bisection_bps": capacity.bisection_bps(links)}
    planes = max(1, fabric.planes)
    for key, kind in (("leaves", NodeKind.LEAF), ("spines", NodeKind.SPINE), ("cores", NodeKind.CORE)):
        if f"{key}_by_room" in facts:
            count = np.bincount(nodes["room"][nodes["kind"] == kind], minlength=len(fabric.rooms)) // planes
            facts[f"{key}_by_room"] = count.tolist()
    if "pods_by_room" in facts:
        leaves = nodes[nodes["kind"] == NodeKind.LEAF]
        facts["pods_by_room"] = [len(np.unique(leaves["pod"][leaves["room"] == r])) for r in range(len(fabric.rooms))]
    return facts
