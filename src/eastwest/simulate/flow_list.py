"""A list of flows in CSV: `src,dst,bytes,start,after`, the last two and the header optional, units in the text; read
with the line of every mistake. `after` are numbers of rows, from 0, that must end first.

A start without a unit is in seconds, so that lists of other simulators can be read.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.sections import MAX_TIME_S, Mistakes, parse_time_ps
from eastwest.spec.document import Path
from eastwest.spec.mistakes import shown
from eastwest.units import PS_PER_S, UnitError, parse_size

MAX_FLOWS = 4_000_000  # rows of one list: 100 MB of text and a minute of reading
MAX_FILE_BYTES = 256 * 1_048_576
MAX_MISTAKES = 20  # in one list; what follows is the same again
COLUMNS = ("src", "dst", "bytes", "start", "after")
LEAST_COLUMNS = 3


@dataclass(frozen=True, eq=False)
class FlowList:
    """Rows of a list: names of hosts, (n,) int64 bytes and picoseconds, and the line of each row; row r also waits for
    the rows `after[after_first[r]:after_first[r + 1]]`.
    """

    source: str
    src: tuple[str, ...]
    dst: tuple[str, ...]
    size_bytes: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    lines: NDArray[np.int64]
    after_first: NDArray[np.int64]
    after: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.src)


def load_flows(name: str, folder: FilePath, path: Path, mistakes: Mistakes) -> FlowList | None:
    """The flows of a CSV file, its name relative to the scenario's folder; None when there is none to read."""
    try:
        with (folder / name).open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
        if len(content) > MAX_FILE_BYTES:
            mistakes.add(
                "EW-SIM-016", path, found=f"{len(content):,} B", limit=f"{MAX_FILE_BYTES:,} B", name=shown(name)
            )
            return None
        text = content.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        mistakes.add("EW-SIM-010", path, name=shown(name), problem=reason)
        return None
    return parse_flows(text, name, path, mistakes)


def parse_flows(text: str, source: str, path: Path, mistakes: Mistakes) -> FlowList | None:
    """The flows of a CSV text; None after a mistake in its form."""
    src: list[str] = []
    dst: list[str] = []
    sizes: list[int] = []
    starts: list[int] = []
    lines: list[int] = []
    after: list[str] = []
    before = len(mistakes.found)
    for line, cells in _rows(text, source, mistakes):
        if len(src) >= MAX_FLOWS:
            mistakes.add(
                "EW-SIM-016", path, found=f"more than {MAX_FLOWS:,}", limit=f"{MAX_FLOWS:,} flows", name=source
            )
            return None
        row = _read_row(cells, line, source, mistakes)
        if row is not None:
            src.append(cells[0])
            dst.append(cells[1])
            sizes.append(row[0])
            starts.append(row[1])
            lines.append(line)
            after.append(cells[4] if len(cells) == len(COLUMNS) else "")
        elif len(mistakes.found) - before >= MAX_MISTAKES:
            return None
    if not src and len(mistakes.found) == before:
        mistakes.add("EW-SIM-010", path, name=shown(source), problem="no flows in it")
    size, start, line_of = (np.array(column, dtype=np.int64) for column in (sizes, starts, lines))
    first, waits = _waits(after, lines, source, mistakes)
    return FlowList(source, tuple(src), tuple(dst), size, start, line_of, first, waits)


def _waits(
    after: Sequence[str], lines: Sequence[int], source: str, mistakes: Mistakes
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(n + 1,) first and (m,) rows that each row waits for; rows are numbered from 0 in the order of the list."""
    counts, rows = np.zeros(len(after), np.int64), []
    for number, text in enumerate(after):
        wanted = text.split()
        if not all(word.isdecimal() and int(word) < len(after) for word in wanted):
            expected = f"rows from 0 to {len(after) - 1}, with blanks between"
            mistakes.add_at("EW-SIM-012", source, lines[number], text, found=shown(text), expected=expected)
            continue
        counts[number] = len(wanted)
        rows += [int(word) for word in wanted]
    return np.r_[0, np.cumsum(counts)].astype(np.int64), np.array(rows, np.int64)


def _rows(text: str, source: str, mistakes: Mistakes) -> Iterator[tuple[int, list[str]]]:
    """Line and cells of each row that is neither empty, a comment nor the header."""
    reader = csv.reader(text.split("\n"))
    try:
        for cells in reader:
            bare = [cell.strip() for cell in cells]
            if not any(bare) or bare[0].startswith("#"):
                continue
            if reader.line_num == 1 and [cell.lower() for cell in bare[:2]] == ["src", "dst"]:
                continue
            yield reader.line_num, bare
    except csv.Error as error:
        mistakes.add_at("EW-SIM-011", source, reader.line_num, "", found=str(error), expected=",".join(COLUMNS))


def _read_row(cells: Sequence[str], line: int, source: str, mistakes: Mistakes) -> tuple[int, int] | None:
    """Bytes and start of one row; a mistake when it has other columns, no number, zero or negative bytes."""
    text = ",".join(cells)
    if not LEAST_COLUMNS <= len(cells) <= len(COLUMNS):
        mistakes.add_at("EW-SIM-011", source, line, text, found=f"{len(cells)} cells", expected=",".join(COLUMNS))
        return None
    size, start = _size(cells[2]), _start_ps(cells[3] if len(cells) > LEAST_COLUMNS and cells[3] else "0")
    if size is None or start is None:
        found, expected = (cells[2], "bytes such as 10000000 or 10MB") if size is None else (cells[3], "a start")
        mistakes.add_at("EW-SIM-012", source, line, text, found=shown(found), expected=expected)
        return None
    if not 0 < size < 1 << 60:
        mistakes.add_at("EW-SIM-013", source, line, text, found=f"{size:,}")
        return None
    return size, start


def _size(text: str) -> int | None:
    if text.isdecimal() and len(text) < 20:
        return int(text)
    try:
        return parse_size(text)
    except UnitError:
        return None


def _start_ps(text: str) -> int | None:
    try:
        return parse_time_ps(text)
    except UnitError:
        pass
    try:
        seconds = float(text)
    except ValueError:
        return None
    return round(seconds * PS_PER_S) if 0 <= seconds <= MAX_TIME_S else None
