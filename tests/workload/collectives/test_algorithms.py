"""Every algorithm: bytes are conserved, results are right when played, closed forms are those of the transfers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from eastwest.errors import UsageError
from eastwest.workload.collectives import ALGORITHMS, TRANSFER, algorithm_of
from eastwest.workload.collectives.transfer import parts_of, share_of

names = st.sampled_from(ALGORITHMS.names())
ranks = st.integers(1, 17)
sizes = st.integers(0, 10**12)


def sent_by(rows: NDArray[np.void], group: NDArray[np.int64]) -> list[int]:
    return [int(rows["size_bytes"][rows["src"] == rank].sum()) for rank in group]


@given(names, ranks, sizes)
def test_every_transfer_is_between_two_ranks_of_the_group(name: str, n: int, size: int) -> None:
    group = np.arange(n, dtype=np.int64) * 8 + 3
    rows = ALGORITHMS.get(name).transfers(group, size)
    assert rows.dtype == TRANSFER
    assert set(rows["src"].tolist()) | set(rows["dst"].tolist()) <= set(group.tolist())
    assert (rows["src"] != rows["dst"]).all()
    assert (rows["size_bytes"] >= 0).all()


@given(names, ranks, sizes)
def test_the_closed_form_is_what_the_busiest_rank_sends(name: str, n: int, size: int) -> None:
    """Within n bytes: a buffer that n does not divide is cut in parts that differ by a byte."""
    algorithm = ALGORITHMS.get(name)
    group = np.arange(n, dtype=np.int64)
    rows = algorithm.transfers(group, size)
    assert abs(max(sent_by(rows, group), default=0) - algorithm.sent_bytes(n, size)) <= 2 * n
    counts = np.bincount(rows["src"], minlength=n)
    assert counts.max() == algorithm.n_messages(n)


CLOSED = {
    "ring_all_gather": lambda n, s: (n - 1) * s,
    "ring_reduce_scatter": lambda n, s: (n - 1) * s,
    "ring_all_reduce": lambda n, s: 2 * (n - 1) * s,
    "ring_broadcast": lambda n, s: (n - 1) * s,
    "pipeline_send_recv": lambda n, s: (n - 1) * s,
    "tree_all_reduce": lambda n, s: 2 * (n - 1) * s,
}


@given(st.sampled_from(sorted(CLOSED)), ranks, sizes)
def test_all_bytes_together_are_the_closed_form_to_the_byte(name: str, n: int, size: int) -> None:
    rows = ALGORITHMS.get(name).transfers(np.arange(n, dtype=np.int64), size)
    assert int(rows["size_bytes"].sum()) == CLOSED[name](n, size)


@given(ranks, sizes)
def test_all_to_all_sends_every_part_but_ones_own(n: int, size: int) -> None:
    rows = ALGORITHMS.get("direct_all_to_all").transfers(np.arange(n, dtype=np.int64), size)
    assert int(rows["size_bytes"].sum()) == (n - 1) * size
    pairs = set(zip(rows["src"].tolist(), rows["dst"].tolist(), strict=True))
    assert len(pairs) == len(rows) == n * (n - 1)


@given(ranks, sizes)
def test_no_rank_receives_twice_in_one_step_of_an_all_to_all(n: int, size: int) -> None:
    rows = ALGORITHMS.get("direct_all_to_all").transfers(np.arange(n, dtype=np.int64), size)
    for step in set(rows["step"].tolist()):
        now = rows[rows["step"] == step]
        assert len(set(now["dst"].tolist())) == len(now)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 13])
def test_ring_all_reduce_leaves_the_sum_on_every_rank(n: int) -> None:
    """A naive oracle plays the ring: rank r starts with 1 << r in each part."""
    parts = parts_of(n * 1000, n)
    group = np.arange(n, dtype=np.int64)
    buffers = [[1 << rank] * n for rank in range(n)]
    rows = ALGORITHMS.get("ring_all_reduce").transfers(group, int(parts.sum()))
    for step in range(2 * (n - 1)):
        moved = []
        for row in rows[rows["step"] == step]:
            shift = step if step < n - 1 else step - (n - 1) - 1
            part = (int(row["src"]) - shift) % n
            assert row["size_bytes"] == parts[part]
            moved.append((int(row["dst"]), part, buffers[int(row["src"])][part]))
        for dst, part, value in moved:
            buffers[dst][part] = buffers[dst][part] + value if step < n - 1 else value
    assert all(value == (1 << n) - 1 for buffer in buffers for value in buffer)


@pytest.mark.parametrize("n", [2, 3, 4, 7, 16, 31])
def test_tree_all_reduce_leaves_the_sum_on_every_rank(n: int) -> None:
    """A naive oracle plays the first tree (half of the rows): sums go up by step, the total comes down."""
    rows = ALGORITHMS.get("tree_all_reduce").transfers(np.arange(n, dtype=np.int64), 2)[: 2 * (n - 1)]
    held = [1 << rank for rank in range(n)]
    up = rows["src"] > rows["dst"]
    for row in sorted(rows[up].tolist()):
        held[row[2]] += held[row[1]]
    assert held[0] == (1 << n) - 1
    for row in sorted(rows[~up].tolist()):
        held[row[2]] = held[row[1]]
    assert held == [(1 << n) - 1] * n
    assert rows["step"].max() < 2 * np.log2(n) + 2


@given(sizes, st.integers(1, 64))
def test_parts_sum_to_the_buffer_and_differ_by_a_byte(size: int, n: int) -> None:
    parts = parts_of(size, n)
    assert int(parts.sum()) == size
    assert parts.max() - parts.min() <= 1


@given(sizes, st.integers(1, 1000))
def test_a_share_is_rounded_to_the_nearest_byte(size: int, n: int) -> None:
    assert abs(share_of(size, n - 1, n) - size * (n - 1) / n) <= 0.5 + size * 1e-15


def test_bus_bandwidth_factors_are_those_of_nccl_tests() -> None:
    factors = {
        "all_reduce": 2 * 7 / 8,
        "all_gather": 7 / 8,
        "reduce_scatter": 7 / 8,
        "all_to_all": 7 / 8,
        "broadcast": 1,
    }
    assert {name: algorithm_of(name).sent_bytes(8, 8000) / 8000 for name in factors} == factors


def test_a_write_has_no_group_algorithm() -> None:
    with pytest.raises(UsageError):
        algorithm_of("write")
