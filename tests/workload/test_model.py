"""Parameter counts against matrices written out by hand and against the published totals."""

from __future__ import annotations

import pytest

from eastwest.spec.jobs import ModelWish
from eastwest.workload.dimensions import resolve_model
from eastwest.workload.model import Transformer, count_params, forward_flops_per_token, training_flops_per_token


def preset(name: str) -> Transformer:
    model, _, findings = resolve_model(ModelWish(preset=name))
    assert model is not None
    assert findings == ()
    return model


def llama(layers: int, hidden: int, heads: int, kv_heads: int, ffn: int, vocab: int) -> int:
    """Every matrix of a Llama 3 model, one line each."""
    head = hidden // heads
    layer = hidden * heads * head  # q
    layer += hidden * kv_heads * head  # k
    layer += hidden * kv_heads * head  # v
    layer += heads * head * hidden  # o
    layer += hidden * ffn + hidden * ffn + ffn * hidden  # gate, up, down
    layer += 2 * hidden  # two RMSNorms
    return vocab * hidden + layers * layer + hidden + hidden * vocab


def gpt3() -> int:
    """GPT-3 175B with biases, without learned positions: the site's keys do not know their number."""
    h, v = 12288, 50257
    layer = h * 3 * h + 3 * h  # q, k, v and their biases
    layer += h * h + h  # projection
    layer += h * 4 * h + 4 * h + 4 * h * h + h  # feed-forward
    layer += 2 * 2 * h  # two LayerNorms, weight and bias
    return v * h + 96 * layer + 2 * h


def mixtral() -> int:
    h, ffn = 4096, 14336
    attention = h * h + 2 * h * 8 * 128 + h * h
    experts = 8 * 3 * h * ffn
    return 2 * 32000 * h + 32 * (attention + experts + h * 8 + 2 * h) + h


def deepseek_v3() -> int:
    h = 7168
    attention = h * 1536 + 1536 * 128 * (128 + 64)  # q down, q up
    attention += h * (512 + 64) + 512 * 128 * (128 + 128)  # kv down with rotary key, kv up
    attention += 128 * 128 * h  # o
    norms = 2 * h + 1536 + 512
    dense = 3 * h * 18432
    mixture = 256 * 3 * h * 2048 + 3 * h * 2048 + h * 256  # experts, shared expert, router
    return 2 * 129280 * h + 61 * (attention + norms) + 3 * dense + 58 * mixture + h


@pytest.mark.parametrize(
    ("name", "oracle", "published"),
    [
        ("llama3-8b", llama(32, 4096, 32, 8, 14336, 128256), 8_030_261_248),
        ("llama3-70b", llama(80, 8192, 64, 8, 28672, 128256), 70_553_706_496),
        ("llama3-405b", llama(126, 16384, 128, 8, 53248, 128256), 405_853_388_800),
        ("mixtral-8x7b", mixtral(), 46_702_792_704),
        ("deepseek-v3", deepseek_v3(), 671_026_404_352),
    ],
)
def test_the_count_is_that_of_the_written_out_matrices_and_of_the_published_weights(
    name: str, oracle: int, published: int
) -> None:
    """The published totals are those of the released weights (DeepSeek-V3: without prediction module, routing bias)."""
    assert count_params(preset(name)).total == oracle == published


def test_gpt3_is_its_matrices_and_within_a_thousandth_of_the_published_174_6_billion() -> None:
    total = count_params(preset("gpt3-175b")).total
    assert total == gpt3()
    assert total == pytest.approx(174.6e9, rel=1e-3)  # the rest is 2048 learned positions, 25 million


def test_active_parameters_of_mixtures_are_the_published_ones() -> None:
    assert count_params(preset("mixtral-8x7b")).active == pytest.approx(12.9e9, rel=5e-3)  # printed with 3 digits
    assert count_params(preset("deepseek-v3")).active == pytest.approx(37e9, rel=0.02)  # printed "37B"


@pytest.mark.parametrize("name", ["llama3-8b", "gpt3-175b", "mixtral-8x7b", "deepseek-v3", "bloom-176b", "qwen2-72b"])
def test_the_parts_add_up_to_the_total(name: str) -> None:
    count = count_params(preset(name))
    assert sum(size for _, size in count.parts) == count.total
    assert all(size >= 0 for _, size in count.parts)


def test_flops_of_gpt_are_those_of_the_megatron_formula() -> None:
    """Narayanan et al. 2021: 96 B s L h^2 (1 + s/6h + V/16Lh) with full recompute, 72 and V/12Lh without.

    Tolerance 0.1 %: the formula leaves the biases out.
    """
    model = preset("gpt3-175b")
    s, h, n, v = 2048, 12288, 96, 50257
    flops = training_flops_per_token(model, s, "full")
    assert flops.hardware == pytest.approx(96 * n * h * h * (1 + s / (6 * h) + v / (16 * n * h)), rel=1e-3)
    assert flops.model_full == pytest.approx(72 * n * h * h * (1 + s / (6 * h) + v / (12 * n * h)), rel=1e-3)


def test_flops_by_convention() -> None:
    """8B at sequence 8192: 57.9 GFLOP a token with full attention, 51.5 with the causal half (3 digits)."""
    flops = training_flops_per_token(preset("llama3-8b"), 8192, "none")
    assert flops.model_full == pytest.approx(57.9e9, rel=5e-3)
    assert flops.model_causal == pytest.approx(51.5e9, rel=5e-3)
    assert flops.hardware == flops.model_full


def test_deepseek_v3_trains_at_the_published_order_of_flops() -> None:
    """Public tables count 260 GFLOP a token, causal half, sequence 4096; that has the prediction module too (3 %)."""
    flops = training_flops_per_token(preset("deepseek-v3"), 4096, "none")
    assert flops.model_causal == pytest.approx(260e9, rel=0.07)


def test_forward_flops_are_a_third_of_training() -> None:
    model = preset("llama3-70b")
    assert 3 * forward_flops_per_token(model, 4096) == training_flops_per_token(model, 4096, "none").model_full


@pytest.mark.parametrize("params", [7e9, 13e9, 50e9, 100e9, 175e9, 1e12])
def test_dimensions_assumed_from_the_count_alone_come_back_to_it(params: float) -> None:
    model, assumed, findings = resolve_model(ModelWish(params=int(params)))
    assert model is not None
    assert findings == ()
    assert count_params(model).total == pytest.approx(params, rel=0.01)  # the feed-forward size moves in steps of 128
    assert {line.split()[1] for line in assumed} >= {"layers", "hidden", "heads", "ffn", "vocab"}
    assert model.layers % 4 == 0
    assert model.heads % 8 == 0


def test_a_count_that_the_dimensions_contradict_is_a_finding() -> None:
    _, _, findings = resolve_model(ModelWish(preset="llama3-8b", params=9_000_000_000))
    assert [finding.code for finding in findings] == ["EW-WORK-010"]
    assert findings[0].observed == 8_030_261_248
    assert "-10.8 %" in findings[0].sentence()


def test_a_count_within_two_percent_is_rounding() -> None:
    assert resolve_model(ModelWish(preset="llama3-70b", params=70_000_000_000))[2] == ()


def test_what_the_user_writes_wins_over_the_preset() -> None:
    model, _, _ = resolve_model(ModelWish(preset="llama3-8b", layers=16, params=None))
    assert model is not None
    assert model.layers == 16


def test_a_model_without_shape_is_refused() -> None:
    model, _, findings = resolve_model(ModelWish(heads=8))
    assert model is None
    assert findings[0].code == "EW-WORK-011"
    assert "layers, hidden" in findings[0].sentence()


def test_an_unknown_preset_names_the_nearest() -> None:
    model, _, findings = resolve_model(ModelWish(preset="llama3-71b"))
    assert model is None
    assert "llama3-7" in findings[0].sentence()


def test_kept_gpt_proportions_are_taken_as_a_plain_model() -> None:
    model, assumed, _ = resolve_model(ModelWish(layers=24, hidden=2048, heads=16, ffn=8192, vocab=51200))
    assert model is not None
    assert not model.gated
    assert model.biases
    assert any(line.startswith("model gated") for line in assumed)


@pytest.mark.parametrize(
    ("more", "rule"),
    [
        ({"kv_heads": 7}, "heads % kv_heads = 0"),
        ({"kv_heads": 33}, "heads % kv_heads = 0"),
        ({"kv_latent": 1}, "kv_latent > head_dim / 2"),
        ({"moe": {"experts": 8, "top_k": 9, "ffn": 64}}, "top_k <= experts"),
        ({"moe": {"experts": 8, "top_k": 2, "ffn": 64, "dense_layers": 100}}, "dense_layers < layers"),
    ],
)
def test_a_model_that_cannot_be_built_got_a_plan(more, rule):
    wish = ModelWish.model_validate({"layers": 32, "hidden": 4096, "heads": 32, **more})
    model, _, findings = resolve_model(wish)
    assert model is None
    assert [(finding.code, finding.expected) for finding in findings] == [("EW-WORK-014", rule)]
