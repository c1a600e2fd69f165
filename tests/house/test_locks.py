"""The locks mean the same on every machine, agree with each other and with pyproject.toml."""

import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.house import lock_rules
from tests.house.tree import ROOT

LOCKS = ["requirements/runtime.lock", "requirements/dev.lock"]
HASH = "--hash=sha256:" + "0" * 64
GOOD = f"rich==15.0.0 \\\n    {HASH} \\\n    {HASH}\n    # via typer\n"


def _lock(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _declared(*groups: str) -> list[Requirement]:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lines = list(pyproject["project"]["dependencies"])
    for group in groups:
        lines += [line for line in pyproject["dependency-groups"][group] if isinstance(line, str)]
    return [Requirement(line) for line in lines]


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_is_pinned_hashed_and_names_no_place(name: str) -> None:
    assert list(lock_rules.complaints(_lock(name))) == []
    assert len(lock_rules.pins(_lock(name))) > 10


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (f"rich==15.0.0 {HASH} https:" + "//files.example/rich.whl\n", "names a place"),
        ("--index" + "-url https:" + "//mirror.example\n" + GOOD, "names a place"),
        ("-f wheels\n" + GOOD, "names a place or an option"),
        ("rich==15.0.0\n", "has no hash"),
        (f"rich>=15 {HASH}\n", "not pinned"),
        (f"rich==15.* {HASH}\n", "not pinned"),
    ],
)
def test_a_bad_lock_is_noticed(text: str, complaint: str) -> None:
    assert complaint in " ".join(lock_rules.complaints(text))
    assert list(lock_rules.complaints(GOOD)) == []


def test_the_dev_lock_contains_the_runtime_lock() -> None:
    runtime, dev = (lock_rules.pins(_lock(name)) for name in LOCKS)
    assert {name: dev.get(name) for name in runtime} == runtime


@pytest.mark.parametrize(("name", "groups"), [(LOCKS[0], ["build"]), (LOCKS[1], ["build", "dev"])])
def test_a_lock_satisfies_what_pyproject_declares(name: str, groups: list[str]) -> None:
    pins = lock_rules.pins(_lock(name))
    unsatisfied = [
        str(requirement)
        for requirement in _declared(*groups)
        for version in pins.get(canonicalize_name(requirement.name), {"absent"})
        if version == "absent" or not requirement.specifier.contains(version.removeprefix("=="), prereleases=True)
    ]
    assert unsatisfied == []
