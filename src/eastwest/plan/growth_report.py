"""The growth of a plan as one answer: the fabric that is built first, decisions, findings, and the lines of
growth.csv.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from eastwest.decision import Alternative, Decision
from eastwest.fabric.tables import Fabric
from eastwest.finding import Finding
from eastwest.plan.growth import RACK_CODES, Growth, Phase, plan_growth
from eastwest.plan.growth_cables import GrowthCable, growth_cables
from eastwest.plan.growth_rows import growth_json
from eastwest.plan.growth_totals import Costs, Prices
from eastwest.spec.site import Site

COUNTED = {"fabric.leaves": "leaf", "fabric.spines": "spine", "fabric.cores": "core"}  # decision -> tier
NOT_WHEN_GROWING = ("EW-FAB-018",)  # one switch would do, if the cluster did not grow


@dataclass(frozen=True, eq=False)
class GrowthReport:
    """The fabric of today with its decisions and findings, and the phases after it; `growth` is None without steps."""

    fabric: Fabric
    growth: Growth | None
    decisions: tuple[Decision, ...] = ()
    findings: tuple[Finding, ...] = ()

    def as_json(self) -> list[dict[str, Any]]:
        """The phases in the shape of the command line's contract."""
        return growth_json(self.growth) if self.growth else []

    def cables(self) -> Iterator[GrowthCable]:
        """Every cable that is laid, moved or pulled out after today, in the ids of cables.csv."""
        if self.growth is None:
            return
        phases = [phase for phase in self.growth.phases if phase.fits]
        steps = [self.growth.planned(phase) for phase in phases]
        diffs = [step.diff for step in steps if step.diff is not None]
        yield from growth_cables([phase.name for phase in phases], [step.fabric for step in steps], diffs)


def report_growth(site: Site, fabric: Fabric, prices: Prices | None = None) -> GrowthReport:
    """The growth of a site whose fabric, designed for today alone, is `fabric`; `prices` of one piece."""
    growth = plan_growth(site, fabric, prices)
    if growth is None:
        return GrowthReport(fabric, None)
    built = fabric if growth.strategy == "recable_later" else _built_first(fabric, growth)
    return GrowthReport(built, growth, tuple(_decisions(growth)), tuple(_findings(growth)))


def _built_first(alone: Fabric, growth: Growth) -> Fabric:
    """Today's part of the last phase: the decisions of the whole design, with what is there today, and the findings of
    today.
    """
    today = growth.today
    counts = growth.planned(growth.phases[0]).totals.switches
    decisions = []
    for decision in today.decisions:
        tier = COUNTED.get(decision.id)
        if tier is not None and tier in counts:
            note = f"{decision.because}; {decision.value} in the last phase of growth, {counts[tier]} of them today"
            decision = replace(decision, value=counts[tier], because=note)
        decisions.append(decision)
    findings = tuple(finding for finding in alone.findings if finding.code not in NOT_WHEN_GROWING)
    return replace(today, decisions=tuple(decisions), findings=findings)


def _decisions(growth: Growth) -> Iterator[Decision]:
    """The strategy, then what is reserved now and bought later."""
    yield _strategy(growth)
    last = [phase for phase in growth.phases if phase.fits][-1]
    rows = {row["phase"]: row for row in growth_json(growth)}
    reserved, source = rows[growth.phases[0].name]["reserved"], f"site file: growth.steps, {last.name}"
    values = {"servers_today": growth.phases[0].servers, "servers_last": last.servers}
    ports = sum(reserved["ports_now"].values())
    because = "free ports on switches that are there today; later phases take them"
    yield Decision("growth.reserved.ports", ports, "ports", because, "sum of free ports by tier", values, source)
    formula, because = "last phase - today", "rack space that nobody else may take"
    units = reserved["rack_units_now"]
    yield Decision("growth.reserved.rack_units", units, "rack units", because, formula, values, source)
    because = "power and cooling at most, servers and switches"
    yield Decision("growth.reserved.power", reserved["power_now_w"], "W", because, formula, values, source)
    because = "modules are bought with the phase that lights them"
    modules = reserved["modules_later"]
    yield Decision("growth.later.modules", modules, "modules", because, formula, values, source)
    switches = sum(reserved["switches_later"].values())
    because = "leaves come with their servers, spines and cores only where no cable moves for it"
    yield Decision("growth.later.switches", switches, "switches", because, formula, values, source)


def _strategy(growth: Growth) -> Decision:
    """Reserve or recable, each with what it costs."""
    values: dict[str, Any] = {"cables_moved": growth.moved, "switches_early": growth.extra_switches}
    values |= _money(growth.costs) if growth.costs else {}
    reserve, recable = _reserve_words(growth), _recable_words(growth)
    others: tuple[Alternative, ...] = ()
    if growth.moved == 0:
        because = "every later phase only adds cables to today's design"
    elif growth.strategy == "reserve_now":
        touched = f"{growth.touched} live cables move" if growth.touched else "no live cable moves"
        because, others = f"{touched}; {reserve}", (Alternative("recable_later", recable),)
    else:
        why = reserve if growth.phases[0].reserve else "the last phase that fits cannot hold today's switches in place"
        because, others = recable, (Alternative("reserve_now", why),)
    formula = "reserve_now when it saves moves and switches_early <= half of the switches of the last phase"
    return Decision("growth.strategy", growth.strategy, "", because, formula, values, alternatives=others)


def _money(costs: Costs) -> dict[str, Any]:
    """What both ways cost, as inputs of the decision."""
    return {
        "currency": costs.currency,
        "reserve_now_today": costs.reserve_now[0].price,
        "recable_later_today": costs.recable_later[0].price,
        "reserve_now_in_all": costs.reserve_now[-1].price,
        "recable_later_in_all": costs.recable_later[-1].price,
        "recable_later_left_over": costs.left_over.price,
        "unpriced_pieces": costs.unpriced,
    }


def _reserve_words(growth: Growth) -> str:
    """What the reserve costs today, in words."""
    words = f"{growth.extra_switches} switches are bought today that today alone would not need"
    costs = growth.costs
    if costs is None:
        return words
    more = "more" if costs.over_all >= 0 else "less"
    words += f"; the network costs {costs.early:+,.0f} {costs.currency} today and {abs(costs.over_all):,.0f} {more} "
    return words + f"than recabling when the last phase stands{_without(costs.unpriced)}"


def _recable_words(growth: Growth) -> str:
    """What recabling costs in all, in words."""
    words, costs = f"{growth.moved} live cables move in all", growth.costs
    if costs is None or costs.left_over.price == 0:
        return words
    return f"{words}; {costs.left_over.price:,.0f} {costs.currency} of parts bought before are left over"


def _without(unpriced: int) -> str:
    return f", without {unpriced:,} pieces that have no price" if unpriced else ""


def _findings(growth: Growth) -> Iterator[Finding]:
    """Steps that do not fit, moves that remain, the reserve, and what falls short later."""
    first = growth.phases[0]
    for number, phase in enumerate(growth.phases[1:]):
        path = f"growth.steps[{number}]"
        if not phase.fits:
            most = growth.planned(first).fabric.max_gpus
            args = {"servers": phase.servers}
            gpus = phase.recable.fabric.n_servers * phase.recable.fabric.gpus_per_server
            yield Finding("EW-GRO-001", "error", phase.name, most, gpus, "GPUs", args, path=f"{path}.servers")
            continue
        yield from _moves(growth, phase, path)
        yield from _short(phase, path)
    if growth.strategy == "reserve_now":
        args = {"moved": growth.moved, "steps": sum(phase.fits for phase in growth.phases) - 1}
        observed = growth.extra_switches
        yield Finding("EW-GRO-003", "info", "growth", 0, observed, "switches", args, path="growth.steps")


def _moves(growth: Growth, phase: Phase, path: str) -> Iterator[Finding]:
    """The step that moves live cables, with the outage."""
    step = growth.planned(phase)
    if step.diff is None or len(step.diff.moved) + len(step.diff.removed) == 0:
        return
    out = step.outage
    args = {"leaves": out.leaves, "servers_behind": out.servers_behind, "servers_down": out.servers}
    args |= {"controllers_down": out.controllers}
    moved = len(step.diff.moved) + len(step.diff.removed)
    yield Finding("EW-GRO-002", "warning", phase.name, 0, moved, "cables", args, path=path)


def _short(phase: Phase, path: str) -> Iterator[Finding]:
    """What a later phase lacks that today has: racks and power, or another part of the design."""
    racks = [f for f in phase.recable.fabric.findings if f.code in RACK_CODES and f.code in phase.short]
    if racks:
        args = {"rooms": ", ".join(dict.fromkeys(finding.subject for finding in racks))}
        devices = sum(int(f.observed) for f in racks if f.code == RACK_CODES[0])
        yield Finding("EW-GRO-004", "warning", phase.name, 0, devices, "devices", args, path=path)
    others = [code for code in phase.short if code not in RACK_CODES]
    if others:
        words: dict[str, Any] = {"codes": ", ".join(others), "servers": phase.servers}
        yield Finding("EW-GRO-005", "warning", phase.name, 0, len(others), "findings", words, path=path)
