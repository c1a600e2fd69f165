"""The shared table of published designs: every row gets the right treatment, every printed count singly."""

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from eastwest.plan.check import check_text
from eastwest.plan.validate_designs import validate_designs

DESIGNS = Path(__file__).resolve().parents[3] / "shared" / "data" / "validation" / "designs.yaml"
MOST_SKIPPED = 0.2  # share of rows whose inputs determine no count
NO_COUNTS = {"xai-colossus", "railonly-cost"}  # print percentages only
SKIPPED = NO_COUNTS | {"tencent-xingmai-1", "juniper-min-spines"}  # no switch, a rule of thumb
EXPLAINED = {  # id: (name, what is right); the row's own warning says that the printed number is wrong
    "gpusheet-512": ("total_switches", 24),
    "juniper-jvd-scale-2048-8192": ("leaf_as_printed", 128),
    "juniper-jvd-scale-8192-32768": ("leaf_as_printed", 512),
}

pytestmark = pytest.mark.skipif(not DESIGNS.exists(), reason="the shared validation data is not beside the project")


@pytest.fixture(scope="module")
def validated():
    return validate_designs(DESIGNS.read_text(encoding="utf-8"), "designs.yaml")


@pytest.fixture(scope="module")
def judged(validated):
    return {row.row.id: row for row in validated.rows}


def test_no_row_without_a_warning_differs(validated):
    assert [row.row.id for row in validated.rows if row.status == "mismatch"] == []
    assert validated.verdict == "pass"


def test_rows_that_determine_no_count_are_few_and_the_right_ones(validated):
    skipped = {row.row.id for row in validated.rows if row.skipped}
    assert skipped <= SKIPPED
    assert len(skipped) <= MOST_SKIPPED * len(validated.rows)


def test_every_printed_number_is_compared_singly(validated):
    rows = YAML(typ="safe").load(DESIGNS.read_text(encoding="utf-8"))["rows"]
    by_id = {row.row.id: row for row in validated.rows}
    for row in rows:
        counts = {count.name: count for count in by_id[row["id"]].counts}
        numbers = {
            key for key, value in row["outputs"].items() if isinstance(value, int) and not isinstance(value, bool)
        }
        if row["id"] in NO_COUNTS:
            continue
        assert numbers <= set(counts), row["id"]
        if row["id"] not in SKIPPED:
            assert [name for name in numbers if counts[name].match is None] == [], row["id"]


@pytest.mark.parametrize("name", sorted(EXPLAINED))
def test_a_warned_row_says_which_number_is_right(judged, name):
    row = judged[name]
    count_name, right = EXPLAINED[name]
    count = next(count for count in row.counts if count.name == count_name)
    assert (row.status, count.match, count.predicted) == ("explained", False, right)
    assert str(right) in row.explanation("en")


def test_printed_spines_that_are_more_than_needed_are_explained(judged):
    row = judged["superpod-b300-xdr-8su"]
    assert row.status == "match"
    assert "32 spines suffice by ports" in row.explanation("en")


@pytest.mark.parametrize(
    ("name", "count", "predicted"),
    [
        ("superpod-a100-1su", "spine", 5),
        ("superpod-b200-64su", "core", 256),
        ("superpod-b300-eth-8su", "leaf_spine_cables", 4096),
        ("h100-4096-3tier", "per_pod.core_share", 16),
        ("h100-4096-3tier", "two_tier_limit_nodes", 256),
        ("megascale-fabric", "max_gpus", "<=131072"),
        ("alibaba-hpn7-segment", "tor_up_ports", "<=64x400G"),
        ("alibaba-hpn7-segment", "tier1_oversubscription", "1.067:1"),
        ("azure-gb300", "racks", 64),
        ("juniper-jvd-800g", "oversubscription_4_servers_per_stripe", "1:4"),
        ("juniper-jvd-200g", "total_leaf_spine_bandwidth", "12.8T"),
        ("lossless-1024", "spine", 8),
        ("arista-multiplane-4096", "switches_option_b", 8),
        ("cisco-amd-mi300x-128", "leaf_4x2", 4),
        ("clos-max-radix-40", "max_endpoints_3tier", 16000),
    ],
)
def test_predicted_counts_of_every_kind(judged, name, count, predicted):
    found = next(row for row in judged[name].counts if row.name == count)
    assert (found.predicted, found.match) == (predicted, True)


def test_check_fails_the_table_for_the_one_design_that_has_too_little():
    checked = check_text(DESIGNS.read_text(encoding="utf-8"), "designs.yaml")
    errors = {finding.subject for finding in checked.findings if finding.severity == "error"}
    assert checked.verdict == "fail"
    assert errors == {"gpusheet-512"}
