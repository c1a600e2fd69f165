"""Memory against the ZeRO paper, Korthikanti's activation formulas, and what would fit instead."""

from __future__ import annotations

from typing import Any

import pytest

from eastwest.spec.jobs import ModelWish, TrainingWish
from eastwest.workload import Memory, account
from eastwest.workload.dimensions import resolve_model
from eastwest.workload.memory import activation_bytes, training_memory
from eastwest.workload.training import case_of
from eastwest.workload.training_case import TrainingCase
from tests.workload.sites import found, one, site, training

GIB = 2**30
GPT = {"gated": False, "vocab": 51200, "tied_embeddings": True}


def case(gpus: int, model: dict[str, Any], **wish: Any) -> TrainingCase:
    job = TrainingWish.model_validate({"name": "t", "model": model, "global_batch": 1024, **wish})
    shape, _, _ = resolve_model(ModelWish.model_validate(model))
    assert shape is not None
    made, findings = case_of(job, shape, gpus)
    assert made is not None, findings
    return made


def terms(memory: Memory) -> dict[str, int]:
    return {term.name: term.size_bytes for term in memory.terms}


@pytest.mark.parametrize(("zero", "published"), [(0, 120.0), (1, 31.4), (2, 16.6), (3, 1.9)])
def test_state_of_a_7_5b_model_on_64_gpus_is_that_of_the_zero_paper(zero: int, published: float) -> None:
    """Rajbhandari et al. 2020, figure 1: GB a GPU with Adam in mixed precision. The model counts 7.5B within 1 %."""
    model = {"params": 7_500_000_000}
    made = case(64, model, parallel={"zero": zero}, gradient_precision="bf16")
    found_terms = terms(training_memory(made, 80_000_000_000))
    state = sum(found_terms[name] for name in ("weights", "gradients", "optimizer"))
    assert state / 1e9 == pytest.approx(published, rel=0.02)  # printed with 2 or 3 digits


KORTHIKANTI = {  # name: layers, hidden, heads, tp, pp, virtual stages, micro-batch, global batch (Table 3 of the paper)
    "22B": (48, 6144, 64, 8, 1, 1, 4, 4),
    "175B": (96, 12288, 96, 8, 8, 3, 1, 64),
    "530B": (105, 20480, 128, 8, 35, 3, 1, 280),
    "1T": (128, 25600, 160, 8, 64, 1, 1, 512),
}


@pytest.mark.parametrize("name", sorted(KORTHIKANTI))
@pytest.mark.parametrize("recompute", ["none", "selective"])
def test_activations_of_gpt_are_those_of_korthikanti(name: str, recompute: str) -> None:
    """s b h L (34/t + 5 a s/(h t)) (1 + (p - 1)/(p v)) with sequence parallelism, 34/t without scores; logits apart.

    Korthikanti et al. 2022, equations 4 and 6 and section 4.2.3, sequence 2048.
    """
    n_layers, h, a, t, p, v, b, batch = KORTHIKANTI[name]
    s = 2048
    model = {"layers": n_layers, "hidden": h, "heads": a, "ffn": 4 * h, **GPT}
    parallel = {"tp": t, "pp": p, "virtual_stages": v, "schedule": "interleaved" if v > 1 else "1f1b"}
    wish = {"parallel": parallel, "micro_batch": b, "global_batch": batch, "sequence": s, "recompute": recompute}
    made = case(t * p, model, **wish)
    per_layer = s * b * h * (34 / t + (5 * a * s / (h * t) if recompute == "none" else 0))
    interleaved = 1 + (p - 1) / (p * v) if v > 1 else 1
    logits = 4 * s * b * 51200 / t if p == 1 else 0
    expected = per_layer * n_layers * interleaved + logits
    assert activation_bytes(made, made.stages[0]) == pytest.approx(expected, rel=1e-9)


def test_without_sequence_parallelism_ten_parts_stay_whole() -> None:
    """s b h (10 + 24/t + 5 a s/(h t)), Korthikanti equation 2."""
    s, h, a, t, n = 2048, 6144, 64, 8, 48
    model = {"layers": n, "hidden": h, "heads": a, "ffn": 4 * h, **GPT}
    wish = {"parallel": {"tp": t, "sp": False}, "sequence": s, "recompute": "none", "global_batch": 4}
    made = case(t, model, **wish)
    expected = n * s * h * (10 + 24 / t + 5 * a * s / (h * t)) + 4 * s * 51200 / t
    assert activation_bytes(made, made.stages[0]) == pytest.approx(expected, rel=1e-9)


def test_full_recompute_keeps_two_bytes_an_element_and_one_layer_at_work() -> None:
    s, h, n, t = 2048, 6144, 48, 8
    model = {"layers": n, "hidden": h, "heads": 64, "ffn": 4 * h, **GPT}
    made = case(t, model, parallel={"tp": t}, sequence=s, recompute="full", global_batch=4)
    expected = n * 2 * s * h + s * h * 34 / t + 4 * s * 51200 / t
    assert activation_bytes(made, made.stages[0]) == pytest.approx(expected, rel=1e-9)


def test_the_first_stage_holds_as_many_micro_batches_as_there_are_stages() -> None:
    model = {"layers": 32, "hidden": 4096, "heads": 32, "ffn": 16384, **GPT}
    made = case(32, model, parallel={"pp": 4, "tp": 8})
    first, last = activation_bytes(made, made.stages[0]), activation_bytes(made, made.stages[3])
    logits = 4 * 4096 * 51200 / 8
    assert first == pytest.approx(4 * (last - logits))


def test_a_layout_that_does_not_fit_names_the_largest_term_and_what_would_fit() -> None:
    finding = found(training(model="llama3-70b", parallel={"tp": 8, "pp": 2}))["EW-WORK-005"]
    assert finding.severity == "error"
    assert finding.args["largest"] == "optimizer"
    assert finding.args["largest_bytes"] == pytest.approx(70.55e9 / 16 * 12, rel=1e-3)
    assert finding.observed > finding.expected == 80_000_000_000
    assert "zero: 1" in finding.hint()
    assert "最大的一项" in finding.sentence("zh")


def test_when_nothing_fits_the_finding_says_what_it_takes() -> None:
    """405B parameters x 16 bytes = 6.5 TB of state: more than 8 x 80 GB, with any layout; 128 GPUs hold it split."""
    wish = training(model="llama3-405b", parallel={"tp": 8}, global_batch=64, sequence=8192)
    findings = found(wish, servers=1)
    assert "EW-WORK-005" not in findings
    finding = findings["EW-WORK-006"]
    assert (finding.severity, finding.path) == ("error", "jobs[0].parallel")
    assert finding.args["need_gpus"] > 405e9 * 16 / 80e9 > 8
    assert finding.args["least"] in finding.sentence()
    assert str(finding.args["need_gpus"]) in finding.hint("zh")
    assert "-" not in (finding.args["least"], finding.args["need"])
    enough = found(training(**wish | {"parallel": {"tp": 8}}), servers=finding.args["need_gpus"] // 8)
    assert finding.args["need"] in enough["EW-WORK-005"].hint()


def test_what_would_fit_fits() -> None:
    wish = training(model="llama3-70b", parallel={"tp": 8, "pp": 2, "zero": 1})
    assert "EW-WORK-005" not in found(wish)


def test_a_layout_that_does_not_fit_is_still_accounted_for() -> None:
    ledger, findings, _ = account(site(training(model="llama3-70b", parallel={"tp": 8})))
    assert ledger.jobs[0].rows
    assert [finding.code for finding in findings] == ["EW-WORK-005"]


def test_a_big_gpu_holds_what_a_small_one_does_not() -> None:
    wish = training(model="llama3-8b", parallel={"tp": 4})
    memory = one(wish).memory
    assert memory.capacity_bytes == 80_000_000_000
    assert memory.total_bytes < memory.capacity_bytes
    assert memory.largest.size_bytes == max(term.size_bytes for term in memory.terms)


def test_experts_are_held_by_their_ranks_only() -> None:
    wide, narrow = (
        terms(one(training(model="mixtral-8x7b", parallel={"tp": 2, "ep": ep, "zero": 1})).memory) for ep in (1, 8)
    )
    experts = 32 * 8 * 3 * 4096 * 14336
    assert wide["weights"] - narrow["weights"] == pytest.approx(experts * 2 / 2 * 7 / 8, rel=1e-9)
