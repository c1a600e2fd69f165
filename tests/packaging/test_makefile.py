"""The Makefile, tools/install.py and .ci/run on a synthetic project: its path has a space, and no index is reachable.

The project is a copy of the real Makefile and scripts around two synthetic wheels, so that the test proves the
mechanics (hashes, offline, no second installation, failing steps) without a network and without 100 MB of wheels.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.house.tree import ROOT
from tests.packaging.wheels import BACKEND, TOOL, make_wheel

pytestmark = pytest.mark.slow

PYPROJECT = """
[build-system]
requires = ["tinybackend"]
build-backend = "tinybackend"
[project]
name = "eastwest"
version = "0.0"
"""
MAIN = 'import sys\n\n\ndef main():\n    print("eastwest", *sys.argv[1:])\n'


def _environment(**more: str) -> dict[str, str]:
    """No index answers, no configuration of this machine is read, and make does not know that a test started it."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "PYENV_VERSION") if name in os.environ}
    closed = {"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "0", "PIP_CONFIG_FILE": os.devnull}
    return {**kept, **closed, **more}


def _run(project: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=project, env=_environment(**environment), capture_output=True, text=True, stdin=subprocess.DEVNULL
    )


def _synthetic_project(project: Path) -> None:
    for name in ("Makefile", "tools/install.py", ".ci/run"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, project / name)
    (project / "pyproject.toml").write_text(PYPROJECT)
    (project / "src/eastwest").mkdir(parents=True)
    (project / "src/eastwest/__init__.py").write_text(MAIN)
    tools = {"ruff": "tinytools:main", "mypy": "tinytools:main", "lint-imports": "tinytools:main"}
    files = {"tinytools.py": TOOL.format(name=""), "pytest.py": TOOL.format(name="pytest")}
    _, backend = make_wheel(project / "wheelhouse", "tinybackend", {"tinybackend.py": BACKEND}, {})
    _, tool = make_wheel(project / "wheelhouse", "tinytools", files, tools)
    (project / "requirements").mkdir()
    runtime = f"tinybackend==1.0 --hash=sha256:{backend}\n"
    (project / "requirements/runtime.lock").write_text(runtime)
    (project / "requirements/dev.lock").write_text(f"{runtime}tinytools==1.0 --hash=sha256:{tool}\n")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A synthetic project after its first `make demo`."""
    project = tmp_path_factory.mktemp("made") / "my east west"
    _synthetic_project(project)
    first = _run(project, "make", "demo")
    assert first.returncode == 0, first.stdout + first.stderr
    assert "installing requirements/runtime.lock" in first.stderr
    assert "eastwest plan examples/project-x.yaml --out demo-out" in first.stdout.splitlines()
    return project


def test_a_second_demo_installs_nothing(template: Path) -> None:
    (template / "wheelhouse").rename(template / "wheels away")
    try:
        second = _run(template, "make", "demo")
    finally:
        (template / "wheels away").rename(template / "wheelhouse")
    assert second.returncode == 0, second.stdout + second.stderr
    assert second.stderr == ""
    assert "eastwest plan examples/project-x.yaml --out demo-out" in second.stdout.splitlines()


def test_ci_runs_every_step_from_any_folder(template: Path, tmp_path: Path) -> None:
    verdict = _run(tmp_path, "bash", str(template / ".ci/run"), CI="true")
    assert verdict.returncode == 0, verdict.stdout + verdict.stderr
    called = [line.removeprefix("called: ") for line in verdict.stdout.splitlines() if line.startswith("called: ")]
    assert [line.split()[0] for line in called] == ["ruff", "ruff", "mypy", "lint-imports", "pytest"]
    assert called[-1] == "pytest -n 2 --dist loadfile"


@pytest.mark.parametrize("tool", ["ruff", "mypy", "lint-imports", "pytest"])
def test_ci_fails_when_a_step_fails(template: Path, tool: str) -> None:
    assert _run(template, "bash", ".ci/run", FAILING_TOOL=tool).returncode != 0


def test_quick_leaves_the_slow_tests_out(template: Path) -> None:
    assert "called: pytest -n 2 --dist loadfile -m not slow -k ports" in _run(
        template, "make", "quick", "ARGS=-k ports"
    ).stdout.replace('"', "")


def test_the_index_is_not_reached_and_hashes_are_enforced(tmp_path: Path) -> None:
    project = tmp_path / "second east west"
    _synthetic_project(project)
    (project / "wheelhouse").rename(tmp_path / "wheels of mine")
    without = _run(project, "make", "runtime")
    assert without.returncode != 0
    assert "error: this command failed" in without.stderr
    lock = project / "requirements/runtime.lock"
    good = lock.read_text()
    lock.write_text("tinybackend==1.0 --hash=sha256:" + "0" * 64 + "\n")
    refused = _run(project, "make", "runtime", "WHEELHOUSE=../wheels of mine")
    assert refused.returncode != 0
    assert "DO NOT MATCH THE HASHES" in refused.stderr
    lock.write_text(good)
    named = _run(project, "make", "runtime", "WHEELHOUSE=../wheels of mine")
    assert named.returncode == 0, named.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["PYTHON=no-such-python"], "'no-such-python' is not on PATH; eastwest needs Python 3.11 or newer"),
        (["WHEELHOUSE=no such folder"], "WHEELHOUSE='no such folder' is no folder"),
    ],
)
def test_what_cannot_work_is_said_clearly(template: Path, arguments: list[str], message: str) -> None:
    verdict = _run(template, "make", "demo", *arguments)
    assert verdict.returncode != 0
    assert message in verdict.stderr


def test_help_lists_the_targets(template: Path) -> None:
    listed = _run(template, "make").stdout
    assert "make demo" in listed
    assert "make test" in listed
