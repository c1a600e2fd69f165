"""What the command line reads and says of it: packed sites, files that a site names, switches and GPUs of `size`."""

import gzip
import json

import pytest
from typer.testing import CliRunner

from eastwest.cli.main import app
from eastwest.errors import InputError
from eastwest.spec.load import MAX_FILE_BYTES, load_site
from tests.plan.sites import pretrain_site


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    runner = CliRunner()

    def call(*arguments, text=None):
        return runner.invoke(app, [str(argument) for argument in arguments], input=text)

    return call


def test_a_packed_site_is_read_as_a_plain_one(run, tmp_path):
    plain, packed = tmp_path / "site.yaml", tmp_path / "site.yaml.gz"
    plain.write_text(pretrain_site(4), encoding="utf-8")
    packed.write_bytes(gzip.compress(pretrain_site(4).encode()))
    assert load_site(packed).site == load_site(plain).site
    answers = [run("plan", path, "--json") for path in (plain, packed)]
    assert [answer.exit_code for answer in answers] == [0, 0]
    documents = [json.loads(answer.stdout) for answer in answers]
    assert documents[0]["fabric"] == documents[1]["fabric"]


def test_a_packed_site_comes_from_standard_input_too(run):
    answer = run("plan", "-", text=gzip.compress(pretrain_site(4).encode()))
    assert answer.exit_code == 0, answer.stderr


@pytest.mark.parametrize(
    "content", [gzip.compress(b"name: x\n", mtime=0)[:-12], b"\x1f\x8b\x08\x00garbage"], ids=["cut", "damaged"]
)
def test_a_cut_or_damaged_packed_site_exits_2(run, tmp_path, content):
    path = tmp_path / "site.yaml.gz"
    path.write_bytes(content)
    answer = run("plan", path)
    assert answer.exit_code == 2
    assert "EW-SITE-003" in answer.stderr


def test_a_packed_site_that_grows_without_end_is_refused(tmp_path):
    path = tmp_path / "site.yaml.gz"
    path.write_bytes(gzip.compress(b"#" * (8 * MAX_FILE_BYTES)))
    with pytest.raises(InputError) as caught:
        load_site(path)
    assert caught.value.findings[0].code == "EW-SITE-006"


@pytest.mark.parametrize("content", [None, "{", '{"model_type": "llama"}'])
def test_a_config_that_cannot_be_read_is_invalid_input(run, tmp_path, content):
    if content is not None:
        (tmp_path / "config.json").write_text(content, encoding="utf-8")
    site = tmp_path / "site.yaml"
    site.write_text(pretrain_site(4).replace("model: llama3-8b", "model: config.json"), encoding="utf-8")
    answer = run("plan", site)
    assert answer.exit_code == 2
    assert "EW-WORK-012" in answer.stderr
    assert "12 | model: config.json" in answer.stderr


@pytest.mark.parametrize(
    ("switch", "words"),
    [
        ("64x400", "has no unit: expected a number with its unit, such as 400G"),
        ("64x40GB", "is not a rate"),
        ("0x400G", "is too small"),
    ],
)
def test_a_switch_that_cannot_be_read_is_said_in_our_words(run, switch, words):
    answer = run("size", "--gpus", 64, "--switch", switch)
    assert answer.exit_code == 2
    assert answer.stderr.startswith(f"--switch {switch}: ")
    assert words in answer.stderr
    assert "Input should" not in answer.stderr


def test_gpus_that_do_not_fill_servers_are_rounded_up_aloud(run):
    document = json.loads(run("size", "--gpus", 1001, "--json").stdout)
    (finding,) = [row for row in document["findings"] if row["code"] == "EW-FAB-043"]
    assert (finding["severity"], finding["expected"], finding["observed"]) == ("info", 1001, 1008)
    assert document["verdict"] == "pass"
    assert "EW-FAB-043" not in run("size", "--gpus", 1008).stdout
