"""Bytes and rates of each class of communication against closed forms."""

import numpy as np
import pytest

from eastwest.simulate.analytic.communication import (
    context_parallel,
    expert_exchange,
    ring_s,
    stage_transfer_s,
    tensor_parallel,
)
from eastwest.simulate.analytic.gemm import Pair
from eastwest.simulate.analytic.sharding import Windows, optimizer_s, visible_data_parallel_s
from eastwest.simulate.analytic.step_constants import StepConstants, see
from eastwest.simulate.analytic.step_table import pack
from tests.simulate.analytic.training_runs import gpt_run, llama_run, sparse_run

NO_LATENCY = StepConstants({"network_step": 1e-15, "scale_up_step": 1e-15})
ONE = np.ones(1)
NO_WINDOW = Windows(*(np.zeros(1),) * 4)


def _seen(run, constants=NO_LATENCY):
    table = pack([run])
    return table, see(table, constants)


def test_a_ring_inside_a_server_runs_at_the_links_rate():
    table, seen = _seen(gpt_run())
    seconds = ring_s(table, seen, 8e9 * ONE, 8 * ONE, ONE)
    assert seconds[0] == pytest.approx(8e9 * 7 / 8 / seen.scale_up_rate[0])


def test_a_ring_over_servers_uses_every_nic_of_a_server():
    table, seen = _seen(gpt_run())
    seconds = ring_s(table, seen, 8e9 * ONE, 32 * ONE, ONE)
    # 8 NICs of 25 GB/s x 0.9 = 180 GB/s, below the links' 300 x 0.75
    assert seconds[0] == pytest.approx(8e9 * 31 / 32 / (8 * seen.network_rate[0]))


def test_ranks_of_different_servers_own_one_nic_each():
    table, seen = _seen(gpt_run())
    seconds = ring_s(table, seen, 8e9 * ONE, 32 * ONE, 8 * ONE)
    assert seconds[0] == pytest.approx(8e9 * 31 / 32 / seen.network_rate[0])


def test_latency_grows_as_a_rings_and_then_as_a_trees():
    # 2 servers: a ring of 2 steps; 16 and 1,024: trees of 2 log2(16) = 8 and 2 log2(1024) = 20
    constants = StepConstants({"network_step": 1e-5, "scale_up_step": 1e-15})
    table, seen = _seen(gpt_run(), constants)
    times = [ring_s(table, seen, 0 * ONE, ranks * ONE, ONE)[0] for ranks in (16, 128, 8192)]
    assert times == pytest.approx([2e-5, 8e-5, 20e-5])


@pytest.mark.parametrize(("size", "waits"), [(8e12, 1), (0.0, 50)])
def test_the_latency_of_a_piece_hides_behind_the_bytes_of_the_one_before(size, waits):
    # large pieces show the latency of one, empty ones that of all
    constants = StepConstants({"network_step": 1e-5, "scale_up_step": 1e-15})
    table, seen = _seen(gpt_run(), constants)
    whole = ring_s(table, seen, size * ONE, 128 * ONE, ONE, 50)[0]
    assert whole - size * 127 / 128 / (8 * seen.network_rate[0]) == pytest.approx(waits * 8e-5)


def test_tensor_parallel_bytes_of_a_layer():
    # Narayanan et al. 2021, section 3.2: 4 all-reduces of b s h, 8 (t - 1) / t b s h elements, without recompute
    table, seen = _seen(gpt_run())
    pair = tensor_parallel(table, seen)
    moved = 8 * 2048 * 8192 * 2 * 7 / 8
    assert (pair.forward + pair.backward)[0] == pytest.approx(moved / seen.scale_up_rate[0])


def test_a_parallel_block_halves_them():
    whole, half = (tensor_parallel(*_seen(gpt_run(parallel_block=flag))).forward[0] for flag in (False, True))
    assert half == pytest.approx(whole / 2)


def test_overlap_hides_a_share_of_them():
    bare, hidden = (tensor_parallel(*_seen(gpt_run(overlap_tp=flag))).forward[0] for flag in (False, True))
    assert hidden < bare


def test_a_stage_sends_activations_once_or_split_over_tensor_ranks():
    # b s h elements of 2 B; early Megatron scatters them over 8 tensor ranks, DeepSpeed does not
    size = 2048 * 8192 * 2
    table, seen = _seen(gpt_run())
    assert stage_transfer_s(table, seen)[0] == pytest.approx(size / 8 / seen.network_rate[0], rel=1e-6)
    table, seen = _seen(gpt_run(framework="megatron-deepspeed"))
    assert stage_transfer_s(table, seen)[0] == pytest.approx(size / seen.network_rate[0], rel=1e-6)


def test_expert_exchange_inside_a_rack_never_meets_a_nic():
    inside, slow = (expert_exchange(*_seen(sparse_run(nic_bytes_per_s=rate))).forward[0] for rate in (50e9, 5e9))
    assert inside == slow > 0


def test_expert_exchange_over_servers_is_bound_by_nics():
    # 8 servers of 8: 7/8 of k T h elements leave the server, once for dispatch and once for combine
    run = sparse_run(gpu="b200-sxm-180gb", gpus_per_node=8, scale_up_domain=8)
    table, seen = _seen(run)
    once = 8 * 4096 * 4096 * 2 * 7 / 8 / (seen.network_rate[0] * seen.one("exchange_network"))
    assert expert_exchange(table, seen).forward[0] == pytest.approx(2 * once * seen.one("visible_ep"))


def test_a_ring_of_keys_hides_behind_long_scores():
    table, seen = _seen(llama_run(cp=4, sequence=131072))
    scores = Pair(ONE, 2.5 * ONE)
    assert context_parallel(table, seen, scores).forward[0] < 0.1
    assert context_parallel(*_seen(llama_run()), scores).forward[0] == 0.0


def test_data_parallel_bytes_without_overlap():
    # ring all-reduce: 2 (d - 1) / d of the gradients' bytes; one GPU of each server, so one NIC each
    run = gpt_run(gpus=64, pp=1, zero=0)
    table, seen = _seen(run)
    bytes_sent = 2 * 7 / 8 * table["dense_params"][0] * 2
    found = visible_data_parallel_s(table, seen, NO_WINDOW)[0]
    assert found == pytest.approx(bytes_sent / seen.network_rate[0], rel=1e-6)


def test_a_sharded_optimizer_moves_as_much_as_an_all_reduce_of_16_bit_gradients():
    table, seen = _seen(gpt_run(gpus=64, pp=1, zero=0))
    other, same = _seen(gpt_run(gpus=64, pp=1, zero=1))
    assert visible_data_parallel_s(table, seen, NO_WINDOW) == pytest.approx(
        visible_data_parallel_s(other, same, NO_WINDOW)
    )


def test_overlap_hides_gradients_behind_a_long_backward_pass():
    run = gpt_run(gpus=64, pp=1, zero=0, overlap_dp=True)
    table, seen = _seen(run)
    long = Windows(*(np.array([1e3]),) * 4)
    bare, hidden = (visible_data_parallel_s(table, seen, windows)[0] for windows in (NO_WINDOW, long))
    assert hidden == pytest.approx(seen.one("visible_dp") * bare)


def test_one_replica_has_no_data_parallel_traffic():
    assert visible_data_parallel_s(*_seen(gpt_run(gpus=32)), NO_WINDOW)[0] == 0.0


def test_sharded_weights_are_gathered_twice_and_scattered_once_each_layer():
    table, seen = _seen(llama_run(global_batch=64, gradient_bytes=2))
    ring = ring_s(table, seen, table["dense_params"] * 2 / 80, 64 * ONE, ONE)[0]
    found = visible_data_parallel_s(table, seen, NO_WINDOW)[0]
    assert found == pytest.approx((80 * 3 + 4) * ring)  # and the first gather and last scatter, both ways bare


def test_the_optimizer_reads_and_writes_its_bytes_once():
    table, seen = _seen(gpt_run(zero=0))
    assert optimizer_s(table, seen)[0] == pytest.approx(table["dense_params"][0] * 34 / seen.memory_rate[0])
    table, seen = _seen(gpt_run(zero=1))
    assert optimizer_s(table, seen)[0] == pytest.approx(table["dense_params"][0] * 34 / 8 / seen.memory_rate[0])
