"""A line of text about a network, as people write it, as numbers by name, and the numbers that count nothing known.

Set phrases are taken out first (`8 rails x 4 leaves`, `NCCL_IB_HCA=…`, `2:1`); the rest is read statement by statement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from eastwest.plan.checking.keywords import key_name
from eastwest.plan.checking.phrases import Context, read_statement
from eastwest.plan.designs.terms import plain
from eastwest.plan.designs.written import port_groups, rate_of, whole_of
from eastwest.units import GIGA, TERA

Found = tuple[str, Any]
LONGEST_LINE = 2000  # characters of a line that are read
MOST = 10_000_000  # of anything that a design counts
_RATE = r"(\d{1,5}(?:\.\d{1,3})?)\s*([GT])(?:b(?:it)?(?:/s|ps)|b|bE|E)?"
_NUMBER_WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "eight": 8}
_NIC = re.compile(
    r"\bgen\s*\d\s*,?\s*[x×]\s*\d|\b(?:PCIe?|physical)\s+functions?\b|\bfunctions\b|\bQSFP\S*\s+port|IB_HCA", re.I
)
_KEY_VALUE = re.compile(
    r"\b([A-Za-z]+(?:_[A-Za-z]+)+)\s*[=:]\s*([\d.,]+(?:\s*[x×]\s*[\d.]+\s*[GT]\w*)?|[\d.]+\s*[GT]\w*)(?![\w:])"
)


@dataclass(frozen=True, slots=True)
class Words:
    """What one line says: (name, value) in the order of the text, and the texts of numbers that were not used."""

    found: tuple[Found, ...]
    left: tuple[str, ...]


def _count(*names: str) -> Callable[[re.Match[str]], Iterator[Found]]:
    return lambda match: ((name, int(text)) for name, text in zip(names, match.groups(), strict=False) if text)


def _rate(name: str) -> Callable[[re.Match[str]], Iterator[Found]]:
    return lambda match: iter([(name, round(float(match[1]) * (TERA if match[2].upper() == "T" else GIGA)))])


def _fixed(name: str, value: Any) -> Callable[[re.Match[str]], Iterator[Found]]:
    return lambda match: iter([(name, value)])


def _word(name: str) -> Callable[[re.Match[str]], Iterator[Found]]:
    return lambda match: iter([(name, match[1].strip(" ,.;"))])


def _functions(match: re.Match[str]) -> Iterator[Found]:
    yield "functions", _NUMBER_WORDS.get(match[1].lower()) or int(re.sub(r"\D", "", match[1]) or 0)


def _ratio(match: re.Match[str]) -> Iterator[Found]:
    down, up = float(match[1]), float(match[2])
    if down > 0 and up > 0:
        yield "ratio", down / up


def _pairs(match: re.Match[str]) -> Iterator[Found]:
    yield "links_per_pair", int(match[1])
    if match["rail"]:
        yield "pairs_in_rail", 1


def _key_value(match: re.Match[str]) -> Iterator[Found]:
    """`gpus_per_server=8`, `leaf_up: 16x400G`."""
    name, groups = key_name(match[1]), port_groups(match[2])
    if name.endswith("_bps"):
        rate = rate_of(match[2])
        yield from [(name, rate)] if rate else []
    elif name and groups:
        yield name, groups[0][0]
        yield f"{name}_bps", groups[0][1]
    elif name and (count := whole_of(match[2])) is not None:
        yield name, count


_PORTS = r"(\d{1,5})\s*[x×*]\s*(\d{1,4}(?:\.\d)?)\s*G\w{0,3}"
_BROKEN_OUT = re.compile(
    rf"{_PORTS}[^;\d]{{0,32}}?(?:broken?[ -]?out|break-?out|split|拆分?|分)[^;\d]{{0,16}}?{_PORTS}", re.IGNORECASE
)
Pattern = tuple[re.Pattern[str], Callable[[re.Match[str]], Iterator[Found]]]


def _compiled(*rows: tuple[str, Callable[[re.Match[str]], Iterator[Found]]]) -> tuple[Pattern, ...]:
    return tuple((re.compile(pattern, re.IGNORECASE), read) for pattern, read in rows)


_AS_WRITTEN = (
    *_compiled(
        (r"NCCL_IB_HCA\s*(?:=|:)\s*([\w,:^=<>.-]+)", _word("hca")),
        (r"NCCL_IB_HCA\s*(?:is\s+)?(?:unset|not set|missing)", _fixed("hca", "")),
        (r"\b(?:workload|groups?|traffic)\s*[=:]\s*([^;\n]+)", _word("workload")),
    ),
    (_KEY_VALUE, _key_value),
)
_OF_A_NIC = _compiled(
    (rf"\b{_RATE}\b[^;.]{{0,24}}?\bports?\b(?!\s*(?:switch|down|up))", _rate("nic_port_bps")),
    (rf"\bports?\s*(?:=|:|of|at)?\s*{_RATE}\b", _rate("nic_port_bps")),
    (
        r"\b(\d{1,2})\s*[x×]\s*(?:PCIe\s*)?gen\s*(\d)\s*,?\s*[x×]?\s*(\d{1,2})\b",
        _count("functions", "pcie_generation", "pcie_lanes"),
    ),
    (r"\b(one|two|four|\d{1,2})\s*(?:x\s*)?(?:PCIe\s+|PCI\s+)?(?:physical\s+)?functions?\b", _functions),
    (r"\b(?:PCIe\s*)?gen\s*(\d)\s*,?\s*[x×]\s*(\d{1,2})\b", _count("pcie_generation", "pcie_lanes")),
)
_IN_PLAIN_WORDS = _compiled(
    (r"\bMTU\b\s*[=:]?\s*(\d{3,5})\b", _count("mtu_bytes")),
    (r"busbw\D{0,12}?(\d{1,4}(?:\.\d{1,3})?)\s*GB/s", lambda m: iter([("busbw_bytes_per_s", float(m[1]) * GIGA)])),
    (
        r"\bspines?(?: switch(?:es)?)?\s*[=:]?\s*(?:none|no|0)\b"
        r"|\b(?:no|without(?: a| any)?)\s+spines?(?: switch(?:es)?)?\b",
        _fixed("spines", 0),
    ),
    (
        r"(\d+)\s*rails?\s*[x×*]\s*(\d+)\s*lea(?:ves|fs|f)\b(?:\s*=\s*(\d+)\s*lea(?:ves|fs|f)\b)?",
        _count("rails", "leaves_per_rail", "leaves"),
    ),
    (
        r"\bspines?\b[^;]{0,40}?(\d+)\s*(?:uplinks|links)\s+(?:from|to)\s+(?:every|each)\s+leaf"
        r"(?P<rail>\s+in\s+(?:its|the same|one)\s+rail)?",
        _pairs,
    ),
    (
        r"\b(?:each|every)\s+(?:leaf|spine)\b[^;.\d]{0,40}?\b(?:each|every)\s+(?:leaf|spine)\b[^;.\d]{0,24}?(\d+)\s*"
        r"(?:links|cables|uplinks)\b",
        _count("links_per_pair"),
    ),
    (
        r"(?<![\w.])(\d{1,4})\s*(?:x\s*)?(?:up-?links?|links|cables)\s+(?:to|towards)\s+(?:each|every)\s+spine\b",
        _count("links_per_pair"),
    ),
    (r"(?<![\d:.])(\d{1,4}(?:\.\d{1,3})?):(\d{1,4}(?:\.\d{1,3})?)(?![\d:])(?!\s*(?:split|fib|break))", _ratio),
    (r"\bnon-?blocking\b|\bfull bisection\b", _fixed("ratio", 1.0)),
)


def broken_out(text: str) -> str:
    """A text whose ports that are broken out stand as what they become.

    >>> broken_out("leaf = 64x800G, each broken out 2x400G"), broken_out("64x800G split into 128x400G")
    ('leaf = 128x400G', '128x400G')
    """
    return _BROKEN_OUT.sub(_split_ports, text)


def _split_ports(match: re.Match[str]) -> str:
    ports, rate, parts, part_rate = int(match[1]), float(match[2]), int(match[3]), float(match[4])
    if parts * part_rate == rate:
        return f"{ports * parts}x{match[4]}G"
    return f"{parts}x{match[4]}G" if parts * part_rate == ports * rate else match[0]


def is_about_a_nic(text: str) -> bool:
    """Whether a text speaks of a NIC's PCIe functions, so that `port 200G` is the NIC's."""
    return bool(_NIC.search(text))


def read_words(line: str, context: Context | None = None, of_a_nic: bool | None = None) -> Words:
    """Every number of one line. `context` is what the lines before were about, and is left as this line ends."""
    context = context or Context()
    found: list[Found] = []
    rest = broken_out(line[:LONGEST_LINE])
    left = ["…"] if len(line) > LONGEST_LINE else []
    rest = _take(_AS_WRITTEN, rest, found)
    of_a_nic = is_about_a_nic(line) if of_a_nic is None else of_a_nic
    rest = _take((*(_OF_A_NIC if of_a_nic else ()), *_IN_PLAIN_WORDS), plain(rest), found)
    for text in re.split(r";|\.(?=\s|$)", rest):
        statement = read_statement(text, context)
        found += statement.found
        left += statement.left
    sound = [(name, value) for name, value in found if not isinstance(value, int) or value <= MOST or "_b" in name]
    return Words(tuple(sound), tuple(left))


def _take(patterns: tuple[Pattern, ...], text: str, found: list[Found]) -> str:
    """The text without the phrases that the patterns know; what they say goes into `found`."""
    for pattern, read in patterns:
        rest, at = [], 0
        for match in pattern.finditer(text):
            said = list(read(match))
            if said:
                found += said
                rest += [text[at : match.start()], ", "]
                at = match.end()
        text = "".join(rest) + text[at:] if rest else text
    return text


def read_line(line: str) -> Mapping[str, Any]:
    """Every number of one line by name; of one that is said twice the first."""
    found: dict[str, Any] = {}
    for name, value in read_words(line).found:
        found.setdefault(name, value)
    return found
