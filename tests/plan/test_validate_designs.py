"""Designs of our own making in the shape of published tables: every count, every spelling, every broken table."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from eastwest.cli.main import app
from eastwest.errors import InputError
from eastwest.plan.designs.prediction import Prediction, agrees
from eastwest.plan.designs.written import port_groups, rate_of, ratio_of, whole_of
from eastwest.plan.validate_designs import validate_designs

POD = "gpus: 512, gpus_per_node: 8, nics_per_node: 8, nic_gbps: 400, switch: 64x400G, tiers: 2, oversubscription: '1:1'"


def table(inputs, outputs, **more):
    extra = "".join(f"\n  {key}: {json.dumps(value)}" for key, value in more.items())
    return f"rows:\n- id: a\n  family: synthetic\n  inputs: {{{inputs}}}\n  outputs: {{{outputs}}}{extra}\n"


def only(text):
    return validate_designs(text, "t.yaml").rows[0]


def predicted(inputs, name, printed="1", **more):
    return next(
        count.predicted for count in only(table(inputs, f"{name}: {printed}", **more)).counts if count.name == name
    )


# two tiers, 1:1: a leaf of 64 ports takes 32 NICs, so n NICs take n/32 leaves and n/64 spines
@pytest.mark.parametrize(
    ("inputs", "leaves", "spines"),
    [
        ("gpus: 512, nic_gbps: 400, radix: 64, oversubscription: '1:1'", 16, 8),
        ("servers: 64, gpus_per_server: 8, nic_rate: 400G, switch_ports: 64, oversub: 1", 16, 8),
        ("nodes: '64', gpus: '512', nic_gbps: 400, switch: 'QM9700 NDR', oversubscription: non-blocking", 16, 8),
        ("gpus: '1,024', nics_per_node: 8, nic_gbps: 400, switch: 64-port 400G InfiniBand", 32, 16),
        ("gpus: 128-256, nic_gbps: 400, switch: 64x400G, oversubscription: '1:1 (32 down / 32 up)'", 8, 4),
        ("gpus: 512, nic_gbps: 400, switch: 64x400G, unknown_key: [1, {a: b}], rail_optimized: false", 16, 8),
        ("scalable_units: 2, nodes_per_su: 32, nic_gbps: 400, switch: 64x400G, rail_optimised: true", 16, 8),
        ("gpus: 1024, nic_gbps: 400, oversubscription: '2:1', tiers: 2", 32, 8),
    ],
)
def test_leaves_and_spines_in_many_spellings(inputs, leaves, spines):
    row = only(table(inputs, f"leaf: {leaves}, spine: {spines}"))
    assert [(count.predicted, count.match) for count in row.counts] == [(leaves, True), (spines, True)]


def test_every_count_is_compared_singly():
    row = only(table(POD, "leaf: 16, spine: 9, total_switches: 25"))
    assert {count.name: count.match for count in row.counts} == {"leaf": True, "spine": False, "total_switches": False}
    assert row.status == "mismatch"
    assert row.findings[0].severity == "warning"
    assert row.findings[0].evidence[0].line == 5


def test_a_warned_row_is_explained_with_the_right_number():
    row = only(table(POD, "total_switches: 12", warning="the sheet prints half"))
    assert row.status == "explained"
    assert row.explanation("en").startswith(
        "a: total_switches is printed as 12; 24 is right: 16 leaves + 8 spines + 0 cores"
        " (the row itself warns: the sheet prints half)."
    )


def test_more_than_two_tiers_hold_needs_a_third():
    """Two tiers of radix k end at k^2/2 NICs: 4,096 GPUs on 64 ports need 128 + 128 + 64 switches."""
    row = only(table("gpus: 4096, nic_gbps: 400, switch: 64x400G", "total_switches: 192", warning="two tiers"))
    assert row.counts[0].predicted == 320
    assert "2 tiers of 64 ports hold 2048 GPUs, so 3 tiers" in row.counts[0].because


@pytest.mark.parametrize("radix", [8, 20, 36, 48, 96])
def test_the_most_that_tiers_hold_is_the_closed_form(radix):
    row = only(table(f"radix: {radix}", f"max_endpoints_2tier: {radix**2 // 2}, max_endpoints_3tier: {radix**3 // 4}"))
    assert row.status == "match"


def test_equal_units_bring_equal_spines():
    """Radix 40: four units of 20 servers need 20 spines (20 uplinks spread evenly), so one unit brings 5, not 4."""
    unit = "scalable_units: {n}, nodes_per_su: 20, nic_gbps: 200, switch: 40x200G, tiers: 2, rail_optimised: true"
    assert [predicted(unit.format(n=n), "spine") for n in (1, 2, 4)] == [5, 10, 20]


def test_units_in_three_tiers_have_spines_for_each_rail():
    """Seven units of 20 servers, radix 40: 8 rails x 7 leaves; 20 uplinks over 10 spines a rail; 1,120 / 40 cores."""
    inputs = "scalable_units: 7, nodes: 140, nodes_per_su: 20, nic_gbps: 200, switch: 40x200G, tiers: 3"
    row = only(table(inputs, "leaf: 56, spine: 80, core: 28, node_leaf_cables: 1120"))
    assert row.status == "match"


def test_spines_of_a_rail_may_reach_the_cores_in_turns():
    """Seven units of 20 servers on 40 ports: 7 leaves x 20 uplinks a rail, 10 spines a rail (14 down, 14 up)."""
    inputs = "scalable_units: 7, nodes_per_su: 20, nodes: 140, nic_gbps: 200, switch: 40x200G, rail_optimised: true"
    row = only(table(inputs, "leaf: 56, spine: 80, core: 28"))
    assert [(count.predicted, count.match) for count in row.counts] == [(56, True), (80, True), (28, True)]
    assert only(table(inputs, "spine: 70")).status == "mismatch"


def test_what_three_tiers_cannot_hold_proves_nothing():
    """Three tiers of 64 ports end at 65,536: no count of a larger design was ever right."""
    inputs = "gpus: 131072, nic_gbps: 400, switch: 64x400G, tiers: 3, oversubscription: '1:1'"
    row = only(table(inputs, "leaf: 4096, core: 2048"))
    assert row.status == "skipped"
    assert only(table(inputs.replace("131072", "65536"), "leaf: 2048, spine: 2048, core: 1024")).status == "match"


@pytest.mark.parametrize(("gpus", "status"), [(32, "match"), (64, "match"), (128, "mismatch")])
def test_one_switch_may_be_meant_where_it_has_a_port_for_every_nic(gpus, status):
    assert only(table(f"gpus: {gpus}, nic_gbps: 400, switch: 64x400G", "total_switches: 1")).status == status


def test_planes_and_cables_of_split_nics():
    """Two planes of 400G on 64x800G: 16 leaves and 8 spines for 512 NICs; a cable is one NIC, 800G."""
    inputs = (
        "nodes: 64, gpus_per_node: 8, nics_per_node: 8, nic_gbps: 800, planes: 2, switch: 64x800G, nodes_per_su: 64"
    )
    row = only(table(inputs, "leaf: 16, spine: 8, node_leaf_cables: 512, leaf_spine_cables: 512, leaf_per_plane: 8"))
    assert row.status == "match"


def test_dual_tor_leaf_ports_and_ratio():
    inputs = "nodes: 128, nics_per_node: 8, nic_ports: 2x200G, switch: 51.2T single chip, dual_tor: true"
    row = only(
        table(inputs, "tor: 16, tor_down_ports: 128x200G, tor_up_ports: 60x400G, tier1_oversubscription: '1.067:1'")
    )
    assert row.status == "match"
    too_many = only(table(inputs, "tor_up_ports: 70x400G"))
    assert too_many.counts[0].match is False


@pytest.mark.parametrize(
    ("inputs", "name", "value"),
    [
        ("gpus: 24576, gpus_per_rack: 16", "racks", 1536),
        ("racks_per_su: 8, gpus_per_rack: 72", "gpus_per_su", 576),
        ("pods: 8, racks_per_pod: 192, gpus_per_rack: 16", "gpus_per_pod", 3072),
        ("segments: 15, gpus_per_segment: 1024", "gpus", 15360),
        ("gpus: 4608, gpu: GB300 NVL72", "racks", 64),
    ],
)
def test_groups_of_groups(inputs, name, value):
    assert predicted(inputs, name, str(value)) == value


def test_stripes_find_the_one_nic_rate_that_fits_their_ratios():
    """8 leaves x 4 spines x 400G: 1.6T up; 4 servers of 200G are 0.8T down, 8 are 1.6T."""
    stripes = "stripes: 2, leaf_per_stripe: 8, spines: 4, uplink_gbps: 400"
    name = "oversubscription_{n}_servers_per_stripe"
    four, eight = (name.format(n=n) for n in (4, 8))
    row = only(table(stripes, f"leaf: 16, spine: 4, {four}: '1:2 (under-subscribed)', {eight}: '1:1'"))
    assert row.status == "match"
    alone = only(table(stripes, f"leaf: 16, {four}: '1:2'"))
    assert next(count for count in alone.counts if count.name == four).match is None


@pytest.mark.parametrize(
    ("inputs", "outputs", "reason"),
    [
        (POD, "throughput_pct: 95", "the row prints no count of switches, ports, cables or capacity"),
        ("rule: of thumb", "racks: 4", "the row gives no number of GPUs, servers or ports"),
        ("gpus: 512, switch: model X", "leaf: 4", "the row gives no switch whose ports are known"),
        ("rule: resilience", "min_spines: 4", "the inputs leave the printed counts open"),
        (
            "gpus: 9999999, nic_gbps: 400, switch: 64x400G",
            "leaf: 4",
            "the design is larger than what the fabric builder lays out",
        ),
    ],
)
def test_rows_that_cannot_be_judged_say_why(inputs, outputs, reason):
    row = only(table(inputs, outputs))
    assert row.status == "skipped"
    assert row.skipped.sentence("en").startswith(reason)


@pytest.mark.parametrize(
    ("value", "printed", "kind", "verdict"),
    [
        (24, 24, "count", True),
        (24, 8, "count", False),
        (131072, ">10000", "count", True),
        (5000, ">10000", "count", False),
        (24, "many", "count", None),
        (0, 0, "count", True),
        (0.25, "1:4 (under-subscribed)", "ratio", True),
        (16 / 15, "1.067:1", "ratio", True),
        (2.0, "1:1", "ratio", False),
        (12.8e12, "12.8T", "rate", True),
    ],
)
def test_a_printed_value_agrees_or_not(value, printed, kind, verdict):
    assert agrees(Prediction(value, "", kind), printed) is verdict


@pytest.mark.parametrize("value", [None, True, "", "as in sheet", -4, 0, 1e99, float("inf"), 10**30, [], {}, "1" * 500])
def test_what_is_no_number_is_none(value):
    assert whole_of(value) is None


def test_ranges_and_rates():
    assert whole_of("8192-32768") == 32768
    assert rate_of("200") == rate_of("200G") == 200_000_000_000
    assert ratio_of("1:0") is None
    assert port_groups("0x400G 64 x 400 Gb/s") == [(64, 400_000_000_000)]


BROKEN = [
    ("", "t.yaml: the file holds nothing: expected a design, a table of parts, or rows"),
    ("- id: a\n", "t.yaml:1: the text is not made of keys with values: expected `rows:` with a list of rows below it"),
    ("designs: []\n", "t.yaml:1: rows is null: expected a list of rows, each with id, inputs and outputs"),
    ("rows: 5\n", "t.yaml:1: rows is 5: expected a list of rows, each with id, inputs and outputs"),
    ("meta: x\nrows: []\n", "t.yaml:2: rows is []: expected a list of rows, each with id, inputs and outputs"),
    ("rows:\n- 3\n", "t.yaml:2: row 1 is 3: expected keys id, inputs and outputs"),
    (
        "rows:\n- id: a\n  outputs: {leaf: 1}\n",
        "t.yaml:2: inputs of row 1 is null: expected a mapping such as {gpus: 512, switch: 64x400G}",
    ),
    (
        "rows:\n- id: a\n  inputs: {gpus: 8}\n  outputs: [1]\n",
        "t.yaml:4: outputs of row 1 is [1]: expected the printed counts such as {leaf: 16, spine: 8}",
    ),
    ("rows:\n- id: a\n  id: b\n", "t.yaml:3: rows[0].id: the key id is given a second time; the first is in line 2"),
    ("rows: [a\n", "t.yaml:1: a bracket or a quote is not closed before the text goes on"),
    ("rows: !x []\n", "t.yaml:1: the tag !x is not allowed: a table holds plain values only"),
    ("rows: []\n---\nrows: []\n", "t.yaml:2: a second YAML document begins here (---): expected one table in a file"),
    ("rows:\n\t- a\n", "t.yaml:2: a tab stands where YAML wants blanks: expected indentation with blanks only"),
    ("rows: " + "[" * 40 + "\n", "t.yaml:1: more than 20 levels inside each other: a table of designs has about 5"),
    ("rows: *x\n", "t.yaml:1: the alias has no anchor before it (*x)"),
    ("rows: \x01\n", "t.yaml:1: U+0001 is no character of a text file: expected UTF-8"),
]


@pytest.mark.parametrize(("text", "sentence"), BROKEN, ids=range(len(BROKEN)))
def test_a_broken_table_is_refused_with_its_line(text, sentence):
    with pytest.raises(InputError) as caught:
        validate_designs(text, "t.yaml")
    assert caught.value.findings[0].sentence().startswith(sentence)
    assert caught.value.findings[0].sentence("zh")


def test_all_wrong_rows_are_named_at_once():
    with pytest.raises(InputError) as caught:
        validate_designs("rows:\n- 1\n- id: b\n- {inputs: {}, outputs: {}}\n", "t.yaml")
    assert [finding.code for finding in caught.value.findings] == ["EW-CHK-006", "EW-CHK-007", "EW-CHK-008"]


def test_the_verb_prints_one_document(tmp_path):
    path = tmp_path / "t.yaml"
    path.write_text(table(POD, "leaf: 17, cost_usd: 3"))
    result = CliRunner().invoke(app, ["validate", "designs", str(path), "--json"])
    document = json.loads(result.stdout)
    assert result.exit_code == 0  # it could judge; what differs is said in the document
    assert (document["schema"], document["verdict"]) == ("eastwest.validate/1", "warn")
    row = document["rows"][0]
    assert {"id", "match", "counts", "explanation", "skipped"} <= set(row)
    assert (row["match"], row["skipped"]) == (False, None)
    assert row["counts"][0].items() >= {"name": "leaf", "predicted": 16, "published": 17, "match": False}.items()
    assert document["summary"]["all"]["n"] == document["summary"]["synthetic"]["judged"] == 1
    text = CliRunner().invoke(app, ["validate", "designs", str(path)]).stdout
    assert text.startswith("WARN: 1 rows: 0 match, 0 differ with a reason, 1 differ, 0 skipped")
    assert "leaf 17 != 16" in text
    assert "不符" in CliRunner().invoke(app, ["validate", "designs", str(path), "--lang", "zh"]).stdout


def test_nothing_judged_is_unknown_and_another_table_is_refused(tmp_path):
    path = tmp_path / "t.yaml"
    path.write_text(table("rule: x", "min_spines: 4"))
    assert CliRunner().invoke(app, ["validate", "designs", str(path)]).exit_code == 3
    refused = CliRunner().invoke(app, ["validate", "weather", str(path)])
    assert refused.exit_code == 2
    assert "'designs'" in refused.stderr
    assert CliRunner().invoke(app, ["validate", "designs", str(tmp_path / "none.yaml")]).exit_code == 2


KEYS = st.sampled_from(
    [
        "gpus",
        "nodes",
        "gpus_per_node",
        "nics_per_node",
        "nic_gbps",
        "switch",
        "radix",
        "tiers",
        "oversubscription",
        "rail_optimised",
        "nodes_per_su",
        "nodes_per_pod",
        "planes",
        "dual_tor",
        "nic_ports",
        "stripes",
        "leaf_per_stripe",
        "spines",
        "uplink_gbps",
        "ports",
        "option_a",
        "option_b",
        "topologies",
        "scalable_units",
        "racks",
        "gpus_per_rack",
        "plane_by",
        "segments",
        "leaf",
        "spine_model",
        "weird",
    ]
)
OUTPUTS = st.sampled_from(
    [
        "leaf",
        "spine",
        "core",
        "total_switches",
        "per_pod",
        "max_gpus",
        "max_endpoints_3tier",
        "tor_up_ports",
        "oversubscription",
        "racks",
        "gpus_per_su",
        "leaf_2x2",
        "switches_option_b",
        "two_tier_limit_nodes",
        "oversubscription_4_servers_per_stripe",
        "leaf_spine_cables",
    ]
)
VALUES = st.one_of(
    st.integers(-5, 70000),
    st.sampled_from([10**9, 10**40, 0, 1, 64, 0.5, 1e308, True, None, [], {}, [1], {"leaf": 4}]),
    st.sampled_from(
        ["64x400G", "0x0G", "1:1", "0:1", "2x200G", "512-port", "8 planes, NIC split to 0x1G", "QM9700", "x"]
    ),
    st.sampled_from(["2-tier Clos of 99999999999-port switches", "1-2", "9" * 400, "51.2T", "２", "-4", "1e5", "nan"]),
    st.text(max_size=12),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    inputs=st.dictionaries(KEYS, VALUES, max_size=9), outputs=st.dictionaries(OUTPUTS, VALUES, min_size=1, max_size=5)
)
def test_any_row_is_judged_or_skipped(inputs, outputs):
    text = json.dumps({"rows": [{"id": "f", "family": "fuzz", "inputs": inputs, "outputs": outputs}]})
    try:
        document = validate_designs(text, "f").as_json("zh")
    except InputError:  # such as a control character in a text
        return
    assert document["rows"][0]["skipped"] or document["rows"][0]["counts"]
