"""The step model on the published training runs: errors by family without each row's source, ablations, intervals.

Limits are those that the product promises (issue "Prediction that can be trusted"); the constants without each source
are the shipped ones, and `test_one_call_makes_the_shipped_constants_again` fits them anew.
"""

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from eastwest.plan.calibrate import calibrate
from eastwest.plan.calibration.tables import measurements_of
from eastwest.plan.validation.cases import cases_of
from eastwest.plan.validation.families import TARGETS
from eastwest.plan.validation.ranking import rank, tables_of
from eastwest.plan.validation.training_table import read_rows
from eastwest.simulate.analytic.step import ABLATIONS, step_seconds
from eastwest.simulate.analytic.step_constants_file import shipped_constants, shipped_without
from eastwest.simulate.analytic.step_explain import explain

TABLE = Path(__file__).resolve().parents[3] / "shared" / "data" / "validation" / "training.yaml"
COVERAGE = (0.70, 0.90)
WRITTEN_DIGITS = 1e-3  # shipped values are rounded to five digits, and a fit ends near its minimum

pytestmark = pytest.mark.skipif(not TABLE.exists(), reason="the shared validation data is not beside the project")


@pytest.fixture(scope="module")
def cases():
    found = cases_of(read_rows(TABLE.read_text(encoding="utf-8"), "training.yaml"))
    return [case for case in found if case.run and case.measured and case.skip is None and not case.is_suspect]


@pytest.fixture(scope="module")
def measured(cases):
    return np.array([case.measured.seconds for case in cases])


@pytest.fixture(scope="module")
def left_out(cases):
    """Seconds of every row with the constants fitted without its source."""
    seconds = np.empty(len(cases))
    for source, constants in shipped_without().items():
        rows = [index for index, case in enumerate(cases) if case.source == source]
        seconds[rows] = step_seconds([cases[index].run for index in rows], constants)
    return seconds


def _by_family(cases, ratios):
    found = defaultdict(list)
    for case, ratio in zip(cases, ratios, strict=True):
        found[case.family].append(ratio)
    return {family: np.array(values) for family, values in found.items()}


@pytest.mark.parametrize("family", TARGETS)
def test_errors_without_the_rows_source_are_within_the_promise(cases, measured, left_out, family):
    errors = _by_family(cases, np.abs(left_out / measured - 1))[family]
    assert np.median(errors) <= TARGETS[family].median_ratio
    assert np.percentile(errors, 90) <= TARGETS[family].p90_ratio


def test_layouts_are_ranked(cases, measured, left_out):
    found = rank(tables_of(cases), left_out, measured)
    assert found.pairs_right / found.pairs >= 0.85
    assert np.mean([value <= 0.05 for value in found.regrets]) >= 0.80


@pytest.mark.parametrize("term", ABLATIONS)
def test_each_term_is_worth_having(cases, measured, term):
    runs = [case.run for case in cases]
    figures = []
    for without in ((), (term,)):
        seconds = step_seconds(runs, shipped_constants(), without)
        order = rank(tables_of(cases), seconds, measured)
        figures.append((np.percentile(np.abs(seconds / measured - 1), 90), order.pairs_right))
    (p90, pairs), (worse_p90, fewer_pairs) = figures
    assert worse_p90 > p90
    assert fewer_pairs < pairs


def test_intervals_hold_about_four_fifths_of_the_rows_of_other_sources(cases, measured, left_out):
    shipped = shipped_constants()
    inside = []
    for case, seconds, truth in zip(cases, left_out, measured, strict=True):
        step = explain(case.run, shipped)
        inside.append(step.low_s / step.step_s <= truth / seconds <= step.high_s / step.step_s)
    assert COVERAGE[0] <= np.mean(inside) <= COVERAGE[1]


def test_every_row_of_the_fit_is_a_row_that_can_be_judged(cases):
    assert set(shipped_constants().rows) == {case.run.id for case in cases}
    assert set(shipped_constants().sources) == {case.source for case in cases}


@pytest.mark.slow
def test_one_call_makes_the_shipped_constants_again(cases):
    found = measurements_of(cases)
    again, shipped = calibrate(found.runs, found.seconds).constants, shipped_constants()
    for name, value in again.values.items():
        assert shipped.value(name) == pytest.approx(value, rel=WRITTEN_DIGITS), name
