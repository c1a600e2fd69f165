"""The text of a design, bill or list as `Sheet`s: YAML rows, a table with a header, or lines as people paste them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from eastwest.errors import InputError
from eastwest.finding import Evidence, Finding
from eastwest.plan.checking.alike import outline
from eastwest.plan.checking.bill import read_bill, server_of_model, switches_of_models
from eastwest.plan.checking.cable_ends import ends_in_words
from eastwest.plan.checking.keys import read_key
from eastwest.plan.checking.optics_line import read_optics
from eastwest.plan.checking.phrases import Context
from eastwest.plan.checking.sheet import PartLine, Reading, Sheet, Unused, length_in_m
from eastwest.plan.checking.tables import find_table, read_table
from eastwest.plan.checking.tokens import TIERS
from eastwest.plan.checking.words import LONGEST_LINE, Words, is_about_a_nic, read_words
from eastwest.plan.designs.case import Row
from eastwest.plan.designs.source import flaws_found, read_yaml
from eastwest.plan.designs.table import row_of
from eastwest.spec.document import Document, Flaw, Path
from eastwest.spec.mistakes import quoted, shown

MOST_CHARACTERS = 4 * 1_048_576  # of a text that is no table
MOST_PROSE = 1_048_576  # characters of lines that are not alike: some seconds of reading
OF_A_DESIGN = frozenset(
    ["leaves", "spines", "cores", "servers", "gpus", "leaf_up", "leaf_down", "leaf_ports", "spine_ports"]
)
SECOND_COLON = "EW-SITE-014"  # two keys in one line
OF_OPTICS = ("modules", "links", "hca", "mtu_bytes", "busbw_bytes_per_s")
MOST_LINES = 400_000  # the cable list of 131,072 GPUs in three tiers
READ_ALIKE = 8  # lines that differ in digits only are read so often: what more of them say was said before
_YAML_LINE = re.compile(r"^\s*(?:-\s+)?[A-Za-z_][\w.-]*\s*:(?:\s|$)")
_YAML_ITEM = re.compile(r"-\s*(?:[{\[]|$)|[}\]]")
_BULLET = re.compile(r"-\s+[A-Za-z_][\w.-]*\s*:\s+[^\s{\[]")  # a list of lines, each with one number
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
    """Every design that a text holds.

    Raises InputError for a broken table or YAML, an empty text, too much prose, and a site file.
    """
    text = _COLOUR.sub("", text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    lines = text.split("\n")[:MOST_LINES]
    if not text.strip():
        read_yaml("", source)
    table = find_table(lines)
    if table is not None:
        reading = Reading(source)
        read_bill(read_table(lines, table, source), reading)
        return (Subject("", reading.sheet()),)
    if len(text) > MOST_CHARACTERS:
        raise InputError([_too_long(source, len(text), MOST_CHARACTERS)])
    if _is_yaml(text, lines):
        try:
            return tuple(_of_yaml(text, source))
        except InputError as error:
            if _YAML_KEYS.search(text) or any(finding.code != SECOND_COLON for finding in error.findings):
                raise  # else sentences with colons, which only look like keys
    return (Subject("", _of_lines(lines, source, is_about_a_nic(text))),)


def _too_long(source: str, found: int, limit: int) -> Finding:
    return Finding("EW-CHK-003", "error", source, args={"where": source, "found": found, "limit": limit})


def _is_yaml(text: str, lines: list[str]) -> bool:
    """Whether every line at the margin is `key: value` or an item, or a key of a designs table heads one."""
    written = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    margin = [line for line in written if not line[0].isspace()]
    keyed = sum(bool(_YAML_LINE.match(line)) for line in written)
    is_flow = bool(re.match(r"\s*(?:-\s*)?\{", text))
    is_tidy = bool(keyed) and all(_YAML_LINE.match(line) or _YAML_ITEM.match(line) for line in margin)
    return bool(_YAML_KEYS.search(text)) or is_flow or (is_tidy and not all(_BULLET.match(line) for line in written))


def _of_yaml(text: str, source: str) -> Iterator[Subject]:
    """The designs of a YAML text: its rows, a list of rows, or the one mapping that it is."""
    is_list = bool(re.match(r"(?:\s*#[^\n]*\n|\s*\n)*\s*-\s", text))
    document = read_yaml(f"rows:\n{text}" if is_list else text, source)
    rows, shift = document.data.get("rows"), 1 if is_list else 0
    if isinstance(document.data.get("servers"), list) and isinstance(document.data.get("fabric"), dict):
        raise InputError([Finding("EW-CHK-082", "error", source, args={"where": source})])
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
    reading, flaws = Reading(source), []
    for where, value in _scalars(data, path):
        line = document.line_numbers.get(where)
        text = document.lines[line - 1] if line else ""
        evidence = Evidence(source, line - shift if line else None, quoted(text))
        words = [str(step) for step in where[len(path) :] if isinstance(step, str)]
        said = read_key([word for word in words if word not in ("inputs", "outputs")], value)
        if said is None:
            flaws.append(Flaw("EW-CHK-072", line - shift if line else None, where, {"found": shown(value)}))
            continue
        _add(reading, said, evidence)
    if flaws:
        raise InputError(flaws_found(flaws, source, document))
    for tier in (*TIERS, "switch"):
        reading.break_out(tier)
    is_row = isinstance(data.get("inputs"), dict) and isinstance(data.get("outputs"), dict)
    row = row_of(dict(data), path or ("rows", 0), document) if is_row else None
    name = str(data.get("id") or data.get("name") or (f"row {int(path[-1]) + 1}" if path else ""))
    return Subject(name, reading.sheet(), row)


def _add(reading: Reading, said: Words, evidence: Evidence) -> None:
    """What one line says into the reading."""
    for name, value in said.found:
        reading.add(name, value, evidence)
    reading.unused += [Unused(text, evidence) for text in said.left]


def _scalars(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _scalars(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _scalars(item, (*path, index))
    elif value is not None:
        yield path, value


def _of_lines(lines: list[str], source: str, of_a_nic: bool) -> Sheet:
    """Pasted lines: numbers of every line, and each line as a line of parts too."""
    reading, context = Reading(source), Context()
    alike: Counter[str] = Counter()
    n_read = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        evidence = Evidence(source, number, quoted(line))
        parts = list(_parts_of_line(line[:LONGEST_LINE], evidence))
        reading.parts += parts
        kind = outline(line[:LONGEST_LINE])
        alike[kind] += 1
        if alike[kind] > READ_ALIKE:
            continue
        n_read += len(line)
        if n_read > MOST_PROSE:
            raise InputError([_too_long(source, n_read, MOST_PROSE)])
        said = _of_line(line, parts, context, of_a_nic)
        _add(reading, said, evidence)
        if not said.found:
            reading.unknown.append(evidence)
    return reading.sheet()


def _of_line(line: str, parts: list[PartLine], context: Context, of_a_nic: bool) -> Words:
    """The numbers of one line; one about an optic says nothing of a design, one about a known server its NICs too."""
    said = read_words(_LIST_MARK.sub("", line), context, of_a_nic)
    names = {name for name, _ in said.found}
    optics = [found for part in parts if (found := read_optics(part)) is not None and found.is_told]
    if optics and not of_a_nic and not names & OF_A_DESIGN:
        return Words(tuple(pair for pair in said.found if pair[0] in OF_OPTICS), ())
    of_models = (*(server_of_model(line) if "servers" in names else ()), *switches_of_models(line, context.tier))
    return Words((*said.found, *(pair for pair in of_models if pair[0] not in names)), said.left)


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
    count = int(quantity[1]) if quantity else None
    return PartLine(label, text, count, length_in_m(text), evidence, ends=ends_in_words(text))
