"""NCCL's table: latencies and factors against values worked out by hand from the table's own figures."""

import numpy as np
import pytest

from eastwest.simulate.analytic import nccl_cost as nccl

US = 1e-6


@pytest.mark.parametrize(
    ("algorithm", "protocol", "collective", "ranks", "domains", "by_hand_us"),
    [
        ("ring", "ll", "all_reduce", 8, 1, 6.6 + 14 * 0.6),
        ("ring", "simple", "all_gather", 8, 1, 8.4 + 7 * 3.4),
        ("ring", "ll128", "all_reduce", 32, 4, 14.0 + (62 - 6) * 1.9 + 6 * 4.0),
        ("ring", "simple", "reduce_scatter", 16, 2, 8.4 + 14 * 3.4 + 1 * 14.0),
        ("ring", "ll", "all_reduce", 4, 4, 6.6 + 6 * 5.0),  # one GPU a server: the tree's network row
        ("tree", "ll", "all_reduce", 16, 2, 6.8 + 2 * (7 * 0.6 + 5.0)),
        ("tree", "simple", "all_reduce", 64, 8, 8.4 + 2 * (7 * 4.0 + 3 * 14.0)),
        ("nvls", "simple", "all_reduce", 8, 1, 25.0),
        ("nvls_tree", "simple", "all_reduce", 32, 4, 25.0 + 2 * 2 * 20.9),
        ("collnet", "simple", "all_reduce", 32, 4, 2 * (3.7 + 0.4 * 7) + 31.0),
        ("pat", "simple", "all_gather", 16, 16, 8.0 + 4 * 14.0 / 3.5 + 2.8 * 16),
    ],
)
def test_latency_is_the_tables(algorithm, protocol, collective, ranks, domains, by_hand_us):
    found = nccl.table_latency_s(algorithm, protocol, collective, ranks, domains)
    assert found == pytest.approx(by_hand_us * US, rel=1e-12)


def test_a_tree_over_two_and_four_servers_takes_what_nccl_tests_measured():
    # 8 B on H100 with NDR InfiniBand, nccl-tests issue 309: 24.7 and 34.8 us
    assert nccl.table_latency_s("tree", "ll", "all_reduce", 16, 2) == pytest.approx(24.7 * US, rel=0.03)
    assert nccl.table_latency_s("tree", "ll", "all_reduce", 32, 4) == pytest.approx(34.8 * US, rel=0.03)


@pytest.mark.parametrize(
    ("collective", "factor"),
    [("all_reduce", 1.75), ("all_gather", 0.875), ("reduce_scatter", 0.875), ("all_to_all", 0.875), ("broadcast", 1.0)],
)
def test_bus_factor_of_eight(collective, factor):
    assert nccl.bus_factor(collective, 8) == factor
    assert nccl.bus_factor(collective, np.array([8.0, 8.0])).tolist() == [factor, factor]


def test_ring_steps():
    steps = nccl.steps_of("all_reduce", 32.0, 4.0)
    assert (steps.all, steps.outer, steps.rounds) == (62.0, 6.0, 2.0)
    assert nccl.steps_of("broadcast", 32.0, 4.0).all == 31.0


def test_ll_is_capped_less_in_one_domain():
    assert nccl.ll_cap_bytes_per_s(141e9, 1) == 141e9
    assert nccl.ll_cap_bytes_per_s(141e9, 2) == 39e9
    assert nccl.ll_cap_bytes_per_s(141e9, 8) == 20.4e9


def test_every_protocol_leaves_at_most_the_whole():
    shares = [nccl.protocol_share(a, p) for a in nccl.ALGORITHMS for p in nccl.PROTOCOLS]
    assert all(0 < share <= 1 for share in shares)
