"""Counts that follow from ports: switches by tier, cables by tier, the most that a number of tiers holds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import ceil

from eastwest.plan.designs.case import Row
from eastwest.plan.designs.design import MOST_TIERS, SwitchSize
from eastwest.plan.designs.fabric_counts import FabricCounts, first_tiers, most_gpus, servers_under_leaf
from eastwest.plan.designs.prediction import Prediction, Rule
from eastwest.units import format_port_rate

LEAF = r"(?:n_)?(?:leaf|leaves|leafs|tor|tors|rtsw)(?:_switches|_count|_as_printed)?"
SPINE = r"(?:n_)?(?:spine|spines|agg|ctsw)(?:_switches|_count|_as_printed)?"
CORE = r"(?:n_)?(?:core|cores|super_?spines?)(?:_switches|_count)?"
_WORDS_OF_TIERS = {"one": 1, "two": 2, "three": 3, "1": 1, "2": 2, "3": 3}


def _tier_of(name: str) -> str:
    for tier, pattern in (("leaves", LEAF), ("spines", SPINE), ("cores", CORE)):
        if re.fullmatch(pattern, name):
            return tier
    return "switches"


def _switches(row: Row, match: re.Match[str]) -> Prediction | None:
    """Switches of one tier, or of all."""
    counts = row.counts
    if counts is None:
        return None
    tier = _tier_of(match["tier"])
    if tier == "switches":
        because = f"{counts.leaves} leaves + {counts.spines} spines + {counts.cores} cores"
    else:
        because = _because(row, counts, tier)
    also = tuple(getattr(other, tier) for other in row.others)
    because = f"{_tiers_because(row, counts)}{because}"
    return Prediction(getattr(counts, tier), because, also=also, is_on_switch=True)


def _tiers_because(row: Row, counts: FabricCounts) -> str:
    """Why there is a tier more than the row asks for, or than two."""
    asked = first_tiers(row.design)
    if counts.tiers <= asked or row.design.switch is None:
        return ""
    most = most_gpus(row.design.switch, asked, row.design)
    what = "1 tier" if asked == 1 else f"{asked} tiers"
    verb = "holds" if asked == 1 else "hold"
    return f"{what} of {row.design.switch.ports} ports {verb} {most or 0} GPUs, so {counts.tiers} tiers: "


def _because(row: Row, counts: FabricCounts, tier: str) -> str:
    design = row.design
    if design.kind == "direct":
        return f"{design.nodes} servers cabled NIC to NIC, no switch"
    if tier != "leaves" and counts.tiers == 1:
        return "1 tier, no switch above it"
    if tier == "leaves":
        places = f"{counts.servers_per_leaf} servers under each group of leaves"
        planes = f", {design.planes} planes" if design.planes > 1 else ""
        return f"{design.nodes} servers x {design.nics_per_node} NICs, {places}{planes}"
    if tier == "cores" and not counts.cores:
        return f"{counts.tiers} tiers suffice"
    if tier == "cores":
        return f"{counts.spine_core_bps // counts.uplink_bps} spine uplinks over cores of {_ports(design.switch)} ports"
    text = f"{counts.leaves} leaves x {counts.uplinks} uplinks of {format_port_rate(counts.uplink_bps)}"
    if counts.least_spines < counts.spines:
        text += (
            f"; {counts.least_spines} spines suffice by ports, {counts.spines} let the {counts.uplinks} uplinks of"
            " every leaf spread evenly (or let equal units be added)"
        )
    return text


def _ports(switch: SwitchSize | None) -> int:
    return switch.ports if switch else 0


def _part(row: Row, match: re.Match[str]) -> Prediction | None:
    """Switches of one pod, unit, or plane: an even share of the whole."""
    counts = row.counts
    n_parts = _parts(row, match["part"])
    if counts is None or not n_parts:
        return None
    total = getattr(counts, _tier_of(match["tier"].removesuffix("_share")))
    return Prediction(ceil(total / n_parts), f"{total} over {n_parts} {match['part']}s", is_on_switch=True)


def _parts(row: Row, part: str) -> int | None:
    """Pods, units or planes of a design."""
    design = row.design
    if part == "plane":
        return design.planes
    if part == "su":
        per = design.nodes_per_su
        return design.scalable_units or (ceil(design.nodes / per) if design.nodes and per else None)
    pods = row.number("pods")
    return pods or (ceil(design.nodes / design.nodes_per_pod) if design.nodes and design.nodes_per_pod else None)


def _server_cables(row: Row, match: re.Match[str]) -> Prediction | None:
    """Cables from NICs to leaves, one a NIC, and those of the fabric manager."""
    counts, design = row.counts, row.design
    if counts is None:
        if design.nodes is None:
            return None
        links = design.nodes * design.nics_per_node + design.controller_links
    else:
        links = counts.server_bps // design.nic_rate_bps
    if counts is not None and design.kind == "direct":
        return Prediction(links, f"{design.nodes} servers x {design.nics_per_node} NICs, one cable for two of them")
    ufm = f" + {design.controller_links} of the fabric manager" if design.controller_links else ""
    also = (counts.server_links,) if counts is not None else ()
    return Prediction(links, f"{design.nodes} servers x {design.nics_per_node} NICs{ufm}", also=also)


def _leaf_spine_cables(row: Row, match: re.Match[str]) -> Prediction | None:
    counts, rate = row.counts, row.design.nic_rate_bps
    if counts is None:
        return None
    because = f"{counts.leaves} leaves x {counts.uplinks} x {format_port_rate(counts.uplink_bps)}"
    also = tuple(_at_rates(row, "leaf_spine_bps"))
    because = f"{because}, in cables of {format_port_rate(rate)}"
    return Prediction(counts.leaf_spine_bps // rate, because, also=also, is_on_switch=True)


def _at_rates(row: Row, tier: str) -> Iterator[int]:
    """Cables of a tier at the rate of its ports too, and both for each way to read the inputs."""
    found = [row.counts, *row.others]
    for counts in (counts for counts in found if counts is not None):
        switch_bps = row.design.switch.rate_bps if row.design.switch else 0
        for rate in (row.design.nic_rate_bps, counts.uplink_bps, switch_bps):
            if rate:
                yield getattr(counts, tier) // rate


def _spine_core_cables(row: Row, match: re.Match[str]) -> Prediction | None:
    counts, rate = row.counts, row.design.nic_rate_bps
    if counts is None:
        return None
    because = f"{counts.spines} spines to {counts.cores} cores, in cables of {format_port_rate(rate)}"
    also = tuple(_at_rates(row, "spine_core_bps"))
    return Prediction(counts.spine_core_bps // rate, because, also=also, is_on_switch=True)


def _all_cables(row: Row, match: re.Match[str]) -> Prediction | None:
    counts, rate = row.counts, row.design.nic_rate_bps
    if counts is None:
        return None
    total = (counts.server_bps + counts.leaf_spine_bps + counts.spine_core_bps) // rate
    switch_bps = counts.uplink_bps or rate
    climb = counts.leaf_spine_bps + counts.spine_core_bps
    also = (counts.server_bps // rate + climb // switch_bps, counts.server_links + climb // switch_bps)
    because = f"all tiers, in cables of {format_port_rate(rate)}"
    return Prediction(total, because, also=also, is_on_switch=row.design.kind != "direct")


def _most(row: Row, match: re.Match[str]) -> Prediction | None:
    """GPUs, servers or NIC ports that so many tiers hold."""
    switch, tiers = row.design.switch, _WORDS_OF_TIERS[match["tiers"]]
    if switch is None:
        return None
    because = f"{tiers} tiers of {switch.ports} ports"
    if match["unit"] == "endpoints":  # of single NICs: no server and no rail group leaves ports free
        single = replace(row.design, nodes=None, gpus_per_node=1, nics_per_node=1, nodes_per_su=None, rail=False)
        most = most_gpus(switch, tiers, single)
        return Prediction(most, because) if most else None
    return _of_unit(row, match["unit"], most_gpus(switch, tiers, row.design), because)


def _of_unit(row: Row, unit: str, most: int | None, because: str) -> Prediction | None:
    if not most:
        return None
    design = row.design
    if unit.startswith("gpu"):
        return Prediction(most, because)
    servers = most // design.gpus_per_node
    if unit.startswith(("node", "server", "host")):
        return Prediction(servers, f"{because}: {most} GPUs / {design.gpus_per_node}")
    return Prediction(servers * design.nics_per_node, because)


def _printed_most(row: Row, match: re.Match[str]) -> Prediction | None:
    """A published maximum against what the ports of its tiers hold: a bound, since less may be offered."""
    design = row.design
    if design.switch is None:
        return None
    tiers = design.tiers or MOST_TIERS
    most = most_gpus(design.switch, tiers, design)
    found = _of_unit(row, match["unit"], most, f"{tiers} tiers of {design.switch.ports} ports hold that many")
    return Prediction(found.value, found.because, is_bound=True) if found else None


def _under_leaf(row: Row, match: re.Match[str]) -> Prediction | None:
    """Servers under one set of leaves when it is full."""
    design = row.design
    if design.switch is None:
        return None
    per_leaf = servers_under_leaf(design)
    if per_leaf is None:
        return None
    because = f"{_ports(design.switch)} ports of a leaf, half or less of them up, one NIC of each server a leaf"
    return Prediction(per_leaf * design.gpus_per_node if match["unit"] == "gpus" else per_leaf, because)


_SERVER = r"(?:(?:server|node|nic|gpu|host|compute|compute_and_ufm)(?:_(?:leaf|tor))?)"
RULES: Mapping[str, Rule] = {
    rf"(?P<tier>{LEAF}|{SPINE}|{CORE}|(?:total_)?switches|total_switch(?:es)?_count|switch_count)": _switches,
    rf"per_(?P<part>pod|su|plane)\.(?P<tier>(?:{LEAF}|{SPINE}|{CORE})(?:_share)?)": _part,
    rf"(?P<tier>{LEAF}|{SPINE}|{CORE})_per_(?P<part>pod|su|plane)": _part,
    rf"{_SERVER}_(?:cables|links)": _server_cables,
    r"(?:leaf|tor)_(?:spine|agg)_(?:cables|links)|(?:leaf_)?uplink_cables": _leaf_spine_cables,
    r"(?:spine|agg)_core_(?:cables|links)": _spine_core_cables,
    r"(?:total_)?(?:cables|links)": _all_cables,
    r"max_(?P<unit>endpoints|gpus|nodes|servers|hosts)_(?P<tiers>[123])_?tiers?": _most,
    r"(?P<tiers>one|two|three)_tier_(?:limit|max)_(?P<unit>nodes|servers|gpus|endpoints|hosts)": _most,
    r"max_(?P<unit>gpus|nodes|servers|endpoints|hosts)": _printed_most,
    r"(?P<unit>nodes|servers|gpus)_per_(?:tor|leaf)(?:_set|_group)?": _under_leaf,
}
