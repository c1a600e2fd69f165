"""The import contract of pyproject.toml, tried on a synthetic package: a bad import breaks it, clean rooms keep it."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.house.tree import ROOT

ROOMS_WITH_FOLDERS = {"fabric", "simulate", "telemetry", "report", "web", "store", "cli"}

# (file of the synthetic package, import written into it, name of the contract that must break)
VIOLATIONS = [
    ("spec/__init__.py", "from eastwest.workload import x", "Data flows one way"),
    ("units.py", "from eastwest import finding", "Data flows one way"),
    ("plan/__init__.py", "def late():\n    import eastwest.report", "Data flows one way"),
    ("fabric/tables.py", "import eastwest.policy", "Data flows one way"),
    ("bonus.py", "", "Data flows one way"),
    ("plan/__init__.py", "def late():\n    import numba", "numba compiles"),
    ("fabric/tables.py", "from numba import njit", "numba compiles"),
    ("plan/__init__.py", "import duckdb", "DuckDB and Parquet"),
    ("simulate/__init__.py", "import pyarrow.parquet", "DuckDB and Parquet"),
    ("telemetry/collect.py", "import asyncssh", "network clients"),
    ("cli/__init__.py", "import httpx", "network clients"),
    ("report/__init__.py", "from rich.table import Table", "typer and rich"),
    ("plan/__init__.py", "import typer", "typer and rich"),
    ("plan/__init__.py", "import plotly.graph_objects", "plotly is used"),
    ("cli/__init__.py", "from nicegui import ui", "nicegui is used"),
]

ALLOWED = [
    ("simulate/packet.py", "from numba import njit"),
    ("fabric/routing.py", "from numba import njit"),
    ("store/__init__.py", "import duckdb"),
    ("telemetry/transports.py", "import asyncssh, httpx"),
    ("cli/output.py", "from rich.table import Table\nimport typer"),
    ("report/figures.py", "import plotly.graph_objects"),
    ("web/app.py", "from nicegui import ui"),
    ("finding.py", "from eastwest import decision"),
    ("report/__init__.py", "from eastwest import plan, units"),
]


def _layers() -> list[str]:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (layers,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    return [module.strip() for layer in layers for module in layer.split(":")]


def _synthetic_package(folder: Path, files: list[tuple[str, str]]) -> None:
    package = folder / "eastwest"
    for module in ["__init__", *_layers()]:
        is_room = module in ROOMS_WITH_FOLDERS | {"plan", "spec"}
        path = package / (f"{module}/__init__.py" if is_room else f"{module}.py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    for name, text in files:
        (package / name).write_text(text + "\n")


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    program = "import sys; sys.path.insert(0, '.'); from importlinter.cli import lint_imports_command as lint; lint()"
    command = [sys.executable, "-c", program, "--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize(("name", "text", "contract"), VIOLATIONS)
def test_a_bad_import_breaks_its_contract(tmp_path: Path, name: str, text: str, contract: str) -> None:
    _synthetic_package(tmp_path, [(name, text)])
    verdict = _lint(tmp_path)
    broken = [line for line in verdict.stdout.splitlines() if line.rstrip().endswith("BROKEN")]
    assert verdict.returncode == 1, verdict.stdout + verdict.stderr
    assert len(broken) == 1
    assert contract in broken[0]


def test_imports_in_their_home_keep_the_contract(tmp_path: Path) -> None:
    _synthetic_package(tmp_path, ALLOWED)
    verdict = _lint(tmp_path)
    assert verdict.returncode == 0, verdict.stdout + verdict.stderr
    assert " 0 broken" in verdict.stdout
