"""Cables of a bill as the links that they make: splitters, cables of twice the rate between switches, and what the
label line of a bill says of its links.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from eastwest.finding import Evidence
from eastwest.plan.checking.alike import KEPT_TEXTS
from eastwest.plan.checking.optics_line import part_model
from eastwest.plan.checking.phrases import kind_of_cable
from eastwest.plan.checking.sheet import PartLine, Reading
from eastwest.plan.checking.tokens import tokens_of
from eastwest.plan.designs.terms import plain
from eastwest.plan.designs.written import rate_of
from eastwest.spec.catalogue import Cable
from eastwest.units import GIGA, TERA

ENDS_OF_A_LINK = 2
_WHOLE_CABLE = re.compile(
    r"\b(?:DAC|AOC|ACC|AEC|LACC)s?\b|\bMC[AP]\d[A-Z]\d\d|\bMF[AS]\d[A-Z]\d\d|\bcopper\b|\bcables?\b|\bcabling\b|线缆|电缆|光缆|连接线",
    re.I,
)
_FIBRE = re.compile(r"\bfib(?:re|er)s?\b|\bcords?\b|\bMPO\b|\bMFP\d[A-Z]\d\d|\bLC duplex\b|光纤", re.I)
_RATES = re.compile(r"(?<![\w.])(\d{1,5}(?:\.\d)?)\s?([GT])(?![A-Za-z])")
_SPLIT = re.compile(r"\b1\s*:\s*([248])\b|\bsplitters?\b|\bbreakouts?\b|分支|一分(?:[二四八]|[248])", re.I)
_LEGS = re.compile(r"\b(?:to|into|→|>)\s*([248])\s*[x×]\s*\d+\s*G|[一1]分([二四八248])", re.I)
_NUMERALS: Mapping[str, int] = {"二": 2, "四": 4, "八": 8}
_ROOM = re.compile(
    r"\b(?:rooms?|buildings?|halls?|campus|sites?)\b|\bDCI\b|inter-?(?:room|building|site)|机房间|楼间", re.I
)
_NAMED_ROOM = re.compile(r"\b(?:room|building|hall|site)[-_ ](?:\d{1,3}|[a-z])\b|[\w]{1,3}号?机房|机房[\w]{1,2}", re.I)
_LINKS = re.compile(r"(\d{1,9}) (server-leaf|leaf-spine|spine-core|room-room|server-server) links? of (\d+(?:\.\d+)?G)")
_OF_PAIR = {
    "server-leaf": "server_links",
    "leaf-spine": "leaf_spine_links",
    "spine-core": "spine_core_links",
    "room-room": "room_links",
    "server-server": "direct_links",
}
CELLS_OF_A_PART = 2  # name and description; further on stand notes


@dataclass(frozen=True, slots=True)
class CableKind:
    """What one piece of a bill's cable line is: between which tiers (`server_cables`, `cables` when not said), bit/s of
    its thick end (None when not said), links that it splits into, and whether it is fibre without modules.
    """

    name: str
    rate_bps: int | None
    legs: int
    is_fibre: bool


@dataclass(frozen=True, slots=True)
class CableLine:
    """So many cables of one kind, and the line of the bill."""

    kind: CableKind
    quantity: int
    evidence: Evidence


@lru_cache(maxsize=KEPT_TEXTS)
def cable_kind(text: str) -> CableKind | None:
    """The kind of cable that a line of a bill names; None when it names none."""
    own = "; ".join(text.split("; ")[:CELLS_OF_A_PART])
    model = part_model(own)
    sheet = model if isinstance(model, Cable) else None
    is_fibre = bool(_FIBRE.search(text)) or (sheet is not None and sheet.medium == "fibre")
    is_cable = bool(_WHOLE_CABLE.search(text)) or (sheet is not None and not is_fibre)
    if not is_cable and not is_fibre:
        return None
    nouns = {token.noun for token in tokens_of(plain(text)) if token.noun}
    name = "room_cables" if _ROOM.search(own) else kind_of_cable(nouns) or "cables"
    rates = [] if is_fibre else [_bps(*found) for found in _RATES.findall(own)]
    legs = _legs(own)
    if sheet is not None and sheet.rate_bps:
        rates, legs = [sheet.rate_bps], sheet.ends or legs
    return CableKind(name, max(rates, default=None), legs, is_fibre or not is_cable)


@lru_cache(maxsize=KEPT_TEXTS)
def is_splitter(text: str) -> bool:
    """Whether a line is of a cable that ends in several."""
    return _legs(text) > 1


def _bps(number: str, prefix: str) -> int:
    return round(float(number) * (TERA if prefix == "T" else GIGA))


def _legs(text: str) -> int:
    """Links that one cable splits into: 2 of `1:2`, `800G to 2x400G` or a splitter of no said number."""
    legs, split = _LEGS.search(text), _SPLIT.search(text)
    if legs:
        said = legs[1] or legs[2]
        return _NUMERALS.get(said) or int(said)
    return int(split[1] or 2) if split else 1


def add_cables(lines: Sequence[CableLine], reading: Reading) -> None:
    """All cables of a bill as links, by name: each in links of the rate of a NIC's port where that is known.

    A splitter makes as many links as it has ends; a whole cable between switches as many as its rate holds. One to a
    server makes one link whatever its rate, since it ends in one NIC.
    """
    link_bps = _link_bps(lines, reading)
    count: Counter[str] = Counter()
    first: dict[str, Evidence] = {}
    for line in lines:
        names = (line.kind.name, *(("fibres",) if line.kind.is_fibre else ()))
        for name in names:
            first.setdefault(name, line.evidence)
            count[name] += line.quantity * (1 if name == "fibres" else _links(line.kind, link_bps))
    for name, total in count.items():
        reading.add(name, total, first[name])
        if link_bps and total != sum(line.quantity for line in lines if line.kind.name == name) and name != "fibres":
            reading.add(f"{name}_bps", link_bps, first[name])


def _links(kind: CableKind, link_bps: int | None) -> int:
    if kind.legs > 1 or kind.name == "server_cables" or not kind.rate_bps or not link_bps:
        return kind.legs
    return max(1, kind.rate_bps // link_bps)


def _link_bps(lines: Sequence[CableLine], reading: Reading) -> int | None:
    """Bit/s of a NIC's port: as the servers and NICs say it, else that of a leg of the splitters to servers."""
    rate, ports = (reading.facts.get(name) for name in ("nic_bps", "ports_of_nic"))
    if rate is not None:
        return int(rate.value) // (int(ports.value) if ports is not None else 1)
    for line in lines:
        if line.kind.name == "server_cables" and line.kind.rate_bps and line.kind.legs > 1:
            reading.add("nic_bps", line.kind.rate_bps // line.kind.legs, line.evidence)
            return line.kind.rate_bps // line.kind.legs
    return None


def links_said(part: PartLine) -> Iterator[tuple[str, int, int]]:
    """(name, links, bit/s of one) of a label line of our own bills: what the labels are for."""
    for count, pair, rate in _LINKS.findall(part.text):
        bps = rate_of(rate)
        if bps:
            yield _OF_PAIR[pair], int(count), bps


def add_links_said(
    labels: Sequence[PartLine], modules: Sequence[PartLine], cables: Sequence[CableLine], reading: Reading
) -> None:
    """The links that label lines name, by name and in all, and the links that the cables could make at most.

    All in links of a NIC port's rate: a link of twice that rate is two, and so is a fibre between modules of twice it.
    """
    link_bps = _link_bps((), reading)
    count: Counter[str] = Counter()
    for name, links, bps in (said for label in labels for said in links_said(label)):
        count[name] += links * (bps // link_bps if link_bps and bps % link_bps == 0 else 1)
    if not count or not link_bps:
        return
    for name, links in count.items():
        reading.add(name, links, labels[0].evidence)
        reading.add(f"{name}_bps", link_bps, labels[0].evidence)
    fibre_bps = max((_connector_bps(module.text) for module in modules), default=0)
    made = 0
    for line in cables:
        bps = line.kind.rate_bps or (fibre_bps if line.kind.is_fibre else 0)
        made += line.quantity * max(line.kind.legs, bps // link_bps)
    reading.add("links_in_all", sum(count.values()), labels[0].evidence)
    if cables:
        reading.add("links_of_cables", made, cables[0].evidence)


def _connector_bps(text: str) -> int:
    """Bit/s of one fibre of a module: 400G of `2x400G SR module`, `SR 400G single-port`."""
    rates = [_bps(*found) for found in _RATES.findall(text.partition("; ")[0].replace("x", " "))]
    return max(rates, default=0)


def add_rooms(parts: Sequence[PartLine], reading: Reading) -> None:
    """Rooms that a bill names: some of its cables may then lie between them."""
    rooms: dict[str, Evidence] = {}
    for part in parts:
        for name in _NAMED_ROOM.findall(part.text):
            rooms.setdefault(name.lower(), part.evidence)
    if len(rooms) > 1:
        reading.add("rooms", len(rooms), next(iter(rooms.values())))


def add_absent_spines(reading: Reading) -> None:
    """A bill is whole: where no line is a spine and the cables are those of the NICs, there is no spine.

    So are rail-only networks, a single switch, and servers cabled to each other.
    """
    facts = reading.facts
    if {"spines", "cores", "switches", "leaf_spine_links", "leaf_spine_cables"} & facts.keys():
        return
    cables = next((facts[name] for name in ("server_cables", "cables") if name in facts), None)
    links = _nic_links(reading)
    if cables is None or not links:
        return
    if "leaves" not in facts and cables.value * ENDS_OF_A_LINK == links:
        reading.add("direct_links", cables.value, cables.evidence)
        reading.add("spines", 0, cables.evidence)
    elif "leaves" in facts and cables.value == links:
        reading.add("spines", 0, cables.evidence)


def _nic_links(reading: Reading) -> int:
    """Ports of all NICs."""
    values = {name: int(fact.value) for name, fact in reading.facts.items() if isinstance(fact.value, int)}
    nics = values.get("nics") or values.get("servers", 0) * values.get("nics_per_server", 0)
    return nics * values.get("ports_of_nic", 1)
