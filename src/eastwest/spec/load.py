"""A site file read and checked: a `Site` that knows the line of each of its keys, or every mistake at once."""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath

from pydantic import ValidationError

from eastwest.errors import InputError
from eastwest.finding import Evidence
from eastwest.spec import checks
from eastwest.spec.document import Document, DocumentError, Flaw, Path, read_document
from eastwest.spec.mistakes import findings_of_flaws, flaws_of_schema, quoted
from eastwest.spec.site import Site

STANDARD_INPUT = "-"
MAX_FILE_BYTES = 4 * 1_048_576  # a text of 1 Mi characters in UTF-8 has at most this many bytes
GZIP, GZIP_WRAPPER = b"\x1f\x8b", 16  # first bytes of a packed file (RFC 1952), and what tells zlib so
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
_STANDS_FOR: Mapping[Path, Path] = {  # the key that decides when the first is not written
    **{("fabric", tier): ("fabric", "switch") for tier in ("leaf", "spine", "core")},
    ("loss_regime",): ("transport",),
}


@dataclass(frozen=True, slots=True)
class LoadedSite:
    """A site, the name of its source, its text in lines, and the line of each path that the user wrote."""

    site: Site
    source: str
    lines: tuple[str, ...]
    line_numbers: Mapping[Path, int]

    def line_of(self, path: str) -> int | None:
        """The line (from 1) of a dotted path such as `servers[0].nic.rate`; None when the user did not write it."""
        return self.line_numbers.get(_steps(path))

    def where(self, path: str) -> str:
        """`site.yaml:12`: source and line of a path, or of the nearest mapping above it."""
        line = self._nearest(path)
        return f"{self.source}:{line}" if line else self.source

    def evidence(self, path: str) -> tuple[Evidence, ...]:
        """The user's line for a path, or for the nearest mapping above it, as evidence; empty when there is none.

        `fabric.leaf` that is not written means the line of `fabric.switch`, `loss_regime` that of `transport`.
        """
        line = self._nearest(path)
        return (Evidence(self.source, line, quoted(self.lines[line - 1])),) if line else ()

    def _nearest(self, path: str) -> int | None:
        steps = _steps(path)
        while steps and steps not in self.line_numbers:
            steps = _STANDS_FOR.get(steps, steps[:-1])
        return self.line_numbers.get(steps) if steps else None


def load_site(path: FilePath | str) -> LoadedSite:
    """The site of a file, packed (.gz) or not, or of standard input (`-`). Raises InputError with every mistake."""
    return parse_site(read_text(path), _shown(path))


def read_text(path: FilePath | str) -> str:
    """The text of a file, or of standard input (`-`), in UTF-8. Raises InputError when there is none."""
    source = _shown(path)
    try:
        content = _read_bytes(path)
    except FileNotFoundError as error:
        raise _file_error(Flaw("EW-SITE-001", None), source) from error
    except IsADirectoryError as error:
        raise _file_error(Flaw("EW-SITE-002", None), source) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _file_error(Flaw("EW-SITE-003", None, (), {"problem": reason}), source) from error
    return decode(content, source)


def _read_bytes(path: FilePath | str) -> bytes:
    """At most one byte more than a file may have, so that an endless one is noticed."""
    if str(path) == STANDARD_INPUT:
        return sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    with FilePath(path).open("rb") as file:
        return file.read(MAX_FILE_BYTES + 1)


def _shown(path: FilePath | str) -> str:
    """A path as messages and documents show it: bytes that are no UTF-8 escaped."""
    return str(path).encode("utf-8", "backslashreplace").decode("utf-8")


def decode(content: bytes, source: str) -> str:
    """Bytes of a site file, packed (.gz) or not, as text. Raises InputError for other encodings than UTF-8, for binary
    and for too much.
    """
    if content.startswith(GZIP):
        content = _unpacked(content, source)
    if len(content) > MAX_FILE_BYTES:
        raise _file_error(Flaw("EW-SITE-006", None, (), {"found": len(content), "limit": MAX_FILE_BYTES}), source)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or content[:2].count(0) == 1:
        raise _file_error(Flaw("EW-SITE-060", None), source)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        flaw = Flaw("EW-SITE-004", line, (), {"found": f"0x{content[error.start]:02X}"})
        raise _file_error(flaw, source) from error


def _unpacked(content: bytes, source: str) -> bytes:
    """At most one byte more than a file may have of a packed one. Raises InputError when it is cut or damaged."""
    reader = zlib.decompressobj(zlib.MAX_WBITS | GZIP_WRAPPER)
    try:
        text = reader.decompress(content, MAX_FILE_BYTES + 1)
    except zlib.error as error:
        raise _file_error(Flaw("EW-SITE-003", None, (), {"problem": str(error)}), source) from error
    if not reader.eof and len(text) <= MAX_FILE_BYTES:
        raise _file_error(Flaw("EW-SITE-003", None, (), {"problem": "the packed file is cut"}), source)
    return text


def parse_site(text: str, source: str) -> LoadedSite:
    """The site that a text describes; `source` names it in messages. Raises InputError with every mistake at once."""
    try:
        document = read_document(text)
    except DocumentError as error:
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        raise InputError(findings_of_flaws([error.flaw], source, None, lines)) from error
    site, flaws = _validate(document)
    if site is None or flaws:
        raise InputError(findings_of_flaws(flaws, source, document, document.lines))
    return LoadedSite(site, source, document.lines, document.line_numbers)


def _validate(document: Document) -> tuple[Site | None, list[Flaw]]:
    """The site and its flaws; contradictions are looked for only when text, schema and catalogue names are right."""
    flaws = [*document.flaws, *checks.unknown_models(document.data)]
    try:
        site = Site.model_validate(document.data)
    except ValidationError as error:
        return None, flaws + flaws_of_schema(error.errors(include_url=False), document.data)
    return site, flaws or checks.contradictions(site)


def _file_error(flaw: Flaw, source: str) -> InputError:
    return InputError(findings_of_flaws([flaw], source, None, ()))


def _steps(path: str) -> Path:
    return tuple(int(index) if index else name for name, index in _STEP.findall(path))
