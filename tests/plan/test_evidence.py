"""A finding about a wish quotes the user's own line: sites that build badly, and the line that each finding cites."""

import pytest

import eastwest
from eastwest.errors import InputError
from eastwest.plan.plan import Plan

SITE = """name: synthetic
transport: roce
servers:
  - model: dgx-h100
    count: 16
fabric:
  family: leaf_spine
  switch: sn5600
jobs:
  - name: train
    model: llama3-8b
    global_batch: 1024
    parallel: {tp: 8}
"""
ROOMS = """rooms: [{name: a}, {name: b}]
room_links:
  - between: [a, b]
    distance: 1km
    count: 4
    rate: 400G
    oversubscription: 1:1
    boxes:
      - name: fw
        kind: firewall
        rate_limit: 100G
"""
TCP = ("transport: roce", "transport: tcp")


def plan_of(*changes: tuple[str, str]) -> Plan:
    text = SITE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return eastwest.make_plan(eastwest.parse_site(text, "site.yaml"))


@pytest.mark.parametrize(
    ("code", "line", "changes"),
    [
        ("EW-FAB-001", "switch: 8x400G", [("switch: sn5600", "switch: 8x400G")]),
        ("EW-FAB-002", "switch: 8x400G", [("switch: sn5600", "switch: 8x400G")]),
        ("EW-FAB-003", "oversubscription: 1:1", [("jobs:", ROOMS + "jobs:")]),
        ("EW-FAB-004", "- {model: dgx-h100, nic: {count: 4}, count: 16}",
         [("fabric:", "  - {model: dgx-h100, nic: {count: 4}, count: 16}\nfabric:")]),
        ("EW-FAB-005", "nic: {rate: 800G}", [("count: 16", "count: 16\n    nic: {rate: 800G}"), ("sn5600", "64x400G")]),
        ("EW-FAB-006", "switch: qm9700",
         [("model: dgx-h100", "nic: {model: connectx-6}\n    gpu: h100\n    gpus: 8"),
          ("switch: sn5600", "switch: qm9700"), ("roce", "infiniband")]),
        ("EW-FAB-007", "pcie: {generation: 4}", [("count: 16", "count: 16\n    pcie: {generation: 4}")]),
        ("EW-FAB-008", "switch: {ports: 64, rate: 400G, pfc: false}",
         [("switch: sn5600", "switch: {ports: 64, rate: 400G, pfc: false}")]),
        ("EW-FAB-010", "transport: tcp", [TCP]),
        ("EW-FAB-011", "kind: firewall", [("jobs:", ROOMS + "jobs:")]),
        ("EW-FAB-012", "rate_limit: 100G", [("jobs:", ROOMS + "jobs:")]),
        ("EW-FAB-013", "parallel: {tp: 16}", [("tp: 8", "tp: 16")]),
        ("EW-FAB-015", "- {name: a, racks: {count: 1}}",
         [("jobs:", "rooms:\n  - {name: a, racks: {count: 1}}\njobs:")]),
        ("EW-FAB-017", "steps: [{name: later, servers: 100000}]",
         [("jobs:", "growth:\n  steps: [{name: later, servers: 100000}]\njobs:")]),
        ("EW-FAB-024", "leaf_spine: {length: 5km, medium: dr}",
         [("jobs:", "cabling:\n  leaf_spine: {length: 5km, medium: dr}\njobs:")]),
        ("EW-WORK-005", "parallel: {tp: 8}", [("llama3-8b", "llama3-405b")]),
        ("EW-WORK-022", "parallel: {tp: 8, pp: 3, dp: 4}",
         [("tp: 8", "tp: 8, pp: 3, dp: 4"), ("count: 16", "count: 12")]),
        ("EW-WORK-023", "parallel: {tp: 3}", [("tp: 8", "tp: 3"), ("count: 16", "count: 6")]),
        ("EW-WORK-030", "global_batch: 32", [("tp: 8", "tp: 1, pp: 8"), ("1024", "32")]),
        ("EW-POL-001", "transport: roce", []),
        ("EW-POL-005", "cnp_dscp: 34", [("jobs:", "qos:\n  inference_dscp: 34\n  separate_inference: true\n"
                                                  "  dscp: 26\n  cnp_dscp: 34\njobs:")]),
        ("EW-POL-006", "priority: 6", [("jobs:", "qos:\n  priority: 6\njobs:")]),
        ("EW-POL-008", "mtu: 9700", [("jobs:", "qos:\n  mtu: 9700\njobs:")]),
        ("EW-POL-014", "mtu: 1500", [("jobs:", "qos:\n  mtu: 1500\njobs:")]),
        ("EW-POL-015", "kmin: 50KB", [("jobs:", "qos:\n  kmin: 50KB\n  kmax: 100KB\njobs:")]),
        ("EW-POL-016", "kmax: 500MB", [("jobs:", "qos:\n  kmax: 500MB\njobs:")]),
        ("EW-POL-017", "watchdog_detect: 4s", [("jobs:", "qos:\n  watchdog_detect: 4s\njobs:")]),
        ("EW-POL-011", "switch: 64x400G", [("sn5600", "64x400G")]),
    ],
)  # fmt: skip
def test_a_finding_about_a_wish_quotes_its_line(code: str, line: str, changes: list[tuple[str, str]]) -> None:
    findings = {finding.code: finding for finding in plan_of(*changes).findings}
    assert code in findings, sorted(findings)
    assert [(row.source, row.text) for row in findings[code].evidence] == [("site.yaml", line)]


def test_a_model_file_that_is_not_there_is_invalid_input_with_its_line() -> None:
    with pytest.raises(InputError) as caught:
        plan_of(("llama3-8b", "missing.json"))
    assert [finding.code for finding in caught.value.findings] == ["EW-WORK-012"]
    assert [row.text for row in caught.value.findings[0].evidence] == ["model: missing.json"]


def test_every_finding_of_a_bad_site_has_evidence() -> None:
    bad = plan_of(TCP, ("jobs:", ROOMS + "jobs:"), ("tp: 8", "tp: 16"), ("llama3-8b", "llama3-405b"))
    assert [(finding.code, finding.path) for finding in bad.findings if not finding.evidence] == []


def test_a_stateless_firewall_is_no_stateful_box() -> None:
    rooms = ROOMS.replace("kind: firewall", "kind: firewall\n        sessions: stateless")
    codes = {finding.code for finding in plan_of(("jobs:", rooms + "jobs:")).findings}
    assert "EW-FAB-011" not in codes
    assert "EW-FAB-012" in codes
