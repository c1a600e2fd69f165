"""Every printed figure becomes the same step, by arithmetic done by hand."""

import pytest

from eastwest.plan.validation.conversions import rounding_ratio
from tests.plan.validation.rows import one_case

# 8 layers of 1024, ffn 4096, vocabulary 32000, sequence 2048, 64 sequences, 16 GPUs; B s = 131072 tokens
TOKENS = 64 * 2048
SCORES = 12 * 8 * 1024 * 2048  # 12 L h s, FLOPs of one trained token with full attention
LAYERS = 6 * 12 * 8 * 1024**2  # 6 * 12 L h^2
HEAD = 6 * 32000 * 1024
SC21 = 96 * TOKENS * 8 * 1024**2 * (1 + 2048 / (6 * 1024) + 32000 / (16 * 8 * 1024))  # of all GPUs, one step
SMALL = 0.002  # biases and norms, which the closed forms leave out, are 0.1 % of this model


def seconds(measured, **changes):
    return one_case(measured=measured, **changes).measured


@pytest.mark.parametrize(
    ("measured", "expected", "convention"),
    [
        ({"iter_time_s": 1.5}, 1.5, "time"),
        ({"iter_time_ms": 1500}, 1.5, "time"),
        ({"tokens_per_s": 87381}, TOKENS / 87381, "tokens"),
        ({"tokens_per_s_per_gpu": 5461}, TOKENS / 5461 / 16, "tokens"),
        ({"samples_per_s": 42.7}, 64 / 42.7, "tokens"),
        ({"days_for_300b_tokens": 39.7}, 39.7 * 86400 * TOKENS / 300e9, "tokens"),
    ],
)
def test_time_and_throughput_need_no_convention(measured, expected, convention):
    found = seconds(measured)
    assert found.seconds == pytest.approx(expected, rel=1e-12)
    assert found.convention == convention


@pytest.mark.parametrize(
    ("measured", "basis", "source", "flops", "convention"),
    [
        (
            {"tflops_per_gpu": 120},
            "hardware FLOPs including full recompute",
            "github:a/b",
            SC21,
            "hardware_full_recompute",
        ),
        ({"tflops_per_gpu": 120}, "model FLOPs", "github:a/b", TOKENS * (LAYERS + HEAD + SCORES), "full_attention"),
        (
            {"model_tflops_per_gpu": 120.5},
            "model FLOPs: 6N per token + 12*L*h*s attention (no causal halving); HFU x4/3",
            "github:a/b",
            TOKENS * (LAYERS + HEAD + SCORES),
            "full_attention",
        ),
        (
            {"tflops_per_gpu": 120},
            "model FLOPs; recompute not counted",
            "github:NVIDIA-NeMo/Megatron-Bridge@1:x",
            TOKENS * (LAYERS + HEAD + SCORES / 2),
            "causal_half_attention",
        ),
        ({"aggregate_pflops": 1.92}, "model FLOPs", "github:a/b", TOKENS * (LAYERS + HEAD + SCORES), "full_attention"),
    ],
)
def test_flops_are_divided_into_the_flops_that_the_source_counts(measured, basis, source, flops, convention):
    found = seconds(measured, flops_basis=basis, source=source)
    rate = next(iter(measured.values())) * 1e12 * (1000 / 16 if "aggregate_pflops" in measured else 1)
    assert found.seconds == pytest.approx(flops / 16 / rate, rel=SMALL)
    assert found.convention == convention


@pytest.mark.parametrize(
    ("gpu", "precision", "peak"),
    [("A100-SXM4-80GB", "fp16", 312e12), ("H100-SXM5-80GB", "bf16", 989e12), ("H100-SXM5-80GB", "amp_fp8", 1979e12)],
)
def test_mfu_is_of_the_dense_peak_of_the_training_datatype(gpu, precision, peak):
    found = seconds({"mfu_pct": 45.25}, gpu=gpu, precision=precision)
    assert found.seconds == pytest.approx(TOKENS * (LAYERS + HEAD + SCORES) / 16 / (0.4525 * peak), rel=SMALL)


@pytest.mark.parametrize(
    ("recompute", "flops"),
    [("full", LAYERS * 4 / 3 + HEAD + SCORES * 4 / 3), ("selective", LAYERS + HEAD + SCORES * 4 / 3)],
)
def test_hfu_counts_what_is_computed_again(recompute, flops):
    found = seconds({"hfu_pct": 50.5}, activation_recompute=recompute, flops_basis="both given")
    assert found.seconds == pytest.approx(TOKENS * flops / 16 / (0.505 * 312e12), rel=SMALL)


def test_a_counter_that_printed_3_percent_too_little_is_corrected():
    basis = "hardware FLOPs including full recompute"
    low = seconds({"tflops_per_gpu": 97}, flops_basis=f"{basis}; pre-fix counter, about 3% low")
    right = seconds({"tflops_per_gpu": 100}, flops_basis=basis)
    assert low.seconds == pytest.approx(right.seconds, rel=1e-12)
    assert low.printed == 97


def test_time_is_preferred_and_a_figure_of_one_digit_gives_way():
    both = seconds({"tflops_per_gpu": 120, "iter_time_s": 1.5, "tokens_per_s": 90000})
    assert both.key == "iter_time_s"
    coarse = seconds({"samples_per_s": 0.0, "tokens_per_s_per_gpu": 5461})
    assert coarse.key == "tokens_per_s_per_gpu"
    rounded = seconds({"tokens_per_s_per_gpu": 5, "tflops_per_gpu": 120}, flops_basis="model FLOPs")
    assert rounded.key == "tflops_per_gpu"
    assert seconds({"tokens_per_s_per_gpu": 5}).key == "tokens_per_s_per_gpu"


@pytest.mark.parametrize(
    ("printed", "ratio"), [(25, 0.02), (25.0, 0.02), (2.5, 0.02), (0.25, 0.02), (189.06, 2.6446e-5)]
)
def test_rounding_is_half_a_unit_of_the_last_digit(printed, ratio):
    assert rounding_ratio(printed) == pytest.approx(ratio, rel=1e-3)
