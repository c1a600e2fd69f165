"""Judging tables of collectives: errors, leave one source out, targets, reasons, the document and its text."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eastwest.plan.validate_collectives import ALL_SIZES_RATIO, validate_collectives
from eastwest.plan.validation.collectives_cases import case_of
from eastwest.plan.validation.collectives_judged import judge_collectives, measured_runs
from eastwest.plan.validation.collectives_table import read_collectives
from eastwest.report.formats.text_collectives import collectives_text
from eastwest.simulate.analytic.collective_time import time_of
from eastwest.simulate.analytic.published_runs import published_runs
from tests.plan.validation.test_collectives_table import ROW

SIZES = [2**k for k in range(12, 34, 3)]


def table(*rows):
    return json.dumps({"rows": list(rows)})


def synthetic(name="synthetic", source="github:ours/synthetic", slower=1.0, **changes):
    """A row whose times are the model's own, times `slower`."""
    row = {**ROW, "id": name, "source": source, **changes, "points": [{"bytes": 1024, "time_us": 1.0}]}
    run = case_of(read_collectives(table(row), "t.yaml")[0]).points[0].run
    seconds = time_of(run, SIZES).time_s * slower
    return {**row, "points": [{"bytes": s, "time_us": float(t * 1e6)} for s, t in zip(SIZES, seconds, strict=True)]}


@pytest.fixture(scope="module")
def document():
    rows = [
        synthetic(),
        synthetic("slow", "github:ours/slow", 1.3),
        {**synthetic("listed", "github:x/y issue 3", 9.0)},
        {"id": "nothing"},
    ]
    return validate_collectives(table(*rows), "t.yaml").as_json()


def row_of(document, name):
    return next(row for row in document["rows"] if row["id"] == name)


def test_a_row_of_the_models_own_times_has_no_error(document):
    row = row_of(document, "synthetic")
    assert row["abs_error_ratio"] == pytest.approx(0, abs=1e-9)
    assert row["loso_abs_error_ratio"] < 0.15
    assert row["naive_abs_error_ratio"] > row["abs_error_ratio"]
    assert row["scored"]


def test_a_slower_system_shows_by_how_much(document):
    row = row_of(document, "slow")
    assert row["abs_error_ratio"] == pytest.approx(1 - 1 / 1.3, abs=1e-9)
    assert all(point["abs_error_ratio"] == pytest.approx(1 - 1 / 1.3) for point in row["points"])


def test_an_unscored_row_is_listed_with_reason_and_counts_nowhere(document):
    row = row_of(document, "listed")
    assert not row["scored"]
    assert "issue tracker" in row["skipped"]
    assert row["abs_error_ratio"] > 0.8
    assert document["summary"]["all"]["scored"] == 2
    assert document["summary"]["all"]["n"] == 4


def test_a_row_with_nothing_in_it_is_skipped(document):
    row = row_of(document, "nothing")
    assert row["points"] == []
    assert row["skipped"]
    assert row["predicted"]["value"] is None


def test_a_missed_target_is_a_warning_and_no_failure():
    rows = [synthetic(f"r{k}", f"github:ours/r{k}", 2.0) for k in range(3)]
    found = validate_collectives(table(*rows), "t.yaml")
    assert found.verdict == "warn"
    assert found.classes["four_or_more_nodes"]["loso_median_abs_error_ratio"] > ALL_SIZES_RATIO
    assert {finding.code for finding in found.findings} == {"EW-VAL-032"}


def test_an_algorithm_that_nccl_has_not_there_is_not_computable():
    row = {**ROW, "gpu": "A100", "nodes": 1, "algorithm": "NVLS"}
    document = validate_collectives(table(row, synthetic()), "t.yaml").as_json()
    assert document["rows"][0]["skipped"]
    assert document["summary"]["all"]["scored"] == 1


def test_nothing_to_judge_is_unknown():
    assert validate_collectives(table({"id": "nothing"}), "t.yaml").verdict == "unknown"


def test_the_error_of_a_row_is_the_median_over_its_points():
    row = synthetic()
    row["points"][0]["time_us"] *= 10
    judged = judge_collectives([case_of(read_collectives(table(row), "t.yaml")[0])])[0]
    errors = np.abs(judged.predicted / judged.measured - 1)
    assert judged.error(judged.predicted) == pytest.approx(np.median(errors))
    assert judged.error(judged.predicted, large=True) == pytest.approx(np.median(errors[np.array(SIZES) >= 2**29]))


def test_a_fit_reads_scored_rows_and_the_packages_own_runs():
    rows = [synthetic(), synthetic("listed", "github:x/y issue 3")]
    runs = measured_runs([case_of(row) for row in read_collectives(table(*rows), "t.yaml")])
    assert [run.id for run in runs if run not in published_runs()] == ["synthetic"]
    assert set(published_runs()) <= set(runs)


def test_left_out_predictions_never_see_their_own_source():
    """Two tables that differ in one source's times alone leave that source's left-out predictions as they are."""
    known = published_runs()[0].source  # the shipped constants saw it, so that it has to be left out of a fit
    other = synthetic("other", "github:ours/other")
    seconds = []
    for slower in (1.0, 1.6):
        text = table(synthetic("mine", known, slower), other)
        document = validate_collectives(text, "t.yaml").as_json()
        seconds.append([point["loso_predicted_s"] for point in row_of(document, "mine")["points"]])
    assert seconds[0] == pytest.approx(seconds[1], rel=1e-12)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_text_holds_every_class_and_reason(document, lang):
    said = collectives_text(document, lang, 100)
    assert "four_or_more_nodes" in said
    assert "synthetic" in said
    assert "{" not in said
    assert said.startswith(document["verdict"].upper())


def test_the_document_is_plain_json(document):
    assert json.loads(json.dumps(document, allow_nan=False))["table"] == "collectives"


values = st.one_of(
    st.integers(-5, 10**13), st.floats(1e-9, 1e12), st.sampled_from(["GB200", "IPoIB", "tree", "RoCE", None])
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(st.sampled_from([*ROW, "nvlink_domain_gpus", "ranks"]), values, max_size=4),
    st.lists(
        st.dictionaries(st.sampled_from(["bytes", "time_us", "busbw_GBps", "gpus"]), values, max_size=3), max_size=4
    ),
)
def test_no_table_breaks_the_judge(changes, points):
    text = table({**ROW, **changes, "points": points}, synthetic())
    document = validate_collectives(text, "t.yaml").as_json()
    json.dumps(document, allow_nan=False)
    assert collectives_text(document, "en", 80)
