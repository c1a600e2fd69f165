"""`predict` on the command line: the verdict line first, one document, exit codes, both languages."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eastwest.cli.main import app
from tests.plan.sites import pretrain_site

EXAMPLES = Path(__file__).parents[2] / "examples"
KNOWN = '    framework: megatron-bridge\n    release: "26.02"\n'


def run(*arguments, text=None):
    return CliRunner().invoke(app, ["predict", *(str(argument) for argument in arguments)], input=text)


def test_the_verdict_line_comes_first_and_says_where_to_look():
    result = run("-", text=pretrain_site(16) + KNOWN)
    first, *rest = result.stdout.splitlines()
    assert result.exit_code == 0
    assert first.startswith("PASS pretrain: step ")
    assert "80 % of runs" in first
    assert any(line.startswith("look first at: ") for line in rest)
    for head in ("Terms, largest first", "What moves it most", "Assumed"):
        assert head in rest
    assert "Invalid here because" not in rest


def test_json_is_the_first_jobs_prediction_and_every_job():
    document = json.loads(run("-", "--json", text=pretrain_site(16)).stdout)
    assert (document["schema"], document["verdict"]) == ("eastwest.predict/1", "warn")
    assert document["jobs"][0]["prediction"]["step_time_s"] == document["step_time_s"]
    interval = document["interval"]["step_time_s"]
    assert interval["low"] < document["step_time_s"] < interval["high"]
    assert interval["level"] == 0.8
    assert len(document["sensitivities"]) == 3
    assert all(text.startswith("recipe unknown") for text in document["invalid"])
    assert document["assumed"]


def test_a_site_without_jobs_cannot_tell():
    text = pretrain_site(4).split("jobs:")[0]
    result = run("-", text=text)
    assert result.exit_code == 3
    assert run("-", "--json", text=text).exit_code == 3


def test_a_layout_that_does_not_fit_fails_and_is_still_timed():
    result = run("-", text=pretrain_site(4).replace("llama3-8b", "llama3-405b"))
    assert result.exit_code == 1
    assert result.stdout.startswith("FAIL pretrain: step ")
    assert "error EW-WORK-" in result.stdout


def test_a_site_that_cannot_be_read_is_invalid_input():
    assert run("-", text="name: [").exit_code == 2
    assert run(EXAMPLES / "none.yaml").exit_code == 2


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_slicing_prints_the_curves_in_both_languages(lang):
    result = run("-", "--slicing", "--lang", lang, text=pretrain_site(16, tp=2))
    assert result.exit_code == 0
    assert ("梯度 bucket" if lang == "zh" else "gradient bucket") in result.stdout
    assert " * " in result.stdout


def test_a_service_and_a_training_job_are_told_apart():
    text = pretrain_site(8).replace("- name: pretrain", "- name: pretrain\n    gpus: 32")
    text += "  - {name: chat, kind: inference, model: llama3-70b, tp: 8, gpus: 32}\n"
    result = run("-", text=text)
    assert "pretrain: step " in result.stdout
    assert "chat: first token " in result.stdout
    document = json.loads(run("-", "--json", text=text).stdout)
    assert document["step_time_s"] == document["jobs"][0]["prediction"]["step_time_s"]
    assert document["jobs"][1]["prediction"]["time_per_token_s"] > 0
