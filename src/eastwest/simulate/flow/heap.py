"""Heaps of four children a node, as record tables: a plain one, and one whose items know their row."""

from __future__ import annotations

from typing import Any

import numpy as np

from eastwest.simulate.compiled import kernel
from eastwest.simulate.flow.records import Records

TOP: Any = np.int64(0)  # a plain 0 is a type of its own to numba: every caller would be compiled twice

# Row r has the children 4r + 1 ... 4r + 4: half the depth of a binary heap, and the four share a cache line or two.


@kernel
def sift_up(heap: Records, at: int) -> None:
    """Move the entry of this row up to its place."""
    key, item = heap[at]["key"], heap[at]["item"]
    while at > 0:
        above = (at - 1) >> 2
        if heap[above]["key"] <= key:
            break
        heap[at]["key"], heap[at]["item"] = heap[above]["key"], heap[above]["item"]
        at = above
    heap[at]["key"], heap[at]["item"] = key, item


@kernel
def sift_down(heap: Records, n: int, at: int) -> None:
    """Move the entry of this row down to its place among `n` rows."""
    key, item = heap[at]["key"], heap[at]["item"]
    while True:
        below = 4 * at + 1
        if below >= n:
            break
        least = below
        for child in range(below + 1, min(below + 4, n)):
            if heap[child]["key"] < heap[least]["key"]:
                least = child
        if heap[least]["key"] >= key:
            break
        heap[at]["key"], heap[at]["item"] = heap[least]["key"], heap[least]["item"]
        at = least
    heap[at]["key"], heap[at]["item"] = key, item


@kernel
def push(heap: Records, n: int, key: float, item: int) -> None:
    """Add an entry to a heap of `n` rows; it has `n + 1` then."""
    heap[n]["key"], heap[n]["item"] = key, item
    sift_up(heap, n)


@kernel
def drop_top(heap: Records, n: int) -> None:
    """Take the least entry off a heap of `n` rows; it has `n - 1` then."""
    last = n - 1
    if last > 0:
        heap[0]["key"], heap[0]["item"] = heap[last]["key"], heap[last]["item"]
        sift_down(heap, last, TOP)


@kernel
def order(heap: Records, n: int) -> None:
    """Make a heap of `n` rows in any order."""
    for at in range((n - 2) // 4, -1, -1):
        sift_down(heap, n, at)


@kernel
def settle(heap: Records, slots: Records, n: int, at: int) -> None:
    """Move the entry of this row to its place, up or down, and tell every slot that moves its row."""
    key, item = heap[at]["key"], heap[at]["item"]
    while at > 0:
        above = (at - 1) >> 2
        if heap[above]["key"] <= key:
            break
        heap[at]["key"], heap[at]["item"] = heap[above]["key"], heap[above]["item"]
        slots[heap[at]["item"]]["heap_at"] = at
        at = above
    while True:
        below = 4 * at + 1
        if below >= n:
            break
        least = below
        for child in range(below + 1, min(below + 4, n)):
            if heap[child]["key"] < heap[least]["key"]:
                least = child
        if heap[least]["key"] >= key:
            break
        heap[at]["key"], heap[at]["item"] = heap[least]["key"], heap[least]["item"]
        slots[heap[at]["item"]]["heap_at"] = at
        at = least
    heap[at]["key"], heap[at]["item"] = key, item
    slots[item]["heap_at"] = at


@kernel
def remove(heap: Records, slots: Records, n: int, at: int) -> None:
    """Take the entry of this row off a heap of `n` rows whose slots know their row."""
    slots[heap[at]["item"]]["heap_at"] = -1
    last = n - 1
    if at < last:
        heap[at]["key"], heap[at]["item"] = heap[last]["key"], heap[last]["item"]
        settle(heap, slots, last, at)
