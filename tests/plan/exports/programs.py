"""Other people's programs as readers of what we write: found or skipped, started in a folder of their own, always
stopped.
"""

import contextlib
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

START_LIMIT_S = 60.0
POLL_S = 0.05


def need(*programs: str) -> None:
    """Skip the test when one of the programs is not installed."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


@contextlib.contextmanager
def running(
    command: Sequence[str | Path], log: Path, ready: Callable[[], bool], env: dict[str, str] | None = None
) -> Iterator[None]:
    """The command runs from when `ready` says so until the end of the block; its output goes to `log`."""
    with log.open("wb") as sink:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=sink, stderr=subprocess.STDOUT, env=env)
    try:
        _wait(process, ready, log)
        yield
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=10)
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()


def _wait(process: subprocess.Popen[bytes], ready: Callable[[], bool], log: Path) -> None:
    limit = time.monotonic() + START_LIMIT_S
    while not ready():
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=POLL_S)
            pytest.fail(f"{process.args!r} ended early: {log.read_text(errors='replace')[-2000:]}")
        assert time.monotonic() < limit, f"{process.args!r} is not ready: {log.read_text(errors='replace')[-2000:]}"
