"""Numbers of a text against each other: GPUs and servers, cables and links, rails and leaves, ratio and ports."""

from __future__ import annotations

from collections.abc import Iterator

from eastwest.finding import Finding
from eastwest.plan.checking.ports import Short, Sums
from eastwest.plan.checking.shape import Shape
from eastwest.plan.checking.sheet import ROUNDING, Sheet
from eastwest.plan.designs.written import ratio_text
from eastwest.units import format_port_rate, format_rate

ENDS_OF_A_FIBRE = 2
OF_CABLES = ("cables", "server_cables", "leaf_spine_cables", "spine_core_cables", "room_cables")


def agree(sheet: Sheet, shape: Shape) -> Sums:
    """Every pair of numbers that has to agree."""
    findings: list[Finding] = []
    short: list[Short] = []
    used: set[str] = set()
    compared = 0
    for check in (_gpus, _nics, _cables_of_servers, _switches, _cables, _fibres):
        for names, found, lack in check(sheet, shape):
            used |= set(names)
            compared += 1
            findings += [found] if found else []
            short += [lack] if lack else []
    findings += [*_ratio(sheet, shape), *_rails(sheet), *_chip(sheet, shape), *_pairs_of_links(sheet, shape)]
    findings += _uneven(sheet, shape)
    return Sums(tuple(findings), tuple(short), (), frozenset(used), compared)


Outcome = tuple[tuple[str, ...], Finding | None, Short | None]


def _gpus(sheet: Sheet, shape: Shape) -> Iterator[Outcome]:
    """GPUs against servers x GPUs of each."""
    servers, each, gpus = (sheet.whole(name) for name in ("servers", "gpus_per_server", "gpus"))
    names = ("gpus", "servers", "gpus_per_server")
    if not servers or not gpus:
        return
    if each is None:
        is_whole = gpus % servers == 0
        args = {"servers": servers, "per_server": "?"}
        evidence = sheet.evidence(*names)
        odd = Finding("EW-CHK-090", "warning", "GPUs", None, gpus, "GPUs", args, evidence)
        yield names, None if is_whole else odd, None
    elif servers * each != gpus:
        args = {"servers": servers, "per_server": each}
        evidence = sheet.evidence(*names)
        yield names, Finding("EW-CHK-076", "error", "GPUs", servers * each, gpus, "GPUs", args, evidence), None
    else:
        yield names, None, None


def _nics(sheet: Sheet, shape: Shape) -> Iterator[Outcome]:
    """NICs against servers x NICs of each."""
    servers, each, nics = (sheet.whole(name) for name in ("servers", "nics_per_server", "nics"))
    names = ("nics", "servers", "nics_per_server")
    if not servers or not each or not nics:
        return
    found, lack = None, None
    if nics != servers * each:
        args = {"servers": servers, "per_server": each}
        evidence = sheet.evidence(*names)
        found = Finding("EW-CHK-049", "error", "NICs", servers * each, nics, "NICs", args, evidence)
        lack = Short("NICs", servers * each, nics, "NICs") if nics < servers * each else None
    yield names, found, lack


def _cables_of_servers(sheet: Sheet, shape: Shape) -> Iterator[Outcome]:
    """Cables to servers whose NICs nobody counts: so many of each where they divide."""
    servers, cables = sheet.whole("servers"), sheet.whole("server_cables")
    if servers and cables and shape.names == ("server_cables",) and cables % servers == 0:
        yield ("servers", "server_cables"), None, None


def _switches(sheet: Sheet, shape: Shape) -> Iterator[Outcome]:
    """All switches against those of the tiers."""
    total, tiers = sheet.whole("switches"), (shape.leaves, shape.spines)
    if total is None or None in tiers:
        return
    built = (shape.leaves or 0) + (shape.spines or 0) + (shape.cores or 0)
    names = ("switches", "leaves", "spines", "cores")
    args = {"leaves": shape.leaves, "spines": shape.spines, "cores": shape.cores or 0}
    found = Finding("EW-CHK-081", "error", "switches", built, total, "switches", args, sheet.evidence(*names))
    yield names, found if built != total else None, None


def _cables(sheet: Sheet, shape: Shape) -> Iterator[Outcome]:
    """Cables of each tier, or all of them, against the links that they make."""
    said, made = sheet.whole("links_in_all"), sheet.whole("links_of_cables")
    if said is not None or sheet.whole("direct_links"):
        yield from _of_said_links(sheet, shape, said or 0, made or 0)
        return
    climb = shape.spines * shape.spine_up if shape.spines and shape.spine_up else None
    counted = shape.uplinks if not shape.is_cabled else None
    links = shape.nic_links if "server_cables" not in shape.names else None
    for name, needed, what in (
        ("server_cables", links, "NIC links"),
        ("leaf_spine_cables", counted, "leaf uplinks"),
        ("spine_core_cables", climb, "spine uplinks"),
    ):
        have = sheet.whole(name)
        if have is not None and needed is not None:
            yield _compare(sheet, shape, name, needed, have, what)
    have = sheet.whole("cables")
    if have is None or links is None or sheet.whole("server_cables"):
        return
    if sheet.whole("leaf_spine_cables") or counted is None:
        needed = links
        if have >= needed:
            yield ("cables",), _no_uplinks(sheet, shape, have) if have == needed else None, None
            return
        lack = Short("cables", needed, have, "cables")
        args = {"short": needed - have}
        evidence = sheet.evidence("cables", *shape.names)
        yield ("cables",), Finding("EW-CHK-047", "error", "cables", needed, have, "cables", args, evidence), lack
    elif climb is not None or not shape.cores:
        yield _compare(sheet, shape, "cables", links + counted + (climb or 0), have, "links of all tiers")


def _no_uplinks(sheet: Sheet, shape: Shape, have: int) -> Finding | None:
    """Cables that are exactly those of the NICs, under spines that nothing then reaches."""
    if not shape.spines:
        return None
    args, evidence = {"spines": shape.spines}, sheet.evidence("cables", "spines")
    least = have + max(shape.spines, shape.leaves or 1)
    return Finding("EW-CHK-069", "warning", "cables", least, have, "cables", args, evidence)


def _of_said_links(sheet: Sheet, shape: Shape, said: int, made: int) -> Iterator[Outcome]:
    """The links that all cables can make against those that a bill itself names."""
    names = (*OF_CABLES, "links_in_all", "links_of_cables", "direct_links", *shape.names)
    if made >= said:
        yield names, None, None
        return
    args = {"what": "links of all tiers", "name": "cables", "difference": said - made}
    found = Finding("EW-CHK-077", "error", "cables", said, made, "cables", args, sheet.evidence(*names))
    yield names, found, Short("cables", said, made, "cables")


def _compare(sheet: Sheet, shape: Shape, name: str, needed: int, have: int, what: str) -> Outcome:
    """Fewer cables than links are an error, more may be spares; a cable of twice the rate makes two links."""
    names = (name, *(("leaves", "leaf_up") if name != "server_cables" else shape.names))
    evidence, split = sheet.evidence(*names), max(1, (shape.up_bps or 1) // (shape.nic_bps or shape.up_bps or 1))
    split = 1 if sheet.whole(f"{name}_bps") else split  # counted in links of that rate already
    if have == needed or (name != "server_cables" and have in (needed * split, -(-needed // split))):
        return names, None, None
    args = {"what": what, "name": name, "difference": abs(needed - have)}
    if have > needed:
        return names, Finding("EW-CHK-078", "warning", "cables", needed, have, "cables", args, evidence), None
    lack = Short("cables", needed, have, "cables")
    return names, Finding("EW-CHK-077", "error", "cables", needed, have, "cables", args, evidence), lack


def _fibres(sheet: Sheet, shape: Shape) -> Iterator[Outcome]:
    """Module ends for both ends of every fibre."""
    fibres, ends = sheet.whole("fibres"), sheet.whole("module_ends")
    if not fibres or not ends:
        return
    needed = ENDS_OF_A_FIBRE * fibres
    if ends >= needed:
        yield ("fibres", "module_ends"), None, None
        return
    args = {"short": needed - ends}
    evidence = sheet.evidence("module_ends", "fibres")
    found = Finding("EW-CHK-048", "error", "module ends", needed, ends, "link ends", args, evidence)
    yield ("fibres", "module_ends"), found, Short("module ends", needed, ends, "link ends")


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


def _uneven(sheet: Sheet, shape: Shape) -> Iterator[Finding]:
    """Uplinks of a leaf that do not divide by the spines."""
    up, spines = shape.up, shape.spines
    if up and spines and up > spines and up % spines and not sheet.whole("pairs_in_rail"):
        args = {"up": up, "spines": spines}
        evidence, even = sheet.evidence("leaf_up", "spines"), up // spines * spines
        yield Finding("EW-CHK-037", "warning", "leaf uplinks", even, up, "links", args, evidence)
