"""Judging published effects: what bounds and ranges mean, what each category expects, and why others are skipped."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eastwest.errors import InputError
from eastwest.plan.validate_effects import judge_effect, validate_effects
from eastwest.plan.validation.effects_closed import CLOSED, NEEDS_ANOTHER
from eastwest.plan.validation.effects_collectives import BY_COLLECTIVE
from eastwest.plan.validation.effects_table import (
    CLASSES,
    EffectRow,
    Span,
    Untold,
    direction,
    published_factor,
    size_class,
    span_of,
)
from eastwest.report.formats.text_effects import effects_text


def row(category="other", condition=None, baseline=None, effect=None):
    return EffectRow("synthetic", 1, None, category, condition or {}, baseline or {}, effect or {}, "ours")


@pytest.mark.parametrize(
    ("value", "span"),
    [
        (5, Span(5, 5)),
        (">95", Span(95, math.inf)),
        ("<240", Span(0, 240)),
        ("up to 57", Span(0, 57)),
        ("6-83", Span(6, 83)),
        ("3x-6x", Span(3, 6)),
        ("12.05-22.32", Span(12.05, 22.32)),
        ("up to 1.8x", Span(0, 1.8)),
        (">1e-5 (0.001%)", Span(1e-5, math.inf)),
        ("near 0", Span(0, 0.1)),
        ("about 400", Span(400, 400)),
        ("none", None),
        (True, None),
        (None, None),
        ([1], None),
        (-3, None),
    ],
)
def test_bounds_and_ranges_as_printed(value, span):
    assert span_of(value) == span


@pytest.mark.parametrize(
    ("effect", "baseline", "low", "high"),
    [
        ({"gain_pct": 20}, {}, 1.2, 1.2),
        ({"improvement_pct": "6-83"}, {}, 1.06, 1.83),
        ({"training_degradation_pct": ">30"}, {}, 0.0, 0.7),
        ({"relative_throughput_pct": ">95"}, {}, 0.95, 1.0),
        ({"busbw_gbps_before": "<240", "busbw_gbps_after": 360}, {}, 1.5, math.inf),
        ({"iter_time_s_before": 4, "iter_time_s_after": 2}, {}, 2.0, 2.0),
        ({"busbw_tcp_GBps": 3, "busbw_rdma_GBps": 30}, {}, 0.1, 0.1),
        ({"time_us_tcp": 500, "time_us_rdma": 50}, {}, 0.1, 0.1),
        ({"busbw_slowdown": 4}, {}, 0.25, 0.25),
        ({"achieved_GBps": 48}, {"spec_GBps": 64}, 0.75, 0.75),
        ({"iter_time_s": 114}, {"iter_time_s": 120}, 120 / 114, 120 / 114),
        ({"wire_efficiency_4096_pct": 98, "wire_efficiency_1024_pct": 92.6}, {}, 98 / 92.6, 98 / 92.6),
        ({"overhead_pct": "up to 57"}, {}, 1 / 1.57, 1.0),
        ({"bandwidth_ratio": 6.1}, {}, 6.1, 6.1),
    ],
)
def test_the_change_that_a_row_publishes(effect, baseline, low, high):
    found = published_factor(row(effect=effect, baseline=baseline))
    assert (found.low, found.high) == pytest.approx((low, high))


def test_words_publish_no_change():
    assert published_factor(row(effect={"result": "masked conflicts"})) is None


@pytest.mark.parametrize(
    ("factor", "name", "sign"),
    [
        (1.0, "none", 0),
        (0.97, "none", 0),
        (1.1, "small", 1),
        (0.6, "medium", -1),
        (3.25, "large", 1),
        (0.0, "huge", -1),
    ],
)
def test_size_classes(factor, name, sign):
    assert CLASSES[size_class(factor)] == name
    assert direction(factor) == sign


@pytest.mark.parametrize(
    ("category", "condition", "baseline", "low", "high"),
    [
        ("link_failure", {"failed_links": "1 of 4", "scheme": "dynamic rebalancing"}, {"scheme": "static"}, 1.5, 1.5),
        ("link_failure", {"failed_links": "1 of 8", "scheme": "static"}, {}, 0.5, 0.875),
        ("ecmp", {"scheme": "C4P", "nic": "2x200G"}, {"scheme": "default bonding"}, 1.5, 2.0),
        ("ecmp", {"scheme": "C4P", "model": "gradient accumulation 30"}, {"scheme": "ECMP"}, 1.0, 1.01),
        ("mtu", {"rdma_mtu": 4096}, {"rdma_mtu": 1024}, 1.0588, 1.0589),
        ("packet_loss", {"recovery": "go-back-0", "loss_rate": 0.01, "message_mb": 4}, {}, 0.0, 1e-9),
        ("misconfiguration", {"pcie_acs": "on"}, {"pcie_acs": "off"}, 0.35, 0.5),
    ],
)
def test_what_a_closed_form_expects(category, condition, baseline, low, high):
    found = judge_effect(row(category, condition, baseline)).foreseen
    assert (found.factor.low, found.factor.high) == pytest.approx((low, high), abs=2e-3)


@pytest.mark.parametrize(
    ("category", "condition", "reason"),
    [
        ("pfc", {"event": "pause storm"}, Untold.packet_engine),
        ("adaptive_routing", {"scheme": "x"}, Untold.flow_engine),
        ("scale", {"gpus": 512}, Untold.training_table),
        ("distance", {"scheme": "proxy"}, Untold.condition_not_given),
        ("packet_loss", {"recovery": "selective repeat", "loss_rate": 0.01}, Untold.packet_engine),
        ("weather", {}, Untold.outside),
    ],
)
def test_why_an_effect_is_not_judged(category, condition, reason):
    assert judge_effect(row(category, condition, effect={"gain_pct": 5})).untold is reason


def test_a_prediction_without_a_published_figure_is_no_judgement():
    found = judge_effect(row("distance", {"distance_km": 100}, effect={"result": "fine"}))
    assert found.status == "skipped"
    assert found.untold is Untold.no_figure


def test_statuses():
    near, far = {"relative_throughput_pct": ">95"}, {"relative_throughput_pct": 10}
    assert judge_effect(row("distance", {"distance_km": 100}, effect=near)).status == "match"
    assert judge_effect(row("distance", {"distance_km": 5000}, effect=far)).status == "direction"
    gained = {"gain_pct": 80}
    assert judge_effect(row("misconfiguration", {"pcie_acs": "on"}, effect=gained)).status == "mismatch"


def test_every_category_has_one_reader():
    assert not set(CLOSED) & set(BY_COLLECTIVE)
    assert not (set(CLOSED) | set(BY_COLLECTIVE)) & set(NEEDS_ANOTHER)


def document(*rows):
    return json.dumps({"rows": list(rows)})


ACS = {"id": "a", "category": "misconfiguration", "condition": {"pcie_acs": "on"}, "effect": {"gain_pct": 80}}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_document_and_text(lang):
    found = validate_effects(document(ACS, {"id": "b", "category": "pfc"}), "t.yaml")
    assert found.verdict == "warn"
    plain = found.as_json(lang)
    assert json.loads(json.dumps(plain, allow_nan=False))["summary"]["all"]["mismatch"] == 1
    said = effects_text(plain, lang, 80)
    assert "a (misconfiguration)" in said
    assert "{" not in said


@pytest.mark.parametrize("text", ["rows: {}", "rows: []", "meta: {}", "rows: [1]"])
def test_another_shape_is_refused(text):
    with pytest.raises(InputError):
        validate_effects(text, "t.yaml")


values = st.one_of(
    st.none(),
    st.booleans(),
    st.floats(allow_nan=True),
    st.integers(-(10**20), 10**20),
    st.text(max_size=20),
    st.lists(st.integers(), max_size=2),
    st.sampled_from(
        [">95", "6-83", "2:1", "1 of 8", "8x400G EFA", "8x H200", "16MiB", "1000 x 4 MB", "on", "IPoIB TCP", "RDMA"]
    ),
)
KEYS = [
    "nic",
    "gpu",
    "nodes",
    "gpus",
    "payload",
    "transport",
    "distance_km",
    "loss_rate",
    "recovery",
    "message_mb",
    "oversubscription",
    "jobs",
    "scheme",
    "failed_links",
    "rdma_mtu",
    "nvls",
    "gain_pct",
    "busbw_slowdown",
    "x_before",
    "x_after",
]
keys = st.sampled_from(KEYS)
parts = st.one_of(values, st.dictionaries(keys, values, max_size=5))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([*CLOSED, *BY_COLLECTIVE, *NEEDS_ANOTHER, "other"]), parts, parts, parts)
def test_no_row_breaks_the_judge(category, condition, baseline, effect):
    kept = [part if isinstance(part, dict) else {} for part in (condition, baseline, effect)]
    found = judge_effect(row(category, *kept))
    assert found.status in ("match", "direction", "mismatch", "skipped")
    if found.foreseen:
        assert 0 <= found.foreseen.factor.low <= found.foreseen.factor.high


@pytest.mark.parametrize("payload", [-1, "-4 MB", 10**30, 0])
def test_a_payload_that_is_no_size_leaves_the_usual_one(payload) -> None:
    condition = {"gpu": "B200", "nodes": 4, "nic": "8x400G EFA"}
    usual = judge_effect(row("hierarchy", condition, {"nodes": 1}, {"ratio": 0.5}))
    found = judge_effect(row("hierarchy", {**condition, "payload": payload}, {"nodes": 1}, {"ratio": 0.5}))
    assert found.foreseen == usual.foreseen
