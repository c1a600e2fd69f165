"""The clock and what is due: a heap of four children a node, ordered by (time, sequence).

An event is a time and a code: its sequence number, its kind, and the row that it is about. The event that is being
handled stays at the top as a hole, which the first new event fills: most events bring exactly one, so most cost one
walk down the heap instead of two.
"""

from __future__ import annotations

import numpy as np

from eastwest.simulate.packet.kernel import Records, kernel

INDEX_BITS, KIND_BITS = 27, 4
INDEX_MASK, KIND_MASK = (1 << INDEX_BITS) - 1, (1 << KIND_BITS) - 1
MAX_INDEX = INDEX_MASK
MAX_EVENTS = 1 << (63 - INDEX_BITS - KIND_BITS)  # sequence numbers of one run: 4.3e9

ARRIVE, FREE, WAKE, TIMEOUT, START, UNPAUSE, OBEY, REFRESH, OUTSIDE, WATCH, STORM, CALM, CREDIT, EXPIRE = range(
    14
)  # kinds

DUE = np.dtype([("at_ps", np.int64), ("code", np.int64)])
CLOCK = np.dtype(
    [
        ("now_ps", np.int64),
        ("sequence", np.int64),
        ("n_due", np.int64),  # rows of the heap, the hole included
        ("has_hole", np.int64),
        ("free_packet", np.int64),  # first row of the pool's free list
        ("n_packets", np.int64),  # rows of the pool ever used
        ("n_free", np.int64),
        ("n_events", np.int64),
        ("n_hops", np.int64),  # packets that left on a link, acknowledgements included
        ("n_data_hops", np.int64),
        ("n_open", np.int64),  # flows that have not ended
        ("n_live", np.int64),  # flows that send now
        ("next_outside", np.int64),
        ("progress_ps", np.int64),  # when a packet last reached its host
        ("end_ps", np.int64),  # stop there
        ("mark_key", np.int64),  # keys of the draws, one for each purpose
        ("error_key", np.int64),
        ("way_key", np.int64),
        ("jitter_key", np.int64),
    ],
    align=True,
)


@kernel
def push(heap: Records, clock: Records, at_ps: int, kind: int, index: int) -> None:
    """Add an event; it takes the place of the one that is being handled when that is still free."""
    state = clock[0]
    code = (state["sequence"] << (INDEX_BITS + KIND_BITS)) | (kind << INDEX_BITS) | index
    state["sequence"] += 1
    if state["has_hole"]:
        state["has_hole"] = 0
        sink(heap, state["n_due"], at_ps, code)
        return
    at = state["n_due"]
    state["n_due"] = at + 1
    while at > 0:
        above = (at - 1) >> 2
        if heap[above]["at_ps"] < at_ps or (heap[above]["at_ps"] == at_ps and heap[above]["code"] < code):
            break
        heap[at]["at_ps"], heap[at]["code"] = heap[above]["at_ps"], heap[above]["code"]
        at = above
    heap[at]["at_ps"], heap[at]["code"] = at_ps, code


@kernel
def is_before(heap: Records, a: int, b: int) -> int:
    """1 when row `a` is due before row `b`, else 0; without a jump, which the processor could not foresee (15 % of a
    run). Rows are unsigned: numba then does not ask whether they count from the end.
    """
    x, y = heap[np.uint64(a)], heap[np.uint64(b)]
    return int((x["at_ps"] < y["at_ps"]) | ((x["at_ps"] == y["at_ps"]) & (x["code"] < y["code"])))


@kernel
def sink(heap: Records, n: int, at_ps: int, code: int) -> None:
    """Put an event at the top of `n` rows and let it sink to its place."""
    at, child = 0, 1
    while child < n:
        if child + 3 < n:
            low = child + is_before(heap, child + 1, child)
            high = child + 2 + is_before(heap, child + 3, child + 2)
            least = high if is_before(heap, high, low) else low
        else:
            least = child
            for other in range(child + 1, n):
                least = other if is_before(heap, other, least) else least
        row = heap[np.uint64(least)]
        if at_ps < row["at_ps"] or (at_ps == row["at_ps"] and code < row["code"]):
            break
        heap[np.uint64(at)]["at_ps"], heap[np.uint64(at)]["code"] = row["at_ps"], row["code"]
        at, child = least, 4 * least + 1
    heap[at]["at_ps"], heap[at]["code"] = at_ps, code


@kernel
def take(heap: Records, clock: Records) -> int:
    """The code of the next event, with the clock put to its time; -1 when there is none."""
    state = clock[0]
    if state["has_hole"]:
        state["has_hole"] = 0
        last = state["n_due"] - 1
        state["n_due"] = last
        if last > 0:
            sink(heap, last, heap[last]["at_ps"], heap[last]["code"])
    if state["n_due"] == 0:
        return -1
    state["now_ps"] = heap[0]["at_ps"]
    state["has_hole"] = 1
    state["n_events"] += 1
    return heap[0]["code"]


def renumber(heap: Records, clock: Records) -> None:
    """Number the events that are due from 0 again, in their order: numbers last for `MAX_EVENTS` only."""
    state = clock[0]
    rows = heap[int(state["has_hole"]) : int(state["n_due"])].copy()
    rows = rows[np.lexsort((rows["code"], rows["at_ps"]))]
    n, low_bits = len(rows), INDEX_BITS + KIND_BITS
    rows["code"] = (np.arange(n, dtype=np.int64) << low_bits) | (rows["code"] & ((1 << low_bits) - 1))
    heap[:n] = rows
    state["n_due"], state["sequence"], state["has_hole"] = n, n, 0


@kernel
def draw(key: int, a: int, b: int) -> float:
    """A number in [0, 1) that depends on the key, a flow and a packet of it alone: not on the order of events.

    Source: SplitMix64 finalizer, Steele, Lea, Flood 2014.
    """
    word = np.uint64(key) ^ (np.uint64(a) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(b))
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    word = word ^ (word >> np.uint64(31))
    return np.float64(word >> np.uint64(11)) * 1.1102230246251565e-16  # 2^-53
