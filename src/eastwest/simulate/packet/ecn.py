"""Explicit congestion notification: the ramp of a queue, drawn for each packet.

Nothing is marked up to Kmin bytes waiting, everything above Kmax, in between with a probability that rises to Pmax. A
packet whose transport knows no marks passes, or is dropped where the queue does that. Source: Floyd and Jacobson 1993
(RED), here on the instantaneous queue; RFC 3168.
"""

from __future__ import annotations

from eastwest.simulate.packet.events import draw
from eastwest.simulate.packet.kernel import Records, kernel


@kernel
def is_hit(queues: Records, packets: Records, clock: Records, queue: int, packet: int) -> bool:
    """Whether the ramp of a queue hits a packet that finds it."""
    line = queues[queue]
    waiting = line["bytes"]
    if waiting <= line["kmin_bytes"]:
        return False
    if waiting > line["kmax_bytes"]:
        return True
    row = packets[packet]
    part = line["pmax"] * (waiting - line["kmin_bytes"]) / (line["kmax_bytes"] - line["kmin_bytes"])
    return draw(clock[0]["mark_key"], int(row["flow"]) * 64 + row["pos"], row["seq"]) < part


@kernel
def mark(queues: Records, packets: Records, queue: int, packet: int) -> None:
    """Mark a packet that was hit, if its transport can be told so."""
    if packets[packet]["is_ect"]:
        packets[packet]["ce"] = 1
        queues[queue]["marked"] += 1
