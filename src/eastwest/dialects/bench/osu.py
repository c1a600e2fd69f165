"""OSU micro-benchmarks: point to point (latency, bw, bibw) and collectives (allreduce, alltoall, …).

MB/s of OSU is 10**6 bytes/s. The size of alltoall, allgather, gather and scatter is that of one rank's part.

>>> sample = '''# OSU MPI-CUDA Bandwidth Test v7.5
... # Size      Bandwidth (MB/s)
... 4194304             24500.12
... '''
>>> run = read(sample).benchmarks[0]
>>> run.test, run.rows[0].out.busbw_bytes_per_s
('osu_bw', 24500120000.0)

Source: MVAPICH, OSU Micro-Benchmarks 5.x to 7.x, their printed headers.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from eastwest.dialects.bench.nccl_rows import NONSENSE
from eastwest.dialects.bench.taking import take_lines
from eastwest.dialects.lines import Line
from eastwest.dialects.readings import Benchmark, BenchmarkKind, Readings, Row, Side, Unread
from eastwest.finding import Evidence
from eastwest.units import BITS_PER_BYTE, GIBI, GIGA, MEBI, MEGA, US_PER_S

TESTS: dict[str, tuple[str, BenchmarkKind]] = {
    "latency": ("osu_latency", "pair"),
    "multi-threaded latency": ("osu_latency", "pair"),
    "multi latency": ("osu_latency", "pair"),
    "_put latency": ("osu_put_latency", "pair"),
    "_get latency": ("osu_get_latency", "pair"),
    "_put bandwidth": ("osu_put_bw", "pair"),
    "_get bandwidth": ("osu_get_bw", "pair"),
    "bandwidth": ("osu_bw", "pair"),
    "bi-directional bandwidth": ("osu_bibw", "pair"),
    "multiple bandwidth / message rate": ("osu_mbw_mr", "pair"),
    "allreduce latency": ("all_reduce", "collective"),
    "reduce latency": ("reduce", "collective"),
    "reduce_scatter latency": ("reduce_scatter", "collective"),
    "broadcast latency": ("broadcast", "collective"),
    "all-to-all personalized exchange latency": ("all_to_all", "collective"),
    "alltoall personalized exchange latency": ("all_to_all", "collective"),
    "alltoall latency": ("all_to_all", "collective"),
    "allgather latency": ("all_gather", "collective"),
    "gather latency": ("gather", "collective"),
    "scatter latency": ("scatter", "collective"),
}
_TITLE = re.compile(r"#?\s*OSU (?:MPI|NCCL|RCCL|UPC\+*|OPENSHMEM|XCCL)?(?:-\w+)?\s*(.+?)\s+Test\b\s*(v[\d.]+)?")
_HEADER = re.compile(r"#?\s*Size\s+(.*(?:\([A-Za-z]+(?:/s)?\)|Latency|B/s\s+Messages).*)")
_UNIT = re.compile(r"\(([A-Za-z]+(?:/s)?)\)|([A-Za-z]+/s)\s+Messages")
_BYTES_PER_S = {"MB/s": MEGA, "GB/s": GIGA, "MiB/s": MEBI, "GiB/s": GIBI, "Gb/s": GIGA / BITS_PER_BYTE}
_ROW = re.compile(r"\s*(\d{1,15})((?:\s+\d+(?:\.\d+)?){1,8})(?:\s+(Pass|Fail))?\s*$")
_PAIRS = re.compile(r"#?\s*\[ pairs:\s*(\d{1,6}) \]")
_NOISE = re.compile(r"#?\s*(?:Datatype:.*|Send Buffer on.*|Warning.*)$")


def detect(text: str) -> bool:
    """Whether the text holds output of the OSU micro-benchmarks."""
    return bool(re.search(r"OSU (?:MPI|NCCL|RCCL|UPC|OPENSHMEM|XCCL)\S*\s.*Test", text))


@dataclass(slots=True)
class _Run:
    test: str
    kind: BenchmarkKind
    banner: Evidence
    settings: dict[str, str]
    rows: list[Row] = field(default_factory=list)
    failed: list[Evidence] = field(default_factory=list)
    bytes_per_s: float | None = None  # of one printed unit; None for a test of time
    is_open: bool = False  # a unit that is not known
    unread: list[Unread] = field(default_factory=list)


def read(text: str, source: str = "-") -> Readings:
    """Every test of a text; rows before any title belong to none and are not understood."""
    runs: list[_Run] = []
    taken = take_lines(text, source, lambda line: _take(line, source, runs))
    cut = ("tail",) if taken.is_cut else ()
    return taken.readings(tuple(_benchmark(run, cut if run is runs[-1] else ()) for run in runs if run.test))


def _take(line: Line, source: str, runs: list[_Run]) -> bool:
    title = _TITLE.search(line.text)
    if title and title[1].lower() in TESTS:
        test, kind = TESTS[title[1].lower()]
        is_open = test in ("osu_bw", "osu_bibw", "osu_mbw_mr")  # until a header tells the unit
        runs.append(_Run(test, kind, line.evidence(source), {"version": title[2] or ""}, is_open=is_open))
        return True
    if title:  # a test that is not known: what follows is not of the one before
        runs.append(_Run("", "pair", line.evidence(source), {}))
    if not runs or not runs[-1].test:
        return False
    pairs = _PAIRS.match(line.text)
    if pairs:
        runs[-1].settings["pairs"] = pairs[1]
        return True
    header = _HEADER.match(line.text)
    if header:
        unit = _UNIT.search(header[1])
        word = (unit[1] or unit[2]) if unit else ""
        runs[-1].bytes_per_s = _BYTES_PER_S.get(word)
        runs[-1].is_open = word not in ("", "us", *_BYTES_PER_S)
        return True
    return _row(line, source, runs[-1]) or bool(_NOISE.match(line.text))


def _row(line: Line, source: str, run: _Run) -> bool:
    if not line.is_ended:  # the last digits of a cut line may be missing
        return False
    found, evidence = _ROW.match(line.text), line.evidence(source)
    values = [float(word) for word in found[2].split()] if found else []
    if not found or not 0 < values[0] < math.inf or math.inf in values:
        return _unread(line, evidence, run)
    if found[3] == "Fail":
        run.failed.append(evidence)
    if run.is_open:
        run.unread.append(Unread(int(found[1]), evidence, is_nonsense=False))
        return True
    side = Side(time_s=values[0] / US_PER_S)
    if run.bytes_per_s:
        side = Side(busbw_bytes_per_s=values[0] * run.bytes_per_s)
    names = () if run.bytes_per_s else ("min", "max")
    statistics = {name: value / US_PER_S for name, value in zip(names, values[1:], strict=False)}
    run.rows.append(Row(int(found[1]), side, evidence, statistics=statistics))
    return True


def _unread(line: Line, evidence: Evidence, run: _Run) -> bool:
    """A row with what no run prints: nan, a negative value, nothing at all."""
    size, *rest = line.text.split() or [""]
    if not (size.isdecimal() and rest and all(NONSENSE.match(word) or word in ("Pass", "Fail") for word in rest)):
        return False
    run.unread.append(Unread(int(size[:15]), evidence))
    return True


def _benchmark(run: _Run, cut: tuple[str, ...]) -> Benchmark:
    return Benchmark(
        tool="osu",
        test=run.test,
        kind=run.kind,
        rows=tuple(run.rows),
        banners=(run.banner,),
        settings=run.settings,
        out_of_bounds=len(run.failed) or None,
        footer=tuple(run.failed),
        cut=cut,
        unread=tuple(run.unread),
    )
