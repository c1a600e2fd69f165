"""Which rates a change reaches, and what they become.

Rates are max-min fair when every flow has a bottleneck: its cap, or a full link on which no flow has a higher level.
So a change is solved with the flows that it touches alone, all others held as they are; then the links of the solved
flows are searched for flows that lost their bottleneck, or that have more than a flow held there. Those are solved
with the rest, until there are none: every flow has its bottleneck, and the rates are those of a solve of all flows.

A change that spreads far would be solved many times over. Then all flows that it can reach are taken at once: filling
up to a level L goes as before when nothing changed below L. A flow that left at level λ was open on all its links until
λ; a flow that came can fill none of its links before the level at which that link fills with it, the levels of the
others being what they are. The least of these is L, and only flows from L up, connected with the change, can change.

Source: Bertsekas and Gallager 1992, Data Networks, §6.5.2 (a rate vector is max-min fair if and only if each flow has a
bottleneck link).
"""

from __future__ import annotations

import numpy as np

from eastwest.simulate.compiled import kernel
from eastwest.simulate.flow.filling import fill
from eastwest.simulate.flow.heap import remove, settle
from eastwest.simulate.flow.loss_rates import drop_excess, set_lossy_rate
from eastwest.simulate.flow.records import TIE_RATIO, Lists, Records, World
from eastwest.simulate.flow.tables import Int64
from eastwest.simulate.flow.tcp_windows import connection_of, follow_rate

SAME_RATIO = 1e-11  # levels nearer than this are one level, a link fuller than 1 minus this is full
WHOLE_RATIO, MOST_ROUNDS = 0.1, 20  # more of the live flows than this, or more solves: take all that can be reached
BOUND_STEPS = 4  # tangent steps towards the level at which a link fills; each gives a valid lower bound


@kernel
def fills_at(link: np.void, slots: Records, pool: Records) -> float:
    """A lower bound of the level at which a link fills, the flows solved before staying at their level.

    The load at level x, sum of weight·share·min(level, x), is concave in x: tangents from the left never overshoot.
    """
    level, first = 0.0, link["first"]
    for _ in range(BOUND_STEPS):
        fixed, rising = 0.0, 0.0
        for row in range(first, first + link["count"]):
            slot = slots[pool[row]["slot"]]
            weight = slot["weight"] * pool[row]["share"]
            if slot["level"] > level:
                rising += weight
            else:
                fixed += weight * slot["level"]
        if rising <= 0.0:
            break
        before, level = level, max((link["rate_bps"] - fixed) / rising, level)
        if level <= before * (1.0 + TIE_RATIO):
            break
    return level


@kernel
def least_level(state: Records, links: Records, slots: Records, pool: Records, touched: Int64) -> float:
    """Level below which this batch changes nothing."""
    now, least = state[0], np.inf
    if now["has_priorities"] or now["n_fresh"] > WHOLE_RATIO * now["n_live"]:
        return 0.0
    for index in range(now["n_touched"]):
        link = links[touched[index]]
        if link["count"] > 0:
            least = min(least, link["touched_level"])
            if link["is_joined"] == now["stamp"]:
                least = min(least, fills_at(link, slots, pool))
    return least * (1.0 - SAME_RATIO)


@kernel
def is_alone(links: Records, hops: Records, slot: np.void) -> bool:
    """Whether a flow shares none of its links."""
    most = 0
    for row in range(slot["hop_first"], slot["hop_end"]):
        most = max(most, links[hops[row]["link"]]["count"])
    return most <= 1


@kernel
def solve_alone(state: Records, links: Records, hops: Records, slots: Records, lists: Lists) -> None:
    """Rates of the fresh flows that share no link: the least link or their cap."""
    now = state[0]
    for index in range(now["n_fresh"]):
        slot = slots[lists.fresh[index]]
        if not is_alone(links, hops, slot):
            continue
        slot["level"], slot["neck"] = slot["cap_level"], -1
        for row in range(slot["hop_first"], slot["hop_end"]):
            link = hops[row]["link"]
            level = links[link]["rate_bps"] / (hops[row]["share"] * slot["weight"])
            if level < slot["level"]:
                slot["level"], slot["neck"] = level, link
        if slot["neck"] >= 0:
            links[slot["neck"]]["n_held"] += 1
        slot["mark"] = now["stamp"]
        lists.set_slots[now["n_set_slots"]] = lists.fresh[index]
        now["n_set_slots"] += 1


@kernel
def take_flow(state: Records, links: Records, hops: Records, slots: Records, lists: Lists, index: int) -> None:
    """Take a flow and its links into the set, once."""
    slot, now = slots[index], state[0]
    if slot["mark"] == now["stamp"]:
        return
    slot["mark"] = now["stamp"]
    lists.set_slots[now["n_set_slots"]] = index
    now["n_set_slots"] += 1
    if slot["neck"] >= 0:
        links[slot["neck"]]["n_held"] -= 1
    for row in range(slot["hop_first"], slot["hop_end"]):
        link = links[hops[row]["link"]]
        if link["mark"] != now["stamp"]:
            link["mark"] = now["stamp"]
            link["set_bps"], link["n_set"] = 0.0, 0
            lists.set_links[now["n_set_links"]] = hops[row]["link"]
            now["n_set_links"] += 1
        link["set_bps"] += slot["rate_bps"] * hops[row]["share"]
        link["n_set"] += 1


@kernel
def take_touched(state: Records, links: Records, hops: Records, slots: Records, pool: Records, lists: Lists) -> None:
    """Take the fresh flows, those that a touched link holds, and all on links whose rate changed."""
    now = state[0]
    for index in range(now["n_fresh"]):
        take_flow(state, links, hops, slots, lists, lists.fresh[index])
    for index in range(now["n_touched"]):
        link = lists.touched[index]
        first, is_changed = links[link]["first"], links[link]["is_changed"] == now["stamp"]
        if not is_changed and links[link]["n_held"] == 0:
            continue
        for row in range(first, first + links[link]["count"]):
            slot = pool[row]["slot"]
            if is_changed or slots[slot]["neck"] == link:
                take_flow(state, links, hops, slots, lists, slot)


@kernel
def take_connected(
    state: Records, links: Records, hops: Records, slots: Records, pool: Records, lists: Lists, least: float
) -> None:
    """Take all flows from level `least` up that are connected with the set through shared links."""
    done = 0
    while done < state[0]["n_set_links"]:
        link = links[lists.set_links[done]]
        for row in range(link["first"], link["first"] + link["count"]):
            if slots[pool[row]["slot"]]["level"] >= least:
                take_flow(state, links, hops, slots, lists, pool[row]["slot"])
        done += 1


@kernel
def outside_bps(link: np.void) -> float:
    """What the flows outside the set send on a link of the set: exactly nothing when there are none."""
    return link["load_bps"] - link["set_bps"] if link["n_set"] < link["count"] else 0.0


@kernel
def clear_links(links: Records, set_links: Int64) -> None:
    """Give each link of the set what the flows outside leave of it."""
    for index in set_links:
        link = links[index]
        free = link["rate_bps"] - outside_bps(link)
        link["free_bps"], link["open_weight"], link["n_open"], link["full_level"] = free, 0.0, 0, np.inf


@kernel
def take_unheld(
    state: Records, links: Records, hops: Records, slots: Records, pool: Records, lists: Lists, index: int
) -> None:
    """Take the flows of a solved link that have more than a flow held there, or that it does not hold any more: none
    when it has still room, else those at its highest level.
    """
    link, now = links[index], state[0]
    if link["n_set"] == link["count"] or (link["full_level"] == np.inf and link["n_held"] == 0):
        return
    first, end = link["first"], link["first"] + link["count"]
    has_room = link["full_level"] == np.inf and link["free_bps"] > SAME_RATIO * link["rate_bps"]
    highest, highest_outside, least_held = np.inf if has_room else 0.0, 0.0, np.inf
    for row in range(first, end):
        slot = slots[pool[row]["slot"]]
        highest = max(highest, slot["level"])
        if slot["mark"] != now["stamp"]:
            highest_outside = max(highest_outside, slot["level"])
            if slot["neck"] == index:
                least_held = min(least_held, slot["level"])
    most, least = link["full_level"] * (1.0 + SAME_RATIO), highest * (1.0 - SAME_RATIO)
    if highest_outside <= most and least_held >= least:
        return
    for row in range(first, end):
        slot = slots[pool[row]["slot"]]
        if slot["mark"] != now["stamp"] and (slot["level"] > most or (slot["neck"] == index and slot["level"] < least)):
            take_flow(state, links, hops, slots, lists, pool[row]["slot"])


@kernel
def solve_set(world: World, pool: Records, n_alone: int) -> bool:
    """Solve the flows of the set with the others held; whether the set had to grow."""
    state, links, hops, slots, lists = world.state, world.links, world.hops, world.slots, world.lists
    now = state[0]
    n_slots, n_links = now["n_set_slots"], now["n_set_links"]
    set_links, set_slots = lists.set_links[:n_links], lists.set_slots[n_alone:n_slots]
    clear_links(links, set_links)
    fill(links, hops, slots, pool, set_links, set_slots, world.filling, now["has_priorities"] != 0, lists.present)
    now["n_rates"] += n_slots - n_alone
    for index in range(n_links):
        take_unheld(state, links, hops, slots, pool, lists, lists.set_links[index])
    return bool(now["n_set_slots"] > n_slots)


@kernel
def set_rate(state: Records, slots: Records, due: Records, index: int) -> None:
    """Give a flow the rate of its level: what is left is brought up to now, its completion finds a new place."""
    slot, now = slots[index], state[0]
    rate, before = slot["level"] * slot["weight"], slot["rate_bps"]
    if abs(rate - before) <= TIE_RATIO * before and slot["heap_at"] >= 0:
        return
    slot["left"] = max(slot["left"] - before * (now["now_ps"] - slot["at_ps"]), 0.0)
    slot["at_ps"], slot["rate_bps"] = now["now_ps"], rate
    at = int(slot["heap_at"])
    if rate > 0.0:
        if at < 0:
            at = now["n_due"]
            due[at]["item"] = index
            now["n_due"] += 1
        due[at]["key"] = now["now_ps"] + slot["left"] / rate
        settle(due, slots, now["n_due"], at)
    elif at >= 0:
        remove(due, slots, now["n_due"], at)
        now["n_due"] -= 1


@kernel
def set_transport_rates(world: World) -> None:
    """Rates of the set where windows or losses are followed as well."""
    now = world.state[0]
    for row in range(now["n_set_slots"]):
        index = world.lists.set_slots[row]
        before = world.slots[index]["rate_bps"]
        if now["has_loss"]:
            set_lossy_rate(world, index)
        else:
            set_rate(world.state, world.slots, world.due, index)
        if now["has_windows"]:
            number = connection_of(world, index)
            if number >= 0:
                follow_rate(world, number, world.slots[index]["rate_bps"] - before)


@kernel
def book_loads(state: Records, links: Records, hops: Records, slots: Records, lists: Lists, n_alone: int) -> None:
    """Note what each link carries now and how many flows it holds: what later solves need of the flows outside.

    What a flow alone on its link sends is noted when another one joins it; only policers must know it at once.
    """
    now = state[0]
    for index in range(now["n_set_links"]):
        link = links[lists.set_links[index]]
        link["load_bps"] = outside_bps(link)
    for index in range(0 if now["is_policed"] else n_alone, now["n_set_slots"]):
        slot = slots[lists.set_slots[index]]
        if slot["neck"] >= 0 and index >= n_alone:
            links[slot["neck"]]["n_held"] += 1
        for row in range(slot["hop_first"], slot["hop_end"]):
            links[hops[row]["link"]]["load_bps"] += slot["rate_bps"] * hops[row]["share"]


@kernel
def solve(world: World, pool: Records) -> None:
    """Find the rates that this batch changes: max-min fair, exact to rounding."""
    state, links, hops, slots, lists = world.state, world.links, world.hops, world.slots, world.lists
    now = state[0]
    now["n_set_links"] = now["n_set_slots"] = 0
    solve_alone(state, links, hops, slots, lists)
    n_alone = now["n_set_slots"]
    now["n_rates"] += n_alone
    take_touched(state, links, hops, slots, pool, lists)
    if now["n_set_slots"] > n_alone:
        now["n_solves"] += 1
        least = least_level(state, links, slots, pool, lists.touched)
        n_rounds, is_growing = 0, True
        while is_growing:
            is_far = n_rounds == MOST_ROUNDS or now["n_set_slots"] - n_alone > WHOLE_RATIO * now["n_live"]
            if is_far or now["has_priorities"]:
                take_connected(state, links, hops, slots, pool, lists, least)
            is_growing = solve_set(world, pool, n_alone)
            n_rounds += 1
    if now["has_windows"] or now["has_loss"]:
        set_transport_rates(world)
    else:
        for index in range(now["n_set_slots"]):
            set_rate(state, slots, world.due, lists.set_slots[index])
    book_loads(state, links, hops, slots, lists, n_alone)
    if now["is_policed"] and not now["is_answered"]:
        drop_excess(world, pool)
