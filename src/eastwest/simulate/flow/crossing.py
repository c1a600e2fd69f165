"""Which flows are on which link now: each link owns rows of one pool, contiguous, so that a solve reads them in order.

A link that needs more rows moves to twice as many at the pool's end. Flows leave in batches: the links that they were
on are packed once, in order.
"""

from __future__ import annotations

import numpy as np

from eastwest.simulate.compiled import kernel
from eastwest.simulate.flow.records import AMOUNT_PER_BYTE, Records
from eastwest.simulate.flow.tables import Float64, Int64

FIRST_ROOM = 4  # rows of a link's first block


@kernel
def touch(state: Records, links: Records, touched: Int64, link: int, level: float) -> None:
    """Note that a flow of this level leaves this link in this batch; infinite: that one comes."""
    record, now = links[link], state[0]
    if record["dirty"] != now["stamp"]:
        record["dirty"] = now["stamp"]
        record["touched_level"] = level
        touched[now["n_touched"]] = link
        now["n_touched"] += 1
    elif level < record["touched_level"]:
        record["touched_level"] = level


@kernel
def room_for(link: np.void) -> int:
    """Rows that a full link moves to."""
    return int(max(FIRST_ROOM, 2 * link["room"]))


@kernel
def has_room(state: Records, links: Records, hops: Records, pool: Records, first: int, end: int) -> bool:
    """Whether the pool has the rows that one more flow on these hops can need."""
    needed = state[0]["pool_used"]
    for row in range(first, end):
        link = links[hops[row]["link"]]
        if link["count"] + 1 >= link["room"]:  # one row to spare: a path may name a link twice
            needed += room_for(link)
    return bool(needed <= len(pool))


@kernel
def make_room(state: Records, links: Records, pool: Records, link: int) -> None:
    """Move a full link to twice as many rows at the pool's end."""
    record, now = links[link], state[0]
    used, first = now["pool_used"], record["first"]
    for row in range(record["count"]):
        entry = pool[first + row]
        pool[used + row]["slot"], pool[used + row]["share"] = entry["slot"], entry["share"]
    record["room"] = room_for(record)
    record["first"] = used
    now["pool_used"] = used + record["room"]


@kernel
def join(
    state: Records, links: Records, hops: Records, slots: Records, pool: Records, touched: Int64, slot: int
) -> None:
    """Put a flow on the links of its path; `has_room` was asked before."""
    record = slots[slot]
    for row in range(record["hop_first"], record["hop_end"]):
        link = hops[row]["link"]
        if links[link]["count"] == 1:  # what a flow alone sends was not noted
            first = pool[links[link]["first"]]
            links[link]["load_bps"] = slots[first["slot"]]["rate_bps"] * first["share"]
        if links[link]["count"] == links[link]["room"]:
            make_room(state, links, pool, link)
        entry = pool[links[link]["first"] + links[link]["count"]]
        entry["slot"], entry["share"] = slot, hops[row]["share"]
        links[link]["count"] += 1
        links[link]["is_joined"] = state[0]["stamp"]
        touch(state, links, touched, link, np.inf)


@kernel
def mark_leaving(
    state: Records, links: Records, hops: Records, slots: Records, sent_bytes: Float64, touched: Int64, slot: int
) -> None:
    """Note that a flow leaves its links, and book what it sent on them."""
    record = slots[slot]
    record["is_leaving"] = 1
    if record["neck"] >= 0:
        links[record["neck"]]["n_held"] -= 1
        record["neck"] = -1
    sent = (record["booked"] - record["left"]) / AMOUNT_PER_BYTE
    record["booked"] = record["left"]
    for row in range(record["hop_first"], record["hop_end"]):
        link = hops[row]["link"]
        sent_bytes[link] += sent * hops[row]["share"]
        links[link]["load_bps"] -= record["rate_bps"] * hops[row]["share"]
        touch(state, links, touched, link, record["level"])
    record["rate_bps"] = 0.0


@kernel
def pack(state: Records, links: Records, slots: Records, pool: Records, touched: Int64) -> None:
    """Drop the leaving flows from the rows of the touched links; the others keep their order."""
    for index in range(state[0]["n_touched"]):
        record = links[touched[index]]
        first, kept = record["first"], 0
        for row in range(first, first + record["count"]):
            if slots[pool[row]["slot"]]["is_leaving"] == 0:
                if row != first + kept:
                    pool[first + kept]["slot"], pool[first + kept]["share"] = pool[row]["slot"], pool[row]["share"]
                kept += 1
        record["count"] = kept
        if kept == 0:
            record["load_bps"] = 0.0  # nothing is left of rounding either
