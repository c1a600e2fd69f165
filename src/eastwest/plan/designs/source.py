"""A table or hand-made design as text: read from a file or a `.gz`, and its YAML as plain values with their lines."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from eastwest.errors import InputError
from eastwest.finding import Finding
from eastwest.spec.document import Document, DocumentError, Flaw, read_document
from eastwest.spec.mistakes import findings_of_flaws

MOST_BYTES = 64 * 1_048_576  # a cable list of 300,000 lines; YAML has its own, smaller limit
GZIP, GZIP_WRAPPER = b"\x1f\x8b", 16  # first bytes of a packed file (RFC 1952), and what tells zlib so
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")  # but tab, form feed and the escape of colours
_OF_A_NETWORK = re.compile("数量|交换机|服务器|型号|名称|线缆|光缆|光模块|光纤|端口|网卡|设备|物料|部件|上行|下行")
_CODES: Mapping[str, str] = {  # a flaw of a site file's text: the same in words that name no site file
    "EW-SITE-004": "EW-CHK-002",
    "EW-SITE-005": "EW-CHK-004",
    "EW-SITE-006": "EW-CHK-003",
    "EW-SITE-007": "EW-CHK-009",
    "EW-SITE-011": "EW-CHK-010",
    "EW-SITE-012": "EW-CHK-074",
    "EW-SITE-018": "EW-CHK-011",
}


def read_file(path: Path | str) -> str:
    """The text of a file, packed or not. Raises InputError when there is none that can be read as UTF-8."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _whole_file("EW-CHK-001", str(path), problem=reason) from error
    return decode(content, str(path))


def _chinese(content: bytes) -> str | None:
    """A text as a Chinese spreadsheet saves it (GB 18030); None unless it then speaks of a network."""
    try:
        text = content.decode("gb18030")
    except UnicodeDecodeError:
        return None
    return text if _OF_A_NETWORK.search(text) else None


def decode(content: bytes, source: str) -> str:
    """Bytes of a file or of standard input as text. Raises InputError for too much, for binary and other encodings."""
    if content.startswith(GZIP):
        try:
            content = zlib.decompressobj(zlib.MAX_WBITS | GZIP_WRAPPER).decompress(content, MOST_BYTES + 1)
        except zlib.error as error:
            raise _whole_file("EW-CHK-001", source, problem=str(error)) from error
    if len(content) > MOST_BYTES:
        raise _whole_file("EW-CHK-003", source, found=len(content), limit=MOST_BYTES)
    is_utf16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        text = content.decode("utf-16" if is_utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        chinese = _chinese(content)
        if chinese is None:
            raise _no_text(content, error.start, f"0x{content[error.start]:02X}", source) from error
        text = chinese
    control = _CONTROL.search(text)
    if control:
        line = text.count("\n", 0, control.start()) + 1
        flaw = Flaw("EW-CHK-002", line, (), {"found": f"U+{ord(control[0]):04X}"})
        raise InputError(findings_of_flaws([flaw], source, None, ()))
    return text


def _no_text(content: bytes, at: int, found: str, source: str) -> InputError:
    flaw = Flaw("EW-CHK-002", content.count(b"\n", 0, at) + 1, (), {"found": found})
    return InputError(findings_of_flaws([flaw], source, None, ()))


def _whole_file(code: str, source: str, **words: object) -> InputError:
    return InputError([Finding(code, "error", source, args={"where": source, **words})])


def read_yaml(text: str, source: str) -> Document:
    """The mapping that a YAML text holds. Raises InputError with every flaw of the text, in words of a table."""
    try:
        document = read_document(text)
    except DocumentError as error:
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        raise InputError(findings_of_flaws([_renamed(error.flaw)], source, None, lines)) from error
    if document.flaws:
        raise InputError(flaws_found(document.flaws, source, document))
    return document


def flaws_found(flaws: Sequence[Flaw], source: str, document: Document) -> tuple[Finding, ...]:
    """Findings of flaws in a text that could be read, with their lines."""
    return findings_of_flaws([_renamed(flaw) for flaw in flaws], source, document, document.lines)


def _renamed(flaw: Flaw) -> Flaw:
    return replace(flaw, code=_CODES.get(flaw.code, flaw.code))
