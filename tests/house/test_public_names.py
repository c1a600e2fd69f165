"""The public door of the package: `__all__` is complete, short, sorted, and every name in it exists."""

import tomllib
import types

import eastwest
from tests.house.tree import ROOT

MAX_PUBLIC_NAMES = 30  # the architecture page says "about 20"


def _undeclared(module: types.ModuleType) -> set[str]:
    values = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    return {name for name, value in values.items() if not isinstance(value, types.ModuleType)} - set(module.__all__)


def test_every_public_name_exists_and_is_documented() -> None:
    missing = [name for name in eastwest.__all__ if not hasattr(eastwest, name)]
    assert missing == []
    silent = [name for name in eastwest.__all__ if name != "__version__" and not getattr(eastwest, name).__doc__]
    assert silent == []


def test_no_public_name_is_left_out() -> None:
    assert _undeclared(eastwest) - {"annotations"} == set()


def test_the_list_is_short_and_without_repetition() -> None:
    assert len(set(eastwest.__all__)) == len(eastwest.__all__) <= MAX_PUBLIC_NAMES


def test_a_forgotten_name_is_noticed() -> None:
    sample = types.ModuleType("sample")
    sample.__all__ = ["plan"]
    sample.plan, sample.size, sample._hidden, sample.types = print, print, print, types
    assert _undeclared(sample) == {"size"}


def test_the_version_is_the_one_of_pyproject() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert eastwest.__version__ == project["version"]
