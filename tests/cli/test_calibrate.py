"""`eastwest calibrate` from the outside: the file of constants, --constants of validate, exit codes, both languages."""

import json

import pytest
from typer.testing import CliRunner

from eastwest.cli.main import app
from tests.accept.test_calibrate import NODE, table
from tests.plan.sites import pretrain_site


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments, text=None):
        return CliRunner().invoke(app, [str(argument) for argument in arguments], input=text)

    return call


def test_constants_are_written_and_read_by_validate(run, tmp_path):
    (tmp_path / "own.yaml").write_text(table(3))
    (tmp_path / "run.txt").write_text(NODE)
    result = run("calibrate", "own.yaml", "run.txt", "--out", "constants.yaml")
    assert result.exit_code == 0, result.output
    assert "rows used 3" in result.stdout
    shipped = json.loads(run("validate", "training", "own.yaml", "--json").stdout)
    own = json.loads(run("validate", "training", "own.yaml", "--constants", "constants.yaml", "--json").stdout)
    errors = [document["summary"]["all"]["median_abs_error_ratio"] for document in (shipped, own)]
    assert errors[1] < errors[0]
    again = run("calibrate", "own.yaml", "--out", "constants.yaml")  # a file of ours may be replaced
    assert again.exit_code == 0


def test_standard_input_json_and_chinese(run):
    document = json.loads(run("calibrate", "-", "--json", text=NODE).stdout)
    assert (document["schema"], document["collectives"]["runs_used"]) == ("eastwest.calibrate/1", 1)
    assert "集合通信" in run("calibrate", "-", "--lang", "zh", text=NODE).stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("calibrate", "other.txt"), 3),
        (("calibrate", "none.txt"), 2),
        (("calibrate", "run.txt", "--transport", "pigeon"), 2),
        (("calibrate", "run.txt", "--gpu", "no-such-gpu"), 2),
        (("calibrate", "run.txt", "--out", "other.txt"), 2),
        (("calibrate", "run.txt", "--out", "no/such/folder/c.yaml"), 2),
        (("calibrate", "broken.yaml"), 2),
        (("validate", "training", "own.yaml", "--constants", "other.txt"), 2),
        (("validate", "training", "own.yaml", "--constants", "none.yaml"), 2),
    ],
)
def test_exit_codes_follow_the_contract(run, tmp_path, arguments, code):
    (tmp_path / "run.txt").write_text(NODE)
    (tmp_path / "own.yaml").write_text(table(2))
    (tmp_path / "other.txt").write_text("hello\n")
    (tmp_path / "broken.yaml").write_text("rows: [{gpus: many}]\n")
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    assert (tmp_path / "other.txt").read_text() == "hello\n"


def test_plan_and_predict_agree_on_own_constants_and_say_which(run, tmp_path):
    (tmp_path / "own.yaml").write_text(table(3, 1.2))
    (tmp_path / "site.yaml").write_text(pretrain_site(16))
    assert run("calibrate", "own.yaml", "--out", "constants.yaml").exit_code == 0
    shipped = json.loads(run("predict", "site.yaml", "--json").stdout)
    predicted = json.loads(run("predict", "site.yaml", "--constants", "constants.yaml", "--json").stdout)
    planned = json.loads(run("plan", "site.yaml", "--constants", "constants.yaml", "--json").stdout)
    assert predicted["step_time_s"] > shipped["step_time_s"]
    assert planned["prediction"] == predicted["jobs"][0]["prediction"]
    assert planned["constants"] == predicted["constants"]
    assert planned["constants"]["source"] == "constants.yaml"
    assert planned["constants"]["training"]["from"] == "own"
    assert planned["constants"]["collectives"] == {"from": "shipped"}
    assert shipped["constants"]["training"] == {"from": "shipped"}
    stop = planned["failures"][0]["jobs"][0]  # what a failure costs rests on the same step
    assert stop["step_time_s"] is None or stop["step_time_s"] >= predicted["step_time_s"] * 0.99
    for verb in ("plan", "predict"):
        assert (
            "constants of constants.yaml: step model" in run(verb, "site.yaml", "--constants", "constants.yaml").stdout
        )


def test_a_huge_constant_is_refused_with_its_line_by_every_verb(run, tmp_path):
    (tmp_path / "own.yaml").write_text(table(3))
    (tmp_path / "site.yaml").write_text(pretrain_site(16))
    assert run("calibrate", "own.yaml", "--out", "constants.yaml").exit_code == 0
    text = (tmp_path / "constants.yaml").read_text()
    (tmp_path / "huge.yaml").write_text(text.replace("gemm_depth: {value: ", "gemm_depth: {value: 1e300, prior: ", 1))
    for words in (("plan", "site.yaml"), ("predict", "site.yaml"), ("validate", "training", "own.yaml")):
        result = run(*words, "--constants", "huge.yaml")
        assert result.exit_code == 2, result.output
