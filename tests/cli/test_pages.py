"""`--out DIR` of validate and score: page, JSON, charts; a page of another program is left alone."""

import json

import pytest
from typer.testing import CliRunner

from eastwest.cli.main import app
from tests.accept.test_calibrate import table
from tests.dialects.bench import samples

NICS = ("--nics", "8x200G")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.txt").write_text(samples.nccl_tests(hosts=("a", "b", "c"), busbw=190.0))
    (tmp_path / "own.yaml").write_text(table(3))

    def call(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return call


def test_score_writes_its_page_and_curve(run, tmp_path):
    assert run("score", "run.txt", *NICS, "--out", "page").exit_code == 0
    assert {path.name for path in (tmp_path / "page").iterdir()} == {"report.html", "score.json", "busbw-1.svg"}
    assert json.loads((tmp_path / "page/score.json").read_text())["verdict"] == "pass"
    assert run("score", "run.txt", *NICS, "--out", "page").exit_code == 0  # ours may be written again


def test_validate_writes_its_page_and_charts(run, tmp_path):
    result = run("validate", "training", "own.yaml", "--out", "page", "--lang", "zh")
    assert result.exit_code == 0, result.output
    names = {path.name for path in (tmp_path / "page").iterdir()}
    assert names == {"report.html", "validate.json", "scatter.svg", "residuals.svg"}
    assert '<html lang="zh-CN">' in (tmp_path / "page/report.html").read_text()
    assert "预测与实测时间" in (tmp_path / "page/scatter.svg").read_text()


def test_a_place_that_cannot_be_written_is_refused_before_the_work(run, tmp_path):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs/report.html").write_text("<html>another program's</html>")
    assert run("score", "run.txt", *NICS, "--out", "theirs").exit_code == 2
    assert run("validate", "training", "own.yaml", "--out", "own.yaml").exit_code == 2
    assert run("score", "run.txt", *NICS, "--out", "page", "--redact").exit_code == 2
    assert not (tmp_path / "page").exists()
