"""Token times of a service against closed forms."""

import pytest

from eastwest.plan.network_factors import repeats_of
from eastwest.plan.serving_model import size_of
from eastwest.simulate.analytic.step_constants_file import shipped_constants
from eastwest.workload.ledger import LedgerRow
from tests.plan.test_predict import model_of, plan_of, time_of

SERVICE = """
name: synthetic-service
servers: [{{model: dgx-h100, count: {servers}}}]
fabric: {{switch: 64x400G}}
jobs:
  - {{name: chat, kind: inference, model: llama3-70b, tp: {tp}, batch: 16, prompt: 2048, output: 256, {more}}}
"""


def service(servers=4, tp=8, more="requests_per_s: 1"):
    return SERVICE.format(servers=servers, tp=tp, more=more)


def test_a_decode_round_reads_weights_and_cache_once():
    plan = plan_of(service())
    found = plan.predictions[0]
    weights_bytes = 70.55e9 * 2 / 8
    cache_bytes = 16 * (2048 + 128) * (2 * 80 * 1024 * 2) / 8
    read_s = (weights_bytes + cache_bytes) / (3.35e12 * shipped_constants().value("memory.hopper"))
    assert found.step_time_s is None
    assert found.compute_s == pytest.approx(read_s, rel=0.01)
    assert found.time_per_token_s == pytest.approx(read_s + time_of(found, "decode_tp").time_s, rel=0.01)


def test_prefill_is_bound_by_its_flops():
    plan = plan_of(service())
    flops = plan.ledger.jobs[0].facts["prefill_flops_per_gpu"]
    assert plan.predictions[0].terms_s["prefill"] > flops / 989e12
    assert plan.predictions[0].terms_s["prefill"] < 3 * flops / 989e12


def test_a_round_of_small_messages_costs_latency_not_bandwidth():
    """160 all-reduces of 256 KiB: the wire needs 160 x 0.46 MB / 450 GB/s = 0.16 ms, the rounds ten times that."""
    plan = plan_of(service())
    row = next(row for row in plan.ledger.rows if row.traffic == "decode_tp")
    time_s = time_of(plan.predictions[0], "decode_tp").time_s
    assert time_s > 5 * row.bytes_per_gpu / 450e9
    assert 3e-6 < time_s / repeats_of(row) < 60e-6


def test_tensor_parallel_over_servers_costs_every_token():
    inside, across = (plan_of(service(tp=tp)).predictions[0] for tp in (8, 16))
    assert time_of(across, "decode_tp").time_s > time_of(inside, "decode_tp").time_s


def test_the_cache_that_ranks_share_is_read_by_each():
    """Eight KV heads over sixteen ranks: two ranks hold the same head."""
    plans = [plan_of(service(tp=tp)) for tp in (8, 16)]
    caches = []
    for plan, tp in zip(plans, (8, 16), strict=True):
        rate = 3.35e12 * shipped_constants().value("memory.hopper")
        weights = plan.ledger.jobs[0].facts["weight_bytes_per_gpu"]
        caches.append(plan.predictions[0].compute_s * rate - weights)
        assert tp in (8, 16)
    assert caches[1] == pytest.approx(caches[0], rel=1e-6)


def test_a_slower_network_slows_the_hand_over_of_the_cache():
    split = service(more="prefill_replicas: 2")
    fast, slow = plan_of(split), plan_of(split.replace("model: dgx-h100", "model: dgx-h100, pcie: {generation: 3}"))
    times = [time_of(plan.predictions[0], "kv_transfer").time_s for plan in (fast, slow)]
    assert times[1] > 1.5 * times[0]  # half of it is latency, a layer at a time


def test_tokens_per_gpu_count_every_gpu_of_the_service():
    whole, split = plan_of(service()), plan_of(service(more="prefill_replicas: 2"))
    one, two = whole.predictions[0], split.predictions[0]
    assert one.tokens_per_s_per_gpu == pytest.approx(16 / one.time_per_token_s / 8)
    assert two.tokens_per_s_per_gpu == pytest.approx(2 * 16 / two.time_per_token_s / 32)


def test_what_a_service_answers_follows_from_its_times():
    found = plan_of(service()).predictions[0]
    each_s = found.time_to_first_token_s + found.time_per_token_s * 256 / 16
    assert found.requests_per_s == pytest.approx(4 / each_s)


def test_more_requests_than_it_answers_are_a_warning_and_a_close_call_a_note():
    most = plan_of(service()).predictions[0].requests_per_s
    severities = []
    for share in (0.5, 1.1, 2.0):
        plan = plan_of(service(more=f"requests_per_s: {most * share:.3f}"))
        severities.append([row.severity for row in plan.findings if row.code == "EW-ADV-026"])
    assert severities == [[], ["info"], ["warning"]]


def test_a_service_says_that_nothing_measured_is_behind_it():
    found = plan_of(service()).predictions[0]
    assert any("no published serving run" in text for text in (limit.sentence() for limit in found.invalid))
    for name, interval in found.interval.items():
        assert interval.low < getattr(found, name) < interval.high


@pytest.mark.parametrize(
    ("collective", "sent", "size"),
    [("all_reduce", 175, 100), ("all_gather", 7 / 8 * 100, 100), ("all_to_all", 7 / 8 * 100, 100), ("send_recv", 9, 9)],
)
def test_the_size_of_a_collective_is_that_of_nccl_tests(collective, sent, size):
    messages = {"all_reduce": 14, "all_gather": 7, "all_to_all": 7, "send_recv": 1}[collective]
    n = 2 if collective == "send_recv" else 8
    row = LedgerRow("j", "t", "tp", "tp8", n, collective, round(sent * 1e6), messages, 1, "token")
    assert size_of(row) == pytest.approx(size * 1e6, rel=1e-6)


def test_a_fault_scales_bandwidth_and_not_latency():
    plan = plan_of(service(tp=16))
    model = model_of(plan)
    row = next(row for row in plan.ledger.rows if row.traffic == "decode_tp")
    own = model.found["decode_tp"]
    assert model.part.latency_s(row, own) < time_of(plan.predictions[0], "decode_tp").time_s
