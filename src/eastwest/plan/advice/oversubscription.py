"""What oversubscription costs: growth of the step at the built ratio against 1:1, or at 2:1 when it is 1:1."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eastwest.decision import Alternative, Decision
from eastwest.fabric.tables import Fabric, LinkKind
from eastwest.finding import Finding
from eastwest.plan.advice.case import Advice, Case
from eastwest.plan.prediction import Prediction, RowTime
from eastwest.plan.training_model import Step
from eastwest.units import format_percent, format_ratio, format_time
from eastwest.workload.ledger import JobLedger

WORTH_A_WARNING = 0.05  # growth of the step
ABOVE_LEAF = ("spine", "core", "room")
COMPARED_RATIO = 2.0  # the seeds' comparison: 2:1 against none
SOURCE = "seed text 000, section 3.2: 2:1 made one iteration of its project nearly 40 % longer"
FORMULA = "step(r) / step(1:1) - 1, both by the step model with the uplinks of each"


def advise(case: Case) -> Advice:
    """One decision for each training job; a warning where the built ratio costs more than 5 %."""
    built = max((case.fabric.oversubscription.get(tier, 1.0) for tier in ("leaf", "spine")), default=1.0)
    decisions, findings = [], []
    for job, prediction in case.training:
        if built > 1.0:
            at_one, rows = case.step_on(without_oversubscription(case.fabric), job)
            decisions.append(_of_built(case, job, prediction, at_one, crossing_s(case, job, rows), built))
            findings += _finding(case, job, prediction, at_one, built)
        else:
            decisions.append(_of_none(case, job, prediction))
    return Advice(tuple(decisions), tuple(findings))


def without_oversubscription(fabric: Fabric) -> Fabric:
    """The same cables with uplinks as fast as 1:1 needs; for comparison only, no such port need exist."""
    links = fabric.links.copy()
    rates = links["rate_bps"].astype(np.float64)
    leaf = max(1.0, fabric.oversubscription.get("leaf", 1.0))
    spine = max(1.0, fabric.oversubscription.get("spine", 1.0))
    rates[links["kind"] == LinkKind.LEAF_SPINE] *= leaf
    rates[links["kind"] == LinkKind.SPINE_CORE] *= leaf * spine
    links["rate_bps"] = np.round(rates).astype(np.int64)
    return replace(fabric, links=links)


def with_oversubscription(fabric: Fabric, ratio: float) -> Fabric:
    """The same cables with uplinks slower by a ratio; for comparison only."""
    links = fabric.links.copy()
    above = np.isin(links["kind"], (LinkKind.LEAF_SPINE, LinkKind.SPINE_CORE))
    links["rate_bps"] = np.where(above, np.round(links["rate_bps"] / ratio), links["rate_bps"]).astype(np.int64)
    return replace(fabric, links=links)


def crossing_s(case: Case, job: JobLedger, rows: tuple[RowTime, ...]) -> float:
    """Seconds of the rows of a job that leave the leaf, with nothing to hide behind."""
    placed = {row.traffic: row.tier_bytes for row in case.placement.rows if row.job == job.name}
    return sum(row.time_s for row in rows if any(placed[row.traffic].get(tier) for tier in ABOVE_LEAF))


def _of_built(
    case: Case, job: JobLedger, now: Prediction, at_one: Step, crossing_time_s: float, ratio: float
) -> Decision:
    step_s, best_s = now.step_time_s or 0.0, at_one.step_s
    uplinks = int(case.fabric.links_of(LinkKind.LEAF_SPINE).size)
    inputs = {
        "r": ratio,
        "step_s": step_s,
        "step_at_1_1_s": best_s,
        "T_s": crossing_time_s,
        "exposed_s": now.exposed_communication_s,
        "exposed_at_1_1_s": at_one.exposed_s,
        "uplinks": uplinks,
        "uplinks_at_1_1": round(uplinks * ratio),
    }
    return Decision(
        f"oversubscription.{job.name}.growth",
        step_s / best_s - 1,
        "ratio",
        f"the step takes {format_time(step_s)} at {format_ratio(ratio)} and {format_time(best_s)} at 1:1",
        FORMULA,
        inputs,
        SOURCE,
        (Alternative("1:1", f"{round(uplinks * (ratio - 1))} more uplinks with their ports and optics"),),
    )


def _of_none(case: Case, job: JobLedger, prediction: Prediction) -> Decision:
    step_s = prediction.step_time_s or 0.0
    other, _ = case.step_on(with_oversubscription(case.fabric, COMPARED_RATIO), job)
    at_two = other.step_s / step_s - 1
    uplinks = int(case.fabric.links_of(LinkKind.LEAF_SPINE).size)
    inputs = {
        "r": COMPARED_RATIO,
        "step_s": step_s,
        "step_at_2_1_s": other.step_s,
        "T_s": crossing_s(case, job, prediction.rows),
        "exposed_s": prediction.exposed_communication_s,
        "exposed_at_2_1_s": other.exposed_s,
        "uplinks": uplinks,
    }
    saved = f"saves {uplinks - round(uplinks / COMPARED_RATIO)} uplinks, the step grows by {format_percent(at_two)}"
    return Decision(
        f"oversubscription.{job.name}.growth",
        0.0,
        "ratio",
        f"1:1 costs the step nothing; 2:1 would cost {format_percent(at_two)} with ideal ECMP, more with collisions",
        FORMULA,
        inputs,
        SOURCE,
        (Alternative("2:1", saved),),
    )


def _finding(case: Case, job: JobLedger, now: Prediction, at_one: Step, ratio: float) -> list[Finding]:
    step_s, best_s = now.step_time_s or 0.0, at_one.step_s
    if step_s <= best_s * (1 + WORTH_A_WARNING):
        return []
    args = {
        "ratio": format_ratio(ratio),
        "step": format_time(step_s),
        "best": format_time(best_s),
        "growth": format_percent(step_s / best_s - 1),
        "uplinks": round(case.fabric.links_of(LinkKind.LEAF_SPINE).size * (ratio - 1)),
    }
    path = "fabric.oversubscription"
    return [Finding("EW-ADV-010", "warning", job.name, best_s, step_s, "s", args, path=path)]
