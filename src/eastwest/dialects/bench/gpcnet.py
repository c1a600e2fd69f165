"""GPCNeT: `network_test` and `network_load_test`, also when they only say why they did not run.

MiB/s/rank is 2**20 bytes/s; the impact factors of the load test (`1.3X`) are ratios.

>>> read("ERROR: this application must be run on at least 10 nodes\\n").benchmarks[0].errors[0].line
1

Source: netbench/GPCNET, utils.c (print_header, print_results).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from eastwest.dialects.bench.taking import take_lines
from eastwest.dialects.lines import Line
from eastwest.dialects.readings import Benchmark, Readings, Row, Side
from eastwest.finding import Evidence
from eastwest.units import MEBI, US_PER_S

_TITLE = re.compile(r"Network (?:Load )?Tests v([\d.]+)")
_JOB = re.compile(r"Test with (\d+) MPI ranks \((\d+) nodes\)")
_TABLE = re.compile(r"\|\s*([A-Z][^|]*Tests?[^|]*|.*Key Results.*|.*Impact Factor.*)\s*\|\s*$")
_ROW = re.compile(r"\|\s*([A-Za-z][^|]*?\((\d+) B\))\s*\|(.*)\|\s*$")
_COLUMNS = re.compile(r"\|\s*Name\s*\|(.*)\|\s*$")
_ERROR = re.compile(r"ERROR: this application must be run on at least (\d+) nodes")
_MPI = re.compile(
    r"Primary job\s+terminated normally|a non-zero exit code|mpirun (?:detected|has exited)|the job to be terminated"
    r"|Process name: \[\[|Exit code:\s+\d+"
)
_NOISE = re.compile(r"^[-+=\s]*$|^\s*(?:Legend|\w+(?:\+\w+)? = .*)$|Congestion Tests")


def detect(text: str) -> bool:
    """Whether the text holds output or the error of GPCNeT."""
    return bool(
        _TITLE.search(text) or _ERROR.search(text) or re.search(r"\|\s+(?:RR|Nat) (?:Two-sided|Get|Put) ", text)
    )


@dataclass(slots=True)
class _Run:
    rows: list[Row] = field(default_factory=list)
    banners: list[Evidence] = field(default_factory=list)
    errors: list[Evidence] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    table: str = ""


def read(text: str, source: str = "-") -> Readings:
    """The one test of a text."""
    run = _Run()
    taken = take_lines(text, source, lambda line: _take(line, source, run))
    benchmark = Benchmark(
        tool="gpcnet",
        test="network_load_test" if any("Impact" in row.name for row in run.rows) else "network_test",
        kind="system",
        rows=tuple(run.rows),
        banners=tuple(run.banners),
        settings=run.settings,
        errors=tuple(run.errors),
        cut=("tail",) if taken.is_cut else (),
    )
    return taken.readings((benchmark,))


def _take(line: Line, source: str, run: _Run) -> bool:
    title, job, error = _TITLE.search(line.text), _JOB.search(line.text), _ERROR.search(line.text)
    columns, row, table = _COLUMNS.search(line.text), _ROW.search(line.text), _TABLE.search(line.text)
    if title:
        run.banners.append(line.evidence(source))
        run.settings["version"] = title[1]
    elif job:
        run.settings |= {"ranks": job[1], "nodes": job[2]}
    elif error:
        run.errors.append(line.evidence(source))
    elif columns:
        run.columns = tuple(word.strip() for word in columns[1].split("|"))
    elif row:
        return _row(line, row, source, run)
    elif table:
        run.table = table[1].strip()
    else:
        return bool(_NOISE.search(line.text) or _MPI.search(line.text))
    return True


def _row(line: Line, found: re.Match[str], source: str, run: _Run) -> bool:
    cells = [cell.strip() for cell in found[3].split("|")]
    if len(cells) != len(run.columns):
        return False
    named = dict(zip(run.columns, cells, strict=True))
    unit = named.pop("Units", "X")
    factor = {"usec": 1 / US_PER_S, "MiB/s/rank": float(MEBI), "X": 1.0}.get(unit)
    values = {
        name: float(cell.rstrip("X")) for name, cell in named.items() if re.fullmatch(r"\d{1,15}(?:\.\d{1,9})?X?", cell)
    }
    if factor is None or "Avg" not in values:
        return False
    average = values["Avg"] * factor
    side = Side(time_s=average) if unit == "usec" else Side(busbw_bytes_per_s=average if unit != "X" else None)
    statistics = {name: value * factor for name, value in values.items() if name != "Avg"}
    name = f"{run.table}: {found[1]}" if unit != "X" else f"Impact factor: {found[1]}"
    if unit == "X":
        statistics["Avg"] = average
    run.rows.append(Row(int(found[2]), side, line.evidence(source), name=name, statistics=statistics))
    return True
