"""What a transfer of a collective waits for: the sender has received its last step, and has sent its own last step.

A rank therefore has one message of a chain in flight and begins the next when its own is delivered, so that the slowest
hop paces a ring (as SimGrid's and ASTRA-sim's actors do). NCCL keeps several slots in flight; over long links that
hides delay which this rule shows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.network import Ints
from eastwest.simulate.routes import ranges


def parents_of(rows: NDArray[np.void], chain: Ints) -> tuple[Ints, Ints]:
    """(n + 1,) first, (m,) parents of each of `rows` (TRANSFER between ranks 0 …); `chain` (n,) keeps copies of a
    collective apart.

    Parents are the transfers that the sender received in the latest earlier step in which it received anything, and
    those that it sent in the latest earlier step in which it sent anything.
    """
    in_step = _parents_in_turn(rows) if not chain.any() else None
    if in_step is not None:
        return in_step
    received = _latest_before(rows, chain, rows["dst"].astype(np.int64))
    sent = _latest_before(rows, chain, rows["src"].astype(np.int64))
    counts = np.diff(received[0]) + np.diff(sent[0])
    first = np.r_[0, np.cumsum(counts)].astype(np.int64)
    parents = np.zeros(first[-1], np.int64)
    parents[ranges(first[:-1], np.diff(received[0]))] = received[1]
    parents[ranges(first[:-1] + np.diff(received[0]), np.diff(sent[0]))] = sent[1]
    return first, parents


def _parents_in_turn(rows: NDArray[np.void]) -> tuple[Ints, Ints] | None:
    """The same for rows in which every rank sends once and receives once in each step, steps in order (rings, pairwise
    exchanges): counted, not searched for. None for other rows.
    """
    n_steps = int(rows["step"].max(initial=-1)) + 1
    n = len(rows) // max(1, n_steps)
    if not n or len(rows) != n * n_steps or (rows["step"] != np.repeat(np.arange(n_steps), n)).any():
        return None
    src, dst = (rows[name].astype(np.int64).reshape(n_steps, n) for name in ("src", "dst"))
    if max(src.max(), dst.max()) >= n:
        return None
    number = np.arange(len(rows), dtype=np.int64).reshape(n_steps, n)
    step = np.arange(n_steps, dtype=np.int64)[:, None]
    received, sent = np.full((n_steps, n), -1, np.int64), np.full((n_steps, n), -1, np.int64)
    received[step, dst], sent[step, src] = number, number
    if (received < 0).any() or (sent < 0).any():
        return None
    before = step[1:] - 1
    parents = np.stack([received[before, src[1:]], sent[before, src[1:]]], axis=-1).ravel()
    first = 2 * np.maximum(np.arange(len(rows) + 1, dtype=np.int64) - n, 0)
    return first, parents


def _latest_before(rows: NDArray[np.void], chain: Ints, rank: Ints) -> tuple[Ints, Ints]:
    """For each sender the rows of its chain in which it is `rank` (n,), of the latest step before its own."""
    n_steps = int(rows["step"].max(initial=0)) + 1
    n_ranks = int(max(rows["src"].max(initial=0), rows["dst"].max(initial=0))) + 1
    key = (chain * n_ranks + rank) * n_steps + rows["step"]
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    mine = (chain * n_ranks + rows["src"]) * n_steps
    end = np.searchsorted(ordered, mine + rows["step"])
    last = ordered[np.maximum(end - 1, 0)] if len(ordered) else ordered
    found = (end > 0) & (last >= mine)
    begin = np.where(found, np.searchsorted(ordered, last), end)
    counts = end - begin
    return np.r_[0, np.cumsum(counts)].astype(np.int64), order[ranges(begin, counts)].astype(np.int64)


def is_cyclic(first: Ints, parents: Ints) -> Ints:
    """(m,) int64 rows that wait for themselves through others; empty when every row can start."""
    n = len(first) - 1
    n_waits = np.diff(first)
    child = np.repeat(np.arange(n, dtype=np.int64), n_waits)
    order = np.argsort(parents, kind="stable")
    starts = np.searchsorted(parents[order], np.arange(n + 1))
    left = n_waits.copy()
    ready = np.flatnonzero(left == 0)
    while len(ready):
        slot = ranges(starts[ready].astype(np.int64), (starts[ready + 1] - starts[ready]).astype(np.int64))
        touched = child[order[slot]]
        np.subtract.at(left, touched, 1)
        left[ready] = -1
        candidates = np.unique(touched)
        ready = candidates[left[candidates] == 0]
    return np.flatnonzero(left > 0).astype(np.int64)
