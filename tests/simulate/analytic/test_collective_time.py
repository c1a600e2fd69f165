"""Time of collectives: limits against closed forms, scalar against vector, order of sizes and algorithms."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eastwest.simulate.analytic.collective_constants import shipped_constants
from eastwest.simulate.analytic.collective_run import GENERATIONS, TRANSPORTS, CollectiveRun, pack
from eastwest.simulate.analytic.collective_time import CHANNEL_BUFFER_BYTES, time_of, time_of_points
from eastwest.simulate.analytic.nccl_cost import COLLECTIVES

HUGE = 1e15  # bytes: latency does not count
NODE = CollectiveRun("all_reduce", 8, 1, 450e9, "hopper", 8, 50e9, nvls=True)
FOUR = replace(NODE, ranks=32, domains=4)


def value(name, run):
    values, classes = shipped_constants().values[name][0], (GENERATIONS, TRANSPORTS)
    return float(
        values[TRANSPORTS.index(run.transport) if len(values) == len(classes[1]) else GENERATIONS.index(run.generation)]
    )


def algbw(run, size=HUGE):
    return size / time_of(run, [size]).time_s[0]


@st.composite
def runs(draw):
    domains = draw(st.sampled_from([1, 2, 3, 4, 16, 100]))
    per_domain = draw(st.sampled_from([1, 2, 4, 8, 72]))
    return CollectiveRun(
        collective=draw(st.sampled_from(COLLECTIVES)),
        ranks=max(2, domains * per_domain) if domains > 1 else max(2, per_domain),
        domains=domains,
        scale_up_bytes_per_s=draw(st.sampled_from([31.5e9, 300e9, 900e9])),
        generation=draw(st.sampled_from(GENERATIONS)),
        nics=draw(st.integers(1, 16)),
        nic_bytes_per_s=draw(st.sampled_from([1.25e9, 12.5e9, 50e9, 100e9])),
        transport=draw(st.sampled_from(TRANSPORTS)),
        nvls=draw(st.booleans()),
        in_network=draw(st.booleans()),
        tool=draw(st.sampled_from(["nccl-tests", "script"])),
        rtt_s=draw(st.sampled_from([0.0, 1e-3])),
    )


@settings(max_examples=80, deadline=None)
@given(runs(), st.lists(st.floats(1, 1e12), min_size=2, max_size=6))
def test_one_size_is_what_many_are(run, sizes):
    many = time_of(run, sizes).time_s
    for size, seconds in zip(sizes, many, strict=True):
        assert time_of(run, [size]).time_s[0] == pytest.approx(seconds, rel=1e-12)


@settings(max_examples=80, deadline=None)
@given(runs())
def test_more_bytes_never_take_less(run):
    seconds = time_of(run, np.logspace(0, 12, 60)).time_s
    assert np.isfinite(seconds).all()
    assert (np.diff(seconds) >= -1e-15).all()


def test_runs_of_one_table_do_not_touch_each_other():
    together = time_of_points(np.concatenate([pack(NODE, [1e6]), pack(FOUR, [1e9])]), shipped_constants()).time_s
    assert together[0] == pytest.approx(time_of(NODE, [1e6]).time_s[0], rel=1e-12)
    assert together[1] == pytest.approx(time_of(FOUR, [1e9]).time_s[0], rel=1e-12)


def test_a_ring_in_a_domain_ends_at_its_share_of_the_link():
    run = replace(NODE, algorithm="ring")
    assert algbw(run) * 1.75 == pytest.approx(450e9 * value("ring_share", run), rel=1e-3)


def test_nvls_passes_the_link_rate_in_busbw():
    assert algbw(NODE) * 1.75 > 450e9 > algbw(replace(NODE, algorithm="ring")) * 1.75


def test_four_servers_end_at_their_nics():
    run = replace(FOUR, nic_bytes_per_s=25e9)
    assert algbw(run) * 2 * 31 / 32 == pytest.approx(8 * 25e9 * value("network_share", run), rel=1e-3)


def test_fast_nics_leave_the_ring_to_the_scale_up_links():
    run = replace(FOUR, algorithm="ring")
    assert algbw(run) * 2 * 31 / 32 == pytest.approx(450e9 * value("ring_share", run), rel=1e-3)


def test_two_servers_pass_their_nics_by_a_tree_and_not_by_a_ring():
    two = replace(FOUR, ranks=16, domains=2)
    ring = replace(two, algorithm="ring")
    assert algbw(two) * 1.875 > 8 * 50e9
    assert algbw(ring) * 1.875 == pytest.approx(400e9 * min(value("network_share", ring), 1), rel=0.12)
    assert algbw(ring) * 1.875 < 400e9


def test_small_messages_pay_latency_alone():
    seconds = time_of(FOUR, [8, 64]).time_s
    assert seconds[1] == pytest.approx(seconds[0], rel=0.01)
    assert 20e-6 < seconds[0] < 60e-6


def test_all_to_all_over_servers_is_held_by_the_nics():
    run = replace(FOUR, collective="all_to_all")
    share = value("outer_direct_share", run)
    # 24 of 32 parts leave; 8 GPUs share 8 NICs
    assert algbw(run) == pytest.approx(50e9 * share / (24 / 32), rel=1e-3)


def test_a_long_link_is_bounded_by_its_channels_buffers():
    run = replace(FOUR, collective="all_gather", algorithm="ring", rtt_s=0.05, channels=16)
    window = 16 * CHANNEL_BUFFER_BYTES / 0.05
    assert algbw(run) * 31 / 32 == pytest.approx(window, rel=0.01)
    assert algbw(replace(run, channels=32)) == pytest.approx(2 * algbw(run), rel=0.01)


def test_distance_costs_a_round_trip_a_step():
    run = replace(FOUR, algorithm="ring", protocol="ll")
    far = time_of(replace(run, rtt_s=1e-3), [8]).time_s[0] - time_of(run, [8]).time_s[0]
    assert far == pytest.approx(6 * 1e-3, rel=1e-6)


def test_sockets_are_slower_than_rdma_in_everything():
    sizes = np.logspace(1, 10, 30)
    tcp = time_of(replace(FOUR, transport="tcp"), sizes).time_s
    assert (tcp > time_of(FOUR, sizes).time_s).all()


def test_ip_over_infiniband_ends_at_one_core():
    run = replace(FOUR, transport="ipoib", algorithm="ring")
    assert algbw(run) * 2 * 31 / 32 < 25e9 / 8 * 1.3


def test_the_chosen_algorithm_is_named():
    found = time_of(NODE, [8, 1e9])
    assert found.chosen(0)[0] == "ring"
    assert found.chosen(1) == ("nvls", "simple")


def test_a_named_algorithm_is_never_faster_than_the_choice():
    sizes = np.logspace(1, 10, 20)
    best = time_of(FOUR, sizes).time_s
    for algorithm in ("ring", "tree", "nvls_tree"):
        assert (time_of(replace(FOUR, algorithm=algorithm), sizes).time_s >= best - 1e-15).all()


def test_pat_needs_one_gpu_a_server():
    run = CollectiveRun("all_gather", 16, 16, 450e9, "hopper", 1, 50e9, algorithm="pat")
    assert np.isfinite(time_of(run, [1024]).time_s).all()
    assert np.isinf(time_of(replace(run, ranks=128), [1024]).time_s).all()


def test_a_script_adds_its_launch():
    more = time_of(replace(NODE, tool="script"), [8]).time_s[0] - time_of(NODE, [8]).time_s[0]
    assert more == pytest.approx(float(shipped_constants().values["host_s"][0][0]), rel=1e-9)
