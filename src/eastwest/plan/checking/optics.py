"""Will it plug and link: the rules of cages, fibres, ferrules, lane rates and reach, one a row of `RULES`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from eastwest.finding import Finding
from eastwest.plan.checking.alike import KEPT_TEXTS
from eastwest.plan.checking.optics_counts import count_modules
from eastwest.plan.checking.optics_line import PAM4_100G_BPS, OpticsLine, read_optics
from eastwest.plan.checking.sheet import PartLine, Sheet
from eastwest.plan.checking.tokens import noun_of
from eastwest.plan.designs.terms import plain
from eastwest.spec.reach import reach_of_medium_m, reach_of_optic_m
from eastwest.units import GIGA, format_length, format_port_rate

OF_AN_END = frozenset(("EW-CHK-050", "EW-CHK-054", "EW-CHK-056"))  # rules that each end of a link may break itself
XDR_LANE_BPS = 200 * GIGA
LONGEST_KIND = 24  # characters of a word for a kind of part: `optical transceiver`
SHOWN_CHARS = 120  # of a line's text in a sentence


@dataclass(frozen=True, slots=True)
class OpticsRule:
    """One rule: the finding's code, whether a line breaks it, words for the sentence, and where the rule comes from."""

    code: str
    is_broken: Callable[[OpticsLine], bool]
    words: Callable[[OpticsLine], dict[str, Any]]
    source: str


def _no_words(line: OpticsLine) -> dict[str, Any]:
    return {}


def _single_port_in_switch(line: OpticsLine) -> bool:
    return line.place == "switch" and (line.is_single_port or line.is_flat) and line.is_osfp and not line.is_twin_port


def _mixed_fibres(line: OpticsLine) -> bool:
    return len(line.splits) > 1 and not {"dac", "acc"} & line.media


def _beyond_reach(line: OpticsLine) -> bool:
    return line.length_m is not None and line.reach_m is not None and line.length_m > line.reach_m


def _reach_words(line: OpticsLine) -> dict[str, Any]:
    medium = "/".join(sorted(line.media)).upper() or line.model
    words = {"length": format_length(line.length_m or 0), "reach": format_length(line.reach_m or 0), "medium": medium}
    return {**words, "instead": ", ".join(longer_than(line.length_m or 0.0))}


def longer_than(length_m: float) -> list[str]:
    """What reaches a length: the shortest that does first, two at most; for more than the last, that nothing does.

    >>> longer_than(70), longer_than(12_000), longer_than(500_000)
    (['AOC (100 m)', 'DR4 MMS4X00-NS (100 m)', 'DR4 MMS4X00-NM (500 m)'], ['ZR (80 km)'], ['a coherent line system'])
    """
    fits = [(reach, name) for name, reach in _reaches() if reach >= length_m]
    near = sorted({reach for reach, _ in fits})[:2]
    found = [f"{name} ({format_length(reach)})" for reach, name in sorted(fits) if reach in near]
    return found or ["a coherent line system"]


@cache
def _reaches() -> tuple[tuple[str, float], ...]:
    """What a link may be made of and how far it reaches, by the data sheets of the catalogue."""
    media = (("DAC", "dac"), ("ACC", "acc"), ("AOC", "aoc"), ("SR4", "sr"), ("FR4", "fr"), ("LR4", "lr"), ("ZR", "zr"))
    found = [(name, reach_of_medium_m(medium)) for name, medium in media]
    for model in ("mms4x00-ns", "mms4x00-nm"):
        found.append((f"DR4 {model.upper()}", reach_of_optic_m(model)))
    return tuple(found)


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
    OpticsRule("EW-CHK-050", _single_port_in_switch, _no_words, f"{_GUIDE}: connectors and cages"),
    OpticsRule("EW-CHK-051", _mixed_fibres, _no_words, f"{_GUIDE}: twin-port transceivers"),
    OpticsRule("EW-CHK-052", _beyond_reach, _reach_words, "data sheet of the part, else its IEEE 802.3 type"),
    OpticsRule("EW-CHK-053", _lanes_differ, _lane_words, f"{_GUIDE}: lane rates of HDR, NDR and XDR"),
    OpticsRule("EW-CHK-054", _twin_port_in_adapter, _no_words, f"{_GUIDE}: flat-top and finned-top OSFP"),
    OpticsRule("EW-CHK-055", _ferrules_differ, _no_words, f"{_GUIDE}: MPO-12/APC and UPC"),
    OpticsRule("EW-CHK-056", _osfp_in_bluefield, _no_words, f"{_GUIDE}: BlueField-3"),
    OpticsRule("EW-CHK-057", _no_such_xdr, _no_words, "NVIDIA XDR optics guide"),
    OpticsRule("EW-CHK-058", _fibre_of_other_kind, _no_words, f"{_GUIDE}: fibre types"),
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
    findings = [*_once(finding for line in lines for finding in _broken(line)), *count_modules(sheet, lines)]
    n_told = sum(line.is_told for line in lines)
    return OpticsVerdict(tuple(findings), tuple(_totals([line.part for line in lines])), n_told)


def _once(findings: Iterator[Finding]) -> Iterator[Finding]:
    """One finding for each rule and line of the text: a fibre that both ends share breaks a rule once."""
    seen: set[tuple[str, str, int | None]] = set()
    for finding in findings:
        item = finding.subject if finding.code in OF_AN_END else finding.subject.partition(" (")[0]
        key = (finding.code, item, finding.evidence[0].line)
        if key not in seen:
            seen.add(key)
            yield finding


def _broken(line: OpticsLine) -> Iterator[Finding]:
    for rule in RULES:
        if rule.is_broken(line):
            args = {"part": line.part.text[:SHOWN_CHARS], "rule": rule.source, **rule.words(line)}
            yield Finding(rule.code, "error", line.part.label, args=args, evidence=(line.part.evidence,))


def _totals(parts: list[PartLine]) -> Iterator[dict[str, Any]]:
    """Pieces by part and length, of lines that give their quantity."""
    count: Counter[tuple[str, float | None]] = Counter()
    for part in parts:
        if part.quantity is not None:
            count[_name_of(part.text), part.length_m] += part.quantity
    for (text, length_m), quantity in count.items():
        yield {"part": text, "length_m": length_m, "quantity": quantity}


def _name_of(text: str) -> str:
    """The cell that names a part: the first that is more than a word for its kind, such as `cable`."""
    cells = [cell.strip() for cell in text.split(";")]
    return next((cell for cell in cells if not _is_a_kind(cell)), cells[0])


def _is_a_kind(cell: str) -> bool:
    return len(cell) <= LONGEST_KIND and not any(c.isdigit() for c in cell) and _is_of_nouns(cell)


@lru_cache(maxsize=KEPT_TEXTS)
def _is_of_nouns(cell: str) -> bool:
    return all(noun_of(word) for word in plain(cell).lower().split())
