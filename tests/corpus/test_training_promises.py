"""The shared table of training runs: what the product promises of predictions without the row's own source holds."""

from pathlib import Path

import pytest

from eastwest.plan.validate_training import validate_training
from eastwest.plan.validation.leave_one_out import Rule

TABLE = Path(__file__).resolve().parents[3] / "shared" / "data" / "validation" / "training.yaml"


@pytest.fixture(scope="module")
def validated():
    if not TABLE.exists():
        pytest.skip("the shared validation data is not beside the project")
    return validate_training(TABLE.read_text(encoding="utf-8"), "training.yaml")


def test_no_promise_is_missed(validated):
    assert [finding.sentence() for finding in validated.findings if finding.severity == "warning"] == []


def test_every_source_is_predicted_by_constants_that_never_saw_it(validated):
    """The shipped constants were fitted on this table, so each source has its own set without it."""
    assert set(validated.judged.rules.values()) == {Rule.stored}


def test_every_part_of_the_model_is_worth_something(validated):
    whole, *others = validated.ablations
    assert [row["without"] for row in others if not row["worsens"]] == []
    attention = next(row for row in others if row["without"] == "attention")
    assert attention["p90_abs_error_ratio"] == max(row["p90_abs_error_ratio"] for row in others)  # the worst to lose
    assert attention["p90_abs_error_ratio"] > whole["p90_abs_error_ratio"]


def test_mixtures_are_predicted_better_than_by_constant_hfu(validated):
    """Both without the row's source; constant HFU fitted on the very rows that it predicts is as good (16 %)."""
    mixtures = validated.families["moe"]
    assert mixtures["loso_median_abs_error_ratio"] < mixtures["naive_loso_median_abs_error_ratio"]
    assert mixtures["loso_p90_abs_error_ratio"] < mixtures["naive_p90_abs_error_ratio"]
