"""Progressive filling: raise the level of all open flows together; where a link fills or a cap holds, it stays.

Every link waits in a heap at the level at which it would fill with the flows now open on it. That level only rises as
flows stop elsewhere, so an entry is corrected when it comes to the top, not when it changes. A flow's rate is its level
times its weight; a link carries `share` of it. Strict priorities are filled one after the other, the highest first.

Source: Bertsekas and Gallager 1992, Data Networks, §6.5.2 (max-min flow control, progressive filling).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eastwest.simulate.compiled import kernel
from eastwest.simulate.flow.heap import TOP, drop_top, order, sift_down
from eastwest.simulate.flow.records import TIE_RATIO, Records
from eastwest.simulate.flow.tables import Int8, Int64

BY_CAP: Any = np.int64(-1)  # the neck of a flow that its cap holds
ANY: Any = np.int64(1 << 16)  # no priority: every one
LOWEST = 128  # minus the least value of an int8: priorities are counted from 0 with it


@kernel
def open_flows(links: Records, hops: Records, slots: Records, set_slots: Int64, priority: int) -> None:
    """Open the flows of this priority (or of `ANY`) and count them on their links."""
    for slot in set_slots:
        record = slots[slot]
        if priority == ANY or record["priority"] == priority:
            record["is_open"] = 1
            for row in range(record["hop_first"], record["hop_end"]):
                link = links[hops[row]["link"]]
                link["open_weight"] += record["weight"] * hops[row]["share"]
                link["n_open"] += 1


@kernel
def stop_flow(links: Records, hops: Records, slots: Records, slot: int, level: float, neck: int) -> None:
    """Fix a flow at this level, held by the link `neck` (-1: its cap), and take its rate off its links."""
    record = slots[slot]
    record["is_open"] = 0
    record["level"], record["neck"] = level, neck
    for row in range(record["hop_first"], record["hop_end"]):
        link = links[hops[row]["link"]]
        weight = record["weight"] * hops[row]["share"]
        link["free_bps"] -= weight * level
        link["open_weight"] -= weight
        link["n_open"] -= 1


@kernel
def level_of(link: np.void) -> float:
    """Level at which the link fills with its open flows, bit/s for a weight of one."""
    return max(link["free_bps"], 0.0) / link["open_weight"] if link["open_weight"] > 0.0 else np.inf


@kernel
def queue_levels(links: Records, slots: Records, set_links: Int64, set_slots: Int64, filling: Records) -> int:
    """Fill the heap with links (item >= 0) and capped open flows (item = -1 - slot); its length."""
    n = TOP
    for link in set_links:
        if links[link]["n_open"] > 0:
            filling[n]["key"], filling[n]["item"] = level_of(links[link]), link
            n += 1
    for slot in set_slots:
        if slots[slot]["is_open"] and slots[slot]["cap_level"] < np.inf:
            filling[n]["key"], filling[n]["item"] = slots[slot]["cap_level"], -1 - slot
            n += 1
    order(filling, n)
    return int(n)


@kernel
def fill_link(links: Records, hops: Records, slots: Records, pool: Records, link: int, level: float) -> None:
    """Stop every flow that is open on a full link."""
    first = links[link]["first"]
    links[link]["full_level"] = level
    for row in range(first, first + links[link]["count"]):
        slot = pool[row]["slot"]
        if slots[slot]["is_open"]:
            stop_flow(links, hops, slots, int(slot), level, int(link))


@kernel
def fill_layer(
    links: Records, hops: Records, slots: Records, pool: Records, set_links: Int64, set_slots: Int64, filling: Records
) -> None:
    """Fill the links with the open flows until every one has stopped."""
    n, level = queue_levels(links, slots, set_links, set_slots, filling), 0.0
    while n > 0:
        key, item = filling[0]["key"], filling[0]["item"]
        if item >= 0 and links[item]["n_open"] > 0:
            now = level_of(links[item])
            if now > key * (1.0 + TIE_RATIO):
                filling[0]["key"] = now
                sift_down(filling, n, TOP)
                continue
            level = now if now > level * (1.0 + TIE_RATIO) else level
            fill_link(links, hops, slots, pool, item, level)
        elif item < 0 and slots[-1 - item]["is_open"]:
            level = max(level, key)
            stop_flow(links, hops, slots, -1 - item, key, BY_CAP)
        drop_top(filling, n)
        n -= 1


@kernel
def fill(
    links: Records,
    hops: Records,
    slots: Records,
    pool: Records,
    set_links: Int64,
    set_slots: Int64,
    filling: Records,
    has_priorities: bool,
    present: Int8,
) -> None:
    """Fill the links of a set with its flows: all together, or priority by priority (`present` is scratch, (256,))."""
    if not has_priorities:
        open_flows(links, hops, slots, set_slots, ANY)
        fill_layer(links, hops, slots, pool, set_links, set_slots, filling)
        return
    present[:] = 0
    for slot in set_slots:
        present[int(slots[slot]["priority"]) + LOWEST] = 1
    for index in range(len(present) - 1, -1, -1):
        if present[index]:
            open_flows(links, hops, slots, set_slots, index - LOWEST)
            fill_layer(links, hops, slots, pool, set_links, set_slots, filling)
            for link in set_links:  # what rounding left of the weights must not reach the next layer
                links[link]["open_weight"] = 0.0
