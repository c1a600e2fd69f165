"""The bill of materials: what to buy, how many, where it goes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from eastwest.fabric.cabling import parts
from eastwest.fabric.tables import Fabric, NodeKind
from eastwest.spec.resolve import ServerFacts, TierName, resolve_server, switch_of_tier
from eastwest.spec.site import Site
from eastwest.units import format_port_rate, format_power

MANAGEMENT_SWITCH_PORTS = 48  # a common 48 x 1G access switch
MANAGEMENT_PORTS_PER_SWITCH = 1  # one management port on each fabric switch
TIERS: tuple[tuple[TierName, NodeKind], ...] = (
    ("leaf", NodeKind.LEAF),
    ("spine", NodeKind.SPINE),
    ("core", NodeKind.CORE),
)


@dataclass(frozen=True, slots=True)
class BomRow:
    """One line of the bill: `power_w` is of all pieces together, None when the part draws none of its own or it is not
    known.
    """

    part: str
    description: str
    quantity: int
    unit: str
    where: str
    power_w: float | None = None
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """The line in the shape of the command line's contract."""
        return {
            "part": self.part,
            "description": self.description,
            "quantity": self.quantity,
            "unit": self.unit,
            "where": self.where,
            "power_w": self.power_w,
            "note": self.note,
        }


def bill_of_materials(site: Site, server: ServerFacts, fabric: Fabric) -> tuple[BomRow, ...]:
    """Servers, NICs, switches, optics, cables, spares and the management network, in the order in which they are
    ordered.
    """
    return (*_servers(site, server), *_switches(site, fabric), *_links(site, fabric), *_management(site, fabric))


def _servers(site: Site, server: ServerFacts) -> Iterator[BomRow]:
    groups: dict[str, list[ServerFacts]] = {}
    for wish in site.servers:
        facts = resolve_server(wish)
        groups.setdefault(facts.label, []).append(facts)
    for label, same in groups.items():
        count, first = sum(facts.count for facts in same), same[0]
        yield BomRow(
            label,
            f"{first.gpus} GPUs, {first.nics} x {format_port_rate(first.nic_rate_bps)} east-west NICs",
            count,
            "server",
            ", ".join(facts.room or "all rooms" for facts in same),
            first.power_w * count,
            f"{format_power(first.power_w)} each, at most",
        )
    nics = sum(wish.count for wish in site.servers) * server.nics
    yield BomRow(
        server.nic_label, "east-west NIC", nics, "NIC", "in the servers", None, "part of the server in catalogue models"
    )


def _switches(site: Site, fabric: Fabric) -> Iterator[BomRow]:
    for tier, kind in TIERS:
        count = int(fabric.nodes_of(kind).size)
        switch = switch_of_tier(site, tier)
        if count and switch:
            note = "; ".join(switch.assumed)
            yield BomRow(switch.label, f"{tier} switch", count, "switch", tier, switch.power_w * count, note)


def _links(site: Site, fabric: Fabric) -> Iterator[BomRow]:
    spare_ratio = site.cabling.spare_ratio
    for part in parts(fabric):
        yield BomRow(part.part, "east-west link", part.count, part.unit, "fabric")
        spare = math.ceil(part.count * spare_ratio)
        if spare:
            yield BomRow(
                part.part, "spare", spare, part.unit, "stock", None, f"{spare_ratio:.0%} of those used, rounded up"
            )


def _management(site: Site, fabric: Fabric) -> Iterator[BomRow]:
    """Out-of-band switches when they are wished for: ports of servers and switches over a 48-port access switch."""
    if site.out_of_band is None:
        return
    switches = int(np.count_nonzero(np.isin(fabric.nodes["kind"], (NodeKind.LEAF, NodeKind.SPINE, NodeKind.CORE))))
    ports = fabric.n_servers * site.out_of_band.ports_per_server + switches * MANAGEMENT_PORTS_PER_SWITCH
    count = math.ceil(ports / MANAGEMENT_SWITCH_PORTS)
    yield BomRow(
        "48x1G",
        "out-of-band switch",
        count,
        "switch",
        "management",
        None,
        f"{ports} ports over 48-port access switches",
    )
