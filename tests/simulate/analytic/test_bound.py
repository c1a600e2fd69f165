"""Lower bounds of a set of flows, by hand."""

import numpy as np

from eastwest.simulate.analytic.bound import bound_of, link_times_ps
from eastwest.simulate.flow.tables import NO_CAP_BPS, FlowTable, LinkTable, PathTable

US = 10**6
LINKS = LinkTable(np.array([10**11, 5 * 10**10, 0]), np.array([US, US, US]))
PATHS = PathTable(np.array([0, 2, 3]), np.array([0, 1, 0], np.int32), np.array([1.0, 0.5, 1.0]), np.array([2 * US, US]))


def flows(sizes: list[int], path: list[int], parents: tuple[list[int], list[int]], cap: int = NO_CAP_BPS) -> FlowTable:
    n = len(sizes)
    return FlowTable(
        np.array(sizes),
        np.array(path, np.int32),
        np.zeros(n, np.int64),
        np.ones(n),
        np.full(n, cap),
        np.zeros(n, np.int8),
        np.array(parents[0]),
        np.array(parents[1], np.int32),
        np.full(n, 3 * US),
    )


def test_the_most_loaded_link_and_the_longest_chain_bound_the_end() -> None:
    """1 MB at 100G is 80 us; half of it at 50G too. Two flows of 1 MB share link 0: 160 us and the least delay."""
    found = bound_of(LINKS, PATHS, flows([10**6, 10**6], [0, 1], ([0, 0, 0], [])))
    assert found.link_ps.tolist() == [160 * US, 80 * US, 0]
    assert found.worst_link == 0
    assert found.end_ps.tolist() == [82 * US, 81 * US]
    assert found.time_ps == 161 * US
    chain = bound_of(LINKS, PATHS, flows([10**6, 10**6], [0, 1], ([0, 0, 1], [0])))
    assert chain.start_ps.tolist() == [0, 85 * US]
    assert chain.time_ps == 166 * US


def test_a_cap_binds_a_flow_and_a_dead_link_takes_no_time() -> None:
    capped = flows([10**6], [1], ([0, 0], []), cap=10**10)
    assert bound_of(LINKS, PATHS, capped).end_ps.tolist() == [801 * US]
    assert link_times_ps(LINKS, PATHS, capped)[2] == 0
