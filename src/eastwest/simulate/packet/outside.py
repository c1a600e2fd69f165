"""Changes from outside at their time: rates of links, ways and caps of flows, flows that are given up."""

from __future__ import annotations

import numpy as np

from eastwest.simulate.flow.tables import EventKind
from eastwest.simulate.packet.flows import ACTIVE, STOPPED, WAITING
from eastwest.simulate.packet.link import change_rate
from eastwest.simulate.packet.ways import Routes, swapped
from eastwest.simulate.packet.world import World
from eastwest.simulate.prepared import Prepared


def apply_outside(world: World, prepared: Prepared, routes: Routes, row: int) -> World:
    """The world after one row of the event table; swaps of paths at one time are made together, by the first of them.

    A link of rate 0 loses what is sent into it, queue and all; what is on its wire still arrives.
    """
    events = prepared.events
    kind, subject, value = int(events.kind[row]), int(events.subject[row]), int(events.value[row])
    if kind == EventKind.LINK_RATE:
        change_rate(world.links, world.heap, world.clock, subject, value)
    elif kind == EventKind.PATH_SWAP:
        same = np.flatnonzero((events.at_ps == events.at_ps[row]) & (events.kind == EventKind.PATH_SWAP))
        if row == same[0]:
            return swapped(world, prepared, routes, events.subject[same], events.value[same])
    elif kind == EventKind.FLOW_PATH:
        world.flows[subject]["route"] = routes.first[value]
    elif kind == EventKind.FLOW_CAP:
        control = world.controls[subject]
        control["line_bps"] = value
        control["rate_bps"] = min(int(control["rate_bps"]), value)
    else:
        give_up(world, subject)
    return world


def give_up(world: World, flow: int) -> None:
    """The flow, and all that wait for it, end here."""
    left = [flow]
    while left:
        index = left.pop()
        row = world.flows[index]
        if row["state"] not in (WAITING, ACTIVE):
            continue
        world.clock[0]["n_live"] -= int(row["state"] == ACTIVE)
        world.clock[0]["n_open"] -= 1
        row["state"] = STOPPED
        left += world.children[world.child_offsets[index] : world.child_offsets[index + 1]].tolist()
