"""Collectives as messages that wait for each other: the transfers of `workload.collectives` in channels and chunks, and
the two that know scale-up domains, hierarchical and NVLS.

A ring over servers of several hosts turns with its channel: channel c enters and leaves each server at host c, so that
all NICs of a server carry the ring (NCCL's rings). NVLS is its traffic only: each GPU sends its buffer up once to be
summed, and one n-th more to be spread.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.dependencies import parents_of
from eastwest.simulate.messages import Messages, Way, joined, lone, waiting
from eastwest.simulate.network import Ints
from eastwest.workload.collectives import ALGORITHMS, TRANSFER
from eastwest.workload.collectives.transfer import parts_of

NAMES = {
    ("all_gather", "pat"): "pat_all_gather",
    ("all_gather", "ring"): "ring_all_gather",
    ("all_reduce", "halving_doubling"): "halving_doubling_all_reduce",
    ("all_reduce", "ring"): "ring_all_reduce",
    ("all_reduce", "tree"): "tree_all_reduce",
    ("all_to_all", "direct"): "direct_all_to_all",
    ("all_to_all", "pairwise"): "pairwise_all_to_all",
    ("broadcast", "ring"): "ring_broadcast",
    ("reduce_scatter", "pat"): "pat_reduce_scatter",
    ("reduce_scatter", "ring"): "ring_reduce_scatter",
    ("send_recv", "chain"): "pipeline_send_recv",
}
RINGS = ("all_gather", "all_reduce", "reduce_scatter")


@dataclass(frozen=True, slots=True)
class Run:
    """One collective of `n` ranks that sit `per_domain` to a scale-up domain, in `channels` and `chunks`."""

    collective: str
    algorithm: str
    size_bytes: int
    n: int
    per_domain: int
    channels: int
    chunks: int


def template(run: Run) -> Messages:
    """The messages of one group between ranks 0 … n-1. Parts of zero bytes are left in: they pass at once."""
    parts = parts_of(run.size_bytes, run.channels)
    found = [_channel(run, channel, int(size)) for channel, size in enumerate(parts)]
    numbered = [replace(part, channel=np.full(len(part), number, np.int64)) for number, part in enumerate(found)]
    return joined(numbered)


def _channel(run: Run, channel: int, size_bytes: int) -> Messages:
    if run.algorithm == "nvls":
        return _nvls(run.n, size_bytes)
    chunks = parts_of(size_bytes, run.chunks)
    rows = [_rows(run, channel, int(chunk)) for chunk in chunks]
    if run.algorithm == "direct":
        whole = np.concatenate(rows)
        return lone(whole["src"], whole["dst"], whole["size_bytes"])
    return _chained(rows, _lanes(run, rows[0]))


def _rows(run: Run, channel: int, size_bytes: int) -> NDArray[np.void]:
    """The transfers of one chunk."""
    ranks = np.arange(run.n, dtype=np.int64)
    if run.algorithm == "hierarchical":
        split = ranks.reshape(-1, run.per_domain)
        return _exchanged(split, size_bytes) if run.collective == "all_to_all" else _levelled(split, size_bytes)
    if run.algorithm == "ring" and run.collective in RINGS:
        ranks = np.roll(ranks.reshape(-1, run.per_domain), -channel % run.per_domain, axis=1).ravel()
    return ALGORITHMS.get(NAMES[run.collective, run.algorithm]).transfers(ranks, size_bytes)


def _lanes(run: Run, rows: NDArray[np.void]) -> Ints:
    """(n,) which of the two trees a transfer of a double tree belongs to; 0 elsewhere."""
    lanes = np.zeros(len(rows), np.int64)
    if run.algorithm == "tree":
        lanes[len(rows) // 2 :] = 1
    return lanes


def _chained(chunks: list[NDArray[np.void]], lanes: Ints) -> Messages:
    """Messages of chunks that follow each other: a transfer also waits for the same one of the chunk before."""
    n, parts = len(lanes), []
    first, parents = parents_of(chunks[0], lanes)
    for rows in chunks:
        parts.append(waiting(lone(rows["src"], rows["dst"], rows["size_bytes"]), (first, parents)))
    whole = joined(parts)
    if len(chunks) == 1:
        return whole
    counts = np.diff(whole.parent_first)
    more = np.r_[np.zeros(n, np.int64), np.ones(len(whole) - n, np.int64)]
    wider = np.r_[0, np.cumsum(counts + more)].astype(np.int64)
    filled = np.zeros(wider[-1], np.int64)
    own = np.ones(len(filled), bool)
    own[wider[1:][more == 1] - 1] = False
    filled[own] = whole.parents
    filled[~own] = np.arange(len(whole) - n)
    return waiting(whole, (wider, filled))


def _levelled(split: Ints, size_bytes: int) -> NDArray[np.void]:
    """Hierarchical all-reduce of (n_domains, per_domain) ranks: reduce-scatter inside each domain, all-reduce of each
    part across domains, all-gather inside.
    """
    n_domains, per = split.shape
    inner, outer = ALGORITHMS.get("ring_reduce_scatter"), ALGORITHMS.get("ring_all_reduce")
    first = [inner.transfers(domain, size_bytes) for domain in split]
    parts = parts_of(size_bytes, per)
    across = [outer.transfers(split[:, (part - 1) % per], int(parts[part])) for part in range(per)]
    last = [ALGORITHMS.get("ring_all_gather").transfers(domain, size_bytes) for domain in split]
    return _in_turn([first, across, last], [per - 1, 2 * (n_domains - 1), per - 1])


def _exchanged(split: Ints, size_bytes: int) -> NDArray[np.void]:
    """Hierarchical all-to-all of (n_domains, per_domain) ranks: inside a domain everything goes to the member on the
    destination's place, which sends it on to its like in each other domain.
    """
    n_domains, per = split.shape
    part = size_bytes // (n_domains * per)
    inside = [_all_pairs(domain, part * n_domains) for domain in split]
    across = [_all_pairs(split[:, place], part * per) for place in range(per)]
    return _in_turn([inside, across], [per - 1, n_domains - 1])


def _all_pairs(ranks: Ints, size_bytes: int) -> NDArray[np.void]:
    """Every rank sends `size_bytes` to each other."""
    return ALGORITHMS.get("direct_all_to_all").transfers(ranks, size_bytes * len(ranks))


def _in_turn(levels: list[list[NDArray[np.void]]], n_steps: list[int]) -> NDArray[np.void]:
    """Levels one after another: the steps of each begin where those of the one before end."""
    found, begin = [np.zeros(0, TRANSFER)], 0
    for level, steps in zip(levels, n_steps, strict=True):
        for rows in level:
            moved = rows.copy()
            moved["step"] += begin
            found.append(moved)
        begin += steps
    return np.concatenate(found)


def _nvls(n: int, size_bytes: int) -> Messages:
    """All-reduce in the switch of one domain: S and one n-th of S up, the same down, all at once."""
    ranks = np.arange(n, dtype=np.int64)
    size = size_bytes + -(-size_bytes // n)
    both = lone(np.tile(ranks, 2), np.tile(ranks, 2), size)
    way = np.repeat(np.array([Way.INTO_SWITCH, Way.OUT_OF_SWITCH], np.int8), n)
    return replace(both, way=way)
