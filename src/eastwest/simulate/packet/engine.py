"""The loop of the packet engine: take the next event, branch, one handler."""

from __future__ import annotations

from eastwest.simulate.packet.actions import arrive, discard, expire, serve, start_flow
from eastwest.simulate.packet.credit import come_back
from eastwest.simulate.packet.events import (
    ARRIVE,
    CREDIT,
    EXPIRE,
    FREE,
    INDEX_BITS,
    INDEX_MASK,
    KIND_MASK,
    OBEY,
    OUTSIDE,
    REFRESH,
    START,
    STORM,
    TIMEOUT,
    UNPAUSE,
    WAKE,
    WATCH,
    take,
)
from eastwest.simulate.packet.kernel import entry_kernel, kernel
from eastwest.simulate.packet.pfc import obey_next, refresh, run_out, storm
from eastwest.simulate.packet.sender import offer_flow
from eastwest.simulate.packet.watchdog import watch_all
from eastwest.simulate.packet.world import World

MORE, ENDED, POOL_IS_SHORT, OUTSIDE_EVENT = range(4)  # why the loop came back
LEAST_FREE = 8  # packets that one event may need


@kernel
def handle(world: World, kind: int, index: int) -> None:
    """One event that is not about a packet on the move."""
    heap, clock, packets, links, queues = world.heap, world.clock, world.packets, world.links, world.queues
    if kind == WAKE:
        world.flows[index]["has_wake"] = 0
        offer_flow(world.flows, links, heap, clock, world.routes, index)
    elif kind == START:
        start_flow(world, index)
    elif kind == TIMEOUT:
        expire(world, index)
    elif kind == UNPAUSE:
        run_out(links, queues, heap, clock, index)
    elif kind == OBEY:
        obey_next(links, queues, packets, heap, clock, index)
    elif kind == REFRESH:
        refresh(links, world.ingress, packets, heap, clock, index)
    elif kind == CREDIT:
        come_back(links, queues, packets, world.params, heap, clock, index)
    elif kind == EXPIRE:
        discard(world, index)
    elif kind == WATCH:
        watch_all(world)
    else:
        storm(links, world.ingress, packets, heap, clock, index, kind == STORM)


@entry_kernel
def advance(world: World, most_events: int, look_ps: int) -> int:
    """Handle up to that many events, and not long after that time; why it came back."""
    heap, clock, links = world.heap, world.clock, world.links
    state = clock[0]
    until = state["n_events"] + most_events
    while state["n_events"] < until and state["now_ps"] <= look_ps:
        if state["n_open"] == 0:
            return ENDED
        if state["n_free"] < LEAST_FREE:
            return POOL_IS_SHORT
        code = take(heap, clock)
        if code < 0:
            return ENDED
        kind, index = (code >> INDEX_BITS) & KIND_MASK, code & INDEX_MASK
        if kind == ARRIVE:
            arrive(world, index)
        elif kind == FREE:
            links[index]["has_free"] = 0
            serve(world, index)
        elif kind == OUTSIDE:
            clock[0]["next_outside"] = index
            return OUTSIDE_EVENT
        else:
            handle(world, kind, index)
    return MORE
