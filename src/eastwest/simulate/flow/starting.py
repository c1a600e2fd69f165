"""How a flow starts and ends: its slot, its dependants."""

from __future__ import annotations

import numpy as np

from eastwest.simulate.compiled import kernel
from eastwest.simulate.flow.crossing import has_room, join
from eastwest.simulate.flow.heap import drop_top, push
from eastwest.simulate.flow.records import AMOUNT_PER_BYTE, Lists, Records, Wants, World
from eastwest.simulate.flow.tables import FlowState, Int64

WAITING, ACTIVE, DONE = int(FlowState.WAITING), int(FlowState.ACTIVE), int(FlowState.DONE)


@kernel
def free_slot(state: Records, lists: Lists) -> int:
    """A slot that no flow uses: the one freed last, or a new one."""
    now = state[0]
    if now["n_free"] > 0:
        now["n_free"] -= 1
        return int(lists.free_slots[now["n_free"]])
    now["n_slots"] += 1
    return int(now["n_slots"] - 1)


@kernel
def open_slot(
    state: Records, slots: Records, runs: Records, ways: Records, wants: Wants, lists: Lists, flow: int
) -> int:
    """Fill in the slot of a flow that starts now."""
    index = free_slot(state, lists)
    slot, way = slots[index], ways[ways[runs[flow]["way"]]["now"]]
    weight = wants.weight[flow]
    slot["weight"], slot["cap_level"] = weight, wants.cap_bps[flow] / weight
    slot["level"], slot["rate_bps"] = np.inf, 0.0
    slot["left"] = slot["booked"] = wants.size_bytes[flow] * AMOUNT_PER_BYTE
    slot["at_ps"] = state[0]["now_ps"]
    slot["hop_first"], slot["hop_end"] = way["first"], way["end"]
    slot["flow"], slot["neck"], slot["mark"], slot["heap_at"] = flow, -1, 0, -1
    slot["priority"], slot["is_open"], slot["is_leaving"] = wants.priority[flow], 0, 0
    runs[flow]["slot"], runs[flow]["state"] = index, ACTIVE
    state[0]["n_live"] += 1
    return index


@kernel
def release_children(state: Records, runs: Records, starts: Records, wants: Wants, flow: int) -> None:
    """Tell the flows that wait for this one when it ended; those that wait for nothing more join the heap of starts."""
    end, now = runs[flow]["end_ps"], state[0]
    for row in range(wants.child_offsets[flow], wants.child_offsets[flow + 1]):
        child = wants.children[row]
        run = runs[child]
        run["ready_ps"] = max(run["ready_ps"], end + wants.parent_delay_ps[child])
        run["n_pending"] -= 1
        if run["n_pending"] == 0 and run["state"] == WAITING:
            push(starts, now["n_starts"], run["ready_ps"], child)
            now["n_starts"] += 1


@kernel
def end_flow(state: Records, runs: Records, starts: Records, ways: Records, wants: Wants, flow: int) -> None:
    """The last byte leaves now and is received one propagation delay later."""
    run = runs[flow]
    run["end_ps"] = state[0]["now_ps"] + ways[ways[run["way"]]["now"]]["delay_ps"]
    run["state"], run["slot"] = DONE, -1
    state[0]["n_ended"] += 1
    release_children(state, runs, starts, wants, flow)


@kernel
def can_start(world: World, pool: Records, flow: int) -> bool:
    """Whether the pool has room for the flow on its path."""
    way = world.ways[world.ways[world.runs[flow]["way"]]["now"]]
    return has_room(world.state, world.links, world.hops, pool, way["first"], way["end"])


@kernel
def start_flow(world: World, pool: Records, flow: int) -> None:
    """Start a flow now, if it was not given up; one of no bytes, or that nothing limits, ends at once."""
    state, runs, ways, wants, lists = world.state, world.runs, world.ways, world.wants, world.lists
    if runs[flow]["state"] != WAITING:
        return
    way = ways[ways[runs[flow]["way"]]["now"]]
    runs[flow]["start_ps"] = state[0]["now_ps"]
    state[0]["n_events"] += 1
    is_free = way["first"] == way["end"] and wants.cap_bps[flow] == np.inf
    if wants.size_bytes[flow] == 0 or is_free:
        end_flow(state, runs, world.starts, ways, wants, flow)
        return
    slot = open_slot(state, world.slots, runs, ways, wants, lists, flow)
    join(state, world.links, world.hops, world.slots, pool, lists.touched, slot)
    lists.fresh[state[0]["n_fresh"]] = slot
    state[0]["n_fresh"] += 1


@kernel
def next_start(state: Records, runs: Records, starts: Records, firsts: Int64) -> float:
    """When the next flow starts, ps; infinite when none is known to."""
    now, soonest = state[0], np.inf
    if now["next_first"] < len(firsts):
        soonest = runs[firsts[now["next_first"]]]["ready_ps"]
    if now["n_starts"] > 0:
        soonest = min(soonest, starts[0]["key"])
    return soonest


@kernel
def start_due(world: World, pool: Records, limit: float) -> bool:
    """Start every flow that is due until `limit`; False when the pool is full before."""
    now, runs, firsts = world.state[0], world.runs, world.lists.firsts
    while now["next_first"] < len(firsts) and runs[firsts[now["next_first"]]]["ready_ps"] <= limit:
        flow = firsts[now["next_first"]]
        if not can_start(world, pool, flow):
            return False
        now["next_first"] += 1
        start_flow(world, pool, flow)
    while now["n_starts"] > 0 and world.starts[0]["key"] <= limit:
        flow = world.starts[0]["item"]
        if not can_start(world, pool, flow):
            return False
        drop_top(world.starts, now["n_starts"])
        now["n_starts"] -= 1
        start_flow(world, pool, flow)
    return True
