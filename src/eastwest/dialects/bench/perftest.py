"""perftest: `ib_write_bw`, `ib_read_bw`, `ib_send_bw` and the latency tests, of one end or of both in one stream.

MB/sec (and MiB/sec) of perftest is 2**20 bytes/s, Gb/sec 10**9 bit/s; a row must agree with its own message rate.

>>> sample = '''                    RDMA_Write BW Test
...  Dual-port       : OFF          Device         : mlx5_0
...  Mtu             : 4096[B]
...  #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
...  65536      5000             98.05              98.01              0.186939'''
>>> run = read(sample).benchmarks[0]
>>> run.test, run.settings["Mtu"], round(run.rows[0].out.busbw_bytes_per_s / 1e9, 2)
('ib_write_bw', '4096[B]', 12.25)

Source: linux-rdma/perftest, src/perftest_parameters.h (headers), perftest_resources.c (print_report_bw: the factors
0x100000 and 125000000).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from eastwest.dialects.bench.nccl_rows import NONSENSE
from eastwest.dialects.bench.taking import take_lines
from eastwest.dialects.lines import Line, lines_of
from eastwest.dialects.readings import Benchmark, Readings, Row, Side, Unread
from eastwest.finding import Evidence
from eastwest.units import BITS_PER_BYTE, GIGA, MEBI, MEGA, US_PER_S

UNIT_BYTES_PER_S = {"Gb": GIGA / BITS_PER_BYTE, "MB": MEBI, "MiB": MEBI}
RATE_STEP_RATIO = 0.01  # average against bytes x message rate: both are printed rounded
RATE_STEP = 0.0051  # half of the last digit of an average printed with two decimals
BANDWIDTH_WORDS = ("bytes", "iterations", "peak", "average", "rate")
LATENCY_WORDS = ("bytes", "iterations", "min", "max", "typical", "avg", "stdev", "p99", "p999")
DURATION_WORDS = ("bytes", "iterations", "avg", "tps")

_TITLE = re.compile(
    r"(RDMA[_ ](?P<rdma>Write|Read)|(?P<send>Send)|(?P<atomic>Atomic)\w*(?: \w+)?)\s+(?P<both>Bidirectional )?"
    r"(?:Post List )?(?P<kind>BW|Latency)\s+Test"
)
_COMMAND = re.compile(r"\bib_(write|read|send|atomic)_(bw|lat)\b")
_ON_DEVICE = re.compile(r"ib_\w+'? for (\w+)")
_OPTION_DEVICE = re.compile(r"(?:-d|--ib-dev=?)\s*(\w+)")
_SETTING = re.compile(r"([A-Za-z_][\w .*/-]*?)\s*:\s*(\S+)(?=\s{2,}|\t|\s+\w+\s*:|$)")
_HEADER = re.compile(r"#?bytes\s+#iterations\s+(.*)")
_UNIT = re.compile(r"BW (?:peak|average)\[(Gb|MB|MiB)/sec\]")
_ADDRESS = re.compile(r"(local|remote) address:\s+LID\s+(\S+)\s+QPN\s+(\S+)")
_GID = re.compile(r"GID:\s*([0-9a-fA-F:]{10,})")
_ERROR = re.compile(
    r"Completion with error|Failed status \d+|Couldn't connect to|Failed to modify QP|Unable to (?:find|Connect|init)"
    r"|Couldn't listen to port|IB device \S+ not found|Port number \d+ state is|got completion with error"
    r"|Did not detect devices|Failed to exchange data|Couldn't initialize ROCE|transport retry counter exceeded"
)
_NOISE = re.compile(
    r"^[-*\s]*$|Waiting for client to connect|Conflicting CPU frequency|scnt=\d+, ccnt=\d+|^\s*\.\.\.\s*$|WARNING: "
    r"|Perftest doesn't supports|Requested mtu is higher|Requested SQ|CPU Util|deallocating GPU|initializing CUDA"
)
_NUMBERS = re.compile(r"\s*\d+(?:\s+-?\d+(?:\.\d*)?){3,}\s*$")


def detect(text: str) -> bool:
    """Whether the text holds output of perftest."""
    return bool(
        _COMMAND.search(text)
        or _TITLE.search(text)
        or re.search(r"#?bytes\s+#iterations", text)
        or re.search(r"Completion with error at (?:client|server)|Failed status \d+: wr_id", text)
        or any(_headless(line) for line in lines_of(text))
    )


def _headless(line: Line) -> bool:
    """A bandwidth row without its header: five numbers that agree with each other in one of the units."""
    words = line.text.split()
    return len(words) == len(BANDWIDTH_WORDS) and _own_unit(line.text) != ""


@dataclass(slots=True)
class _Run:
    """A benchmark while it is read."""

    test: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    banners: list[Evidence] = field(default_factory=list)
    errors: list[Evidence] = field(default_factory=list)
    ends: dict[str, set[str]] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    unit: str = ""
    cut: list[str] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)


def read(text: str, source: str = "-") -> Readings:
    """Every run of a text; both ends of one run in one stream are one run."""
    reader = _Reader(source)
    taken = take_lines(text, source, reader.take)
    runs = [run for run in reader.runs if run.test or run.rows or run.errors or run.banners]
    if runs and taken.is_cut:
        runs[-1].cut.append("tail")
    return taken.readings(tuple(_benchmark(run) for run in _joined(runs)))


class _Reader:
    """Takes the lines in order."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.runs = [_Run()]

    @property
    def run(self) -> _Run:
        """The run that is being read."""
        return self.runs[-1]

    def take(self, line: Line) -> bool:
        """Read one line; whether it was understood."""
        takers = (self._row, self._header, self._title, self._address, self._error, self._settings)
        return any(taker(line) for taker in takers) or bool(_NOISE.search(line.text))

    def _next_run(self) -> None:
        if self.run.rows or self.run.errors:
            self.runs.append(_Run())

    def _row(self, line: Line) -> bool:
        row = _row_of(line, self.source, self.run) if _NUMBERS.match(line.text) else None
        if row is None:
            return self._unread(line)
        self.run.rows.append(row)
        return True

    def _unread(self, line: Line) -> bool:
        """A row below its header with what no run prints, or that contradicts its own message rate."""
        words, n_columns = line.text.split(), len(self.run.columns)
        is_row = n_columns and line.is_ended and len(words) >= n_columns and words[0].isdecimal()
        if not is_row or not all(NONSENSE.match(word) for word in words[:n_columns]):
            return False
        self.run.unread.append(Unread(int(words[0][:15]), line.evidence(self.source)))
        return True

    def _header(self, line: Line) -> bool:
        found = _HEADER.search(line.text)
        if not found:
            return False
        unit = _UNIT.search(found[1])
        self.run.unit = unit[1] if unit else ""
        if unit:
            self.run.columns = BANDWIDTH_WORDS
        elif "t_min" in found[1]:
            self.run.columns = LATENCY_WORDS
        elif "tps" in found[1]:
            self.run.columns = DURATION_WORDS
        if "#sl" in line.text:
            self.run.settings["column"] = "sl"
        return True

    def _title(self, line: Line) -> bool:
        title, command = _TITLE.search(line.text), _COMMAND.search(line.text)
        if not (title or command):
            return False
        if title or not self.run.test:
            self._next_run()
        if title:
            verb = (title["rdma"] or title["send"] or "atomic").lower()
            self.run.test = f"ib_{verb}_{'bw' if title['kind'] == 'BW' else 'lat'}"
            self.run.banners.append(line.evidence(self.source))
            if title["both"]:
                self.run.settings["bidirectional"] = "yes"
        elif command:
            self.run.test = self.run.test or f"ib_{command[1]}_{command[2]}"
        device = _ON_DEVICE.search(line.text) or (_OPTION_DEVICE.search(line.text) if command else None)
        if device:
            self.run.settings["Device"] = device[1]
        return True

    def _address(self, line: Line) -> bool:
        address, gid = _ADDRESS.search(line.text), _GID.search(line.text)
        if address:
            self.run.ends.setdefault(address[1] + " lid", set()).add(address[2])
            self.run.settings["side"] = address[1]
        elif gid:
            self.run.ends.setdefault(self.run.settings.get("side", "local") + " gid", set()).add(gid[1])
        return bool(address or gid)

    def _error(self, line: Line) -> bool:
        if not _ERROR.search(line.text):
            return False
        self.run.errors.append(line.evidence(self.source))
        return True

    def _settings(self, line: Line) -> bool:
        found = {key.strip(): value for key, value in _SETTING.findall(line.text.strip())}
        known = {key: value for key, value in found.items() if key in KNOWN_SETTINGS}
        if not known:
            return False
        if "Device" in known and self.run.rows:
            self._next_run()
        self.run.settings |= known
        return True


KNOWN_SETTINGS = frozenset(
    [
        "Dual-port",
        "Device",
        "Number of qps",
        "Transport type",
        "Connection type",
        "Using SRQ",
        "PCIe relax order",
        "ibv_wr* API",
        "TX depth",
        "RX depth",
        "CQ Moderation",
        "Mtu",
        "Link type",
        "GID index",
        "Max inline data",
        "rdma_cm QPs",
        "Data ex. method",
        "TOS",
        "Outstand reads",
        "Dual_port",
        "Lock-free",
        "Using DDP",
        "Using Enhanced Reorder",
    ]
)


def _row_of(line: Line, source: str, run: _Run) -> Row | None:
    """The row of a line of numbers, by the header in force; without one, by its own message rate."""
    words = line.text.split()
    if run.settings.get("column") == "sl":
        words = words[1:]
    columns, unit = run.columns, run.unit
    if not columns and len(words) == len(BANDWIDTH_WORDS):
        columns, unit = BANDWIDTH_WORDS, _own_unit(line.text)
    if not columns and len(words) == len(LATENCY_WORDS):
        columns = LATENCY_WORDS
    if not columns or len(words) < len(columns) or (columns is BANDWIDTH_WORDS and not unit):
        return None
    values = dict(zip(columns, map(float, words), strict=False))
    if math.inf in values.values():
        return None
    size = int(words[0])
    if columns is BANDWIDTH_WORDS:
        return _bandwidth_row(size, values, unit, line.evidence(source), line.is_ended)
    return _latency_row(size, values, line.evidence(source))


def _bandwidth_row(size: int, values: Mapping[str, float], unit: str, evidence: Evidence, is_ended: bool) -> Row | None:
    factor = UNIT_BYTES_PER_S[unit]
    if is_ended and (not values["average"] or not _agrees(size, values["average"], values["rate"], factor)):
        return None
    bandwidth = values["average"] * factor
    statistics = {"peak": values["peak"] * factor} if values["peak"] else {}  # -D prints 0: no peak was looked for
    return Row(size, Side(busbw_bytes_per_s=bandwidth), evidence, statistics=statistics)


def _latency_row(size: int, values: Mapping[str, float], evidence: Evidence) -> Row | None:
    if "min" in values and not values["min"] <= values["typical"] <= values["max"]:
        return None
    names = ("min", "max", "typical", "stdev", "p99", "p999")
    statistics = {name: values[name] / US_PER_S for name in names if name in values}
    return Row(size, Side(time_s=values["avg"] / US_PER_S), evidence, statistics=statistics)


def _agrees(size: int, average: float, rate_mpps: float, factor: float) -> bool:
    """Whether the average is bytes times message rate, within what printing rounds (the rate has six decimals)."""
    exact = size * rate_mpps * MEGA
    step = RATE_STEP * factor + size  # half a unit of the last digit of each
    return rate_mpps == 0 or abs(exact - average * factor) <= step + RATE_STEP_RATIO * exact


def _own_unit(text: str) -> str:
    """The unit in which a row agrees with its message rate: Gb or MB; "" when it agrees with none."""
    words = text.split()
    if len(words) != len(BANDWIDTH_WORDS) or not _NUMBERS.match(text):
        return ""
    size, average, rate = int(words[0]), float(words[3]), float(words[4])
    if not (size and average and rate):
        return ""
    fitting = [unit for unit in ("Gb", "MB") if _agrees(size, average, rate, UNIT_BYTES_PER_S[unit])]
    return fitting[0] if len(fitting) == 1 else ""


def _joined(runs: Sequence[_Run]) -> Iterator[_Run]:
    """The runs, with the two ends of one test as one: the same test, and the same rows or none at one end."""
    kept: list[_Run] = []
    for run in runs:
        last = kept[-1] if kept else None
        if last and last.test == run.test and not (run.errors or last.errors) and _figures(run) <= _figures(last):
            _merge(last, run)
        else:
            kept.append(run)
    yield from kept


def _figures(run: _Run) -> set[tuple[int | None, float | None, float | None]]:
    return {(row.size_bytes, row.out.busbw_bytes_per_s, row.out.time_s) for row in run.rows}


def _merge(last: _Run, run: _Run) -> None:
    last.banners += run.banners
    last.settings = {**run.settings, **last.settings}
    last.cut += run.cut
    last.unread += run.unread
    for end, names in run.ends.items():
        last.ends.setdefault(end, set()).update(names)


def _benchmark(run: _Run) -> Benchmark:
    rows: dict[tuple[int | None, float | None, float | None], Row] = {}
    for row in run.rows:  # both ends print every row
        rows.setdefault((row.size_bytes, row.out.busbw_bytes_per_s, row.out.time_s), row)
    settings = {key: value for key, value in run.settings.items() if key not in ("side", "column")}
    if _is_loopback(run.ends):
        settings["loopback"] = "yes"
    if run.unit:
        settings["unit"] = run.unit
    kind_word = "bw" if run.columns is BANDWIDTH_WORDS or not run.columns else "lat"
    return Benchmark(
        tool="perftest",
        test=run.test or f"ib_{kind_word}",
        kind="pair",
        rows=tuple(rows.values()),
        banners=tuple(run.banners),
        settings=settings,
        errors=tuple(run.errors),
        cut=tuple(dict.fromkeys(run.cut)),
        unread=_of_no_end(run),
    )


def _of_no_end(run: _Run) -> tuple[Unread, ...]:
    """The rows that cannot be read, without those that the other end prints well."""
    read_sizes = {row.size_bytes for row in run.rows}
    return tuple(unread for unread in run.unread if unread.size_bytes not in read_sizes)


def _is_loopback(ends: Mapping[str, set[str]]) -> bool:
    """Whether both ends have the same address: the same LID, or without LIDs (RoCE) the same GIDs."""
    local, remote = ends.get("local lid", set()), ends.get("remote lid", set())
    if {"0", "0000", "0x0", "0x00", "0x0000"} & (local | remote):
        local, remote = ends.get("local gid", set()), ends.get("remote gid", set())
    return bool(local) and local == remote
