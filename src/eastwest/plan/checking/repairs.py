"""What would make the ports add up: each repair with its switches, links and oversubscription, evenly cabled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from eastwest.fabric.capacity import Kept, LeafSplit, spread_uplinks
from eastwest.plan.checking.ports import Short
from eastwest.plan.checking.shape import Shape
from eastwest.plan.checking.sheet import Sheet
from eastwest.plan.designs.design import MOST_RADIX, USUAL_NIC_RATE_BPS
from eastwest.spec.resolve import SwitchFacts, resolve_switch
from eastwest.spec.switches import SwitchWish

USUAL_RADIXES = (32, 36, 40, 48, 64, 72, 128, 144, 256, 512)  # ports of switches that are sold


@dataclass(frozen=True, slots=True)
class Repair:
    """One way to make the ports add up; `kind` names the sentence of it in each language."""

    kind: str
    leaves: int
    leaf_down: int
    leaf_up: int
    spines: int
    spine_ports: int
    per_pair: int
    ratio: float

    @property
    def uplinks(self) -> int:
        """Leaf-spine links."""
        return self.leaves * self.leaf_up

    def as_json(self, design: str = "") -> dict[str, Any]:
        """The repair with all its counts."""
        return {
            "design": design or None,
            "kind": self.kind,
            "oversubscription_ratio": self.ratio,
            "leaves": self.leaves,
            "leaf_down_ports": self.leaf_down,
            "leaf_up_ports": self.leaf_up,
            "spines": self.spines,
            "spine_ports": self.spine_ports,
            "links_per_leaf_spine_pair": self.per_pair,
            "uplinks": self.uplinks,
            "switches": self.leaves + self.spines,
        }


def repairs_of(sheet: Sheet, shape: Shape, short: tuple[Short, ...]) -> tuple[Repair, ...]:
    """Repairs of a design whose spines or leaves are short of ports; none when a number is missing."""
    lacks = {item.what: item for item in short}
    shape = _with_uplinks(shape, lacks)
    found: list[Repair] = []
    if "leaf ports down" in lacks or "leaf ports" in lacks or "leaf ports for uplinks" in lacks:
        found += _more_leaves(shape, lacks.get("leaf ports down"))
    if "spine ports" in lacks:
        found += _more_spine_ports(sheet, shape)
    return tuple(dict.fromkeys(found))


def _with_uplinks(shape: Shape, lacks: Mapping[str, Short]) -> Shape:
    """A shape with the ports of a leaf that its cables or its NICs imply, where these are spread evenly."""
    leaves, links, short = shape.leaves, shape.nic_links, lacks.get("spine ports")
    if (
        shape.leaf_ports
        and leaves
        and links
        and shape.down is None
        and shape.up is None
        and "leaf ports for uplinks" in lacks
    ):
        return replace(shape, down=shape.leaf_ports // 2, up=shape.leaf_ports - shape.leaf_ports // 2)
    if "leaf ports" in lacks and shape.leaf_ports and links and shape.uplinks:
        down = shape.leaf_ports * links // (links + shape.uplinks)
        return replace(shape, down=down, up=shape.leaf_ports - down)
    uplinks = shape.uplinks if shape.uplinks is not None else short.needed if short else None
    face = shape.down or (ceil(links / leaves) if links and leaves else None)
    if face is None and shape.leaf_ports and shape.up:
        face = shape.leaf_ports - shape.up
    if shape.up is not None or not leaves or uplinks is None or shape.cores or uplinks % leaves:
        return replace(shape, down=face)
    return replace(shape, up=uplinks // leaves, down=face)


def _more_spine_ports(sheet: Sheet, shape: Shape) -> Iterator[Repair]:
    """Larger spines, more spines, and what 1:1 would take."""
    leaves, down, up, spines, ports = shape.leaves, shape.down or 0, shape.up, shape.spines, shape.spine_ports
    if not leaves or not up or not spines or not ports:
        return
    ratio = shape.ratio or 0.0
    needed = ceil(leaves * up / spines)
    radix = _radix(sheet, shape, needed)
    if up % spines == 0 and radix > ports:
        yield Repair("larger_spines", leaves, down, up, spines, radix, up // spines, ratio)
    more = _spread(leaves, down, up, ports, shape)
    if more is not None and more[0] > spines:
        yield Repair("more_spines", leaves, down, up, more[0], ports, more[1], ratio)
    if shape.down and ratio > 1:
        up = ceil(shape.down * (shape.down_bps or 1) / (shape.up_bps or shape.down_bps or 1))
        radix = _radix(sheet, shape, max(shape.leaf_ports or 0, needed))
        even = _spread(leaves, down, up, radix, shape)
        if even is not None:
            yield Repair("non_blocking", leaves, down, up, even[0], radix, even[1], 1.0)


def _more_leaves(shape: Shape, short: Short | None) -> Iterator[Repair]:
    """Leaves for every NIC link, and spines for these leaves."""
    links, down, up = shape.nic_links, shape.down, shape.up
    if not links or not down:
        return
    leaves = ceil(short.needed * (shape.leaves or 1) / short.have) if short and short.have else ceil(links / down)
    ports = shape.spine_ports or shape.leaf_ports
    even = _spread(leaves, down, up, ports, shape) if up and ports else None
    if up and ports and even is not None:
        yield Repair("more_leaves", leaves, down, up, even[0], ports, even[1], shape.ratio or 0.0)
    elif up is None:
        yield Repair("more_leaves", leaves, down, 0, shape.spines or 0, ports or 0, 0, 0.0)


def _radix(sheet: Sheet, shape: Shape, needed: int) -> int:
    """Ports of a switch that has that many: the chip that the text names, else the next size that is sold."""
    chip, rate = sheet.whole("chip_bps"), shape.up_bps
    of_chip = chip // rate if chip and rate else 0
    if of_chip >= needed:
        return of_chip
    return next((ports for ports in USUAL_RADIXES if ports >= needed), needed)


def _spread(leaves: int, down: int, up: int | None, ports: int, shape: Shape) -> tuple[int, int] | None:
    """Spines and links a pair over which the uplinks of a leaf divide evenly, as the fabric builder spreads them."""
    rate = shape.up_bps or USUAL_NIC_RATE_BPS
    if not up or not 2 <= ports <= MOST_RADIX or up > MOST_RADIX:
        return None
    split = LeafSplit(rate, 1, down, max(1, down), down, rate, 1, up, up)
    spread = spread_uplinks(split, leaves, _switch(ports, rate), Kept())
    return (spread.spines, spread.per_pair) if spread.fits else None


def _switch(ports: int, rate_bps: int) -> SwitchFacts:
    return resolve_switch(SwitchWish.model_validate({"ports": ports, "rate": rate_bps}))
