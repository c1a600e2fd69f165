"""The closed form of a Clos fabric of one, two or three tiers: how a leaf is split, and for each room its leaves, pods,
spines and cores. Nothing is drawn here.

A *leaf group* is the leaves of one plane that the same servers share: one leaf, one leaf a rail (a "scalable unit"), or
two leaves for two ToRs. A *pod* is leaves and spines in a full mesh; two tiers have one pod a room, three tiers several
that cores join. Every room and every plane is its own Clos.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from eastwest.fabric import capacity
from eastwest.fabric.capacity import Climb, CoreSpread, Kept, LeafSplit, Spread
from eastwest.fabric.controllers import groups_short, servers_given_up
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.rooms import links_at_rooms, room_limits

ONE_TIER, TWO_TIERS, THREE_TIERS = 1, 2, 3


@dataclass(frozen=True, slots=True)
class ClosWish:
    """What a family asks of the Clos: tiers, leaves of a group in one plane, and the step in which servers come under
    a leaf (the trays of a rack, when racks are not to be cut).
    """

    tiers: int
    leaves_per_group: int
    servers_step: int = 1


@dataclass(frozen=True, slots=True)
class RoomShape:
    """One room and plane: its servers, the leaf groups of each pod, how uplinks spread, and where it ends."""

    servers: int
    groups: tuple[int, ...]
    spread: Spread
    core: CoreSpread | None
    most_leaves: int  # of one pod
    most_pods: int

    @property
    def n_groups(self) -> int:
        """Leaf groups of all pods."""
        return sum(self.groups)

    @property
    def spines(self) -> int:
        """Spines of all pods."""
        return self.spread.spines * len(self.groups)

    @property
    def cores(self) -> int:
        """Cores."""
        return self.core.cores if self.core else 0

    @property
    def fits(self) -> bool:
        """Whether ports of spines and cores suffice."""
        return self.spread.fits and (self.core is None or self.core.fits)


@dataclass(frozen=True, slots=True)
class ClosShape:
    """The whole closed form, for one plane: planes are alike."""

    wish: ClosWish
    split: LeafSplit
    rooms: tuple[RoomShape, ...]
    links_per_server: int
    core_rate_bps: int
    pods_limit: int | None
    goal_fits: bool
    room_limits: tuple[int | None, ...] = ()
    given_up: int = 0  # servers that controllers displace when all ports are taken

    @property
    def tiers(self) -> int:
        """Tiers of switches."""
        return self.wish.tiers

    @property
    def leaves_per_group(self) -> int:
        """Leaves that the same servers share."""
        return self.wish.leaves_per_group

    @property
    def servers(self) -> tuple[int, ...]:
        """Servers by room."""
        return tuple(room.servers for room in self.rooms)

    @property
    def leaves(self) -> tuple[int, ...]:
        """Leaves by room."""
        return tuple(room.n_groups * self.leaves_per_group for room in self.rooms)

    @property
    def spreads(self) -> tuple[Spread, ...]:
        """How a leaf's uplinks spread, by room."""
        return tuple(room.spread for room in self.rooms)

    @property
    def n_pods(self) -> int:
        """Pods of all rooms."""
        return sum(len(room.groups) for room in self.rooms)

    @property
    def fits(self) -> bool:
        """Whether every tier of every room has the ports."""
        return all(room.fits for room in self.rooms)

    @property
    def n_switches(self) -> int:
        """Leaves, spines and cores of one plane."""
        return sum(self.leaves) + sum(room.spines + room.cores for room in self.rooms)

    @property
    def port_servers(self) -> int:
        """Servers when every room is full: as many as the ports of its switches take."""
        return sum(self.full_pod_servers(room) * room.most_pods for room in self.rooms) - self.given_up

    @property
    def max_servers(self) -> int:
        """Servers when every room is full, or at the wished ratio of its room links."""
        full = [self.full_pod_servers(room) * room.most_pods for room in self.rooms]
        limits = self.room_limits or (None,) * len(full)
        wished = sum(most if limit is None else min(most, limit) for most, limit in zip(full, limits, strict=True))
        return min(wished, self.port_servers)

    def full_pod_servers(self, room: RoomShape) -> int:
        """Servers of one pod when it is full, or of a room in two tiers."""
        full = room.most_leaves // self.leaves_per_group * self.split.servers
        if self.pods_limit is None:
            return full
        return min(full, max(1, self.pods_limit // self.split.servers) * self.split.servers)

    @property
    def pod_shortfall(self) -> int:
        """Servers that a full pod holds below the wished number, since leaf groups are not cut."""
        return 0 if self.pods_limit is None else max(0, self.pods_limit - self.full_pod_servers(self.largest))

    @property
    def largest(self) -> RoomShape:
        """The room with the most leaves."""
        return max(self.rooms, key=lambda room: room.n_groups)


def shape_of(inputs: FabricInputs, wish: ClosWish) -> ClosShape:
    """The shape with the fastest links between switches that still reaches every leaf and the last growth step; else
    the one that comes nearest.
    """
    if wish.tiers == ONE_TIER:
        return _flat_shape(inputs, wish)
    rates = capacity.uplink_rates(inputs.leaf, inputs.spine, inputs.nic_port_rate_bps)
    if inputs.link_rate_bps in rates:
        rates = (inputs.link_rate_bps,)
    fitting = None
    for rate in rates:
        shape = _shape_at(inputs, wish, rate)
        if shape.fits and shape.goal_fits:
            return shape
        fitting = fitting or (shape if shape.fits else None)
    return fitting or shape


def _flat_shape(inputs: FabricInputs, wish: ClosWish) -> ClosShape:
    """One tier: a single leaf group a room, all its ports down; further groups would not be joined."""
    links = ceil(inputs.links_per_plane / wish.leaves_per_group)
    most = inputs.servers_per_leaf
    split = capacity.flat_leaf(inputs.leaf, inputs.nic_port_rate_bps, links, most, inputs.spare_ports)
    rooms: list[RoomShape] = []
    for servers in _servers_by_room(inputs):
        groups = ceil(servers / split.servers)
        short = groups_short(inputs, split, wish.leaves_per_group, groups, 0) if not rooms else 0
        spread = Spread(0, 0, 0, groups + short <= 1)
        rooms.append(RoomShape(servers, (groups,), spread, None, wish.leaves_per_group, 1))
    full = split.servers * len(rooms)
    given_up = servers_given_up(inputs, split, wish.leaves_per_group * len(rooms), full)
    goal_fits = inputs.growth_servers <= full - given_up
    return ClosShape(wish, split, tuple(rooms), links, 0, None, goal_fits, (), given_up)


def _servers_by_room(inputs: FabricInputs) -> list[int]:
    counts: list[int] = np.bincount(inputs.server_rooms, minlength=len(inputs.rooms)).tolist()
    return counts


def _shape_at(inputs: FabricInputs, wish: ClosWish, up_rate_bps: int) -> ClosShape:
    """The shape at one leaf-spine link rate: as many servers under a leaf as the ratio allows, a few less where that
    saves switches.
    """
    splits = _splits(inputs, wish, up_rate_bps)
    shapes = [_shape_of_split(inputs, wish, split, rate) for split in splits for rate in _core_rates(inputs, wish)]
    return min(
        shapes,
        key=lambda shape: (
            not shape.fits,
            not shape.goal_fits,
            shape.pod_shortfall,
            shape.n_switches,
            shape.n_pods,
            -shape.split.servers,
        ),
    )


def _splits(inputs: FabricInputs, wish: ClosWish, up_rate_bps: int) -> list[LeafSplit]:
    """Splits of a leaf that are tried: one when the servers of a leaf are given, else some with fewer servers too."""
    links = ceil(inputs.links_per_plane / wish.leaves_per_group)
    fixed = (links, inputs.leaf_oversubscription)
    nic_bps, spare = inputs.nic_port_rate_bps, inputs.spare_ports
    most = inputs.servers_per_leaf
    if wish.tiers == THREE_TIERS and inputs.servers_per_pod:
        most = min(most or inputs.servers_per_pod, inputs.servers_per_pod)
    widest = capacity.split_leaf(inputs.leaf, nic_bps, up_rate_bps, *fixed, most, spare)
    if widest.servers == inputs.servers_per_leaf:
        return [widest]
    step = wish.servers_step if widest.servers >= wish.servers_step else 1
    if step > 1:
        most = widest.servers // step * step
        widest = capacity.split_leaf(inputs.leaf, nic_bps, up_rate_bps, *fixed, most, spare)
    narrower = capacity.narrower_splits(widest, inputs.leaf, *fixed, spare)
    return [split for split in narrower if split.servers % step == 0]


def _core_rates(inputs: FabricInputs, wish: ClosWish) -> tuple[int, ...]:
    """Rates of spine-core links, fastest first; a single 0 without cores."""
    if wish.tiers < THREE_TIERS:
        return (0,)
    return capacity.uplink_rates(inputs.spine, inputs.core, inputs.nic_port_rate_bps)


def _shape_of_split(inputs: FabricInputs, wish: ClosWish, split: LeafSplit, core_rate_bps: int) -> ClosShape:
    """Leaves, spines and cores of every room for one split of a leaf."""
    servers = _servers_by_room(inputs)
    rooms = _rooms_of_split(inputs, wish, split, core_rate_bps)
    links = ceil(inputs.links_per_plane / wish.leaves_per_group)
    goal = max(inputs.growth_servers, inputs.n_servers) / max(1, inputs.n_servers)
    limit = inputs.servers_per_pod if wish.tiers == THREE_TIERS else None
    shape = ClosShape(wish, split, rooms, links, core_rate_bps, limit, True)
    leaves = sum(room.most_leaves * room.most_pods for room in rooms)
    given_up = servers_given_up(inputs, split, leaves, shape.port_servers)
    goal_fits = all(ceil(n * goal) <= _most(shape, room) for n, room in zip(servers, rooms, strict=True))
    goal_fits = goal_fits and inputs.growth_servers <= shape.port_servers - given_up
    return replace(shape, goal_fits=goal_fits, room_limits=room_limits(inputs, servers), given_up=given_up)


def _rooms_of_split(
    inputs: FabricInputs, wish: ClosWish, split: LeafSplit, core_rate_bps: int
) -> tuple[RoomShape, ...]:
    """Every room; the first one with the leaf groups that controllers need beside those of its servers."""
    crossing, room_parts = links_at_rooms(inputs, "core" if wish.tiers == THREE_TIERS else "spine")
    build = _room_of_pods if core_rate_bps else _room_of_one_pod

    def built(room: int, servers: int, more: int) -> RoomShape:
        top = Kept(inputs.spares.get("core" if core_rate_bps else "spine", 0), crossing[room], room_parts)
        return build(inputs, wish, split, servers, ceil(servers / split.servers) + more, core_rate_bps, top, room)

    servers = _servers_by_room(inputs)
    rooms, more = [built(room, n, 0) for room, n in enumerate(servers)], 0
    while True:
        uplinks, groups = max(room.spread.uplinks for room in rooms), sum(room.n_groups for room in rooms)
        short = groups_short(inputs, split, wish.leaves_per_group, groups, uplinks)
        if short == 0 or not rooms[0].fits:
            return tuple(rooms)
        more += short
        rooms[0] = built(0, servers[0], more)


def _most(shape: ClosShape, room: RoomShape) -> int:
    return shape.full_pod_servers(room) * room.most_pods


def _room_of_one_pod(
    inputs: FabricInputs,
    wish: ClosWish,
    split: LeafSplit,
    servers: int,
    groups: int,
    _core_rate_bps: int,
    kept: Kept,
    _room: int,
) -> RoomShape:
    """A room of two tiers: one mesh of leaves and spines."""
    empty = Spread(split.uplinks, 0, 0, True)
    leaves = groups * wish.leaves_per_group
    spread = capacity.spread_uplinks(split, leaves, inputs.spine, kept, None, inputs.least_spines) if groups else empty
    return RoomShape(servers, (groups,), spread, None, capacity.most_leaves(split, inputs.spine, kept), 1)


def _room_of_pods(
    inputs: FabricInputs,
    wish: ClosWish,
    split: LeafSplit,
    servers: int,
    groups: int,
    core_rate_bps: int,
    kept: Kept,
    room: int,
) -> RoomShape:
    """A room of three tiers: the pods that need the fewest switches, then the fewest pods."""
    climb = Climb(inputs.spine_oversubscription, core_rate_bps, max(1, capacity.parts_at(inputs.spine, core_rate_bps)))
    spare = Kept(inputs.spares.get("spine", 0))
    most = capacity.most_leaves(split, inputs.spine, spare, climb)
    shapes = []
    for sizes in _pod_sizes(inputs, groups, max(1, most // wish.leaves_per_group), split.servers, room):
        leaves = max(sizes, default=1) * wish.leaves_per_group
        spread = capacity.spread_uplinks(split, leaves, inputs.spine, spare, climb, inputs.least_spines)
        core = capacity.spread_spines(spread, len(sizes), inputs.core, core_rate_bps, kept) if sizes else None
        full = capacity.most_pods(inputs.core, core_rate_bps, spread.spines * spread.up, kept)
        shapes.append(RoomShape(servers, sizes, spread, core, most, full))
    return min(shapes, key=_room_order)


def _room_order(shape: RoomShape) -> tuple[bool, int, int, int]:
    """Fewest switches, then fewest pods; where none fits, fewest pods first, so that what is short is the core's."""
    pods = len(shape.groups)
    return not shape.fits, 0 if shape.fits else pods, shape.spines + shape.cores, pods


def _pod_sizes(
    inputs: FabricInputs, groups: int, most: int, servers_per_group: int, room: int
) -> Iterator[tuple[int, ...]]:
    """Leaf groups of each pod, for every way that is tried: pods of the wished size with a smaller last one, the
    wished number of pods, or pods as equal as the groups allow.
    """
    if inputs.servers_per_pod:
        size = max(1, inputs.servers_per_pod // servers_per_group)
        full, rest = divmod(groups, size)
        yield (size,) * full + ((rest,) if rest else ())
        return
    wished = inputs.pods[room] if room < len(inputs.pods) else 0
    counts = [wished] if wished else sorted({ceil(groups / size) for size in range(1, most + 1)})
    for pods in counts:
        base, more = divmod(groups, pods) if pods else (0, 0)
        yield (base + 1,) * more + (base,) * (pods - more)
