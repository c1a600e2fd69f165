"""Adaptive routing: the emptiest of a few drawn ways, by what waits on the first two links behind the first switch.

Real switches decide at each hop by their own queues; here the first switch decides for the whole way up, so that a
queue further on (on the way down) is not avoided. Source of the few choices: Mitzenmacher 2001, the power of two
choices.
"""

from __future__ import annotations

from eastwest.simulate.packet.events import draw
from eastwest.simulate.packet.kernel import NONE, Int32s, Records, kernel
from eastwest.simulate.packet.queues import N_LANES

N_CHOICES = 4
LOOK_AHEAD = 2  # links behind the first one


@kernel
def choose(
    key: int, links: Records, queues: Records, routes: Int32s, ways: Int32s, first_way: int, n_ways: int, at: int
) -> int:
    """The way of a packet; `at` counts the packets that were ever sent, so that each looks at other ways."""
    best, least = 0, -1
    for turn in range(N_CHOICES):
        way = int(draw(key, at, turn) * n_ways)
        waiting = 0
        for hop in range(1, 1 + LOOK_AHEAD):
            link = routes[ways[first_way + way] + hop]
            if link == NONE:
                break
            waiting += 0 if links[link]["rate_bps"] > 0 else 1 << 40
            for lane in range(N_LANES):
                waiting += queues[link * N_LANES + lane]["bytes"]
        if least < 0 or waiting < least:
            best, least = way, waiting
    return best
