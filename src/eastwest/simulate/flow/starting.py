"""How a flow starts and ends: its slot, its dependants."""

from __future__ import annotations

import numpy as np

from eastwest.simulate.compiled import kernel
from eastwest.simulate.flow.crossing import has_room, join
from eastwest.simulate.flow.flowlets import begin_flowlet, choose_way
from eastwest.simulate.flow.heap import drop_top, push
from eastwest.simulate.flow.records import AMOUNT_PER_BYTE, Lists, Records, Wants, World
from eastwest.simulate.flow.tables import FlowState, Int64
from eastwest.simulate.flow.tcp_windows import open_window

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
def end_flow(
    state: Records, runs: Records, starts: Records, ways: Records, wants: Wants, fates: Records, flow: int
) -> None:
    """The last byte leaves now and is received one propagation delay later, or after the time-out when it was lost."""
    run = runs[flow]
    run["end_ps"] = state[0]["now_ps"] + ways[ways[run["way"]]["now"]]["delay_ps"]
    if len(fates) > 0 and wants.size_bytes[flow] > 0:
        run["end_ps"] += fates[flow]["tail_ps"]
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
        end_flow(state, runs, world.starts, ways, wants, world.fates, flow)
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
def next_due(state: Records, runs: Records, starts: Records, firsts: Int64, limit: float) -> int:
    """The next flow that starts until `limit`: those without parents before the others; -1 when there is none."""
    now = state[0]
    if now["next_first"] < len(firsts) and runs[firsts[now["next_first"]]]["ready_ps"] <= limit:
        return int(firsts[now["next_first"]])
    if now["n_starts"] > 0 and starts[0]["key"] <= limit:
        return int(starts[0]["item"])
    return -1


@kernel
def take_due(state: Records, runs: Records, starts: Records, firsts: Int64, limit: float) -> None:
    """Take that flow off its list."""
    now = state[0]
    if now["next_first"] < len(firsts) and runs[firsts[now["next_first"]]]["ready_ps"] <= limit:
        now["next_first"] += 1
    else:
        drop_top(starts, now["n_starts"])
        now["n_starts"] -= 1


@kernel
def start_due(world: World, pool: Records, limit: float) -> bool:
    """Start every flow that is due until `limit`; False when the pool is full before."""
    state, runs, starts, firsts = world.state, world.runs, world.starts, world.lists.firsts
    flow = next_due(state, runs, starts, firsts, limit)
    while flow >= 0:
        if not can_start(world, pool, flow):
            return False
        take_due(state, runs, starts, firsts, limit)
        start_flow(world, pool, flow)
        flow = next_due(state, runs, starts, firsts, limit)
    return True


@kernel
def start_flowlets(world: World, pool: Records, limit: float) -> bool:
    """The same with ways chosen at the start. Apart, so that a plain start, the busiest loop, stays short."""
    state, runs, starts, firsts = world.state, world.runs, world.starts, world.lists.firsts
    flow = next_due(state, runs, starts, firsts, limit)
    while flow >= 0:
        choose_way(world, flow)
        if not can_start(world, pool, flow):
            return False
        take_due(state, runs, starts, firsts, limit)
        start_flow(world, pool, flow)
        if runs[flow]["slot"] >= 0:
            begin_flowlet(world, flow)
        flow = next_due(state, runs, starts, firsts, limit)
    return True


@kernel
def begin_transport(world: World) -> None:
    """What transports do with the flows that start or take another path in this batch: windows open, nothing is lost
    yet.
    """
    now = world.state[0]
    for row in range(now["n_fresh"]):
        index = world.lists.fresh[row]
        if now["has_windows"]:
            open_window(world, index)
        if now["has_loss"]:
            world.paces[index]["gain"], world.paces[index]["carried"] = 1.0, 0.0
