"""Load balancing: which of a flow's ways a packet takes; one file each, chosen by an integer.

A way is one routed path through the switches' hashes for one entropy value (source port); a flow on one path has one
way. A new balancing is a member of `Balance`, a file with `choose` and a line in `choose_way`.
"""

from __future__ import annotations

from enum import IntEnum


class Balance(IntEnum):
    """How the packets of a flow are spread over its ways."""

    ONE_PATH = 0  # ecmp and pinned: the switches' hash of the flow
    SPRAY = 1
    ADAPTIVE = 2
    FLOWLET = 3


BALANCES = {
    "ecmp": Balance.ONE_PATH,
    "pinned": Balance.ONE_PATH,
    "spray": Balance.SPRAY,
    "adaptive": Balance.ADAPTIVE,
    "flowlet": Balance.FLOWLET,
}
