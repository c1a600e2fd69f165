"""The page of a score: results, a curve with its ceiling for each table, and no curve where there is none."""

from xml.etree import ElementTree

from eastwest.accept.facts import facts_of_flags
from eastwest.accept.results import Limits
from eastwest.accept.score import score_texts
from eastwest.report.score_page import score_document
from tests.dialects.bench import samples

FACTS = facts_of_flags({"nics_per_server": 8, "nic_rate_bps": 200 * 10**9})
LIMITS = {"pass": 0.9, "fail": 0.7}


def document_of(text: str, lang="en"):
    score = score_texts([("run.txt", text)], FACTS, Limits())
    return score_document(score.as_json(lang), score.results, LIMITS, lang)


def test_a_table_has_its_curve_with_the_ceiling():
    document = document_of(samples.nccl_tests(hosts=("a", "b", "c"), busbw=190.0))
    (figure,) = document.figures
    assert len(figure.data.rows) == len(samples.SIZES)
    assert "99% of the ceiling of 192 GB/s" in figure.alt
    words = {element.text for element in ElementTree.fromstring(figure.svg).iter() if element.tag.endswith("text")}
    assert {"bus bandwidth, GB/s", "message size (logarithmic)", "ring ceiling 192 GB/s", "Pass 90%"} <= words
    results = document.sections[0].blocks[0]
    assert results.rows[0][5] == "ring: 192 GB/s"


def test_in_chinese_the_chart_is_chinese():
    (figure,) = document_of(samples.nccl_tests(hosts=("a", "b", "c"), busbw=190.0), "zh").figures
    assert "总线带宽，GB/s" in figure.svg


def test_without_a_table_there_is_no_curve():
    document = document_of("2 nodes, 4x200G per node, all_reduce busbw 95.97 GB/s at 128 MB")
    assert document.figures == ()
    assert "no curve" in " ".join(block.text for block in document.sections[1].blocks)
