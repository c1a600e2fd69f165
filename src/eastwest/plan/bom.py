"""The bill of materials: what to buy, how many, where it goes, what it draws."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from eastwest.fabric.parts import parts, tally
from eastwest.fabric.tables import Fabric, LinkKind, NodeKind
from eastwest.plan.part_names import CABLE_LABEL, PartName, read_part
from eastwest.spec import catalogue
from eastwest.spec.resolve import ServerFacts, TierName, resolve_server, switch_of_tier
from eastwest.spec.site import Site
from eastwest.units import GIGA, format_port_rate, format_power

Group = Literal[
    "servers", "nics", "switches", "optics", "cables", "spares", "storage", "out_of_band", "monitoring", "other"
]
GROUPS: tuple[Group, ...] = (
    "servers",
    "nics",
    "switches",
    "optics",
    "cables",
    "spares",
    "storage",
    "out_of_band",
    "monitoring",
    "other",
)
TIERS: tuple[tuple[TierName, NodeKind], ...] = (
    ("leaf", NodeKind.LEAF),
    ("spine", NodeKind.SPINE),
    ("core", NodeKind.CORE),
)
LABELS_PER_CABLE = 2  # one at each end
LINK_WORDS = {  # a link by its two ends, as the bill writes it and `plan.checking.bill_cables` reads it
    LinkKind.SERVER_LEAF: "server-leaf",
    LinkKind.LEAF_SPINE: "leaf-spine",
    LinkKind.SPINE_CORE: "spine-core",
    LinkKind.ROOM: "room-room",
    LinkKind.SCALE_UP: "scale-up",
    LinkKind.DIRECT: "server-server",
}
GROUP_OF_UNIT: dict[str, Group] = {"cable": "cables", "piece": "cables", "module": "optics"}
SHEET_OF_CABLE = {  # medium and rate of an active cable; watts of both ends together
    ("acc", 400 * GIGA): "acc-ndr",
    ("acc", 800 * GIGA): "mca7j60-n",
    ("aoc", 200 * GIGA): "aoc-200g",
    ("aoc", 400 * GIGA): "aoc-400g",
}
SHEET_OF_LANES = {  # medium, rate and lanes, where they are not the usual four
    ("sr", 200 * GIGA, 2): "mma4z00-ns400",  # the 400G module with half of its lanes lit
    ("sr", 400 * GIGA, 8): "400g-sr8",
}
# The data sheet that stands for a module when only its medium, rate and ports a cage are known.
SHEET_OF_MODULE = {
    ("dr", 100 * GIGA, 1): "100g-dr",
    ("dr", 400 * GIGA, 1): "mms4x00-ns400",
    ("dr", 400 * GIGA, 2): "mms4x00-nm",
    ("dr", 800 * GIGA, 2): "1600g-2xdr4",
    ("fr", 100 * GIGA, 1): "100g-fr",
    ("fr", 200 * GIGA, 1): "200g-fr4",
    ("fr", 400 * GIGA, 1): "400g-fr4",
    ("fr", 400 * GIGA, 2): "mms4x50-nm",
    ("lr", 100 * GIGA, 1): "100g-lr4",
    ("lr", 400 * GIGA, 1): "400g-lr4-10",
    ("sr", 100 * GIGA, 1): "100g-sr4",
    ("sr", 200 * GIGA, 1): "200g-sr4",
    ("sr", 400 * GIGA, 1): "mma4z00-ns400",
    ("sr", 400 * GIGA, 2): "mma4z00-ns",
    ("zr", 400 * GIGA, 1): "400g-zr",
}


FIBRES = {"OM4": "multimode (MM), 50/125 µm", "OS2": "single mode (SM), 9/125 µm"}


@dataclass(frozen=True, slots=True)
class BomRow:
    """One line of the bill: `power_w` is of all pieces together, None when the part draws none of its own or it is not
    known; `unit_price` of one piece in `currency`, None when nobody gave it; `included` when another line pays for it.
    """

    part: str
    description: str
    quantity: int
    unit: str
    where: str
    power_w: float | None = None
    note: str = ""
    group: Group = "other"
    unit_price: float | None = None
    currency: str | None = None
    included: bool = False

    @property
    def price(self) -> float | None:
        """Price of all pieces of the line; None when it is not known."""
        return None if self.unit_price is None else self.unit_price * self.quantity

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
            "group": self.group,
            "unit_price": self.unit_price,
            "price": self.price,
            "currency": self.currency,
        }


def bill_of_materials(site: Site, server: ServerFacts, fabric: Fabric) -> tuple[BomRow, ...]:
    """Servers, NICs, switches, optics, cables, labels and spares of the east-west network, in the order in which they
    are ordered; the side networks have their own lines (`plan.side_networks`).
    """
    return (*_servers(site, server, fabric), *_switches(site, fabric), *_links(site, fabric))


def _servers(site: Site, server: ServerFacts, fabric: Fabric) -> Iterator[BomRow]:
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
            "servers",
        )
    nics = sum(wish.count for wish in site.servers) * server.nics
    each = format_port_rate(server.nic_rate_bps // fabric.links_per_nic)
    words = f", {fabric.links_per_nic} ports of {each}" if fabric.links_per_nic > 1 else ""
    yield BomRow(
        server.nic_label,
        f"east-west NIC{words}",
        nics,
        "NIC",
        "in the servers",
        None,
        "part of the server in catalogue models",
        "nics",
        included=site.servers[0].model is not None,
    )


def _switches(site: Site, fabric: Fabric) -> Iterator[BomRow]:
    for tier, kind in TIERS:
        count = int(fabric.nodes_of(kind).size)
        switch = switch_of_tier(site, tier)
        if count and switch:
            note = "; ".join(switch.assumed)
            power_w = switch.power_w * count
            yield BomRow(switch.label, f"{tier} switch", count, "switch", tier, power_w, note, "switches")


def _links(site: Site, fabric: Fabric) -> Iterator[BomRow]:
    spare_ratio = site.cabling.spare_ratio
    for part in parts(fabric):
        power_w, note = part_power(part.part, part.count)
        group = GROUP_OF_UNIT.get(part.unit, "other")
        yield BomRow(part.part, "east-west link", part.count, part.unit, "fabric", power_w, note, group)
        spare = math.ceil(part.count * spare_ratio)
        if spare:
            note = f"{spare_ratio:.0%} of those used, rounded up"
            yield BomRow(part.part, "spare", spare, part.unit, "stock", None, note, "spares")
    labels, note = LABELS_PER_CABLE * int(fabric.links.size), f"one at each end of {links_in_words(fabric)}"
    yield BomRow(CABLE_LABEL, "text as in cables.csv", labels, "label", "fabric", None, note, "cables")


def links_in_words(fabric: Fabric) -> str:
    """Links by their two ends and rate: `576 server-leaf links of 400G, 288 leaf-spine links of 800G`."""
    links = fabric.links
    found = [
        f"{n} {LINK_WORDS[LinkKind(int(kind))]} {'link' if n == 1 else 'links'} of {format_port_rate(int(rate_bps))}"
        for (kind, rate_bps), n in tally(links["kind"], links["rate_bps"])
    ]
    return ", ".join(found)


def part_power(part: str, quantity: int) -> tuple[float | None, str]:
    """Watts of so many modules or active cables together, and the data sheet that says so, or the kind of a fibre; None
    when there is none.

    Passive cables and fibre draw nothing. It is the module's most, not its typical draw.
    """
    read = read_part(part)
    if read is None:
        return None, ""
    if read.fibre:
        return None, FIBRES[read.fibre]
    found = _sheet_power(read)
    if found is None:
        return None, ""
    return found[0] * quantity, f"{format_power(found[0])} each, at most ({found[1]})"


def _sheet_power(read: PartName) -> tuple[float, str] | None:
    """Watts of one module or active cable at most, and the data sheet that says so; None when there is none."""
    key = read.medium, read.rate_bps
    if read.kind == "cable":
        sheet = SHEET_OF_CABLE.get(key)
        power_w = catalogue.get("cable", sheet).power_w if sheet else None
    elif read.kind == "module":
        sheet = SHEET_OF_LANES.get((*key, read.lanes)) if read.lanes else SHEET_OF_MODULE.get((*key, read.ports))
        power_w = catalogue.get("optic", sheet).power_w if sheet else None
    else:
        return None
    return (power_w, sheet) if sheet and power_w is not None else None


def with_power(row: BomRow) -> BomRow:
    """A line of modules or active cables with what they draw by their data sheet, unless somebody said it."""
    power_w, source = part_power(row.part, row.quantity)
    if power_w is None or row.power_w is not None or row.group == "spares":
        return row
    return replace(row, power_w=power_w, note="; ".join(text for text in (row.note, source) if text))


def draws_unknown(row: BomRow) -> bool:
    """Whether a line draws power that no data sheet of the catalogue tells: modules and active cables without one."""
    if row.power_w is not None or row.included or row.group == "spares":
        return False
    read = read_part(row.part)
    return read is not None and (read.kind == "module" or (read.kind == "cable" and read.medium in ("acc", "aoc")))
