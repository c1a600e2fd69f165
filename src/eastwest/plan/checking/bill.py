"""A bill of materials as numbers: switches by tier, servers, NICs, cables by tier, the link ends of its modules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from eastwest.plan.checking.alike import KEPT_TEXTS, blur
from eastwest.plan.checking.bill_cables import (
    CELLS_OF_A_PART,
    CableLine,
    add_absent_spines,
    add_cables,
    add_links_said,
    add_rooms,
    cable_kind,
    links_said,
)
from eastwest.plan.checking.keywords import key_name
from eastwest.plan.checking.optics_line import part_model
from eastwest.plan.checking.phrases import PLURALS
from eastwest.plan.checking.sheet import PartLine, Reading, Unused
from eastwest.plan.checking.tokens import TIERS, Token, tokens_of
from eastwest.plan.checking.words import read_words
from eastwest.plan.designs.design import NVL72, NVL72_GPUS_PER_RACK, NVL72_GPUS_PER_SERVER, catalogue_switch
from eastwest.plan.designs.terms import plain
from eastwest.plan.designs.written import port_groups, rate_of
from eastwest.spec import catalogue
from eastwest.units import GIGA

_IGNORED = re.compile(
    r"\blabels?\b|out-of-band|management|\boob\b|console|cat\s?[56]|\brack(?:s|\b(?!-))(?! switch)|\bpdus?\b"
    r"|licen[cs]es?\b|\bsupport\b|storage|firewall|power cord|\bufm\b|appliance|software|warrant(?:y|ies)"
    r"|installation|\btraining\b|power suppl|\bpsus?\b|\bfans?\b|带外|管理|标签|机柜|存储|许可|软件|维保",
    re.I,
)
_MODULE = re.compile(r"\bmodules?\b|\btransceivers?\b|\boptics?\b|光模块", re.I)
_OPTIC_TYPE = re.compile(r"\b(?:2x)?(?:SR|DR|FR|LR|VR)\d\+?\b", re.I)
_TRANSCEIVER = re.compile(r"\b(?:2x)?(?:SR|DR|FR|LR|VR)\d\+?\b|\bMM[AS]\d[A-Z]\d\d\b|\bQ?OSFP\b|\bQSFP", re.I)
_NO_TRANSCEIVER = re.compile(
    r"\b(?:DAC|AOC|ACC|AEC|LACC)s?\b|\bcopper\b|\bcables?\b|\bcabling\b|线缆|电缆|光缆|连接线", re.I
)
_CABLE = "cable line"
_RACK = re.compile(r"\bracks?\b|\bcabinets?\b|机柜", re.I)
_OF_SERVERS = frozenset(
    ("server", "servers", "compute", "compute node", "compute server", "gpu server", "计算", "算力")
)
_PORTS_OF_NIC = re.compile(r"\b([248]) ports of \d+G\b")
_NICS_OF_SERVER = re.compile(
    r"(\d{1,2})\s*[x×]\s*(\d+\s*[GT])\b[^;]{0,24}NIC|(\d{1,2})\s*(?:NICs|HCAs|rails)"
    r"|(\d{1,2})\s*[x×]\s*(?:CX-?\d|ConnectX-?\d|BlueField-?\d|BF-?\d)\b(?:[^;\d]{0,8}(\d+\s*G)\b)?"
    r"|(\d{1,2})\s*[x×]\s*(NDR200|NDR|HDR|XDR|EDR)\b",
    re.I,
)
_INFINIBAND = {"edr": 100 * GIGA, "hdr": 200 * GIGA, "ndr200": 200 * GIGA, "ndr": 400 * GIGA, "xdr": 800 * GIGA}
_PORTS_OF_SERVER = re.compile(
    r"(?<![\w.])(\d{1,2})\s*[x×]\s*(\d+\s*G)(?!B)\b", re.I
)  # 8 x 400G: what else has a server
_GPUS_OF_SERVER = re.compile(r"(\d{1,3})\s*[-x×]?\s*GPUs?\b|(\d{1,3})\s*[x×]\s*(?:G?[ABH]\d{3}|MI\d{3}X?)", re.I)
_ENDS = re.compile(r"\b(\d)\s*[x×]\s*\d+\s*G\b|\((\d)\s*ports? a cage\)", re.I)
_TWIN = re.compile(r"twin|2\s*[x×]\s*(?:SR4|DR4|FR4|VR4)", re.I)
_ORDER_NUMBER = re.compile(r"\b[A-Za-z]{1,4}\d{3,5}[A-Za-z]?\b|\b\d{4}[A-Z]\d")
_SERVER_MODEL = re.compile(r"\b(DGX|HGX)[-\s]?([ABH]\d{2,3})\b", re.I)
ADDED = frozenset(
    [
        "leaves",
        "spines",
        "cores",
        "switches",
        "servers",
        "nics",
        "gpus",
        "cables",
        "fibres",
        "module_ends",
        "server_cables",
        "leaf_spine_cables",
        "spine_core_cables",
    ]
)
_OF_ONE_SWITCH = ("_down", "_up", "_ports", "_per_server", "_per_rail", "_per_pair", "_per_gpu")


@dataclass(slots=True)
class _Lines:
    """The lines of a bill by what they are: cables, modules, labels, and everything else that is counted."""

    cables: list[CableLine] = field(default_factory=list)
    modules: list[PartLine] = field(default_factory=list)
    labels: list[PartLine] = field(default_factory=list)
    devices: list[PartLine] = field(default_factory=list)

    def sort(self, part: PartLine, names: Iterable[str], text: str) -> None:
        """One more line, by the names of its numbers; `text` is the line without the numbers that say nothing."""
        kind = cable_kind(text) if _CABLE in names else None
        if kind is not None:
            self.cables.append(CableLine(kind, part.quantity or 0, part.evidence))
        elif "module_ends" in names:
            self.modules.append(part)
        else:
            self.devices.append(part)


def read_bill(parts: Iterable[PartLine], reading: Reading) -> None:
    """Numbers of all lines of a bill into `reading`, pieces of one kind added up; spares are left out."""
    sums: dict[str, tuple[int, Any]] = {}
    lines = _Lines()
    for part in parts:
        reading.parts.append(part)
        if part.is_spare or part.quantity is None or part.is_end:
            continue
        if _is_ignored(part.text):
            lines.labels += [part] if any(links_said(part)) else []
            continue
        text = blur(part.text)
        found = _of_text(text)
        reading.unused += [Unused(other, part.evidence) for other in part.others]
        if not found:
            reading.unused.append(Unused(str(part.quantity), part.evidence))
        lines.sort(part, [name for name, *_ in found], text)
        for name, value, is_of_each in found:
            if name in ADDED:
                total, evidence = sums.get(name, (0, part.evidence))
                sums[name] = (total + value * part.quantity, evidence)
            elif name != _CABLE:
                reading.add(name, value * part.quantity if is_of_each else value, part.evidence)
    for name, (total, evidence) in sums.items():
        reading.add(name, total, evidence)
    add_cables(lines.cables, reading)
    add_links_said(lines.labels, lines.modules, lines.cables, reading)
    add_rooms(lines.devices, reading)
    add_absent_spines(reading)


def _is_ignored(text: str) -> bool:
    """Whether a line is of another network or no part of any; by its first cells, since notes may name anything."""
    own = "; ".join(text.split("; ")[:CELLS_OF_A_PART])
    return bool(_IGNORED.search(own)) and not NVL72.search(own)


@lru_cache(maxsize=KEPT_TEXTS)
def _of_text(text: str) -> tuple[tuple[str, Any, bool], ...]:
    """(name, value, whether it is to be multiplied) of a line of one piece; long lists repeat their texts."""
    is_setting = key_name(text.replace(";", " ")).endswith(_OF_ONE_SWITCH)
    return tuple((name, value, name in ADDED or is_setting) for name, value in _of_line(text, 1))


def _of_line(text: str, quantity: int) -> Iterator[tuple[str, Any]]:
    """(name, value) of one line."""
    name = key_name(text.replace(";", " "))
    if name.endswith(_OF_ONE_SWITCH):
        yield name, quantity
        return
    nouns = [token.noun for token in tokens_of(plain(text)) if token.noun]
    is_cable, is_module = bool(_NO_TRANSCEIVER.search(text)), bool(_MODULE.search(text))
    switch = catalogue_switch(text)
    if "switch" in nouns or (switch and not is_module and not is_cable):
        yield from _of_switch(text, quantity, nouns)
    elif is_module or _is_transceiver(text):
        yield "module_ends", quantity * _ends(text)
    elif cable_kind(text) is not None:
        yield _CABLE, quantity
    elif _is_server(text):
        yield from _of_server(text, quantity)
    elif "nic" in nouns:
        yield "nics", quantity
        ports = _PORTS_OF_NIC.search(text)
        if ports:
            yield "ports_of_nic", int(ports[1])
        rate = None if ports else rate_of(text)
        if rate:
            yield "nic_bps", rate
    else:
        yield from _by_noun(text, quantity, nouns, name)


def _by_noun(text: str, quantity: int, nouns: list[str], name: str) -> Iterator[tuple[str, Any]]:
    """(name, value) of a line that only its nouns tell: a tier, GPUs, or the name of a count."""
    if set(nouns) & set(TIERS):
        yield from _of_switch(text, quantity, nouns)
    elif name in ADDED or "gpu" in nouns:
        yield name if name in ADDED else "gpus", quantity


def _is_transceiver(text: str) -> bool:
    """Whether a line names a transceiver by its type or order number, and no cable, cord or adapter."""
    first = text.partition(";")[0]
    cord = re.search(r"\bfib(?:re|er)\b|\bcords?\b", first, re.I)
    is_typed = bool(_OPTIC_TYPE.search(first))  # then `adapter` is the side that it plugs into
    is_card = any(t.noun == "nic" and not (is_typed and t.text.startswith("adapter")) for t in tokens_of(first))
    return bool(_TRANSCEIVER.search(text)) and not cord and not is_card and not _NO_TRANSCEIVER.search(text)


def _is_server(text: str) -> bool:
    """Whether a line is servers: by the cell of its unit, else by its first cell with a word for one."""
    cells = [cell.strip() for cell in text.split(";")]
    lower = {cell.lower() for cell in cells}
    if {"nic", "nics"} & lower:
        return False
    tokens = [_nouns(cell) for cell in cells]
    first = next((nouns for nouns in tokens if nouns), [])
    is_nic_first = bool(first) and first[0] == "nic"
    return (
        bool(_OF_SERVERS & lower)
        or bool(NVL72.search(cells[0]) and _RACK.search(cells[0]))
        or ("server" in first and not is_nic_first)
    )


def _nouns(text: str) -> list[str]:
    found: list[Token] = tokens_of(plain(text))
    return [token.noun for token in found if token.noun]


def _of_switch(text: str, quantity: int, nouns: list[str]) -> Iterator[tuple[str, Any]]:
    groups, model = port_groups(text), catalogue_switch(text)
    ports = groups[0] if groups else ((model.ports, model.rate_bps) if model else None)
    tier = next((noun for noun in nouns if noun in TIERS), "")
    name = f"{tier or 'switch'}_ports"
    yield (PLURALS[tier] if tier else "switches"), quantity
    if ports:
        yield name, ports[0]
        yield f"{name}_bps", ports[1]
    for said, value in read_words(text.replace(";", ",")).found:
        if said.endswith(_OF_ONE_SWITCH) and not (ports and said.endswith("_ports")):
            yield said, value


def _of_server(text: str, quantity: int) -> Iterator[tuple[str, Any]]:
    is_rack = bool(NVL72.search(text)) and bool(_RACK.search(text))
    yield "servers", quantity * (NVL72_GPUS_PER_RACK // NVL72_GPUS_PER_SERVER if is_rack else 1)
    words = plain(text)
    nics = _NICS_OF_SERVER.search(words) or _PORTS_OF_SERVER.search(words)
    gpus = _GPUS_OF_SERVER.search(words)
    of_model = dict(server_of_model(text))
    if nics:
        count, *rest = [text for text in nics.groups() if text]
        rate = (_INFINIBAND.get(rest[0].lower()) or rate_of(rest[0])) if rest else None
        of_model["nics_per_server"] = int(count)
        if rate:
            of_model["nic_bps"] = rate
    if gpus:
        of_model["gpus_per_server"] = int(gpus[1] or gpus[2])
    yield from of_model.items()


def server_of_model(text: str) -> Iterator[tuple[str, int]]:
    """What the data sheet says of the server that a text names: GPUs, NICs and their rate; nothing for no model."""
    found, rack = _SERVER_MODEL.search(text), NVL72.search(text)
    name = f"{found[1]}-{found[2]}".lower() if found else ""
    if rack and not found:
        name = "gb300-nvl72" if "300" in rack[0] else "gb200-nvl72"
    if name in catalogue.names("server"):
        server = catalogue.get("server", name)
        yield from (
            ("gpus_per_server", server.gpus),
            ("nics_per_server", server.nics),
            ("nic_bps", server.nic_rate_bps),
        )


def switches_of_models(line: str, tier: str) -> Iterator[tuple[str, int]]:
    """Ports of the catalogue switches that a line names, each of the tier that its clause or the words before say."""
    if not _ORDER_NUMBER.search(line):
        return
    for clause in re.split(r"[;,()|]|\band\b|(?<=\D)\.", line):
        tier = next((token.noun for token in tokens_of(plain(clause)) if token.noun in TIERS), tier)
        model = catalogue_switch(clause) if _ORDER_NUMBER.search(clause) else None
        if model and tier:
            yield f"{tier}_ports", model.ports
            yield f"{tier}_ports_bps", model.rate_bps


def _ends(text: str) -> int:
    """Link ends that one module carries: two for a twin-port module."""
    match = _ENDS.search(text)
    if match:
        return int(match[1] or match[2])
    model = part_model(text)
    return 2 if _TWIN.search(text) or (model is not None and model.twin_port) else 1
