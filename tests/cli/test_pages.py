"""`--out DIR` of validate and score: page, JSON, charts; a page of another program is left alone."""

import json

import pytest
from typer.testing import CliRunner

from eastwest.cli.main import app
from eastwest.plan.write import LIST
from tests.accept.test_calibrate import table
from tests.dialects.bench import samples
from tests.plan.sites import pretrain_site

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
    assert {path.name for path in (tmp_path / "page").iterdir()} == {"report.html", "score.json", "busbw-1.svg", LIST}
    assert json.loads((tmp_path / "page/score.json").read_text())["verdict"] == "pass"
    assert run("score", "run.txt", *NICS, "--out", "page").exit_code == 0  # ours may be written again


def test_validate_writes_its_page_and_charts(run, tmp_path):
    result = run("validate", "training", "own.yaml", "--out", "page", "--lang", "zh")
    assert result.exit_code == 0, result.output
    names = {path.name for path in (tmp_path / "page").iterdir()}
    assert names == {"report.html", "validate.json", "scatter.svg", "residuals.svg", LIST}
    assert '<html lang="zh-CN">' in (tmp_path / "page/report.html").read_text()
    assert "预测与实测时间" in (tmp_path / "page/scatter.svg").read_text()


def test_a_place_that_cannot_be_written_is_refused_before_the_work(run, tmp_path):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs/report.html").write_text("<html>another program's</html>")
    assert run("score", "run.txt", *NICS, "--out", "theirs").exit_code == 2
    assert run("validate", "training", "own.yaml", "--out", "own.yaml").exit_code == 2
    assert run("score", "run.txt", *NICS, "--out", "page", "--redact").exit_code == 2
    assert not (tmp_path / "page").exists()


@pytest.mark.parametrize("name", ["score.json", "report.html", "busbw-1.svg"])
def test_a_file_that_we_did_not_write_is_never_replaced(run, tmp_path, name):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / name).write_text("")
    (tmp_path / "theirs/notes.txt").write_text("mine")
    result = run("score", "run.txt", *NICS, "--out", "theirs")
    assert result.exit_code == 2
    assert name in result.output
    assert (tmp_path / "theirs" / name).read_text() == ""
    assert run("score", "run.txt", *NICS, "--out", "page").exit_code == 0
    (tmp_path / "page" / name).write_text("changed by hand")
    assert run("score", "run.txt", *NICS, "--out", "page").exit_code == 2
    assert (tmp_path / "page" / name).read_text() == "changed by hand"


def test_other_files_in_the_folder_stay_and_do_not_hinder(run, tmp_path):
    (tmp_path / "page").mkdir()
    (tmp_path / "page/notes.txt").write_text("mine")
    for _ in range(2):
        assert run("score", "run.txt", *NICS, "--out", "page").exit_code == 0
    assert (tmp_path / "page/notes.txt").read_text() == "mine"


def test_one_verb_never_replaces_the_answer_of_another(run, tmp_path):
    (tmp_path / "site.yaml").write_text(pretrain_site(4))
    assert run("plan", "site.yaml", "--out", "plan").exit_code == 0
    assert run("score", "run.txt", *NICS, "--out", "page").exit_code == 0
    for out in ("plan", "page"):
        assert run("validate", "training", "own.yaml", "--out", out).exit_code == 2
    assert run("plan", "site.yaml", "--out", "page").exit_code == 2
    assert run("plan", "site.yaml", "--out", "plan").exit_code == 0


def test_constants_changed_by_hand_are_not_replaced(run, tmp_path):
    for _ in range(2):
        assert run("calibrate", "own.yaml", "--out", "constants.yaml").exit_code == 0
    changed = (tmp_path / "constants.yaml").read_text().replace("schema:", "# mine\nschema:", 1)
    (tmp_path / "constants.yaml").write_text(changed)
    assert run("calibrate", "own.yaml", "--out", "constants.yaml").exit_code == 2
    assert (tmp_path / "constants.yaml").read_text() == changed


@pytest.mark.parametrize(
    "options",
    [
        ("--algorithm", "foo"),
        ("--pass-ratio", "0.6"),
        ("--target-ratio", "0.95", "--pass-ratio", "0.9"),
        ("--pass-ratio", "nan"),
    ],
)
def test_options_that_contradict_or_name_nothing_are_refused(run, options):
    assert run("score", "run.txt", *NICS, *options).exit_code == 2
    if options[0] == "--algorithm":
        assert run("calibrate", "run.txt", "--gpu", "h100", *options).exit_code == 2
