"""Growth: every phase of the cluster inside the last one, what is reserved now and bought later, and what recabling
would cost instead.

Two ways are computed. *Reserve now*: the last phase is designed first and every earlier phase is its part, so that no
live cable ever moves; switches that only spread the uplinks of today are bought early. *Recable later*: every phase is
the cheapest design of its own size, and cables move between phases. The first is planned where it saves moves, unless
it buys too much too early.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from eastwest.fabric.phases import restrict
from eastwest.fabric.tables import Fabric, LinkKind, NodeKind
from eastwest.fabric.topology import build
from eastwest.plan.growth_cables import CableDiff, Outage, diff_cables, outage_of
from eastwest.plan.growth_totals import Costs, Prices, Totals, costs_of, totals_of
from eastwest.spec.site import Site

Strategy = Literal["reserve_now", "recable_later"]
TODAY = "today"
MOST_EARLY_RATIO = 0.5  # switches bought early at most, as a share of those of the last phase: our limit
NO_OUTAGE = Outage(0, 0, 0, 0)
RACK_CODES = ("EW-FAB-015", "EW-FAB-016")  # racks or patch panels that do not suffice: another room helps, not a cable
# Errors of a design that cannot be built as wished: ports, tiers or rooms that do not suffice.
TOO_SMALL_CODES = ("EW-FAB-001", "EW-FAB-002", "EW-FAB-019", "EW-FAB-025", "EW-FAB-028", "EW-FAB-029", "EW-FAB-033")


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

    @property
    def early_switches(self) -> int:
        """Switches that the reserve has more of in this phase; below zero when it has fewer, 0 without a reserve."""
        return self.reserve.totals.n_switches - self.recable.totals.n_switches if self.reserve else 0


@dataclass(frozen=True, eq=False)
class Growth:
    """All phases, the strategy that is planned, and what both strategies cost where there are prices and a reserve."""

    strategy: Strategy
    phases: tuple[Phase, ...]
    costs: Costs | None = None

    def planned(self, phase: Phase) -> Step:
        """The phase as it is planned."""
        return phase.reserve if self.strategy == "reserve_now" and phase.reserve else phase.recable

    @property
    def today(self) -> Fabric:
        """What is built first."""
        return self.planned(self.phases[0]).fabric

    @property
    def touched(self) -> int:
        """Live cables that the planned steps move or pull out."""
        steps = [self.planned(phase) for phase in self.phases if phase.fits]
        return sum(len(step.diff.moved) + len(step.diff.removed) for step in steps if step.diff)

    @property
    def moved(self) -> int:
        """Live cables that recabling later moves in all steps that the design holds."""
        return _moved(self.phases)

    @property
    def extra_switches(self) -> int:
        """Switches that the reserve buys today beyond what today needs."""
        return max(0, self.phases[0].early_switches)


def plan_growth(site: Site, fabric: Fabric, prices: Prices | None = None) -> Growth | None:
    """The phases of a site whose fabric of today is `fabric`; None without growth steps. `prices` of one piece."""
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
    return Growth(_strategy(phases, last), phases, _costs(phases, last, prices))


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
    return _steps(site, [*fabrics, final], is_one_design=True)


def _servers_by_room(fabric: Fabric) -> list[int]:
    """(n_rooms,) servers of each room."""
    room = fabric.nodes["room"][fabric.nodes_of(NodeKind.SERVER)]
    counts: list[int] = np.bincount(room, minlength=len(fabric.rooms)).tolist()
    return counts


def _steps(site: Site, fabrics: list[Fabric], is_one_design: bool = False) -> list[Step]:
    """Each fabric with its totals and the way to it from the one before; `is_one_design` when all are parts of one."""
    found = []
    for i, fabric in enumerate(fabrics):
        diff = diff_cables(fabrics[i - 1], fabric, is_one_design) if i else None
        outage = outage_of(fabrics[i - 1], fabric, diff) if diff else NO_OUTAGE
        found.append(Step(fabric, totals_of(site, fabric), diff, outage))
    return found


def _strategy(phases: tuple[Phase, ...], last: int) -> Strategy:
    """Reserve when it saves moves and does not cost too many switches today."""
    first = phases[0]
    if first.reserve is None or _moved(phases) == 0 or _server_cables(first.reserve) < _server_cables(first.recable):
        return "recable_later"  # between servers without a switch a reserve would leave NICs of today unused
    most = MOST_EARLY_RATIO * phases[last].recable.totals.n_switches
    return "reserve_now" if first.early_switches <= most else "recable_later"


def _moved(phases: Sequence[Phase]) -> int:
    """Live cables that recabling later moves in all phases that the design holds."""
    return sum(len(phase.recable.diff.moved) for phase in phases if phase.fits and phase.recable.diff)


def _server_cables(step: Step) -> int:
    """Cables that end at servers."""
    kinds = (LinkKind.SERVER_LEAF, LinkKind.DIRECT)
    return sum(len(step.fabric.links_of(kind)) for kind in kinds)


def _costs(phases: tuple[Phase, ...], last: int, prices: Prices | None) -> Costs | None:
    """What both ways cost up to the last phase that fits; None without prices or without a reserve."""
    reserve = [phase.reserve.totals for phase in phases[: last + 1] if phase.reserve]
    if prices is None or len(reserve) <= last:
        return None
    return costs_of(reserve, [phase.recable.totals for phase in phases[: last + 1]], prices)
