"""The whole step: limits, monotonicity, terms that add up, one run equal to many."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eastwest.simulate.analytic.step import ABLATIONS, step_seconds, step_times
from eastwest.simulate.analytic.step_constants import StepConstants
from eastwest.simulate.analytic.step_explain import explain
from eastwest.simulate.analytic.step_table import pack
from eastwest.simulate.analytic.training_run import PRECISIONS
from eastwest.spec import catalogue
from eastwest.workload.model import training_flops_per_token
from tests.simulate.analytic.training_runs import gpt_run, llama_run, sparse_run

PRIORS = StepConstants({})
RUNS = (
    gpt_run(),
    llama_run(),
    sparse_run(),
    gpt_run(framework="megatron-deepspeed"),
    sparse_run(pp=2, virtual_stages=4),
)
IDEAL = StepConstants(  # nothing but FLOPs at the data sheet's best rate
    dict.fromkeys(
        (
            *("gemm_depth", "gemm_edge", "tile_waste", "step_overhead", "straggling", "layer_gap", "optimizer"),
            *("accumulate", "elementwise", "launch.ampere", "unfused", "network_step", "scale_up_step"),
        ),
        1e-12,
    )
    | {"gemm.16": 1.0, "memory.ampere": 1e12, "scale_up.ampere": 1e12, "network.infiniband": 1e12}
)


def _seconds(run, constants=PRIORS):
    return float(step_seconds([run], constants)[0])


@pytest.mark.parametrize("run", RUNS)
def test_terms_add_up_to_the_step(run):
    times = step_times([run], PRIORS)
    assert sum(values[0] for values in times.terms.values()) == pytest.approx(times.step_s[0], rel=1e-12)


def test_one_run_is_equal_to_many():
    many = step_seconds(list(RUNS), PRIORS)
    alone = [explain(run, PRIORS).step_s for run in RUNS]
    assert many == pytest.approx(np.array(alone), rel=1e-9)


def test_without_overheads_and_communication_a_step_is_its_flops():
    # hardware FLOPs with full recompute of one GPU, unfused attention computes every score
    run = gpt_run(pp=1, gpus=64, recompute="full")
    flops = training_flops_per_token(run.model, run.sequence, "full").hardware * run.tokens / run.gpus
    rate = 271.2e12
    assert _seconds(run, IDEAL) == pytest.approx(flops / rate, rel=2e-3)  # biases are counted, their FLOPs are not


@pytest.mark.parametrize("name", ["nic_bytes_per_s"])
def test_infinite_bandwidth_leaves_no_network_time(name):
    slow, fast = (step_times([gpt_run(**{name: rate})], PRIORS).terms["data parallel"][0] for rate in (1e9, 1e18))
    assert slow > 1.0
    assert fast < 0.01


@given(rate=st.floats(1e9, 1e11), factor=st.floats(1.01, 10))
@settings(max_examples=30, deadline=None)
def test_a_faster_nic_is_never_slower(rate, factor):
    for run in RUNS:
        runs = [replace(run, nic_bytes_per_s=rate), replace(run, nic_bytes_per_s=rate * factor)]
        slow, fast = step_seconds(runs, PRIORS)
        assert fast <= slow * (1 + 1e-12)


@given(power=st.integers(0, 4))
@settings(max_examples=5, deadline=None)
def test_twice_the_batch_costs_less_than_twice_the_time(power):
    run = gpt_run(global_batch=64 * 2**power, virtual_stages=1)
    one, two = step_seconds([run, replace(run, global_batch=2 * run.global_batch)], PRIORS)
    assert one < two < 2 * one  # bubble, gradients and optimiser are paid once


def test_recompute_costs_a_third_of_the_layers_and_selective_less():
    none, selective, full = (_seconds(gpt_run(recompute=kind)) for kind in ("none", "selective", "full"))
    assert none < selective < full < none * 1.45


def test_releases_get_faster_on_the_youngest_architecture_only():
    old, new = (_seconds(sparse_run(release=name)) for name in ("25.11", "26.04"))
    assert new < old
    hopper = [_seconds(sparse_run(gpu="h100-sxm5-80gb", precision="fp8", release=name)) for name in ("25.11", "26.04")]
    assert hopper[0] == hopper[1]


def test_a_power_cap_slows_a_step():
    assert _seconds(llama_run(power_w=500)) > _seconds(llama_run())


@pytest.mark.parametrize("term", ABLATIONS)
def test_each_ablation_removes_time(term):
    run = gpt_run(global_batch=1024)
    whole, less = _seconds(run), float(step_seconds([run], PRIORS, (term,))[0])
    assert less < whole


def test_predictions_of_a_table_need_no_runs():
    table = pack(RUNS)
    assert step_seconds(table, PRIORS) == pytest.approx(step_seconds(list(RUNS), PRIORS))


@pytest.mark.parametrize("gpu", catalogue.names("gpu"))
@pytest.mark.parametrize("precision", PRECISIONS)
def test_every_gpu_of_the_catalogue_has_a_step(gpu, precision):
    run = llama_run(gpu=gpu, precision=precision, scale_up_domain=8)
    assert 0 < _seconds(run) < np.inf


@given(
    tp=st.sampled_from([1, 2, 8, 16]),
    pp=st.sampled_from([1, 2, 7, 48]),
    cp=st.sampled_from([1, 4]),
    replicas=st.sampled_from([1, 3, 64]),
    batch=st.integers(1, 5000),
    micro=st.sampled_from([None, 1, 7, 64]),
    sequence=st.sampled_from([1, 128, 8192, 1_048_576]),
    zero=st.sampled_from([None, 0, 1, 3]),
    recompute=st.sampled_from([None, "none", "selective", "full"]),
    chunks=st.sampled_from([None, 1, 5]),
    ep=st.sampled_from([1, 8, 256]),
    framework=st.sampled_from([None, "megatron-lm", "megatron-deepspeed", "nanotron", "torchtitan", "automodel"]),
)
@settings(max_examples=150, deadline=None)
def test_any_layout_has_a_positive_step(
    tp, pp, cp, replicas, batch, micro, sequence, zero, recompute, chunks, ep, framework
):
    for run in (gpt_run(), sparse_run()):
        changed = replace(
            run,
            tp=tp,
            pp=pp,
            cp=cp,
            ep=ep,
            gpus=tp * pp * cp * replicas,
            global_batch=batch,
            micro_batch=micro,
            sequence=sequence,
            zero=zero,
            recompute=recompute,
            virtual_stages=chunks,
            framework=framework,
        )
        times = step_times([changed], PRIORS)
        assert 0 < times.step_s[0] < np.inf
        assert all(np.isfinite(values).all() for values in times.terms.values())
        assert min(values[0] for name, values in times.terms.items() if name != "idle stages") >= 0
