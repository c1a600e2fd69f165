"""The phases of growth as rows of the plan's document: each with the planned way and the other one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eastwest.plan.growth import Growth, Step, Strategy
from eastwest.plan.growth_cables import Outage
from eastwest.plan.growth_totals import Totals


def growth_json(growth: Growth) -> list[dict[str, Any]]:
    """Every phase in the shape of the command line's contract."""
    final = growth.planned([phase for phase in growth.phases if phase.fits][-1])
    rows: list[dict[str, Any]] = []
    before: Step | None = None
    for phase in growth.phases:
        step = growth.planned(phase)
        other = phase.recable if growth.strategy == "reserve_now" else phase.reserve
        at = len(rows)
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
                **_sums(step),
                "cost": _cost_json(growth, growth.strategy, at),
                "bought": list(_bought(before, step)),
                "reserved": _reserved(step, final),
                "short": list(phase.short),
                "alternative": _alternative(growth, other, at),
            }
        )
        before = step
    return rows


def _sums(step: Step) -> dict[str, Any]:
    """Ports, optics, rack units and power of one way to a phase."""
    return {
        "ports": {tier: {"used": p.used, "free": p.free} for tier, p in step.fabric.tier_ports.items()},
        "modules": step.totals.modules,
        "rack_units": step.totals.rack_units,
        "power_w": step.totals.power_w,
    }


def _cost_json(growth: Growth, strategy: Strategy, at: int) -> dict[str, Any] | None:
    """Money that a strategy has spent on the network by the end of a phase; None without prices."""
    costs = growth.costs
    if costs is None or at >= len(costs.reserve_now):
        return None
    spent = (costs.reserve_now if strategy == "reserve_now" else costs.recable_later)[at]
    return {"currency": costs.currency, "so_far": spent.price, "unpriced_pieces": spent.unpriced}


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
        "controllers_down": outage.controllers,
        "cables_bought_again": outage.rebought,
    }


def _bought(before: Step | None, step: Step) -> Iterator[dict[str, Any]]:
    """Switches, cables and modules that a phase buys."""
    old = before.totals if before else Totals({}, {}, 0, {}, 0, 0.0)
    for tier, n in step.totals.switches.items():
        if (more := n - old.switches.get(tier, 0)) > 0:
            yield {"part": step.fabric.switches[tier], "unit": "switch", "quantity": more, "where": tier}
    for (part, unit), n in step.totals.parts.items():
        if (more := n - old.parts.get((part, unit), 0)) > 0:
            yield {"part": part, "unit": unit, "quantity": more, "where": "fabric"}


def _reserved(step: Step, final: Step) -> dict[str, Any]:
    """What is kept free now for the last phase (ports of switches that are there, rack units, power), and what is
    bought later.
    """
    free = {tier: ports.free for tier, ports in step.fabric.tier_ports.items()}
    later = {tier: n - step.totals.switches.get(tier, 0) for tier, n in final.totals.switches.items()}
    return {
        "ports_now": free,
        "rack_units_now": max(0, final.totals.rack_units - step.totals.rack_units),
        "power_now_w": max(0.0, final.totals.power_w - step.totals.power_w),
        "switches_later": {tier: max(0, n) for tier, n in later.items()},
        "cables_later": max(0, final.totals.cables - step.totals.cables),
        "modules_later": max(0, final.totals.modules - step.totals.modules),
    }


def _alternative(growth: Growth, step: Step | None, at: int) -> dict[str, Any] | None:
    """The other way to the same phase."""
    if step is None:
        return None
    other: Strategy = "recable_later" if growth.strategy == "reserve_now" else "reserve_now"
    return {
        "strategy": other,
        "switches": dict(step.totals.switches),
        "cables": _cable_counts(step),
        "outage": _outage_json(step.outage),
        **_sums(step),
        "cost": _cost_json(growth, other, at),
    }
