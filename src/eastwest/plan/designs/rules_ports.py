"""Counts of single switches and of options in words: ports and ratios of a leaf, `2x2 Clos`, planes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from math import ceil

from eastwest.plan.designs.case import Row
from eastwest.plan.designs.design import MOST_TIERS, SwitchSize
from eastwest.plan.designs.fabric_counts import counts_of
from eastwest.plan.designs.prediction import Prediction, Rule
from eastwest.plan.designs.written import port_groups, ratio_of, text_of, whole_of
from eastwest.units import format_port_rate

TIERS_IN_WORDS = {"1": "tor", "2": "agg", "3": "core"}
_CLOS = re.compile(r"\b(\d+)\s*[x×]\s*(\d+)\b")
_OPTION_CLOS = re.compile(r"(\d)\s*-?\s*tier.*?(\d+)\s*-?\s*port", re.I)
_OPTION_PLANES = re.compile(r"(\d+)\s*planes?.*?(?:split|broken)[^\d]*(\d+)\s*[x×]\s*\d+\s*G", re.I)


def _down_ports(row: Row, match: re.Match[str]) -> Prediction | None:
    """Ports of a leaf that face servers: one of each server in its group."""
    counts, design = row.counts, row.design
    if counts is None or design.nodes is None:
        return None
    ports = min(design.nodes, counts.servers_per_leaf)
    rate = design.nic_rate_bps // design.planes
    because = f"one {format_port_rate(rate)} port of each of {ports} servers"
    return Prediction(ports * rate, because, kind="ports", parts=ports, is_on_switch=True)


def _up_ports(row: Row, match: re.Match[str]) -> Prediction | None:
    """The most uplinks of the printed rate that a leaf has left beside its servers."""
    down, printed = _down_ports(row, match), port_groups(row.printed.get(match[0]))
    switch = row.design.switch
    if down is None or not printed or switch is None:
        return None
    left_bps = switch.ports * switch.rate_bps - down.value
    ports = int(left_bps // printed[0][1])
    if ports <= 0:
        return None
    because = f"what {down.shown} down leave of {switch.ports}x{format_port_rate(switch.rate_bps)}; fewer may be cabled"
    return Prediction(ports * printed[0][1], because, kind="ports", parts=ports, is_bound=True, is_on_switch=True)


def _oversubscription(row: Row, match: re.Match[str]) -> Prediction | None:
    """Down:up of a tier: from its printed ports, else of the leaf as built."""
    tier = TIERS_IN_WORDS.get(match["tier"].removeprefix("tier"), match["tier"])
    tier = "agg" if tier == "core" else tier  # the links below a core are the uplinks of the tier under it
    sides = [
        row.printed.get(f"{tier}_{side}_ports") or row.given.get(f"{tier}_{side}_ports") for side in ("down", "up")
    ]
    groups = [port_groups(side) for side in sides]
    if all(groups):
        down, up = (ports * rate for ports, rate in (groups[0][0], groups[1][0]))
        return Prediction(down / up, f"{sides[0]} down, {sides[1]} up", kind="ratio", is_printed=True)
    counts = row.counts
    said = ratio_of(row.given.get("oversubscription"))
    if counts is None or said is None or tier not in ("tor", "leaf", "") or not counts.leaf_spine_bps:
        return None
    return Prediction(counts.server_bps / counts.leaf_spine_bps, "all leaves as built", kind="ratio")


def _clos(row: Row, match: re.Match[str]) -> Prediction | None:
    """`leaf_4x2` of `topologies: 2x2 and 4x2 Clos`: leaves x spines."""
    wanted = (match["leaves"], match["spines"])
    if wanted not in _CLOS.findall(text_of(row.given.get("topologies") or row.given.get("tiers"))):
        return None
    return Prediction(int(match["leaves" if match["tier"] == "leaf" else "spines"]), "leaves x spines as named")


def _option(row: Row, match: re.Match[str]) -> Prediction | None:
    """Switches of one option in words: a Clos of so many ports, or one switch per plane for a NIC split in parts."""
    text = text_of(row.given.get(f"option_{match['option']}"))
    ports, clos, planes = row.number("ports"), _OPTION_CLOS.search(text), _OPTION_PLANES.search(text)
    if ports and clos:
        return _clos_option(row, ports, int(clos[1]), int(clos[2][:6]))
    radix = _radix_of_options(row)
    if ports and planes and radix:
        n_planes, split = int(planes[1][:4]), int(planes[2][:4])
        each = ceil(ports / (radix * split)) if split else 0
        if each == 1:
            because = f"{n_planes} planes x 1 switch: {radix} ports x {split} = {radix * split} >= {ports}"
            return Prediction(n_planes, because)
    return None


def _clos_option(row: Row, ports: int, tiers: int, radix: int) -> Prediction | None:
    """Switches of a Clos of two or three tiers for so many single ports."""
    rate = row.design.nic_rate_bps
    switch = SwitchSize(f"{radix} ports", radix, rate)
    plain = replace(row.design, switch=switch, nodes=ports, gpus_per_node=1, nics_per_node=1, planes=1, parts=1)
    counts = counts_of(replace(plain, tiers=min(max(tiers, 2), MOST_TIERS), assumed=()))
    if counts is None:
        return None
    return Prediction(counts.switches, f"{counts.leaves} leaves + {counts.spines} spines of {radix} ports")


def _radix_of_options(row: Row) -> int | None:
    """Ports of the switch that any option of the row names, else the row's own."""
    texts = (text_of(value) for key, value in row.given.items() if key.startswith("option_"))
    found = next((int(m[1][:6]) for text in texts if (m := re.search(r"(\d+)\s*-?\s*port", text, re.I))), None)
    return found or row.number("radix") or (row.design.switch.ports if row.design.switch else None)


def _nics(row: Row, match: re.Match[str]) -> Prediction | None:
    """NIC ports of all servers."""
    nodes = row.design.nodes
    if nodes is None or whole_of(row.given.get("nodes") or row.given.get("gpus")) is None:
        return None
    return Prediction(nodes * row.design.nics_per_node, f"{nodes} servers x {row.design.nics_per_node} NICs")


RULES: Mapping[str, Rule] = {
    r"(?:tor|leaf)_down_ports": _down_ports,
    r"(?:tor|leaf)_up_ports": _up_ports,
    r"(?P<tier>tier[123]|tor|leaf|agg|spine|core|)_?oversubscription(?:_ratio)?": _oversubscription,
    r"(?P<tier>leaf|spine)_(?P<leaves>\d+)x(?P<spines>\d+)": _clos,
    r"switches_option_(?P<option>\w+)": _option,
    r"(?:nics|nic_ports|endpoints|host_ports)": _nics,
}
