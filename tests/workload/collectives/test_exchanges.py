"""Halving-doubling and PAT, played by naive oracles: every rank ends with what the collective promises."""

import numpy as np
import pytest

from eastwest.workload.collectives import ALGORITHMS
from eastwest.workload.collectives.transfer import parts_of


@pytest.mark.parametrize("n", [2, 4, 8, 32])
def test_halving_doubling_sends_the_least_bytes_in_the_fewest_steps(n: int) -> None:
    """2(n - 1)/n of the buffer a rank in 2 log2 n messages (Thakur et al. 2005)."""
    size = n * 1000
    algorithm = ALGORITHMS.get("halving_doubling_all_reduce")
    rows = algorithm.transfers(np.arange(n), size)
    assert algorithm.sent_bytes(n, size) == 2 * (n - 1) * 1000
    assert algorithm.n_messages(n) == 2 * int(np.log2(n))
    assert int(rows["size_bytes"].sum()) == 2 * (n - 1) * size


@pytest.mark.parametrize("n", [2, 3, 4, 5, 7, 8, 13, 16])
def test_halving_doubling_brings_every_rank_the_sum(n: int) -> None:
    """Each rank passes on all that it has summed so far; at the end everyone has summed everyone, and in the halving
    steps nothing is added twice.
    """
    rows = ALGORITHMS.get("halving_doubling_all_reduce").transfers(np.arange(n), n * 100)
    held = [1 << rank for rank in range(n)]
    for step in range(int(rows["step"].max()) + 1):
        moved = [(int(row["dst"]), held[int(row["src"])]) for row in rows[rows["step"] == step]]
        for dst, value in moved:
            held[dst] |= value
    assert held == [(1 << n) - 1] * n


@pytest.mark.parametrize("n", [2, 3, 4, 6, 8, 9, 16, 21])
def test_pat_brings_every_part_to_every_rank_once(n: int) -> None:
    """A part that has travelled o ranks goes on by d when o is a multiple of 2d and o + d is still inside the ring."""
    size = n * 1000 + 7
    parts = parts_of(size, n)
    rows = ALGORITHMS.get("pat_all_gather").transfers(np.arange(n), size)
    held = [{rank} for rank in range(n)]
    for step in range(int(rows["step"].max()) + 1):
        moved = []
        for row in rows[rows["step"] == step]:
            src, dst = int(row["src"]), int(row["dst"])
            distance = (dst - src) % n
            going = {p for p in held[src] if (src - p) % n + distance < n and (src - p) % n % (2 * distance) == 0}
            assert int(row["size_bytes"]) == sum(int(parts[p]) for p in going)
            moved.append((dst, going))
        for dst, going in moved:
            assert not held[dst] & going
            held[dst] |= going
    assert held == [set(range(n))] * n


@pytest.mark.parametrize("n", [2, 5, 8])
def test_pat_reduce_scatter_is_the_all_gather_backwards(n: int) -> None:
    there = ALGORITHMS.get("pat_all_gather").transfers(np.arange(n), 1000)
    back = ALGORITHMS.get("pat_reduce_scatter").transfers(np.arange(n), 1000)
    last = int(there["step"].max())
    mirrored = {(last - int(r["step"]), int(r["dst"]), int(r["src"]), int(r["size_bytes"])) for r in there}
    assert {(int(r["step"]), int(r["src"]), int(r["dst"]), int(r["size_bytes"])) for r in back} == mirrored
    assert sorted(back["step"].tolist()) == back["step"].tolist()
