"""The plan's files in one folder, written beside it and renamed: a reader never meets half a plan."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from glob import escape
from itertools import chain, islice
from pathlib import Path
from typing import Any

from eastwest.errors import UsageError

MARK = "plan.json"  # a folder that holds it was written by eastwest and may be replaced
LIST = ".eastwest-files"  # the files of a plan's folder, a line each as sha256sum writes them; older ones names alone
_LISTED = re.compile(r"(?:(?P<digest>[0-9a-f]{64})  )?(?P<name>.+)")
ROWS_AT_ONCE = 4096  # of a CSV table: bounds the memory of its lines before they are joined
HIDDEN = ".eastwest."  # a folder that is being written, or was when the run was killed; may be removed


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A CSV table (RFC 4180, LF line ends) with its header line."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    rest = chain([header], rows)
    while some := list(islice(rest, ROWS_AT_ONCE)):
        # The writer looks at every character for what asks for quotes, in twice the time of joining and counting.
        lines = [",".join(["" if value is None else str(value) for value in row]) for row in some]
        text = "\n".join([*lines, ""])
        if _is_plain(text, some):
            buffer.write(text)
        else:
            writer.writerows(some)
    return buffer.getvalue()


def _is_plain(text: str, rows: Sequence[Sequence[Any]]) -> bool:
    """Whether joined rows are CSV as they stand: no quote, and no comma or line end but those between fields and rows;
    a row of one empty field would be an empty line.
    """
    n_fields, n_rows = sum(map(len, rows)), len(rows)
    ends = text.count(",") == n_fields - n_rows and text.count("\n") == n_rows
    return ends and '"' not in text and "\r" not in text and min(map(len, rows)) > 1


def json_text(document: Any) -> str:
    """A strict JSON document, readable and stable. Raises ValueError for NaN and infinity."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def yaml_text(document: Any) -> str:
    """A YAML document of plain values."""
    from ruamel.yaml import YAML

    writer = YAML(typ="rt")
    writer.default_flow_style = False
    writer.width = 120
    buffer = io.StringIO()
    writer.dump(document, buffer)
    return buffer.getvalue()


def check_folder(folder: Path, names: Iterable[str] = ()) -> None:
    """Refuse a place that a plan cannot take whole: a file, the working folder, a mount point, or a folder that holds
    something that no plan wrote (`names`: what this plan writes, for a folder without a list). Raises UsageError.
    """
    target = _target_of(folder)
    if not target.parent.is_dir():
        return
    with _turn_at(target.parent):
        _check(folder, target, set(names))


def _check(folder: Path, target: Path, names: set[str]) -> None:
    if target.exists() and not target.is_dir():
        raise UsageError(f"--out {folder} is a file", hint="name a folder that does not exist yet")
    if target == Path.cwd() or target in Path.cwd().parents:
        raise UsageError(f"--out {folder} is the working folder or holds it", hint="name a folder inside it")
    if not target.is_dir():
        return
    if target.is_mount():
        raise UsageError(f"--out {folder} is a mount point", hint=f"name a folder inside it: --out {folder / 'plan'}")
    inside = {str(path.relative_to(target)) for path in target.rglob("*") if not path.is_dir()}
    if inside and MARK not in inside:
        raise UsageError(
            f"--out {folder} is not empty and holds no {MARK}",
            hint="name a new folder, or one that an earlier plan wrote; nothing of yours is overwritten",
        )
    listed = files_in(target)
    written = set(listed) or names or inside
    foreign = sorted(inside - written - {LIST})
    if foreign:
        raise UsageError(
            f"--out {folder} holds {foreign[0]}, which no plan wrote"
            + (f", and {len(foreign) - 1} more such files" if foreign[1:] else ""),
            hint="move it elsewhere, or name another folder; nothing of yours is overwritten",
        )
    changed = [
        name for name, digest in listed.items() if name in inside and digest not in ("", digest_of(target / name))
    ]
    if changed:
        raise UsageError(
            f"--out {folder} holds {changed[0]}, which was changed after the plan wrote it"
            + (f", and {len(changed) - 1} more such files" if changed[1:] else ""),
            hint="move it elsewhere, or name another folder; nothing of yours is overwritten",
        )


def _target_of(folder: Path) -> Path:
    """The folder itself, behind every symbolic link. Raises UsageError when there is no such place."""
    try:
        target = folder.resolve()
        target.exists()
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(_cannot_write(folder, error), hint="choose another --out folder") from error
    return target


def files_in(folder: Path) -> dict[str, str]:
    """The files that we wrote into this folder, by its own list, and the SHA-256 of each as written, empty
    where the list has none; nothing without a list.
    """
    try:
        lines = (folder / LIST).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    found = [_LISTED.fullmatch(line) for line in lines]
    return {match["name"]: match["digest"] or "" for match in found if match}


def digest_of(path: Path) -> str:
    """SHA-256 of a file; of a link that leads nowhere, nothing that a list could hold."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return "unreadable"


def listing(folder: Path, names: Iterable[str]) -> str:
    """The list of files as they were written."""
    return _lines_of({name: digest_of(folder / name) for name in names})


def _lines_of(digests: Mapping[str, str]) -> str:
    return "".join(f"{digest}  {name}\n" for name, digest in digests.items())


def _cannot_write(place: Path, error: Exception) -> str:
    return f"cannot write {place}: {getattr(error, 'strerror', None) or error}"


def write_folder(folder: Path, files: Mapping[str, str]) -> None:
    """Write every file into a new hidden folder beside `folder`, then put it in its place.

    An earlier plan folder is moved aside first and removed last; two runs at once take turns, and the later one stands.
    Raises UsageError when the place cannot be written.
    """
    target = _target_of(folder)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as held:
            with _turn_at(target.parent):
                _clear_left_overs(target)
                fresh = Path(tempfile.mkdtemp(prefix=f"{HIDDEN}new.", dir=target.parent))
                held.callback(shutil.rmtree, fresh, ignore_errors=True)
                held.enter_context(_turn_at(fresh))  # says that somebody still writes it
            digests = _fill(fresh, files)
            _fill(fresh, {LIST: _lines_of(digests)})
            with _turn_at(target.parent):
                _check(folder, target, set(files))
                _swap(fresh, target)
    except OSError as error:
        raise UsageError(_cannot_write(folder, error), hint="choose another --out folder") from error


def write_file(path: Path, text: str) -> None:
    """Write one file beside its place, then rename it, so that two runs at once never mix. Raises OSError."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)  # there only when the rename did not happen


def _fill(folder: Path, files: Mapping[str, str]) -> dict[str, str]:
    """Write the files; the SHA-256 of each."""
    folder.chmod(0o755)
    digests = {}
    for name, text in files.items():
        path, written = folder / name, text.encode("utf-8", "backslashreplace")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(written)
        digests[name] = hashlib.sha256(written).hexdigest()
    return digests


@contextmanager
def _turn_at(folder: Path) -> Iterator[None]:
    """Wait until no other run renames in this folder (an advisory lock on the folder, which leaves no file)."""
    with ExitStack() as held:
        with suppress(ImportError, OSError):  # not POSIX, a folder that cannot be read, a file system without locks
            import fcntl

            handle = os.open(folder, os.O_RDONLY)
            held.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _clear_left_overs(target: Path) -> None:
    """Remove what killed runs left beside a place: new folders that nobody holds any more, old ones of this place.

    Needs the turn at the folder. Without locks nothing is removed, since nobody could tell a run from its remains.
    """
    try:
        import fcntl
    except ImportError:
        return
    found = [
        path for kind in ("new", f"old.{_mark_of(target)}") for path in target.parent.glob(f"{HIDDEN}{escape(kind)}.*")
    ]
    for path in found:
        with ExitStack() as held, suppress(OSError):
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            held.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)


def _mark_of(target: Path) -> str:
    """A short mark of a folder's name, so that a name of any length has one."""
    return hashlib.sha256(os.fsencode(target.name)).hexdigest()[:12]


def _swap(fresh: Path, target: Path) -> None:
    """Put `fresh` where `target` is; the old folder survives until the new one stands."""
    if not target.exists():
        fresh.rename(target)
        return
    old = Path(tempfile.mkdtemp(prefix=f"{HIDDEN}old.{_mark_of(target)}.", dir=target.parent))
    try:
        target.rename(old)
    except OSError:
        old.rmdir()
        raise
    try:
        fresh.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)
