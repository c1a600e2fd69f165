"""Whether the books of a run balance: every packet is in one place, and all memory and room belong to a packet.

Looked at once, after the run, by walking what is left: a packet that is lost to the engine or counted twice would make
queues, pauses and drops wrong without any other sign.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from eastwest.simulate.network import Ints
from eastwest.simulate.packet.buffer import cells
from eastwest.simulate.packet.kernel import NONE
from eastwest.simulate.packet.queues import N_LANES
from eastwest.simulate.packet.world import World


@dataclass(frozen=True, slots=True)
class Imbalance:
    """What does not balance: `what` of a link (-1: of the run), how much there should be and how much is booked."""

    what: str
    link: int
    expected: int
    booked: int


def imbalances(world: World) -> Iterator[Imbalance]:
    """Every mistake in the books; none in a sound run, however it ended."""
    n_queues = len(world.queues)
    seen: list[int] = []
    waiting, held = np.zeros(n_queues, np.int64), np.zeros(n_queues, np.int64)
    cell_bytes = world.nodes["cell_bytes"][world.ingress["node"]]
    for index in np.flatnonzero(world.queues["first"] != NONE).tolist():
        for packet in chain(world, int(world.queues["first"][index])):
            seen.append(packet)
            size, group = int(world.packets["size"][packet]), int(world.packets["ingress"][packet])
            waiting[index] += size
            if group != NONE:
                is_credited = bool(world.ingress["is_credited"][group])
                held[group] += size if is_credited else _cells(size, int(cell_bytes[group]))
    for column in ("wire_first", "mac_first", "obey_first"):
        for first in world.links[column][world.links[column] != NONE].tolist():
            seen += chain(world, first)
    for first in world.queues["credit_first"][world.queues["credit_first"] != NONE].tolist():
        seen += chain(world, first)
    in_use = len(world.packets) - int(world.clock[0]["n_free"])
    if len(seen) != in_use or len(set(seen)) != len(seen):
        yield Imbalance("packets", NONE, len(set(seen)), in_use)
    booked = world.ingress["bytes"] + world.ingress["headroom_used_bytes"]
    yield from _differences("bytes that wait", waiting, world.queues["bytes"])
    yield from _differences("memory of packets", held, booked)


def chain(world: World, first: int) -> list[int]:
    """Rows of packets, each the next of the one before."""
    found = []
    while first != NONE:
        found.append(first)
        first = int(world.packets["next"][first])
    return found


def _cells(size_bytes: int, cell_bytes: int) -> int:
    return int(getattr(cells, "py_func", cells)(size_bytes, cell_bytes))


def _differences(what: str, expected: Ints, booked: Ints) -> Iterator[Imbalance]:
    for index in np.flatnonzero(expected != booked).tolist():
        yield Imbalance(what, index // N_LANES, int(expected[index]), int(booked[index]))
