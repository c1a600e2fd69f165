"""Growth: every phase of the cluster inside the last one, what is reserved now and bought later, and what recabling
would cost instead.

Two ways are computed. *Reserve now*: the last phase is designed first and every earlier phase is its part, so that no
live cable ever moves; switches that only spread the uplinks of today are bought early. *Recable later*: every phase is
the cheapest design of its own size, and cables move between phases. The first is planned where it saves moves, unless
it buys too much too early.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from eastwest.fabric.cabling import parts
from eastwest.fabric.phases import restrict
from eastwest.fabric.tables import Fabric, LinkKind, NodeKind
from eastwest.fabric.topology import build
from eastwest.plan.growth_cables import CableDiff, Outage, diff_cables, outage_of
from eastwest.spec.resolve import ServerFacts, SwitchFacts, TierName, servers_of, switch_of_tier
from eastwest.spec.site import Site

Strategy = Literal["reserve_now", "recable_later"]
TODAY = "today"
MOST_EARLY_RATIO = 0.5  # switches bought early at most, as a share of those of the last phase: our limit
TIERS: tuple[tuple[TierName, NodeKind], ...] = (
    ("leaf", NodeKind.LEAF),
    ("spine", NodeKind.SPINE),
    ("core", NodeKind.CORE),
)
RACK_CODES = ("EW-FAB-015", "EW-FAB-016")  # racks or patch panels that do not suffice: another room helps, not a cable
TOO_SMALL_CODES = ("EW-FAB-001", "EW-FAB-002", "EW-FAB-019", "EW-FAB-025", "EW-FAB-028", "EW-FAB-029", "EW-FAB-033")


@dataclass(frozen=True, slots=True)
class Totals:
    """What is there in a phase: switches by tier, cables, parts of the cables, rack units, power at most."""

    switches: Mapping[str, int]
    cables: int
    parts: Mapping[tuple[str, str], int]
    rack_units: int
    power_w: float

    @property
    def n_switches(self) -> int:
        """Switches of all tiers."""
        return sum(self.switches.values())


@dataclass(frozen=True, eq=False)
class Step:
    """One phase under one strategy: its fabric, what is there, what happens to cables on the way to it, who is hit."""

    fabric: Fabric
    totals: Totals
    diff: CableDiff | None
    outage: Outage


@dataclass(frozen=True, eq=False)
class Phase:
    """One phase: its servers in all, whether the design holds it, both ways to it, and codes of what falls short."""

    name: str
    servers: int
    fits: bool
    reserve: Step | None
    recable: Step
    short: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Growth:
    """All phases, the strategy that is planned, and money where prices are known.

    `extra_cost` is what the reserve buys early, `rebuy_cost` what recabling throws away and buys again, in the prices'
    currency.
    """

    strategy: Strategy
    phases: tuple[Phase, ...]
    extra_cost: float | None
    rebuy_cost: float | None

    def planned(self, phase: Phase) -> Step:
        """The phase as it is planned."""
        return phase.reserve if self.strategy == "reserve_now" and phase.reserve else phase.recable

    @property
    def today(self) -> Fabric:
        """What is built first."""
        return self.planned(self.phases[0]).fabric

    @property
    def moved(self) -> int:
        """Live cables that recabling later moves in all steps that the design holds."""
        return sum(len(phase.recable.diff.moved) for phase in self.phases if phase.fits and phase.recable.diff)

    @property
    def extra_switches(self) -> int:
        """Switches that the reserve buys today beyond what today needs."""
        first = self.phases[0]
        return max(0, first.reserve.totals.n_switches - first.recable.totals.n_switches) if first.reserve else 0


def plan_growth(site: Site, fabric: Fabric, prices: Mapping[str, float] | None = None) -> Growth | None:
    """The phases of a site whose fabric of today is `fabric`; None without growth steps. `prices` part -> price."""
    if not site.growth.steps:
        return None
    counts = [(TODAY, fabric.n_servers), *((step.name, step.servers) for step in site.growth.steps)]
    alone = [fabric, *(build(site_with(site, servers)) for _, servers in counts[1:])]
    fits = [_holds(one) for one in alone]
    last = max((i for i, good in enumerate(fits) if good and all(fits[: i + 1])), default=0)
    inside = _inside(site, alone, last)
    recabled = _steps(site, alone)
    short = [_short(one, fabric) for one in alone]
    phases = tuple(
        Phase(name, servers, i <= last, inside[i] if i < len(inside) else None, recabled[i], short[i])
        for i, (name, servers) in enumerate(counts)
    )
    extra, rebuy = _costs(phases, prices)
    return Growth(_strategy(phases, last), phases, extra, rebuy)


def site_with(site: Site, servers: int) -> Site:
    """The same site with so many servers in all, its groups grown in proportion (largest remainder first)."""
    counts = np.array([group.count for group in site.servers], np.int64)
    share = counts * servers / counts.sum()
    grown = np.floor(share).astype(np.int64)
    order = np.lexsort((np.arange(len(counts)), -(share - grown)))
    grown[order[: servers - int(grown.sum())]] += 1
    groups = tuple(
        group.model_copy(update={"count": int(n)}) for group, n in zip(site.servers, grown, strict=True) if n
    )
    return site.model_copy(update={"servers": groups})


def _holds(fabric: Fabric) -> bool:
    """Whether a phase can be built as designed, racks left aside."""
    return not any(f.severity == "error" and f.code in TOO_SMALL_CODES for f in fabric.findings)


def _short(fabric: Fabric, today: Fabric) -> tuple[str, ...]:
    """Codes of errors of a later phase that today has not."""
    known = {finding.code for finding in today.findings}
    return tuple(sorted({f.code for f in fabric.findings if f.severity == "error" and f.code not in known}))


def _inside(site: Site, alone: list[Fabric], last: int) -> list[Step]:
    """The phases up to the last one that fits, as parts of it; none when the design of the last phase has no racks for
    what is there today.
    """
    final = alone[last]
    if last == 0 or set(_short(final, alone[0])) & set(RACK_CODES):
        return []
    fabrics = [restrict(final, _servers_by_room(one)) for one in alone[:last]]
    return _steps(site, [*fabrics, final])


def _servers_by_room(fabric: Fabric) -> list[int]:
    room = fabric.nodes["room"][fabric.nodes_of(NodeKind.SERVER)]
    counts: list[int] = np.bincount(room, minlength=len(fabric.rooms)).tolist()
    return counts


def _steps(site: Site, fabrics: list[Fabric]) -> list[Step]:
    """Each fabric with its totals and the way to it from the one before."""
    found = []
    for i, fabric in enumerate(fabrics):
        diff = diff_cables(fabrics[i - 1], fabric) if i else None
        outage = outage_of(fabrics[i - 1], fabric, diff) if diff else Outage(0, 0, 0, 0)
        found.append(Step(fabric, totals_of(site, fabric), diff, outage))
    return found


def totals_of(site: Site, fabric: Fabric) -> Totals:
    """What a fabric needs in switches, cables, rack units and power, servers included."""
    server = servers_of(site)[0]
    switches: dict[str, int] = {
        tier: int(fabric.nodes_of(kind).size) for tier, kind in TIERS if tier in fabric.switches
    }
    units, power = _room_and_power(site, server, fabric.n_servers, switches)
    bought = {(part.part, part.unit): part.count for part in parts(fabric)}
    return Totals(switches, len(fabric.links), bought, units, power)


def _room_and_power(site: Site, server: ServerFacts, n_servers: int, switches: Mapping[str, int]) -> tuple[int, float]:
    """Rack units, and watts at most."""
    units, power = server.rack_units * n_servers, server.power_w * n_servers
    for tier, _ in TIERS:
        facts: SwitchFacts | None = switch_of_tier(site, tier)
        if facts and switches.get(tier):
            units += facts.rack_units * switches[tier]
            power += facts.power_w * switches[tier]
    return units, power


def _strategy(phases: tuple[Phase, ...], last: int) -> Strategy:
    """Reserve when it saves moves and does not cost too many switches today."""
    first = phases[0]
    moved = sum(len(phase.recable.diff.moved) for phase in phases[: last + 1] if phase.recable.diff)
    if first.reserve is None or moved == 0 or _server_cables(first.reserve) < _server_cables(first.recable):
        return "recable_later"  # between servers without a switch a reserve would leave NICs of today unused
    extra = first.reserve.totals.n_switches - first.recable.totals.n_switches
    return "reserve_now" if extra <= MOST_EARLY_RATIO * phases[last].recable.totals.n_switches else "recable_later"


def _server_cables(step: Step) -> int:
    """Cables that end at servers."""
    kinds = (LinkKind.SERVER_LEAF, LinkKind.DIRECT)
    return sum(len(step.fabric.links_of(kind)) for kind in kinds)


def _costs(phases: tuple[Phase, ...], prices: Mapping[str, float] | None) -> tuple[float | None, float | None]:
    """Money for what the reserve buys early and for cables that recabling buys again; None where a price is missing."""
    first = phases[0]
    if not prices or first.reserve is None:
        return None, None
    early = _more(first.reserve, first.recable)
    extra = _price_of(early, prices)
    again: dict[str, int] = {}
    for before, phase in pairwise(phases):
        if phase.recable.diff and phase.recable.outage.rebought:
            again |= {part: again.get(part, 0) + n for part, n in _thrown_away(before, phase).items()}
    return extra, _price_of(again, prices)


def _more(reserve: Step, recable: Step) -> dict[str, int]:
    """Part -> pieces that the reserve has more of today."""
    found: dict[str, int] = {}
    for tier, count in reserve.totals.switches.items():
        label = reserve.fabric.switches[tier]
        found[label] = found.get(label, 0) + count - recable.totals.switches.get(tier, 0)
    for key, count in reserve.totals.parts.items():
        found[key[0]] = found.get(key[0], 0) + count - recable.totals.parts.get(key, 0)
    return {part: n for part, n in found.items() if n > 0}


def _thrown_away(before: Phase, after: Phase) -> dict[str, int]:
    """Part -> pieces of one phase that the next does not use any more."""
    old, new = before.recable.totals.parts, after.recable.totals.parts
    return {key[0]: count - new.get(key, 0) for key, count in old.items() if count > new.get(key, 0)}


def _price_of(pieces: Mapping[str, int], prices: Mapping[str, float]) -> float | None:
    if any(part not in prices for part in pieces):
        return None
    return sum(prices[part] * n for part, n in pieces.items())


def growth_json(growth: Growth) -> list[dict[str, Any]]:
    """Every phase in the shape of the command line's contract."""
    final = growth.planned([phase for phase in growth.phases if phase.fits][-1])
    rows, before = [], None
    for phase in growth.phases:
        step = growth.planned(phase)
        other = phase.recable if growth.strategy == "reserve_now" else phase.reserve
        rows.append(
            {
                "phase": phase.name,
                "servers": phase.servers,
                "gpus": step.fabric.n_gpus,
                "fits": phase.fits,
                "strategy": growth.strategy,
                "switches": dict(step.totals.switches),
                "cables": _cable_counts(step),
                "outage": _outage_json(step.outage),
                "ports": {tier: {"used": p.used, "free": p.free} for tier, p in step.fabric.tier_ports.items()},
                "rack_units": step.totals.rack_units,
                "power_w": step.totals.power_w,
                "bought": _bought(before, step),
                "reserved": _reserved(step, final),
                "short": list(phase.short),
                "alternative": _alternative(growth, other),
            }
        )
        before = step
    return rows


def _cable_counts(step: Step) -> dict[str, int]:
    diff = step.diff
    if diff is None:
        return {"added": step.totals.cables, "moved": 0, "removed": 0, "in_all": step.totals.cables}
    return {
        "added": len(diff.added),
        "moved": len(diff.moved),
        "removed": len(diff.removed),
        "in_all": step.totals.cables,
    }


def _outage_json(outage: Outage) -> dict[str, int]:
    return {
        "servers_down": outage.servers,
        "leaves_with_less": outage.leaves,
        "servers_behind": outage.servers_behind,
        "cables_bought_again": outage.rebought,
    }


def _bought(before: Step | None, step: Step) -> list[dict[str, Any]]:
    """Switches, cables and modules that a phase buys."""
    old = before.totals if before else Totals({}, 0, {}, 0, 0.0)
    rows = [
        {"part": step.fabric.switches[tier], "unit": "switch", "quantity": n - old.switches.get(tier, 0), "where": tier}
        for tier, n in step.totals.switches.items()
    ]
    rows += [
        {"part": part, "unit": unit, "quantity": n - old.parts.get((part, unit), 0), "where": "fabric"}
        for (part, unit), n in step.totals.parts.items()
    ]
    return [row for row in rows if int(str(row["quantity"])) > 0]


def _reserved(step: Step, final: Step) -> dict[str, Any]:
    """What is kept free now for the last phase (ports of switches that are there, rack units, power), and what is
    bought later.
    """
    free = {tier: ports.free for tier, ports in step.fabric.tier_ports.items()}
    later = {tier: n - step.totals.switches.get(tier, 0) for tier, n in final.totals.switches.items()}
    modules = [sum(n for (_, unit), n in one.totals.parts.items() if unit == "module") for one in (step, final)]
    return {
        "ports_now": free,
        "rack_units_now": max(0, final.totals.rack_units - step.totals.rack_units),
        "power_now_w": max(0.0, final.totals.power_w - step.totals.power_w),
        "switches_later": {tier: max(0, n) for tier, n in later.items()},
        "cables_later": max(0, final.totals.cables - step.totals.cables),
        "modules_later": max(0, modules[1] - modules[0]),
    }


def _alternative(growth: Growth, step: Step | None) -> dict[str, Any] | None:
    """The other way to the same phase."""
    if step is None:
        return None
    other = "recable_later" if growth.strategy == "reserve_now" else "reserve_now"
    return {
        "strategy": other,
        "switches": dict(step.totals.switches),
        "cables": _cable_counts(step),
        "outage": _outage_json(step.outage),
        "rack_units": step.totals.rack_units,
        "power_w": step.totals.power_w,
    }
