"""`eastwest simulate` from the outside: text, JSON, exit codes, the odds of ECMP, two results side by side."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eastwest.cli.main import app
from tests.simulate.scenarios import FAT_TREE, LEAF_SPINE


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(FAT_TREE + "traffic: {pattern: permutation, size: 1MB}\n")
    (tmp_path / "b.yaml").write_text(FAT_TREE + "load_balancing: spray\ntraffic: {pattern: permutation, size: 1MB}\n")

    def call(*arguments: str, text: str | None = None):
        return CliRunner().invoke(app, ["simulate", *arguments], input=text)

    return call


def test_the_odds_of_four_flows_on_four_uplinks(run) -> None:
    """4!/4^4 = 9.375 %; the fullest link carries 2.125 flows on average (enumerated: 544/256)."""
    result = run("ecmp", "--flows", "4", "--uplinks", "4")
    assert result.exit_code == 0
    first = result.stdout.splitlines()[0]
    assert first == "4 flows on 4 uplinks: no collision 9.4 %, expected worst link 2.1 flows"
    document = json.loads(run("ecmp", "--flows", "4", "--uplinks", "4", "--json").stdout)["ecmp"]
    assert document["mean_worst_link_flows"] == pytest.approx(2.125)
    assert sum(row["ratio"] for row in document["worst_link_odds"]) == pytest.approx(1)


def test_the_cost_of_oversubscription_is_the_share_that_crosses(run) -> None:
    """T = 4 of a step of 10 s: 40 % more at 2:1; twice the step is out of reach at 1.67:1."""
    step = ("oversubscription", "--compute", "6s", "--communication", "4s")
    assert run(*step).stdout.splitlines()[0] == "at 2:1 the step grows by 40 %: 10 s -> 14 s"
    found = json.loads(run(*step, "--ratio", "1.67:1", "--json").stdout)["oversubscription"]
    assert found["growth_ratio"] == pytest.approx(0.67 * 0.4)
    assert [row["share_ratio"] for row in found["shares_needed"]] == [pytest.approx(0.4 / 0.67), None]
    assert [row["gpus"] for row in found["curve"]] == [64, 128, 256, 512, 1024, 2048, 4096]


@pytest.mark.parametrize(
    "arguments",
    [
        ("ecmp", "--flows", "4"),
        ("ecmp", "--flows", "0", "--uplinks", "4"),
        ("ecmp", "--flows", "4", "--uplinks", "100000"),
        ("oversubscription", "--compute", "6s"),
        ("oversubscription", "--compute", "6s", "--communication", "4"),
        ("oversubscription", "--compute", "6s", "--communication", "4s", "--ratio", "1:1"),
        ("oversubscription", "--compute", "1s", "--communication", "4s", "--overlap", "2s"),
        ("oversubscription", "--compute", "6s", "--communication", "4s", "--gpus", "8", "--most-gpus", "4"),
        ("compare", "a.yaml"),
        ("a.yaml", "b.yaml"),
        ("a.yaml", "--engine", "magic"),
        ("nowhere.yaml",),
        (),
    ],
)
def test_wrong_use_exits_2(run, arguments: tuple[str, ...]) -> None:
    assert run(*arguments).exit_code == 2


def test_a_scenario_gives_times_tiers_and_links(run) -> None:
    result = run("b.yaml")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "b: flow engine, 16 flows, done in 86 µs"
    assert any(line.split() == ["core", "12", "MB", "75", "%"] for line in lines) or "core" in result.stdout
    assert "packet-hops" in result.stdout


def test_the_json_document_is_one_and_the_engines_share_it(run) -> None:
    for engine in ("flow", "analytic"):
        document = json.loads(run("a.yaml", "--engine", engine, "--json").stdout)
        assert document["schema"] == "eastwest.simulate/1"
        assert document["engine"]["name"] == engine
        assert len(document["flows"]) == 16


def test_standard_input_is_a_scenario_too(run) -> None:
    result = run("-", text=LEAF_SPINE + "traffic: {pattern: stride, stride: 4, size: 1MB}\n")
    assert result.exit_code == 0
    assert "16 flows" in result.stdout


def test_two_scenarios_stand_side_by_side_in_both_languages(run) -> None:
    result = run("compare", "a.yaml", "b.yaml")
    assert result.exit_code == 0
    assert "time_s" in result.stdout
    assert "量" in run("compare", "a.yaml", "b.yaml", "--lang", "zh").stdout
    rows = json.loads(run("compare", "a.yaml", "b.yaml", "--json").stdout)["rows"]
    assert {row["name"] for row in rows} >= {"time_s", "fct_p99_s", "tier_core_bytes"}


def test_mistakes_are_shown_with_their_lines_and_exit_2(run) -> None:
    result = run("-", text=FAT_TREE + "traffic: {pattern: incast, size: 1MB, fan_in: 99}\n")
    assert result.exit_code == 2
    assert "EW-SIM-025" in result.stderr
    assert "3 | traffic" in result.stderr
