"""Predictions of whole sites against closed forms and against the step model on its own."""

import math
from dataclasses import replace

import pytest

import eastwest
from eastwest.plan import predict
from eastwest.plan.network_factors import factors_of
from eastwest.plan.run_of_job import run_of_job
from eastwest.simulate.analytic.step_constants_file import shipped_constants
from eastwest.simulate.analytic.step_explain import explain
from tests.plan.sites import pretrain_site
from tests.plan.wishes import rooms

H100_FLOPS = 989e12
TERMS = ("step_time_s", "compute_s", "exposed_communication_s", "communication_share_ratio", "mfu_ratio")
KEYS = (*TERMS, "tokens_per_s_per_gpu", "interval", "sensitivities", "assumed", "invalid", "slicing")


def plan_of(text):
    return eastwest.make_plan(eastwest.parse_site(text, "site.yaml"))


def first(text):
    return plan_of(text).predictions[0]


def model_of(plan, fabric=None):
    return predict.model_of(plan.site, plan.server, fabric or plan.fabric, plan.placement, plan.ledger.jobs[0])


def limits(prediction):
    return [limit.sentence() for limit in prediction.invalid]


def time_of(prediction, traffic):
    return next(row for row in prediction.rows if row.traffic == traffic)


def test_step_time_is_the_sum_of_its_parts_and_of_its_terms():
    found = first(pretrain_site(16))
    total_s = found.compute_s + found.bubble_s + sum(row.exposed_s for row in found.rows)
    assert found.step_time_s == pytest.approx(total_s, rel=1e-9)
    assert found.step_time_s == pytest.approx(sum(found.terms_s.values()), rel=1e-9)


def test_on_a_network_that_blocks_nothing_the_step_is_the_validated_models():
    plan = plan_of(pretrain_site(16))
    run = run_of_job(plan.site, plan.server, 400e9, plan.ledger.jobs[0])
    alone = explain(run, shipped_constants())
    found = plan.predictions[0]
    assert found.step_time_s == pytest.approx(alone.step_s, rel=1e-9)
    assert found.interval["step_time_s"].low == pytest.approx(alone.low_s)
    assert found.interval["step_time_s"].high == pytest.approx(alone.high_s)
    assert found.exposed_communication_s == pytest.approx(alone.visible_communication_s, rel=1e-9)


def test_shares_follow_from_flops_and_tokens():
    plan = plan_of(pretrain_site(16))
    job, found = plan.ledger.jobs[0], plan.predictions[0]
    assert found.mfu_ratio == pytest.approx(job.flops_per_gpu / (found.step_time_s * H100_FLOPS), rel=1e-12)
    assert found.hfu_ratio >= found.mfu_ratio
    tokens = 1024 * 8192 / 128
    assert found.tokens_per_s_per_gpu == pytest.approx(tokens / found.step_time_s)


def test_intervals_hold_their_point_and_turn_with_the_step():
    found = first(pretrain_site(16))
    assert set(found.interval) == {"step_time_s", "exposed_communication_s", "mfu_ratio", "tokens_per_s_per_gpu"}
    for name, interval in found.interval.items():
        assert interval.low <= getattr(found, name) <= interval.high
    step, mfu = found.interval["step_time_s"], found.interval["mfu_ratio"]
    assert mfu.high / mfu.low == pytest.approx(step.high / step.low)


def test_two_to_one_never_makes_a_step_shorter():
    even, halved = (first(pretrain_site(16, oversubscription=ratio)) for ratio in ("1:1", "2:1"))
    assert time_of(halved, "dp_gradients").time_s >= time_of(even, "dp_gradients").time_s
    assert halved.step_time_s >= even.step_time_s


def test_two_to_one_doubles_what_crosses_the_leaf_and_nothing_else():
    """One server a leaf: every gradient crosses; the wire part doubles, the latency does not."""
    text = pretrain_site(16, tp=8).replace("switch: 64x400G", "switch: 64x400G\n  servers_per_leaf: 1")
    even, halved = plan_of(text), plan_of(text.replace("1:1", "2:1"))
    factors = [factors_of(plan.ledger.jobs[0], model_of(plan).found, plan.server) for plan in (even, halved)]
    assert factors[0]["dp"] == pytest.approx(1.0)
    assert factors[1]["dp"] == pytest.approx(2.0)
    assert factors[1]["tp"] == factors[0]["tp"] == 0.0
    one, two = even.predictions[0], halved.predictions[0]
    assert 1.5 < time_of(two, "dp_gradients").time_s / time_of(one, "dp_gradients").time_s <= 2.0


def test_a_slot_slower_than_its_nic_raised_no_time():
    """Gen4 x16 carries 230 of 400 Gb/s at 256 B payloads."""
    wide = pretrain_site(16)
    narrow = wide.replace("model: dgx-h100", "model: dgx-h100, pcie: {generation: 4}")
    fast, slow = first(wide), first(narrow)
    assert slow.step_time_s > fast.step_time_s
    ratio = time_of(slow, "dp_gradients").time_s / time_of(fast, "dp_gradients").time_s
    assert 1.3 < ratio <= 400 / 230.5
    assert any("slot" in text for text in slow.assumed)


def test_a_lost_spine_makes_a_step_longer_and_never_shorter():
    plan = plan_of(pretrain_site(16))
    model = model_of(plan)
    hurt = {name: replace(own, network_s=own.network_s * 1.5) for name, own in model.found.items()}
    assert predict.duration_s(model, model.found) == pytest.approx(plan.predictions[0].step_time_s, rel=1e-12)
    assert predict.duration_s(model, hurt) > plan.predictions[0].step_time_s


def test_distance_adds_its_round_trips():
    near, far = (first(rooms(length, regime="ecn-only")) for length in ("500m", "100km"))
    assert far.step_time_s > near.step_time_s
    assert time_of(far, "dp_gradients").time_s > 1.5 * time_of(near, "dp_gradients").time_s


def test_measured_compute_replaces_the_predicted_one():
    found = first(pretrain_site(16) + "    compute: 2s\n")
    assert found.compute_s == 2.0
    assert found.step_time_s == pytest.approx(2.0 + found.bubble_s + found.exposed_communication_s)
    assert not any("attention" in text for text in found.assumed)
    assert found.interval["step_time_s"].low >= 2.0
    assert not any("recipe" in text for text in limits(found))


def test_gradients_hide_behind_a_longer_compute():
    short, long = (first(pretrain_site(16) + f"    compute: {time}\n") for time in ("1ms", "60s"))
    assert time_of(long, "dp_gradients").exposed_s < time_of(short, "dp_gradients").exposed_s
    assert time_of(short, "dp_gradients").exposed_s == pytest.approx(time_of(short, "dp_gradients").time_s, rel=0.15)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"transport": "tcp"}, "TCP"),
        ({"family": "leaf_spine"}, "recipe unknown: framework and release"),
    ],
)
def test_where_the_model_does_not_hold_is_said(change, word):
    assert any(text.startswith(word) for text in limits(first(pretrain_site(16, **change))))


def test_a_known_recipe_and_a_measured_gpu_leave_no_doubt():
    text = pretrain_site(16) + '    framework: megatron-bridge\n    release: "26.02"\n    precision: bf16\n'
    assert first(text).invalid == ()


def test_a_gpu_without_measurements_is_said_and_widens_the_interval():
    known, other = first(pretrain_site(16)), first(pretrain_site(16) + "    precision: nvfp4\n")
    assert any("no measured run" in text for text in limits(other))

    def width(found):
        return math.log(found.interval["step_time_s"].high / found.interval["step_time_s"].low)

    assert width(other) > width(known)


@pytest.mark.parametrize(
    ("gpu", "precision", "is_said"),
    [("a100", "fp8", True), ("v100", "bf16", True), ("h100", "fp8", False), ("a100", "tf32", False)],
)
def test_a_datatype_that_the_gpu_has_not_is_said(gpu, precision, is_said):
    site = pretrain_site(16).replace("model: dgx-h100", f"gpu: {gpu}, gpus: 8, nic: {{rate: 400G, count: 8}}")
    site = site.replace("sequence:", f"precision: {precision}\n    sequence:")
    assert any(f"has no {precision}" in text for text in limits(first(site))) == is_said


def test_where_it_does_not_hold_is_said_in_both_languages():
    found = first(pretrain_site(16))
    english, chinese = found.as_json("en")["invalid"], found.as_json("zh")["invalid"]
    assert len(english) == len(chinese) > 0
    assert all(any("\u4e00" <= letter <= "\u9fff" for letter in text) for text in chinese)


def test_tf32_computes_at_its_own_rate():
    half, full = first(pretrain_site(16)), first(pretrain_site(16) + "    precision: tf32\n")
    assert full.compute_s > half.compute_s
    assert any("tf32" in text for text in limits(full))


def test_overlap_flags_of_the_site_reach_the_model():
    on, off = (first(pretrain_site(16) + f"    overlap_tp: {flag}\n") for flag in ("true", "false"))
    assert time_of(off, "tp_gather").exposed_s > time_of(on, "tp_gather").exposed_s
    assert time_of(off, "tp_gather").exposed_s == pytest.approx(time_of(off, "tp_gather").time_s, rel=1e-9)
    unfused = first(pretrain_site(16) + "    flash_attention: false\n")
    assert unfused.step_time_s > on.step_time_s


def test_a_measured_step_above_the_peak_was_shown_as_an_mfu_without_a_word():
    text = pretrain_site(4, tp=1).replace("    global_batch", "    compute: 1ps\n    global_batch", 1)
    prediction = first(text)
    assert prediction.mfu_ratio > 1
    assert any("faster than the GPUs' peak" in reason for reason in limits(prediction))


def test_the_document_has_every_key_of_the_contract():
    document = first(pretrain_site(16)).as_json()
    assert set(KEYS) <= set(document)
    assert document["interval"]["step_time_s"]["level"] == 0.8
    assert len(document["sensitivities"]) == 3


def test_the_largest_exposed_class_is_where_to_look_first():
    found = first(pretrain_site(16))
    assert found.largest_exposed.exposed_s == max(row.exposed_s for row in found.rows)


HYBRID = """
name: synthetic-hybrid
servers: [{model: dgx-h100, count: 4}]
fabric: {switch: 64x400G}
jobs:
  - {name: t, model: llama3-8b, parallel: {tp: 1, zero: 3, shard: 8}, sequence: 4096, global_batch: 256}
"""


def test_shards_inside_a_server_take_time_though_only_replicas_cross():
    found = first(HYBRID)
    inside, across = time_of(found, "dp_weights"), time_of(found, "dp_replicas")
    assert inside.bottleneck == "scale_up"
    assert inside.time_s > 0
    assert across.bottleneck == "server_leaf"
    built = [point for curve in found.slicing for point in curve.points if point.is_built]
    assert all(point.step_time_s == pytest.approx(found.step_time_s) for point in built)


EXPERTS = """
name: synthetic-experts
servers: [{{model: dgx-h100, count: 8}}]
fabric: {{switch: 64x400G}}
jobs:
  - name: t
    model: {{layers: 16, hidden: 2048, heads: 16, ffn: 8192, vocab: 32000, moe: {{experts: 8, top_k: 2, ffn: 4096}}}}
    parallel: {{tp: {tp}, ep: 8, zero: 1}}
    sequence: 4096
    global_batch: 256
"""


def test_expert_groups_beside_tensor_ranks_leave_the_server_and_say_so():
    """With tp 8 each expert group has one rank a server: all of its exchange crosses the network."""
    inside, across = (first(EXPERTS.format(tp=tp)) for tp in (1, 8))
    assert time_of(inside, "ep_dispatch").bottleneck == "scale_up"
    assert time_of(across, "ep_dispatch").bottleneck == "server_leaf"
    assert any(text.startswith("incast: up to 7 senders") for text in limits(across))
    assert not any(text.startswith("incast") for text in limits(inside))
