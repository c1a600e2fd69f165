"""Signs and sizes of sensitivities, and the trade of slicing."""

from itertools import pairwise

import pytest

import eastwest
from eastwest.plan.sensitivities import _of_serving, faster, sentence, training_sensitivities
from tests.plan.sites import pretrain_site
from tests.plan.test_predict import first, model_of, plan_of

SERVICE = """
name: synthetic-service
servers: [{model: dgx-h100, count: 4}]
fabric: {switch: 64x400G}
jobs:
  - {name: chat, kind: inference, model: llama3-70b, tp: 8, batch: 16, prompt: 2048, output: 256}
"""


def test_faster_parts_make_a_step_faster():
    found = first(pretrain_site(16, tp=2))
    assert len(found.sensitivities) == 3
    for row in found.sensitivities:
        if row.input not in ("micro_batch", "latency", "gradient_bucket"):
            assert row.delta_s < 0
    assert [abs(row.delta_s) for row in found.sensitivities] == sorted(
        (abs(row.delta_s) for row in found.sensitivities), reverse=True
    )


def test_a_gemm_that_is_a_tenth_faster_saves_a_tenth_of_its_time_at_most():
    found = first(pretrain_site(16))
    gemm = next(row for row in found.sensitivities if row.input == "gemm_efficiency")
    assert -found.compute_s * (1 - 1 / 1.1) <= gemm.delta_s < 0


def test_nics_matter_where_gradients_show_and_say_by_how_much():
    """One short sequence a replica leaves little to hide gradients behind, and each ring has one NIC of a server."""
    found = first(pretrain_site(16, tp=8, batch=16).replace("sequence: 8192", "sequence: 1024"))
    nic = next(row for row in found.sensitivities if row.input == "nic_rate")
    assert nic.traffic == "dp"
    assert nic.exposed_s == pytest.approx(sum(row.exposed_s for row in found.rows if row.traffic.startswith("dp")))
    assert 0 < nic.half_width_s < found.step_time_s
    assert nic.text.startswith("exposed DP traffic")
    assert "NIC rate +10 % → −" in nic.text


def test_faster_uplinks_do_nothing_where_nics_bound():
    plan = plan_of(pretrain_site(16))
    model = model_of(plan)
    assert faster(model.found, "uplink_rate") == model.found
    quicker = faster(model.found, "nic_rate")
    assert quicker["dp_gradients"].nics_s == pytest.approx(model.found["dp_gradients"].nics_s / 1.1)


def test_a_measured_compute_is_moved_by_communication_only():
    plan = plan_of(pretrain_site(16) + "    compute: 2s\n")
    model = model_of(plan)
    step = model.part.step(model.found)
    names = {row.input for row in training_sensitivities(model.part, model.found, step, dict.fromkeys(step.shown_s, 0))}
    assert not names & {"gemm_efficiency", "memory_bandwidth", "micro_batch"}


def test_a_token_is_moved_by_memory_and_latency():
    plan = plan_of(SERVICE)
    model = model_of(plan)
    rows = {row.input: row.delta_s for row in _of_serving(model.part, model.found, model.part.serve(model.found))}
    assert rows["memory_bandwidth"] < 0
    assert rows["latency"] > 0
    assert rows["gemm_efficiency"] == 0  # a decode round of 16 sequences waits for memory


@pytest.mark.parametrize(
    ("change", "delta", "text"),
    [(1.1, -0.03, "NIC rate +10 % → −30 ms"), (2.0, 0.5, "NIC rate x 2 → +500 ms")],
)
def test_the_sentence(change, delta, text):
    assert sentence("nic_rate", change, delta) == text


def test_finer_cuts_send_smaller_and_more_messages():
    curves = {curve.cut: curve for curve in first(pretrain_site(16, tp=2)).slicing}
    assert set(curves) == {"tp", "pp", "bucket"}
    for cut in ("tp", "bucket"):
        points = [point for point in curves[cut].points if point.messages]
        assert all(a.message_bytes > b.message_bytes for a, b in pairwise(points))
        assert all(a.messages < b.messages for a, b in pairwise(points))
    for curve in curves.values():
        assert curve.crossover == min(curve.points, key=lambda point: point.step_time_s).value


def test_the_built_point_is_the_prediction():
    found = first(pretrain_site(16))
    for curve in found.slicing:
        built = [point for point in curve.points if point.is_built]
        assert len(built) == 1
        assert built[0].step_time_s == pytest.approx(found.step_time_s, rel=0.01)


def test_the_smallest_buckets_pay_latency_and_the_largest_cannot_hide():
    curve = next(curve for curve in first(pretrain_site(16, tp=1)).slicing if curve.cut == "bucket")
    shown = [point.exposed_s for point in curve.points]
    best = shown.index(min(shown))
    assert 0 < best < len(shown) - 1
    assert shown[-1] > shown[best] < shown[0]


def test_a_measured_compute_has_no_curve():
    assert first(pretrain_site(16) + "    compute: 2s\n").slicing == ()


def test_a_service_has_no_curve():
    assert eastwest.make_plan(eastwest.parse_site(SERVICE, "site.yaml")).predictions[0].slicing == ()
