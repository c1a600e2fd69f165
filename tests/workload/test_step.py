"""Volumes of a training step against the closed forms of the literature, worked out by hand for each class."""

from __future__ import annotations

import pytest

from eastwest.workload import JobLedger
from eastwest.workload.collectives import algorithm_of
from tests.workload.sites import one, rows, training

B, S, H, L, V, FFN, KV = 1, 4096, 4096, 32, 128256, 14336, 1024  # llama3-8b
LAYER = 2 * H * H + 2 * H * KV + 3 * H * FFN


def job(**parallel: object) -> JobLedger:
    return one(training(parallel=parallel))


def test_tensor_parallel_is_eight_bsh_a_layer_and_micro_batch() -> None:
    """8 b s h (t - 1)/t * 2 bytes a layer and micro-batch (Narayanan et al. 2021); 64 GPUs, tp 4: 32 micro-batches."""
    row = rows(job(tp=4, sp=False))["tp"]
    assert row.bytes_per_gpu == 8 * B * S * H * 3 // 4 * 2 * L * 32
    assert row.messages == 4 * 2 * 3 * L * 32
    assert row.message_bytes * row.messages == row.bytes_per_gpu
    assert (row.collective, row.group_size, row.per) == ("all_reduce", 4, "step")


def test_sequence_parallel_moves_the_same_bytes_and_gathers_once_more() -> None:
    whole, split = rows(job(tp=4, sp=False)), rows(job(tp=4))
    assert split["tp_gather"].bytes_per_gpu + split["tp_scatter"].bytes_per_gpu == whole["tp"].bytes_per_gpu
    assert split["tp_regather"].bytes_per_gpu * 2 == split["tp_gather"].bytes_per_gpu
    assert split["tp_regather"].overlap_ratio == 1.0
    assert split["tp_gather"].overlap_ratio == 0.0


def test_full_recompute_adds_a_forward_pass_of_tensor_traffic() -> None:
    once = rows(one(training(parallel={"tp": 4})))["tp_gather"].bytes_per_gpu
    again = rows(one(training(parallel={"tp": 4}, recompute="full")))["tp_gather"].bytes_per_gpu
    assert again * 2 == once * 3


def test_pipeline_hands_over_one_activation_a_micro_batch_each_way() -> None:
    found = rows(job(tp=2, pp=4))
    for way in ("pp_forward", "pp_backward"):
        assert found[way].bytes_per_gpu == B * S * H * 2 // 2 * 64  # / tp by sequence parallel, 64 micro-batches
        assert found[way].messages == 64
    assert rows(job(tp=2, pp=4, sp=False))["pp_forward"].message_bytes == B * S * H * 2


def test_interleaving_multiplies_the_hand_overs_and_wraps() -> None:
    plain, woven = rows(job(pp=4)), rows(job(pp=4, virtual_stages=4, schedule="interleaved"))
    assert woven["pp_forward"].bytes_per_gpu == 4 * plain["pp_forward"].bytes_per_gpu
    assert woven["pp_forward"].inputs["wraps"] is True
    assert plain["pp_forward"].inputs["wraps"] is False


def params_of_rank(tp: int) -> int:
    """Matrices / tp, norms whole."""
    return (L * LAYER + 2 * V * H) // tp + L * 2 * H + H


def test_plain_data_parallel_is_a_ring_of_gradients() -> None:
    row = rows(job(tp=4))["dp"]
    assert row.group_size == 16
    assert row.bytes_per_gpu == pytest.approx(2 * 15 / 16 * params_of_rank(4) * 4, abs=16)


@pytest.mark.parametrize(("zero", "repeats"), [(1, 1), (2, 32)])
def test_zero_1_and_2_scatter_gradients_and_gather_weights(zero: int, repeats: int) -> None:
    found = rows(job(tp=4, zero=zero))
    assert found["dp_gradients"].bytes_per_gpu == pytest.approx(15 / 16 * params_of_rank(4) * 4 * repeats, rel=1e-9)
    assert found["dp_weights"].bytes_per_gpu == pytest.approx(15 / 16 * params_of_rank(4) * 2, rel=1e-9)


def test_zero_3_gathers_twice_and_scatters_once_a_micro_batch() -> None:
    """1.5 times plain data parallel with equal datatypes (ZeRO, section 7), times the micro-batches."""
    wish = training(parallel={"zero": 3}, gradient_precision="bf16", global_batch=128)
    found = rows(one(wish))
    weights, gradients = found["dp_weights"], found["dp_gradients"]
    assert weights.bytes_per_gpu == pytest.approx(2 * 2 * 63 / 64 * params_of_rank(1) * 2, rel=1e-9)
    assert gradients.bytes_per_gpu * 2 == pytest.approx(weights.bytes_per_gpu, rel=1e-9)
    plain = rows(one(training(parallel={"zero": 0}, gradient_precision="bf16", global_batch=128)))["dp"]
    assert (weights.bytes_per_gpu + gradients.bytes_per_gpu) / 2 / plain.bytes_per_gpu == pytest.approx(1.5)
    assert weights.dimension == gradients.dimension == "dp_cp"


def test_hsdp_shards_inside_and_reduces_across() -> None:
    found = rows(one(training(parallel={"zero": 3, "shard": 8})))
    assert (found["dp_weights"].dimension, found["dp_weights"].group_size) == ("shard", 8)
    replicas = found["dp_replicas"]
    assert (replicas.dimension, replicas.group_size) == ("replica", 8)
    assert replicas.bytes_per_gpu == pytest.approx(2 * 7 / 8 * params_of_rank(1) / 8 * 4, rel=1e-9)


def test_context_ring_moves_keys_and_values_forward_and_twice_backward() -> None:
    """Forward 2 b s h_kv (c - 1)/c a layer, backward twice that."""
    found = rows(job(cp=4))
    m = 512 // 16
    forward = 2 * B * S * KV * 3 // 4 * 2 * L * m
    assert found["cp_kv"].bytes_per_gpu == 2 * forward
    assert found["cp_kv_gradients"].bytes_per_gpu == forward
    assert found["dp"].group_size == 64  # gradients are reduced over cp too


def test_experts_are_four_all_to_alls_of_top_k_copies() -> None:
    found = rows(one(training(model="mixtral-8x7b", parallel={"tp": 2, "ep": 8, "zero": 1})))
    tokens, m = B * S // 2, 512 // 32
    one_way = 2 * tokens * 4096 * 2 * 7 // 8 * 32 * m
    assert found["ep_dispatch"].bytes_per_gpu == found["ep_combine"].bytes_per_gpu == 2 * one_way
    assert found["ep_dispatch"].messages == 2 * 32 * m * 7
    assert found["ep_dispatch"].message_bytes == 2 * tokens * 4096 * 2 // 8


def test_expert_gradients_go_over_the_copies_of_the_experts() -> None:
    found = rows(one(training(model="mixtral-8x7b", parallel={"tp": 2, "ep": 8})))
    experts = 32 * 8 * 3 * 4096 * 14336
    row = found["expert_dp"]
    assert (row.dimension, row.group_size) == ("expert_dp", 4)
    assert row.bytes_per_gpu == pytest.approx(2 * 3 / 4 * experts / (8 * 2) * 4, rel=1e-9)


def test_node_limited_routing_is_stated() -> None:
    wish = training(model="deepseek-v3", precision="fp8", parallel={"pp": 2, "ep": 32}, global_batch=256)
    row = rows(one(wish))["ep_dispatch"]
    assert row.inputs["max_fabric_copies_per_token"] == 4
    assert row.inputs["top_k"] == 8
    assert row.bytes_per_gpu < rows(one(wish))["ep_combine"].bytes_per_gpu  # fp8 there, bf16 back


def test_tied_embeddings_are_reduced_between_first_and_last_stage() -> None:
    wish = training(model="gpt3-175b", parallel={"tp": 8, "pp": 8})
    row = rows(one(wish))["embedding"]
    assert (row.dimension, row.group_size) == ("pp_ends", 2)
    assert row.bytes_per_gpu == 50257 * 12288 * 4 // 8
    assert "embedding" not in rows(job(tp=8, pp=8))


def test_a_checkpoint_is_14_bytes_a_parameter_over_all_gpus() -> None:
    made = job(tp=4)
    row = rows(made)["checkpoint"]
    assert (row.collective, row.per, row.group_size) == ("write", "checkpoint", 64)
    assert row.bytes_per_gpu == pytest.approx(made.params * 14 / 64, abs=1)


def test_buckets_decide_what_can_hide() -> None:
    big, small = (rows(one(training(parallel={"tp": 4}, bucket=size)))["dp"] for size in ("8GB", "100MB"))
    assert big.overlap_ratio < small.overlap_ratio < 1
    assert rows(one(training(parallel={"tp": 4}, overlap_gradients=False)))["dp"].overlap_ratio == 0
    assert big.bytes_per_gpu == small.bytes_per_gpu


def test_groups_of_one_rank_have_no_row() -> None:
    assert set(rows(job(tp=1))) == {"dp", "checkpoint"}


def test_every_row_defends_itself() -> None:
    made = one(training(model="mixtral-8x7b", parallel={"tp": 2, "ep": 4, "pp": 2, "cp": 2, "zero": 1}))
    for row in made.rows:
        assert row.formula
        assert row.inputs
        assert row.source
        assert row.bytes_per_gpu > 0
        if row.collective != "write":
            assert row.group_size == made.grid.groups(row.dimension).shape[1]
            assert algorithm_of(row.collective).n_messages(row.group_size) > 0


def test_facts_carry_what_prediction_needs() -> None:
    made = job(tp=2, pp=4)
    assert made.facts["n_micro_batches"] == 64
    assert made.facts["bubble_ratio"] == 3 / 64
    assert made.facts["tokens_per_step"] == 512 * 4096
    assert made.facts["layers_per_stage"] == [8, 8, 8, 8]
    assert made.flops_per_gpu == made.facts["model_flops_per_token"] * 512 * 4096 / 64
    assert made.facts["hardware_flops_per_token"] > made.facts["model_flops_per_token"]
