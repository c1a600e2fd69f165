"""The page of a judged table: totals, both charts with their data, every row; and hostile names that cannot act."""

from xml.etree import ElementTree

import pytest

from eastwest.plan.validate_collectives import validate_collectives
from eastwest.plan.validate_training import validate_training
from eastwest.report.formats.html import page_of
from eastwest.report.measured_charts import Measured, residuals, scatter, short_source
from eastwest.report.validation_page import measured_points, validation_document
from eastwest.report.wording import words_of
from tests.accept.test_calibrate import table

COLLECTIVES = """rows:
- id: <script>alert(1)</script>
  collective: all_reduce
  gpu: H100
  ranks: 8
  nodes: 1
  source: ours
  points: [{bytes: 1048576, time_us: 60}, {bytes: 1073741824, time_us: 4500}]
- {id: no points, collective: all_reduce, gpu: H100, ranks: 8, nodes: 1, source: ours}
"""


@pytest.fixture(scope="module")
def collectives():
    return validate_collectives(COLLECTIVES, "own.yaml").as_json("en")


def test_every_point_of_a_scored_row_is_drawn(collectives):
    points = measured_points(collectives)
    assert [point.measured_s for point in points] == pytest.approx([60e-6, 4500e-6])
    figure = validation_document(collectives, "own.yaml", "en").figures[0]
    assert len(figure.data.rows) == 2
    assert ElementTree.fromstring(figure.svg).tag.endswith("svg")


def test_the_page_has_both_languages_and_no_request(collectives):
    documents = {lang: validation_document(collectives, "own.yaml", lang) for lang in ("en", "zh")}
    page = page_of(documents, "zh")
    assert "预测与实测时间" in page
    assert "Predicted against measured time" in page
    assert "<script>alert" not in page
    assert "newPlot(plot" in page  # the page's own script, which needs no Plotly where nothing is drawn by it
    assert "plotly.js v" not in page
    assert not any(f'{name}="http' in page for name in ("src", "href"))
    assert len(page) < 200_000


def test_a_training_table_counts_its_rows():
    document = validation_document(validate_training(table(3), "own.yaml").as_json("en"), "own.yaml", "en")
    rows = next(block for section in document.sections if section.key == "rows" for block in section.blocks)
    assert [row[0] for row in rows.rows] == ["own-0", "own-1", "own-2"]
    assert [figure.key for figure in document.figures] == ["scatter", "residuals"]


def test_the_band_counts_what_lies_inside():
    points = [Measured(f"row {index}", "dense", "ours", 1.0 + index / 12, 1.0) for index in range(4)]
    words = words_of("en")
    assert "2 of them (50%) lie inside the band" in scatter(points, words).alt
    assert residuals(points, words).data.rows[3] == ("ours", "row 3", pytest.approx(0.25))
    assert short_source("arXiv:2104.04473") == "arXiv:2104.04473"
