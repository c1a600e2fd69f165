"""The contract of the command line: exit codes, one JSON document, stdout and stderr, languages, standard input."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eastwest.cli.main import app
from tests.plan.sites import pretrain_site

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    runner = CliRunner()

    def call(*arguments, text=None):
        return runner.invoke(app, [str(argument) for argument in arguments], input=text)

    return call


def document_of(result):
    return json.loads(result.stdout)


def test_a_sound_design_exits_0_and_a_bad_one_1(run):
    assert run("plan", EXAMPLES / "project-x.yaml").exit_code == 0
    result = run("plan", EXAMPLES / "project-x-before.yaml")
    assert result.exit_code == 1
    assert result.stdout.startswith("FAIL")


def test_json_is_one_document_with_a_verdict(run):
    result = run("plan", EXAMPLES / "project-x-before.yaml", "--json")
    document = document_of(result)
    assert (document["schema"], document["verdict"]) == ("eastwest.plan/1", "fail")
    keys = {"code", "severity", "subject", "message", "expected", "observed", "unit", "hint", "waived", "evidence"}
    assert document["findings"]
    assert all(set(finding) == keys for finding in document["findings"])


def test_invalid_input_exits_2_and_says_where(run, tmp_path):
    site = tmp_path / "site.yaml"
    site.write_text(pretrain_site(4).replace("switch: 64x400G", "switch: 64x400GB"))
    result = run("plan", site)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert f"{site}:8" in result.stderr
    as_json = document_of(run("plan", site, "--json"))
    assert as_json["verdict"] == "unknown"
    assert as_json["findings"][0]["code"].startswith("EW-SITE-")


def test_every_mistake_is_reported_at_once(run):
    text = pretrain_site(4).replace("family: leaf_spine", "famly: leaf_spine").replace("count: 4", "count: -4")
    result = run("plan", "-", "--json", text=text)
    assert result.exit_code == 2
    assert len(document_of(result)["findings"]) >= 2


def test_standard_input_is_read(run):
    result = run("plan", "-", text=pretrain_site(4))
    assert result.exit_code == 0, result.stderr


def test_a_missing_file_is_an_input_error(run, tmp_path):
    assert run("plan", tmp_path / "none.yaml").exit_code == 2


def test_the_folder_is_written_whole(run, tmp_path):
    result = run("plan", EXAMPLES / "project-x.yaml", "--out", tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names >= {
        ".eastwest-files",
        "plan.json",
        "report.html",
        "cables.csv",
        "addresses.csv",
        "bom.csv",
        "targets.yaml",
    }
    assert "wrote" in result.stderr
    assert json.loads((tmp_path / "out" / "plan.json").read_text())["schema"] == "eastwest.plan/1"


def test_a_folder_of_the_user_is_refused_before_any_work(run, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    assert run("plan", EXAMPLES / "project-x.yaml", "--out", tmp_path).exit_code == 2


def test_why_needs_a_plan_and_then_explains_it(run):
    assert run("why").exit_code == 3
    run("plan", EXAMPLES / "project-x.yaml")
    listing = run("why")
    assert listing.exit_code == 0
    assert "fabric.leaves" in listing.stdout
    assert listing.stdout.startswith("plan of project-x (")
    assert "project-x.yaml)" in listing.stdout.splitlines()[0]
    one = run("why", "fabric.leaves")
    assert all(word in one.stdout for word in ("because", "formula", "source"))
    assert "did you mean fabric.leaves" in run("why", "fabric.leafs").stderr


def test_why_reads_the_folder_of_a_plan(run, tmp_path):
    run("plan", EXAMPLES / "project-x.yaml", "--out", tmp_path / "out")
    assert run("why", "policy.regime", "--plan", tmp_path / "out").exit_code == 0
    broken = tmp_path / "plan.json"
    broken.write_text("{")
    assert run("why", "--plan", broken).exit_code == 2


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"schema": "eastwest.plan/1", "decisions": [1]}',
        '{"schema": "eastwest.plan/1", "decisions": 5}',
        '{"schema": "eastwest.plan/1", "targets": null}',
        '{"schema": "eastwest.plan/1", "decisions": [{}]}',
        '{"schema": "eastwest.plan/1", "decisions": [{"id": "a", "inputs": 3}]}',
        '{"schema": "eastwest.plan/1", "decisions": [{"id": "a", "alternatives": [1]}]}',
        '{"schema": "eastwest.plan/1", "decisions": [{"id": "a", "value": NaN}]}',
    ],
)
def test_why_ended_in_a_traceback_on_a_foreign_plan(run, tmp_path, text):
    path = tmp_path / "plan.json"
    path.write_text(text)
    assert run("why", "--plan", path).exit_code == 2
    assert run("why", "a", "--plan", path, "--json").exit_code == 2


def test_why_without_a_place_for_its_plan_cannot_tell(run, monkeypatch, tmp_path):
    assert run("why", "--plan", "x" * 5000).exit_code == 3
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setattr(Path, "home", classmethod(lambda cls: tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    assert run("plan", EXAMPLES / "project-x.yaml").exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["home"]
    monkeypatch.setattr(Path, "home", classmethod(lambda cls: (_ for _ in ()).throw(RuntimeError("no home"))))
    result = run("plan", EXAMPLES / "project-x.yaml")
    assert result.exit_code == 0
    assert "set XDG_STATE_HOME" in result.stderr
    assert run("why").exit_code == 3


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_explain_knows_every_code(run, lang):
    listing = document_of(run("explain", "--json", "--lang", lang))
    for row in listing["codes"]:
        assert run("explain", row["code"], "--lang", lang).exit_code == 0
    assert run("explain", "EW-NONE-001").exit_code == 2


def test_chinese_is_spoken(run):
    result = run("plan", EXAMPLES / "project-x-before.yaml", "--lang", "zh")
    assert any("一" <= letter <= "鿿" for letter in result.stdout)


def test_size_gives_the_fabric_and_counter_offers(run):
    document = document_of(run("size", "--gpus", 4096, "--nic", "200G", "--json"))
    fabric = document["fabric"]
    counts = (fabric["leaves"], fabric["spines"], fabric["servers"], fabric["max_gpus"])
    assert counts == (64, 32, 512, 4096)  # the seeds' arithmetic: 64 x 400G leaves, 8 servers of 8 x 200G each
    assert document["offers"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--gpus", "0"),
        ("--gpus", "64", "--nic", "400GB"),
        ("--gpus", "64", "--switch", "64x"),
        ("--gpus", "64", "--switch", "qm9701"),
        ("--gpus", "64", "--oversubscription", "0:1"),
        ("--gpus", "64", "--nics-per-server", "-1"),
        ("--gpus", "64", "--planes", "3"),
        ("--gpus", "64", "--nic", "0"),
        ("--gpus", "64", "--nic", "-400G"),
        ("--gpus", "64", "--nic", "400"),
        ("--gpus", "64", "--nic", "1e99G"),
        ("--gpus", "64", "--oversubscription", "1:1e99"),
        ("--gpus", "64", "--oversubscription", "1e99"),
        ("--gpus", "64", "--nics-per-server", "100000"),
        ("--gpus", "64", "--planes", "100000"),
        ("--gpus", "64", "--switch", "999999x400G"),
        ("--gpus", "1000000"),
        ("--gpus", "99999999999999999999"),
    ],
)
def test_size_refuses_what_cannot_be(run, arguments):
    result = run("size", *arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr


def test_size_answers_with_three_tiers_when_two_do_not_hold(run):
    result = run("size", "--gpus", 16384, "--json")
    assert result.exit_code == 0
    assert document_of(result)["fabric"]["tiers"] == 3


def test_size_says_when_three_tiers_do_not_hold(run):
    result = run("size", "--gpus", 100_000, "--json")
    assert result.exit_code == 1
    assert document_of(result)["findings"]


def test_hardware_lists_and_shows(run):
    assert "qm9700" in run("hardware", "--kind", "switch").stdout
    assert document_of(run("hardware", "qm9700", "--json"))["models"][0]["values"]
    assert run("hardware", "qm9701").exit_code == 2


def test_a_bug_of_ours_exits_70(run, monkeypatch):
    import eastwest.plan.plan

    def fail(_):
        raise ZeroDivisionError("synthetic")

    monkeypatch.setattr(eastwest.plan.plan, "make_plan", fail)
    result = run("plan", EXAMPLES / "project-x.yaml")
    assert result.exit_code == 70
    assert "bug of eastwest" in result.stderr
