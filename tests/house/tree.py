"""The project's files, as the house rules see them."""

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BINARY = frozenset({".png", ".gz", ".zst", ".parquet", ".whl", ".woff2", ".ico"})


@cache
def project_files() -> tuple[Path, ...]:
    """Every file that git tracks or would track, sorted; outside a checkout, every file of the named folders."""
    listing = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        names = subprocess.run(listing, capture_output=True, check=True, text=True).stdout.split("\0")
        paths = {ROOT / name for name in names if name}
    except (OSError, subprocess.CalledProcessError):
        folders = ("src", "tests", "tools", "docs", "examples", "requirements", "benchmarks", ".ci")
        paths = {path for folder in folders for path in (ROOT / folder).rglob("*") if "__pycache__" not in path.parts}
        paths |= set(ROOT.glob("*.*")) | {ROOT / "Makefile"}
    return tuple(sorted(path for path in paths if path.is_file()))


def python_files(*folders: str) -> list[Path]:
    """The project's Python files in these top folders."""
    return [path for path in project_files() if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in folders]


def text_files() -> list[Path]:
    """The project's files that are text."""
    return [path for path in project_files() if path.suffix not in BINARY]


def name_of(path: Path) -> str:
    """The path as a reader of the project writes it."""
    return path.relative_to(ROOT).as_posix()
