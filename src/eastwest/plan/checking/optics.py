"""Will it plug and link: the rules of cages, fibres, ferrules, lane rates and reach, one a row of `RULES`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any

from eastwest.finding import Finding
from eastwest.plan.checking.optics_line import OpticsLine, read_optics
from eastwest.plan.checking.sheet import PartLine, Sheet
from eastwest.units import GIGA, format_length, format_port_rate

LINKS_OF_A_TWIN_PORT = 2
SHORT_LIST = 60  # lines: a longer one counts its links itself
PAM4_100G_BPS = 100 * GIGA
XDR_LANE_BPS = 200 * GIGA


@dataclass(frozen=True, slots=True)
class OpticsRule:
    """One rule: the finding's code, whether a line breaks it, words for the sentence, and where the rule comes from."""

    code: str
    is_broken: Callable[[OpticsLine], bool]
    words: Callable[[OpticsLine], dict[str, Any]]
    source: str


def _none(line: OpticsLine) -> dict[str, Any]:
    return {}


def _single_port_in_switch(line: OpticsLine) -> bool:
    return line.place == "switch" and (line.is_single_port or line.is_flat) and line.is_osfp and not line.is_twin_port


def _mixed_fibres(line: OpticsLine) -> bool:
    return len(line.splits) > 1 and not {"dac", "acc"} & line.media


def _beyond_reach(line: OpticsLine) -> bool:
    return line.length_m is not None and line.reach_m is not None and line.length_m > line.reach_m


def _reach_words(line: OpticsLine) -> dict[str, Any]:
    medium = "/".join(sorted(line.media)).upper() or line.model
    return {"length": format_length(line.length_m or 0), "reach": format_length(line.reach_m or 0), "medium": medium}


def _lanes_differ(line: OpticsLine) -> bool:
    return len(line.lanes_bps) > 1 and "aoc" not in line.media


def _lane_words(line: OpticsLine) -> dict[str, Any]:
    return {"lanes": " / ".join(format_port_rate(rate) for rate in sorted(line.lanes_bps))}


def _twin_port_in_adapter(line: OpticsLine) -> bool:
    is_module = not {"dac", "acc", "aoc"} & line.media
    return line.place == "adapter" and (line.is_twin_port or line.is_finned) and is_module


def _ferrules_differ(line: OpticsLine) -> bool:
    is_old_sr = "sr" in line.media and line.lanes_bps and max(line.lanes_bps) < PAM4_100G_BPS
    is_new = bool(line.media & {"sr", "dr"}) and bool(line.lanes_bps) and min(line.lanes_bps) >= PAM4_100G_BPS
    return len(line.polish) > 1 or (is_new and line.polish == {"UPC"}) or bool(is_old_sr and line.polish == {"APC"})


def _osfp_in_bluefield(line: OpticsLine) -> bool:
    return line.place == "bluefield-3" and line.is_osfp and not line.is_qsfp


def _no_such_xdr(line: OpticsLine) -> bool:
    return XDR_LANE_BPS in line.lanes_bps and bool(line.media & {"sr", "aoc", "dac"})


def _fibre_of_other_kind(line: OpticsLine) -> bool:
    wants_single_mode = bool(line.media & {"dr", "fr", "lr"})
    return ("sr" in line.media and "single mode" in line.fibre) or (wants_single_mode and "multimode" in line.fibre)


_GUIDE = "NVIDIA optics guide"
RULES: tuple[OpticsRule, ...] = (
    OpticsRule("EW-CHK-050", _single_port_in_switch, _none, f"{_GUIDE}: connectors and cages"),
    OpticsRule("EW-CHK-051", _mixed_fibres, _none, f"{_GUIDE}: twin-port transceivers"),
    OpticsRule("EW-CHK-052", _beyond_reach, _reach_words, "data sheet of the part, else its IEEE 802.3 type"),
    OpticsRule("EW-CHK-053", _lanes_differ, _lane_words, f"{_GUIDE}: lane rates of HDR, NDR and XDR"),
    OpticsRule("EW-CHK-054", _twin_port_in_adapter, _none, f"{_GUIDE}: flat-top and finned-top OSFP"),
    OpticsRule("EW-CHK-055", _ferrules_differ, _none, f"{_GUIDE}: MPO-12/APC and UPC"),
    OpticsRule("EW-CHK-056", _osfp_in_bluefield, _none, f"{_GUIDE}: BlueField-3"),
    OpticsRule("EW-CHK-057", _no_such_xdr, _none, "NVIDIA XDR optics guide"),
    OpticsRule("EW-CHK-058", _fibre_of_other_kind, _none, f"{_GUIDE}: fibre types"),
)


@dataclass(frozen=True, slots=True)
class OpticsVerdict:
    """Findings of a list, pieces by part and length, and lines about optics that were looked at."""

    findings: tuple[Finding, ...]
    totals: tuple[dict[str, Any], ...]
    n_lines: int


def judge_optics(sheet: Sheet) -> OpticsVerdict:
    """Every line against every rule, then the modules against the links."""
    lines = [line for part in sheet.parts if (line := read_optics(part)) is not None]
    findings = [finding for line in lines for finding in _broken(line)]
    findings += _modules(sheet, lines)
    return OpticsVerdict(tuple(findings), tuple(_totals([line.part for line in lines])), len(lines))


def _broken(line: OpticsLine) -> Iterator[Finding]:
    for rule in RULES:
        if rule.is_broken(line):
            args = {"part": line.part.text[:120], "rule": rule.source, **rule.words(line)}
            yield Finding(rule.code, "error", line.part.label, args=args, evidence=(line.part.evidence,))


def _modules(sheet: Sheet, lines: list[OpticsLine]) -> Iterator[Finding]:
    """Twin-port modules against single-port ones: two adapter links end in one module on the switch side."""
    twins = [line for line in lines if _is_module(line) and line.is_twin_port]
    singles = [line for line in lines if _is_module(line) and _is_of_adapter(line) and not line.is_twin_port]
    have, links = _pieces(twins), _pieces(singles)
    needed = ceil(links / LINKS_OF_A_TWIN_PORT)
    evidence = tuple(line.part.evidence for line in (*singles[:1], *twins[:1]))
    if links and twins and have < needed:
        args = {"links": links, "short": needed - have}
        yield Finding("EW-CHK-059", "error", "twin-port modules", needed, have, "modules", args, evidence)
    elif len(lines) <= SHORT_LIST and (twins or any("cage" in line.part.text.lower() for line in lines)):
        args = {"links": links, "have": have}
        code = "EW-CHK-060" if links and have else "EW-CHK-061"
        yield Finding(code, "info", "twin-port modules", needed or None, have or None, "modules", args, evidence)


def _is_of_adapter(line: OpticsLine) -> bool:
    return line.is_flat or (line.place is not None and line.place != "switch")


def _is_module(line: OpticsLine) -> bool:
    return not line.part.is_spare and not {"dac", "acc", "aoc"} & line.media


def _pieces(lines: list[OpticsLine]) -> int:
    return sum(line.part.quantity or 0 for line in lines)


def _totals(parts: list[PartLine]) -> Iterator[dict[str, Any]]:
    """Pieces by part and length, of lines that give their quantity."""
    count: Counter[tuple[str, float | None]] = Counter()
    for part in parts:
        if part.quantity is not None:
            count[part.text.partition(";")[0].strip(), part.length_m] += part.quantity
    for (text, length_m), quantity in count.items():
        yield {"part": text, "length_m": length_m, "quantity": quantity}
