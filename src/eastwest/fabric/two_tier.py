"""Two-tier fabrics of any number of rooms and planes: what `leaf_spine` and `rail_optimized` share. They differ in the
leaves per server group only.

A *server group* is the servers that share their leaves: one leaf in `leaf_spine`, one leaf a rail in `rail_optimized`
(a "scalable unit"). NIC i of a server goes to leaf i modulo `leaves_per_group` of its group. Every room and every plane
is its own leaf-spine fabric.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from eastwest.fabric import capacity, racks
from eastwest.fabric.cabling import MEDIA, cages, measure_links
from eastwest.fabric.capacity import LeafSplit, Spread
from eastwest.fabric.draft import Draft, Ints
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.ports import PortPlan, allot
from eastwest.fabric.reasons import explain, judge
from eastwest.fabric.rooms import add_room_links, links_at_rooms
from eastwest.fabric.tables import Fabric, LinkKind, NodeKind, RoomLink
from eastwest.spec.resolve import SwitchFacts


@dataclass(frozen=True, slots=True)
class TwoTierShape:
    """The closed form of the fabric: how a leaf is split, and for each room its servers, leaves (of one plane) and
    spread.
    """

    leaves_per_group: int
    split: LeafSplit
    servers: tuple[int, ...]
    leaves: tuple[int, ...]
    spreads: tuple[Spread, ...]
    most_leaves: tuple[int, ...]
    fits: bool
    goal_fits: bool

    @property
    def n_switches(self) -> int:
        """Leaves and spines of one plane."""
        return sum(self.leaves) + sum(spread.spines for spread in self.spreads)

    @property
    def max_servers(self) -> int:
        """Servers when every room is full."""
        return sum(most // self.leaves_per_group * self.split.servers for most in self.most_leaves)


def agree_lanes(inputs: FabricInputs) -> FabricInputs:
    """The same inputs where a lane rate that nobody gave follows the other end of the link.

    A switch given only as ports x rate may have 50G or 100G lanes; a NIC given only by its rate likewise. What a data
    sheet says stays.
    """
    server, leaf, spine = inputs.server, inputs.leaf, inputs.spine
    if not inputs.nic_lanes_known and inputs.nic_port_rate_bps % leaf.lane_rate_bps == 0:
        server = replace(server, nic_lane_rate_bps=leaf.lane_rate_bps)
    elif leaf.model is None:
        leaf = replace(leaf, lane_rate_bps=inputs.nic_lane_rate_bps)
    if spine.model is None and leaf.lane_rate_bps < spine.port_rate_bps:
        spine = replace(spine, lane_rate_bps=leaf.lane_rate_bps)
    return replace(inputs, server_facts=(server, *inputs.server_facts[1:]), leaf=leaf, spine=spine)


def shape_of(inputs: FabricInputs, leaves_per_group: int) -> TwoTierShape:
    """The shape with the fastest leaf-spine links that still reaches every leaf and the last growth step; else the
    one that comes nearest.
    """
    rates = capacity.uplink_rates(inputs.leaf, inputs.spine, inputs.nic_port_rate_bps)
    shapes = [_shape_at(inputs, leaves_per_group, rate) for rate in rates]
    best = [shape for shape in shapes if shape.fits and shape.goal_fits] or [shape for shape in shapes if shape.fits]
    return best[0] if best else shapes[-1]


def _shape_at(inputs: FabricInputs, leaves_per_group: int, up_rate_bps: int) -> TwoTierShape:
    """The shape at one leaf-spine link rate: as many servers under a leaf as the ratio allows, a few less where that
    saves switches.
    """
    links = ceil(inputs.server.nics / leaves_per_group)
    widest = capacity.split_leaf(
        inputs.leaf,
        inputs.nic_port_rate_bps,
        up_rate_bps,
        links,
        inputs.leaf_oversubscription,
        inputs.servers_per_leaf,
        inputs.spare_ports,
    )
    if widest.servers == inputs.servers_per_leaf:
        return _shape_of_split(inputs, leaves_per_group, widest)
    splits = capacity.narrower_splits(widest, inputs.leaf, links, inputs.spare_ports)
    shapes = [_shape_of_split(inputs, leaves_per_group, split) for split in splits]
    return min(shapes, key=lambda shape: (not shape.fits, not shape.goal_fits, shape.n_switches, -shape.split.servers))


def _shape_of_split(inputs: FabricInputs, leaves_per_group: int, split: LeafSplit) -> TwoTierShape:
    """Leaves and spines of every room for one split of a leaf."""
    servers = np.bincount(inputs.server_rooms, minlength=len(inputs.rooms)).tolist()
    leaves = tuple(ceil(n / split.servers) * leaves_per_group for n in servers)
    goal = max(inputs.growth_servers, inputs.n_servers) / max(1, inputs.n_servers)
    goal_leaves = [ceil(ceil(n * goal) / split.servers) * leaves_per_group for n in servers]
    crossing, parts = links_at_rooms(inputs)
    spreads = tuple(
        capacity.spread_uplinks(split, n, inputs.spine, links, parts) if n else Spread(split.uplinks, 0, 0, True)
        for n, links in zip(leaves, crossing, strict=True)
    )
    most = tuple(capacity.most_leaves(split, inputs.spine, links, parts) for links in crossing)
    goal_fits = all(wanted <= room for wanted, room in zip(goal_leaves, most, strict=True))
    fits = all(spread.fits for spread in spreads)
    return TwoTierShape(leaves_per_group, split, tuple(servers), leaves, spreads, most, fits, goal_fits)


def build_two_tier(inputs: FabricInputs, leaves_per_group: int) -> Fabric:
    """The fabric of that many leaves per server group, with its decisions and findings."""
    inputs = agree_lanes(inputs)
    shape = shape_of(inputs, leaves_per_group)
    draft = Draft()
    servers = draft.add_nodes(NodeKind.SERVER, list(inputs.server_names), room=inputs.server_rooms)
    leaves = _add_leaves(draft, inputs, shape)
    spines = _add_spines(draft, inputs, shape)
    groups = _connect_servers(draft, inputs, shape, servers, leaves)
    draft.node_blocks[0]["group"] = groups
    _connect_controllers(draft, inputs, shape, [leaf for room in leaves for leaf in room[0]])
    for room, spread in enumerate(shape.spreads):
        for plane in range(inputs.planes):
            _mesh(draft, leaves[room][plane], spines[room][plane], spread, shape.split.up_rate_bps, plane)
    room_links = add_room_links(draft, inputs, spines)
    return _finish(inputs, shape, draft, room_links)


def _add_leaves(draft: Draft, inputs: FabricInputs, shape: TwoTierShape) -> list[list[Ints]]:
    """Leaf nodes by room and plane."""
    per_group, first_group = shape.leaves_per_group, 0
    found = []
    for room, n in enumerate(shape.leaves):
        group = first_group + np.arange(n) // per_group
        rail = np.arange(n) % per_group if per_group > 1 else np.full(n, -1)
        found.append(
            [
                draft.add_nodes(
                    NodeKind.LEAF,
                    _leaf_names(inputs, room, plane, n, per_group),
                    inputs.leaf,
                    room=room,
                    plane=plane,
                    group=group,
                    rail=rail,
                )
                for plane in range(inputs.planes)
            ]
        )
        first_group += n // per_group
    return found


def _leaf_names(inputs: FabricInputs, room: int, plane: int, n: int, per_group: int) -> list[str]:
    """`leaf-01`, or `su01-leaf-r3` with rails; the room in front and the plane behind when there are several."""
    front, back = _room_prefix(inputs, room), _plane_suffix(inputs, plane)
    if per_group == 1:
        return [f"{front}leaf-{i + 1:02d}{back}" for i in range(n)]
    return [f"{front}su{i // per_group + 1:02d}-leaf-r{i % per_group + 1}{back}" for i in range(n)]


def _add_spines(draft: Draft, inputs: FabricInputs, shape: TwoTierShape) -> list[list[Ints]]:
    """Spine nodes by room and plane."""
    return [
        [
            draft.add_nodes(
                NodeKind.SPINE,
                [
                    f"{_room_prefix(inputs, room)}spine-{i + 1:02d}{_plane_suffix(inputs, plane)}"
                    for i in range(spread.spines)
                ],
                inputs.spine,
                room=room,
                plane=plane,
            )
            for plane in range(inputs.planes)
        ]
        for room, spread in enumerate(shape.spreads)
    ]


def _room_prefix(inputs: FabricInputs, room: int) -> str:
    return f"{inputs.rooms[room]}-" if len(inputs.rooms) > 1 else ""


def _plane_suffix(inputs: FabricInputs, plane: int) -> str:
    return f"-p{plane + 1}" if inputs.planes > 1 else ""


def _connect_servers(
    draft: Draft, inputs: FabricInputs, shape: TwoTierShape, servers: Ints, leaves: list[list[Ints]]
) -> Ints:
    """Links of all servers, NIC by NIC and plane by plane; returns (n_servers,) the group of each server."""
    nics, planes, per_group = inputs.server.nics, inputs.planes, shape.leaves_per_group
    groups = np.zeros(len(servers), np.int64)
    blocks, first_group = [], 0
    for room, by_plane in enumerate(leaves):
        mine = servers[inputs.server_rooms == room]
        local = np.arange(len(mine)) // shape.split.servers
        groups[mine] = first_group + local
        first_group += len(by_plane[0]) // per_group
        leaf = local[:, None] * per_group + np.arange(nics)[None, :] % per_group
        blocks.append(np.stack([nodes[leaf] for nodes in by_plane], axis=2))
    b = np.concatenate([block.reshape(-1) for block in blocks])
    a = np.repeat(servers, nics * planes)
    rail = np.tile(np.repeat(np.arange(nics), planes), len(servers))
    draft.add_links(
        LinkKind.SERVER_LEAF,
        a,
        b,
        shape.split.down_rate_bps,
        rail=rail,
        plane=np.tile(np.arange(planes), nics * len(servers)),
    )
    return groups


def _connect_controllers(draft: Draft, inputs: FabricInputs, shape: TwoTierShape, leaves: list[int]) -> None:
    """Links of controllers, one at a time to the leaf with the most free ports."""
    if not inputs.controllers:
        return
    links = draft.links()
    servers = np.bincount(links["b"][links["kind"] == LinkKind.SERVER_LEAF], minlength=max(leaves) + 1)
    free = {leaf: shape.split.down_parts * _ports_beside(inputs.leaf, shape) - int(servers[leaf]) for leaf in leaves}
    for name, n in inputs.controllers:
        node = draft.add_nodes(NodeKind.CONTROLLER, [name])
        chosen = []
        for _ in range(n):
            leaf = max(leaves, key=lambda leaf: free[leaf] - (inputs.leaf.ports if leaf in chosen else 0))
            free[leaf] -= 1
            chosen.append(leaf)
        draft.add_links(LinkKind.SERVER_LEAF, np.repeat(node, n), np.array(chosen), shape.split.down_rate_bps)


def _ports_beside(leaf: SwitchFacts, shape: TwoTierShape) -> int:
    """Ports of a leaf that its uplinks leave."""
    uplinks = max(spread.uplinks for spread in shape.spreads)
    return leaf.ports - ceil(uplinks / shape.split.up_parts)


def _mesh(draft: Draft, leaves: Ints, spines: Ints, spread: Spread, rate_bps: int, plane: int) -> None:
    """`per_pair` links between every leaf and every spine, leaf by leaf."""
    a = np.repeat(leaves, len(spines) * spread.per_pair)
    b = np.tile(np.repeat(spines, spread.per_pair), len(leaves))
    draft.add_links(LinkKind.LEAF_SPINE, a, b, rate_bps, plane=plane)


def _finish(inputs: FabricInputs, shape: TwoTierShape, draft: Draft, room_links: tuple[RoomLink, ...]) -> Fabric:
    """Ports, racks, lengths and media for the drawn nodes and links."""
    plan = allot(draft, inputs.nic_lane_rate_bps)
    rack_plan = racks.place_in_racks(inputs, plan.nodes, plan.links, draft.switch_of(), draft.switches)
    reach = measure_links(rack_plan.racks, plan.nodes, plan.links, plan.ports, inputs.cabling, cages(plan.ports))
    ratio = oversubscription(inputs, shape, plan, room_links)
    server = inputs.server
    return Fabric(
        family=inputs.family,
        tiers=2,
        planes=inputs.planes,
        rails=server.nics,
        rooms=inputs.rooms,
        racks=rack_plan.racks,
        media=MEDIA,
        names=tuple(draft.names),
        nodes=plan.nodes,
        ports=plan.ports,
        links=plan.links,
        gpus_per_server=server.gpus,
        nics_per_server=server.nics,
        nic_rate_bps=server.nic_rate_bps,
        scale_up_domain=server.scale_up_domain,
        oversubscription=ratio,
        tier_ports=plan.tier_ports,
        switches={"leaf": inputs.leaf.label, "spine": inputs.spine.label},
        max_gpus=shape.max_servers * server.gpus,
        max_leaves=sum(shape.most_leaves) * inputs.planes,
        max_spines=shape.split.uplinks * len(inputs.rooms) * inputs.planes,
        room_links=room_links,
        decisions=explain(inputs, shape, ratio),
        findings=(*plan.findings, *rack_plan.findings, *reach, *judge(inputs, shape, ratio)),
        facts=_facts(inputs, shape, plan),
    )


def oversubscription(
    inputs: FabricInputs, shape: TwoTierShape, plan: PortPlan, room_links: tuple[RoomLink, ...]
) -> dict[str, float]:
    """Down:up bandwidth as built: `leaf` for full leaves, `spine` 1 (nothing above), `room` the smaller room's
    server bandwidth against its link.
    """
    split = shape.split
    down = shape.split.servers * ceil(inputs.server.nics / shape.leaves_per_group) * split.down_rate_bps
    up = int(plan.links["rate_bps"][plan.links["kind"] == LinkKind.LEAF_SPINE].sum())
    n_leaves = sum(shape.leaves) * inputs.planes
    ratios = {"leaf": n_leaves * down / up if up else float(n_leaves * down), "spine": 1.0}
    if room_links:
        nic_bps = inputs.server.nics * inputs.server.nic_rate_bps
        ratios["room"] = max(
            min(shape.servers[room] for room in link.rooms) * nic_bps / link.rate_bps for link in room_links
        )
    return ratios


def _facts(inputs: FabricInputs, shape: TwoTierShape, plan: PortPlan) -> dict[str, Any]:
    """Numbers of the shape that reports show beside the counts."""
    split = shape.split
    return {
        "servers_per_leaf_group": split.servers,
        "leaves_per_group": shape.leaves_per_group,
        "leaf_down_ports": split.down_ports,
        "leaf_down_rate_bps": split.down_rate_bps,
        "leaf_uplinks": max(spread.uplinks for spread in shape.spreads),
        "leaf_up_rate_bps": split.up_rate_bps,
        "links_per_leaf_spine_pair": max(spread.per_pair for spread in shape.spreads),
        "bisection_bps": capacity.bisection_bps(plan.links),
        "leaves_by_room": list(shape.leaves),
        "spines_by_room": [spread.spines for spread in shape.spreads],
        "assumed": [*inputs.leaf.assumed, *(text for text in inputs.spine.assumed if text not in inputs.leaf.assumed)],
    }
