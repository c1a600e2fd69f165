"""The chapter about the prediction: intervals, terms, sensitivities, the picture of slicing; missing parts are said."""

import pytest

import eastwest
from eastwest.plan.document import plan_document as document_of_plan
from eastwest.report.blocks import Figure, Table
from eastwest.report.chapters.prediction import prediction_section, sensitivity_text
from eastwest.report.slicing_figure import slicing_figures
from eastwest.report.wording import words_of
from tests.plan.sites import pretrain_site


@pytest.fixture(scope="module")
def plan():
    made = eastwest.make_plan(eastwest.parse_site(pretrain_site(16, tp=2), "site.yaml"))
    return document_of_plan(made)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_chapter_holds_terms_intervals_and_curves(plan, lang):
    section = prediction_section(plan, words_of(lang))
    tables = {block.key: block for block in section.blocks if isinstance(block, Table)}
    assert {"prediction-table", "exposed-table", "terms-table", "sensitivities-table"} <= set(tables)
    assert "…" in tables["prediction-table"].rows[0][1]
    terms = [float(value) for value in plan["prediction"]["terms_s"].values()]
    assert len(tables["terms-table"].rows) == len(terms)
    figures = [block for block in section.blocks if isinstance(block, Figure)]
    assert [figure.data.rows[0][0] for figure in figures] == ["tp", "pp", "bucket"]


def test_a_picture_of_slicing_marks_what_is_built(plan):
    words = words_of("en")
    figure = slicing_figures("pretrain", plan["prediction"], words)[-1]
    built = [row for row in figure.data.rows if row[-1]]
    assert len(built) == 1
    traces = figure.plotly["data"]
    assert traces[-1]["y"] == [built[0][figure.data.columns.index("exposed_s")]]
    assert "shortest" in figure.alt


def test_a_sensitivity_without_traffic_is_its_change_alone():
    row = {"input": "gemm_efficiency", "change_ratio": 1.1, "delta_s": -0.5, "traffic": "", "exposed_s": None}
    assert sensitivity_text(row, words_of("en")) == "GEMM efficiency +10 % → −500 ms"
    moved = row | {"input": "nic_rate", "traffic": "dp", "exposed_s": 0.42, "half_width_s": 0.05}
    assert sensitivity_text(moved, words_of("en")).startswith("exposed DP traffic 420 ms ± 50 ms; NIC rate")
    assert "DP" in sensitivity_text(moved, words_of("zh"))


def test_a_plan_without_prediction_says_so():
    section = prediction_section({}, words_of("en"))
    assert section.blocks[0].text == "The prediction is not given."
