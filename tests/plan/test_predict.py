"""The first prediction against closed forms, worked out beside it."""

from dataclasses import replace

import pytest

import eastwest
from eastwest.plan import predict
from eastwest.workload.ledger import LedgerRow
from eastwest.workload.profile import ASSUMED_COMPUTE_RATIO
from tests.plan.sites import pretrain_site

NIC_BYTES_PER_S = 400e9 / 8
H100_FLOPS = 989e12


def plan_of(text):
    return eastwest.make_plan(eastwest.parse_site(text, "site.yaml"))


def time_of(plan, traffic):
    return next(row for row in plan.predictions[0].rows if row.traffic == traffic)


def test_step_time_is_the_sum_of_its_parts():
    found = plan_of(pretrain_site(16)).predictions[0]
    total_s = found.compute_s + found.bubble_s + sum(row.exposed_s for row in found.rows)
    assert found.step_time_s == pytest.approx(total_s, rel=1e-12)


def test_compute_is_flops_over_peak_times_the_assumed_ratio():
    plan = plan_of(pretrain_site(16))
    job, found = plan.ledger.jobs[0], plan.predictions[0]
    expected_s = job.facts["hardware_flops_per_gpu"] / (H100_FLOPS * ASSUMED_COMPUTE_RATIO)
    assert found.compute_s == pytest.approx(expected_s, rel=1e-12)
    assert found.mfu_ratio == pytest.approx(job.flops_per_gpu / (found.step_time_s * H100_FLOPS), rel=1e-12)


def test_a_data_parallel_exchange_on_a_nonblocking_fabric_runs_at_nic_rate():
    plan = plan_of(pretrain_site(16))
    row = next(row for row in plan.ledger.rows if row.traffic == "dp_gradients")
    wire_s = row.bytes_per_gpu / (NIC_BYTES_PER_S * predict.NETWORK_EFFICIENCY)
    expected_s = wire_s + row.messages * predict.NETWORK_LATENCY_S
    assert time_of(plan, "dp_gradients").time_s == pytest.approx(expected_s, rel=1e-9)


def test_a_tensor_parallel_exchange_inside_a_server_runs_at_scale_up_rate():
    plan = plan_of(pretrain_site(16))
    row = next(row for row in plan.ledger.rows if row.traffic == "tp_gather")
    expected_s = row.bytes_per_gpu / (450e9 * predict.SCALE_UP_EFFICIENCY) + row.messages * predict.SCALE_UP_LATENCY_S
    assert time_of(plan, "tp_gather").time_s == pytest.approx(expected_s, rel=1e-9)


def test_two_to_one_never_makes_a_step_shorter():
    even = plan_of(pretrain_site(16, oversubscription="1:1"))
    halved = plan_of(pretrain_site(16, oversubscription="2:1"))
    assert time_of(halved, "dp_gradients").time_s >= time_of(even, "dp_gradients").time_s
    assert halved.predictions[0].step_time_s >= even.predictions[0].step_time_s


def test_measured_compute_replaces_the_predicted_one():
    text = pretrain_site(16) + "    compute: 2s\n"
    found = plan_of(text).predictions[0]
    assert found.compute_s == 2.0
    assert not any("of peak" in reason for reason in found.assumed)


def test_tcp_is_said_to_be_outside_the_model():
    assert plan_of(pretrain_site(16, transport="tcp")).predictions[0].invalid


def test_inference_has_token_times_and_no_step():
    text = """
name: synthetic-service
servers: [{model: dgx-h100, count: 2}]
fabric: {switch: 64x400G}
jobs:
  - {name: chat, kind: inference, model: llama3-70b, tp: 8, batch: 16, prompt: 2048, output: 256}
"""
    plan = plan_of(text)
    found, job = plan.predictions[0], plan.ledger.jobs[0]
    weights_bytes = 70.55e9 * 2 / 8
    cache_bytes = 16 * (2048 + 128) * (2 * 80 * 1024 * 2) / 8
    read_s = (weights_bytes + cache_bytes) / (3.35e12 * predict.HBM_EFFICIENCY)
    rounds_s = sum(row.time_s for row in found.rows if row.traffic.startswith("decode"))
    assert found.step_time_s is None
    assert found.time_per_token_s == pytest.approx(read_s + rounds_s, rel=0.01)
    flops_s = job.facts["prefill_flops_per_gpu"] / (H100_FLOPS * ASSUMED_COMPUTE_RATIO)
    assert found.time_to_first_token_s > flops_s


def test_a_small_message_pays_the_low_latency_protocol_and_an_all_to_all_pays_once():
    row = LedgerRow("j", "t", "ep", "ep8", 8, "all_to_all", 70_000, 70, 1_000, "step")
    small_s = predict._rounds(row) * predict._latency_s(row, on_network=True)
    assert small_s == pytest.approx(10 * predict.NETWORK_LL_LATENCY_S)
    large = replace(row, collective="all_reduce", message_bytes=10**6)
    assert predict._rounds(large) * predict._latency_s(large, on_network=False) == 70 * predict.SCALE_UP_LATENCY_S


def test_a_gradient_exchange_hides_only_behind_the_last_backward_pass():
    """Sixty-four micro-batches leave 2/3 of one of them as the window; what is longer shows."""
    plan = plan_of(pretrain_site(16))
    row = next(row for row in plan.ledger.rows if row.traffic == "dp_gradients")
    found, job = plan.predictions[0], plan.ledger.jobs[0]
    assert row.window_ratio == pytest.approx(2 / 3 / job.facts["n_micro_batches"])
    timed = time_of(plan, "dp_gradients")
    window_s = found.compute_s * row.window_ratio
    assert timed.exposed_s == pytest.approx(max(timed.time_s * (1 - row.overlap_ratio), timed.time_s - window_s))


def test_a_measured_step_above_the_peak_was_shown_as_an_mfu_without_a_word():
    text = pretrain_site(4, tp=1).replace("    global_batch", "    compute: 1ps\n    global_batch", 1)
    prediction = plan_of(text).predictions[0]
    assert prediction.mfu_ratio > 1
    assert any("faster than the GPUs' peak" in reason for reason in prediction.invalid)
