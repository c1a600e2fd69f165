"""Texts behind an INPUT that was pasted or collected: a file, a packed file, a folder of them, `-` for standard input.

Unlike a table or a site file, such text is taken as it is: letters that are no UTF-8 and control characters stay in it
as marks, since a log with one broken byte is still a log.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from eastwest.errors import UsageError

MOST_BYTES = 64 * 1_048_576  # of one text
MOST_FILES = 2000  # of one folder
GZIP, GZIP_WRAPPER = b"\x1f\x8b", 16  # first bytes of a packed file (RFC 1952), and what tells zlib so


def read_texts(names: Sequence[str]) -> list[tuple[str, str]]:
    """(source, text) of every INPUT, folders file by file in order of name. Raises UsageError for what is no text."""
    return [found for name in names for found in _texts(name)]


def _texts(name: str) -> Iterator[tuple[str, str]]:
    if name == "-":
        yield "-", decode(sys.stdin.buffer.read(MOST_BYTES + 1), "-")
        return
    path = Path(name)
    if not path.is_dir():
        yield name, _file(path)
        return
    files = sorted(item for item in path.rglob("*") if item.is_file() and not item.name.startswith("."))
    if not files:
        raise UsageError(f"{name}: the folder holds no files", hint="name a file, or - for standard input")
    for item in files[:MOST_FILES]:
        yield str(item), _file(item)


def _file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{path}: the file cannot be read: {reason}", hint="check the path") from error
    return decode(content, str(path))


def decode(content: bytes, source: str) -> str:
    """Bytes as text. Raises UsageError for more than 64 MiB and for a broken packed file."""
    if content.startswith(GZIP):
        try:
            content = zlib.decompressobj(zlib.MAX_WBITS | GZIP_WRAPPER).decompress(content, MOST_BYTES + 1)
        except zlib.error as error:
            raise UsageError(f"{source}: the packed file is broken: {error}") from error
    if len(content) > MOST_BYTES:
        raise UsageError(f"{source}: more than 64 MiB", hint="cut out the run, or pass its file alone")
    is_utf16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    return content.decode("utf-16" if is_utf16 else "utf-8-sig", errors="replace")
