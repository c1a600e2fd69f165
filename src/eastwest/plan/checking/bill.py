"""A bill of materials as numbers: switches by tier, servers, NICs, cables and the link ends that its modules carry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from eastwest.plan.checking.sheet import Fact, PartLine
from eastwest.plan.designs.design import catalogue_switch
from eastwest.plan.designs.written import port_groups, rate_of

_IGNORED = re.compile(r"\blabels?\b|out-of-band|management|\boob\b|console|cat\s?6|rack\b|pdu|licen[cs]e|support", re.I)
_TIERS = (("leaf", "leaves"), ("spine", "spines"), ("core", "cores"))
_SWITCH = re.compile(r"\bswitch(?:es)?\b|交换机", re.I)
_MODULE = re.compile(r"\bmodules?\b|\btransceivers?\b|\boptics?\b|光模块", re.I)
_TRANSCEIVER = re.compile(r"\b(?:2x)?(?:SR|DR|FR|LR|VR)\d\+?\b|\bMM[AS]\d[A-Z]\d\d\b|\bQ?OSFP\b", re.I)
_FIBRE = re.compile(r"\bfib(?:re|er)s?\b|\bcords?\b|\bMPO\b|\bLC duplex\b|光纤", re.I)
_WHOLE_CABLE = re.compile(r"\b(?:DAC|AOC|ACC|AEC|LACC)s?\b|\bcopper\b|线缆", re.I)
_SERVER = re.compile(r"\bservers?\b|\bnodes?\b|\bDGX\b|\bHGX\b|服务器", re.I)
_NIC = re.compile(r"\bNICs?\b|\bHCAs?\b|\badapters?\b|ConnectX|BlueField|网卡", re.I)
_NICS_OF_SERVER = re.compile(r"(\d{1,2})\s*[x×]\s*(\d+\s*[GT])\b[^;]{0,24}NIC|(\d{1,2})\s*(?:NICs|HCAs|rails)", re.I)
_GPUS_OF_SERVER = re.compile(r"(\d{1,3})\s*[x×]?\s*GPUs?\b|(\d{1,3})\s*[x×]\s*(?:[ABH]\d{3}|MI\d{3}X?)", re.I)
_ENDS = re.compile(r"\b(\d)\s*[x×]\s*\d+\s*G\b|\((\d)\s*ports? a cage\)", re.I)
_TWIN = re.compile(r"twin|2\s*[x×]\s*(?:SR4|DR4|FR4|VR4)", re.I)


def facts_of_bill(parts: tuple[PartLine, ...]) -> dict[str, Fact]:
    """Numbers of all lines of a bill, pieces of the same kind added up; spares are left out."""
    sums: dict[str, Fact] = {}
    for part in parts:
        if part.is_spare or part.quantity is None or _IGNORED.search(part.text):
            continue
        for name, value in _of_line(part.text, part.quantity):
            known = sums.get(name)
            if known is None:
                sums[name] = Fact(name, value, part.evidence)
            elif name in ADDED:
                sums[name] = Fact(name, known.value + value, known.evidence)
    return sums


ADDED = frozenset({"leaves", "spines", "cores", "switches", "servers", "nics", "cables", "fibres", "module_ends"})


def _of_line(text: str, quantity: int) -> Iterator[tuple[str, Any]]:
    """(name, value) of one line."""
    switch = catalogue_switch(text)
    if _SWITCH.search(text) or (switch and not _MODULE.search(text) and not _WHOLE_CABLE.search(text)):
        yield from _of_switch(text, quantity)
    elif _MODULE.search(text) or _is_module(text):
        yield "module_ends", quantity * _ends(text)
    elif _WHOLE_CABLE.search(text):
        yield "cables", quantity
    elif _FIBRE.search(text):
        yield "cables", quantity
        yield "fibres", quantity
    elif _is_server(text):
        yield from _of_server(text, quantity)
    elif _NIC.search(text):
        yield "nics", quantity
        rate = rate_of(text)
        if rate:
            yield "nic_bps", rate


def _is_module(text: str) -> bool:
    """Whether a line names a transceiver by its type or order number, and no cable or cord."""
    cord = re.search(r"\bfib(?:re|er)\b|\bcords?\b", text.partition(";")[0], re.I)
    return bool(_TRANSCEIVER.search(text)) and not cord and not _WHOLE_CABLE.search(text)


def _is_server(text: str) -> bool:
    """Whether a line is servers: by the cell of its unit, else by its first cell, which a NIC may stand in too."""
    cells = [cell.strip().lower() for cell in text.split(";")]
    if {"nic", "nics"} & set(cells):
        return False
    return bool({"server", "servers"} & set(cells)) or (bool(_SERVER.search(cells[0])) and not _NIC.match(cells[0]))


def _of_switch(text: str, quantity: int) -> Iterator[tuple[str, Any]]:
    groups, model = port_groups(text), catalogue_switch(text)
    ports = groups[0] if groups else ((model.ports, model.rate_bps) if model else None)
    tier = next((pair for pair in _TIERS if re.search(rf"\b{pair[0]}\b|\b{pair[1]}\b", text, re.I)), None)
    name = f"{tier[0] if tier else 'switch'}_ports"
    yield (tier[1] if tier else "switches"), quantity
    if ports:
        yield name, ports[0]
        yield f"{name}_bps", ports[1]


def _of_server(text: str, quantity: int) -> Iterator[tuple[str, Any]]:
    yield "servers", quantity
    nics, gpus = _NICS_OF_SERVER.search(text), _GPUS_OF_SERVER.search(text)
    if nics:
        yield "nics_per_server", int(nics[1] or nics[3])
        rate = rate_of(nics[2]) if nics[2] else None
        if rate:
            yield "nic_bps", rate
    if gpus:
        yield "gpus_per_server", int(gpus[1] or gpus[2])


def _ends(text: str) -> int:
    """Link ends that one module carries: two for a twin-port module."""
    match = _ENDS.search(text)
    if match:
        return int(match[1] or match[2])
    return 2 if _TWIN.search(text) else 1
