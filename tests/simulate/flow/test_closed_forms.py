"""Collectives and patterns on a small leaf-spine against their closed forms, to 1e-9."""

import itertools

import numpy as np
import pytest

from eastwest.simulate.flow.build import flow_table
from eastwest.simulate.flow.engine import run_flows
from tests.simulate.flow.leaf_spine import DELAY_PS, LeafSpine, ring

RATE_BPS = 100 * 10**9
SIZE_BYTES = 10**7
SIZE_PS = SIZE_BYTES * 8 * 10  # at 100 Gb/s: 10 ps a bit
EXACT = 1e-9
NON_BLOCKING, TWO_TO_ONE = (LeafSpine(4, 4, n_spines, RATE_BPS) for n_spines in (4, 2))


def shifted(network: LeafSpine, shift: int) -> list[tuple[int, int]]:
    return [(host, (host + shift) % network.n) for host in range(network.n)]


@pytest.mark.parametrize(("network", "slower"), [(NON_BLOCKING, 1), (TWO_TO_ONE, 2)])
@pytest.mark.parametrize("is_sprayed", [False, True])
def test_a_permutation_between_leaves_takes_the_oversubscription_longer(
    network: LeafSpine, slower: int, is_sprayed: bool
) -> None:
    paths = network.paths(shifted(network, 4), is_sprayed=is_sprayed)
    found = run_flows(network.links, paths, flow_table([SIZE_BYTES] * network.n, range(network.n)))
    assert found.fct_ps == pytest.approx(slower * SIZE_PS + 4 * DELAY_PS, rel=EXACT)
    assert found.n_solves <= 1


def test_one_path_a_flow_collides_where_sprayed_packets_do_not() -> None:
    """Hosts 0 and 2 of each leaf on spine 0 of two, hosts 1 and 3 silent: half the rate; sprayed: all of it."""
    pairs = [(host, (host + 4) % TWO_TO_ONE.n) for host in range(0, TWO_TO_ONE.n, 2)]
    times = []
    for is_sprayed in (False, True):
        paths = TWO_TO_ONE.paths(pairs, is_sprayed=is_sprayed)
        times.append(run_flows(TWO_TO_ONE.links, paths, flow_table([SIZE_BYTES] * 8, range(8))).fct_ps.max())
    assert times == [2 * SIZE_PS + 4 * DELAY_PS, SIZE_PS + 4 * DELAY_PS]


@pytest.mark.parametrize("fan_in", [2, 5, 12])
def test_an_incast_takes_its_fan_in_longer(fan_in: int) -> None:
    paths = NON_BLOCKING.paths([(4 + sender, 0) for sender in range(fan_in)], is_sprayed=True)
    found = run_flows(NON_BLOCKING.links, paths, flow_table([SIZE_BYTES] * fan_in, range(fan_in)))
    assert found.fct_ps == pytest.approx(fan_in * SIZE_PS + 4 * DELAY_PS, rel=EXACT)


@pytest.mark.parametrize(("network", "uplinks"), [(NON_BLOCKING, 4), (TWO_TO_ONE, 2)])
def test_an_all_to_all_ends_when_the_busiest_link_has_carried_its_bytes(network: LeafSpine, uplinks: int) -> None:
    """A host sends n - 1 parts; a leaf's 4 hosts send 4 · 12 of them over its uplinks: 15 against 48 / uplinks."""
    pairs = list(itertools.permutations(range(network.n), 2))
    flows = flow_table([SIZE_BYTES] * len(pairs), range(len(pairs)))
    found = run_flows(network.links, network.paths(pairs, is_sprayed=True), flows)
    longest = max(network.n - 1, 4 * 12 / uplinks)
    assert found.fct_ps.max() == pytest.approx(longest * SIZE_PS + 4 * DELAY_PS, rel=EXACT)
    hosts = found.link_bytes[: 2 * network.n]
    assert (hosts == SIZE_BYTES * (network.n - 1)).all()
    assert (found.link_bytes[2 * network.n :] == SIZE_BYTES * 4 * 12 // uplinks).all()


def test_a_ring_is_paced_by_its_longest_hop() -> None:
    """2(n - 1) steps of one part and the delay of the hop between leaves: the slowest hop paces all."""
    n = NON_BLOCKING.n
    found = run_flows(NON_BLOCKING.links, NON_BLOCKING.paths(shifted(NON_BLOCKING, 1)), ring(n, SIZE_BYTES))
    assert found.end_ps.max() == 2 * (n - 1) * (SIZE_PS + 4 * DELAY_PS)
    assert found.link_bytes[:n].tolist() == [2 * (n - 1) * SIZE_BYTES] * n


def test_a_ring_under_one_leaf_is_one_step_after_the_other() -> None:
    network = LeafSpine(1, 8, 1, RATE_BPS)
    found = run_flows(network.links, network.paths(shifted(network, 1)), ring(8, SIZE_BYTES))
    steps = np.arange(1, 15) * (SIZE_PS + 2 * DELAY_PS)
    assert found.end_ps.tolist() == np.repeat(steps, 8).tolist()
