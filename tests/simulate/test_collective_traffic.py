"""Collectives as messages: bytes by closed form, waits that a naive search finds too, sums that arrive everywhere."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.simulate.collective_traffic import NAMES, Run, template
from eastwest.simulate.dependencies import is_cyclic, parents_of
from eastwest.simulate.messages import Way, joined, lone, placed, repeated
from eastwest.workload.collectives import ALGORITHMS, TRANSFER


def naive_parents(rows: np.ndarray, chain: np.ndarray) -> list[set[int]]:
    found = []
    for number, row in enumerate(rows):
        parents: set[int] = set()
        for end in ("dst", "src"):
            mine = [
                other
                for other in range(len(rows))
                if chain[other] == chain[number]
                and rows[other][end] == row["src"]
                and rows[other]["step"] < row["step"]
            ]
            if mine:
                latest = max(rows[other]["step"] for other in mine)
                parents |= {other for other in mine if rows[other]["step"] == latest}
        found.append(parents)
    return found


@pytest.mark.parametrize("name", ALGORITHMS.names())
@pytest.mark.parametrize("n", [2, 3, 8, 11])
def test_waits_are_those_that_a_naive_search_finds(name: str, n: int) -> None:
    rows = ALGORITHMS.get(name).transfers(np.arange(n, dtype=np.int64), 1000)
    chain = np.arange(len(rows)) % 2 if name == "tree_all_reduce" else np.zeros(len(rows), np.int64)
    first, parents = parents_of(rows, chain.astype(np.int64))
    assert [set(parents[a:b].tolist()) for a, b in pairwise(first)] == naive_parents(rows, chain)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30))
def test_waits_of_any_transfers_are_those_of_the_naive_search(drawn: list[tuple[int, int, int]]) -> None:
    rows = np.array([(*row, 1) for row in drawn], TRANSFER)
    chain = np.zeros(len(rows), np.int64)
    first, parents = parents_of(rows, chain)
    assert [set(parents[a:b].tolist()) for a, b in pairwise(first)] == naive_parents(rows, chain)
    assert len(is_cyclic(first, parents)) == 0


def test_a_circle_is_found_and_what_hangs_on_it() -> None:
    first = np.array([0, 1, 2, 3, 3])
    assert is_cyclic(first, np.array([1, 0, 1])).tolist() == [0, 1, 2]


@pytest.mark.parametrize("key", sorted(NAMES))
@pytest.mark.parametrize(("channels", "chunks"), [(1, 1), (3, 1), (1, 4), (2, 3)])
def test_channels_and_chunks_cut_the_bytes_and_lose_none(key: tuple[str, str], channels: int, chunks: int) -> None:
    whole = template(Run(*key, 840_000, 8, 1, 1, 1))
    cut = template(Run(*key, 840_000, 8, 1, channels, chunks))
    assert len(cut) == len(whole) * channels * chunks
    assert int(cut.size_bytes.sum()) == pytest.approx(int(whole.size_bytes.sum()), abs=len(cut))
    assert len(is_cyclic(cut.parent_first, cut.parents)) == 0


def test_a_chunk_waits_for_the_same_transfer_of_the_chunk_before() -> None:
    """A chain of 3 ranks in 2 chunks: 0->1, 1->2, and again; the second 0->1 waits for the first only."""
    found = template(Run("broadcast", "ring", 10, 3, 1, 1, 2))
    waits = [found.parents[a:b].tolist() for a, b in pairwise(found.parent_first)]
    assert waits == [[], [0], [0], [2, 1]]


def test_hierarchical_all_reduce_sends_the_bytes_of_its_three_parts() -> None:
    """d domains of g ranks: inside 2 (g-1) S a domain, across 2 (d-1) S in all."""
    found = template(Run("all_reduce", "hierarchical", 960_000, 12, 4, 1, 1))
    same = found.src // 4 == found.dst // 4
    assert int(found.size_bytes[same].sum()) == 3 * 2 * 3 * 960_000
    assert int(found.size_bytes[~same].sum()) == 2 * 2 * 960_000
    assert (found.src[~same] % 4 == found.dst[~same] % 4).all()


def test_hierarchical_all_reduce_leaves_the_sum_on_every_rank() -> None:
    """A naive oracle: which ranks' data each rank may hold after all messages in order of their steps."""
    found = template(Run("all_reduce", "hierarchical", 960_000, 12, 4, 1, 1))
    held = [{rank} for rank in range(12)]
    done: set[int] = set()
    while len(done) < len(found):
        ready = [
            m
            for m in range(len(found))
            if m not in done and set(found.parents[found.parent_first[m] : found.parent_first[m + 1]].tolist()) <= done
        ]
        for m in ready:
            held[found.dst[m]] |= held[found.src[m]]
        done |= set(ready)
    assert held == [set(range(12))] * 12


def test_hierarchical_all_to_all_crosses_domains_on_its_own_place_only() -> None:
    """Across domains every byte goes once, as in the direct one: (d-1)/d of all."""
    found = template(Run("all_to_all", "hierarchical", 12_000, 12, 4, 1, 1))
    across = found.src // 4 != found.dst // 4
    assert int(found.size_bytes[across].sum()) == 12 * 12_000 * 2 // 3
    assert (found.src[across] % 4 == found.dst[across] % 4).all()


def test_nvls_sends_the_buffer_and_one_nth_each_way() -> None:
    found = template(Run("all_reduce", "nvls", 8000, 8, 8, 1, 1))
    up = found.way == Way.INTO_SWITCH
    assert found.size_bytes[up].tolist() == found.size_bytes[~up].tolist() == [9000] * 8


def test_ring_channels_turn_inside_servers_so_that_every_nic_carries_the_ring() -> None:
    found = template(Run("all_reduce", "ring", 8000, 8, 4, 4, 1))
    across = found.src // 4 != found.dst // 4
    assert set(found.dst[across & (found.channel == 2)].tolist()) == {2, 6}
    assert set(found.dst[across].tolist()) == set(range(8))


def test_a_template_is_placed_on_every_group_and_repeated_in_time() -> None:
    whole = placed(template(Run("all_gather", "ring", 90, 3, 1, 1, 1)), np.array([[5, 6, 7], [1, 2, 3]]))
    assert len(whole) == 12
    assert set(whole.src[6:].tolist()) == {1, 2, 3}
    assert set(whole.parents[whole.parent_first[9] : whole.parent_first[10]].tolist()) <= {6, 7, 8}
    twice = repeated(whole, 2, 500)
    assert twice.start_ps[12:].tolist() == [500] * 12
    assert (twice.parents[12:] >= 12).all()
    assert len(joined([lone(np.array([1]), np.array([2]), 5), whole])) == 13
