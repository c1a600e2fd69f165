"""What lossy flows send and what arrives for good: go-back-N, selective repeat, and policers that drop.

A flow sends at its max-min rate; of that `gain` arrives for good. Of a packet lost with probability p go-back-N sends
the W packets in flight again, W = rate x round trip / packet, at least one; selective repeat the packet alone (W = 1):
gain = (1 - p) / (1 - p + p W). A policer whose senders do not answer drops what is above its rate, of all flows alike;
behind one that TCP answers, the sawtooth of the window leaves the rate times `policed_ratio`.

Every loss counts on the whole path: what is lost behind a link has crossed it, and what is lost before it as well.

Source: Bertsekas and Gallager 1992, §2.4.2 (go-back-N); Mathis et al. 1997, §2 (the sawtooth between W/2 and W).
"""

from __future__ import annotations

import numpy as np

from eastwest.simulate.compiled import kernel
from eastwest.simulate.flow.heap import remove, settle
from eastwest.simulate.flow.outside import bring_up_to_now, set_link_rate
from eastwest.simulate.flow.records import BITS_PER_BYTE, PS_PER_S, TIE_RATIO, Records, World

SAWTOOTH_MEAN = 0.75  # of a window that falls to a half and grows by equal steps


@kernel
def policed_ratio(n_flows: int, bits_in_flight: float, segment_bits: float, burst_bits: float) -> float:
    """Part of a policer's rate that synchronised TCP flows use.

    The windows of n flows together grow by n segments each round trip. Without tokens the peak is rate x RTT and the
    mean three quarters of it; what the bucket holds lets the peak rise above by sqrt(2 n burst segment), until the mean
    is the whole rate.
    """
    if bits_in_flight <= 0.0:
        return 1.0
    above = np.sqrt(2.0 * n_flows * burst_bits * segment_bits) / bits_in_flight
    return float(min(1.0, SAWTOOTH_MEAN * (1.0 + above)))


@kernel
def gain_of(world: World, index: int) -> float:
    """What arrives for good over what a flow sends at its rate of now."""
    slot, now = world.slots[index], world.state[0]
    kept, spread = np.log1p(-world.fates[slot["flow"]]["ratio"]), 0.0  # logarithm: exact for the smallest ratios
    for row in range(slot["hop_first"], slot["hop_end"]):
        drop, share = world.drops[world.hops[row]["link"]], world.hops[row]["share"]
        ratio = drop["ratio"] + drop["excess"] * (1.0 - drop["ratio"])
        if share == 1.0:
            kept += np.log1p(-ratio)
        else:
            spread += share * ratio  # of links side by side a packet crosses one
    kept += np.log1p(-min(spread, 1.0))
    lost = -np.expm1(kept)
    if lost <= 0.0:
        return 1.0
    window = 1.0
    if now["goes_back"]:
        run = world.runs[slot["flow"]]
        rtt_ps = 2.0 * world.ways[world.ways[run["way"]]["now"]]["delay_ps"] + now["host_ps"]
        window = max(1.0, slot["rate_bps"] * rtt_ps / PS_PER_S / now["packet_bits"])
    return float(np.exp(kept) / (np.exp(kept) + window * lost))


@kernel
def set_completion(world: World, index: int) -> None:
    """Give the completion of a lossy flow its place: by what arrives for good."""
    slot, now = world.slots[index], world.state[0]
    good_bps, at = slot["rate_bps"] * world.paces[index]["gain"], int(slot["heap_at"])
    if good_bps > 0.0:
        if at < 0:
            at = now["n_due"]
            world.due[at]["item"] = index
            now["n_due"] += 1
        world.due[at]["key"] = now["now_ps"] + slot["left"] / good_bps
        settle(world.due, world.slots, now["n_due"], at)
    elif at >= 0:
        remove(world.due, world.slots, now["n_due"], at)
        now["n_due"] -= 1


@kernel
def set_lossy_rate(world: World, index: int) -> None:
    """Give a flow the rate of its level, and the gain that goes with it."""
    slot = world.slots[index]
    bring_up_to_now(world, index)
    slot["rate_bps"] = slot["level"] * slot["weight"]
    world.paces[index]["gain"] = gain_of(world, index)
    set_completion(world, index)


@kernel
def regain(world: World, pool: Records, link: int) -> None:
    """Find the gain of all flows of a link anew: its policer drops another part."""
    for row in range(world.links[link]["first"], world.links[link]["first"] + world.links[link]["count"]):
        index = int(pool[row]["slot"])
        bring_up_to_now(world, index)
        world.paces[index]["gain"] = gain_of(world, index)
        set_completion(world, index)


@kernel
def drop_excess(world: World, pool: Records) -> None:
    """After a solve: what each policer drops of what is sent through it."""
    for link in world.policed:
        drop, load_bps = world.drops[link], world.links[link]["load_bps"]
        excess = max(0.0, 1.0 - drop["police_bps"] / load_bps) if load_bps > 0.0 else 0.0
        if abs(excess - drop["excess"]) > TIE_RATIO:
            drop["excess"] = excess
            regain(world, pool, link)


@kernel
def narrow_policers(world: World) -> None:
    """Before a solve: what TCP can use of each policer with the flows that are on it now."""
    for link in world.policed:
        record, drop = world.links[link], world.drops[link]
        if record["dirty"] == world.state[0]["stamp"] and record["rate_bps"] > 0.0:
            in_flight = drop["police_bps"] * drop["rtt_ps"] / PS_PER_S
            burst_bits, segment_bits = drop["burst"] * BITS_PER_BYTE, drop["segment"] * BITS_PER_BYTE
            rate = drop["police_bps"] * policed_ratio(record["count"], in_flight, segment_bits, burst_bits)
            if rate != record["rate_bps"]:
                set_link_rate(world, int(link), rate)
