"""Every topic of advice: good, bad, absent; closed forms and the source texts' figures; both languages."""

import json

import pytest

from eastwest.plan.advice import ADVICE, oversubscription, transport
from eastwest.plan.advice.buffers import most_classes
from eastwest.plan.advice.links import fec_of
from eastwest.plan.document import plan_document
from tests.plan.wishes import decision, finding, plan_of, rooms, site

GIGA = 10**9


def codes(plan):
    return {row.code for row in plan.findings if row.code.startswith("EW-ADV")}


def test_a_sound_site_gets_no_finding_and_every_decision_has_formula_or_reason_and_source():
    plan = plan_of(site())
    assert codes(plan) == set()
    mine = [row for row in plan.decisions if not row.id.startswith(("policy", "fabric", "placement"))]
    assert all(row.because and row.source for row in mine)
    assert len(ADVICE) == 15


@pytest.mark.parametrize("generation", [4, 5])
def test_400g_in_a_gen4_slot(generation):
    text = site().replace("count: 16", f"count: 16, pcie: {{generation: {generation}}}")
    row = decision(plan_of(text), "server.slot")
    payload = {128: 0, 256: row.value, 512: 0} | {
        int(other.rejected_because.split()[-2]): other.value for other in row.alternatives
    }
    raw = 16 * GIGA * 2 ** (generation - 4) * 16 * 128 / 130
    assert row.inputs["raw_bps"] == pytest.approx(raw, abs=1)
    assert payload == pytest.approx({size: raw * size / (size + 24) for size in payload}, abs=1)
    if generation == 4:
        assert [round(payload[size] / GIGA) for size in (128, 256, 512)] == [212, 230, 241]
        assert "sends pause" in row.because


def test_nothing_hidden_and_most_of_the_step_on_the_network_come_near_the_seeds_40_percent():
    """Measured compute of two fifths, gradients that nothing hides, all of them above the leaf."""
    text = """
name: synthetic-bare
transport: roce
servers: [{model: hgx-h100, count: 16}]
fabric: {switch: 64x400g-th4-100g, oversubscription: "1:1", servers_per_leaf: 1}
jobs: [{name: t, model: {params: 8B}, parallel: {tp: 8}, sequence: 4096, global_batch: 16, overlap_gradients: false,
        compute: 1ms}]
"""
    row = decision(plan_of(text), "oversubscription.t.growth")
    more = row.inputs["exposed_at_2_1_s"] - row.inputs["exposed_s"]
    assert more / row.inputs["step_s"] == pytest.approx(row.inputs["step_at_2_1_s"] / row.inputs["step_s"] - 1)
    assert 0.4 < more / row.inputs["step_s"] < 1.0


TP_ACROSS = """
name: synthetic-tp
transport: roce
loss_regime: lossless
servers: [{{model: hgx-h100, count: 16}}]
fabric: {{switch: 64x400g-th4-100g, oversubscription: {ratio}, servers_per_leaf: 1}}
jobs: [{{name: t, model: {{params: 50B}}, parallel: {{tp: 16}}, sequence: 4096, global_batch: 64}}]
"""


def test_the_built_ratio_is_priced_against_1_to_1():
    plan = plan_of(TP_ACROSS.format(ratio="4:1"))
    row = decision(plan, "oversubscription.t.growth")
    assert row.value == pytest.approx(row.inputs["step_s"] / row.inputs["step_at_1_1_s"] - 1)
    found = finding(plan, "EW-ADV-010")
    assert found.severity == "warning"
    assert found.args["ratio"] == "4:1"
    assert "fabric" in found.evidence[0].text
    at_one = plan_of(TP_ACROSS.format(ratio="1:1"))
    assert finding(at_one, "EW-ADV-010") is None
    assert row.inputs["step_at_1_1_s"] == pytest.approx(at_one.predictions[0].step_time_s, rel=0.02)


def test_the_price_of_2_to_1_foretold_at_1_to_1_agrees_with_the_fabric_that_is_built_so():
    at_one, at_two = (plan_of(TP_ACROSS.format(ratio=ratio)) for ratio in ("1:1", "2:1"))
    foretold = decision(at_one, "oversubscription.t.growth").inputs
    assert foretold["step_at_2_1_s"] == pytest.approx(at_two.predictions[0].step_time_s, rel=1e-6)
    assert foretold["exposed_at_2_1_s"] == pytest.approx(at_two.predictions[0].exposed_communication_s, rel=1e-6)
    assert oversubscription.COMPARED_RATIO == 2.0


def test_tensor_parallel_on_the_network_has_a_price():
    row = decision(plan_of(TP_ACROSS.format(ratio="1:1")), "tensor_parallel.t.on_network")
    assert row.value > row.inputs["inside_s"]  # eight NICs a server hand over what the links inside do
    assert not [row.id for row in plan_of(site()).decisions if row.id.startswith("tensor_parallel")]


@pytest.mark.parametrize(
    ("gpus", "team", "assets", "best"),
    [
        (16, None, None, "roce"),  # up to 30 cards RoCE suffices: both texts
        (64, False, "ethernet", "roce"),
        (2048, True, "infiniband", "infiniband"),
        (512, True, "none", "either"),  # the middle, where the texts disagree
        (512, True, "ethernet", "roce"),  # two systems and double upkeep
    ],
)
def test_five_rows_are_scored(gpus, team, assets, best):
    rows = transport.scores(gpus, team, assets)
    assert [row.row for row in rows] == list(transport.ROWS)
    assert all(0 <= points <= 2 for row in rows for points in (row.infiniband, row.roce))
    total = sum(row.infiniband for row in rows), sum(row.roce for row in rows)
    assert ("either" if total[0] == total[1] else ("infiniband" if total[0] > total[1] else "roce")) == best


def test_the_texts_disagreement_is_stated_for_middle_sizes_only():
    row = decision(plan_of(site()), "transport.advice")
    said = [other.rejected_because for other in row.alternatives if "disagree" in other.value]
    assert [text.split(",")[0] for text in said] == ["seed text 000", "seed text 001"]
    small = site(2).replace("global_batch: 1024", "global_batch: 64")
    assert not [
        other for other in decision(plan_of(small), "transport.advice").alternatives if "disagree" in other.value
    ]


def test_the_other_transport_is_a_note_only_when_the_site_says_who_runs_it():
    more = "operations: {dedicated_network_team: true, existing_assets: infiniband}\n"
    found = finding(plan_of(site(more=more)), "EW-ADV-011")
    assert (found.severity, found.expected, found.observed) == ("info", "infiniband", "roce")
    assert "RoCEv2" in found.sentence()
    assert "InfiniBand" in found.sentence("zh")


def test_fec_follows_the_lane():
    assert fec_of(25 * GIGA).startswith("RS(528,514)")
    assert fec_of(100 * GIGA) == "RS(544,514) (KP4)"
    row = next(row for row in plan_of(site()).decisions if row.id.startswith("link.server_leaf"))
    assert row.inputs["lanes"] * row.inputs["lane_rate_bps"] == row.inputs["rate_bps"]
    assert row.inputs["margin_m"] == pytest.approx(row.inputs["reach_m"] - row.inputs["longest_m"])


def test_lossless_classes_that_memory_takes():
    assert most_classes(100, 24) == 2
    row = decision(plan_of(site()), "buffer.leaf.most_lossless_classes")
    assert row.value == int(0.5 * row.inputs["total_bytes"] // row.inputs["headroom_of_one_class_bytes"])


def test_cables_as_long_as_advised_take_half_of_the_memory():
    longer = decision(plan_of(site()), "buffer.leaf.longer_cables")
    inputs = longer.inputs
    grown = inputs["headroom_of_one_class_bytes"] + longer.value * inputs["bytes_per_m"]
    assert grown == pytest.approx(0.5 * inputs["total_bytes"], rel=1e-3)


def test_the_pfc_domain_has_every_cabled_switch_port():
    plan = plan_of(site())
    row, links = decision(plan, "pfc.domain"), plan.fabric.links
    assert row.value == int((links["kind"] == 0).sum()) + 2 * int((links["kind"] == 1).sum())
    assert row.inputs["hops"] == 3
    assert finding(plan, "EW-ADV-012") is None
    two = plan_of(rooms("500m"))
    assert finding(two, "EW-ADV-012").severity == "warning"


MIXED = """
name: synthetic-mixed
transport: roce
servers: [{{model: hgx-h100, count: 16}}]
fabric: {{switch: 64x400g-th4-100g}}
qos: {{separate_inference: {separate}}}
jobs:
  - {{name: t, gpus: 64, model: {{params: 34B}}, parallel: {{tp: 8, zero: 1}}, sequence: 4096, global_batch: 64}}
  - {{name: chat, kind: inference, gpus: 64, model: llama3-70b, tp: 8}}
"""


def test_inference_beside_training_without_its_class_is_a_warning_with_the_wait():
    plan = plan_of(MIXED.format(separate="false"))
    row = decision(plan, "isolation.inference")
    assert row.inputs["wait_s"] == pytest.approx(row.inputs["message_bytes"] * 8 / (400 * GIGA))
    assert finding(plan, "EW-ADV-014").severity == "warning"
    apart = plan_of(MIXED.format(separate="true"))
    assert finding(apart, "EW-ADV-014") is None
    assert decision(apart, "isolation.inference").value == "its own class"


BEHIND = """
name: synthetic-behind
transport: roce
servers: [{model: hgx-h100, count: 16}]
fabric: {switch: 64x400g-th4-100g}
jobs:
  - {name: first, gpus: 16, model: llama3-8b, parallel: {tp: 8, zero: 1}, sequence: 4096, global_batch: 64}
  - {name: second, gpus: 32, model: llama3-8b, parallel: {tp: 8, zero: 1}, sequence: 4096, global_batch: 64}
"""


def test_a_job_that_begins_in_the_middle_of_a_leaf_loses_its_locality():
    plan = plan_of(BEHIND)
    found = finding(plan, "EW-ADV-015")
    assert found.subject == "second"
    assert found.expected == 0  # 4 servers of 8 links each fit one leaf of 32 down ports
    assert found.observed == decision(plan, "locality.second").inputs["above_leaf_bytes"] > 0
    assert decision(plan, "locality.first").value == 0.0


def test_eight_servers_a_rack_are_50_to_80_kw():
    racks = "rooms: [{name: hall, racks: {count: 4, servers: 8, power: %s}}]\n"
    fed = plan_of(site(more=racks % "90kW"))
    found = finding(fed, "EW-ADV-016")
    # eight servers at 10.2 kW need 81.6 kW; units (8 x 8 = 64 > 48) let six stand in one rack
    assert found.observed >= 6 * 10_200
    assert decision(fed, "rack.power").inputs["eight_servers_w"] == pytest.approx(81_600)
    assert finding(fed, "EW-ADV-017") is None
    short = finding(plan_of(site(more=racks % "40kW")), "EW-ADV-017")
    assert (short.args["fit"], short.observed) == (3, pytest.approx(81_600))


def test_the_flat_segment_of_the_seed_is_rejected_with_its_three_harms():
    row = decision(plan_of(site()), "segment.subnets")
    flat = row.alternatives[0].rejected_because
    assert all(word in flat for word in ("flooded", "deadlock", "ARP flux", "ECMP"))
    assert row.inputs["hosts"] == 128
    assert not [row.id for row in plan_of(site(transport="infiniband")).decisions if row.id == "segment.subnets"]


def test_the_class_of_a_switch_says_what_it_is_for():
    text = site().replace("switch: 64x400g-th4-100g", "switch: 64x400g-th4-100g, spine: home-8x1g")
    row = decision(plan_of(site()), "switch_class.leaf")
    assert row.value == "data_centre"
    assert {other.value for other in row.alternatives} == {"l3", "home"}
    assert decision(plan_of(text), "switch_class.spine").because.startswith("for debugging")


def test_sentences_of_advice_are_filled_in_both_languages():
    texts = [MIXED.format(separate="false"), BEHIND, rooms("10km"), TP_ACROSS.format(ratio="4:1")]
    for text in texts:
        plan = plan_of(text)
        for lang in ("en", "zh"):
            assert all("{" not in row.sentence(lang) + row.hint(lang) for row in plan.findings)


def test_the_document_holds_the_bill_and_is_the_same_twice():
    documents = [plan_document(plan_of(site(more="monitoring: {}\n"))) for _ in range(2)]
    assert json.dumps(documents[0]) == json.dumps(documents[1])
    bill = documents[0]["bill"]
    assert {"currency", "price", "unpriced_parts", "unpowered_parts", "power_w", "groups", "racks"} == set(bill)
