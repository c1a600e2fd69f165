"""How many ports may be kept free: more than half of what faces down is refused before anything is drawn.

Ports kept free on every switch are bought with every switch: a share s makes a tier 1 / (1 - s) times as large. Up to
half of the ports that is at most twice the switches; beyond it more ports idle than work, and near all of them a leaf
per server remains, thousands of switches that nobody wants. What is kept for later phases is better said as
`growth.steps`, which reserves what each phase needs and no more.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import floor

from eastwest.errors import InputError
from eastwest.fabric.capacity import RATIO_DENOMINATOR, parts_at
from eastwest.fabric.inputs import FabricInputs
from eastwest.finding import Finding

MOST_SPARE_RATIO = Fraction(1, 2)  # of the ports that face down: our limit, twice the switches at most
ONE_SWITCH = ("direct", "single_switch")  # nothing is multiplied: what is kept free is room on the only switch


def refuse_spares(inputs: FabricInputs) -> None:
    """Raise InputError with every tier that keeps more than half of its ports free."""
    if inputs.family in ONE_SWITCH:
        return
    found = list(_too_many(inputs))
    if found:
        raise InputError(found)


def _too_many(inputs: FabricInputs) -> Iterator[Finding]:
    for tier, spare in inputs.spares.items():
        if spare == 0 or tier not in inputs.switches:
            continue
        ports = _leaf_ports_down(inputs) if tier == "leaf" else inputs.switches[tier].ports
        most = floor(ports * MOST_SPARE_RATIO)
        if spare > most:
            args, path = {"tier": tier, "ports": ports}, f"fabric.spare_ports.{tier}"
            yield Finding("EW-FAB-041", "error", path, most, spare, "ports", args, path=path)


def _leaf_ports_down(inputs: FabricInputs) -> int:
    """Leaf ports that may face servers at the wished ratio and equal rates, in links of the NIC's rate."""
    parts = max(1, parts_at(inputs.leaf, min(inputs.nic_port_rate_bps, inputs.leaf.port_rate_bps)))
    if inputs.tiers == 1 or (inputs.family == "rail_only" and inputs.cross_rail_ratio is None):
        return inputs.leaf.ports * parts
    wish = Fraction(inputs.leaf_oversubscription).limit_denominator(RATIO_DENOMINATOR)
    return floor(inputs.leaf.ports * wish / (1 + wish)) * parts
