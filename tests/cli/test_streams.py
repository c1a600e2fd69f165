"""The streams of the whole program: closed, full, narrow in their encoding, and the document that every usage error
still is.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plan.sites import pretrain_site

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
needs_shell = pytest.mark.skipif(os.name != "posix", reason="closing a stream needs a POSIX shell")


def strict(text):
    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture
def eastwest(tmp_path):
    def call(*arguments, tail="", text="", **environment):
        env = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), **environment}
        command = [sys.executable, "-m", "eastwest", *map(str, arguments)]
        if tail:
            command = ["sh", "-c", f'exec "$@" {tail}', "sh", *command]
        return subprocess.run(command, input=text.encode(), capture_output=True, env=env, check=False)

    return call


@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", "--json"),
        ("plan", "a.yaml", "b.yaml", "--json"),
        ("plan", "a.yaml", "--bogus", "--json"),
        ("plan", "a.yaml", "--lang", "fr", "--json"),
        ("plan", "a.yaml", "--json", "--out"),
        ("size", "--gpus", "many", "--json"),
        ("nope", "--json"),
        ("--json",),
    ],
)
def test_a_usage_error_with_json_printed_no_document(eastwest, arguments):
    done = eastwest(*arguments)
    document = strict(done.stdout)
    assert done.returncode == 2
    assert (document["verdict"], document["findings"], document["error"]["exit_code"]) == ("unknown", [], 2)
    assert document["schema"].startswith("eastwest.")
    assert document["error"]["message"]
    assert b"Error" in done.stderr


def test_a_usage_error_names_its_verb(eastwest):
    assert strict(eastwest("size", "--json").stdout)["schema"] == "eastwest.size/1"
    assert eastwest("size").stdout == b""


@needs_shell
@pytest.mark.parametrize("tail", [">&-", "2>&-", ">&- 2>&-", "<&-"])
def test_a_closed_stream_ended_in_a_traceback(eastwest, tail):
    done = eastwest("schema", "site", tail=tail)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
    assert eastwest("plan", "none.yaml", "--json", tail=tail).returncode == 2


@needs_shell
def test_a_closed_standard_input_is_an_empty_file(eastwest):
    done = eastwest("plan", "-", "--json", tail="<&-")
    assert done.returncode == 2
    assert strict(done.stdout)["findings"][0]["code"] == "EW-SITE-005"


@needs_full
@pytest.mark.parametrize("arguments", [("schema", "site"), ("schema", "site", "--json"), ("--help",)])
def test_a_full_disk_behind_stdout_ended_in_a_traceback(eastwest, arguments):
    done = eastwest(*arguments, tail="> /dev/full")
    assert done.returncode == 2
    assert b"standard output cannot be written" in done.stderr
    assert b"Traceback" not in done.stderr


@needs_shell
def test_a_reader_that_leaves_early_is_no_error(eastwest):
    done = eastwest("schema", "site", "--json", tail="| true")
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "gbk"])
def test_a_terminal_that_cannot_show_chinese_ended_in_a_traceback(eastwest, encoding):
    done = eastwest("explain", "EW-FAB-001", "--lang", "zh", PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    as_json = eastwest("explain", "EW-FAB-001", "--lang", "zh", "--json", PYTHONIOENCODING=encoding)
    utf8 = eastwest("explain", "EW-FAB-001", "--lang", "zh", "--json", PYTHONIOENCODING="utf-8")
    assert strict(as_json.stdout.decode(encoding)) == strict(utf8.stdout)


def test_a_file_name_that_is_no_utf8_ended_in_a_traceback(eastwest, tmp_path):
    name = os.fsencode(tmp_path) + b"/\xff.yaml"
    try:
        Path(os.fsdecode(name)).write_text(pretrain_site(4))
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    done = eastwest("plan", os.fsdecode(name), "--json", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert strict(done.stdout)["site"]["source"]


def test_standard_input_without_end_filled_the_memory(eastwest):
    done = eastwest("plan", "-", "--json", text="# " + "x" * 5_000_000)
    assert done.returncode == 2
    assert strict(done.stdout)["findings"][0]["code"] == "EW-SITE-006"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "latin-1"])
def test_standard_input_in_another_encoding_is_named_as_a_file_is(eastwest, encoding, tmp_path):
    site = tmp_path / "site.yaml"
    site.write_bytes(pretrain_site(4).replace("name:", "description: é\nname:", 1).encode(encoding))
    from_file = strict(eastwest("plan", site, "--json").stdout)["findings"]
    done = subprocess.run(
        [sys.executable, "-m", "eastwest", "plan", "-", "--json"],
        input=site.read_bytes(),
        capture_output=True,
        check=False,
    )
    assert [f["code"] for f in strict(done.stdout)["findings"]] == [f["code"] for f in from_file]
