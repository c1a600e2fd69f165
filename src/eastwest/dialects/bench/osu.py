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

import re
from dataclasses import dataclass, field

from eastwest.dialects.lines import Line, lines_of
from eastwest.dialects.readings import Benchmark, BenchmarkKind, Readings, Row, Side, Unread
from eastwest.finding import Evidence
from eastwest.units import BITS_PER_BYTE, GIBI, GIGA, MEBI, MEGA, US_PER_S

TESTS: dict[str, tuple[str, BenchmarkKind]] = {
    "latency": ("osu_latency", "pair"),
    "multi-threaded latency": ("osu_latency", "pair"),
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
_HEADER = re.compile(r"#?\s*Size\s+(.*(?:\([A-Za-z]+(?:/s)?\)|Latency).*)")
_UNIT = re.compile(r"\(([A-Za-z]+(?:/s)?)\)")
_BYTES_PER_S = {"MB/s": MEGA, "GB/s": GIGA, "MiB/s": MEBI, "GiB/s": GIBI, "Gb/s": GIGA / BITS_PER_BYTE}
_ROW = re.compile(r"\s*(\d{1,15})((?:\s+\d+(?:\.\d+)?){1,8})(?:\s+(Pass|Fail))?\s*$")
_NOISE = re.compile(r"#?\s*(?:Datatype:.*|Send Buffer on.*|\[ pairs:.*|Warning.*)$")


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
    unknown, understood = [], set()
    lines = lines_of(text)
    for line in lines:
        if not line.text.strip():
            continue
        if _take(line, source, runs):
            understood.add(line.number)
        else:
            unknown.append(line.evidence(source))
    cut = ("tail",) if lines and not lines[-1].is_ended else ()
    benchmarks = tuple(_benchmark(run, cut if run is runs[-1] else ()) for run in runs)
    return Readings(benchmarks=benchmarks, unknown=tuple(unknown), understood=frozenset(understood))


def _take(line: Line, source: str, runs: list[_Run]) -> bool:
    title = _TITLE.search(line.text)
    if title and title[1].lower() in TESTS:
        test, kind = TESTS[title[1].lower()]
        is_open = test in ("osu_bw", "osu_bibw", "osu_mbw_mr")  # until a header tells the unit
        runs.append(_Run(test, kind, line.evidence(source), {"version": title[2] or ""}, is_open=is_open))
        return True
    if not runs:
        return False
    header = _HEADER.match(line.text)
    if header:
        unit = _UNIT.search(header[1])
        runs[-1].bytes_per_s = _BYTES_PER_S.get(unit[1]) if unit else None
        runs[-1].is_open = unit is not None and unit[1] not in ("us", *_BYTES_PER_S)
        return True
    return _row(line, source, runs[-1]) or bool(_NOISE.match(line.text))


def _row(line: Line, source: str, run: _Run) -> bool:
    found = _ROW.match(line.text)
    if not found or not line.is_ended:  # the last digits of a cut line may be missing
        return False
    values = [float(word) for word in found[2].split()]
    evidence = line.evidence(source)
    if found[3] == "Fail":
        run.failed.append(evidence)
    if run.is_open:
        run.unread.append(Unread(int(found[1]), evidence, is_nonsense=False))
        return True
    if run.bytes_per_s:
        side = Side(busbw_bytes_per_s=values[0] * run.bytes_per_s)
    elif values[0] > 0:
        side = Side(time_s=values[0] / US_PER_S)
    else:
        return False
    names = () if run.bytes_per_s else ("min", "max")
    statistics = {name: value / US_PER_S for name, value in zip(names, values[1:], strict=False)}
    run.rows.append(Row(int(found[1]), side, evidence, statistics=statistics))
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
