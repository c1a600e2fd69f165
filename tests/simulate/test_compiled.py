"""The cache of compiled kernels: its folder follows the sources; compiled and interpreted runs are bit-identical."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from eastwest.simulate import compiled

PROGRAM = """
import hashlib
import numpy as np
from eastwest.simulate.flow.build import event_table, flow_table, link_table, path_table
from eastwest.simulate.flow.engine import Run
from eastwest.simulate.flow.tables import EventKind, RecordWish

random = np.random.default_rng(7)
links = link_table(random.integers(1, 100, 12) * 10**9)
paths = path_table([random.choice(12, random.integers(1, 5), replace=False).tolist() for _ in range(40)], links)
digest = hashlib.sha256()
for n_priorities in (1, 3):
    flows = flow_table(
        random.integers(0, 10**7, 120), random.integers(0, 40, 120), start_ps=random.integers(0, 10**9, 120),
        weight=random.choice([0.3, 1, 2], 120), cap_bps=random.integers(10**9, 10**11, 120),
        priority=random.integers(0, n_priorities, 120), parents=[[] if i < 60 else [i - 60, i - 7] for i in range(120)])
    events = event_table([(10**9, EventKind.LINK_RATE, 3, 10**9), (2 * 10**9, EventKind.PATH_SWAP, 1, 2),
                          (10**8, EventKind.FLOW_CAP, 5, 10**9), (3 * 10**9, EventKind.FLOW_STOP, 70, 0)])
    run = Run(links, paths, flows, events, RecordWish(bin_ps=10**8, n_bins=64))
    run.advance(10**9)
    found = run.outcome()
    for table in (run.world.runs["start_ps"], run.world.runs["end_ps"], found.link_bytes, found.series_bytes):
        digest.update(np.ascontiguousarray(table).tobytes())
print(digest.hexdigest())
"""


def digest(**environment: str) -> str:
    """What the program prints in a process of its own."""
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_interpreted_and_compiled_runs_are_identical_to_the_bit() -> None:
    compiled_run = digest(NUMBA_DISABLE_JIT="0")
    assert len(compiled_run) == 64
    assert compiled_run == digest(NUMBA_DISABLE_JIT="1")


def test_the_fingerprint_follows_every_kernel_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "flow" / "heap.py"
    source.parent.mkdir()
    monkeypatch.setattr(compiled, "__file__", str(tmp_path / "compiled.py"))
    (tmp_path / "compiled.py").write_text("")
    found = set()
    for text in ("one", "two", "one"):
        source.write_text(text)
        found.add(compiled.fingerprint.__wrapped__())
    assert len(found) == 2


def test_the_cache_lies_in_the_users_cache_folder_or_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    folder = compiled.cache_folder.__wrapped__()
    assert folder == tmp_path / "eastwest" / f"kernels-{compiled.fingerprint()}"
    assert folder.is_dir()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    assert compiled.cache_folder.__wrapped__() is None
