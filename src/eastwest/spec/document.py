"""A YAML 1.2 text as plain values, each with the line that it stands on, and what is wrong with the text.

The values are built from parser events, not by a YAML constructor, so that duplicate keys are seen, every value keeps
its line, and hostile texts (deep nesting, alias bombs, binary) end in a sentence instead of a traceback.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_TEXT_CHARACTERS = 1_048_576  # 1 MiB of text: 10,000 servers listed one by one need about half
MAX_DEPTH = 20  # the deepest key of a site file is 6 levels down
MAX_VALUES = 100_000  # values after aliases are followed
MAX_DIGITS = 300  # longer runs of digits are text: no quantity has them, and int() of them is slow

Path = tuple[str | int, ...]

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_STANDARD_TAG = "tag:yaml.org,2002:"
_PLAIN_TAGS = frozenset(f"{_STANDARD_TAG}{name}" for name in ("bool", "float", "int", "map", "null", "seq", "str"))
_NULL = re.compile(r"^(?:~|null|Null|NULL|)$")
_TRUE = re.compile(r"^(?:true|True|TRUE)$")
_FALSE = re.compile(r"^(?:false|False|FALSE)$")
_INT = re.compile(r"^[-+]?[0-9]+$")
_HEX_OR_OCTAL = re.compile(r"^0(?:o[0-7]+|x[0-9a-fA-F]+)$")
_FLOAT = re.compile(r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,3})?$")


@dataclass(frozen=True, slots=True)
class Flaw:
    """One mistake: a code of `messages`, the line from 1 (None: that of the path), the path, words for the sentence."""

    code: str
    line: int | None
    path: Path = ()
    args: Mapping[str, Any] = field(default_factory=dict)


class DocumentError(Exception):
    """A text that cannot be read on: the flaw that stopped it."""

    def __init__(self, flaw: Flaw) -> None:
        super().__init__(flaw.code)
        self.flaw = flaw


@dataclass(frozen=True, slots=True)
class Document:
    """Plain values (dict, list, str, int, float, bool, None), the text in lines, path -> line from 1, and flaws."""

    data: Any
    lines: tuple[str, ...]
    line_numbers: Mapping[Path, int]
    flaws: tuple[Flaw, ...]


@dataclass(frozen=True, slots=True)
class _Node:
    """A YAML node: `value` is a plain scalar, a list of nodes, or a list of (key, node) pairs."""

    kind: str
    line: int
    value: Any


def read_document(text: str) -> Document:
    """The one mapping that a site text holds. Raises DocumentError for a text that is no such thing."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = text.translate({0x85: " ", 0x2028: " ", 0x2029: " "})  # line breaks to some parsers, not to people
    lines = tuple(text.split("\n"))
    _refuse_what_is_no_text(text)
    root = _compose(text, lines)
    if root is None or (root.kind == "scalar" and root.value is None):
        raise DocumentError(Flaw("EW-SITE-005", None))
    if root.kind != "mapping":
        raise DocumentError(Flaw("EW-SITE-012", root.line))
    builder = _Builder()
    data = builder.plain(root, ())
    return Document(data, lines, builder.line_numbers, tuple(builder.flaws))


def _refuse_what_is_no_text(text: str) -> None:
    if len(text) > MAX_TEXT_CHARACTERS:
        raise DocumentError(Flaw("EW-SITE-006", None, (), {"found": len(text), "limit": MAX_TEXT_CHARACTERS}))
    control = _CONTROL.search(text)
    if control:
        line = text.count("\n", 0, control.start()) + 1
        raise DocumentError(Flaw("EW-SITE-004", line, (), {"found": f"U+{ord(control[0]):04X}"}))


def _compose(text: str, lines: tuple[str, ...]) -> _Node | None:
    """The root node. The C parser goes first; when it refuses, the Python parser has the word, on every machine."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        return _Composer(YAML(typ="safe").parse(text)).root()
    except YAMLError:
        pass
    try:
        return _Composer(YAML(typ="safe", pure=True).parse(text)).root()
    except MarkedYAMLError as error:
        raise DocumentError(_syntax_flaw(error, lines)) from error
    except (YAMLError, ValueError, IndexError, AssertionError) as error:  # what the parser lets through on odd texts
        raise DocumentError(Flaw("EW-SITE-009", None, (), {"problem": _one_line(error)})) from error


def _one_line(problem: object) -> str:
    return " ".join(str(problem).split())[:120]


_SYNTAX = (
    (r"'\\t'|tab character|\\t", "EW-SITE-010"),
    (r"mapping values are not allowed", "EW-SITE-014"),
    (r"end of stream|<stream end>|expected ',' or '[\]}]'|quoted scalar", "EW-SITE-015"),
    (r"<block end>|block mapping|block collection|could not find expected ':'|simple key", "EW-SITE-016"),
    (r"undefined alias|alias", "EW-SITE-017"),
)


def _syntax_flaw(error: Any, lines: tuple[str, ...]) -> Flaw:
    """The parser's complaint under the code of its commonest cause."""
    mark = error.problem_mark or error.context_mark
    line = min(mark.line + 1, len(lines)) if mark else None
    while line and line > 1 and not lines[line - 1].strip():
        line -= 1  # the parser points past the end; people look at the last line with text
    problem = _one_line(error.problem or error.context or error)
    if line and "\t" in lines[line - 1][: len(lines[line - 1]) - len(lines[line - 1].lstrip())]:
        return Flaw("EW-SITE-010", line)
    words = f"{error.context or ''} {problem}"
    code = next((code for pattern, code in _SYNTAX if re.search(pattern, words)), "EW-SITE-009")
    return Flaw(code, line, (), {"problem": problem})


class _Composer:
    """Nodes from parser events, with limits on depth; it lives for one text."""

    def __init__(self, events: Iterator[Any]) -> None:
        self._events = events
        self._anchors: dict[str, _Node] = {}

    def root(self) -> _Node | None:
        """The node of the only document; None when there is no document."""
        root: _Node | None = None
        n_documents = 0
        for event in self._events:
            name = type(event).__name__
            if name == "DocumentStartEvent":
                n_documents += 1
                if n_documents > 1:
                    raise DocumentError(Flaw("EW-SITE-011", event.start_mark.line + 1))
            elif name not in ("StreamStartEvent", "StreamEndEvent", "DocumentEndEvent"):
                root = self._node(event, 1)
        return root

    def _node(self, event: Any, depth: int) -> _Node:
        line = event.start_mark.line + 1
        if depth > MAX_DEPTH:
            raise DocumentError(Flaw("EW-SITE-007", line, (), {"limit": MAX_DEPTH}))
        kind = type(event).__name__
        if kind == "AliasEvent":
            if event.anchor not in self._anchors:
                raise DocumentError(Flaw("EW-SITE-017", line, (), {"problem": f"*{event.anchor}"}))
            return self._anchors[event.anchor]
        tag = None if event.tag is None else str(event.tag)
        if tag and tag != "!" and tag not in _PLAIN_TAGS:
            raise DocumentError(Flaw("EW-SITE-018", line, (), {"found": tag}))
        if kind == "ScalarEvent":
            node = _Node("scalar", line, _scalar(event, tag))
        elif kind == "SequenceStartEvent":
            node = _Node("list", line, list(self._items(depth)))
        else:
            node = _Node("mapping", line, list(self._pairs(depth)))
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _items(self, depth: int) -> Iterator[_Node]:
        for event in self._events:
            if type(event).__name__ == "SequenceEndEvent":
                return
            yield self._node(event, depth + 1)

    def _pairs(self, depth: int) -> Iterator[tuple[tuple[int, _Node], _Node]]:
        for event in self._events:
            if type(event).__name__ == "MappingEndEvent":
                return
            key = self._node(event, depth + 1)
            yield (event.start_mark.line + 1, key), self._node(next(self._events), depth + 1)


def _scalar(event: Any, tag: str | None) -> Any:
    """The plain value of a scalar by the YAML 1.2 core rules (`no` and `on` are text, `010` is ten)."""
    text: str = event.value
    if tag == f"{_STANDARD_TAG}str" or tag == "!" or (tag is None and not event.implicit[0]):
        return text
    return resolve_scalar(text)


def resolve_scalar(text: str) -> str | int | float | bool | None:
    """A plain YAML scalar as null, true/false, whole number, number or text."""
    if _NULL.match(text):
        return None
    if _TRUE.match(text) or _FALSE.match(text):
        return bool(_TRUE.match(text))
    if len(text) > MAX_DIGITS:
        return text
    if _INT.match(text):
        return int(text)
    if _HEX_OR_OCTAL.match(text):
        return int(text[2:], 8 if text[1] == "o" else 16)
    return float(text) if _FLOAT.match(text) else text


class _Builder:
    """Plain values and line numbers from nodes; it counts values, so that an alias bomb is noticed before it grows."""

    def __init__(self) -> None:
        self.line_numbers: dict[Path, int] = {}
        self.flaws: list[Flaw] = []
        self._n_values = 0

    def plain(self, node: _Node, path: Path) -> Any:
        """The plain value of a node; its line is kept unless its key's line already is."""
        self._n_values += 1
        if self._n_values > MAX_VALUES:
            raise DocumentError(Flaw("EW-SITE-008", node.line, (), {"limit": MAX_VALUES}))
        self.line_numbers.setdefault(path, node.line)
        if node.kind == "scalar":
            return node.value
        if node.kind == "list":
            return [self.plain(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._mapping(node, path)

    def _mapping(self, node: _Node, path: Path) -> dict[str, Any]:
        values: dict[str, Any] = {}
        first_lines: dict[str, int] = {}
        merged: list[tuple[int, _Node]] = []
        for (line, key_node), value_node in node.value:
            key = key_node.value
            if key_node.kind != "scalar" or not isinstance(key, str):
                shown = key if key_node.kind == "scalar" else key_node.kind
                self.flaws.append(Flaw("EW-SITE-019", line, path, {"found": "null" if shown is None else str(shown)}))
            elif key == "<<":
                merged.append((line, value_node))
            elif key in first_lines:
                words = {"key": key, "first": first_lines[key]}
                self.flaws.append(Flaw("EW-SITE-013", line, (*path, key), words))
            else:
                first_lines[key] = self.line_numbers[(*path, key)] = line
                values[key] = self.plain(value_node, (*path, key))
        for line, source in merged:
            self._merge(source, values, path, line)
        return values

    def _merge(self, source: _Node, values: dict[str, Any], path: Path, line: int) -> None:
        """Keys of `<<: *anchor`, where the mapping itself does not give them."""
        for part in source.value if source.kind == "list" else [source]:
            if part.kind != "mapping":
                self.flaws.append(Flaw("EW-SITE-019", line, path, {"found": "<<"}))
                continue
            known = dict(self.line_numbers)
            for key, value in self._mapping(part, path).items():
                values.setdefault(key, value)
            self.line_numbers.update(known)
