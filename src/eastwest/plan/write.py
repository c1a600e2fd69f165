"""The plan's files in one folder, written beside it and renamed: a reader never meets half a plan."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from eastwest.errors import UsageError

MARK = "plan.json"  # a folder that holds it was written by eastwest and may be replaced


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A CSV table (RFC 4180, LF line ends) with its header line."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue()


def json_text(document: Any) -> str:
    """A JSON document, readable and stable."""
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def yaml_text(document: Any) -> str:
    """A YAML document of plain values."""
    from ruamel.yaml import YAML

    writer = YAML(typ="rt")
    writer.default_flow_style = False
    writer.width = 120
    buffer = io.StringIO()
    writer.dump(document, buffer)
    return buffer.getvalue()


def check_folder(folder: Path) -> None:
    """Refuse a folder that holds something that eastwest did not write. Raises UsageError."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--out {folder} is a file", hint="name a folder that does not exist yet")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).exists():
        raise UsageError(
            f"--out {folder} is not empty and holds no {MARK}",
            hint="name a new folder, or one that an earlier plan wrote; nothing of yours is overwritten",
        )


def write_folder(folder: Path, files: Mapping[str, str]) -> None:
    """Write every file into a new folder beside `folder`, then put it in its place.

    An earlier plan folder is moved aside first and removed last, so that at every moment one whole plan exists. Raises
    UsageError when the place cannot be written.
    """
    check_folder(folder)
    target = folder.absolute()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            _fill(fresh, files)
            _swap(fresh, target)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    except OSError as error:
        raise UsageError(
            f"cannot write {folder}: {error.strerror or error}", hint="choose another --out folder"
        ) from error


def _fill(folder: Path, files: Mapping[str, str]) -> None:
    folder.chmod(0o755)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


def _swap(fresh: Path, target: Path) -> None:
    """Put `fresh` where `target` is; the old folder survives until the new one stands."""
    if not target.exists():
        fresh.rename(target)
        return
    old = target.with_name(f".{target.name}.old.{os.getpid()}")
    target.rename(old)
    try:
        fresh.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)
