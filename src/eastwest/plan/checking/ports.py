"""Do the ports add up: every link against the ports at its two ends, tier by tier."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from eastwest.finding import Finding
from eastwest.plan.checking.shape import Shape
from eastwest.plan.checking.sheet import Sheet
from eastwest.plan.designs.design import USUAL_NIC_RATE_BPS
from eastwest.plan.designs.written import ratio_text

OF_CORES = ("spine_core_links", "spine_core_cables")
OF_LINKS = ("EW-CHK-030", "EW-CHK-031", "EW-CHK-039", "EW-CHK-079", "EW-CHK-080", "EW-CHK-083")
OF_PRINTED_PORTS = ("EW-CHK-030", "EW-CHK-031", "EW-CHK-038")


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
class Sum:
    """One comparison: what is needed and what there is, the finding's code when it is short, the facts that it used.

    `links` and `against` are the two sides in words; `tier` is the boundary that it decides.
    """

    code: str
    what: str
    links: str
    needed: int
    have: int
    names: tuple[str, ...]
    tier: str = ""
    words: dict[str, Any] = field(default_factory=dict)

    @property
    def is_short(self) -> bool:
        """Whether there are fewer ports than links."""
        return self.needed > self.have


@dataclass(frozen=True, slots=True)
class Sums:
    """Outcome of adding up: findings, shortages, the comparisons that were made, and the facts that they used."""

    findings: tuple[Finding, ...] = ()
    short: tuple[Short, ...] = ()
    made: tuple[Sum, ...] = ()
    used: frozenset[str] = frozenset()
    n_compared: int = 0


def add_up(sheet: Sheet, shape: Shape, is_row: bool = False) -> Sums:
    """Every comparison of ports that the sheet has both sides of.

    Of a published row (`is_row`), whose counts are judged by the fabric builder, only those of ports that it prints.
    """
    made = [*_of_leaves(sheet, shape), *_of_spines(sheet, shape), *_of_cores(sheet, shape), *_of_one_switch(shape)]
    if is_row:
        made = [item for item in made if {"leaf_up", "leaf_down", "spine_up"} & set(item.names) & set(sheet.facts)]
        made = [item for item in made if item.code in OF_PRINTED_PORTS and "nic_parts" not in sheet.facts]
    made = [item for item in made if not _rests_on_rate(item, shape)]
    findings, short = [], []
    for item in made:
        if item.is_short:
            short.append(Short(item.what, item.needed, item.have))
            words = {"short": item.needed - item.have, "what": item.what, **item.words}
            evidence = sheet.evidence(*item.names)
            findings.append(Finding(item.code, "error", item.what, item.needed, item.have, "ports", words, evidence))
    used = frozenset(name for item in made for name in item.names)
    return Sums(tuple(findings), tuple(short), tuple(made), used, len(made))


def _rests_on_rate(item: Sum, shape: Shape) -> bool:
    """Whether ports are short only if no port is broken out: fast ports, and nobody says the rate of a NIC."""
    port_bps = max(shape.leaf_bps or 0, shape.spine_bps or 0)
    if not item.is_short or shape.nic_bps or port_bps <= USUAL_NIC_RATE_BPS or item.code not in OF_LINKS:
        return False
    is_counted = item.code == "EW-CHK-031" and not shape.is_cabled
    return not is_counted and (not item.have or item.needed <= item.have * (port_bps // USUAL_NIC_RATE_BPS))


def fit(links: int, link_bps: int | None, ports: int, port_bps: int | None) -> tuple[int, int]:
    """Links and ports in one unit: a port of twice the rate is broken out into two, a faster link takes two ports."""
    if link_bps and port_bps and port_bps % link_bps == 0:
        return links, ports * (port_bps // link_bps)
    if link_bps and port_bps and link_bps % port_bps == 0:
        return links * (link_bps // port_bps), ports
    return links, ports


def _of_leaves(sheet: Sheet, shape: Shape) -> Iterator[Sum]:
    """NIC links against the ports of the leaves."""
    links, leaves = shape.nic_links, shape.leaves
    if links is None or not leaves:
        return
    if shape.down is not None:
        needed, have = fit(links, shape.nic_bps, leaves * shape.down, shape.down_bps)
        yield Sum(
            "EW-CHK-030", "leaf ports down", "NIC links", needed, have, (*shape.names, "leaves", "leaf_down"), "leaf"
        )
    elif shape.leaf_ports is not None:
        names = (*shape.names, "leaves", "leaf_ports", "switch_ports", *shape.up_names)
        nics, have = fit(links, shape.nic_bps, leaves * shape.leaf_ports, shape.leaf_bps)
        bps = shape.nic_bps if shape.is_cabled else shape.up_bps
        up, _ = fit(shape.uplinks or 0, bps, 1, shape.nic_bps or bps)
        yield Sum("EW-CHK-039", "leaf ports", "links that end on leaves", nics + up, have, names, "leaf")


def _of_spines(sheet: Sheet, shape: Shape) -> Iterator[Sum]:
    """Leaf uplinks against the ports of the spines."""
    if not shape.spines:
        return
    each = shape.spine_down or (shape.spine_ports - (shape.spine_up or 0) if shape.spine_ports else None)
    if each is None:
        return
    names = ("spines", "spine_ports", "spine_down", "switch_ports")
    if shape.uplinks is not None:
        bps = _cable_bps(shape) if shape.is_cabled else shape.up_bps
        needed, have = fit(shape.uplinks, bps, shape.spines * each, shape.spine_bps)
        climb = 0 if shape.spine_down or shape.spine_up else _climb(sheet)
        have = max(0, have - fit(climb, _cable_bps(shape), 1, shape.spine_bps)[0])
        used = (*names, *shape.up_names, *(OF_CORES if climb else ()))
        yield Sum("EW-CHK-031", "spine ports", "leaf uplinks", needed, have, used, "spine")
    elif _between(sheet, shape) is not None:
        yield from _of_all_switches(sheet, shape, shape.spines * each, names)
    elif shape.nic_links and shape.leaves and shape.leaf_ports and shape.down is None:
        yield from _left_for_uplinks(sheet, shape, shape.spines * each, names)


def _climb(sheet: Sheet) -> int:
    """Links between spines and cores, where a text gives them."""
    return next((n for name in OF_CORES if (n := sheet.whole(name))), 0)


def _between(sheet: Sheet, shape: Shape) -> int | None:
    """Links between switches of three tiers, where a text gives all cables and not those of each tier."""
    cables, named = sheet.whole("cables"), ("server_cables", "leaf_spine_cables", *OF_CORES, "room_cables")
    if not shape.cores or cables is None or shape.nic_links is None or any(sheet.whole(name) for name in named):
        return None
    return cables - shape.nic_links if cables > shape.nic_links else None


def _of_all_switches(sheet: Sheet, shape: Shape, spine_ports: int, names: tuple[str, ...]) -> Iterator[Sum]:
    """Links between switches of three tiers: each ends on a spine, and its other end on a leaf or a core."""
    links, bps = _between(sheet, shape) or 0, _cable_bps(shape)
    names = (*names, *shape.names, "cables", "cores", "core_ports", "leaves", "leaf_ports", "switch_ports")
    needed, have = fit(links, bps, spine_ports, shape.spine_bps)
    yield Sum("EW-CHK-065", "spine ports", "links between switches", needed, have, names, "spine")
    if shape.leaves and shape.leaf_ports and shape.cores and shape.core_ports:
        nics, leaf = fit(shape.nic_links or 0, shape.nic_bps, shape.leaves * shape.leaf_ports, shape.leaf_bps)
        _, core = fit(links, bps, shape.cores * shape.core_ports, sheet.whole("core_ports_bps") or shape.spine_bps)
        free = max(0, leaf - nics) + core
        yield Sum("EW-CHK-066", "leaf and core ports", "links between switches", needed, free, names, "core")


def _cable_bps(shape: Shape) -> int | None:
    """The rate that a cable between switches is taken to have: the NICs', where ports are faster and may be split."""
    rates = [rate for rate in (shape.nic_bps, shape.spine_bps) if rate]
    return min(rates) if rates else None


def _left_for_uplinks(sheet: Sheet, shape: Shape, spine_ports: int, names: tuple[str, ...]) -> Iterator[Sum]:
    """Uplinks where nobody counts them: what the NICs leave of the leaves, at the wished ratio or 1:1.

    All in links of a NIC's rate. With cores half of a spine's ports at least face down.
    """
    links, leaves, ports = shape.nic_links or 0, shape.leaves or 0, shape.leaf_ports or 0
    links, total = fit(links, shape.nic_bps, leaves * ports, shape.leaf_bps)
    _, have = fit(links, shape.nic_bps, spine_ports, shape.spine_bps)
    have = have // 2 if shape.cores and not shape.spine_down and not shape.spine_up else have
    left, said = total - links, sheet.ratio("ratio")
    all_names = (*names, *shape.names, "leaves", "leaf_ports", "ratio")
    words: dict[str, Any] = {"leaves": leaves, "ports": ports, "total": total, "links": links, "spines": shape.spines}
    if left < 0:
        return
    wished = ceil(links / (said or 1.0))
    if left == 0:
        yield Sum(
            "EW-CHK-079", "leaf ports for uplinks", "leaf uplinks", min(wished, have) or 1, 0, all_names, "spine", words
        )
    elif said and left < wished:
        words |= {"ratio": ratio_text(said)}
        yield Sum("EW-CHK-083", "leaf ports for uplinks", "leaf uplinks", wished, left, all_names, "spine", words)
    else:
        needed = wished if said else min(wished, left)
        words |= {"ratio": ratio_text(links / have) if have else "?"}
        code = "EW-CHK-031" if said else "EW-CHK-080"
        yield Sum(code, "spine ports", "leaf uplinks", needed, have, all_names, "spine", words)


def _of_cores(sheet: Sheet, shape: Shape) -> Iterator[Sum]:
    """Spine uplinks against the ports of the cores: as the text counts them, else at 1:1, which is said."""
    names: tuple[str, ...] = ("spines", "spine_up", *OF_CORES, "cores", "core_ports", "switch_ports")
    if not shape.cores or not shape.core_ports or _between(sheet, shape) is not None:
        return
    climb, code = _climb(sheet) or None, "EW-CHK-038"
    if shape.spines and shape.spine_up is not None:
        climb = shape.spines * shape.spine_up
    elif climb is None and shape.spines and shape.spine_ports:
        code, ports = "EW-CHK-067", shape.spines * shape.spine_ports
        if shape.uplinks is not None:
            climb, names = min(shape.uplinks, ports - shape.uplinks), (*names, *shape.up_names)
        elif shape.nic_links:
            climb = min(shape.nic_links, ports // 2)
    if climb is not None and climb >= 0:
        bps = sheet.whole("core_ports_bps") or shape.spine_bps
        needed, have = fit(climb, _cable_bps(shape) if _climb(sheet) else bps, shape.cores * shape.core_ports, bps)
        words = {"ratio": ratio_text(needed / have) if have else "?"}
        yield Sum(code, "core ports", "spine uplinks", needed, have, names, "core", words)


def _of_one_switch(shape: Shape) -> Iterator[Sum]:
    """Ports down and up of one switch against all that it has."""
    names: tuple[str, ...] = ("leaf_down", "leaf_up", "leaf_ports", "switch_ports")
    if shape.leaf_ports is not None and (shape.down is not None or (shape.up is not None and not shape.is_cabled)):
        used, have = _used(shape.down, shape.down_bps, shape.up, shape.up_bps, shape.leaf_ports, shape.leaf_bps)
        words: dict[str, Any] = {"what": "ports of one leaf"}
        yield Sum("EW-CHK-032", "ports of one leaf", "ports down and up", used, have, names, "", words)
    if shape.spine_ports is not None and (shape.spine_down is not None or shape.spine_up is not None):
        names = ("spine_down", "spine_up", "spine_ports", "switch_ports")
        used, have = (shape.spine_down or 0) + (shape.spine_up or 0), shape.spine_ports
        words = {"what": "ports of one spine"}
        yield Sum("EW-CHK-032", "ports of one spine", "ports down and up", used, have, names, "", words)


def _used(
    down: int | None, down_bps: int | None, up: int | None, up_bps: int | None, ports: int, port_bps: int | None
) -> tuple[int, int]:
    """Ports in use and ports there are, in ports of the slowest rate; counted as they are where a rate is not known."""
    rates = [rate for rate in (down_bps, up_bps, port_bps) if rate]
    unit = min(rates, default=0)
    if not port_bps or not unit or any(rate % unit for rate in rates):
        return (down or 0) + (up or 0), ports
    sides = ((down or 0, down_bps or port_bps), (up or 0, up_bps or port_bps))
    return sum(count * (rate // unit) for count, rate in sides), ports * (port_bps // unit)
