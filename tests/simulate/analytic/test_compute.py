"""Layer kinds against counted FLOPs and bytes."""

import numpy as np
import pytest

from eastwest.simulate.analytic.compute import (
    attention,
    elementwise,
    expert_tokens,
    experts,
    feed_forward,
    output_head,
    projections,
    routing,
    scan,
)
from eastwest.simulate.analytic.step_constants import StepConstants, see
from eastwest.simulate.analytic.step_table import pack
from eastwest.workload.model import Mla, Transformer, attention_params, mlp_params
from tests.simulate.analytic.training_runs import GPT, LLAMA, SPARSE, gpt_run, llama_run, sparse_run

# Every product at its rate, nothing but FLOPs.
FLOPS_ONLY = StepConstants(
    {
        "gemm_depth": 1e-9,
        "gemm_edge": 1e-9,
        "tile_waste": 1e-9,
        "grouped_edge": 1e-9,
        "grouped.16": 1.0,
        "quantise.fp8": 1e-9,
        "memory.hopper": 1e9,
        "memory.ampere": 1e9,
    }
)


def _seen(run, constants=FLOPS_ONLY):
    table = pack([run])
    return table, see(table, constants)


@pytest.mark.parametrize("run", [gpt_run(), llama_run(), gpt_run(tp=2, micro_batch=4)])
def test_forward_flops_of_a_dense_layer_are_two_for_each_parameter(run):
    table, seen = _seen(run)
    tokens = run.micro_batch * run.sequence
    bare = Transformer(**{**{f: getattr(run.model, f) for f in Transformer.__slots__}, "biases": False})
    params = attention_params(bare) + mlp_params(bare, bare.ffn)
    seconds = (projections(table, seen) + feed_forward(table, seen)).forward[0]
    assert seconds == pytest.approx(2 * params * tokens / run.tp / seen.layer_flops[0], rel=1e-6)


def test_latent_attention_counts_its_own_matrices():
    model = Transformer("mla", 60, 7168, 128, 128, 128, 18432, 129280, mla=Mla(512, 1536, 64, 128))
    run = llama_run(model=model)
    table, seen = _seen(run)
    expected = 2 * attention_params(model) * run.sequence / seen.layer_flops[0]
    assert projections(table, seen).forward[0] == pytest.approx(expected, rel=1e-6)


def test_backward_is_two_forward_passes_and_the_head_has_no_recompute():
    table, seen = _seen(llama_run())
    pair = output_head(table, seen)
    assert pair.backward == pytest.approx(2 * pair.forward, rel=1e-3)
    flops = 2 * LLAMA.vocab * LLAMA.hidden * 8192
    assert pair.forward[0] == pytest.approx(flops / seen.wide_flops[0], rel=1e-3)


def test_fused_scores_skip_the_masked_half():
    # 4 b s^2 h / 2 forward FLOPs; the span of 4096 tokens costs 256 more
    table, seen = _seen(llama_run(flash_attention=True))
    flops = 4 * 8192 * 8192 * 8192 / 2
    expected = flops / seen.flash_flops[0] * (1 + 256 / 4096)
    assert attention(table, seen).forward[0] == pytest.approx(expected)


def test_unfused_scores_do_not():
    table, seen = _seen(gpt_run())
    flops = 4 * 2048 * 2048 * GPT.hidden / 8
    assert attention(table, seen).forward[0] == pytest.approx(flops / seen.wide_flops[0], rel=1e-6)


def test_a_window_bounds_what_a_token_sees():
    whole, half, all_layers = (
        attention(*_seen(llama_run(window=window, window_layers_ratio=ratio))).forward[0]
        for window, ratio in ((None, 1.0), (512, 0.5), (512, 1.0))
    )
    assert all_layers < half < whole


@pytest.mark.parametrize(("heads", "slower"), [(64, False), (96, True)])  # 8192 / 64 = 128; / 96 = 85
def test_heads_that_tensor_cores_cannot_read_in_groups_of_8_are_slow(heads, slower):
    head_dim = GPT.hidden // heads
    fields = {f: getattr(GPT, f) for f in Transformer.__slots__} | {
        "heads": heads,
        "kv_heads": heads,
        "head_dim": head_dim,
    }
    run = gpt_run(model=Transformer(**fields))
    table, seen = _seen(run)
    flops = 4 * 2048 * 2048 * heads * head_dim / 8
    ratio = attention(table, seen).forward[0] / (flops / seen.wide_flops[0])
    assert ratio == pytest.approx(14.0 if slower else 1.0, rel=1e-6)


def test_experts_compute_what_their_tokens_need_wherever_they_are():
    table, seen = _seen(sparse_run(gpu="h100-sxm5-80gb", precision="bf16"))
    assert expert_tokens(table)[0] == 4096 * 8
    flops = 2 * 3 * SPARSE.hidden * SPARSE.moe.ffn * 4096 * 8
    assert experts(table, seen).forward[0] == pytest.approx(flops / seen.layer_flops[0], rel=1e-3)


def test_dropped_tokens_and_the_busiest_expert_change_the_load():
    even, dropped, uneven = (
        expert_tokens(pack([sparse_run(**fields)]))[0]
        for fields in ({}, {"capacity_factor": 0.5}, {"expert_imbalance": 1.25})
    )
    assert (dropped / even, uneven / even) == (0.5, 1.25)


def test_few_tokens_for_each_expert_are_bound_by_reading_weights():
    run = sparse_run(sequence=8, ep=1, gpus=8, global_batch=8)
    table = pack([run])
    seen = see(table, StepConstants({}))
    read = 128 * 3 * SPARSE.hidden * SPARSE.moe.ffn * 2 / seen.memory_rate[0]
    assert experts(table, seen).forward[0] == pytest.approx(read, rel=0.01)


def test_elementwise_bytes_shrink_with_sequence_parallelism_and_compilers():
    plain, split, fused = (
        elementwise(*_seen(gpt_run(**fields), StepConstants({})), False).forward[0]
        for fields in ({}, {"sequence_parallel": True}, {"compiled": True})
    )
    assert split < plain
    assert fused == pytest.approx(0.7 * plain)


def test_routing_and_scans_are_nothing_without_experts_and_states():
    assert routing(*_seen(llama_run())).forward[0] == 0.0
    assert routing(*_seen(sparse_run(), StepConstants({}))).forward[0] > 0.0
    assert scan(*_seen(llama_run())).forward[0] == 0.0
    table, seen = _seen(llama_run(scan_width=4096.0), StepConstants({}))
    assert scan(table, seen).forward[0] == pytest.approx(200 * 8192 * 4096 / seen.memory_rate[0])


def test_a_column_of_many_runs_is_the_runs_one_by_one():
    runs = [
        gpt_run(),
        llama_run(),
        sparse_run(),
        llama_run(model=Transformer("mla", 4, 1024, 8, 8, 128, 2048, 999, mla=Mla(64, 0, 16, 128))),
    ]
    table = pack(runs)
    whole = projections(table, see(table, StepConstants({}))).forward
    alone = [projections(*_seen(run, StepConstants({}))).forward[0] for run in runs]
    assert whole == pytest.approx(np.array(alone), rel=1e-12)
