"""Priority flow control: pause frames from an ingress group to the transmitter that feeds it.

A frame asks for quanta of 512 bit times; the pause ends by itself when they have passed, so it is asked for again at
half of that time while the group stays full. A frame waits for the packet that is on the line, never behind a queue,
and the receiver needs its response time. Source: IEEE 802.1Qbb; IEEE 802.3 annex 31B.
"""

from __future__ import annotations

import numpy as np

from eastwest.simulate.packet.buffer import may_resume, must_pause
from eastwest.simulate.packet.events import OBEY, REFRESH, UNPAUSE, push
from eastwest.simulate.packet.kernel import NONE, Records, kernel
from eastwest.simulate.packet.link import put_on_wire, wake_transmitter
from eastwest.simulate.packet.pool import PAUSE, give_back, take_packet
from eastwest.simulate.packet.queues import N_LANES

FRAME_BYTES = 84  # 64 and preamble and gap
FORWARDS = 2  # the watchdog's state of a queue that sends in spite of pauses
REFRESH_PART = 2  # a pause is asked for again after its time over this


@kernel
def send_frame(
    links: Records, ingress: Records, packets: Records, heap: Records, clock: Records, group: int, is_pausing: bool
) -> None:
    """A pause frame, or one that ends the pause, against the stream of the group."""
    link = links[group // N_LANES]["back"]
    here = ingress[group]
    here["pfc_sent"] += 1
    packet = take_packet(packets, clock)
    row = packets[packet]
    row["kind"], row["lane"], row["size"], row["ingress"] = PAUSE, group % N_LANES, FRAME_BYTES, NONE
    row["ce"], row["flow"], row["pos"] = is_pausing, NONE, NONE
    row["stamp_ps"] = here["pause_ps"] if is_pausing else 0
    port = links[link]
    if port["free_ps"] <= clock[0]["now_ps"] and port["mac_first"] == NONE:
        put_on_wire(links, packets, heap, clock, link, packet)
        return
    row["next"] = NONE
    if port["mac_first"] == NONE:
        port["mac_first"] = packet
    else:
        last = port["mac_first"]
        while packets[last]["next"] != NONE:
            last = packets[last]["next"]
        packets[last]["next"] = packet
    wake_transmitter(links, heap, clock, link)


@kernel
def watch_fill(
    nodes: Records, ingress: Records, links: Records, packets: Records, heap: Records, clock: Records, group: int
) -> None:
    """After a packet came in: ask for a pause when the group is above its threshold."""
    here = ingress[group]
    if here["is_pausing"] or not must_pause(nodes, ingress, group):
        return
    here["is_pausing"] = 1
    send_frame(links, ingress, packets, heap, clock, group, True)
    if not here["has_refresh"]:
        here["has_refresh"] = 1
        push(heap, clock, clock[0]["now_ps"] + here["pause_ps"] // REFRESH_PART, REFRESH, group)


@kernel
def watch_drain(
    nodes: Records, ingress: Records, links: Records, packets: Records, heap: Records, clock: Records, group: int
) -> None:
    """After a packet left: end the pause when the group is low enough."""
    here = ingress[group]
    if here["is_pausing"] and may_resume(nodes, ingress, group):
        here["is_pausing"] = 0
        send_frame(links, ingress, packets, heap, clock, group, False)


@kernel
def refresh(links: Records, ingress: Records, packets: Records, heap: Records, clock: Records, group: int) -> None:
    """Ask again for a pause that would run out."""
    here = ingress[group]
    here["has_refresh"] = 0
    if here["is_pausing"]:
        send_frame(links, ingress, packets, heap, clock, group, True)
        here["has_refresh"] = 1
        push(heap, clock, clock[0]["now_ps"] + here["pause_ps"] // REFRESH_PART, REFRESH, group)


@kernel
def storm(
    links: Records, ingress: Records, packets: Records, heap: Records, clock: Records, group: int, is_pausing: bool
) -> None:
    """A receiver that stops taking packets asks for pauses without end, or comes back to its senses."""
    here = ingress[group]
    here["is_pausing"] = is_pausing
    send_frame(links, ingress, packets, heap, clock, group, is_pausing)
    if is_pausing and not here["has_refresh"]:
        here["has_refresh"] = 1
        push(heap, clock, clock[0]["now_ps"] + here["pause_ps"] // REFRESH_PART, REFRESH, group)


@kernel
def hear(
    links: Records, queues: Records, packets: Records, heap: Records, clock: Records, packet: int, link: int
) -> None:
    """A frame arrived on a link: the transmitter of the other direction obeys, after its response time."""
    sender = links[link]["back"]
    port, row = links[sender], packets[packet]
    row["pos"], row["next"] = sender, NONE
    row["arrive_ps"] = clock[0]["now_ps"] + port["response_ps"]
    if port["obey_first"] == NONE:
        port["obey_first"] = packet
        push(heap, clock, row["arrive_ps"], OBEY, sender)
    else:
        packets[port["obey_last"]]["next"] = packet
    port["obey_last"] = packet


@kernel
def obey_next(links: Records, queues: Records, packets: Records, heap: Records, clock: Records, link: int) -> None:
    """The response time of a transmitter's first frame has passed; only the first of its frames has an event."""
    port = links[link]
    packet = port["obey_first"]
    following = packets[packet]["next"]
    port["obey_first"] = following
    if following != NONE:
        push(heap, clock, packets[following]["arrive_ps"], OBEY, link)
    obey(links, queues, packets, heap, clock, packet)


@kernel
def obey(links: Records, queues: Records, packets: Records, heap: Records, clock: Records, packet: int) -> None:
    """Stop or go on sending the class that the frame names."""
    row = packets[packet]
    link, lane, length_ps = row["pos"], row["lane"], row["stamp_ps"]
    give_back(packets, clock, packet)
    index = link * N_LANES + lane
    queue, port, now = queues[index], links[link], clock[0]["now_ps"]
    queue["pfc_received"] += 1
    if queue["storm"] == FORWARDS or not queue["obeys"]:
        return
    if length_ps == 0:
        lift(links, queues, heap, clock, index)
        return
    queue["paused_until_ps"] = now + length_ps
    if not port["paused"] >> lane & 1:
        port["paused"] |= np.uint8(1 << lane)
        queue["paused_since_ps"] = now
    if not queue["has_unpause"]:
        queue["has_unpause"] = 1
        push(heap, clock, queue["paused_until_ps"], UNPAUSE, index)


@kernel
def run_out(links: Records, queues: Records, heap: Records, clock: Records, index: int) -> None:
    """The time of a pause has passed, unless it was asked for again."""
    queue = queues[index]
    queue["has_unpause"] = 0
    if not links[index // N_LANES]["paused"] >> (index % N_LANES) & 1:
        return
    if queue["paused_until_ps"] > clock[0]["now_ps"]:
        queue["has_unpause"] = 1
        push(heap, clock, queue["paused_until_ps"], UNPAUSE, index)
        return
    lift(links, queues, heap, clock, index)


@kernel
def lift(links: Records, queues: Records, heap: Records, clock: Records, index: int) -> None:
    """End the pause of one class of a transmitter."""
    link, lane = index // N_LANES, index % N_LANES
    port, queue = links[link], queues[index]
    if not port["paused"] >> lane & 1:
        return
    port["paused"] &= np.uint8(255 ^ (1 << lane))
    queue["paused_ps"] += clock[0]["now_ps"] - queue["paused_since_ps"]
    wake_transmitter(links, heap, clock, link)
