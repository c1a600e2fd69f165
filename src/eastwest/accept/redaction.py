"""Names and addresses out of an answer, so that it can be pasted in public: the same name becomes the same placeholder.

Host names that the text shows, file names and paths, IPv4, IPv6 and GIDs, MAC addresses, GUIDs, addresses of memory,
users. What only its owner knows to be a name (a word in a command line) is not found: read before you paste.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

_HEX = "[0-9a-fA-F]"
_PATTERNS = (
    ("user", re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b")),
    ("pod", re.compile(r"(?<=\[)(?:pod|container)/[^\]\s]+(?=\])")),
    ("mac", re.compile(rf"(?<![\w:]){_HEX}{{2}}(?::{_HEX}{{2}}){{5}}(?![\w:])")),
    ("gid", re.compile(rf"(?<![\w:.])(?:{_HEX}{{0,4}}:){{3,}}{_HEX}{{0,4}}(?:\.\d+){{0,3}}(?![\w])")),
    ("gid", re.compile(rf"(?<![\w:.])(?:{_HEX}{{1,4}}::{_HEX}{{1,4}}|::ffff:\d+(?:\.\d+){{3}})\b")),
    ("ip", re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\d)")),
    ("ip", re.compile(r"\bip(?:-\d{1,3}){4}\b")),
    ("guid", re.compile(rf"\b0x{_HEX}{{16}}\b")),
    ("address", re.compile(rf"\b0x{_HEX}{{9,15}}\b")),
    ("path", re.compile(r"(?<![\w.:/)\]}])~?/(?:[\w.@%+-]+/)*[\w.@%+-]+")),
)
KEPT_HOSTS = frozenset({"localhost", "hostname", "host", "node"})


class Redaction:
    """The placeholders handed out so far, by what they stand for."""

    def __init__(self, hosts: Iterable[str] = (), sources: Iterable[str] = ()) -> None:
        self._names: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        for source in sources:
            if source != "-":
                placeholder = self._placeholder("file", source)
                self._names.setdefault(PurePath(source).name, placeholder)
        for host in hosts:
            if host not in KEPT_HOSTS and re.search(r"\w", host):
                self._placeholder("host", host)
        known = sorted(self._names, key=len, reverse=True)
        self._known = (
            re.compile("|".join(rf"(?<![\w.-]){re.escape(name)}(?![\w-])" for name in known)) if known else None
        )

    def _placeholder(self, kind: str, name: str) -> str:
        if name not in self._names:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._names[name] = f"{kind}-{self._counts[kind]}"
        return self._names[name]

    def text(self, text: str) -> str:
        """The text with every name replaced.

        >>> Redaction(["gpu-17"]).text("gpu-17:99 10.1.2.3 -> 10.1.2.4, again 10.1.2.3")
        'host-1:99 ip-1 -> ip-2, again ip-1'
        """
        if self._known:
            text = self._known.sub(lambda found: self._names[found[0]], text)
        for kind, pattern in _PATTERNS:
            text = pattern.sub(lambda found, kind=kind: self._placeholder(kind, found[0]), text)  # type: ignore[misc]
        return text

    def document(self, value: Any) -> Any:
        """A JSON document with every string in it replaced; keys stay."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self.document(item) for key, item in value.items()}
        return [self.document(item) for item in value] if isinstance(value, list) else value
