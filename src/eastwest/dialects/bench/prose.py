"""A result told in a sentence: "2 nodes, 4x200G per node, all_reduce busbw 95.97 GB/s at 128 MB".

>>> said = read("8x100G RoCE per node; busbw 100 (2 nodes), 70 (3), 58 (4-5), 40 (6)")
>>> [(row.nodes, row.out.busbw_bytes_per_s / 1e9) for row in said.benchmarks[0].rows]
[(2, 100.0), (3, 70.0), (4, 58.0), (5, 58.0), (6, 40.0)]
>>> sorted((setting.name, setting.value) for setting in said.settings)
[('nic rate', '100000000000'), ('nics', '8'), ('transport', 'RoCE')]

A number counts only with its unit, or behind the word busbw or algbw, which nccl-tests prints in GB/s. Sizes are those
of nccl-tests: M is 2**20.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from eastwest.dialects.bench.nccl_collective import named_collective
from eastwest.dialects.lines import Line, lines_of
from eastwest.dialects.readings import Benchmark, Readings, Row, Setting, Side
from eastwest.finding import Evidence
from eastwest.units import BITS_PER_BYTE, GIBI, GIGA, KIBI, MEBI

MOST_LINES = 200  # of text that no reader knows: a longer one is a log, not a sentence
LONGEST_LINE = 1000
LARGEST_COUNT = 100_000  # servers or GPUs

_NUM = r"(\d{1,6}(?:\.\d{1,4})?)"
_RATE_UNIT = r"(GB/s|GBps|GByte/s|Gb/s|Gbps|Gbit/s|gbps)"
_NICS = re.compile(
    r"\b(\d{1,3})\s*[x×*X]\s*(\d{2,4})\s*G(?:b/s|bps|bE|E|bit/s)?\b(?!B)(?!\s*(?:switch|port|uplink|spine|leaf))"
)
_ONE_NIC = re.compile(r"\b(\d{2,4})\s*G(?:b/s|bps|bE|E)?\s+(?:NIC|HCA|card|RoCE|InfiniBand|IB|link|EFA)\b")
_NODES = re.compile(r"\b(\d{1,5})[ -]*(?:nodes?|servers?|hosts?|machines?)\b|(\d{1,5})\s*(?:台|个?节点)")
_PER_NODE = re.compile(
    r"\b(\d{1,3})\s*(?:GPUs?|cards)\s*(?:per|/|each|a)\s*(?:node|server|host)|每台\s*(\d{1,3})\s*(?:张|块)?卡"
)
_GPUS = re.compile(r"\b(\d{1,6})\s*(?:GPUs?|ranks)\b(?!\s*(?:per|/|each|a)\b)|(\d{1,6})\s*卡")
_TARGET = re.compile(
    r"(?:target|expect\w*|theor\w*|want\w*|should (?:be|reach)|goal|目标|期望|预期|理论)[^\d\n]{0,24}"
    rf"{_NUM}\s*{_RATE_UNIT}?"
)
# nccl-tests' own line, also when its head is cut off: a blank before the colon, and no unit.
_AVERAGE = re.compile(rf"Avg bus bandwidth\W{{0,8}}{_NUM}\s*(?:GB/s)?|bus bandwidth\s+:\s*{_NUM}(?!\s*G)")
_SERIES = re.compile(
    rf"{_NUM}\s*{_RATE_UNIT}?\s*\((\d{{1,5}})(?:\s*[-–]\s*(\d{{1,5}}))?\s*(?:nodes?|servers?|台|节点)?\)"
)
_LISTED = re.compile(rf"\b(\d{{1,5}})\s*(?:nodes?|servers?|台|节点)\s*[:=]\s*{_NUM}\s*{_RATE_UNIT}?")
_BUS = re.compile(
    r"\b(bus\s?bw|bus bandwidth|algbw|algo bw|总线带宽|算法带宽)\W{0,4}(?:is|of|was|about|only|for)?\W{0,3}"
    rf"{_NUM}\s*{_RATE_UNIT}?"
)
_UNIT_FIRST = re.compile(rf"{_NUM}\s*{_RATE_UNIT}(?:\s*(bus\s?bw|algbw))?")
_SIZE = re.compile(r"(?:\bat|@|for|size|消息大小)\s*(?:=|:)?\s*(\d{1,6})\s*([KMG])(?:i?B)?\b(?!/s|bps|b/s)")
_PAIR = re.compile(r"\bib_(write|read|send)_bw\b")
_TRANSPORT = re.compile(r"\b(RoCE|InfiniBand|EFA|TCP)(?:v2)?\b", re.IGNORECASE)
_SIZE_FACTOR = {"K": KIBI, "M": MEBI, "G": GIBI}


def detect(text: str) -> bool:
    """Whether the text tells a bandwidth, or the NICs and servers of a run."""
    return bool(re.search(r"bus\s?bw|bus bandwidth|algbw|GB/s|Gb/s|GBps|Gbps|带宽", text) or _NICS.search(text))


def read(text: str, source: str = "-") -> Readings:
    """What the sentences say: one benchmark with a row a figure, and settings."""
    lines = [line for line in lines_of(text) if line.text.strip()]
    if len(lines) > MOST_LINES:
        return Readings()
    short = [line for line in lines if len(line.text) <= LONGEST_LINE]
    settings = [setting for line in short for setting in _settings(line, source)]
    rows, average, understood = [], None, set()
    for line in short:
        found = list(_rows(line, source))
        mean = _AVERAGE.search(line.text)
        average = float(mean[1] or mean[2]) * GIGA if mean else average
        rows += found
        if found or mean or any(setting.line.line == line.number for setting in settings):
            understood.add(line.number)
    test = _test(text)
    benchmark = Benchmark(
        "prose", test, "pair" if test.startswith("ib_") else "collective", tuple(rows), average_bytes_per_s=average
    )
    unknown = tuple(line.evidence(source) for line in lines if line.number not in understood)
    benchmarks = (benchmark,) if rows or average else ()
    return Readings(benchmarks, tuple(settings), unknown=unknown, understood=frozenset(understood))


def _test(text: str) -> str:
    pair = _PAIR.search(text)
    return f"ib_{pair[1]}_bw" if pair else named_collective(text[:LONGEST_LINE])


def _settings(line: Line, source: str) -> Iterator[Setting]:
    """NICs, servers, GPUs, transport and the user's own target in one line."""
    text, evidence = line.text, line.evidence(source)
    nics, one = _NICS.search(text), _ONE_NIC.search(text)
    if nics:
        yield Setting("nics", nics[1], evidence)
        yield Setting("nic rate", str(int(nics[2]) * GIGA), evidence)
    elif one:
        yield Setting("nic rate", str(int(one[1]) * GIGA), evidence)
    if not (_SERIES.search(text) or _LISTED.search(text)):
        yield from _count(_NODES, "nodes", text, evidence)
    yield from _count(_PER_NODE, "local ranks", text, evidence)
    yield from _count(_GPUS, "ranks", _PER_NODE.sub(" ", text), evidence)
    transport = _TRANSPORT.search(text)
    if transport:
        names = {"roce": "RoCE", "infiniband": "IB", "efa": "EFA", "tcp": "Socket"}
        yield Setting("transport", names[transport[1].lower()], evidence)
    target = _TARGET.search(text)
    if target:
        yield Setting("target", str(_bytes_per_s(target[1], target[2])), evidence)


def _count(pattern: re.Pattern[str], name: str, text: str, evidence: Evidence) -> Iterator[Setting]:
    found = pattern.search(text)
    value = next((group for group in found.groups() if group), "0") if found else "0"
    if 0 < int(value) <= LARGEST_COUNT:
        yield Setting(name, str(int(value)), evidence)


def _rows(line: Line, source: str) -> Iterator[Row]:
    """The figures of one line: a series over node counts, else one."""
    text = _TARGET.sub(" ", _AVERAGE.sub(" ", line.text))
    evidence = line.evidence(source)
    series = list(_SERIES.finditer(text))
    listed = list(_LISTED.finditer(text))
    if series:
        for found in series:
            first = int(found[3])
            last = int(found[4] or first)
            if 0 < first <= last <= first + MOST_LINES:
                side = Side(busbw_bytes_per_s=_bytes_per_s(found[1], found[2]))
                yield from (Row(None, side, evidence, nodes=nodes) for nodes in range(first, last + 1))
    elif listed:
        for found in listed:
            yield Row(None, Side(busbw_bytes_per_s=_bytes_per_s(found[2], found[3])), evidence, nodes=int(found[1]))
    else:
        yield from _one_row(text, evidence)


def _one_row(text: str, evidence: Evidence) -> Iterator[Row]:
    bus, other, size = _BUS.search(text), _UNIT_FIRST.search(text), _SIZE.search(text)
    size_bytes = int(size[1]) * _SIZE_FACTOR[size[2]] if size else None
    if bus:
        value, is_alg = _bytes_per_s(bus[2], bus[3]), bus[1].startswith(("alg", "算法"))
    elif other:
        value, is_alg = _bytes_per_s(other[1], other[2]), other[3] == "algbw"
    else:
        return
    side = Side(algbw_bytes_per_s=value) if is_alg else Side(busbw_bytes_per_s=value)
    yield Row(size_bytes, side, evidence)


def _bytes_per_s(number: str, unit: str | None) -> float:
    """Bytes per second; without a unit GB/s, as nccl-tests prints."""
    is_bits = bool(unit) and unit in ("Gb/s", "Gbps", "Gbit/s", "gbps")
    return float(number) * GIGA / (BITS_PER_BYTE if is_bits else 1)
