"""The heap of events and the pool of packets against Python's own."""

import heapq

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eastwest.simulate.packet import events, pool
from eastwest.simulate.packet.events import CLOCK, DUE, INDEX_MASK
from eastwest.simulate.packet.kernel import NONE
from eastwest.simulate.packet.pool import PACKET
from tests.simulate.flow.interpreted import interpreted

push, take, draw = (interpreted(events, kernel) for kernel in (events.push, events.take, events.draw))
take_packet, give_back = (interpreted(pool, kernel) for kernel in (pool.take_packet, pool.give_back))
steps = st.lists(st.one_of(st.none(), st.integers(0, 50)), max_size=200)


@settings(max_examples=60, deadline=None)
@given(steps)
def test_events_come_in_the_order_of_time_and_then_of_their_making(wishes: list[int | None]) -> None:
    """A number is a new event that much later, None takes the next one, whose hole is then filled or closed."""
    heap, clock = np.zeros(256, DUE), np.zeros(1, CLOCK)
    model: list[tuple[int, int]] = []
    for index, wish in enumerate(wishes):
        if wish is None:
            code = take(heap, clock)
            expected = heapq.heappop(model) if model else None
            assert (code & INDEX_MASK if code >= 0 else None) == (expected[1] if expected else None)
            assert expected is None or int(clock[0]["now_ps"]) == expected[0]
        else:
            at = int(clock[0]["now_ps"]) + wish
            push(heap, clock, at, 1, index)
            heapq.heappush(model, (at, index))
    while model:
        assert take(heap, clock) & INDEX_MASK == heapq.heappop(model)[1]
    assert take(heap, clock) == -1


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-20, 20), max_size=200))
def test_a_row_is_in_use_once_and_comes_back(wishes: list[int]) -> None:
    packets, clock = np.zeros(256, PACKET), np.zeros(1, CLOCK)
    clock[0]["free_packet"], clock[0]["n_free"] = NONE, len(packets)
    used: list[int] = []
    for wish in wishes:
        if wish >= 0:
            row = take_packet(packets, clock)
            assert row not in used
            used.append(row)
        elif used:
            give_back(packets, clock, used.pop(-wish % len(used)))
        assert int(clock[0]["n_free"]) == len(packets) - len(used)


@pytest.mark.filterwarnings("ignore:overflow encountered")  # 64-bit words wrap, which is what mixes them
def test_draws_are_uniform_and_depend_on_all_three_numbers() -> None:
    values = np.array([draw(12345, flow, seq) for flow in range(100) for seq in range(100)])
    assert ((values >= 0) & (values < 1)).all()
    counts = np.histogram(values, 20, (0, 1))[0]
    assert ((counts - 500) ** 2 / 500).sum() < 43.8  # chi-squared, 19 degrees of freedom, one in a thousand
    assert len({draw(99, 2, 3), draw(98, 2, 3), draw(99, 3, 3), draw(99, 2, 4)}) == 4
