"""Loads of links over time: peak rate, busy time, and bytes in bins whose width doubles when they are full."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.compiled import entry_kernel, kernel
from eastwest.simulate.flow.records import AMOUNT_PER_BYTE, Records, World


@kernel
def merge_bins(series: NDArray[np.float64]) -> None:
    """Merge pairs of bins into the first half; the second half is empty then."""
    n_links, n_bins = series.shape
    for link in range(n_links):
        for index in range(n_bins // 2):
            series[link, index] = series[link, 2 * index] + series[link, 2 * index + 1]
        series[link, n_bins // 2 :] = 0.0


@kernel
def add_bytes(
    state: Records, series: NDArray[np.float64], link: int, load_bps: float, begin: float, end: float
) -> None:
    """Spread what a link carried at one rate from `begin` to `end` over the bins."""
    n_bins = series.shape[1]
    while end > n_bins * state[0]["bin_ps"]:
        merge_bins(series)
        state[0]["bin_ps"] *= 2.0
    width = state[0]["bin_ps"]
    index = min(int(begin / width), n_bins - 1)
    while begin < end:
        until = end if index == n_bins - 1 else min(end, (index + 1) * width)
        series[link, index] += load_bps * (until - begin) / AMOUNT_PER_BYTE
        begin = until
        index += 1


@kernel
def settle_link(state: Records, loads: Records, series: NDArray[np.float64], link: int) -> None:
    """Account for what a link carried since its load last changed."""
    load, now = loads[link], state[0]["now_ps"]
    if load["load_bps"] > 0.0 and now > load["since_ps"]:
        load["busy_ps"] += now - load["since_ps"]
        if series.shape[0] > 0:
            add_bytes(state, series, link, load["load_bps"], load["since_ps"], now)
    load["since_ps"] = now


@kernel
def record_link(world: World, pool: Records, link: int) -> None:
    """Account for a link and note its new load."""
    settle_link(world.state, world.loads, world.series, link)
    first, total = world.links[link]["first"], 0.0
    for row in range(first, first + world.links[link]["count"]):
        total += world.slots[pool[row]["slot"]]["rate_bps"] * pool[row]["share"]
    load = world.loads[link]
    load["load_bps"] = total
    load["peak_bps"] = max(load["peak_bps"], total)


@kernel
def record_batch(world: World, pool: Records) -> None:
    """Note the loads of all links that this batch can have changed."""
    now, lists = world.state[0], world.lists
    for index in range(now["n_touched"]):
        record_link(world, pool, lists.touched[index])
    for index in range(now["n_set_links"]):
        link = lists.set_links[index]
        if world.links[link]["dirty"] != now["stamp"]:
            record_link(world, pool, link)


@entry_kernel
def record_end(world: World) -> None:
    """Account for all links up to now."""
    for link in range(len(world.loads)):
        settle_link(world.state, world.loads, world.series, link)
