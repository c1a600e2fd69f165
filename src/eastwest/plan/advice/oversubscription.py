"""What oversubscription costs: growth of the step at the built ratio against 1:1, or at 2:1 when it is 1:1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from eastwest.decision import Alternative, Decision
from eastwest.fabric.tables import Fabric, LinkKind
from eastwest.finding import Finding
from eastwest.plan.advice.case import Advice, Case
from eastwest.plan.predict import Prediction, predict, row_latency_s
from eastwest.units import format_percent, format_ratio, format_time
from eastwest.workload.ledger import JobLedger

WORTH_A_WARNING = 0.05  # growth of the step
COMPARED_RATIO = 2.0  # the seeds' comparison: 2:1 against none
SOURCE = "seed text 000, section 3.2: 2:1 made one iteration of its project nearly 40 % longer"
FORMULA = "(sum max(0, r T - O) - sum max(0, T - O)) / step, over the rows that cross the tier"


@dataclass(frozen=True, slots=True)
class Crossing:
    """One row at 1:1: its seconds, the share of its network bytes that crosses the tier, what can hide it, and its
    latency, which no ratio stretches.
    """

    time_s: float
    share_ratio: float
    overlap_ratio: float
    window_s: float
    latency_s: float = 0.0


def exposed_s(row: Crossing, ratio: float) -> float:
    """Seconds of one row that show at a ratio: T grows to r x share x T where the uplinks become its bottleneck, and
    what the computation beside it covers is taken off.

    >>> exposed_s(Crossing(4.0, 1.0, 1.0, 3.0), 2.0), exposed_s(Crossing(4.0, 1.0, 1.0, 3.0), 1.0)
    (5.0, 1.0)
    """
    time_s = max(row.time_s, ratio * row.share_ratio * (row.time_s - row.latency_s) + row.latency_s)
    return max(time_s * (1 - row.overlap_ratio), time_s - row.window_s)


def growth(rows: list[Crossing], step_s: float, ratio: float) -> float:
    """Growth of a step over the step at 1:1: (sum exposed at r - sum exposed at 1) / step.

    >>> growth([Crossing(0.4, 1.0, 0.0, 0.0)], 1.0, 2.0)
    0.4
    """
    return (sum(exposed_s(row, ratio) for row in rows) - sum(exposed_s(row, 1.0) for row in rows)) / step_s


def advise(case: Case) -> Advice:
    """One decision for each training job; a warning where the built ratio costs more than 5 %."""
    built = max((case.fabric.oversubscription.get(tier, 1.0) for tier in ("leaf", "spine")), default=1.0)
    decisions, findings = [], []
    for job, prediction in case.training:
        if built > 1.0:
            open_fabric = without_oversubscription(case.fabric)
            at_one = predict(case.site, case.server, open_fabric, case.placement, job)
            decision = _of_built(case, job, prediction, at_one, built)
            decisions.append(decision)
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


def crossings(case: Case, job: JobLedger, prediction: Prediction) -> list[Crossing]:
    """The rows of a job that leave the leaf, as predicted at 1:1."""
    placed = {row.traffic: row.tier_bytes for row in case.placement.rows if row.job == job.name}
    times = {row.traffic: row for row in prediction.rows}
    compute_s = prediction.compute_s or 0.0
    found = []
    for row in job.rows:
        share = _share(placed[row.traffic])
        if row.traffic in times and share > 0 and times[row.traffic].bottleneck != "scale_up":
            window = compute_s * row.window_ratio
            latency_s = row_latency_s(row, on_network=True)
            found.append(Crossing(times[row.traffic].time_s, share, row.overlap_ratio, window, latency_s))
    return found


def _share(tier_bytes: Mapping[str, int]) -> float:
    """Share of the bytes on the network that leave the leaf."""
    above = sum(tier_bytes.get(tier, 0) for tier in ("spine", "core", "room"))
    wire = above + tier_bytes.get("leaf", 0)
    return above / wire if wire else 0.0


def _of_built(case: Case, job: JobLedger, now: Prediction, at_one: Prediction, ratio: float) -> Decision:
    step_s, best_s = now.step_time_s or 0.0, at_one.step_time_s or 0.0
    uplinks = int(case.fabric.links_of(LinkKind.LEAF_SPINE).size)
    inputs = {
        "r": ratio,
        "step_s": step_s,
        "step_at_1_1_s": best_s,
        "T_s": sum(row.time_s for row in crossings(case, job, at_one)),
        "exposed_s": now.exposed_communication_s,
        "exposed_at_1_1_s": at_one.exposed_communication_s,
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
    rows = crossings(case, job, prediction)
    at_two = growth(rows, step_s, COMPARED_RATIO)
    uplinks = int(case.fabric.links_of(LinkKind.LEAF_SPINE).size)
    inputs = {
        "r": COMPARED_RATIO,
        "step_s": step_s,
        "T_s": sum(row.time_s for row in rows),
        "exposed_s": sum(exposed_s(row, 1.0) for row in rows),
        "exposed_at_2_1_s": sum(exposed_s(row, COMPARED_RATIO) for row in rows),
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


def _finding(case: Case, job: JobLedger, now: Prediction, at_one: Prediction, ratio: float) -> list[Finding]:
    step_s, best_s = now.step_time_s or 0.0, at_one.step_time_s or 0.0
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
