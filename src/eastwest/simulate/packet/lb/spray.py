"""Oblivious packet spraying: every packet draws its way, whatever the queues look like."""

from __future__ import annotations

from eastwest.simulate.packet.events import draw
from eastwest.simulate.packet.kernel import kernel


@kernel
def choose(key: int, flow: int, seq: int, n_ways: int) -> int:
    """The way of a packet, uniform and independent of the order of events."""
    return int(draw(key, flow, seq) * n_ways)
