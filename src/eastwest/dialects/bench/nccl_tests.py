"""nccl-tests and rccl-tests: tables of `all_reduce_perf` and its siblings, as they are pasted.

>>> sample = '''# nThread 1 nGpus 8 minBytes 8 maxBytes 1073741824 step: 2(factor) warmup iters: 5 iters: 20
... #  Rank  0 Group  0 Pid   100 on node-a device  0 [0x1b] NVIDIA H100 80GB HBM3
...   1073741824     268435456     float     sum      -1   4100.0  261.89  458.30      0   4100.0  261.89  458.30      0
... # Out of bounds values : 0 OK'''
>>> run = read(sample).benchmarks[0]
>>> run.test, len(run.rows), run.ranks[0].gpu, run.out_of_bounds
('all_reduce', 1, 'NVIDIA H100 80GB HBM3', 0)

Source: NVIDIA/nccl-tests, src/common.cu (header, footer), versions 2.0 to 2.17; ROCm/rccl-tests has the same format.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from eastwest.dialects.bench.nccl_collective import candidates_of, is_possible, named_collective
from eastwest.dialects.bench.nccl_rows import Found, find_row, is_nonsense, row_size
from eastwest.dialects.bench.taking import take_lines
from eastwest.dialects.lines import Line, lines_of
from eastwest.dialects.readings import Benchmark, Rank, Readings, Row, Unread
from eastwest.finding import Evidence
from eastwest.units import GIGA

_BANNER = re.compile(r"#?\s*nThread\s+(\d+)\s+nGpus\s+(\d+)(.*)")
_BANNER_KEY = re.compile(r"(minBytes|maxBytes|step|warmup iters|agg iters|iters|validation|validate|graph):?\s*(\S+)")
_RANK = re.compile(
    r"#?\s*Rank\s+(\d{1,7})\s+(?:Group\s+\d+\s+)?Pid\s+(\d{1,10})\s+on\s+(\S+)\s+device\s+(\d{1,4})\s+\[([^\]]+)\]\s*(.*)"
)
_HEADER = re.compile(r"#?\s*(?P<node>[\w-]+\s+)?size\s+count(?:\s+\(elements\))?\s+type\b")
_TABLE_NOISE = re.compile(
    r"#?\s*(?:\(B\)\s+\(elements\).*|out-of-place.*|Using devices.*|Reducing maxBytes.*|This test uses.*|```\w*)?$"
)
_WRONG = re.compile(r"#?\s*Out of bounds values\s*:\s*(\d{1,18})\s*(OK|FAILED)?")
_AVERAGE = re.compile(r"#?\s*Avg bus bandwidth\s*:\s*(\d{1,12}(?:\.\d{1,12})?)\s*(?:GB/s)?\s*(OK|FAILED)?")
_VERSION = re.compile(r"#?\s*(?:nccl|rccl)-tests:?\s+[Vv]ersion:?\s*(\S+)")
_REDUCED = re.compile(r"Reducing maxBytes to (\d+)")
_STARTS = re.compile(r"#?\s*Collective test (starting|concluded):\s*(\S*)")
_DIED = re.compile(
    r"Test (?:NCCL|CUDA|HIP|MPI) failure|\.\. .*Test failure|Test failure common\.c|MPI_ABORT was invoked"
)
_ELLIPSIS = re.compile(r"#?\s*(?:\.\.\.|…|\[\.\.\.\]|<snip>|\[snip\])\s*$")


def detect(text: str) -> bool:
    """Whether the text holds a table, banner or footer of nccl-tests."""
    return bool(
        re.search(r"nThread\s+\d+\s+nGpus|Avg bus bandwidth\s*:|algbw\s+busbw|Out of bounds values", text)
        or any(find_row(line, "-") for line in lines_of(text))
    )


@dataclass(slots=True)
class _Run:
    """A benchmark while it is read."""

    banners: list[Evidence] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    ranks: list[Rank] = field(default_factory=list)
    found: list[Found] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    footer: list[Evidence] = field(default_factory=list)
    errors: list[Evidence] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    named: str = ""
    out_of_bounds: int | None = None
    average: float | None = None
    is_below_own_minimum: bool = False
    has_header: bool = False
    has_node_column: bool = False

    @property
    def is_over(self) -> bool:
        """Whether what follows belongs to another run: rows or a footer were seen."""
        return bool(self.found or self.footer)

    @property
    def is_empty(self) -> bool:
        """Whether nothing of a run was seen."""
        return not (self.banners or self.ranks or self.found or self.unread or self.footer or self.errors)


def read(text: str, source: str = "-") -> Readings:
    """Every run of a text, with the lines that were not understood. Jobs that a launcher or collector labelled line by
    line are read each on its own.
    """
    readers = _readers(lines_of(text), source)
    taken = take_lines(text, source, lambda line: _take(line, readers))
    runs = [run for reader in readers.values() for run in reader.runs if not run.is_empty]
    if runs and taken.is_cut and not runs[-1].footer:
        runs[-1].cut.append("tail")
    hosts = tuple(dict.fromkeys(rank.host for run in runs for rank in run.ranks))
    return taken.readings(tuple(_benchmark(run, source) for run in runs), hosts)


def _take(line: Line, readers: dict[str, _Reader]) -> bool:
    """Give a line to the reader of its label; a collective that is named outside any is that of all."""
    reader = readers.get(line.label) or readers[""]
    is_understood = reader.take(line)
    named = reader.named_next or reader.run.named
    if named and reader is readers[""]:
        for label in readers.keys() - {""}:
            readers[label].named_next = named
    return is_understood


def _readers(lines: tuple[Line, ...], source: str) -> dict[str, _Reader]:
    """One reader, and one for each label when several labels begin a job."""
    labels = dict.fromkeys(line.label for line in lines if "nThread" in line.text and _BANNER.search(line.text))
    readers = {label: _Reader(source) for label in labels} if len(labels) > 1 else {}
    return {"": _Reader(source), **readers}


class _Reader:
    """Takes the lines in order; `runs` are the runs so far."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.runs = [_Run()]
        self.named_next = ""

    @property
    def run(self) -> _Run:
        """The run that is being read."""
        return self.runs[-1]

    def take(self, line: Line) -> bool:
        """Read one line; whether it was understood."""
        takers = (self._row, self._banner, self._rank, self._header, self._footer, self._words)
        return any(taker(line) for taker in takers)

    def _next_run(self) -> None:
        if self.run.is_over:
            self.runs.append(_Run())
        if self.named_next:
            self.run.named, self.named_next = self.named_next, ""

    def _row(self, line: Line) -> bool:
        found = find_row(line, self.source, self.run.has_node_column)
        if found is None:
            return self._unread(line)
        if self.run.footer:
            self._next_run()
        self.run.found.append(found)
        return True

    def _unread(self, line: Line) -> bool:
        """A line that begins as a row and cannot be believed."""
        size = row_size(line) if line.is_ended else None
        if size is None:
            return False
        self.run.unread.append(Unread(size, line.evidence(self.source), is_nonsense(line)))
        return True

    def _banner(self, line: Line) -> bool:
        found = _BANNER.search(line.text)
        if not found:
            return False
        self._next_run()
        self.run.banners.append(line.evidence(self.source))
        self.run.settings |= {"nThread": found[1], "nGpus": found[2], **dict(_BANNER_KEY.findall(found[3]))}
        return True

    def _rank(self, line: Line) -> bool:
        found = _RANK.search(line.text)
        if not found:
            return False
        if self.run.is_over:
            self._next_run()
        evidence = line.evidence(self.source)
        number, process, device = int(found[1]), int(found[2]), int(found[4])
        self.run.ranks.append(Rank(number, found[3], device, found[6].strip(), evidence, process, found[5].strip()))
        return True

    def _header(self, line: Line) -> bool:
        found = _HEADER.match(line.text)
        if not found:
            return False
        if self.run.footer or (self.run.found and self.run.has_header):
            self._next_run()
        self.run.has_header = True
        self.run.has_node_column = bool(found["node"])
        if found["node"]:
            self.run.settings["node column"] = found["node"].strip()
        return True

    def _footer(self, line: Line) -> bool:
        wrong, average = _WRONG.search(line.text), _AVERAGE.search(line.text)
        if wrong:
            # A cut digit would turn 10 into 1: a footer without its word is not believed.
            self.run.out_of_bounds = int(wrong[1]) if wrong[2] or line.is_ended else None
        elif average and (line.is_ended or average[2]):
            self.run.average = float(average[1]) * GIGA
            self.run.is_below_own_minimum = average[2] == "FAILED"
        elif not average:
            return False
        self.run.footer.append(line.evidence(self.source))
        return True

    def _words(self, line: Line) -> bool:
        """Names, versions, errors, and lines that carry nothing."""
        starts, version = _STARTS.search(line.text), _VERSION.search(line.text)
        reduced = _REDUCED.search(line.text)
        if reduced:
            self.run.settings["maxBytes"] = reduced[1]
        elif _DIED.search(line.text):
            self.run.errors.append(line.evidence(self.source))
        elif starts and starts[1] == "starting":
            self.named_next = named_collective(starts[2])
            if not self.run.is_over:
                self._next_run()
        elif version:
            self.run.settings["version"] = version[1]
        elif _ELLIPSIS.match(line.text):
            self._ellipsis()
        elif not starts and not _TABLE_NOISE.match(line.text):
            return self._command(line)
        return True

    def _ellipsis(self) -> None:
        """Lines were left out here: before the table its head, else some of its rows."""
        if not self.run.is_over:
            self.run.cut.append("head")
        elif not self.run.footer:
            self.run.cut.append("rows")

    def _command(self, line: Line) -> bool:
        """The command line that was typed, which names the collective."""
        named = named_collective(line.text)
        if named:
            self.named_next = named
            if not self.run.is_over:
                self._next_run()
        return bool(named)


def _benchmark(run: _Run, source: str) -> Benchmark:
    rows = tuple(found.row for found in run.found)
    named = run.named or named_collective(source)
    candidates = candidates_of(run.found)
    test = named if named and is_possible(named, run.found) else (candidates[0] if len(candidates) == 1 else "")
    return Benchmark(
        tool="nccl-tests",
        test=test,
        kind="collective",
        rows=rows,
        ranks=tuple(run.ranks),
        banners=tuple(run.banners),
        settings=run.settings,
        candidates=candidates,
        out_of_bounds=run.out_of_bounds,
        average_bytes_per_s=run.average,
        is_below_own_minimum=run.is_below_own_minimum,
        errors=tuple(run.errors),
        cut=_cut(run, rows),
        footer=tuple(run.footer),
        unread=_unread(run, rows),
    )


def _unread(run: _Run, rows: tuple[Row, ...]) -> tuple[Unread, ...]:
    """Rows that cannot be read, without those whose size another line gives."""
    read_sizes = {row.size_bytes for row in rows}
    return tuple(unread for unread in run.unread if unread.is_nonsense or unread.size_bytes not in read_sizes)


def _cut(run: _Run, rows: tuple[Row, ...]) -> tuple[str, ...]:
    """What of the run the text does not show."""
    cut = list(run.cut)
    if not run.banners:
        cut.append("head")
    if not run.footer:
        cut.append("tail")
    if any(found.is_cut for found in run.found) and any(row.in_place for row in rows):
        cut.append("columns")
    return tuple(dict.fromkeys(cut))
