"""The failures of a plan as one answer: rows, spare stock, decisions and findings about single points of failure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from eastwest.decision import Alternative, Decision
from eastwest.fabric.faults import FaultKind
from eastwest.fabric.placement import Placement
from eastwest.fabric.tables import Fabric
from eastwest.finding import Finding, Severity
from eastwest.plan.failure_rates import HPN, SWITCH_RATE, TOR_SHARE_PER_MONTH
from eastwest.plan.failures import REPAIR_S, RESTART_S, Failure, JobCost, cost_failures, stops_per_month
from eastwest.plan.predict import JobModel
from eastwest.plan.spares import Spare, decide_spares, spare_stocks
from eastwest.spec.qos import LoadBalancing
from eastwest.spec.resolve import ServerFacts
from eastwest.spec.site import Site

AT_THE_SERVER = (FaultKind.NIC, FaultKind.SERVER_OPTIC, FaultKind.SERVER_LINK, FaultKind.LEAF)
ABOVE_THE_LEAF = (FaultKind.LEAF_SPINE_LINK, FaultKind.SPINE, FaultKind.SPINE_CORE_LINK, FaultKind.CORE)
PORTS_SHORT = "EW-FAB-001"  # the finding of cables that found no port and were left out
COSTLY_RATIO = 1.10  # a step that one part above the leaves lengthens by a tenth is worth a second look
CONCENTRATED_RATIO = 1.25  # network time under plain ECMP over that under adaptive routing


@dataclass(frozen=True, slots=True)
class FailureReport:
    """Every class of parts with the cost of its loss, the spare stock, and what follows from both."""

    rows: tuple[Failure, ...]
    spares: tuple[Spare, ...]
    decisions: tuple[Decision, ...]
    findings: tuple[Finding, ...]

    def as_json(self) -> list[dict[str, Any]]:
        """The rows in the shape of the command line's contract."""
        return [row.as_json() for row in self.rows]


def report_failures(
    site: Site,
    server: ServerFacts,
    fabric: Fabric,
    placement: Placement,
    models: Sequence[JobModel],
    balancing: LoadBalancing,
) -> FailureReport:
    """The failures of a placed and judged fabric under the plan's load balancing; no rows when cables found no port:
    the loss of one part of a fabric that cannot be built means nothing.
    """
    rows = () if _lacks_cables(fabric) else cost_failures(site, fabric, placement, models, balancing)
    spares = spare_stocks(fabric, server)
    decisions = (*_events(rows), *_stops(rows, models), *decide_spares(spares))
    findings = (*_single_points(rows), *_whole_servers(rows), *_costly(rows), *_spares_short(site, spares))
    return FailureReport(rows, spares, decisions, findings)


def _lacks_cables(fabric: Fabric) -> bool:
    return any(finding.code == PORTS_SHORT and finding.severity == "error" for finding in fabric.findings)


def _events(rows: Sequence[Failure]) -> Iterator[Decision]:
    """Expected failures of each kind of part in a month."""
    for kind in FaultKind:
        mine = [row for row in rows if row.kind == kind and row.rate]
        if not mine or mine[0].rate is None:
            continue
        if mine[0].counted_in:
            yield _optic_events(mine)
            continue
        rate, count = mine[0].rate, mine[0].population
        other = f"{count * TOR_SHARE_PER_MONTH:.3g}"
        why = f"{HPN} counts critical failures of ToRs only: 0.051 % a month"
        yield Decision(
            f"failure.events.{kind}",
            count * rate.per_month,
            "failures a month",
            f"{count} parts of this kind; {rate.formula}",
            "population * per_month",
            {"population": count, "per_month": rate.per_month},
            rate.source,
            (Alternative(other, why),) if rate == SWITCH_RATE else (),
        )


def _optic_events(rows: Sequence[Failure]) -> Decision:
    """Expected failures of the modules at servers or between switches, which are part of those of their links."""
    events, kinds = sum(row.events_per_month or 0.0 for row in rows), dict.fromkeys(str(row.counted_in) for row in rows)
    inputs = {f"{row.subject}: {row.alike} alike": row.rate.per_month for row in rows if row.rate}
    because = f"{rows[0].population} modules; they are part of failure.events.{', failure.events.'.join(kinds)}"
    source, formula = rows[0].rate.source if rows[0].rate else "", "sum over classes of alike * per_month"
    return Decision(f"failure.events.{rows[0].kind}", events, "failures a month", because, formula, inputs, source)


def _stops(rows: Sequence[Failure], models: Sequence[JobModel]) -> Iterator[Decision]:
    """Expected stops of each training job by this network."""
    for job in (model.job for model in models):
        if job.kind != "training" or not rows:
            continue
        stopping = sorted({str(row.kind) for row in rows if _cost(row, job.name).outcome == "stops" and row.rate})
        yield Decision(
            f"failure.stops.{job.name}",
            stops_per_month(rows, job.name),
            "stops a month",
            f"by failed parts of this network ({', '.join(stopping) or 'none'}); GPUs, hosts and software stop a job "
            "about ten times as often",
            "sum over classes of (parts under the job * per_month)",
            {"gpus": job.gpus, "restart_s": RESTART_S, "repair_s": REPAIR_S},
            "failure rates of this plan; share of the network: Llama 3 paper 2024, table 5 (42 of 419 interruptions)",
        )


def _cost(row: Failure, job: str) -> JobCost:
    return next(cost for cost in row.jobs if cost.job == job)


def _single_points(rows: Sequence[Failure]) -> Iterator[Finding]:
    """Switches and cables above the leaves whose single loss stops a job, and jobs that any NIC or leaf stops."""
    for row in rows:
        stopped = [cost.job for cost in row.jobs if cost.outcome == "stops"]
        if not stopped or row.kind in AT_THE_SERVER or row.kind in (FaultKind.PLANE, FaultKind.ROOM_PATH):
            continue
        if any(other.kind == row.counted_in and _stops_any(other) for other in rows):
            continue  # each of its links alone does
        severity: Severity = "warning" if row.kind == FaultKind.ROOM_LINK else "info"
        args = {"kind": str(row.kind).replace("_", " "), "jobs": ", ".join(stopped)}
        yield Finding("EW-FLT-001", severity, row.subject, 0, len(stopped), "jobs", args, path="fabric")
    kinds = [row.kind for row in rows if _stops_any(row)]
    if any(kind in AT_THE_SERVER for kind in kinds):
        yield from _single_homed(rows)


def _stops_any(row: Failure) -> bool:
    return any(cost.outcome == "stops" for cost in row.jobs)


def _single_homed(rows: Sequence[Failure]) -> Iterator[Finding]:
    """Jobs that any one NIC, cable or leaf stops, each with the stops to be expected."""
    for number, cost in enumerate(rows[0].jobs):
        at_server = [row for row in rows if row.kind in AT_THE_SERVER and not row.counted_in]
        mine = [row for row in at_server if row.jobs[number].outcome == "stops"]
        if not mine:
            continue
        stops = stops_per_month(mine, cost.job)
        hours = sum(row.lost_gpu_hours_per_month or 0.0 for row in mine)
        args = {"parts": round(sum(row.jobs[number].parts for row in mine)), "gpu_hours": round(hours)}
        yield Finding("EW-FLT-002", "info", cost.job, 0, round(stops, 2), "stops a month", args, path="fabric.family")


def _whole_servers(rows: Sequence[Failure]) -> Iterator[Finding]:
    """Leaves that carry whole servers: their loss takes all GPUs of those servers, not one NIC of each."""
    leaves = [row for row in rows if row.kind == FaultKind.LEAF and row.loss.servers_cut > 1]
    if leaves:
        worst = max(leaves, key=lambda row: row.loss.servers_cut)
        args = {"gpus": worst.loss.gpus, "leaves": sum(row.alike for row in leaves)}
        cut = worst.loss.servers_cut
        yield Finding("EW-FLT-003", "info", worst.subject, 0, cut, "servers", args, path="fabric.family")


def _costly(rows: Sequence[Failure]) -> Iterator[Finding]:
    """Parts above the leaves whose loss lengthens a step, and lost cables that plain ECMP does not see behind."""
    for row in rows:
        for cost in row.jobs:
            if row.kind not in ABOVE_THE_LEAF or cost.step_time_ratio is None:
                continue
            words = {"kind": str(row.kind).replace("_", " "), "job": cost.job, "alike": row.alike}
            if cost.step_time_ratio >= COSTLY_RATIO:
                percent = round((cost.step_time_ratio - 1) * 100)
                found = words | {"percent": percent}
                ratio = round(cost.step_time_ratio, 3)
                yield Finding("EW-FLT-004", "info", row.subject, 1.0, ratio, "1", found, path="fabric")
            elif cost.network_ratio >= CONCENTRATED_RATIO and row.kind != FaultKind.SPINE:
                found = words | {"left_percent": round(row.loss.remaining_ratio * 100, 1)}
                ratio = round(cost.network_ratio, 2)
                path = "qos.load_balancing"
                yield Finding("EW-FLT-005", "info", row.subject, 1.0, ratio, "1", found, path=path)


def _spares_short(site: Site, spares: Sequence[Spare]) -> Iterator[Finding]:
    """Cables and modules of which the site file's share of spares is fewer than the failures of the lead time ask."""
    ratio = site.cabling.spare_ratio
    for spare in spares:
        wished = ceil(spare.in_use * ratio)
        if ratio and spare.unit in ("link", "module") and wished < spare.stock:
            args = {"in_use": spare.in_use, "failures": round(spare.expected, 2)}
            path = "cabling.spare_ratio"
            yield Finding("EW-FLT-006", "info", spare.part, spare.stock, wished, spare.unit, args, path=path)
