"""Packets as rows of one table, used again in the order last in, first out, so that a hot row stays in the cache."""

from __future__ import annotations

import numpy as np

from eastwest.simulate.packet.kernel import NONE, Records, kernel, record

DATA, ACK, NAK, CNP, PAUSE = range(5)  # kinds

PACKET = record(
    ("next", np.int32),  # in a queue, on a wire or in the free list
    ("flow", np.int32),
    ("size", np.int32),  # bytes on the wire
    ("seq", np.int32),  # of data: its number; of an answer: what is expected next; of a pause: quanta
    ("pos", np.int32),  # row of the routes: the link that it is on
    ("ingress", np.int32),  # row of ingress accounting while it waits in a switch; -1 elsewhere
    ("arrive_ps", np.int64),
    ("stamp_ps", np.int64),  # when its data packet left the sender
    ("kind", np.int8),
    ("lane", np.int8),  # class, row of the queues of each link
    ("ce", np.int8),  # congestion experienced (RFC 3168)
    ("is_ect", np.int8),  # its transport knows marks (ECN-capable)
    ("echo", np.int32),  # of an answer: the packet that it answers
)


@kernel
def take_packet(packets: Records, clock: Records) -> int:
    """A row that is free; the engine makes room before each event."""
    state = clock[0]
    row = state["free_packet"]
    if row == NONE:
        row = state["n_packets"]
        state["n_packets"] = row + 1
    else:
        state["free_packet"] = packets[row]["next"]
    state["n_free"] -= 1
    return row


@kernel
def give_back(packets: Records, clock: Records, packet: int) -> None:
    """The row is free again."""
    state = clock[0]
    packets[packet]["next"] = state["free_packet"]
    state["free_packet"] = packet
    state["n_free"] += 1
