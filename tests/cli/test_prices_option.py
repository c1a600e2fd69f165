"""`eastwest plan --prices FILE`: exit codes, the total in text and JSON, mistakes with their line in two languages."""

import json

import pytest
from typer.testing import CliRunner

from eastwest.cli.main import app
from tests.plan.wishes import site


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "site.yaml").write_text(site(), encoding="utf-8")

    def call(prices, *arguments):
        file = tmp_path / "prices.yaml"
        file.write_text(prices, encoding="utf-8")
        words = ["plan", str(tmp_path / "site.yaml"), "--prices", str(file), *arguments]
        return CliRunner().invoke(app, words), file

    return call


def test_the_total_is_shown_with_its_currency_and_what_it_leaves_out(run):
    result, _ = run("currency: EUR\nprices: {hgx-h100: 300000}\n")
    assert result.exit_code == 0
    assert "4,800,000.00 EUR" in result.stdout


def test_the_document_says_the_same(run):
    result, _ = run("currency: EUR\nprices: {hgx-h100: 300000}\n", "--json")
    bill = json.loads(result.stdout)["bill"]
    assert (bill["price"], bill["currency"]) == (4_800_000.0, "EUR")


@pytest.mark.parametrize(("lang", "words"), [("en", "is below zero"), ("zh", "小于零")])
def test_a_mistake_exits_2_with_file_and_line(run, lang, words):
    result, file = run("currency: EUR\nprices:\n  hgx-h100: -1\n", "--lang", lang)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert f"{file}:3" in result.stderr
    assert words in result.stderr


def test_an_unknown_storage_switch_is_named_with_its_line(tmp_path):
    file = tmp_path / "s.yaml"
    file.write_text(site(more="storage: {switch: qm97000}\n"), encoding="utf-8")
    result = CliRunner().invoke(app, ["plan", str(file)])
    assert result.exit_code == 2
    assert "storage.switch" in result.stderr
