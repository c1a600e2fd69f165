"""Do the ports add up: NIC links against leaf ports, leaf uplinks against spine ports, spine uplinks against cores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from eastwest.finding import Finding
from eastwest.plan.checking.shape import Shape
from eastwest.plan.checking.sheet import Sheet
from eastwest.plan.designs.written import ratio_text
from eastwest.units import format_port_rate, format_rate

ROUNDING = 0.01  # relative: a printed ratio such as 1.67:1 against 5:3


@dataclass(frozen=True, slots=True)
class Short:
    """Ports or pieces that a design needs and has not got."""

    what: str
    needed: int
    have: int
    unit: str = "ports"

    def as_json(self, design: str = "") -> dict[str, Any]:
        """The shortage with its difference."""
        return {
            "design": design or None,
            "what": self.what,
            "needed": self.needed,
            "have": self.have,
            "short": self.needed - self.have,
            "unit": self.unit,
        }


@dataclass(frozen=True, slots=True)
class Sums:
    """Outcome of adding up: findings, shortages, and how many comparisons there were numbers for."""

    findings: tuple[Finding, ...]
    short: tuple[Short, ...]
    n_compared: int


def add_up(sheet: Sheet, shape: Shape) -> Sums:
    """Every comparison of ports that the sheet has both sides of."""
    findings: list[Finding] = []
    short: list[Short] = []
    compared = 0
    for needed, have, what, code, names in _pairs(shape):
        if needed is None or have is None:
            continue
        compared += 1
        if needed > have:
            short.append(Short(what, needed, have))
            args = {"short": needed - have, "what": what}
            evidence = sheet.evidence(*names)
            findings.append(Finding(code, "error", what, needed, have, "ports", args, evidence))
    more = list(_contradictions(sheet, shape))
    return Sums((*findings, *more), tuple(short), compared)


def _pairs(shape: Shape) -> Iterator[tuple[int | None, int | None, str, str, tuple[str, ...]]]:
    """(needed, there, what, code, names of the facts) of each comparison."""
    names: tuple[str, ...]
    yield (
        shape.nic_links,
        _product(shape.leaves, shape.down),
        "leaf ports down",
        "EW-CHK-030",
        (*shape.names, "leaves", "leaf_down"),
    )
    uplinks = _product(shape.leaves, shape.up)
    down = shape.spine_down or shape.spine_ports
    names = ("leaves", "leaf_up", "leaf_spine_cables", "spines", "spine_ports", "spine_down", "switch_ports")
    if shape.spines:
        yield uplinks, _product(shape.spines, down), "spine ports", "EW-CHK-031", names
    if shape.down is not None and shape.up is not None:
        names = ("leaf_down", "leaf_up", "leaf_ports", "switch_ports")
        yield shape.down + shape.up, shape.leaf_ports, "ports of one leaf", "EW-CHK-032", names
    if shape.spine_down is not None and shape.spine_up is not None:
        names = ("spine_down", "spine_up", "spine_ports", "switch_ports")
        yield shape.spine_down + shape.spine_up, shape.spine_ports, "ports of one spine", "EW-CHK-032", names
    if shape.cores:
        names = ("spines", "spine_up", "cores", "core_ports", "switch_ports")
        climb = _product(shape.spines, shape.spine_up)
        yield climb, _product(shape.cores, shape.core_ports), "core ports", "EW-CHK-038", names
    if shape.down is None and shape.leaves and shape.leaf_ports and shape.nic_links:
        names = (*shape.names, "leaves", "leaf_ports", "switch_ports", "cables", "leaf_spine_cables")
        total = shape.nic_links + (uplinks or 0)
        yield total, _product(shape.leaves, shape.leaf_ports), "leaf ports", "EW-CHK-039", names


def _product(count: int | None, each: int | None) -> int | None:
    return None if count is None or each is None else count * each


def _contradictions(sheet: Sheet, shape: Shape) -> Iterator[Finding]:
    """Numbers of the text that do not agree with each other."""
    yield from _ratio(sheet, shape)
    yield from _rails(sheet)
    yield from _chip(sheet, shape)
    yield from _pairs_of_links(sheet, shape)
    if (
        shape.spines
        and shape.up
        and shape.up > shape.spines
        and shape.up % shape.spines
        and not sheet.whole("pairs_in_rail")
    ):
        args = {"up": shape.up, "spines": shape.spines}
        yield Finding("EW-CHK-037", "warning", "leaf uplinks", args=args, evidence=sheet.evidence("leaf_up", "spines"))


def _ratio(sheet: Sheet, shape: Shape) -> Iterator[Finding]:
    said, built = sheet.ratio("ratio"), shape.ratio
    if said and built and abs(said - built) > ROUNDING * built:
        args = {"said": ratio_text(said), "built": ratio_text(built), "down": shape.down, "up": shape.up}
        evidence = sheet.evidence("ratio", "leaf_down", "leaf_up")
        yield Finding("EW-CHK-033", "warning", "oversubscription", built, said, "", args, evidence)


def _rails(sheet: Sheet) -> Iterator[Finding]:
    rails, per_rail, leaves = (sheet.whole(name) for name in ("rails", "leaves_per_rail", "leaves"))
    if rails and per_rail and leaves and rails * per_rail != leaves:
        args = {"rails": rails, "per_rail": per_rail}
        evidence = sheet.evidence("rails", "leaves_per_rail", "leaves")
        yield Finding("EW-CHK-034", "error", "leaves", rails * per_rail, leaves, "leaves", args, evidence)


def _chip(sheet: Sheet, shape: Shape) -> Iterator[Finding]:
    """A chip's capacity against the ports that the text gives its switch."""
    chip, ports = sheet.whole("chip_bps"), sheet.whole("spine_ports")
    rate = sheet.whole("spine_ports_bps") or shape.up_bps
    if chip and ports and rate and chip // rate != ports and chip % rate == 0:
        args = {"chip": format_rate(chip), "rate": format_port_rate(rate)}
        evidence = sheet.evidence("chip_bps", "spine_ports")
        yield Finding("EW-CHK-035", "warning", "spine ports", chip // rate, ports, "ports", args, evidence)


def _pairs_of_links(sheet: Sheet, shape: Shape) -> Iterator[Finding]:
    """`each spine takes 4 uplinks from every leaf`: so many times the spines that a leaf reaches are its uplinks."""
    per_pair, rails = sheet.whole("links_per_pair"), sheet.whole("rails")
    if not per_pair or not shape.spines or not shape.up:
        return
    is_split = sheet.whole("pairs_in_rail") == 1 and rails and shape.spines % rails == 0
    reached = shape.spines // rails if is_split and rails else shape.spines
    if per_pair * reached != shape.up:
        args = {"per_pair": per_pair, "reached": reached}
        evidence = sheet.evidence("links_per_pair", "leaf_up", "spines")
        yield Finding("EW-CHK-036", "warning", "leaf uplinks", per_pair * reached, shape.up, "links", args, evidence)
