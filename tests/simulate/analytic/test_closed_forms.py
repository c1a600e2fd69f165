"""Odds, loss, distance, point to point, expert exchange: each against a naive oracle or a published figure."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.simulate.analytic import distance, expert_exchange, loss, odds, point_to_point


def counted(flows, links):
    """Naive oracle: every way to hash, one by one."""
    tally = Counter(max(Counter(way).values()) for way in product(range(links), repeat=flows))
    total = links**flows
    return [tally[k] / total for k in range(flows + 1)]


@pytest.mark.parametrize(("flows", "links"), [(1, 1), (2, 2), (3, 4), (4, 3), (5, 2), (6, 4)])
def test_the_fullest_link_is_distributed_as_counting_says(flows, links):
    assert odds.most_loaded_distribution(flows, links) == pytest.approx(counted(flows, links), abs=1e-12)


@given(st.integers(1, 40), st.integers(1, 40))
def test_odds_sum_to_one_and_the_mean_is_at_least_fair(flows, links):
    distribution = odds.most_loaded_distribution(flows, links)
    assert sum(distribution) == pytest.approx(1, abs=1e-9)
    assert odds.mean_most_loaded(flows, links) >= flows / links - 1e-9
    assert 0 < odds.slowest_flow_ratio(flows, links) <= 1 + 1e-9


def test_birthday():
    assert odds.no_collision_ratio(23, 365) == pytest.approx(0.4927, abs=1e-4)
    assert odds.no_collision_ratio(3, 2) == 0


def test_no_flow_collides_with_nothing():
    assert odds.slowest_flow_ratio(0, 4) == 1
    assert odds.most_loaded_distribution(0, 4) == (1.0,)


def test_hashing_leaves_the_share_of_links_that_guo_measured():
    # 24 pairs of ToRs saturating a Clos reached 60 % of 5.12 Tb/s (Guo et al. 2016)
    assert odds.used_links_ratio(64, 64) == pytest.approx(0.60, abs=0.05)


def naive_go_back_n(p, window, seed=7, packets=60_000):
    """Naive oracle: send one by one; a loss costs the window that was in flight behind it."""
    lost = np.random.default_rng(seed).random(packets) < p
    sent = packets + lost.sum() * window
    return (packets - lost.sum()) / sent


@pytest.mark.parametrize(("p", "window"), [(0.001, 50), (0.01, 50), (0.05, 10)])
def test_go_back_n_is_what_counting_says(p, window):
    assert loss.go_back_n_ratio(p, window) == pytest.approx(naive_go_back_n(p, window), rel=0.1)


def test_go_back_0_waits_for_a_run_of_successes():
    # expected tries until k successes in a row: (1 - q^k) / (p q^k), by the recursion E_k = (E_{k-1} + 1) / q
    p, k = 0.1, 20
    expected = 0.0
    for _ in range(k):
        expected = (expected + 1) / (1 - p)
    assert loss.go_back_0_ratio(p, k) == pytest.approx(k / expected, rel=1e-9)
    assert loss.go_back_0_ratio(1 / 256, 4 * 1024) < 1e-4  # livelock: Guo et al. 2016
    assert loss.go_back_0_ratio(0.5, 10**6) == 0


@given(st.floats(0, 1), st.floats(1, 1e4))
def test_loss_orders_the_schemes(p, window):
    repeat, go_back = loss.selective_repeat_ratio(p), loss.go_back_n_ratio(p, window)
    assert 0 <= go_back <= repeat + 1e-12
    assert 0 <= loss.go_back_0_ratio(p, 100) <= 1


def test_a_window_over_a_distance():
    assert distance.rtt_s(100_000) == pytest.approx(1e-3, rel=0.02)  # 100 km: 1 ms
    assert distance.reached_ratio(1e6, 1e9, 100_000) == pytest.approx(1.0, rel=0.01)
    assert distance.reached_ratio(1e6, 50e9, 100_000) == pytest.approx(0.02, rel=0.02)
    assert distance.reached_ratio(1e12, 50e9, 100_000) == 1


def test_perftest_is_a_message_rate_and_then_the_wire():
    nic = 25e9
    assert 8 / point_to_point.write_s(2, nic) == pytest.approx(8 * point_to_point.MESSAGES_PER_S)
    assert 4 * 2**20 / point_to_point.write_s(4 * 2**20, nic) == pytest.approx(0.98 * nic, rel=0.001)
    assert point_to_point.read_latency_s(2, nic) > point_to_point.write_latency_s(2, nic)


def test_expert_exchange_counts_what_stays():
    assert expert_exchange.counted_bytes_per_s(2, 50e9, 450e9) == pytest.approx(90e9)  # DeepEP V2, 16 Hopper GPUs
    assert expert_exchange.counted_bytes_per_s(1, 50e9, 900e9) == pytest.approx(726e9, rel=0.03)
    small = expert_exchange.low_latency_s(7.3e6, 16, 8, 50e9, 200e9)
    assert small < expert_exchange.low_latency_s(7.3e6, 256, 8, 50e9, 200e9)
