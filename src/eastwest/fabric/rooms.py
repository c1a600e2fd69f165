"""Links between rooms: spread evenly over the topmost switches of both rooms (spines, or cores with three tiers), with
the boxes that stand in their path.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil

import numpy as np

from eastwest.fabric.capacity import parts_at
from eastwest.fabric.draft import Draft, Ints
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.tables import LinkKind, NodeKind, RoomLink
from eastwest.spec.hosts import RoomLinkWish
from eastwest.spec.resolve import SwitchFacts

RATIO_TOLERANCE = 1e-9  # of a whole number of servers


def links_at_rooms(inputs: FabricInputs, tier: str) -> tuple[list[int], int]:
    """Room links that end in each room, per plane, and how many of them one port of the topmost tier carries."""
    counts = [0] * len(inputs.rooms)
    switch = inputs.switches.get(tier)
    rates = [wish.rate_bps for wish in inputs.room_links] if switch else []
    parts = min((max(1, parts_at(switch, rate)) for rate in rates if switch), default=1)
    for wish in inputs.room_links:
        for name in wish.between:
            if name in inputs.rooms:
                counts[inputs.rooms.index(name)] += ceil(wish.count / inputs.planes)
    return counts, parts


def add_room_links(
    draft: Draft, inputs: FabricInputs, tops: list[list[Ints]], switch: SwitchFacts
) -> tuple[RoomLink, ...]:
    """Draws every room link (`tops` by room and plane, all of model `switch`) and says what it carries: its own rate,
    or the least that a box in its path lets through.

    Link j goes to plane j modulo planes, and there to the next of `tops` of each room in turn. A box is a node of the
    first room; the fibre to the other room is the last piece of the path.
    """
    built = []
    for index, wish in enumerate(inputs.room_links):
        here, there = (inputs.rooms.index(name) for name in wish.between)
        rate = min(wish.rate_bps, switch.port_rate_bps)
        number = np.arange(wish.count)
        plane = number % inputs.planes
        first = _spread_over(tops[here], number, inputs.planes)
        last = _spread_over(tops[there], number, inputs.planes)
        if first is None or last is None:
            continue
        boxes = [draft.add_nodes(NodeKind.BOX, [box.name], room=here) for box in wish.boxes]
        hops = list(pairwise([first, *(np.repeat(box, wish.count) for box in boxes), last]))
        lengths_m = [0.0] * len(boxes) + [wish.distance_m]
        for (a, b), length_m in zip(hops, lengths_m, strict=True):
            draft.add_links(LinkKind.ROOM, a, b, rate, plane=plane, length_m=length_m)
        through = min(rate_through(wish), wish.count * rate)
        path = f"room_links[{index}]"
        built.append(RoomLink((here, there), wish.distance_m, wish.count, wish.count * rate, through, wish.boxes, path))
    return tuple(built)


def rate_through(wish: RoomLinkWish) -> int:
    """Bit/s that a room link lets through: its cables together, or the least limit of a box in its path."""
    limits = [box.rate_limit_bps for box in wish.boxes if box.rate_limit_bps is not None]
    return min([wish.count * wish.rate_bps, *limits])


def rate_between(wishes: tuple[RoomLinkWish, ...], wish: RoomLinkWish) -> int:
    """Bit/s that all room links between the two rooms of `wish` let through together."""
    return sum(rate_through(other) for other in wishes if set(other.between) == set(wish.between))


def share_between(links: tuple[RoomLink, ...], link: RoomLink) -> float:
    """Share of the bytes between its two rooms that a room link carries: ECMP takes all their cables alike."""
    return link.n_links / sum(other.n_links for other in links if set(other.rooms) == set(link.rooms))


def room_limits(inputs: FabricInputs, servers: list[int]) -> tuple[int | None, ...]:
    """Most servers of each room at the wished ratio of its room links; None where nothing is wished.

    The links between two rooms are judged together, against the smaller of the rooms (the later one of equals), so
    that room ends at floor(wish * rate_bps of the links / (nics * nic_rate_bps)); one that has more already ends at
    what it has.
    """
    limits: list[int | None] = [None] * len(inputs.rooms)
    nic_bps = inputs.server.nics * inputs.server.nic_rate_bps
    for wish in inputs.room_links:
        if wish.oversubscription_ratio is None or not set(wish.between) <= set(inputs.rooms):
            continue
        first, last = sorted(inputs.rooms.index(name) for name in wish.between)
        room = first if servers[first] < servers[last] else last
        rate_bps = rate_between(inputs.room_links, wish)
        most = max(servers[room], int(wish.oversubscription_ratio * rate_bps / nic_bps + RATIO_TOLERANCE))
        limits[room] = most if limits[room] is None else min(most, limits[room] or most)
    return tuple(limits)


def link_name(wish: RoomLinkWish) -> str:
    """`east - west`: a room link as findings name it."""
    return " - ".join(wish.between)


def _spread_over(by_plane: list[Ints], number: Ints, planes: int) -> Ints | None:
    """(count,) switch of each link, in turn inside its plane; None when the room has none."""
    if any(len(switches) == 0 for switches in by_plane):
        return None
    table = np.stack(by_plane)
    chosen: Ints = table[number % planes, (number // planes) % table.shape[1]]
    return chosen
