"""The event loop: the next instant, who ends, what changes, who starts, the new rates.

Everything that is due at one instant (within rounding) is one batch with one solve, so rings in lockstep cost one
solve a step.
"""

from __future__ import annotations

import numpy as np

from eastwest.simulate.compiled import entry_kernel, kernel
from eastwest.simulate.flow.crossing import mark_leaving, pack
from eastwest.simulate.flow.flowlets import end_flowlet
from eastwest.simulate.flow.heap import TOP, remove
from eastwest.simulate.flow.loss_rates import narrow_policers
from eastwest.simulate.flow.outside import apply_event, bring_up_to_now, leave_swapped, prepare_leaving, rejoin
from eastwest.simulate.flow.recording import record_batch
from eastwest.simulate.flow.records import TIE_RATIO, Records, World
from eastwest.simulate.flow.solving import solve
from eastwest.simulate.flow.starting import begin_transport, end_flow, next_start, start_due, start_flowlets
from eastwest.simulate.flow.tables import FlowState
from eastwest.simulate.flow.tcp_windows import take_ticks, watch_solved

ACTIVE, STOPPED = int(FlowState.ACTIVE), int(FlowState.STOPPED)
PAUSED, ENDED, POOL_IS_FULL = 0, 1, 2  # why `advance` came back


@kernel
def next_instant(world: World) -> float:
    """When something happens next, ps; infinite when nothing does."""
    now = world.state[0]
    soonest = next_start(world.state, world.runs, world.starts, world.lists.firsts)
    if now["n_due"] > 0:
        soonest = min(soonest, world.due[0]["key"])
    if now["next_event"] < len(world.events):
        soonest = min(soonest, world.events[now["next_event"]]["at_ps"])
    if now["n_ticks"] > 0 and soonest < np.inf:
        soonest = min(soonest, world.ticks[0]["key"])
    return soonest


@kernel
def take_completions(world: World, limit: float) -> None:
    """Take the flows that send their last byte until `limit` off the heap and off their links."""
    state, slots, due = world.state, world.slots, world.due
    now = state[0]
    while now["n_due"] > 0 and due[0]["key"] <= limit:
        index = int(due[TOP]["item"])
        remove(due, slots, now["n_due"], TOP)
        now["n_due"] -= 1
        if now["has_loss"]:
            bring_up_to_now(world, index)
        slots[index]["left"] = 0.0
        if now["has_transport"]:
            prepare_leaving(world, index)
        mark_leaving(state, world.links, world.hops, slots, world.sent_bytes, world.lists.touched, index)
        world.lists.leaving[now["n_leaving"]] = index
        now["n_leaving"] += 1
        world.runs[slots[index]["flow"]]["slot"] = -1


@kernel
def settle_leaving(world: World, pool: Records) -> bool:
    """End the flows that have sent everything, let the stopped go, put the others on their new path.

    False when the pool is full before.
    """
    now, lists = world.state[0], world.lists
    while now["n_settled"] < now["n_leaving"]:
        index = int(lists.leaving[now["n_settled"]])
        slot = world.slots[index]
        run = world.runs[slot["flow"]]
        if run["state"] == ACTIVE and run["slot"] == index:
            if not rejoin(world, pool, index):
                return False
            now["n_settled"] += 1
            continue
        now["n_settled"] += 1
        if run["state"] == ACTIVE:
            end_flow(world.state, world.runs, world.starts, world.ways, world.wants, world.fates, slot["flow"])
            now["n_events"] += 1
        now["n_live"] -= 1
        if now["has_flowlets"]:
            end_flowlet(world, slot["flow"])
        if run["state"] == STOPPED:
            run["slot"] = -2 - index  # keeps the slot, and with it what was sent
            continue
        run["slot"] = -1
        lists.free_slots[now["n_free"]] = index
        now["n_free"] += 1
    return True


@kernel
def begin_batch(world: World, pool: Records, instant: float) -> None:
    """Take what ends at this instant off its links, and apply what happens from outside."""
    now = world.state[0]
    now["now_ps"] = instant
    now["stamp"] += 1
    now["n_touched"] = now["n_leaving"] = now["n_settled"] = now["n_fresh"] = 0
    now["in_batch"] = 1
    limit = now["limit_ps"] = instant * (1.0 + TIE_RATIO)
    take_completions(world, limit)
    while now["next_event"] < len(world.events) and world.events[now["next_event"]]["at_ps"] <= limit:
        apply_event(world, now["next_event"])
        now["next_event"] += 1
    if now["has_swaps"]:
        leave_swapped(world)
    if now["has_windows"]:
        take_ticks(world, limit)
    pack(world.state, world.links, world.slots, pool, world.lists.touched)


@kernel
def finish_batch(world: World, pool: Records) -> bool:
    """Put what continues or starts at this instant on its links and find the new rates; False when the pool is full."""
    now = world.state[0]
    if not settle_leaving(world, pool):
        return False
    if now["has_flowlets"]:
        if not start_flowlets(world, pool, now["limit_ps"]):
            return False
    elif not start_due(world, pool, now["limit_ps"]):
        return False
    if now["has_transport"]:
        begin_transport(world)
    if now["is_policed"] and now["is_answered"]:
        narrow_policers(world)
    solve(world, pool)
    if now["has_windows"]:
        watch_solved(world)
    if now["has_loads"]:
        record_batch(world, pool)
    now["in_batch"] = 0
    return True


@entry_kernel
def advance(world: World, pool: Records, max_work: int) -> int:
    """Run batches until nothing is left, about `max_work` events and rates are done, or the pool is full."""
    now = world.state[0]
    stop_at = now["n_events"] + now["n_rates"] + max_work
    while now["n_events"] + now["n_rates"] < stop_at:
        if not now["in_batch"]:
            instant = next_instant(world)
            if instant == np.inf:
                return ENDED
            begin_batch(world, pool, instant)
        if not finish_batch(world, pool):
            return POOL_IS_FULL
    return PAUSED
