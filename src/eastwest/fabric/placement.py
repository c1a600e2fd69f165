"""Where the ranks sit, and what that does to each row of the ledger: bytes by tier, and the load of every link.

TP stays inside the scale-up domain because it is the fastest dimension of the grid; the job then takes that order of
the remaining dimensions that puts the fewest bytes on room links (data parallel rather than pipeline), then on cores
and spines. Jobs are placed one after another, each in one pod while it fits, else in one room.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eastwest.decision import Alternative, Decision
from eastwest.fabric.demand import row_loads, tier_bytes_of
from eastwest.fabric.tables import Fabric, NodeKind, Tier
from eastwest.fabric.transfers import STORAGE, Ints, Where, has_lone_rails, where
from eastwest.finding import Finding, Severity, sort_findings
from eastwest.units import format_rate, format_size
from eastwest.workload.ledger import Grid, JobLedger, Ledger, LedgerRow

ORDERS = ("tp, cp, dp, pp", "tp, cp, pp, dp")  # fastest first; the first is Megatron's own rank order
TIER_NAMES = {tier: tier.name.lower() for tier in Tier}
# Dimensions whose exchange can wait for the backward pass.
DATA_PARALLEL = ("dp", "dp_cp", "shard", "replica", "expert_dp")
# Severity of a group that leaves the scale-up domain, and of one that spans rooms, by dimension.
CROSSING_SEVERITY: Mapping[str, Severity] = {"tp": "error", "cp": "warning", "ep": "info"}
ROOM_SEVERITY: Mapping[str, Severity] = {"tp": "error", "cp": "error", "ep": "error", "pp": "warning"}


@dataclass(frozen=True, slots=True)
class RowPlacement:
    """One ledger row placed: the highest tier that it crosses, and its bytes by tier in one `per`, over all GPUs."""

    job: str
    traffic: str
    tier: str
    tier_bytes: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class Placement:
    """Where every rank sits: `gpus` job -> (n_ranks,) int64 GPU (server x GPUs per server + GPU), `orders` job -> order
    of the grid's dimensions.

    `rows` stand in the order of `ledger.rows`.
    """

    gpus: Mapping[str, Ints]
    orders: Mapping[str, str]
    rows: tuple[RowPlacement, ...]
    decisions: tuple[Decision, ...] = ()
    findings: tuple[Finding, ...] = ()


def place(fabric: Fabric, ledger: Ledger) -> Placement:
    """The placement of all jobs, in the order of the site file, with findings about groups that cross servers, rooms
    or boxes.
    """
    places = where(fabric)
    gpus: dict[str, Ints] = {}
    orders: dict[str, str] = {}
    rows: list[RowPlacement] = []
    decisions: list[Decision] = []
    findings: list[Finding] = []
    spans = _spans(fabric)
    for job in ledger.jobs:
        slots, enough = _take(spans, job, fabric.gpus_per_server)
        if not enough:
            findings.append(Finding("EW-FAB-020", "error", job.name, fabric.n_gpus, job.gpus, "GPUs", path=job.path))
        costs = {order: _rows_of(fabric, job, _order(job.grid, order, slots)) for order in _orders(job.grid)}
        best = min(costs, key=lambda order: _cost(job, costs[order]))
        gpus[job.name], orders[job.name] = _order(job.grid, best, slots), best
        rows += costs[best]
        decisions.append(_decision(job, best, costs))
        findings += _judge(fabric, job, gpus[job.name], costs[best], places)
    return Placement(gpus, orders, tuple(rows), tuple(decisions), sort_findings(findings))


def loads(fabric: Fabric, placement: Placement, ledger: Ledger, per: str = "step") -> NDArray[np.float64]:
    """(n_links, 2) float64 bytes of every link in one `per` (a to b, b to a), each hop splitting equally over its
    next hops.
    """
    total = np.zeros((len(fabric.links), 2))
    for job in ledger.jobs:
        for row in job.rows:
            if row.per != per:
                continue
            found, _ = row_loads(fabric, row, job.grid, placement.gpus[job.name])
            total += 0.0 if found is None else found
    return total


@dataclass(slots=True)
class _Span:
    """Free GPUs of one pod, or of a room without pods: the next free one and the end; servers stand in that order."""

    room: int
    first: int
    end: int

    def free(self, unit: int) -> Ints:
        """GPUs that are free, from the next multiple of `unit` on."""
        return np.arange(min(self.end, -(-self.first // unit) * unit), self.end, dtype=np.int64)


def _spans(fabric: Fabric) -> list[_Span]:
    """The spans of a fabric, rooms in order and pods in order."""
    servers = fabric.nodes[fabric.nodes_of(NodeKind.SERVER)]
    key = servers["room"].astype(np.int64) * (len(servers) + 1) + servers["pod"]
    starts = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
    ends = np.r_[starts[1:], len(servers)]
    per_server = fabric.gpus_per_server
    return [
        _Span(int(servers["room"][start]), int(start) * per_server, int(end) * per_server)
        for start, end in zip(starts, ends, strict=True)
    ]


def _take(spans: list[_Span], job: JobLedger, per_server: int) -> tuple[Ints, bool]:
    """The job's GPUs in order, and whether there were enough: one pod while it fits, else one room, else what is left
    of all rooms in turn.
    """
    n, unit = job.gpus, per_server if job.gpus >= per_server else 1
    for span in spans:
        start = -(-span.first // unit) * unit
        if unit == 1 and start % per_server + n > per_server:
            start = -(-start // per_server) * per_server
        if start + n <= span.end:
            span.first = start + n
            return np.arange(start, start + n, dtype=np.int64), True
    rooms = [[span for span in spans if span.room == room] for room in dict.fromkeys(span.room for span in spans)]
    for group in (*rooms, spans):
        for step in (unit, 1) if group is spans else (unit,):
            free = np.concatenate([span.free(step) for span in group])
            if len(free) >= n:
                return _mark(group, free[:n]), True
    _mark(spans, np.concatenate([span.free(1) for span in spans]))
    return np.arange(n, dtype=np.int64) % max(1, spans[-1].end), False


def _mark(spans: list[_Span], taken: Ints) -> Ints:
    """The GPUs `taken`, which are then no longer free."""
    for span in spans:
        mine = taken[(taken >= span.first) & (taken < span.end)]
        span.first = int(mine[-1]) + 1 if len(mine) else span.first
    return taken


def _orders(grid: Grid) -> tuple[str, ...]:
    return ORDERS if grid.pp > 1 and grid.dp > 1 else ORDERS[:1]


def _order(grid: Grid, order: str, slots: Ints) -> Ints:
    """(n_ranks,) GPU of each rank when the job's GPUs are filled in that order of the dimensions."""
    ranks = np.arange(grid.n_ranks, dtype=np.int64)
    if order == ORDERS[0]:
        as_they_are: Ints = slots[ranks % len(slots)]
        return as_they_are
    inner = grid.tp * grid.cp
    pipeline, replica = ranks // (inner * grid.dp), ranks // inner % grid.dp
    ordered: Ints = slots[(ranks % inner + inner * (pipeline + grid.pp * replica)) % len(slots)]
    return ordered


def _rows_of(fabric: Fabric, job: JobLedger, gpus: Ints) -> list[RowPlacement]:
    return [_place_row(fabric, job, row, gpus) for row in job.rows]


def _place_row(fabric: Fabric, job: JobLedger, row: LedgerRow, gpus: Ints) -> RowPlacement:
    """Bytes by tier of one row, and the highest tier."""
    if row.collective == "write":
        return RowPlacement(job.name, row.traffic, STORAGE, {STORAGE: row.bytes_per_gpu * row.group_size})
    sums, highest = tier_bytes_of(fabric, row, job.grid, gpus)
    by_tier = {TIER_NAMES[tier]: round(size) for tier, size in sums.items()}
    return RowPlacement(job.name, row.traffic, TIER_NAMES[highest], by_tier)


def _cost(job: JobLedger, rows: list[RowPlacement]) -> tuple[int, int, int, int]:
    """Bytes that a placement should keep low, in this order: on room links by others than data parallel, on room links
    in all, on cores, on spines. Data parallel comes last between rooms because its exchange can hide behind
    computation.
    """
    waits = [placed for placed, row in zip(rows, job.rows, strict=True) if row.dimension not in DATA_PARALLEL]
    room, core, spine = (sum(row.tier_bytes.get(tier, 0) for row in rows) for tier in ("room", "core", "spine"))
    return sum(row.tier_bytes.get("room", 0) for row in waits), room, core, spine


def _decision(job: JobLedger, best: str, costs: Mapping[str, list[RowPlacement]]) -> Decision:
    """Why the job's ranks are ordered so."""
    words = {}
    for order, rows in costs.items():
        waits, room, core, spine = map(format_size, _cost(job, rows))
        words[order] = f"{room} over room links ({waits} not data parallel), {core} over cores, {spine} over spines"
    others = tuple(Alternative(order, text) for order, text in words.items() if order != best)
    grid = {"tp": job.grid.tp, "cp": job.grid.cp, "dp": job.grid.dp, "pp": job.grid.pp}
    return Decision(
        f"placement.{job.name}.order",
        best,
        "dimensions, fastest first",
        f"TP inside the scale-up domain, between rooms data parallel if anything, few bytes high up: {words[best]}",
        "order with the least (room bytes of other than data parallel, room bytes, core bytes, spine bytes)",
        grid,
        alternatives=others,
    )


def _judge(fabric: Fabric, job: JobLedger, gpus: Ints, rows: list[RowPlacement], places: Where) -> list[Finding]:
    """Findings about groups that leave the scale-up domain or span rooms, and about boxes in the path."""
    found = []
    for dimension in ROOM_SEVERITY:
        size = getattr(job.grid, dimension)
        if size == 1:
            continue
        members = gpus[job.grid.groups(dimension)]
        rooms, domains = places.room[members // places.per_server], places.domain_of[members // places.per_server]
        across_rooms = int(np.count_nonzero((rooms != rooms[:, :1]).any(axis=1)))
        across = int(np.count_nonzero((domains != domains[:, :1]).any(axis=1)))
        args = {"dimension": dimension.upper(), "size": size, "groups": len(members), "domain": places.domain}
        path = f"{job.path}.parallel.{dimension}" if job.kind == "training" else f"{job.path}.{dimension}"
        if across_rooms:
            severity = ROOM_SEVERITY[dimension]
            found.append(Finding("EW-FAB-014", severity, job.name, 0, across_rooms, "groups", args, path=path))
        elif across and dimension in CROSSING_SEVERITY:
            severity = CROSSING_SEVERITY[dimension]
            found.append(Finding("EW-FAB-013", severity, job.name, 0, across, "groups", args, path=path))
    if has_lone_rails(fabric):
        found += _judge_rails(fabric, job, gpus, places)
    if any(row.tier == "room" for row in rows):
        found += _judge_boxes(fabric, job, np.unique(places.room[gpus // places.per_server]))
    return found


def _judge_rails(fabric: Fabric, job: JobLedger, gpus: Ints, places: Where) -> list[Finding]:
    """Groups that cannot talk where rails do not meet: each server (or scale-up domain) of a group must hold members on
    the same rails, so that what crosses servers keeps its rail.
    """
    found = []
    for dimension in dict.fromkeys(row.dimension for row in job.rows if row.collective != "write"):
        members = gpus[job.grid.groups(dimension)]
        if members.size == 0:
            continue
        domain, plane = places.domain_of[members // places.per_server], places.nic_of(members) % fabric.planes
        n_domains, n_planes = _distinct(domain), _distinct(plane)
        n_pairs = _distinct(domain * fabric.planes + plane)
        lost = int(np.count_nonzero((n_domains > 1) & (n_pairs < n_domains * n_planes)))
        if lost:
            args = {"dimension": dimension.upper(), "size": members.shape[1], "groups": len(members)}
            found.append(Finding("EW-FAB-031", "error", job.name, 0, lost, "groups", args, path="fabric.family"))
    return found


def _distinct(values: Ints) -> Ints:
    """(n,) int64 distinct values of each row of (n, m)."""
    ordered = np.sort(values, axis=1)
    found: Ints = 1 + np.count_nonzero(ordered[:, 1:] != ordered[:, :-1], axis=1)
    return found


def _judge_boxes(fabric: Fabric, job: JobLedger, rooms: NDArray[np.int64]) -> list[Finding]:
    """Findings about stateful or rate-limited boxes between the rooms of a job."""
    found = []
    severity: Severity = "error" if job.kind == "training" else "warning"
    for link in fabric.room_links:
        if not set(link.rooms) <= set(rooms.tolist()):
            continue
        name = " - ".join(fabric.rooms[room] for room in link.rooms)
        for number, box in enumerate(link.boxes):
            args: dict[str, object] = {"job": job.name, "link": name, "kind": box.kind}
            path, full = f"{link.path}.boxes[{number}]", link.cable_rate_bps
            if box.is_stateful:
                found.append(
                    Finding("EW-FAB-011", severity, box.name, "stateless", "stateful", "", args, path=f"{path}.kind")
                )
            limit = box.rate_limit_bps
            if limit is not None and limit < full:
                rates = args | {"limit": format_rate(limit), "full": format_rate(full)}
                where = f"{path}.rate_limit"
                found.append(Finding("EW-FAB-012", severity, box.name, full, limit, "bit/s", rates, path=where))
    return found
