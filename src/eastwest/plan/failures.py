"""What failures cost: for each class of parts that are alike GPUs lost, step time of every job, events a month and lost
GPU-hours.

A training job stops when a GPU loses its last NIC port or a path is gone; it starts again from the last checkpoint and
has lost half an interval on average. Otherwise it goes on, slower, until the repair. Flaps and slow parts are not in
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric.bottleneck import Bottleneck
from eastwest.fabric.fault_loads import (
    After,
    Network,
    RowTimes,
    Spread,
    Traffic,
    after,
    row_times,
    spread_of,
    stress_of,
    traffic_of,
)
from eastwest.fabric.faults import (
    LINK_FAULTS,
    Fault,
    FaultKind,
    Loss,
    Stress,
    direct_pairs,
    faults_of,
    living,
    loss_of,
    switch_classes,
    without,
)
from eastwest.fabric.placement import Placement
from eastwest.fabric.routing import Ints
from eastwest.fabric.tables import Fabric
from eastwest.plan.failure_rates import OPTIC_FAULTS, FailureRate, rate_of
from eastwest.plan.predict import JobModel, bottlenecks, duration_s
from eastwest.spec.qos import LoadBalancing
from eastwest.spec.site import Site
from eastwest.units import HOUR_S
from eastwest.workload.ledger import JobLedger

ASSUMED_CHECKPOINT_S = 0.5 * HOUR_S  # between two checkpoints, when the site file gives none
RESTART_S = 0.25 * HOUR_S  # to find the fault, restart and catch up: Jiang et al. 2024 (MegaScale, NSDI), under 15 min
REPAIR_S = 4.0 * HOUR_S  # with a spare at hand and people on the site; our assumption
FOLLOWS_BANDWIDTH: tuple[LoadBalancing, ...] = ("adaptive", "spray")  # the others split equally, whatever is beyond
TOUCHED_RATIO = 1 + 1e-9  # a step longer than that is longer, not a rounding
Outcome = Literal["untouched", "slower", "stops", "loses replicas"]
Floor = Literal["ecmp_s", "adaptive_s"]  # fields of RowTimes
FLOORS: tuple[Floor, ...] = ("ecmp_s", "adaptive_s")


@dataclass(frozen=True, slots=True)
class JobCost:
    """What one fault does to one job.

    `step_time_s` (time a token for inference) is the predicted one times `step_time_ratio`, which compares the fabric
    before and after under the plan's load balancing and is never below 1; beside it both kinds as floors: while the
    fault lasts, or after a restart on the same servers when the job stops; None when these cannot run it any more.
    `gpus_idle` wait from the fault to the restart; `parts` of the class are such that their loss hits this job.
    """

    job: str
    outcome: Outcome
    gpus_idle: int
    parts: float
    step_time_s: float | None
    ecmp_step_time_s: float | None
    adaptive_step_time_s: float | None
    step_time_ratio: float | None
    network_ratio: float
    lost_gpu_s: float

    def as_json(self) -> dict[str, Any]:
        """The cost in the shape of the command line's contract."""
        return {
            "job": self.job,
            "outcome": self.outcome,
            "gpus_idle": self.gpus_idle,
            "step_time_s": self.step_time_s,
            "ecmp_step_time_s": self.ecmp_step_time_s,
            "adaptive_step_time_s": self.adaptive_step_time_s,
            "step_time_ratio": self.step_time_ratio,
            "network_time_ratio": self.network_ratio,
            "lost_gpu_hours_per_event": self.lost_gpu_s / HOUR_S,
        }


@dataclass(frozen=True, slots=True)
class Failure:
    """One class of parts that are alike: what the loss of one of them takes away and costs, how often it happens.
    Failures of modules are `counted_in` those of their links already, so that sums leave them out.
    """

    kind: FaultKind
    subject: str
    alike: int
    population: int
    loss: Loss
    jobs: tuple[JobCost, ...]
    rate: FailureRate | None
    counted_in: FaultKind | None = None

    @property
    def events_per_month(self) -> float | None:
        """Expected failures of the class; None where nobody publishes a rate."""
        return self.alike * self.rate.per_month if self.rate else None

    @property
    def lost_gpu_hours_per_month(self) -> float | None:
        """Expected GPU-hours of all jobs that the class costs."""
        if self.rate is None:
            return None
        return sum(cost.parts * self.rate.per_month * cost.lost_gpu_s for cost in self.jobs) / HOUR_S

    def as_json(self) -> dict[str, Any]:
        """The row in the shape of the command line's contract."""
        return {
            "kind": str(self.kind),
            "subject": self.subject,
            "alike": self.alike,
            "population": self.population,
            "nics_lost": self.loss.nics,
            "gpus_lost": self.loss.gpus,
            "servers_touched": self.loss.servers_touched,
            "servers_cut_off": self.loss.servers_cut,
            "remaining_ratio": self.loss.remaining_ratio,
            "events_per_month": self.events_per_month,
            "lost_gpu_hours_per_month": self.lost_gpu_hours_per_month,
            "source": self.rate.source if self.rate else "no published rate",
            "counted_in": str(self.counted_in) if self.counted_in else None,
            "jobs": [cost.as_json() for cost in self.jobs],
        }


@dataclass(frozen=True, eq=False)
class _View:
    """One job on the network: its rows with their traffic, where it goes on the sound fabric, and its step model with
    the seconds of a step (or token).
    """

    job: JobLedger
    found: Mapping[str, Bottleneck]
    traffic: Mapping[str, Traffic]
    spreads: Mapping[str, Spread]
    sound: Mapping[str, RowTimes]
    model: JobModel
    duration_s: float
    gpus: Ints
    servers: NDArray[np.bool_]
    checkpoint_s: float


@dataclass(frozen=True, eq=False)
class _Case:
    """What all evaluations of one plan share."""

    site: Site
    fabric: Fabric
    placement: Placement
    balancing: LoadBalancing
    network: Network


def cost_failures(
    site: Site, fabric: Fabric, placement: Placement, models: Sequence[JobModel], balancing: LoadBalancing
) -> tuple[Failure, ...]:
    """Every class of parts of the fabric with what its failure costs, kind by kind from the server upward; `models` are
    the jobs as placed.

    Each job is judged by the member of the class that carries most of its own traffic: the worst case of the class.
    """
    case = _Case(site, fabric, placement, balancing, Network(fabric))
    sound = after(case.network, None)
    views = [_view(case, model, sound) for model in models]
    classes = switch_classes(fabric)
    stresses: list[Stress | None] = [stress_of(case.network, list(view.spreads.values())) for view in views]
    by_job = [faults_of(fabric, stress, classes) for stress in stresses or [None]]
    found = []
    for number, fault in enumerate(by_job[0]):
        states = [(faults[number], after(case.network, faults[number], sound)) for faults in by_job]
        costs = [_cost(case, view, *state) for view, state in zip(views, states, strict=False)]
        loss = loss_of(fabric, fault, case.network.cuts, case.network.table)
        found.append(_failure(fabric, fault, loss, costs))
    return tuple(found)


def _failure(fabric: Fabric, fault: Fault, loss: Loss, costs: list[JobCost]) -> Failure:
    """The row of one fault, with its rate."""
    counted_in = None
    if fault.kind in OPTIC_FAULTS:
        tier = int(fabric.links["kind"][fault.links[0]])
        counted_in = next(kind for kind, of_link in LINK_FAULTS.items() if of_link == tier)
    sizes = (fault.alike, fault.population)
    return Failure(fault.kind, fault.subject, *sizes, loss, tuple(costs), rate_of(fault), counted_in)


def _view(case: _Case, model: JobModel, sound: After) -> _View:
    """One job on the sound fabric; what it writes as checkpoints goes to the storage, not over this network."""
    job, found, network = model.job, model.found, case.network
    gpus = case.placement.gpus[job.name]
    rows = [row for row in job.rows if row.per != "checkpoint"]
    traffic = {row.traffic: traffic_of(network, job.grid, gpus, row) for row in rows}
    spreads = {name: spread_of(network, network.table, moves) for name, moves in traffic.items()}
    times = {name: row_times(network, sound, moves, spreads[name]) for name, moves in traffic.items()}
    if case.fabric.tiers == 0:
        times = {name: RowTimes(own.network_s, own.network_s, False) for name, own in found.items()}
    servers = np.zeros(case.fabric.n_servers, bool)
    for moves in traffic.values():
        servers[moves.src] = servers[moves.dst] = True
    wish = next((wish for wish in case.site.jobs if wish.name == job.name), None)
    checkpoint = getattr(wish, "checkpoint", None)
    every_s = checkpoint.every_s if checkpoint else ASSUMED_CHECKPOINT_S
    own_s = duration_s(model, found)
    return _View(job, found, traffic, spreads, times, model, own_s, gpus, servers, every_s)


def _cost(case: _Case, view: _View, fault: Fault, state: After) -> JobCost:
    """What one fault does to one job."""
    network, times = case.network, _times(case, view, fault, state)
    is_cut = any(time.is_cut for time in times.values())
    floors_s = {name: None if is_cut else _step_s(view, times, name) for name in FLOORS}
    of: Floor = "adaptive_s" if case.balancing in FOLLOWS_BANDWIDTH else "ecmp_s"
    after_s, like_s, sound_s = floors_s[of], _step_s(view, view.sound, of), view.duration_s
    ratio = max(1.0, after_s / like_s) if after_s and like_s else None  # a wider detour is no gain to count on
    dead: NDArray[np.bool_] = np.any(living(network.table) & ~living(state.table), axis=1) & view.servers
    outcome = _outcome(view.job, bool(dead.any()) or is_cut, ratio)
    idle = _idle_gpus(case, view, dead) if outcome in ("stops", "loses replicas") else 0
    slower_share = 1 - 1 / ratio if ratio else 0.0
    lost_gpu_s = idle * _downtime_s(view) if idle else view.job.gpus * REPAIR_S * slower_share
    return JobCost(
        job=view.job.name,
        outcome=outcome,
        gpus_idle=idle,
        parts=0.0 if outcome == "untouched" else _parts_under(case, view, fault),
        step_time_s=sound_s * ratio if sound_s and ratio else None,
        ecmp_step_time_s=floors_s["ecmp_s"],
        adaptive_step_time_s=floors_s["adaptive_s"],
        step_time_ratio=ratio,
        network_ratio=_network_ratio(view.sound, times, of),
        lost_gpu_s=lost_gpu_s,
    )


def _times(case: _Case, view: _View, fault: Fault, state: After) -> dict[str, RowTimes]:
    """Times of the job's rows after a fault; between servers that are cabled directly without a way around."""
    if case.fabric.tiers == 0:
        left = without(case.fabric, fault.links)
        is_cut = len(direct_pairs(left)) < len(direct_pairs(case.fabric))
        found = view.found if is_cut else bottlenecks(left, case.placement, view.job)
        return {name: RowTimes(own.network_s, own.network_s, is_cut) for name, own in found.items()}
    return {
        name: row_times(case.network, state, moves, view.spreads[name])
        if _is_near(view, state, moves)
        else view.sound[name]
        for name, moves in view.traffic.items()
    }


def _is_near(view: _View, state: After, moves: Traffic) -> bool:
    """Whether a fault can change a row at all: it touches servers of the job, or links between switches."""
    return bool(len(moves.src)) and (not state.touched.any() or bool((state.touched & view.servers).any()))


def _step_s(view: _View, times: Mapping[str, RowTimes], of: Floor) -> float:
    """Step time (time a token) when rows take these times on the network."""
    found = {name: replace(own, network_s=getattr(times[name], of)) for name, own in view.found.items()}
    return duration_s(view.model, found)


def _network_ratio(sound: Mapping[str, RowTimes], times: Mapping[str, RowTimes], of: Floor) -> float:
    """The most that any row takes longer on the network; 1 when none does."""
    ratios = [getattr(times[name], of) / getattr(own, of) for name, own in sound.items() if getattr(own, of) > 0]
    return max(1.0, *ratios) if ratios else 1.0


def _outcome(job: JobLedger, is_broken: bool, ratio: float | None) -> Outcome:
    """What becomes of a job that lost a NIC or a path (`is_broken`), or whose step grows by a ratio."""
    if is_broken:
        return "stops" if job.kind == "training" else "loses replicas"
    return "slower" if ratio is not None and ratio > TOUCHED_RATIO else "untouched"


def _idle_gpus(case: _Case, view: _View, dead: NDArray[np.bool_]) -> int:
    """GPUs that wait: all of a training job, the replicas on the servers that lost a NIC of an inference service."""
    job, grid = view.job, view.job.grid
    if job.kind == "training" or not dead.any():
        return job.gpus
    rank = np.flatnonzero(dead[view.gpus // case.fabric.gpus_per_server])
    replicas = np.unique(rank // (grid.tp * grid.cp) % grid.dp)
    return len(replicas) * grid.n_ranks // grid.dp


def _downtime_s(view: _View) -> float:
    """Seconds of work that a stop costs: half a checkpoint interval and the restart; the restart alone for a
    service.
    """
    return RESTART_S + (view.checkpoint_s / 2 if view.job.kind == "training" else 0.0)


def _parts_under(case: _Case, view: _View, fault: Fault) -> float:
    """Parts of the class whose loss hits the job: those at its servers and leaves, all of the others (at most)."""
    table, b = case.network.table, case.fabric.links["b"]
    if fault.kind in (FaultKind.NIC, FaultKind.SERVER_OPTIC, FaultKind.SERVER_LINK):
        return fault.alike * float(view.servers.mean())
    if fault.kind == FaultKind.LEAF:
        mine, every = table[view.servers], table
        return fault.alike * len(np.unique(b[mine[mine >= 0]])) / max(1, len(np.unique(b[every[every >= 0]])))
    return float(fault.alike)


def stops_per_month(failures: Sequence[Failure], job: str) -> float:
    """Expected stops of a job by failed parts of this network; parts without a published rate count nothing, modules
    with their links.
    """
    return sum(
        cost.parts * failure.rate.per_month
        for failure in failures
        for cost in failure.jobs
        if failure.rate and not failure.counted_in and cost.job == job and cost.outcome == "stops"
    )
