"""Links between rooms: spread evenly over the spines of both rooms, with the boxes that stand in their path."""

from __future__ import annotations

from itertools import pairwise
from math import ceil

import numpy as np

from eastwest.fabric.capacity import parts_at
from eastwest.fabric.draft import Draft, Ints
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.tables import LinkKind, NodeKind, RoomLink


def links_at_rooms(inputs: FabricInputs) -> tuple[list[int], int]:
    """Room links that end in each room, per plane, and how many of them one spine port carries."""
    counts = [0] * len(inputs.rooms)
    parts = 1
    for wish in inputs.room_links:
        parts = (
            min(max(1, parts_at(inputs.spine, wish.rate_bps)), parts)
            if parts > 1
            else max(1, parts_at(inputs.spine, wish.rate_bps))
        )
        for name in wish.between:
            if name in inputs.rooms:
                counts[inputs.rooms.index(name)] += ceil(wish.count / inputs.planes)
    return counts, parts


def add_room_links(draft: Draft, inputs: FabricInputs, spines: list[list[Ints]]) -> tuple[RoomLink, ...]:
    """Draws every room link (`spines` by room and plane) and says what it carries: its own rate, or the least that a
    box in its path lets through.

    Link j goes to plane j modulo planes, and there to the next spine of each room in turn. A box is a node of the first
    room; the fibre to the other room is the last piece of the path.
    """
    built = []
    for wish in inputs.room_links:
        rooms = tuple(inputs.rooms.index(name) for name in wish.between)
        rate = min(wish.rate_bps, inputs.spine.port_rate_bps)
        number = np.arange(wish.count)
        plane = number % inputs.planes
        ends = [_spread_over(spines[room], number, inputs.planes) for room in rooms]
        if any(end is None for end in ends):
            continue
        boxes = [draft.add_nodes(NodeKind.BOX, [box.name], room=rooms[0]) for box in wish.boxes]
        hops = [ends[0], *(np.repeat(box, wish.count) for box in boxes), ends[1]]
        for i, (a, b) in enumerate(pairwise(hops)):
            last = i == len(hops) - 2
            assert a is not None
            assert b is not None
            draft.add_links(LinkKind.ROOM, a, b, rate, plane=plane, length_m=wish.distance_m if last else 0.0)
        limits = [box.rate_limit_bps for box in wish.boxes if box.rate_limit_bps is not None]
        facts = tuple(box.model_dump() for box in wish.boxes)
        built.append(
            RoomLink((rooms[0], rooms[1]), wish.distance_m, wish.count, min([wish.count * rate, *limits]), facts)
        )
    return tuple(built)


def _spread_over(by_plane: list[Ints], number: Ints, planes: int) -> Ints | None:
    """(count,) spine of each link, in turn inside its plane; None when the room has no spines."""
    if any(len(spines) == 0 for spines in by_plane):
        return None
    table = np.stack(by_plane)
    chosen: Ints = table[number % planes, (number // planes) % table.shape[1]]
    return chosen
