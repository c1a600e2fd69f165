"""The traffic profile: main pattern, burst, jitter; and the reconstructed table with a reason in each row."""

from __future__ import annotations

import pytest

from eastwest.workload import JobLedger, account
from eastwest.workload.features import FEATURES, RECONSTRUCTION, feature_row, translated
from tests.workload.sites import one, site, training


def ids(job: JobLedger) -> list[str]:
    return [row.id for row in job.profile.rows]


def test_traffic_inside_the_scale_up_domain_is_not_the_fabrics_pattern() -> None:
    profile = one(training(parallel={"tp": 8})).profile
    assert profile.main_pattern == "dp (all_reduce)"
    assert profile.main_share_ratio == 1.0


def test_burst_is_the_inverse_of_duty() -> None:
    profile = one(training(parallel={"tp": 8})).profile
    assert profile.duty_ratio is not None
    assert profile.peak_to_average_ratio is not None
    assert 0 < profile.duty_ratio < 1
    assert profile.peak_to_average_ratio * profile.duty_ratio == pytest.approx(1)


def test_a_measured_compute_time_replaces_the_assumed_one() -> None:
    job = one(training(parallel={"tp": 8}, compute="60s"))
    assert job.profile.period_s is not None
    assert job.profile.period_s >= 60
    assert not any("of peak" in line for line in job.assumed)


def test_training_tolerates_more_jitter_than_inference_unless_said() -> None:
    serve = {"name": "s", "kind": "inference", "model": "llama3-8b", "tp": 8, "gpus": 32}
    ledger, _, _ = account(site(serve, training(gpus=32, jitter_tolerance="high")))
    assert [job.profile.jitter_tolerance for job in ledger.jobs] == ["low", "high"]
    assert one(training()).profile.jitter_tolerance == "medium"


def test_the_rows_follow_the_traffic() -> None:
    assert ids(one(training(parallel={"tp": 8}))) == ["elephants", "bursts", "lockstep", "storage_writes"]
    assert "incast" in ids(one(training(model="mixtral-8x7b", parallel={"tp": 2, "ep": 8})))
    serve = {"name": "s", "kind": "inference", "model": "llama3-70b", "tp": 8, "prefill_replicas": 2}
    assert ids(one(serve)) == ["small_messages", "kv_transfer"]


def test_mixing_training_and_inference_adds_a_row_to_both() -> None:
    serve = {"name": "s", "kind": "inference", "model": "llama3-8b", "tp": 8, "gpus": 32}
    ledger, _, _ = account(site(serve, training(gpus=32)))
    assert [ids(job)[-1] for job in ledger.jobs] == ["mixed", "mixed"]


def test_one_server_has_no_pattern_on_the_fabric() -> None:
    profile = one(training(parallel={"tp": 8}, global_batch=8), servers=1).profile
    assert profile.main_pattern.startswith("none")
    assert profile.peak_to_average_ratio is None
    assert profile.fan_in == 0


def test_fan_in_is_that_of_the_expert_group() -> None:
    assert one(training(model="mixtral-8x7b", parallel={"tp": 2, "ep": 8})).profile.fan_in == 7


ARGS = {
    "peak_text": "5.0",
    "traffic": "dp",
    "bytes_text": "1 GB",
    "group_size": 8,
    "fan_in": 7,
    "tolerance": "low",
    "training": "a",
    "inference": "b",
    "messages": 3,
}


@pytest.mark.parametrize("feature", FEATURES)
def test_every_row_has_all_columns_in_both_languages(feature: str) -> None:
    english = feature_row(feature, ARGS)
    chinese = translated(english, "zh")
    for row in (english, chinese):
        texts = (row.feature, row.observed, row.congestion_control, row.load_balancing, row.queueing, row.because)
        assert all(texts)
        assert not any("{" in text for text in texts)
    assert all(ord(letter) < 128 for letter in english.because)
    assert any(ord(letter) > 0x4E00 for letter in chinese.because)


def test_the_table_says_that_it_is_a_reconstruction() -> None:
    assert "reconstruction" in RECONSTRUCTION["en"]
    assert "重建" in RECONSTRUCTION["zh"]
