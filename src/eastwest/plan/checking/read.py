"""The text of a design, bill or list as `Sheet`s: YAML rows, a table with a header, or lines as people paste them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from eastwest.errors import InputError
from eastwest.finding import Evidence
from eastwest.plan.checking.bill import facts_of_bill
from eastwest.plan.checking.keys import read_key
from eastwest.plan.checking.sheet import Fact, PartLine, Sheet, merge
from eastwest.plan.checking.tables import find_table, read_table
from eastwest.plan.checking.words import LONGEST_LINE, read_line
from eastwest.plan.designs.case import Row
from eastwest.plan.designs.source import flaws_found, read_yaml
from eastwest.plan.designs.table import row_of
from eastwest.spec.document import Document, Flaw, Path
from eastwest.spec.mistakes import quoted, shown

MOST_LINES = 400_000  # the cable list of 131,072 GPUs in three tiers
_YAML_LINE = re.compile(r"^\s*(?:-\s+)?[A-Za-z_][\w.-]*\s*:(?:\s|$)")
_YAML_KEYS = re.compile(r"^\s*(?:-\s+\{?\s*)?(?:rows|inputs|outputs)\s*:", re.MULTILINE)
_COLOUR = re.compile("\x1b\\[[0-9;]*[A-Za-z]")  # terminal colours of pasted text
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\(?[a-z0-9]{1,3}[).])\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Subject:
    """One design of the text: its name ("" for the only one), its sheet, its row if it is one of a designs table."""

    name: str
    sheet: Sheet
    row: Row | None = None


def read_subjects(text: str, source: str) -> tuple[Subject, ...]:
    """Every design that a text holds. Raises InputError for a broken table or YAML, and for an empty text."""
    text = _COLOUR.sub("", text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    lines = text.split("\n")[:MOST_LINES]
    if not text.strip():
        read_yaml("", source)
    table = find_table(lines)
    if table is not None:
        parts = read_table(lines, table, source)
        return (Subject("", Sheet(source, facts_of_bill(parts), parts)),)
    if _is_yaml(text, lines):
        return tuple(_of_yaml(text, source))
    return (Subject("", _of_lines(lines, source)),)


def _is_yaml(text: str, lines: list[str]) -> bool:
    """Whether every line at the margin is `key: value` or an item, or a key of a designs table heads one."""
    written = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    margin = [line for line in written if not line[0].isspace()]
    keyed = sum(bool(_YAML_LINE.match(line)) for line in written)
    is_flow = bool(re.match(r"\s*(?:-\s*)?\{", text))
    is_tidy = bool(keyed) and all(_YAML_LINE.match(line) or line[0] in "-}]" for line in margin)
    return bool(_YAML_KEYS.search(text)) or is_flow or is_tidy


def _of_yaml(text: str, source: str) -> Iterator[Subject]:
    """The designs of a YAML text: its rows, a list of rows, or the one mapping that it is."""
    is_list = bool(re.match(r"(?:\s*#[^\n]*\n|\s*\n)*\s*-\s", text))
    document = read_yaml(f"rows:\n{text}" if is_list else text, source)
    rows, shift = document.data.get("rows"), 1 if is_list else 0
    if rows is None:
        yield _of_mapping(document.data, (), document, source, shift)
        return
    if not isinstance(rows, list) or not rows:
        raise InputError(flaws_found([Flaw("EW-CHK-005", None, ("rows",), {"found": shown(rows)})], source, document))
    flaws = [
        Flaw("EW-CHK-006", None, ("rows", index), {"number": index + 1, "found": shown(row)})
        for index, row in enumerate(rows)
        if not isinstance(row, dict)
    ]
    if flaws:
        raise InputError(flaws_found(flaws, source, document))
    for index, row in enumerate(rows):
        yield _of_mapping(row, ("rows", index), document, source, shift)


def _of_mapping(data: Mapping[str, Any], path: Path, document: Document, source: str, shift: int) -> Subject:
    """One design: every scalar under its own key or that of its parent; a designs row also as such."""
    facts: dict[str, Fact] = {}
    flaws: list[Flaw] = []
    for where, value in _scalars(data, path):
        line = document.line_numbers.get(where)
        text = document.lines[line - 1] if line else ""
        evidence = Evidence(source, line - shift if line else None, quoted(text))
        words = [str(step) for step in where[len(path) :] if isinstance(step, str)]
        reading = read_key([word for word in words if word not in ("inputs", "outputs")], value)
        if reading is None:
            flaws.append(Flaw("EW-CHK-072", line - shift if line else None, where, {"found": shown(value)}))
            continue
        facts = merge(facts, {name: Fact(name, found, evidence) for name, found in reading.items()})
    if flaws:
        raise InputError(flaws_found(flaws, source, document))
    is_row = isinstance(data.get("inputs"), dict) and isinstance(data.get("outputs"), dict)
    row = row_of(dict(data), path or ("rows", 0), document) if is_row else None
    name = str(data.get("id") or data.get("name") or (f"row {int(path[-1]) + 1}" if path else ""))
    return Subject(name, Sheet(source, facts), row)


def _scalars(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _scalars(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _scalars(item, (*path, index))
    elif value is not None:
        yield path, value


def _of_lines(lines: list[str], source: str) -> Sheet:
    """Pasted lines: numbers of every line, and each line as a line of parts too."""
    facts: dict[str, Fact] = {}
    parts: list[PartLine] = []
    unknown: list[Evidence] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        evidence = Evidence(source, number, quoted(line))
        line = line[:LONGEST_LINE]  # patterns that look for a length take quadratic time on a line of digits
        reading = read_line(line)
        facts = merge(facts, {name: Fact(name, value, evidence) for name, value in reading.items()})
        parts += _parts_of_line(line, evidence)
        if not reading:
            unknown.append(evidence)
    return Sheet(source, facts, tuple(parts), tuple(unknown))


def _parts_of_line(line: str, evidence: Evidence) -> Iterator[PartLine]:
    """The items of one line: `(a) … ; (b) …` are two."""
    marks = list(re.finditer(r"\(([a-z])\)\s*", line))
    if len(marks) > 1:
        ends = [*(mark.start() for mark in marks[1:]), len(line)]
        for mark, end in zip(marks, ends, strict=True):
            yield _part(line[mark.end() : end].strip(" ;,"), f"({mark[1]})", evidence)
        return
    item = _LIST_MARK.match(line)
    label = item[0].strip() if item and re.search(r"[a-z0-9]", item[0], re.I) else f"line {evidence.line}"
    yield _part(line[item.end() :] if item else line, label, evidence)


def _part(text: str, label: str, evidence: Evidence) -> PartLine:
    quantity = re.match(r"\s*(\d{1,7})\s*(?:[x×]|pcs|pieces|ea)\b\s*(?!\d+\s*[GT]\b)", text, re.I)
    length = re.search(r"(\d+(?:\.\d+)?)\s*(km|m)\b", text)
    metres = float(length[1][:12]) * (1000.0 if length[2] == "km" else 1.0) if length else None
    return PartLine(label, text, int(quantity[1]) if quantity else None, metres, evidence)
