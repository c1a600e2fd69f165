"""Bytes above the leaf that another place for the same job would have kept below it."""

from __future__ import annotations

import numpy as np

from eastwest.decision import Decision
from eastwest.fabric.demand import tier_bytes_of
from eastwest.fabric.tables import Fabric, Tier
from eastwest.fabric.transfers import Ints
from eastwest.finding import Finding
from eastwest.plan.advice.case import Advice, Case
from eastwest.units import format_percent, format_size
from eastwest.workload.ledger import JobLedger

WORTH_A_FINDING = 0.05  # of the job's bytes on the network
SOURCE = "seed text 000, section 3.2: what can stay in a rack or pod must not cross the spine"


def advise(case: Case) -> Advice:
    """For each job: the share of its network bytes that crosses spines, and what it would be from the start of a
    leaf group.
    """
    decisions, findings = [], []
    for job in case.ledger.jobs:
        gpus = case.placement.gpus[job.name]
        above, wire = _bytes(case, job)
        if not wire:
            continue
        best = _from_group_start(case.fabric, job, gpus, above)
        decisions.append(_decision(job, above, best, wire))
        if above - best > WORTH_A_FINDING * wire:
            args = {
                "lost": format_size(above - best),
                "above": format_size(above),
                "share": format_percent(above / wire),
            }
            path = job.path
            findings.append(Finding("EW-ADV-015", "warning", job.name, best, above, "bytes", args, path=path))
    return Advice(tuple(decisions), tuple(findings))


def _bytes(case: Case, job: JobLedger) -> tuple[int, int]:
    """Bytes above the leaf and on the network, of all rows of the job in their own `per`."""
    rows = [row for row in case.placement.rows if row.job == job.name]
    above = sum(row.tier_bytes.get(tier, 0) for row in rows for tier in ("spine", "core", "room"))
    return above, above + sum(row.tier_bytes.get("leaf", 0) for row in rows)


def _from_group_start(fabric: Fabric, job: JobLedger, gpus: Ints, above: int) -> int:
    """Bytes above the leaf when the job began at the first server of the leaf group in which it begins; never more
    than now.
    """
    per_server = fabric.gpus_per_server
    group = fabric.nodes["group"][: fabric.n_servers]
    first = int(gpus.min()) // per_server
    start = int(np.flatnonzero(group == group[first])[0]) if group[first] >= 0 else first
    if start == first or not above:
        return above
    moved = gpus - (first - start) * per_server
    total = 0.0
    for row in job.rows:
        by_tier, _ = tier_bytes_of(fabric, row, job.grid, moved)
        total += sum(size_bytes for tier, size_bytes in by_tier.items() if tier > Tier.LEAF)
    return min(above, round(total))


def _decision(job: JobLedger, above: int, best: int, wire: int) -> Decision:
    return Decision(
        f"locality.{job.name}",
        above / wire,
        "ratio",
        f"{format_size(above)} of {format_size(wire)} on the network cross spines; {format_size(best)} would from the "
        "start of a leaf group",
        "bytes above the leaf / bytes on the network",
        {"above_leaf_bytes": above, "network_bytes": wire, "best_above_leaf_bytes": best},
        SOURCE,
    )
