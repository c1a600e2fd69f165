"""tools/install.py says what is wrong with an interpreter, and any Python 3.6 can read it far enough to say so."""

import ast
import tomllib

import pytest

from tests.house.tree import ROOT
from tools.install import LOWEST_PYTHON, complaint


@pytest.mark.parametrize(
    ("version", "missing", "message"),
    [
        ((3, 10), [], "eastwest needs Python 3.11 or newer"),
        ((3, 9), ["venv"], "eastwest needs Python 3.11 or newer"),
        ((3, 11), ["venv", "ensurepip"], "lacks the standard module(s) venv, ensurepip"),
    ],
)
def test_an_unfit_interpreter_is_named(version: tuple[int, int], missing: list[str], message: str) -> None:
    assert message in complaint(version, missing)


def test_a_fit_interpreter_is_accepted() -> None:
    assert complaint((3, 11), []) == ""
    assert complaint((3, 14), []) == ""


def test_an_old_interpreter_can_parse_the_script() -> None:
    ast.parse((ROOT / "tools/install.py").read_text(encoding="utf-8"), feature_version=(3, 6))


def test_the_lowest_python_is_the_one_of_pyproject() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == ">=" + ".".join(map(str, LOWEST_PYTHON))
