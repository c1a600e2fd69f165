"""The wheel holds the whole package and runs beside the runtime dependencies alone, in a fresh environment."""

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.house.tree import ROOT

pytestmark = pytest.mark.slow


def _run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _runtime_distributions() -> Iterator[Distribution]:
    """eastwest's dependencies and theirs, as installed here: no development package is among them."""
    waiting = [Requirement(line) for line in distribution("eastwest").requires or []]
    seen: set[tuple[str, str]] = set()
    while waiting:
        requirement = waiting.pop()
        for extra in ["", *requirement.extras]:
            key = (canonicalize_name(requirement.name), extra)
            if key in seen:
                continue
            seen.add(key)
            found = distribution(requirement.name)
            yield found
            needs = [Requirement(line) for line in found.requires or []]
            waiting += [need for need in needs if not need.marker or need.marker.evaluate({"extra": extra})]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built by the locked backend without a network."""
    folder = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel installed, and the runtime dependencies linked into it."""
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    _run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=ROOT)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", folder / "bin" / "python"]
    _run(*pip, "install", "--no-index", "--no-deps", wheel, cwd=folder)
    (site_packages,) = folder.glob("lib/python*/site-packages")
    for found in _runtime_distributions():
        tops = {path.parts[0] for path in found.files or [] if path.parts[0] not in ("..", "__pycache__")}
        for top in tops:
            link = site_packages / top
            if not link.exists():
                link.symlink_to(found.locate_file(top))
    return folder


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(wheel: Path) -> None:
    package = ROOT / "src"
    paths = [path.relative_to(package) for path in (package / "eastwest").rglob("*") if path.is_file()]
    expected = {path.as_posix() for path in paths if "__pycache__" not in path.parts}
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in names if ".dist-info/" not in name} == expected
    assert "eastwest/py.typed" in names
    assert [name for name in names if name.endswith("licenses/LICENSE")]


def test_no_development_package_is_at_hand(environment: Path) -> None:
    names = ("pytest", "hypothesis", "mypy", "hatchling", "numpy")
    program = f"import importlib.util as util; print([name for name in {names} if util.find_spec(name)])"
    assert _run(environment / "bin/python", "-c", program, cwd=environment) == "['numpy']\n"


def test_the_console_script_answers(environment: Path) -> None:
    assert "0.1.0" in _run(environment / "bin/eastwest", "--version", cwd=environment)
    assert "plan" in _run(environment / "bin/eastwest", "--help", cwd=environment)
    assert "plan" in _run(environment / "bin/python", "-m", "eastwest", "--help", cwd=environment)


def test_the_wheel_plans_the_first_example(environment: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [environment / "bin/eastwest", "plan", ROOT / "examples/project-x.yaml", "--out", out]
    _run(*command, cwd=tmp_path)
    assert json.loads((out / "plan.json").read_text(encoding="utf-8"))["schema"] == "eastwest.plan/1"
    assert (out / "report.html").stat().st_size > 0
