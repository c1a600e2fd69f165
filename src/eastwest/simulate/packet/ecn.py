"""Explicit congestion notification: the ramp of a queue, drawn for each packet.

Nothing is marked up to Kmin bytes waiting, everything above Kmax, in between with a probability that rises to Pmax.
Source: Floyd and Jacobson 1993 (RED), here on the instantaneous queue; RFC 3168.
"""

from __future__ import annotations

from eastwest.simulate.packet.events import draw
from eastwest.simulate.packet.kernel import Records, kernel


@kernel
def mark(queues: Records, packets: Records, clock: Records, queue: int, packet: int) -> None:
    """Mark the packet by the queue that it finds."""
    line = queues[queue]
    waiting = line["bytes"]
    if waiting <= line["kmin_bytes"]:
        return
    if waiting <= line["kmax_bytes"]:
        row = packets[packet]
        part = line["pmax"] * (waiting - line["kmin_bytes"]) / (line["kmax_bytes"] - line["kmin_bytes"])
        if draw(clock[0]["mark_key"], int(row["flow"]) * 64 + row["pos"], row["seq"]) >= part:
            return
    packets[packet]["ce"] = 1
    line["marked"] += 1
