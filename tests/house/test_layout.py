"""The house has its rooms, tests mirror them, and files of others are read by tests/corpus only."""

import ast

import pytest

from tests.house.tree import ROOT, name_of, project_files, python_files

ROOM_NAMES = """
    spec spec/hardware workload workload/collectives workload/imports fabric fabric/families policy dialects store
    simulate simulate/analytic simulate/flow simulate/packet simulate/packet/cc simulate/packet/lb telemetry config
    config/checks plan accept accept/checks diagnose diagnose/causes report report/formats web web/pages cli
"""
ROOMS = ROOM_NAMES.split()

# Folders of tests that stand for no room of the package.
TESTS_OF_THE_WHOLE = frozenset({"house", "packaging", "corpus", "naive", "docs", "examples", "messages", "tools"})


def _stray_test_folders(test_names: list[str], rooms: set[str]) -> list[str]:
    folders = {name.removeprefix("tests/").rpartition("/")[0] for name in test_names}
    return sorted(
        folder for folder in folders - {""} if folder.split("/")[0] not in TESTS_OF_THE_WHOLE and folder not in rooms
    )


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_says_what_it_is_for(room: str) -> None:
    text = (ROOT / "src/eastwest" / room / "__init__.py").read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text))


def test_tests_mirror_the_package() -> None:
    rooms = {path.parent.relative_to(ROOT / "src/eastwest").as_posix() for path in python_files("src")}
    names = [name_of(path) for path in python_files("tests") if path.name.startswith("test_")]
    assert _stray_test_folders(names, rooms) == []
    assert _stray_test_folders(["tests/fabrics/test_ports.py"], rooms) == ["fabrics"]


def test_only_the_corpus_tests_read_files_of_others() -> None:
    others = "shared/" + "data"
    readers = [name_of(path) for path in python_files("src", "tests") if others in path.read_text(encoding="utf-8")]
    elsewhere = [name for name in readers if not name.startswith(("tests/corpus/", "tests/house/"))]
    assert elsewhere == []


def test_captures_say_that_they_are_synthetic() -> None:
    speaking_rooms = tuple(f"tests/{room}/" for room in ("dialects", "telemetry", "config", "accept", "diagnose"))
    kinds = {".txt", ".log", ".gz", ".out", ".cfg", ".conf"}
    names = [name_of(path) for path in project_files() if path.suffix in kinds]
    assert [name for name in names if name.startswith(speaking_rooms) and "synthetic" not in name] == []
