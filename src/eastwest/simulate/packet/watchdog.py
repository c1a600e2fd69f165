"""PFC watchdog: a queue that is paused for long without sending is taken out of the pause, by dropping or by sending.

Looked at every `poll`: a queue is in a storm when it holds packets, sent none and was paused all through the detection
time; the watchdog then drops what it holds and gets (or sends it in spite of the pauses) until no pause has come for
the restoration time. Source: SONiC's rule since sonic-swss 3036 (not empty, nothing sent, paused for more than 99 % of
the interval).
"""

from __future__ import annotations

from eastwest.simulate.packet.buffer import release
from eastwest.simulate.packet.events import WATCH, push
from eastwest.simulate.packet.kernel import NONE, kernel
from eastwest.simulate.packet.pfc import lift, watch_drain
from eastwest.simulate.packet.pool import give_back
from eastwest.simulate.packet.queues import N_LANES, dequeue
from eastwest.simulate.packet.world import World

NOTHING, DROP, FORWARD = range(3)  # actions


@kernel
def watch_all(world: World) -> None:
    """One look at every queue, and the next one."""
    wish = world.params[0]
    for queue in range(len(world.queues)):
        look(world, queue)
    push(world.heap, world.clock, world.clock[0]["now_ps"] + wish["poll_ps"], WATCH, 0)


@kernel
def look(world: World, index: int) -> None:
    """Whether a storm begins or ends in one queue."""
    queue, wish = world.queues[index], world.params[0]
    if queue["is_credited"]:
        return  # blocked for room, not paused: the lifetime at its head is its watchdog
    frames = queue["pfc_received"] - queue["seen_frames"]
    sent = queue["tx_packets"] - queue["seen_packets"]
    queue["seen_frames"], queue["seen_packets"] = queue["pfc_received"], queue["tx_packets"]
    if queue["storm"] != NOTHING:
        queue["quiet_ps"] = 0 if frames > 0 else queue["quiet_ps"] + wish["poll_ps"]
        if queue["quiet_ps"] >= wish["restore_ps"]:
            queue["storm"] = NOTHING
        elif queue["storm"] == DROP:
            flush(world, index)
        return
    is_paused = world.links[index // N_LANES]["paused"] >> (index % N_LANES) & 1
    if not is_paused or queue["first"] == NONE or sent > 0:
        queue["stuck_ps"] = 0
        return
    queue["stuck_ps"] += wish["poll_ps"]
    if queue["stuck_ps"] >= wish["detect_ps"]:
        queue["stuck_ps"] = queue["quiet_ps"] = 0
        queue["n_storms"] += 1
        queue["storm"] = wish["watchdog"]
        if queue["storm"] == DROP:
            flush(world, index)
        else:
            lift(world.links, world.queues, world.heap, world.clock, index)


@kernel
def flush(world: World, index: int) -> None:
    """Drop what a queue holds, and end the pauses that its packets caused."""
    links, packets, heap, clock = world.links, world.packets, world.heap, world.clock
    link, lane = index // N_LANES, index % N_LANES
    queue = world.queues[index]
    while queue["first"] != NONE:
        packet = dequeue(links, world.queues, packets, link, lane)
        group, size = packets[packet]["ingress"], packets[packet]["size"]
        queue["storm_drops"] += 1
        give_back(packets, clock, packet)
        if group != NONE:
            release(world.nodes, world.ingress, group, size)
            watch_drain(world.nodes, world.ingress, links, packets, heap, clock, group)
