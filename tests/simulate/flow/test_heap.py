"""The heaps against sorted lists."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eastwest.simulate.flow import heap as module
from eastwest.simulate.flow.heap import drop_top, order, push, remove, settle
from eastwest.simulate.flow.records import DUE, SLOT, Records
from tests.simulate.flow.interpreted import interpreted

KEYS = st.lists(st.integers(0, 20).map(float), max_size=60)


def drained(heap: Records, n: int) -> list[float]:
    """The keys of a plain heap in the order in which they come off."""
    keys = []
    for left in range(n, 0, -1):
        keys.append(float(heap[0]["key"]))
        interpreted(module, drop_top)(heap, left)
    return keys


@given(KEYS)
def test_pushed_keys_come_off_in_order(keys: list[float]) -> None:
    heap = np.zeros(len(keys) + 1, DUE)
    for n, key in enumerate(keys):
        interpreted(module, push)(heap, n, key, n)
    assert drained(heap, len(keys)) == sorted(keys)


@given(KEYS)
def test_an_ordered_table_comes_off_in_order(keys: list[float]) -> None:
    heap = np.zeros(len(keys) + 1, DUE)
    heap["key"][: len(keys)] = keys
    interpreted(module, order)(heap, len(keys))
    assert drained(heap, len(keys)) == sorted(keys)


@given(KEYS.filter(bool), st.lists(st.tuples(st.integers(0, 59), st.integers(0, 20)), max_size=30))
def test_slots_know_their_row_through_changes_and_removals(keys: list[float], changes: list[tuple[int, int]]) -> None:
    heap, slots = np.zeros(len(keys), DUE), np.zeros(len(keys), SLOT)
    for n, key in enumerate(keys):
        heap[n]["key"], heap[n]["item"] = key, n
        interpreted(module, settle)(heap, slots, n + 1, n)
    n, held = len(keys), dict(enumerate(keys))
    for choice, key in changes:
        item = choice % len(keys)
        at = int(slots[item]["heap_at"])
        if item not in held:
            assert at == -1
        elif key % 3:
            heap[at]["key"] = held[item] = float(key)
            interpreted(module, settle)(heap, slots, n, at)
        else:
            interpreted(module, remove)(heap, slots, n, at)
            n -= 1
            del held[item]
        assert all(heap[slots[item]["heap_at"]]["item"] == item for item in held)
        assert all(heap[(row - 1) // 4]["key"] <= heap[row]["key"] for row in range(1, n))
