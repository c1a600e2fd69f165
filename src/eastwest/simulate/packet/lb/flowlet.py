"""Flowlets: a flow keeps its way while its packets follow each other, and draws another one after a gap.

Source: Vanini et al. 2017 (LetFlow); the gap must be longer than the ways differ in delay, or packets overtake.
"""

from __future__ import annotations

from eastwest.simulate.packet.events import draw
from eastwest.simulate.packet.kernel import Records, kernel


@kernel
def choose(key: int, flows: Records, flow: int, now_ps: int, gap_ps: int) -> int:
    """The way of a packet."""
    row = flows[flow]
    if now_ps - row["last_sent_ps"] >= gap_ps:
        row["way"] = int(draw(key, flow, row["next_seq"]) * row["n_ways"])
    return row["way"]
