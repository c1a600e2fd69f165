"""Flowlets: a pair of ends that was silent for longer than the gap takes another way; without a gap it keeps its way.

A switch sees packets; here a message is the smallest thing, so a choice falls when a message starts. Inside a message
packets are paced and no gap opens (RDMA), so that a long message keeps its way however full that gets.

Source: Vanini et al., NSDI 2017 (LetFlow: a drawn way); Alizadeh et al., SIGCOMM 2014 (CONGA: the least loaded way).
"""

from __future__ import annotations

import numpy as np

from eastwest.simulate.compiled import kernel
from eastwest.simulate.flow.records import World

_STEP, _MIX, _MASK, _HALF = np.uint64(0x9E3779B9), np.uint64(0x85EBCA6B), np.uint64(0xFFFFFFFF), np.uint64(16)


@kernel
def drawn(pair: int, turn: int, n_choices: int) -> int:
    """A choice that looks random and is the same in every run: a mix of the pair and of its turn."""
    word = (np.uint64(pair) * _STEP + np.uint64(turn) * _MIX + _STEP) & _MASK
    word = ((word ^ (word >> _HALF)) * _MIX) & _MASK
    word = ((word ^ (word >> _HALF)) * _STEP) & _MASK
    return int((word >> _HALF) % np.uint64(n_choices))


@kernel
def crowding(world: World, path: int) -> float:
    """Flows for each bit/s on the fullest link of a way, with one more; infinite where a link is down."""
    way = world.ways[world.ways[path]["now"]]
    worst = 0.0
    for row in range(way["first"], way["end"]):
        link = world.links[world.hops[row]["link"]]
        if link["rate_bps"] <= 0.0:
            return np.inf
        worst = max(worst, (link["count"] + 1.0) / link["rate_bps"])
    return worst


@kernel
def choose_way(world: World, flow: int) -> None:
    """The way of a flow that starts now: another one after a gap, else that of the flow before."""
    now, pair = world.state[0], world.pairs[flow]
    record, n = world.flowlets[pair], now["n_choices"]
    is_idle = record["n_live"] == 0 and now["now_ps"] - record["last_ps"] > now["gap_ps"]
    if is_idle:
        first = drawn(pair, record["n_chosen"], n)
        record["choice"] = first
        if now["by_load"]:
            least = np.inf
            for turn in range(n):
                choice = (first + turn) % n
                crowded = crowding(world, world.flowlet_ways[pair * n + choice])
                if crowded < least:
                    least, record["choice"] = crowded, choice
    world.runs[flow]["way"] = world.flowlet_ways[pair * n + record["choice"]]


@kernel
def begin_flowlet(world: World, flow: int) -> None:
    """A flow has started on the way that was chosen."""
    record = world.flowlets[world.pairs[flow]]
    record["n_live"] += 1
    record["n_chosen"] += 1


@kernel
def end_flowlet(world: World, flow: int) -> None:
    """A flow has sent its last byte, or was given up."""
    record = world.flowlets[world.pairs[flow]]
    record["n_live"] -= 1
    record["last_ps"] = world.state[0]["now_ps"]
