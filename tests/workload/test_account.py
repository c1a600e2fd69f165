"""The account of a whole site: GPUs of each job, findings with numbers, decisions, and sentences in both languages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eastwest.finding import LANGUAGES
from eastwest.spec.jobs import TrainingWish
from eastwest.workload import account
from tests.workload.sites import found, site, training

DENSE = {"layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336, "vocab": 128256, "gated": True}
SPLIT: dict[str, Any] = {"parallel": {"tp": 4, "zero": 1}}


def test_a_dense_training_job_end_to_end() -> None:
    ledger, findings, decisions = account(site(training(parallel={"tp": 2, "zero": 1})))
    assert findings == ()
    job = ledger.jobs[0]
    assert (job.name, job.kind, job.gpus, job.grid.n_ranks, job.grid.dp) == ("train", "training", 64, 64, 32)
    assert job.params == 8_030_261_248
    assert {decision.id for decision in decisions} >= {
        "workload.train.gpus",
        "workload.train.dp",
        "workload.train.micro_batches",
        "workload.train.memory",
    }


def test_a_site_without_jobs_has_an_empty_account() -> None:
    assert account(site())[0].jobs == ()


def test_jobs_share_the_cluster() -> None:
    jobs = [training(name="a", gpus=16, **SPLIT), training(name="b", share=0.25, **SPLIT), training(name="c", **SPLIT)]
    ledger, findings, _ = account(site(*jobs))
    assert [job.gpus for job in ledger.jobs] == [16, 16, 32]
    assert findings == ()


def test_two_jobs_without_a_wish_share_what_is_left() -> None:
    ledger, _, _ = account(site(training(name="a"), training(name="b")))
    assert [job.gpus for job in ledger.jobs] == [32, 32]


def test_the_same_site_gives_the_same_account() -> None:
    wish = site(training(model={"params": "50B"}, parallel={"tp": 8, "zero": 1}))
    assert account(wish) == account(wish)


def test_what_was_assumed_is_listed() -> None:
    ledger, _, _ = account(site(training(model={"params": "13B"}, parallel={"tp": 4, "zero": 1})))
    assert any(line.startswith("model layers") for line in ledger.jobs[0].assumed)


Moe = {"experts": 6, "top_k": 2, "ffn": 1024}
BROKEN: list[tuple[str, dict[str, Any], Any, Any, str]] = [
    (
        "EW-WORK-003",
        training(parallel={"tp": 8, "pp": 2, "dp": 8}),
        64,
        128,
        "tp 8 x pp 2 x cp 1 x dp 8 = 128 GPUs, but the job has 64",
    ),
    ("EW-WORK-004", training(parallel={"tp": 3}), 3, 64, "1 are left over"),
    ("EW-WORK-004", training(parallel={"tp": 8, "pp": 16}), 128, 64, "not a multiple of tp 8 x pp 16 x cp 1 = 128"),
    (
        "EW-WORK-006",
        training(model="llama3-405b", parallel={"tp": 8}),
        80_000_000_000,
        None,
        "the largest term is optimizer",
    ),
    ("EW-WORK-010", training(model={**DENSE, "params": "9B"}), 9_000_000_000, 8_030_261_248, "-10.8 %"),
    (
        "EW-WORK-020",
        training(parallel={"virtual_stages": 2, "schedule": "interleaved"}),
        2,
        1,
        "at least 2 pipeline stages",
    ),
    ("EW-WORK-021", training(model={**DENSE, "layers": 4}, parallel={"pp": 8}), 8, 4, "the model has 4 layers"),
    (
        "EW-WORK-022",
        training(model={**DENSE, "layers": 30}, parallel={"pp": 4}),
        4,
        30,
        "leave 2 over; the fullest chunks hold 8",
    ),
    (
        "EW-WORK-023",
        training(model={**DENSE, "heads": 12, "kv_heads": 12, "head_dim": 128}, parallel={"tp": 8}),
        8,
        12,
        "4 are left over",
    ),
    ("EW-WORK-024", training(sequence=4100, parallel={"cp": 8}), 16, 4100, "4 are left over"),
    ("EW-WORK-025", training(parallel={"ep": 8}), 1, 8, "llama3-8b has no experts"),
    ("EW-WORK-026", training(model={**DENSE, "moe": Moe}, parallel={"ep": 4}), 4, 6, "6 experts do not divide by ep 4"),
    (
        "EW-WORK-027",
        training(model={**DENSE, "moe": Moe}, parallel={"ep": 3}),
        3,
        64,
        "does not divide dp 64 x cp 1 = 64, 1",
    ),
    ("EW-WORK-028", training(global_batch=100), 64, 100, "36 are left over"),
    (
        "EW-WORK-029",
        training(parallel={"pp": 4, "virtual_stages": 2, "schedule": "interleaved"}, global_batch=96),
        4,
        6,
        "2 are left over",
    ),
    ("EW-WORK-030", training(parallel={"pp": 8}, global_batch=8), 8, 1, "idle 88 % of the time"),
    ("EW-WORK-031", training(parallel={"shard": 8}), 3, 0, "shard 8 needs zero 3"),
    ("EW-WORK-032", training(parallel={"zero": 3, "shard": 5}), 5, 64, "4 are left over"),
]


@pytest.mark.parametrize(
    ("code", "job", "expected", "observed", "words"), BROKEN, ids=[f"{row[0]}-{i}" for i, row in enumerate(BROKEN)]
)
def test_a_bad_layout_is_named_with_its_numbers(
    code: str, job: dict[str, Any], expected: Any, observed: Any, words: str
) -> None:
    finding = found(job)[code]
    assert finding.expected == expected
    if observed is not None:
        assert finding.observed == observed
    assert words in finding.sentence()
    assert finding.path.startswith("jobs[0]")
    for lang in LANGUAGES:
        assert finding.sentence(lang)
        assert finding.hint(lang)


def test_more_gpus_than_exist() -> None:
    finding = found(training(name="a", gpus=48), training(name="b", gpus=32))["EW-WORK-001"]
    assert finding.sentence() == "the jobs ask for 80 GPUs (a 48, b 32), the cluster has 64: 16 short"


def test_nothing_left_for_a_job() -> None:
    findings = found(training(name="a", gpus=64), training(name="b"))
    assert "b: the other jobs take all 64 GPUs" in findings["EW-WORK-002"].sentence()


def test_every_mistake_of_a_layout_at_once() -> None:
    findings = found(training(model={**DENSE, "moe": Moe}, parallel={"ep": 4}, global_batch=100))
    assert {"EW-WORK-026", "EW-WORK-028"} <= set(findings)


def test_a_job_that_cannot_be_laid_out_is_not_in_the_ledger() -> None:
    ledger, _, _ = account(site(training(name="bad", gpus=31, parallel={"tp": 2}), training(name="good", gpus=32)))
    assert [job.name for job in ledger.jobs] == ["good"]


def test_every_suggested_repair_of_memory_fits() -> None:
    """The changes that the hint names are applied to the job and the account asked again."""
    wish = training(model="llama3-405b", parallel={"tp": 8, "pp": 2}, recompute="none", global_batch=512)
    finding = found(wish, servers=64)["EW-WORK-005"]
    changes = [text.partition(" (")[0] for text in finding.args["fitting"].split("; ")]
    assert changes
    for change in changes:
        pairs = [part.split(": ") for part in change.split(" + ")]
        repaired: dict[str, Any] = {**wish, "parallel": dict(wish["parallel"])}
        for key, value in pairs:
            place = repaired["parallel"] if key in ("tp", "pp", "zero") else repaired
            place[key] = int(value) if value.isdigit() else value
        assert "EW-WORK-005" not in found(repaired, servers=64), change


def test_a_config_file_is_read_relative_to_the_folder(tmp_path: Path) -> None:
    text = (
        '{"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32, '
        '"num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "tie_word_embeddings": false}'
    )
    (tmp_path / "config.json").write_text(text, encoding="utf-8")
    ledger, findings, _ = account(site(training(model="config.json", **SPLIT)), folder=tmp_path)
    assert findings == ()
    assert ledger.jobs[0].params == 8_030_261_248


def test_a_config_file_that_is_not_there_is_a_finding(tmp_path: Path) -> None:
    _, findings, _ = account(site(training(model="absent.json")), folder=tmp_path)
    assert [finding.code for finding in findings] == ["EW-WORK-012"]
    assert "absent.json" in findings[0].sentence()


def test_the_weakest_gpu_of_a_mixed_job_sets_the_memory() -> None:
    mixed = site(training(parallel={"tp": 2, "zero": 1}))
    groups = [{"name": "a", "model": "dgx-h100", "count": 4}, {"name": "b", "model": "dgx-h200", "count": 4}]
    wish = mixed.model_dump(by_alias=True)
    del wish["jobs"]
    both = type(mixed).model_validate({**wish, "servers": groups}).model_copy(update={"jobs": mixed.jobs})
    memory = account(both)[0].jobs[0].memory
    assert memory.capacity_bytes == 80_000_000_000
    assert isinstance(mixed.jobs[0], TrainingWish)
