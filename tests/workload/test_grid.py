"""The grid's groups: each dimension parts the ranks, and they are those of a rank-by-rank oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.workload import Grid

DIMENSIONS = ("tp", "cp", "dp", "dp_cp", "pp", "ep", "expert_dp", "shard", "replica", "all")
degrees = st.integers(1, 4)


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    tp, cp, dp, pp = (draw(degrees) for _ in range(4))
    divisors = [n for n in range(1, dp * cp + 1) if dp * cp % n == 0]
    return Grid(tp, cp, dp, pp, ep=draw(st.sampled_from(divisors)), shard=draw(st.sampled_from(divisors)))


@given(grids(), st.sampled_from(DIMENSIONS))
def test_groups_part_the_ranks(grid: Grid, dimension: str) -> None:
    assert np.array_equal(np.sort(grid.groups(dimension).ravel()), np.arange(grid.n_ranks))


def coordinates(grid: Grid, rank: int) -> dict[str, int]:
    """tp, cp, dp, pp numbers of one rank, by division, and its number among the ranks with the same weights."""
    found = {}
    for name in ("tp", "cp", "dp", "pp"):
        rank, found[name] = divmod(rank, getattr(grid, name))
    same = found["cp"] + grid.cp * found["dp"]
    return {**found, "same": same}


@given(grids())
def test_groups_are_the_ranks_that_differ_in_their_dimension_only(grid: Grid) -> None:
    for dimension in ("tp", "cp", "dp", "pp"):
        others = [name for name in ("tp", "cp", "dp", "pp") if name != dimension]
        for group in grid.groups(dimension).tolist():
            assert len({tuple(coordinates(grid, rank)[name] for name in others) for rank in group}) == 1
            assert [coordinates(grid, rank)[dimension] for rank in group] == list(range(len(group)))


@given(grids())
def test_experts_and_shards_are_neighbours_among_equal_weights(grid: Grid) -> None:
    for inner, outer, size in (("ep", "expert_dp", grid.ep), ("shard", "replica", grid.shard)):
        for group in grid.groups(inner).tolist():
            where = [coordinates(grid, rank) for rank in group]
            assert len({(at["tp"], at["pp"], at["same"] // size) for at in where}) == 1
        for group in grid.groups(outer).tolist():
            where = [coordinates(grid, rank) for rank in group]
            assert len({(at["tp"], at["pp"], at["same"] % size) for at in where}) == 1


@given(grids())
def test_pipeline_ends_are_first_and_last_stage(grid: Grid) -> None:
    pipes, ends = grid.groups("pp"), grid.groups("pp_ends")
    if grid.pp == 1:
        assert len(ends) == 0
    else:
        assert sorted(ends.tolist()) == sorted([pipe[0], pipe[-1]] for pipe in pipes.tolist())


def test_prefill_hands_over_to_the_same_place_of_a_decode_replica() -> None:
    grid = Grid(tp=2, dp=4, pp=1, prefill=3)
    assert grid.groups("prefill_decode").tolist() == [[0, 6], [1, 7], [2, 6], [3, 7], [4, 6], [5, 7]]
    assert len(Grid(dp=4).groups("prefill_decode")) == 0


def test_an_unknown_dimension_is_refused() -> None:
    with pytest.raises(KeyError):
        Grid().groups("np")
