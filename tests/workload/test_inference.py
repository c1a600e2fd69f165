"""Inference: decode rounds, prefill, experts, hand-over of the KV cache, memory; by closed form."""

from __future__ import annotations

from typing import Any

import pytest

from tests.workload.sites import found, one, rows

L, H, KV = 80, 8192, 1024  # llama3-70b


def service(**changes: Any) -> dict[str, Any]:
    return {
        "name": "serve",
        "kind": "inference",
        "model": "llama3-70b",
        "tp": 8,
        "batch": 16,
        "prompt": 2048,
        **changes,
    }


def test_a_generated_token_costs_four_l_h_bytes_of_tensor_traffic() -> None:
    """4 L h (t - 1)/t * 2 bytes per generated token; a round makes one token for each of 16 sequences."""
    row = rows(one(service()))["decode_tp"]
    assert row.per == "token"
    assert row.bytes_per_gpu / 16 == 4 * L * H * 7 / 8 * 2
    assert row.messages == 2 * L * 2 * 7
    assert row.message_bytes == 16 * H * 2 // 8


def test_prefill_is_the_same_per_prompt_token() -> None:
    found_rows = rows(one(service()))
    assert found_rows["prefill_tp"].bytes_per_gpu * 16 == found_rows["decode_tp"].bytes_per_gpu * 2048
    assert found_rows["prefill_tp"].per == "request"


def test_a_pipeline_hands_over_once_a_round() -> None:
    row = rows(one(service(pp=2)))["decode_pp"]
    assert row.bytes_per_gpu == 16 * H * 2 // 8
    assert row.messages == 1


def test_the_kv_cache_moves_from_prefill_to_decode() -> None:
    """2 L h_kv s * 2 bytes for a request, an eighth on each of 8 GPUs; one message a layer."""
    made = one(service(prefill_replicas=3))
    row = rows(made)["kv_transfer"]
    assert row.bytes_per_gpu == 2 * L * KV * 2048 * 2 // 8
    assert row.messages == L
    assert row.dimension == "prefill_decode"
    assert made.grid.groups("prefill_decode").shape == (3 * 8, 2)
    assert "kv_transfer" not in rows(one(service()))


def test_a_latent_cache_is_copied_on_every_tensor_rank() -> None:
    made = one(service(model="deepseek-v3", precision="fp8", tp=8, ep=1, prefill_replicas=2), servers=16)
    assert rows(made)["kv_transfer"].bytes_per_gpu == 61 * 576 * 2 * 2048
    assert made.facts["kv_bytes_per_token"] == 61 * 576 * 2


def test_experts_are_spread_over_replicas() -> None:
    made = one(service(model="deepseek-v3", precision="fp8", tp=1, ep=32, batch=64))
    found_rows = rows(made)
    assert found_rows["decode_ep_dispatch"].bytes_per_gpu == 58 * 8 * 64 * 7168 * 2 * 31 // 32
    assert found_rows["decode_ep_dispatch"].messages == 58 * 31
    assert found_rows["decode_ep_combine"].bytes_per_gpu == found_rows["decode_ep_dispatch"].bytes_per_gpu


def test_memory_is_weights_and_cache() -> None:
    memory = one(service()).memory
    terms = {term.name: term.size_bytes for term in memory.terms}
    assert terms["weights"] == pytest.approx(70.55e9 * 2 / 8, rel=2e-3)
    assert terms["KV cache"] == 2 * L * KV * 2 * 16 * (2048 + 256) // 8
    assert memory.total_bytes <= memory.capacity_bytes


def test_a_service_that_does_not_fit_names_what_would() -> None:
    finding = found(service(tp=1))["EW-WORK-005"]
    assert finding.args["largest"] == "weights"
    assert "tp: 4" in finding.hint()


def test_a_service_that_nothing_fits_says_how_large_a_replica_would_be() -> None:
    findings = found(service(model="llama3-405b", tp=8, precision="bf16", batch=64, prompt=8192), servers=1)
    finding = findings["EW-WORK-007"]
    assert finding.args["need_gpus"] >= 405e9 * 2 / 80e9
    assert "EW-WORK-005" not in findings


@pytest.mark.parametrize(
    ("code", "job", "words"),
    [
        ("EW-WORK-004", service(gpus=60), "60 GPUs are not a multiple of tp 8 x pp 1 = 8, 4 are left over"),
        ("EW-WORK-021", service(pp=128, tp=1, gpus=128), "the model has 80 layers"),
        ("EW-WORK-023", service(tp=3, gpus=63), "64 attention heads do not divide by tp 3"),
        ("EW-WORK-025", service(ep=4), "has no experts"),
        ("EW-WORK-026", service(model="mixtral-8x7b", tp=1, ep=16), "8 experts do not divide by ep 16"),
        ("EW-WORK-027", service(model="mixtral-8x7b", tp=1, ep=8, prefill_replicas=4), "ep 8 does not divide dp 4"),
        ("EW-WORK-033", service(prefill_replicas=8), "8 replicas, all of them prefill"),
    ],
)
def test_a_bad_service_is_named_with_its_numbers(code: str, job: dict[str, Any], words: str) -> None:
    finding = found(job, servers=16 if job.get("gpus") == 128 else 8)[code]
    assert words in finding.sentence()
    assert finding.sentence("zh")


def test_flops_are_those_of_one_decode_round() -> None:
    made = one(service())
    assert made.flops_per == "token"
    assert made.flops_per_gpu == pytest.approx(made.facts["forward_flops_per_token"] * 16 / 8)
    assert made.facts["tokens_per_round"] == 16
