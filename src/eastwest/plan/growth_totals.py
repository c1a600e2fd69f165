"""What is there in a phase of growth under one strategy, what it buys beyond the phase before, and what that costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

from eastwest.fabric.parts import parts
from eastwest.fabric.tables import TIER_OF_KIND, Fabric
from eastwest.spec.resolve import ServerFacts, SwitchFacts, servers_of, switch_of_tier
from eastwest.spec.site import Site

MODULE = "module"  # unit of the bill


class Prices(Protocol):
    """Prices of one piece, in one currency."""

    @property
    def currency(self) -> str:
        """ISO 4217 code."""

    def price_of(self, part: str) -> float | None:
        """Of a part by the name that the bill gives it; None when nobody gave it."""


@dataclass(frozen=True, slots=True)
class Totals:
    """What is there in a phase: switches by tier and model, cables, parts of the cables, rack units, power at most."""

    switches: Mapping[str, int]
    models: Mapping[str, str]
    cables: int
    parts: Mapping[tuple[str, str], int]
    rack_units: int
    power_w: float

    @property
    def n_switches(self) -> int:
        """Switches of all tiers."""
        return sum(self.switches.values())

    @property
    def modules(self) -> int:
        """Optical modules of all links."""
        return sum(n for (_, unit), n in self.parts.items() if unit == MODULE)

    @property
    def pieces(self) -> Counter[str]:
        """Part -> pieces, switches among them."""
        found: Counter[str] = Counter()
        for tier, n in self.switches.items():
            found[self.models[tier]] += n
        for (part, _), n in self.parts.items():
            found[part] += n
        return found


@dataclass(frozen=True, slots=True)
class Spending:
    """Money for a purchase, in the prices' currency: of the pieces that have a price; `unpriced` pieces have none."""

    price: float
    unpriced: int

    def __add__(self, other: Spending) -> Spending:
        return Spending(self.price + other.price, self.unpriced + other.unpriced)


@dataclass(frozen=True, slots=True)
class Costs:
    """What each strategy has spent by the end of each phase; `left_over` is what recabling bought and uses no more."""

    currency: str
    reserve_now: tuple[Spending, ...]
    recable_later: tuple[Spending, ...]
    left_over: Spending

    @property
    def early(self) -> float:
        """Money that the reserve spends today beyond what today needs."""
        return self.reserve_now[0].price - self.recable_later[0].price

    @property
    def over_all(self) -> float:
        """Money that the reserve costs more than recabling when the last phase stands; below zero when it saves."""
        return self.reserve_now[-1].price - self.recable_later[-1].price

    @property
    def unpriced(self) -> int:
        """Pieces without a price on either way, the more of both."""
        return max(self.reserve_now[-1].unpriced, self.recable_later[-1].unpriced)


def totals_of(site: Site, fabric: Fabric) -> Totals:
    """What a fabric needs in switches, cables, rack units and power, servers included."""
    server = servers_of(site)[0]
    switches: dict[str, int] = {
        tier: int(fabric.nodes_of(kind).size) for kind, tier in TIER_OF_KIND.items() if tier in fabric.switches
    }
    units, power = _room_and_power(site, server, fabric.n_servers, switches)
    bought = {(part.part, part.unit): part.count for part in parts(fabric)}
    return Totals(switches, dict(fabric.switches), len(fabric.links), bought, units, power)


def _room_and_power(site: Site, server: ServerFacts, n_servers: int, switches: Mapping[str, int]) -> tuple[int, float]:
    """Rack units, and watts at most."""
    units, power = server.rack_units * n_servers, server.power_w * n_servers
    for tier in TIER_OF_KIND.values():
        facts: SwitchFacts | None = switch_of_tier(site, tier)
        if facts and switches.get(tier):
            units += facts.rack_units * switches[tier]
            power += facts.power_w * switches[tier]
    return units, power


def costs_of(reserve: Sequence[Totals], recable: Sequence[Totals], prices: Prices) -> Costs:
    """What both strategies spend from phase to phase; `reserve` and `recable` are the same phases."""
    ways = [tuple(accumulate(spending(pieces, prices) for pieces in _purchases(way))) for way in (reserve, recable)]
    left_over = sum(_purchases(recable), Counter[str]()) - recable[-1].pieces
    return Costs(prices.currency, ways[0], ways[1], spending(left_over, prices))


def _purchases(phases: Sequence[Totals]) -> list[Counter[str]]:
    """Pieces that each phase buys; what an earlier phase bought and a later one does not use stays in the cupboard."""
    owned: Counter[str] = Counter()
    found = []
    for phase in phases:
        found.append(phase.pieces - owned)
        owned |= phase.pieces
    return found


def spending(pieces: Mapping[str, int], prices: Prices) -> Spending:
    """Money for so many pieces of each part."""
    known = {part: prices.price_of(part) for part in pieces}
    price = sum(each * pieces[part] for part, each in known.items() if each is not None)
    return Spending(price, sum(pieces[part] for part, each in known.items() if each is None))
