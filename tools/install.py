"""Make .venv and install the locked packages into it; do nothing when that has been done already.

Used by the Makefile. It runs on the interpreter that the user happens to have, so it keeps to the standard library
and to syntax that an old Python still parses: only so can it say clearly that the Python is too old.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

LOWEST_PYTHON = (3, 11)  # the requires-python of pyproject.toml; tests/packaging compares the two
PIP_FLAGS = ["--disable-pip-version-check", "--no-input", "-qq"]  # errors only
ROOT = Path(__file__).resolve().parent.parent

# Relative to the project, which becomes the working folder.
VENV = Path(".venv")
VENV_PYTHON = VENV / "bin" / "python"
STAMPS = VENV / "installed.json"
WHEELHOUSE = Path("wheelhouse")
PROJECT = Path("pyproject.toml")
LOCKS = {"runtime": Path("requirements/runtime.lock"), "dev": Path("requirements/dev.lock")}


def main(arguments: "list[str] | None" = None) -> int:
    """Exit status of one call: 0 when the environment holds what was asked for, 1 with a message when it cannot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["runtime", "dev", "wheelhouse"])
    parser.add_argument("--wheelhouse", default="", metavar="FOLDER", help="install from these wheels, without network")
    options = parser.parse_args(arguments)
    problem = complaint((sys.version_info[0], sys.version_info[1]), missing_modules())
    if not problem and options.wheelhouse and not Path(options.wheelhouse).is_dir():
        problem = f"WHEELHOUSE='{options.wheelhouse}' is no folder; `make wheelhouse` on a connected machine fills one"
    if problem:
        return fail(problem)
    wheelhouse = str(Path(options.wheelhouse).resolve()) if options.wheelhouse else ""
    os.chdir(ROOT)
    try:
        make_environment()
        if options.what == "wheelhouse":
            download_wheels()
        else:
            install(options.what, wheelhouse)
    except subprocess.CalledProcessError as error:
        return fail(f"this command failed with status {error.returncode}: {' '.join(error.cmd)}")
    return 0


def complaint(version: "tuple[int, int]", missing: "list[str]") -> str:
    """What is wrong with this interpreter and what to do, or an empty string: (major, minor), absent modules."""
    found, lowest = (".".join(map(str, pair)) for pair in (version, LOWEST_PYTHON))
    if version < LOWEST_PYTHON:
        return f"eastwest needs Python {lowest} or newer; {sys.executable} is {found}; try: make PYTHON=python3.11 ..."
    if missing:
        names = ", ".join(missing)
        return f"{sys.executable} lacks the standard module(s) {names}; on Debian and Ubuntu: apt install python3-venv"
    return ""


def missing_modules() -> "list[str]":
    """Names of the standard modules needed for a virtual environment that this interpreter does not have."""
    missing = []
    for name in ("venv", "ensurepip"):
        try:
            __import__(name)
        except ImportError:
            missing.append(name)
    return missing


def fail(message: str) -> int:
    """Say what is wrong on standard error; the exit status for it."""
    sys.stderr.write(f"error: {message}\n")
    return 1


def make_environment() -> None:
    """Create .venv, or create it anew when it was made by another Python or for another folder (it then cannot run)."""
    made_for = {"python": sys.version, "folder": str(ROOT)}
    if VENV_PYTHON.exists() and read_stamps().get("made_for") == made_for:
        return
    say(f"making {VENV} with Python {sys.version.split()[0]}")
    subprocess.check_call([sys.executable, "-m", "venv", "--clear", str(VENV)])
    write_stamps({"made_for": made_for})


def install(what: str, wheelhouse: str) -> None:
    """Install the lock `what` with its hashes, then the project itself as an editable package, unless done before."""
    stamps = read_stamps()
    wanted = {what: digest(LOCKS[what])}
    if what == "dev":
        wanted["runtime"] = digest(LOCKS["runtime"])  # dev.lock contains runtime.lock; tests/house proves it
    if any(stamps.get(name) != value for name, value in wanted.items()):
        say(f"installing {LOCKS[what]}" + (f" from {wheelhouse}" if wheelhouse else ""))
        source = ["--no-index", "--find-links", wheelhouse] if wheelhouse else []
        pip(["install", "--require-hashes", "--requirement", str(LOCKS[what]), *source])
        stamps.update(wanted)
        write_stamps(stamps)
    if stamps.get("project") != digest(PROJECT):
        say("installing eastwest itself (editable)")
        pip(["install", "--no-index", "--no-deps", "--no-build-isolation", "--editable", "."])
        stamps["project"] = digest(PROJECT)
        write_stamps(stamps)


def download_wheels() -> None:
    """Fill ./wheelhouse with the wheels of dev.lock for this Python; an interrupted download leaves the old one."""
    fresh = Path(f"{WHEELHOUSE}.part")
    shutil.rmtree(fresh, ignore_errors=True)
    at_hand = ["--find-links", str(WHEELHOUSE)] if WHEELHOUSE.is_dir() else []
    say(f"downloading the wheels of {LOCKS['dev']}")
    pip(["download", "--require-hashes", "--only-binary", ":all:", "-r", str(LOCKS["dev"]), "-d", str(fresh), *at_hand])
    shutil.rmtree(WHEELHOUSE, ignore_errors=True)
    fresh.rename(WHEELHOUSE)
    say(f"{len(list(WHEELHOUSE.iterdir()))} wheels in ./{WHEELHOUSE}")


def pip(arguments: "list[str]") -> None:
    """Run the environment's own pip."""
    subprocess.check_call([str(VENV_PYTHON), "-m", "pip", *arguments[:1], *PIP_FLAGS, *arguments[1:]])


def digest(path: Path) -> str:
    """SHA-256 of a file's content, hexadecimal: a stamp survives a fresh checkout's new times, unlike make's dates."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_stamps() -> "dict[str, object]":
    """What has been installed into .venv: {name: digest}; empty when nothing is known."""
    try:
        stamps: dict[str, object] = json.loads(STAMPS.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamps


def write_stamps(stamps: "dict[str, object]") -> None:
    """Record what has been installed, after it has been installed."""
    STAMPS.write_text(json.dumps(stamps, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def say(text: str) -> None:
    """Progress, on standard error."""
    sys.stderr.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
