"""Totals of the bill: price and power by group, what nobody priced, and the power of each rack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric.tables import Fabric, NodeKind
from eastwest.plan.bom import GROUPS, TIERS, BomRow, draws_unknown
from eastwest.spec.resolve import resolve_server, switch_of_tier
from eastwest.spec.site import Site


@dataclass(frozen=True, slots=True)
class GroupTotal:
    """One group of the bill: lines, price of those that have one (None: no line has), power of those that draw some."""

    group: str
    lines: int
    price: float | None
    price_share_ratio: float | None
    power_w: float
    power_share_ratio: float | None
    unpriced: int


@dataclass(frozen=True, slots=True)
class RackPower:
    """Power of the racks as filled: how many hold a device, the most and the mean that one draws, W."""

    racks: int
    most_w: float
    mean_w: float
    most_rack: str
    limit_w: float | None


@dataclass(frozen=True, slots=True)
class BillTotals:
    """What the bill adds up to. `price` covers priced lines only, `power_w` those whose draw is known; `unpriced` and
    `unpowered` (part, pieces) name the parts that they leave out.
    """

    currency: str | None
    price: float | None
    unpriced: tuple[str, ...]
    unpowered: tuple[tuple[str, int], ...]
    power_w: float
    groups: tuple[GroupTotal, ...]
    racks: RackPower

    def group(self, name: str) -> GroupTotal | None:
        """The total of one group; None when the bill has no line of it."""
        return next((row for row in self.groups if row.group == name), None)

    def as_json(self) -> dict[str, Any]:
        """The totals in the shape of the plan's document."""
        names = GroupTotal.__dataclass_fields__
        return {
            "currency": self.currency,
            "price": self.price,
            "unpriced_parts": list(self.unpriced),
            "unpowered_parts": [f"{n:,} x {part}" for part, n in self.unpowered],
            "power_w": self.power_w,
            "groups": [{name: getattr(row, name) for name in names} for row in self.groups],
            "racks": {name: getattr(self.racks, name) for name in RackPower.__dataclass_fields__},
        }


def bill_totals(site: Site, fabric: Fabric, bom: Sequence[BomRow]) -> BillTotals:
    """The totals of a bill, groups in the order in which they are ordered. A part without price is listed, never
    counted as zero; a part that another line pays for is neither.
    """
    price = _sum_or_none([row.price for row in bom])
    power_w = sum(row.power_w or 0.0 for row in bom)
    groups = []
    for name in GROUPS:
        mine = [row for row in bom if row.group == name]
        if mine:
            groups.append(_group(name, mine, price, power_w))
    unpriced = tuple(dict.fromkeys(row.part for row in bom if row.unit_price is None and not row.included))
    currency = next((row.currency for row in bom if row.currency), None)
    return BillTotals(currency, price, unpriced, _unpowered(bom), power_w, tuple(groups), rack_power(site, fabric))


def _unpowered(bom: Sequence[BomRow]) -> tuple[tuple[str, int], ...]:
    """Parts that draw power nobody stated, and how many of each are in use."""
    found: Counter[str] = Counter()
    for row in bom:
        if draws_unknown(row):
            found[row.part] += row.quantity
    return tuple(found.items())


def _sum_or_none(prices: list[float | None]) -> float | None:
    known = [price for price in prices if price is not None]
    return sum(known) if known else None


def _group(name: str, rows: list[BomRow], price: float | None, power_w: float) -> GroupTotal:
    mine, mine_w = _sum_or_none([row.price for row in rows]), sum(row.power_w or 0.0 for row in rows)
    share = mine / price if mine is not None and price else None
    unpriced = len({row.part for row in rows if row.unit_price is None and not row.included})
    return GroupTotal(name, len(rows), mine, share, mine_w, mine_w / power_w if power_w else None, unpriced)


def node_power_w(site: Site, fabric: Fabric) -> NDArray[np.float64]:
    """(n_nodes,) W of each server (the most of the groups that share its name) and switch; 0 for what draws little.

    Optics are not in it: about 10 to 20 W a port more.
    """
    power = np.zeros(len(fabric.nodes))
    of_name: dict[str, float] = {}
    for wish in site.servers:
        facts = resolve_server(wish)
        of_name[facts.name] = max(of_name.get(facts.name, 0.0), facts.power_w)
    servers = fabric.nodes_of(NodeKind.SERVER)
    most = max(of_name.values())
    power[servers] = [of_name.get(fabric.names[i].rpartition("-")[0], most) for i in servers.tolist()]
    for tier, kind in TIERS:
        switch = switch_of_tier(site, tier)
        power[fabric.nodes["kind"] == kind] = switch.power_w if switch else 0.0
    return power


def rack_power(site: Site, fabric: Fabric) -> RackPower:
    """The power of the racks as the plan fills them, at the devices' most."""
    rack = fabric.nodes["rack"].astype(np.int64)
    placed = rack >= 0
    if not placed.any():
        return RackPower(0, 0.0, 0.0, "", None)
    draw = np.bincount(rack[placed], node_power_w(site, fabric)[placed], minlength=len(fabric.racks))
    used = np.bincount(rack[placed], minlength=len(fabric.racks)) > 0
    top = int(draw.argmax())
    limit_w = fabric.racks[top].power_w
    return RackPower(int(used.sum()), float(draw[top]), float(draw[used].mean()), fabric.racks[top].name, limit_w)
