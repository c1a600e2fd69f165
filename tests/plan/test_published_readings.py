"""Published rows that may be read in more than one way, that leave a count open, or that contradict themselves."""

import json

import pytest

from eastwest.plan.validate_designs import validate_designs

POD = "gpus: 512, nic_gbps: 400, switch: 64x400G, rail_optimised: true"


def judged(inputs, outputs, family="synthetic"):
    text = f"rows:\n- id: a\n  family: {json.dumps(family)}\n  inputs: {{{inputs}}}\n  outputs: {{{outputs}}}\n"
    return validate_designs(text, "t.yaml").rows[0]


@pytest.mark.parametrize(
    ("family", "inputs", "outputs"),
    [
        ("rail-only", "gpus: 512, nic_gbps: 400, switch: 64x400G, tiers: 1", "leaf: 8, spine: 0, total_switches: 8"),
        ("Rail only", "gpus: 512, nic_gbps: 400, switch: 64x400G", "leaf: 8, spine: 0"),
        ("one tier", "gpus: 512, nic_gbps: 400, switch: 64x400G, tiers: 1, rail_optimised: true", "leaf: 8"),
        (
            "Single switch",
            "gpus: 64, nic_gbps: 400, switch: 64x400G",
            "leaf: 1, total_switches: 1, node_leaf_cables: 64",
        ),
        ("Direct cable", "nodes: 2, gpus_per_node: 8, nics_per_node: 8, nic_gbps: 400", "cables: 8, switches: 0"),
    ],
)
def test_one_tier_and_none(family, inputs, outputs):
    """64 ports, all down: 64 servers on 8 rails, or 64 NICs on one switch; two servers of 8 NICs share 8 cables."""
    assert judged(inputs, outputs, family).status == "match"


def test_more_than_one_tier_holds_says_so_in_the_singular():
    """Every leaf's 64 ports face servers: 64 servers of 8 GPUs are 512."""
    row = judged("gpus: 2048, nic_gbps: 400, switch: 64x400G, tiers: 1", "leaf: 32", "rail-only")
    assert "1 tier of 64 ports holds 512 GPUs, so 2 tiers" in row.counts[0].because


@pytest.mark.parametrize("cables", [512, 1024])
def test_cables_count_at_the_rate_of_the_nics_or_of_the_ports(cables):
    """1,024 NICs of 400G on 64x800G at 1:1: 409.6T up are 1,024 cables of 400G, or 512 of 800G."""
    inputs = "gpus: 1024, nic_gbps: 400, switch: 64x800G, tiers: 2, rail_optimised: true, oversubscription: '1:1'"
    assert judged(inputs, f"leaf_spine_cables: {cables}").status == "match"
    assert judged(inputs, f"leaf_spine_cables: {cables + 1}").status == "mismatch"


@pytest.mark.parametrize("cables", [512, 1024])
def test_a_nic_of_two_ports_is_one_cable_or_two(cables):
    inputs = "nodes: 64, nics_per_node: 8, nic_ports: 2x200G, switch: 51.2T, dual_tor: true"
    assert judged(inputs, f"node_leaf_cables: {cables}").status == "match"


def test_a_count_that_rests_on_an_assumed_switch_is_open():
    row = judged("gpus: 24576, gpus_per_rack: 16, nic_gbps: 400", "tor: 1536, racks: 1536")
    assert {count.name: count.match for count in row.counts} == {"tor": None, "racks": True}


@pytest.mark.parametrize(("leaves", "spines"), [(25, 16), (20, 10)])
def test_without_rails_leaves_take_whole_servers_or_single_nics(leaves, spines):
    """Half of 40 ports are two servers of 8 NICs, or 20 NICs."""
    inputs = "gpus: 400, rail_optimised: false, switch: 40x200G, nic_gbps: 200, oversubscription: '1:1'"
    assert judged(inputs, f"leaf: {leaves}, spine: {spines}").status == "match"


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        (f"{POD}, nodes: 64, gpus_per_node: 16", "64 nodes x 16 gpus_per_node = 1024, gpus = 512"),
        (f"{POD}, nodes: 60", "gpus = 512, nodes = 60"),
        (f"{POD}, radix: 48", "radix = 48, switch = 64x400G: 64"),
        (f"{POD}, tiers: 4", "tiers = 4 (1 to 3)"),
        (f"{POD}, oversubscription: '0:1'", "oversubscription = 0:1"),
        (f"{POD}, nodes: -64", "nodes = -64"),
        (f"{POD}, nics_per_node: 8.5", "nics_per_node = 8.5"),
    ],
)
def test_inputs_that_contradict_each_other_are_refused(inputs, reason):
    row = judged(inputs, "leaf: 16, spine: 8")
    assert row.status == "skipped"
    assert row.findings[0].code == "EW-CHK-025"
    assert reason in row.findings[0].sentence()


@pytest.mark.parametrize("radix", [64, 128])
def test_a_radix_may_be_that_of_broken_out_ports(radix):
    assert judged(f"gpus: 512, nic_gbps: 400, switch: 64x800G, radix: {radix}, tiers: 2", "leaf: 8").skipped is None


@pytest.mark.parametrize(("printed", "status"), [("-16", "mismatch"), ("8.5", "mismatch"), ("sixteen", "match")])
def test_printed_values_are_never_dropped(printed, status):
    assert judged(POD, f"leaf: {printed}, spine: 8").status == status


def test_a_printed_word_that_is_no_count_is_said():
    row = judged(POD, "leaf: many, spine: 8")
    assert [finding.code for finding in row.findings] == ["EW-CHK-026"]
    assert row.findings[0].evidence[0].line == 5
