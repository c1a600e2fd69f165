"""A result told in a sentence: "2 nodes, 4x200G per node, all_reduce busbw 95.97 GB/s at 128 MB".

>>> said = read("8x100G RoCE per node; busbw 100 (2 nodes), 70 (3), 58 (4-5), 40 (6)")
>>> [(row.nodes, row.out.busbw_bytes_per_s / 1e9) for row in said.benchmarks[0].rows]
[(2, 100.0), (3, 70.0), (4, 58.0), (5, 58.0), (6, 40.0)]
>>> sorted((setting.name, setting.value) for setting in said.settings)
[('nic rate', '100000000000'), ('nics', '8'), ('transport', 'RoCE')]

`prose_figures` says what counts as a figure. Sizes are those of nccl-tests: M is 2**20.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from eastwest.dialects.bench.prose_figures import Figure, factor_of_unit, figures_of, number_of
from eastwest.dialects.bench.prose_names import heading_after, names_in, names_of_figures
from eastwest.dialects.lines import Line, lines_of
from eastwest.dialects.readings import Benchmark, BenchmarkKind, Readings, Row, Setting, Side, Unread
from eastwest.finding import Evidence
from eastwest.units import GIGA

OF_NCCL = "of nccl"  # a setting: the words are those of nccl-tests
FILLER = "·"  # in place of what is no result: a blank would join its neighbours
MOST_LINES = 200  # of text that no reader knows: a longer one is a log, not a sentence
LONGEST_LINE = 1000
LARGEST_COUNT = 100_000  # servers or GPUs

_NUM = r"(?<![\w.,\-−–])(\d+(?:[.,]\d+)*)(?!\d)"
_UNIT = r"(?:\s*([GMT]i?[Bb](?:yte|it)?s?(?:/s(?:ec)?|ps)|gbps))?(?![A-Za-z])"
_G = r"G(?:b/s|bps|bit/s|bE|b|E)?(?![A-Za-z/])"
_NICS = re.compile(
    rf"\b(\d{{1,3}})\s*[x×*X]\s*(\d{{2,4}})\s*{_G}(?!\s*(?:switch|port|uplink|spine|leaf))"
    rf"|(\d{{1,3}})\s*(?:张|块|个|片)\s*(\d{{2,4}})\s*{_G}"
    rf"|\b(\d{{1,3}})\s+(?:ConnectX-?\d+|CX-?\d+|NICs?|HCAs?)\s+(?:of\s+|at\s+)?(\d{{2,4}})\s*{_G}"
)
_ONE_NIC = re.compile(
    rf"\b(\d{{2,4}})\s*{_G}\s*(?:NICs?|HCAs?|cards?|RoCE(?:v2)?|InfiniBand|IB|links?|ports?|EFA|网卡|网口|HDR|NDR)(?![A-Za-z])"
)
_GPU = (
    r"(?:(?:NVIDIA|AMD|Tesla|DGX|HGX)\s+)*"
    r"(?<![A-WYZa-wyz\d])(?:GB[23]00|GH200|[ABH][123]00|[AH]800|H20|V100|MI3\d\dX|L40S?|L20)"
    r"(?:[ -](?:SXM\d?|PCI-?e|NVL\d{0,2}|\d{2,3}\s?GB))*(?![A-Z\da-rt-z])"
)
_GPU_NAME = re.compile(_GPU)
_GPUS_OF_NAME = re.compile(rf"\b(\d{{1,3}})\s*[x×*]\s*{_GPU}|{_GPU}\s*[x×*]\s*(\d{{1,3}})\b")
_KIND = rf"(?:(?:{_GPU}|DGX|HGX|NVIDIA|AMD|identical|bare-metal)[ -]+)*"
_NODES = re.compile(
    rf"\b(\d{{1,5}})[ -]*{_KIND}(?:nodes?|servers?|hosts?|machines?|box(?:es)?|(?:DGX|HGX)s?)\b"
    r"|(\d{1,5})\s*(?:台|个?节点)|\b(?:n_?|num_?)?(?:nodes|servers)\s*=\s*(\d{1,5})\b"
)
_PER_NODE = re.compile(
    r"\b(\d{1,3})\s*(?:GPUs?|cards)\s*(?:(?:per|/|a)\s*(?:node|server|host)|each)|(?:每台|每节点|台)\s*(\d{1,3})\s*(?:张|块)?卡"
    r"|(?:nodes?|servers?|hosts?)\s*[x×*]\s*(\d{1,3})\s*GPUs?"
)
_GPUS = re.compile(r"\b(\d{1,6})\s*(?:GPUs?|ranks)\b(?!\s*(?:per|/|each|a)\b)|(\d{1,6})\s*卡")
_PER_PROCESS = re.compile(r"\s-g\s+(\d{1,3})\b")
_TARGET = re.compile(
    r"(?:target|expect\w*|theor\w*|want\w*|should (?:be|reach)|goal|目标|期望|预期|理论)[^\d\n]{0,24}" + _NUM + _UNIT
)
_HARDWARE = re.compile(
    rf"(?:NVLinks?|HBM\w*|PCI-?e|memory|显存)[^\d\n]{{0,16}}(?:\dx?\s+)?{_NUM}{_UNIT}", re.IGNORECASE
)
# nccl-tests' own line, also when its head is cut off: a blank before the colon, and no unit.
_AVERAGE = re.compile(rf"Avg bus bandwidth\W{{0,8}}{_NUM}\s*(?:GB/s)?|bus bandwidth\s+:\s*{_NUM}(?!\s*G)")
_SERIES = re.compile(rf"{_NUM}{_UNIT}\s*\((\d{{1,5}})(?:\s*[-–]\s*(\d{{1,5}}))?\s*(?:nodes?|servers?|台|节点)?\)")
_LISTED = re.compile(rf"\b(\d{{1,5}})\s*(?:nodes?|servers?|台|节点)\s*[:=]\s*{_NUM}{_UNIT}")
_OF_NCCL = re.compile(r"bus\s?bw|bus\s?bandwidth|alg\s?bw|总线带宽|算法带宽|nccl|rccl", re.IGNORECASE)
_TRANSPORT = re.compile(r"\b(RoCE|InfiniBand|EFA|TCP)(?:v2)?\b", re.IGNORECASE)
_ONE_NODE = re.compile(
    r"\b(?:single|one)[ -](?:(?:[\w-]+ ){0,2}?(?:node|server|host|machine|box)|DGX|HGX)\b|单(?:台|机|节点)",
    re.IGNORECASE,
)
_WORDS = {"two": 2, "three": 3, "four": 4, "eight": 8, "sixteen": 16}
_WORD = re.compile(
    rf"\b({'|'.join(_WORDS)})(?=[ -]+{_KIND}(?:nodes|servers|hosts|machines|boxes|(?:DGX|HGX)s?)\b)", re.IGNORECASE
)
_DIGITS = dict(zip("一二两三四五六七八九", (1, 2, 2, 3, 4, 5, 6, 7, 8, 9), strict=True))
_CHINESE = re.compile(
    r"([一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九])(?=\s*(?:台|张|块|个节点|卡|节点|机))"
)


def detect(text: str) -> bool:
    """Whether the text tells a bandwidth, or the NICs and servers of a run."""
    words = r"bus\s?bw|bus bandwidth|alg\s?bw|[GMT]i?[Bb](?:/s|ps)|[Gg][Bb](?:/s|ps)|带宽"
    return bool(re.search(words, text) or _NICS.search(text))


def read(text: str, source: str = "-") -> Readings:
    """What the sentences say: a benchmark for each test that they name, with a row a figure, and settings."""
    lines = [line for line in lines_of(text) if line.text.strip()]
    if len(lines) > MOST_LINES:
        return Readings()
    short = [line for line in lines if len(line.text) <= LONGEST_LINE]
    settings = [setting for line in short for setting in _settings(line, source)]
    named = dict.fromkeys(name for line in short for _, name in names_in(line.text))
    rows: list[Row] = []
    unread: list[Unread] = []
    average, heading, understood = None, "", {setting.line.line for setting in settings}
    for line in short:
        found, open_figures, heading = _rows(line, source, heading)
        mean = _AVERAGE.search(line.text)
        average = (number_of(mean[1] or mean[2]) or 0.0) * GIGA if mean else average
        rows += found
        unread += [Unread(None, line.evidence(source)) for _ in open_figures[:1]]
        understood |= {line.number} if found or open_figures or mean else set()
    if len(named) == 1:
        rows = [replace(row, name=next(iter(named))) for row in rows]
    told = Benchmark(
        "prose", "", "collective", _with_nodes(rows, settings), average_bytes_per_s=average, unread=tuple(unread)
    )
    unknown = tuple(line.evidence(source) for line in lines if line.number not in understood)
    benchmarks = tuple(_by_name(told, tuple(named), bool(_OF_NCCL.search(text)))) if rows or average or unread else ()
    numbers = frozenset(number for number in understood if number is not None)
    return Readings(benchmarks, tuple(settings), unknown=unknown, understood=numbers)


def _by_name(told: Benchmark, named: tuple[str, ...], is_of_nccl: bool) -> Iterator[Benchmark]:
    """The sentences' figures as one benchmark for each test; what is said beside them goes with the first. Figures
    whose test is open have the collectives that the text names as candidates.
    """
    names = dict.fromkeys(row.name for row in told.rows) or dict.fromkeys(named if len(named) == 1 else ("",))
    candidates = tuple(name for name in named if not name.startswith("ib_"))
    for index, name in enumerate(names):
        kind: BenchmarkKind = "pair" if name.startswith("ib_") else "collective"
        rows = tuple(row for row in told.rows if row.name == name)
        only = replace(told, test=name, kind=kind, rows=rows, candidates=() if name else candidates)
        only = replace(only, settings={OF_NCCL: "yes"} if is_of_nccl else {})
        yield only if index == 0 else replace(only, average_bytes_per_s=None, unread=())


def _with_nodes(rows: Sequence[Row], settings: Sequence[Setting]) -> tuple[Row, ...]:
    """The rows, each with the servers that its own line names, when lines name different ones."""
    by_line: dict[int | None, set[str]] = {}
    for setting in settings:
        if setting.name == "nodes":
            by_line.setdefault(setting.line.line, set()).add(setting.value)
    if len({value for values in by_line.values() for value in values}) < 2:
        return tuple(rows)
    told = {line: int(next(iter(values))) for line, values in by_line.items() if len(values) == 1}
    return tuple(row if row.nodes else replace(row, nodes=told.get(row.line.line)) for row in rows)


def _in_digits(text: str) -> str:
    """The text with numbers in words as digits where they count servers, NICs or GPUs."""
    text = _WORD.sub(lambda found: str(_WORDS[found[1].lower()]), text)
    return _CHINESE.sub(lambda found: str(_chinese(found[1])), text)


def _chinese(word: str) -> int:
    tens, ten, ones = word.rpartition("十")
    return (_DIGITS.get(tens, 1) * 10 if ten else 0) + _DIGITS.get(ones, 0)


def _settings(line: Line, source: str) -> Iterator[Setting]:
    """NICs, servers, GPUs, transport and the user's own target in one line."""
    text, evidence = _in_digits(line.text), line.evidence(source)
    nics, one = _NICS.search(text), _ONE_NIC.search(text)
    if nics:
        count, rate = (value for value in nics.groups() if value)
        yield Setting("nics", count, evidence)
        yield Setting("nic rate", str(int(rate) * GIGA), evidence)
    elif one:
        yield Setting("nic rate", str(int(one[1]) * GIGA), evidence)
    if not (_SERIES.search(text) or _LISTED.search(text)):
        yield from _nodes(text, evidence)
    yield from _counts(_PER_NODE, "local ranks", text, evidence)
    yield from _counts(_GPUS, "ranks", _PER_NODE.sub(" ", text), evidence)
    for gpu in dict.fromkeys(found[0] for found in _GPU_NAME.finditer(text)):
        yield Setting("gpu", gpu, evidence)
    transport = _TRANSPORT.search(text)
    if transport:
        names = {"roce": "RoCE", "infiniband": "IB", "efa": "EFA", "tcp": "Socket"}
        yield Setting("transport", names[transport[1].lower()], evidence)
    target = _TARGET.search(text)
    value = number_of(target[1]) if target else None
    factor = (factor_of_unit(target[2]) if target[2] else float(GIGA)) if target else None
    if value is not None and factor is not None:
        yield Setting("target", str(value * factor), evidence)


def _nodes(text: str, evidence: Evidence) -> Iterator[Setting]:
    """Servers: every number that the line names, so that two of them are not one."""
    if _ONE_NODE.search(text):
        yield Setting("nodes", "1", evidence)
        yield from _counts(_PER_PROCESS, "local ranks", text, evidence)
        yield from _counts(_GPUS_OF_NAME, "local ranks", text, evidence)
    yield from _counts(_NODES, "nodes", text, evidence)


def _counts(pattern: re.Pattern[str], name: str, text: str, evidence: Evidence) -> Iterator[Setting]:
    words = [next(group for group in found.groups() if group) for found in pattern.finditer(text)]
    for value in dict.fromkeys(int(word) for word in words):
        if 0 < value <= LARGEST_COUNT:
            yield Setting(name, str(value), evidence)


def _rows(line: Line, source: str, heading: str) -> tuple[list[Row], list[Figure], str]:
    """The figures of one line: a series over node counts, else those that tell the result; those left open; and what
    the next line goes on with.
    """
    text = _in_digits(line.text)
    for pattern in (_TARGET, _AVERAGE, _HARDWARE, _NICS, _ONE_NIC):
        text = pattern.sub(lambda found: FILLER * len(found[0]), text)
    evidence = line.evidence(source)
    series = list(_of_series(text, evidence))
    figures = [figure for figure in figures_of(text) if not series]
    kinds = {figure.kind for figure in figures}
    told = [figure for figure in figures if figure.kind != "alg" or kinds == {"alg"}]
    spans = [(row.start, row.end) for row in (series or told)]
    names = names_of_figures(text, spans, heading)
    next_heading = heading_after(text, spans, heading)
    if series:
        return [replace(each.row, name=name) for each, name in zip(series, names, strict=True)], [], next_heading
    rows = [replace(row, name=name) for each, name in zip(told, names, strict=True) for row in _row(each, evidence)]
    return rows, [figure for figure in told if figure.bytes_per_s is None], next_heading


@dataclass(frozen=True, slots=True)
class _Placed:
    """A row of a series, and where it stands in its line."""

    row: Row
    start: int
    end: int


def _of_series(text: str, evidence: Evidence) -> Iterator[_Placed]:
    """`70 (3 nodes)` and `3 nodes: 70`, of one server count or of a range of them."""
    for found in _SERIES.finditer(text):
        first, last = int(found[3]), int(found[4] or found[3])
        value = _bytes_per_s(found[1], found[2])
        if value is not None and 0 < first <= last <= first + MOST_LINES:
            for nodes in range(first, last + 1):
                yield _Placed(Row(None, Side(busbw_bytes_per_s=value), evidence, nodes=nodes), *found.span())
    for found in () if _SERIES.search(text) else _LISTED.finditer(text):
        value = _bytes_per_s(found[2], found[3])
        if value is not None:
            yield _Placed(Row(None, Side(busbw_bytes_per_s=value), evidence, nodes=int(found[1])), *found.span())


def _row(figure: Figure, evidence: Evidence) -> Iterator[Row]:
    value = figure.bytes_per_s
    if value is not None:
        side = Side(algbw_bytes_per_s=value) if figure.kind == "alg" else Side(busbw_bytes_per_s=value)
        yield Row(figure.size_bytes, side, evidence)


def _bytes_per_s(number: str, unit: str | None) -> float | None:
    """Bytes per second; without a unit GB/s, as nccl-tests prints. None for what is no number for certain."""
    value, factor = number_of(number), factor_of_unit(unit) if unit else float(GIGA)
    return None if value is None or factor is None else value * factor
