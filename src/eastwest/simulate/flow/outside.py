"""What happens from outside in the middle of a run: link rates, other paths, caps, flows given up."""

from __future__ import annotations

import numpy as np

from eastwest.simulate.compiled import kernel
from eastwest.simulate.flow.crossing import has_room, join, mark_leaving, touch
from eastwest.simulate.flow.heap import remove
from eastwest.simulate.flow.records import AMOUNT_PER_BYTE, OPEN_BPS, Records, World
from eastwest.simulate.flow.tables import EventKind, FlowState
from eastwest.simulate.flow.tcp_windows import close_window

LINK_RATE, PATH_SWAP, FLOW_PATH = int(EventKind.LINK_RATE), int(EventKind.PATH_SWAP), int(EventKind.FLOW_PATH)
FLOW_CAP, FLOW_STOP = int(EventKind.FLOW_CAP), int(EventKind.FLOW_STOP)
WAITING, STOPPED = int(FlowState.WAITING), int(FlowState.STOPPED)


@kernel
def set_link_rate(world: World, link: int, rate_bps: float) -> None:
    """Change a link's rate; all its flows are solved again."""
    record = world.links[link]
    record["rate_bps"] = rate_bps
    record["is_changed"] = world.state[0]["stamp"]
    touch(world.state, world.links, world.lists.touched, link, 0.0)


@kernel
def set_policer(world: World, link: int, rate_bps: float) -> None:
    """Another rate of a policer; 0: nothing passes."""
    world.drops[link]["police_bps"] = rate_bps
    is_open = rate_bps > 0.0 and not world.state[0]["is_answered"]
    set_link_rate(world, link, OPEN_BPS if is_open else rate_bps)


@kernel
def bring_up_to_now(world: World, index: int) -> None:
    """Count what a flow has sent until now."""
    slot, now_ps = world.slots[index], world.state[0]["now_ps"]
    sent = slot["rate_bps"] * (now_ps - slot["at_ps"])
    if world.state[0]["has_loss"]:
        world.paces[index]["carried"] += sent
        sent *= world.paces[index]["gain"]
    slot["left"] = max(slot["left"] - sent, 0.0)
    slot["at_ps"] = now_ps


@kernel
def book_carried(world: World, index: int) -> None:
    """Let the links be booked with what a lossy flow sent, not with what arrived for good."""
    pace, slot = world.paces[index], world.slots[index]
    world.fates[slot["flow"]]["carried"] += pace["carried"] / AMOUNT_PER_BYTE
    slot["booked"] = slot["left"] + pace["carried"]
    pace["carried"] = 0.0


@kernel
def prepare_leaving(world: World, index: int) -> None:
    """What transports keep of a flow that leaves its links now, and that was brought up to now."""
    now = world.state[0]
    if now["has_windows"]:
        close_window(world, index)
    if now["has_loss"]:
        book_carried(world, index)


@kernel
def leave(world: World, index: int) -> None:
    """Take a flow off its links and off the heap of completions, once a batch."""
    state, slots = world.state, world.slots
    if slots[index]["is_leaving"]:
        return
    bring_up_to_now(world, index)
    prepare_leaving(world, index)
    mark_leaving(state, world.links, world.hops, slots, world.sent_bytes, world.lists.touched, index)
    if slots[index]["heap_at"] >= 0:
        remove(world.due, slots, state[0]["n_due"], int(slots[index]["heap_at"]))
        state[0]["n_due"] -= 1
    world.lists.leaving[state[0]["n_leaving"]] = index
    state[0]["n_leaving"] += 1


@kernel
def swap_path(world: World, path: int, other: int) -> None:
    """Send all flows of a path, now and later, another way; `leave_swapped` moves those of now, all at once."""
    world.ways[path]["now"] = other
    world.state[0]["has_swaps"] = 1


@kernel
def leave_swapped(world: World) -> None:
    """Take the flows whose path was swapped off their old links: one pass for all swaps of a batch."""
    world.state[0]["has_swaps"] = 0
    for index in range(world.state[0]["n_slots"]):
        slot = world.slots[index]
        run = world.runs[slot["flow"]]
        if run["slot"] == index:
            way = world.ways[world.ways[run["way"]]["now"]]
            if way["first"] != slot["hop_first"] or way["end"] != slot["hop_end"]:
                leave(world, index)


@kernel
def cap_flow(world: World, flow: int, cap_bps: float) -> None:
    """Limit a flow from now on."""
    world.wants.cap_bps[flow] = cap_bps
    if world.runs[flow]["slot"] >= 0:
        leave(world, int(world.runs[flow]["slot"]))


@kernel
def stop_flow_and_dependants(world: World, flow: int) -> None:
    """Give up a flow that has not ended and all flows that wait for it, however indirectly."""
    runs, wants, trail = world.runs, world.wants, world.lists.trail
    trail[0], n = flow, 1
    while n > 0:
        n -= 1
        given_up = trail[n]
        run = runs[given_up]
        if run["state"] == STOPPED or (run["state"] != WAITING and run["slot"] < 0):
            continue
        if run["slot"] >= 0:
            leave(world, int(run["slot"]))
        run["state"] = STOPPED
        world.state[0]["n_ended"] += 1
        for row in range(wants.child_offsets[given_up], wants.child_offsets[given_up + 1]):
            trail[n] = wants.children[row]
            n += 1


@kernel
def apply_event(world: World, event: int) -> None:
    """Apply one outside event."""
    record = world.events[event]
    kind, subject = record["kind"], int(record["subject"])
    world.state[0]["n_events"] += 1
    if kind == LINK_RATE:
        if world.state[0]["is_policed"] and world.drops[subject]["police_bps"] < np.inf:
            set_policer(world, subject, record["value"])
        else:
            set_link_rate(world, subject, record["value"])
    elif kind == PATH_SWAP:
        swap_path(world, subject, int(record["value"]))
    elif kind == FLOW_PATH:
        world.runs[subject]["way"] = int(record["value"])
        if world.runs[subject]["slot"] >= 0:
            leave(world, int(world.runs[subject]["slot"]))
    elif kind == FLOW_CAP:
        cap_flow(world, subject, record["value"])
    elif kind == FLOW_STOP:
        stop_flow_and_dependants(world, subject)


@kernel
def rejoin(world: World, pool: Records, index: int) -> bool:
    """Put a flow that left in this batch, but has not ended, on its path of now; False when the pool is full."""
    slot = world.slots[index]
    run = world.runs[slot["flow"]]
    way = world.ways[world.ways[run["way"]]["now"]]
    if not has_room(world.state, world.links, world.hops, pool, way["first"], way["end"]):
        return False
    slot["hop_first"], slot["hop_end"] = way["first"], way["end"]
    slot["cap_level"] = world.wants.cap_bps[slot["flow"]] / slot["weight"]
    slot["level"], slot["is_leaving"] = np.inf, 0
    world.lists.fresh[world.state[0]["n_fresh"]] = index
    world.state[0]["n_fresh"] += 1
    join(world.state, world.links, world.hops, world.slots, pool, world.lists.touched, index)
    return True
