"""A Clos shape drawn: nodes with their names, and the links that join them, in the order in which they take ports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eastwest.fabric.controllers import choose_leaves, ports_beside
from eastwest.fabric.draft import Draft, Ints
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.rooms import add_room_links
from eastwest.fabric.shape import ClosShape, RoomShape
from eastwest.fabric.tables import LinkKind, NodeKind, RoomLink

ByPlane = list[Ints]  # nodes of one tier and room, by plane


@dataclass(frozen=True, slots=True)
class Dealt:
    """Where the links of one server go, in their order: (n,) int64 `nic`, `plane`, and `leaf` inside its group."""

    nic: Ints
    plane: Ints
    leaf: Ints


def deal_links(inputs: FabricInputs, leaves_per_group: int) -> Dealt:
    """NIC by NIC and port by port: the plane of each link of a server and the leaf of the group that it ends on.

    With planes by port, port p of every NIC is plane p; by NIC, NIC i is plane i modulo planes; with two ToRs the ports
    of a NIC go to two leaves of one plane.
    """
    nic = np.repeat(np.arange(inputs.server.nics), inputs.links_per_nic)
    port = np.tile(np.arange(inputs.links_per_nic), inputs.server.nics)
    if inputs.plane_by == "nic":
        plane, number = nic % inputs.planes, nic // inputs.planes
    elif inputs.planes > 1:
        plane, number = port, nic
    else:
        plane, number = np.zeros(len(nic), np.int64), nic * inputs.links_per_nic + port
    return Dealt(nic, plane, number % leaves_per_group)


def draw(draft: Draft, inputs: FabricInputs, shape: ClosShape) -> tuple[RoomLink, ...]:
    """Draws servers, leaves, spines, cores, controllers and all links; returns the links between rooms as built."""
    servers = draft.add_nodes(NodeKind.SERVER, list(inputs.server_names), room=inputs.server_rooms)
    rooms = range(len(shape.rooms))
    leaves = [_add_leaves(draft, inputs, shape, room) for room in rooms]
    spines = [_add_spines(draft, inputs, shape, room) for room in rooms]
    cores = [_add_cores(draft, inputs, shape, room) for room in rooms]
    _connect_servers(draft, inputs, shape, servers, leaves)
    _connect_controllers(draft, inputs, shape, [leaf for room in leaves for leaf in room[0].tolist()])
    for room, built in enumerate(shape.rooms):
        for plane in range(inputs.planes):
            _mesh(draft, leaves[room][plane], spines[room][plane], built, shape, plane)
    for room, built in enumerate(shape.rooms):
        for plane in range(inputs.planes):
            _join_pods(draft, spines[room][plane], cores[room][plane], built, plane)
    if shape.tiers == 1:
        return ()
    tops, switch = (cores, inputs.core) if shape.core_rate_bps else (spines, inputs.spine)
    return add_room_links(draft, inputs, tops, switch)


def _first_group(shape: ClosShape, room: int) -> int:
    return sum(before.n_groups for before in shape.rooms[:room])


def _pod_of_groups(shape: ClosShape, room: int) -> Ints:
    """(n_groups,) int64 pod of each leaf group inside its room."""
    groups = shape.rooms[room].groups
    return np.repeat(np.arange(len(groups)), groups)


def _first_pod(shape: ClosShape, room: int) -> int:
    return sum(len(before.groups) for before in shape.rooms[:room])


def _add_leaves(draft: Draft, inputs: FabricInputs, shape: ClosShape, room: int) -> ByPlane:
    """Leaf nodes of a room by plane."""
    per_group, n_groups = shape.leaves_per_group, shape.rooms[room].n_groups
    local = np.repeat(np.arange(n_groups), per_group)
    number = np.tile(np.arange(per_group), n_groups)
    pod = _pod_of_groups(shape, room)[local]
    dealt = deal_links(inputs, per_group)
    found = []
    for plane in range(inputs.planes):
        rails = _rails_of(dealt, plane, per_group)
        names = _leaf_names(inputs, shape, room, plane, local, number, rails)
        found.append(
            draft.add_nodes(
                NodeKind.LEAF,
                names,
                inputs.leaf,
                room=room,
                plane=plane,
                group=_first_group(shape, room) + local,
                pod=_first_pod(shape, room) + pod if shape.core_rate_bps else -1,
                rail=rails[number] if len(number) else number,
            )
        )
    return found


def _rails_of(dealt: Dealt, plane: int, per_group: int) -> Ints:
    """(per_group,) int64 the NIC index that each leaf of a group serves, -1 when it serves several or all."""
    rails = np.full(per_group, -1, np.int64)
    for leaf in range(per_group):
        nics = np.unique(dealt.nic[(dealt.plane == plane) & (dealt.leaf == leaf)])
        if len(nics) == 1 and dealt.nic.max() > 0:
            rails[leaf] = nics[0]
    return rails


def _leaf_names(
    inputs: FabricInputs, shape: ClosShape, room: int, plane: int, local: Ints, number: Ints, rails: Ints
) -> list[str]:
    """`leaf-01`, or `su01-leaf-r3` with rails, `su01-leaf-t2` with two ToRs; room and pod in front and the plane behind
    when there are several. Groups are counted inside their pod.
    """
    back, per_group = _plane_suffix(inputs, plane), shape.leaves_per_group
    groups = shape.rooms[room].groups
    pods = _pod_of_groups(shape, room)
    first = np.cumsum(groups) - np.asarray(groups, np.int64)
    has_twins = inputs.planes == 1 and inputs.links_per_nic > 1
    names = []
    for group, leaf in zip(local.tolist(), number.tolist(), strict=True):
        pod = int(pods[group])
        front, inside = _prefix(inputs, shape, room, pod), group - int(first[pod]) + 1
        rail = f"r{int(rails[leaf]) + 1}" if rails[leaf] >= 0 else ""
        tor = f"t{leaf % inputs.links_per_nic + 1}" if has_twins else ""
        stem = f"leaf-{inside:02d}" if per_group == 1 else f"su{inside:02d}-leaf-{rail}{tor}"
        names.append(f"{front}{stem}{back}")
    return names


def _prefix(inputs: FabricInputs, shape: ClosShape, room: int, pod: int) -> str:
    """Room and pod in front of a name, each when there are several."""
    front = f"{inputs.rooms[room]}-" if len(inputs.rooms) > 1 else ""
    return front + (f"pod{pod + 1:02d}-" if shape.core_rate_bps else "")


def _plane_suffix(inputs: FabricInputs, plane: int) -> str:
    return f"-p{plane + 1}" if inputs.planes > 1 else ""


def _add_spines(draft: Draft, inputs: FabricInputs, shape: ClosShape, room: int) -> ByPlane:
    """Spine nodes of a room by plane, pod after pod."""
    built, found = shape.rooms[room], []
    pods = range(len(built.groups))
    if built.spines == 0:
        return [np.zeros(0, np.int64) for _ in range(inputs.planes)]
    for plane in range(inputs.planes):
        back = _plane_suffix(inputs, plane)
        names = [
            f"{_prefix(inputs, shape, room, pod)}spine-{i + 1:02d}{back}"
            for pod in pods
            for i in range(built.spread.spines)
        ]
        pod = np.repeat(np.arange(len(pods)), built.spread.spines)
        number = _first_pod(shape, room) + pod if shape.core_rate_bps else -1
        found.append(draft.add_nodes(NodeKind.SPINE, names, inputs.spine, room=room, plane=plane, pod=number))
    return found


def _add_cores(draft: Draft, inputs: FabricInputs, shape: ClosShape, room: int) -> ByPlane:
    """Core nodes of a room by plane."""
    built = shape.rooms[room]
    front = f"{inputs.rooms[room]}-" if len(inputs.rooms) > 1 else ""
    if built.cores == 0:
        return [np.zeros(0, np.int64) for _ in range(inputs.planes)]
    return [
        draft.add_nodes(
            NodeKind.CORE,
            [f"{front}core-{i + 1:02d}{_plane_suffix(inputs, plane)}" for i in range(built.cores)],
            inputs.core,
            room=room,
            plane=plane,
        )
        for plane in range(inputs.planes)
    ]


def _connect_servers(
    draft: Draft, inputs: FabricInputs, shape: ClosShape, servers: Ints, leaves: list[ByPlane]
) -> None:
    """Links of all servers, NIC by NIC and port by port; writes the servers' groups and pods."""
    dealt = deal_links(inputs, shape.leaves_per_group)
    groups, pods = np.zeros(len(servers), np.int64), np.full(len(servers), -1, np.int64)
    blocks = []
    for room, by_plane in enumerate(leaves):
        mine = np.flatnonzero(inputs.server_rooms == room)
        local = np.arange(len(mine)) // shape.split.servers
        groups[mine] = _first_group(shape, room) + local
        if shape.core_rate_bps:
            pods[mine] = _first_pod(shape, room) + _pod_of_groups(shape, room)[local]
        table = np.stack(by_plane)
        leaf = local[:, None] * shape.leaves_per_group + dealt.leaf[None, :]
        blocks.append(table[dealt.plane[None, :], leaf].reshape(-1))
    draft.add_links(
        LinkKind.SERVER_LEAF,
        np.repeat(servers, len(dealt.nic)),
        np.concatenate(blocks),
        shape.split.down_rate_bps,
        rail=np.tile(dealt.nic, len(servers)),
        plane=np.tile(dealt.plane, len(servers)),
    )
    draft.node_blocks[0]["group"], draft.node_blocks[0]["pod"] = groups, pods


def _connect_controllers(draft: Draft, inputs: FabricInputs, shape: ClosShape, leaves: list[int]) -> None:
    """Links of controllers to the first leaves with free ports."""
    if not inputs.controllers:
        return
    links = draft.links()
    servers = np.bincount(links["b"][links["kind"] == LinkKind.SERVER_LEAF], minlength=max(leaves) + 1)
    beside = ports_beside(inputs, shape.split, max(spread.uplinks for spread in shape.spreads))
    left = [beside - inputs.spare_ports - int(servers[leaf]) for leaf in leaves]
    beside_full = [min(free, beside - shape.split.reserved) for free in left]
    for name, n in inputs.controllers:
        node = draft.add_nodes(NodeKind.CONTROLLER, [name])
        chosen = choose_leaves(n, left, beside_full)
        for at in chosen:
            left[at], beside_full[at] = left[at] - 1, beside_full[at] - 1
        ends = np.array(leaves)[chosen]
        draft.add_links(LinkKind.SERVER_LEAF, np.repeat(node, n), ends, shape.split.down_rate_bps)


def _mesh(draft: Draft, leaves: Ints, spines: Ints, room: RoomShape, shape: ClosShape, plane: int) -> None:
    """`per_pair` links between every leaf and every spine of its pod, leaf by leaf."""
    n, per_pair = room.spread.spines, room.spread.per_pair
    if n == 0 or len(leaves) == 0:
        return
    pod = np.repeat(np.repeat(np.arange(len(room.groups)), room.groups), shape.leaves_per_group)
    a = np.repeat(leaves, n * per_pair)
    b = np.repeat(spines.reshape(-1, n)[pod], per_pair, axis=1).ravel()
    draft.add_links(LinkKind.LEAF_SPINE, a, b, shape.split.up_rate_bps, plane=plane)


def _join_pods(draft: Draft, spines: Ints, cores: Ints, room: RoomShape, plane: int) -> None:
    """`per_pair` links between spine i of every pod and every core of set i // shared, spine by spine."""
    if room.core is None:
        return
    core, number = room.core, np.arange(len(spines)) % room.spread.spines
    a = np.repeat(spines, core.uplinks)
    chosen = number[:, None] // core.shared * core.per_set + np.arange(core.per_set)[None, :]
    b = np.repeat(cores[chosen], core.per_pair, axis=1).ravel()
    draft.add_links(LinkKind.SPINE_CORE, a, b, core.rate_bps, plane=plane)
