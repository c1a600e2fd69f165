"""Inputs of a row that contradict each other or are no counts: such a row is refused."""

from __future__ import annotations

import re
from typing import Any

from eastwest.plan.designs.case import Row
from eastwest.plan.designs.design import MOST_TIERS, catalogue_switch
from eastwest.plan.designs.written import port_groups, ratio_of, text_of, whole_of

COUNTS = (
    *("gpus", "nodes", "gpus_per_node", "nics_per_node", "radix", "nodes_per_su", "nodes_per_pod", "scalable_units"),
    *("planes", "ports", "stripes", "leaf_per_stripe", "spines", "uplinks_per_leaf_per_spine"),
)
SPLITS = (1, 2, 4, 8)  # parts that a port of a switch may be broken out into


def contradiction_of(row: Row) -> str:
    """What is wrong with a row's inputs, as the numbers themselves; "" when nothing is."""
    given = row.given
    for name in COUNTS:
        if _is_no_count(given.get(name)):
            return f"{name} = {text_of(given[name])}"
    nodes, each, gpus = (whole_of(given.get(name)) for name in ("nodes", "gpus_per_node", "gpus"))
    if nodes and gpus and not _is_range(given.get("gpus")) and not _is_range(given.get("nodes")):
        if each and nodes * each != gpus:
            return f"{nodes} nodes x {each} gpus_per_node = {nodes * each}, gpus = {gpus}"
        if not each and gpus % nodes:
            return f"gpus = {gpus}, nodes = {nodes}: {gpus} / {nodes} = {gpus / nodes:.3g}"
    tiers = whole_of(given.get("tiers"))
    if tiers and tiers > MOST_TIERS:
        return f"tiers = {tiers} (1 to {MOST_TIERS})"
    ratio = text_of(given.get("oversubscription"))
    if re.search(r"\d\s*:\s*\d|^\s*-?[\d.]+\s*$", ratio) and ratio_of(given.get("oversubscription")) is None:
        return f"oversubscription = {ratio}"
    return _radix(row)


def _is_no_count(value: Any) -> bool:
    """Whether a value is a number that no count can be: zero, below zero, or broken."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, int | float):
        return whole_of(value) is None
    return bool(re.fullmatch(r"\s*(?:-\s*\d[\d,.]*|0+(?:\.0*)?|\d+\.\d*[1-9])\s*", text_of(value)))


def _is_range(value: Any) -> bool:
    return isinstance(value, str) and bool(re.search(r"\d\s*[-\u2013]\s*\d|[<>~≈≤≥]|about|over|up to", value))


def _radix(row: Row) -> str:
    """A radix beside a switch that has another number of ports, broken out or not."""
    radix, text = whole_of(row.given.get("radix")), text_of(row.given.get("switch"))
    model = catalogue_switch(text)
    ports = [count for count, _ in port_groups(text)] or ([model.ports] if model else [])
    if not radix or not ports or any(radix == count * split for count in ports for split in SPLITS):
        return ""
    return f"radix = {radix}, switch = {text}: {ports[0]}"
