"""The plan as a whole: examples, determinism, the contract of its JSON document, numbers that agree with each other."""

import json
from pathlib import Path

import pytest

import eastwest
from eastwest.fabric.tables import LinkKind
from eastwest.plan.document import plan_document, plan_files
from tests.plan.sites import pretrain_site

EXAMPLES = Path(__file__).parents[2] / "examples"
VERDICTS = {
    "deepseek-2048-h800": "warn",  # 61 layers over 16 stages
    "gpu-1024-1to1": "pass",
    "gpu-1024-2to1": "pass",
    "gpu-4096-three-tier": "pass",
    "gpu-4096-two-tier-800g": "pass",
    "h100-512-rail": "pass",
    "hpn-2x15k": "pass",
    "inference-64": "pass",
    "llama3-24k": "warn",  # 126 layers over 16 stages; a watchdog that polls 576 ports is slower than BFD
    "project-x": "warn",  # PFC reaches into the other room
    "project-x-before": "fail",
    "superpod-b200-16su": "pass",
    "two-rooms-10km": "warn",  # PFC reaches into the other room
}
CONTRACT = {
    "ledger": {
        *("traffic", "group", "group_size", "collective", "bytes_per_gpu", "messages", "message_bytes"),
        *("tier", "per", "overlaps"),
    },
    "fabric": {
        *("family", "tiers", "planes", "servers", "gpus", "leaves", "spines", "cores", "links"),
        *("oversubscription_ratio", "ports", "max_gpus"),
    },
    "prediction": {
        *("step_time_s", "compute_s", "exposed_communication_s", "communication_share_ratio"),
        *("mfu_ratio", "tokens_per_s_per_gpu"),
    },
    "decisions": {"id", "value", "unit", "because", "formula", "inputs", "source", "alternatives"},
}


def plan_of(text: str) -> eastwest.plan.plan.Plan:  # type: ignore[name-defined]
    return eastwest.make_plan(eastwest.parse_site(text, "site.yaml"))


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.yaml")))
def test_every_example_gets_its_verdict(name):
    plan = eastwest.make_plan(eastwest.load_site(EXAMPLES / f"{name}.yaml"))
    assert plan.verdict == VERDICTS[name], [finding.sentence() for finding in plan.findings]


def test_cores_of_the_hpn_example_join_its_two_pods_at_15_to_1():
    """Qian and others, Alibaba HPN, SIGCOMM 2024, section 6: a pod holds 15 segments of 1,024 GPUs, 15:1 to cores."""
    plan = eastwest.make_plan(eastwest.load_site(EXAMPLES / "hpn-2x15k.yaml"))
    assert plan.fabric.facts["pods_by_room"] == [2]
    assert plan.fabric.facts["servers_per_pod"] * 8 == 15 * 1024
    assert plan.fabric.as_json()["oversubscription_ratio"]["spine"] == 15
    assert "EW-FAB-037" in {finding.code for finding in plan.findings}
    assert "core" in {row.tier for row in plan.placement.rows}


def test_the_design_before_fails_for_the_reasons_of_the_story():
    plan = eastwest.make_plan(eastwest.load_site(EXAMPLES / "project-x-before.yaml"))
    codes = {finding.code for finding in plan.findings if finding.severity == "error"}
    assert {"EW-FAB-010", "EW-FAB-011", "EW-FAB-012"} <= codes  # TCP, the firewall, its rate limit


@pytest.mark.parametrize("name", sorted(VERDICTS))
def test_the_same_site_gives_the_same_plan(name):
    documents = [plan_document(eastwest.make_plan(eastwest.load_site(EXAMPLES / f"{name}.yaml"))) for _ in range(2)]
    assert json.dumps(documents[0]) == json.dumps(documents[1])


def test_the_document_holds_the_contract():
    document = plan_document(plan_of(pretrain_site()))
    assert document["schema"] == "eastwest.plan/1"
    for key, wanted in CONTRACT.items():
        rows = document[key] if isinstance(document[key], list) else [document[key]]
        assert rows
        assert all(wanted <= set(row) for row in rows), key
    assert set(document["fabric"]["links"]) >= {"server_leaf", "leaf_spine", "spine_core"}
    assert set(document["fabric"]["ports"]) >= {"leaf", "spine"}


def test_the_bytes_of_every_row_are_split_over_tiers_without_loss():
    plan = plan_of(pretrain_site(16, tp=4))
    n_gpus = plan.ledger.jobs[0].gpus
    for row, placed in zip(plan.ledger.rows, plan.placement.rows, strict=True):
        senders = n_gpus if row.collective != "send_recv" else n_gpus * (row.group_size - 1) // row.group_size
        assert sum(placed.tier_bytes.values()) == pytest.approx(senders * row.bytes_per_gpu, rel=1e-9), row.traffic


def test_ids_of_decisions_and_targets_are_unique_and_have_reasons():
    for path in EXAMPLES.glob("*.yaml"):
        plan = eastwest.make_plan(eastwest.load_site(path))
        entries = [*plan.decisions, *plan.targets.rows]
        ids = [entry.id for entry in entries]
        assert len(ids) == len(set(ids)), [name for name in ids if ids.count(name) > 1]
        assert all(entry.because and entry.source for entry in entries)


def test_the_cable_list_has_a_line_for_every_link_and_every_port_once():
    plan = plan_of(pretrain_site(12, family="rail_optimized", batch=1152))
    files = plan_files(plan, plan_document(plan), "<html></html>")
    header, *lines = files["cables.csv"].splitlines()
    assert len(lines) == plan.fabric.links.size
    columns = header.split(",")
    ends = [
        (line.split(",")[columns.index(f"{end}_device")], line.split(",")[columns.index(f"{end}_port")])
        for line in lines
        for end in "ab"
    ]
    assert len(ends) == len(set(ends))


def test_addresses_are_unique():
    plan = plan_of(pretrain_site(12, batch=1152))
    header, *lines = plan_files(plan, plan_document(plan), "")["addresses.csv"].splitlines()
    addresses = [line.split(",")[header.split(",").index("address")] for line in lines]
    assert len(addresses) == len(set(addresses))


def test_switches_in_the_bill_are_those_of_the_fabric():
    plan = plan_of(pretrain_site(32, family="rail_optimized"))
    counts = {row.where: row.quantity for row in plan.bom if row.unit == "switch"}
    fabric = plan.fabric.as_json()
    assert counts == {"leaf": fabric["leaves"], "spine": fabric["spines"]}
    assert sum(row.quantity for row in plan.bom if row.unit == "server") == 32


def test_a_finding_about_a_key_quotes_the_users_line():
    text = pretrain_site() + "qos: {kmin: 3MB, kmax: 5MB}\n"
    plan = plan_of(text)
    quoted = [e for finding in plan.findings for e in finding.evidence]
    assert all(e.source == "site.yaml" and text.splitlines()[(e.line or 0) - 1].strip() == e.text for e in quoted)


def test_one_single_server_uses_no_network_in_its_ring():
    plan = plan_of(pretrain_site(1, batch=8))
    assert plan.fabric.links_of(LinkKind.SERVER_LEAF).size == 8
    assert {row.tier for row in plan.placement.rows} <= {"scale_up", "local", "storage"}
