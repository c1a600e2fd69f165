"""Pieces of a bill against each other: NICs of the servers, cables for every NIC, module ends for every fibre."""

from __future__ import annotations

from eastwest.finding import Finding
from eastwest.plan.checking.ports import Short, Sums
from eastwest.plan.checking.shape import Shape
from eastwest.plan.checking.sheet import Sheet

ENDS_OF_A_FIBRE = 2


def judge_pieces(sheet: Sheet, shape: Shape) -> Sums:
    """Comparisons that only a bill of materials has numbers for."""
    whole = sheet.whole
    findings: list[Finding] = []
    short: list[Short] = []
    compared = 0
    servers, per_server, nics = whole("servers"), whole("nics_per_server"), whole("nics")
    if servers and per_server and nics:
        compared += 1
        if nics != servers * per_server:
            evidence = sheet.evidence("nics", "servers")
            args = {"servers": servers, "per_server": per_server}
            findings.append(Finding("EW-CHK-049", "error", "NICs", servers * per_server, nics, "NICs", args, evidence))
            if nics < servers * per_server:
                short.append(Short("NICs", servers * per_server, nics, "NICs"))
    for item, code, names in (
        (_cables(sheet, shape), "EW-CHK-047", ("cables", *shape.names)),
        (_uplink_ports(sheet, shape), "EW-CHK-031", ("spines", "spine_ports", "cables")),
        (_ends(sheet), "EW-CHK-048", ("module_ends", "fibres")),
    ):
        if item is None:
            continue
        compared += 1
        if item.have < item.needed:
            short.append(item)
            words = {"short": item.needed - item.have, "what": item.what}
            evidence = sheet.evidence(*names)
            findings.append(Finding(code, "error", item.what, item.needed, item.have, item.unit, words, evidence))
    return Sums(tuple(findings), tuple(short), compared)


def _cables(sheet: Sheet, shape: Shape) -> Short | None:
    """A cable for every NIC, before any for the spines."""
    cables = sheet.whole("cables")
    return Short("cables", shape.nic_links, cables, "cables") if cables and shape.nic_links else None


def _uplink_ports(sheet: Sheet, shape: Shape) -> Short | None:
    """Spine ports for the cables that no NIC takes, where a bill gives cables and no ports of a leaf."""
    cables, ports = sheet.whole("cables"), shape.spine_ports
    if not cables or not shape.nic_links or not shape.spines or not ports or shape.up is not None or shape.cores:
        return None
    left = cables - shape.nic_links
    return Short("spine ports", left, shape.spines * ports) if left > 0 else None


def _ends(sheet: Sheet) -> Short | None:
    """Module ends for both ends of every fibre."""
    fibres, ends = sheet.whole("fibres"), sheet.whole("module_ends")
    return Short("module ends", ENDS_OF_A_FIBRE * fibres, ends, "link ends") if fibres and ends else None
