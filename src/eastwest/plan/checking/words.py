"""A line of text about a network, as people write it, into numbers: `8 rails x 4 leaves`, `leaf 32x400G down`.

Each pattern takes what it understands out of the line, so that `4 leaves` of `8 rails x 4 leaves = 32 leaves` is not
read as the number of leaves. `key=value` and `key: value` lines are read by the same patterns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from eastwest.units import GIGA, TERA

Reading = Mapping[str, Any]
LONGEST_LINE = 2000  # characters of a line that are read
MOST = 10_000_000  # of anything that a design counts
_N = r"(\d[\d,]{0,9})"
_RATE = r"(\d{1,5}(?:\.\d{1,3})?)\s*([GT])(?:b(?:it)?(?:/s|ps)|bE|E)?"
_NUMBER_WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "eight": 8}
_SPEED = {"G": GIGA, "T": TERA}


def whole(text: str) -> int:
    """A number of the text, thousands separators left out; 0 when it is out of all proportion."""
    found = int(text.replace(",", "") or 0)
    return found if found <= MOST else 0


def rate_bps(number: str, prefix: str) -> int:
    """Bit/s of `400`, `G`."""
    return round(float(number) * _SPEED[prefix.upper()])


def _count(*names: str) -> Callable[[re.Match[str]], Reading]:
    return lambda match: {name: whole(text) for name, text in zip(names, match.groups(), strict=False) if text}


def _ports(name: str) -> Callable[[re.Match[str]], Reading]:
    """`32x400G` as ports and rate."""
    return lambda match: {name: whole(match[1]), f"{name}_bps": rate_bps(match[2], match[3])}


def _rate(name: str) -> Callable[[re.Match[str]], Reading]:
    return lambda match: {name: rate_bps(match[1], match[2])}


def _both(match: re.Match[str]) -> Reading:
    """`leaf 32x400G down + 16x400G up`."""
    return {
        "leaf_down": whole(match[1]),
        "leaf_down_bps": rate_bps(match[2], match[3]),
        "leaf_up": whole(match[4]),
        "leaf_up_bps": rate_bps(match[5], match[6]),
    }


def _nics(match: re.Match[str]) -> Reading:
    """`8 x 400G NICs per server`."""
    return {"nics_per_server": whole(match[1]), "nic_bps": rate_bps(match[2], match[3])}


def _functions(match: re.Match[str]) -> Reading:
    text = match[1].lower()
    return {"functions": _NUMBER_WORDS.get(text) or whole(text)}


def _functions_of_slot(match: re.Match[str]) -> Reading:
    return {"functions": whole(match[1]), "pcie_generation": whole(match[2]), "pcie_lanes": whole(match[3])}


def _ratio(match: re.Match[str]) -> Reading:
    down, up = float(match[1]), float(match[2])
    return {"ratio": down / up} if down > 0 and up > 0 else {}


def _word(name: str, group: int = 1) -> Callable[[re.Match[str]], Reading]:
    return lambda match: {name: (match[group] or "").strip()}


def _fixed(**values: Any) -> Callable[[re.Match[str]], Reading]:
    return lambda match: values


_SWITCHES = r"(?:\s+switch(?:es)?)?"
_PORTS = rf"{_N}\s*[x×*]\s*{_RATE}"
_IS = r"\s*(?:=|:|of|is|are)?\s*"
PATTERNS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Reading]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), read)
    for pattern, read in (
        (r"NCCL_IB_HCA\s*(?:=|:)\s*([\w,:^=<>.-]+)", _word("hca")),
        (r"NCCL_IB_HCA\s*(?:is\s+)?(?:unset|not set|missing)", _fixed(hca="")),
        (r"\bMTU\b\s*[=:]?\s*(\d{3,5})\b", _count("mtu_bytes")),
        (r"busbw\D{0,12}?(\d{1,4}(?:\.\d{1,3})?)\s*GB/s", lambda m: {"busbw_bytes_per_s": float(m[1]) * GIGA}),
        (rf"\b{_RATE}\b[^;.]{{0,24}}?\bports?\b(?!\s*(?:switch|down|up))", _rate("nic_port_bps")),
        (rf"\bports?\s*(?:=|:|of|at)?\s*{_RATE}\b", _rate("nic_port_bps")),
        (r"\b(\d{1,2})\s*[x×]\s*(?:PCIe\s*)?gen\s*(\d)\s*[x×]\s*(\d{1,2})\b", _functions_of_slot),
        (r"\b(one|two|four|\d{1,2})\s*(?:x\s*)?(?:PCIe\s+|PCI\s+)?(?:physical\s+)?functions\b", _functions),
        (r"\b(?:PCIe\s*)?gen\s*(\d)\s*,?\s*[x×]\s*(\d{1,2})\b", _count("pcie_generation", "pcie_lanes")),
        (r"\bspines?\s*[=:]?\s*(?:none|no|0)\b|\b(?:no|without(?: a| any)?)\s+spines?\b", _fixed(spines=0)),
        (r"\b(?:workload|groups?|traffic)\s*[=:]\s*([^,;]+)", _word("workload")),
        (
            rf"{_N}\s*rails?\s*[x×*]\s*{_N}\s*lea(?:ves|fs|f)\b(?:\s*=\s*{_N}\s*lea(?:ves|fs|f)\b)?",
            _count("rails", "leaves_per_rail", "leaves"),
        ),
        (
            rf"\bspines?\b[^;]{{0,40}}?{_N}\s*(?:uplinks|links)\s+(?:from|to)\s+(?:every|each)\s+leaf"
            r"(?P<rail>\s+in\s+(?:its|the same|one)\s+rail)?",
            lambda m: {"links_per_pair": whole(m[1]), **({"pairs_in_rail": 1} if m["rail"] else {})},
        ),
        (rf"{_PORTS}\s*(?:ports?\s*)?(?:down|southbound)\b\D{{0,12}}?{_PORTS}\s*(?:ports?\s*)?(?:up)", _both),
        (
            rf"{_N}\s*(?:ports?\s*)?down(?:links?|wards?)?\s*(?:and|\+|,|/|&)?\s*{_N}\s*(?:ports?\s*)?up(?:links?|wards?)?\b",
            _count("leaf_down", "leaf_up"),
        ),
        (rf"{_PORTS}\s*(?:ports?\s*)?(?:down(?:links?)?|southbound|to servers)\b", _ports("leaf_down")),
        (rf"{_PORTS}\s*(?:ports?\s*)?(?:up(?:links?)?|northbound|to spines)\b", _ports("leaf_up")),
        (rf"\b(?:leaf_down|down_ports|downlinks?|leaf down)\w*{_IS}{_PORTS}", _ports("leaf_down")),
        (rf"\b(?:leaf_up|up_ports|uplinks?|leaf up)\w*{_IS}{_PORTS}", _ports("leaf_up")),
        (rf"\b(?:spine_ports|(?:each|one|per|a|every)\s+spine)\b[^;]{{0,24}}?{_PORTS}", _ports("spine_ports")),
        (rf"{_N}\s*[x×*]\s*{_RATE}\s*(?:NICs?|HCAs?)\s*(?:per|a|/|in each|each)\s*(?:server|node|host)", _nics),
        (rf"{_N}\s*spines?{_SWITCHES}\s+(?:of|with|x|\()\s*{_PORTS}", lambda m: _of_tier("spine", m)),
        (rf"{_N}\s*(?:leaf|leaves){_SWITCHES}\s*(?:of|with|x|\()\s*{_PORTS}", lambda m: _of_tier("leaf", m)),
        (rf"{_N}\s*cores?{_SWITCHES}\s+(?:of|with|x|\()\s*{_PORTS}", lambda m: _of_tier("core", m)),
        (rf"{_N}\s*spines?{_SWITCHES}\s+(?:of|with)\s+{_N}\s*ports?\b", _count("spines", "spine_ports")),
        (rf"\b(?:each|one|per|a|every)\s+spine\b[^;]{{0,24}}?{_N}\s*ports?\b", _count("spine_ports")),
        (rf"\b(?:each|one|per|a|every)\s+leaf\b[^;]{{0,24}}?{_N}\s*(?:ports?\s+)?up(?:links?)?\b", _count("leaf_up")),
        (rf"\b{_RATE}\s*(?:switch|chip|asic|class)", _rate("chip_bps")),
        (rf"\bleaf(?:_switch|_ports)?{_IS}{_PORTS}", _ports("leaf_ports")),
        (rf"\b(?:switch(?:es)?|radix){_IS}{_PORTS}", _ports("switch_ports")),
        (rf"{_N}\s*GPUs?\s*(?:per|a|/|in each|each)\s*(?:server|node|host)", _count("gpus_per_server")),
        (rf"gpus_per_(?:server|node)\s*[=:]\s*{_N}", _count("gpus_per_server")),
        (rf"{_N}\s*(?:NICs?|HCAs?|rails?)\s*(?:per|a|/|in each)\s*(?:server|node|host)", _count("nics_per_server")),
        (rf"(?:nics_per_(?:server|node))\s*[=:]\s*{_N}", _count("nics_per_server")),
        (rf"\bnic(?:s|_rate|_gbps)?\s*[=:]?\s*{_RATE}", _rate("nic_bps")),
        (r"(\d{1,4}(?:\.\d{1,3})?)\s*:\s*(\d{1,4}(?:\.\d{1,3})?)", _ratio),
        (rf"{_N}\s*[x×]?\s*(?:[ABH][123]\d\d|GB\d{{3}}|MI\d{{3}}X?)\b", _count("gpus")),
        (rf"\bgpus?\s*[=:]\s*{_N}|{_N}\s*(?:GPUs?|卡)\b", lambda m: {"gpus": whole(m[1] or m[2])}),
        (
            rf"\b(?:servers|nodes|hosts)\s*[=:]\s*{_N}|{_N}\s*(?:servers?|nodes?|hosts?|台)",
            lambda m: {"servers": whole(m[1] or m[2])},
        ),
        (
            rf"\blea(?:ves|fs|f)(?:_switches|_count)?\s*[=:]\s*{_N}\b(?!\s*x)|{_N}\s*(?:leaf\s+switches|lea(?:ves|fs|f))\b",
            lambda m: {"leaves": whole(m[1] or m[2])},
        ),
        (
            rf"\bspines?(?:_switches|_count)?\s*[=:]\s*{_N}\b(?!\s*x)|{_N}\s*(?:spine\s+switches|spines?)\b",
            lambda m: {"spines": whole(m[1] or m[2])},
        ),
        (rf"\bcores?\s*[=:]\s*{_N}\b(?!\s*x)|{_N}\s*(?:core\s+switches|cores?)\b", lambda m: _cores(m)),
        (rf"\brails\s*[=:]\s*{_N}|{_N}\s*rails\b", lambda m: {"rails": whole(m[1] or m[2])}),
    )
)


def _of_tier(tier: str, match: re.Match[str]) -> Reading:
    """`8 spines of 64x400G`."""
    plural = {"leaf": "leaves", "spine": "spines", "core": "cores"}[tier]
    name = f"{tier}_ports"
    return {plural: whole(match[1]), name: whole(match[2]), f"{name}_bps": rate_bps(match[3], match[4])}


def _cores(match: re.Match[str]) -> Reading:
    return {"cores": whole(match[1] or match[2])}


def read_line(line: str) -> dict[str, Any]:
    """Every number that the patterns find in one line; of one that is said twice the first in the order above."""
    found: dict[str, Any] = {}
    rest = line[:LONGEST_LINE]
    for pattern, read in PATTERNS:
        for reading, span in _matches(pattern, read, rest):
            for name, value in reading.items():
                found.setdefault(name, value)
            rest = rest[: span[0]] + "\x00" * (span[1] - span[0]) + rest[span[1] :]
    return found


def _matches(
    pattern: re.Pattern[str], read: Callable[[re.Match[str]], Reading], text: str
) -> Iterator[tuple[Reading, tuple[int, int]]]:
    for match in pattern.finditer(text):
        yield read(match), match.span()
