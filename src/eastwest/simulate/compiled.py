"""Kernels: functions that numba compiles once and keeps on disk.

numba's own cache notices an edit of a function's file, but not one of a function that it calls in another file. So the
cache folder's name carries a fingerprint of every source file that holds kernels. Processes that compile at the same
time compile the same kernels in the same order, so they write the same files, and each file is replaced in one step.
With `NUMBA_DISABLE_JIT=1` a kernel is the plain Python function: the same arithmetic, step by step.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

KERNEL_FOLDERS = ("flow", "packet")  # beside this file
FINGERPRINT_LETTERS = 16


@lru_cache(maxsize=1)
def fingerprint() -> str:
    """Digest of all kernel sources, the compiler's version, Python's version and the processor's kind."""
    import numba

    here = Path(__file__).resolve()
    digest = hashlib.sha256(f"{numba.__version__} {sys.version_info[:2]} {platform.machine()}".encode())
    for path in [here, *(path for folder in KERNEL_FOLDERS for path in sorted((here.parent / folder).rglob("*.py")))]:
        digest.update(str(path.relative_to(here.parent)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:FINGERPRINT_LETTERS]


def cache_root() -> Path:
    """Folder of this user's caches: `NUMBA_CACHE_DIR`, `XDG_CACHE_HOME`, or what the system has."""
    for variable in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        if os.environ.get(variable):
            return Path(os.environ[variable])
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")


@lru_cache(maxsize=1)
def cache_folder() -> Path | None:
    """Folder of the compiled kernels of just this source; None when it cannot be made (nothing is kept then)."""
    try:
        folder = cache_root() / "eastwest" / f"kernels-{fingerprint()}"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: this user has no home
        return None
    return folder if os.access(folder, os.W_OK) else None


def kernel(function: F) -> F:
    """The function, compiled at its first call and kept on disk. Floating point as written: no reordering.

    A kernel makes no array and no list: numba then counts no references, which took three quarters of the time of the
    flow engine (an atomic operation for each table that a function takes out of a tuple of tables).
    """
    return _compiled(function, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def entry_kernel(function: F) -> F:
    """A kernel that Python calls; the others are called by kernels only and spare the compiler the bridge."""
    return _compiled(function, _nrt=False)


def kernel_that_allocates(function: F) -> F:
    """A kernel that Python calls and that makes arrays; for what runs once, not in a loop."""
    return _compiled(function)


def _compiled(function: F, **options: bool) -> F:
    numba: Any = import_module("numba")  # its settings and private options are not in its type stubs
    config, folder = numba.config, cache_folder()
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder or "")
    try:
        return cast(F, numba.njit(cache=folder is not None, error_model="numpy", **options)(function))
    finally:
        config.CACHE_DIR = before
