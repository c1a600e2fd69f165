"""The shared tables of collectives and effects: promised errors without a row's own source, reasons, directions."""

from pathlib import Path

import pytest

from eastwest.plan.validate_collectives import PROMISED, validate_collectives
from eastwest.plan.validate_effects import validate_effects

VALIDATION = Path(__file__).resolve().parents[3] / "shared" / "data" / "validation"
COLLECTIVES, EFFECTS = VALIDATION / "collectives.yaml", VALIDATION / "effects.yaml"
MOST_JUDGED_WRONG = 0  # effects whose direction a closed form gets wrong

pytestmark = pytest.mark.skipif(not COLLECTIVES.exists(), reason="the shared validation data is not beside the project")


@pytest.fixture(scope="module")
def document():
    return validate_collectives(COLLECTIVES.read_text(encoding="utf-8"), "collectives.yaml").as_json()


@pytest.mark.parametrize(
    "family", ["all", "one_node", "two_nodes", "four_or_more_nodes", "one_nvl72_set", "p2p", "perftest"]
)
def test_time_of_all_sizes_is_within_ten_percent_without_the_source(document, family):
    assert document["summary"][family]["loso_median_abs_error_ratio"] <= 0.10


@pytest.mark.parametrize("family", PROMISED)
def test_large_sizes_are_within_eight_percent_without_the_source(document, family):
    assert document["summary"][family]["loso_large_median_abs_error_ratio"] <= 0.08


def test_points_of_all_rows_pooled_are_within_ten_percent(document):
    assert document["summary"]["all"]["loso_pooled_median_abs_error_ratio"] <= 0.10


def test_the_model_beats_the_wire_rate_in_every_class(document):
    for name, figures in document["summary"].items():
        if figures["scored"]:
            assert figures["median_abs_error_ratio"] < figures["naive_median_abs_error_ratio"], name


def test_intervals_hold_what_they_promise(document):
    held = document["intervals"]
    assert 0.70 <= held["coverage_ratio"] <= 0.90
    assert 0.70 <= held["point_coverage_ratio"] <= 0.90


def test_listed_rows_are_the_right_ones(document):
    rows = {row["id"]: row for row in document["rows"]}
    assert all(
        not row["scored"] for name, row in rows.items() if name.startswith(("simai-", "nccl-", "ncclt-", "gist-"))
    )
    assert not rows["mleng-4n-unspecified-ar"]["scored"]
    assert rows["coreweave-h100-8n-sharp-ar"]["suspect"]
    assert all(row["scored"] or row["skipped"] for row in rows.values())
    scored = [row for row in rows.values() if row["scored"]]
    assert len(scored) >= 40
    assert sum(len(row["points"]) for row in scored) >= 240


def test_unhealthy_systems_stand_out(document):
    rows = {row["id"]: row for row in document["rows"]}
    assert rows["nccl-2409-ar"]["abs_error_ratio"] > 0.4  # 216 of 470 GB/s: something is broken there


def test_no_published_effect_points_the_other_way():
    found = validate_effects(EFFECTS.read_text(encoding="utf-8"), "effects.yaml")
    total = found.summary()["all"]
    assert total["mismatch"] <= MOST_JUDGED_WRONG
    assert total["match"] >= 24
    assert total["judged"] >= 28


def test_effects_are_skipped_for_a_reason_each():
    document = validate_effects(EFFECTS.read_text(encoding="utf-8"), "effects.yaml").as_json()
    rows = {row["id"]: row for row in document["rows"]}
    assert "packet engine" in rows["hpcc-fct"]["skipped"]
    assert "flow engine" in rows["strack"]["skipped"]
    assert "condition is not given" in rows["wan-km-gbn"]["skipped"]
    assert all(row["skipped"] for row in rows.values() if row["status"] == "skipped")
