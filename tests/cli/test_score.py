"""`eastwest score` from the outside: inputs, exit codes, one JSON document, options, redaction."""

import gzip
import json

import pytest
from typer.testing import CliRunner

from eastwest.cli.main import app
from tests.dialects.bench import samples

TABLE = samples.nccl_tests(hosts=["gpu-a.example", "gpu-b.example", "gpu-c.example"], busbw=190.0)
NICS = ("--nic", "200G", "--nics-per-server", "8")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments, text=None):
        return CliRunner().invoke(app, ["score", *(str(argument) for argument in arguments)], input=text)

    return call


def test_the_verdict_line_comes_first(run):
    result = run("-", *NICS, text=TABLE)
    assert result.exit_code == 0
    first = result.stdout.splitlines()[0]
    assert first.startswith("PASS: 99 % of the ring ceiling, 192 GB/s")
    assert "8 NICs x 200G / 8 x 0.96 = 192 GB/s" in result.stdout


@pytest.mark.parametrize(
    ("text", "options", "code"),
    [
        (TABLE, NICS, 0),
        (TABLE, ("--nics", "8x400G"), 1),
        (TABLE, (), 3),
        ("hello", NICS, 3),
        (TABLE, (*NICS, "--target-ratio", "0.999"), 1),
        (TABLE, ("--nic", "200GB"), 2),
        (TABLE, ("--nics", "many"), 2),
        (TABLE, ("--nic", "0"), 2),
        (TABLE, ("--gpu", "no-such-gpu"), 2),
        (TABLE, ("--collective", "gossip"), 2),
        (TABLE, ("--target", "fast"), 2),
        (TABLE, ("--pass-ratio", "nan"), 2),
        (TABLE, ("--nodes", "0"), 2),
    ],
)
def test_exit_codes_follow_the_contract(run, text, options, code):
    assert run("-", *options, text=text).exit_code == code


def test_json_is_one_document_also_when_it_cannot_tell(run):
    for options, verdict in ((NICS, "pass"), ((), "unknown")):
        document = json.loads(run("-", "--json", *options, text=TABLE).stdout)
        assert (document["schema"], document["verdict"]) == ("eastwest.score/1", verdict)
        assert document["results"][0]["verdict"] == verdict


def test_files_folders_and_packed_files_are_read(run, tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "one.txt").write_text(TABLE)
    (folder / "two.log.gz").write_bytes(gzip.compress(TABLE.encode()))
    document = json.loads(run(folder, "--json", *NICS).stdout)
    assert [result["verdict"] for result in document["results"]] == ["pass", "pass"]
    assert len(json.loads(run(folder / "one.txt", folder / "two.log.gz", "--json", *NICS).stdout)["results"]) == 2
    assert run(tmp_path / "none.txt").exit_code == 2


def test_bytes_that_are_no_text_do_not_matter(run, tmp_path):
    path = tmp_path / "run.txt"
    path.write_bytes(b"\xff\x00\x1b[31m\xe4\xb8 broken\n" + TABLE.encode())
    assert run(path, *NICS).exit_code == 0


def test_a_site_gives_the_servers(run, tmp_path):
    table = TABLE.replace("NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB")
    result = run("-", "--site", site_file(tmp_path), text=table)
    assert result.exit_code == 0, result.output
    assert "assumed" not in result.stdout


def site_file(folder, fabric="{switch: 40x200G}"):
    path = folder / "site.yaml"
    path.write_text(
        f"name: lab\nservers: [{{model: dgx-a100, count: 3}}]\nfabric: {fabric}\n"
        "jobs: [{name: train, model: llama3-8b, global_batch: 72}]\n"
    )
    return path


def test_a_site_of_another_gpu_than_the_text_is_no_verdict(run, tmp_path):
    result = run("-", "--site", site_file(tmp_path), text=TABLE)
    assert result.exit_code == 3
    assert "leave --site out" in result.stdout.splitlines()[0]


@pytest.mark.parametrize(("level", "code", "word"), [(95.0, 0, "WARN"), (150.0, 0, "WARN"), (40.0, 1, "FAIL")])
def test_an_oversubscribed_site_leaves_less(run, tmp_path, level, code, word):
    """8 x 200G give 192 GB/s in one leaf and 96 across leaves of 2:1: 95 is no half that names a fault."""
    hosts = ["a", "b", "c"]
    table = samples.nccl_tests(hosts=hosts, busbw=level, latency_us=1.0, gpu="NVIDIA A100-SXM4-80GB")
    site = site_file(tmp_path, "{switch: 40x200G, oversubscription: 2:1}")
    result = run("-", "--site", site, text=table)
    assert (result.exit_code, result.stdout.split(":")[0]) == (code, word), result.output
    assert "EW-SCO-067" in result.stdout
    assert "EW-SCO-023" not in result.stdout


def test_redaction_leaves_the_numbers(run):
    log = "gpu-a.example:77:90 [0] NCCL INFO Bootstrap : Using eth0:10.9.8.7<0>\n"
    plain = run(
        "-",
        "--json",
        "--nics",
        "8x400G",
        "--nodes",
        "2",
        text=log + TABLE.replace("gpu-b.example", "gpu-a.example").replace("gpu-c.example", "gpu-a.example"),
    )
    assert plain.exit_code in (0, 1, 3)
    one_host = samples.nccl_tests(hosts=["gpu-a.example"], busbw=475.0)
    shown = run("-", "--nodes", "2", text=one_host).stdout
    hidden = run("-", "--nodes", "2", "--redact", text=one_host).stdout
    assert "gpu-a.example" in shown
    assert "gpu-a.example" not in hidden
    assert hidden.replace("host-1", "gpu-a.example").split() == shown.split()


@pytest.mark.parametrize("name", ["gone/acme-secret.txt", "acme-secret.d"])
def test_redaction_hides_names_in_errors(run, name):
    result = run(name, "--redact", text="")
    assert result.exit_code == 2
    assert "secret" not in result.output
    assert "acme" not in result.output
    assert "cannot be read" in result.output


def test_redaction_hides_what_a_site_file_says(run, tmp_path):
    site = tmp_path / "acme.yaml"
    site.write_text("name: acme-lab\nservers: [{model: acme-gpu, count: x}]\n")
    result = run("-", "--redact", "--site", site, text=TABLE)
    assert result.exit_code == 2
    assert "acme" not in result.output


def test_chinese_is_spoken(run):
    result = run("-", *NICS, "--lang", "zh", text=TABLE)
    assert result.stdout.startswith("通过：") or result.stdout.startswith("通过:")
