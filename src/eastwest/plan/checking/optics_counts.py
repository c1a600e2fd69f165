"""Modules of a list against each other and against the links: a twin-port module ends two links on the switch side."""

from __future__ import annotations

from math import ceil

from eastwest.finding import Finding
from eastwest.plan.checking.optics_line import OpticsLine
from eastwest.plan.checking.sheet import Sheet

LINKS_OF_A_TWIN_PORT = 2
SHORT_LIST = 60  # lines: a longer one counts its links itself


def count_modules(sheet: Sheet, lines: list[OpticsLine]) -> list[Finding]:
    """Twin-port modules against the links that they end: too few are an error, one a link is too many."""
    lines = [line for line in lines if not line.part.is_end]  # two lines of such a list share a module
    twins = [line for line in lines if _is_module(line) and line.is_twin_port]
    singles = [line for line in lines if _is_module(line) and _is_of_adapter(line) and not line.is_twin_port]
    have = _pieces(twins) or (sheet.whole("modules") or 0 if twins else 0)
    links = _ends_on_switches(sheet, _pieces(singles)) or (sheet.whole("links") or 0)
    needed = ceil(links / LINKS_OF_A_TWIN_PORT)
    evidence = tuple(dict.fromkeys(line.part.evidence for line in (*singles[:1], *twins[:1])))
    if links and have and have < needed and not sheet.whole("fibres"):  # else its fibres lack ends: EW-CHK-048
        args = {"links": links, "short": needed - have}
        return [Finding("EW-CHK-059", "error", "twin-port modules", needed, have, "modules", args, evidence)]
    if links and have >= links and have > needed:
        args = {"links": links, "more": have - needed}
        return [Finding("EW-CHK-086", "warning", "twin-port modules", needed, have, "modules", args, evidence)]
    if len(lines) <= SHORT_LIST and (twins or any("cage" in line.part.text.lower() for line in lines)):
        args = {"links": links, "have": have}
        code = "EW-CHK-060" if links and have else "EW-CHK-061"
        return [Finding(code, "info", "twin-port modules", needed or None, have or None, "modules", args, evidence)]
    return []


def _ends_on_switches(sheet: Sheet, singles: int) -> int:
    """Ends of links on switches: one for each module of an adapter, and with more fibres both ends of the rest."""
    fibres = sheet.whole("fibres") or 0
    return singles + 2 * (fibres - singles) if singles and fibres > singles else singles


def _is_of_adapter(line: OpticsLine) -> bool:
    return line.is_flat or (line.place is not None and line.place != "switch")


def _is_module(line: OpticsLine) -> bool:
    return not line.part.is_spare and not {"dac", "acc", "aoc"} & line.media


def _pieces(lines: list[OpticsLine]) -> int:
    return sum(line.part.quantity or 0 for line in lines)
