"""Credits of InfiniBand: a transmitter sends into a virtual lane only what the receiver has room for.

The room starts as the receiver's buffer, is spent when a packet leaves, and comes back one delay after the packet left
the receiver's buffer. A lane without room for a full packet is blocked like one that is paused, and what then stands at
the head of its queue for longer than the head-of-queue lifetime is discarded. Returned room waits in a list of its own
until the transmitter needs it, so that only a blocked lane costs events. Flow control packets take no line time here,
and a small packet waits where a full one would not fit. Source: InfiniBand specification volume 1, 7.9 and 18.2.5.4.
"""

from __future__ import annotations

from eastwest.simulate.packet.events import CREDIT, EXPIRE, push
from eastwest.simulate.packet.kernel import NONE, Records, kernel
from eastwest.simulate.packet.pfc import lift
from eastwest.simulate.packet.pool import give_back, take_packet
from eastwest.simulate.packet.queues import N_LANES


@kernel
def spend(
    links: Records,
    queues: Records,
    packets: Records,
    params: Records,
    heap: Records,
    clock: Records,
    index: int,
    size: int,
) -> None:
    """A packet left by a queue; the lane is blocked when no full packet has room any more."""
    queue, now = queues[index], clock[0]["now_ps"]
    queue["credit_bytes"] -= size
    if has_room(queues, packets, params, clock, index):
        return
    links[index // N_LANES]["paused"] |= 1 << index % N_LANES
    queue["paused_since_ps"] = now
    queue["n_blocked"] += 1
    expect(queues, packets, heap, clock, index)
    if not queue["has_expire"]:
        queue["has_expire"] = 1
        push(heap, clock, now + params[0]["head_of_queue_ps"], EXPIRE, index)


@kernel
def has_room(queues: Records, packets: Records, params: Records, clock: Records, index: int) -> bool:
    """Whether a full packet has room, with what has come back by now when it is needed."""
    queue = queues[index]
    full = params[0]["payload_bytes"] + params[0]["overhead_bytes"]
    while queue["credit_bytes"] < full and queue["credit_first"] != NONE:
        row = queue["credit_first"]
        if packets[row]["arrive_ps"] > clock[0]["now_ps"]:
            break
        queue["credit_bytes"] += packets[row]["size"]
        queue["credit_first"] = packets[row]["next"]
        give_back(packets, clock, row)
    return queue["credit_bytes"] >= full


@kernel
def expect(queues: Records, packets: Records, heap: Records, clock: Records, index: int) -> None:
    """Look again when the next room comes back; without any on its way, the next one that is given says so."""
    queue = queues[index]
    if queue["credit_first"] != NONE and not queue["has_credit"]:
        queue["has_credit"] = 1
        push(heap, clock, packets[queue["credit_first"]]["arrive_ps"], CREDIT, index)


@kernel
def give(
    links: Records, queues: Records, packets: Records, heap: Records, clock: Records, index: int, size: int
) -> None:
    """A packet left the buffer at the end of a link: its room comes back to the transmitter one delay later."""
    queue, port = queues[index], links[index // N_LANES]
    row = take_packet(packets, clock)
    packets[row]["size"], packets[row]["next"] = size, NONE
    packets[row]["arrive_ps"] = clock[0]["now_ps"] + port["delay_ps"]
    if queue["credit_first"] == NONE:
        queue["credit_first"] = row
    else:
        packets[queue["credit_last"]]["next"] = row
    queue["credit_last"] = row
    if port["paused"] >> index % N_LANES & 1:
        expect(queues, packets, heap, clock, index)


@kernel
def come_back(
    links: Records, queues: Records, packets: Records, params: Records, heap: Records, clock: Records, index: int
) -> None:
    """Room came back to a blocked lane."""
    queues[index]["has_credit"] = 0
    if has_room(queues, packets, params, clock, index):
        lift(links, queues, heap, clock, index)
    else:
        expect(queues, packets, heap, clock, index)


@kernel
def has_expired(links: Records, queues: Records, params: Records, heap: Records, clock: Records, index: int) -> bool:
    """Whether a lane that holds something has been blocked for a whole head-of-queue lifetime; looks again later."""
    queue, now, life = queues[index], clock[0]["now_ps"], params[0]["head_of_queue_ps"]
    queue["has_expire"] = 0
    if not links[index // N_LANES]["paused"] >> index % N_LANES & 1:
        return False
    due = queue["paused_since_ps"] + life
    queue["has_expire"] = 1
    push(heap, clock, due if due > now else now + life, EXPIRE, index)
    return due <= now and queue["first"] != NONE
