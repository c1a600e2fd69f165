"""The step of a site's training job as `StepWork`: where its ranks sit, what its ledger says they send, and what the
step model says they compute.

Collectives of tensor, context and expert parallelism that stay inside the scale-up domain are part of the passes, as
the step model has them; those that leave it become transfers. The output head and the embedding count on the last
chunk. A measured compute of the site file replaces the model's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eastwest.errors import InputError
from eastwest.fabric.placement import place
from eastwest.fabric.slots import nic_slot_payload_bps
from eastwest.fabric.tables import Fabric
from eastwest.simulate.analytic.run_of_job import run_of_job, table_of_run, wish_of
from eastwest.simulate.analytic.step import step_times
from eastwest.simulate.analytic.step_constants_file import shipped_constants
from eastwest.simulate.network import Ints, Network
from eastwest.simulate.step_work import Buckets, Exchange, StepWork
from eastwest.spec.jobs import TrainingWish
from eastwest.spec.resolve import resolve_server
from eastwest.spec.site import Site
from eastwest.units import PS_PER_S
from eastwest.workload.account import account
from eastwest.workload.ledger import JobLedger, Ledger, LedgerRow
from eastwest.workload.parallelism import chunk_sizes

INNER = {"tp": "tensor parallel", "cp": "context parallel", "ep": "expert exchange"}  # dimension -> term of the model
HEAD = "output head"
AT_END = ("optimizer", "step overhead")
SIMULATED = ("pipeline transfers", "idle stages", "pipeline bubble", "data parallel")  # the engine finds these
DATA_PARALLEL = ("dp_cp", "expert_dp")
MOST_ZERO = 1  # stages 2 and 3 exchange in every micro-batch
# Of a pass and its way back: a backward pass has two products for each product of the forward pass.
FORWARD_PASSES, BACKWARD_PASSES = 1.0, 2.0


@dataclass(frozen=True, eq=False)
class SiteJobs:
    """A site's jobs on its fabric: the ledger, and the hosts of every rank of every job."""

    site: Site
    ledger: Ledger
    gpus: Mapping[str, Ints]

    @property
    def training(self) -> tuple[str, ...]:
        """Names of the training jobs."""
        return tuple(job.name for job in self.ledger.jobs if job.kind == "training")

    def job(self, name: str) -> JobLedger:
        """The job of that name. Raises KeyError when there is none."""
        return {job.name: job for job in self.ledger.jobs}[name]


def site_jobs(site: Site, fabric: Fabric, folder: Path) -> SiteJobs:
    """The jobs of a site, placed; `folder` is where relative names of model files start. Raises InputError with the
    mistakes of jobs that cannot be laid out or do not fit.
    """
    ledger, findings, _ = account(site, folder=folder)
    placed = place(fabric, ledger)
    errors = [one for one in findings if one.severity == "error"]
    errors += [one for one in placed.findings if one.code == "EW-FAB-020"]
    if errors:
        raise InputError(errors)
    return SiteJobs(site, ledger, placed.gpus)


def step_work(jobs: SiteJobs, name: str, network: Network) -> StepWork:
    """One step of a training job with zero 0 or 1. Raises UsageError for a GPU that the step model does not know."""
    job, hosts = jobs.job(name), jobs.gpus[name]
    facts, grid = job.facts, job.grid
    domain = network.domain[hosts]
    outside = [row for row in job.rows if row.dimension in INNER and _leaves(domain[grid.groups(row.dimension)])]
    seconds = _seconds(jobs, job, {row.dimension for row in outside})
    forward, backward = _passes(seconds, facts, grid.pp)
    n_passes = int(facts["n_micro_batches"]) * int(facts["virtual_stages"])
    sends = [row.bytes_per_gpu for row in job.rows if row.traffic == "pp_forward"]
    return StepWork(
        job=name,
        grid=grid,
        hosts=hosts,
        schedule=str(facts["schedule"]),
        virtual_stages=int(facts["virtual_stages"]),
        n_micro_batches=int(facts["n_micro_batches"]),
        forward_ps=forward,
        backward_ps=backward,
        stage_bytes=sends[0] // n_passes if sends else 0,
        exchanges=tuple(_exchange(job, row, n_passes) for row in outside),
        buckets=tuple(_buckets(job)),
        end_ps=round(seconds.end_s * PS_PER_S),
    )


@dataclass(frozen=True, slots=True)
class _Seconds:
    """Seconds of one layer and of the head for one micro-batch, both passes, and of the end of a step."""

    layer_s: float
    head_s: float
    end_s: float


def _leaves(domain: Ints) -> bool:
    """Whether a group of (n_groups, group_size) domains has members in more than one."""
    return bool((domain != domain[:, :1]).any())


def _seconds(jobs: SiteJobs, job: JobLedger, outside: set[str]) -> _Seconds:
    """What the step model says, without what is simulated; a measured compute replaces all but communication."""
    site, server = jobs.site, resolve_server(jobs.site.servers[0])
    slot_bps = nic_slot_payload_bps(server)
    nic_bps = min(float(server.nic_rate_bps), slot_bps) if slot_bps else float(server.nic_rate_bps)
    wish = wish_of(site, job)
    bucket = wish.bucket_bytes if isinstance(wish, TrainingWish) else None
    table = table_of_run(run_of_job(site, server, nic_bps, job), float(bucket) if bucket else None)
    terms = {name: float(values[0]) for name, values in step_times(table, shipped_constants()).terms.items()}
    slower = 1 + terms["straggling"] / (sum(terms.values()) - terms["straggling"])
    left_out = {*SIMULATED, *AT_END, HEAD, "straggling", *INNER.values()}
    layers = sum(seconds for name, seconds in terms.items() if name not in left_out)
    inner = sum(terms.get(term, 0.0) for dimension, term in INNER.items() if dimension not in outside)
    end = sum(terms[name] for name in AT_END)
    head, measured = terms[HEAD], job.facts.get("compute_s")
    if measured:
        slower, end = float(measured) / (layers + head), 0.0
    rounds = int(job.facts["n_micro_batches"])
    layer_s = (layers * slower + inner) * job.grid.pp / (rounds * int(job.facts["layers"]))
    return _Seconds(layer_s, head * slower * job.grid.pp / rounds, end * slower)


def _passes(seconds: _Seconds, facts: Mapping[str, object], pp: int) -> tuple[Ints, Ints]:
    """(pp, virtual_stages) picoseconds of a forward and of a backward pass of one micro-batch through each chunk."""
    virtual = int(str(facts["virtual_stages"]))
    sizes = np.array(chunk_sizes(int(str(facts["layers"])), pp * virtual)).reshape(virtual, pp).T
    both = sizes * seconds.layer_s
    both[-1, -1] += seconds.head_s
    again = 1.0 if facts["recompute"] == "full" else 0.0
    share = FORWARD_PASSES / (FORWARD_PASSES + BACKWARD_PASSES + again)
    forward = np.round(both * share * PS_PER_S).astype(np.int64)
    return forward, np.round(both * PS_PER_S).astype(np.int64) - forward


def _exchange(job: JobLedger, row: LedgerRow, n_passes: int) -> Exchange:
    """A row of tp, cp or ep as what follows every pass."""
    again = 1.0 if job.facts["recompute"] == "full" else 0.0
    back = BACKWARD_PASSES if row.dimension == "cp" else FORWARD_PASSES
    share = FORWARD_PASSES / (FORWARD_PASSES + back + again)
    if row.traffic.endswith("_regather"):
        share = 0.0  # inputs are gathered again in the backward pass only
    is_ring = row.collective != "all_to_all"
    steps = row.messages / n_passes / (1 if is_ring else row.group_size - 1)
    size = row.bytes_per_gpu // n_passes
    forward, forward_steps = round(size * share), round(steps * share)
    return Exchange(
        row.dimension,
        job.grid.groups(row.dimension),
        is_ring,
        forward,
        size - forward,
        forward_steps,
        round(steps) - forward_steps,
    )


def _buckets(job: JobLedger) -> Iterator[Buckets]:
    """The exchanges of gradients and weights; the ledger has the heaviest stage, the others have their share of it."""
    params = [int(count) for count in job.facts["params_per_gpu_by_stage"]]
    for row in job.rows:
        if row.dimension not in DATA_PARALLEL or row.per != "step":
            continue
        n_buckets, n_steps = int(row.inputs["n_buckets"]), row.group_size - 1
        yield Buckets(
            job.grid.groups(row.dimension),
            2 * n_steps if row.collective == "all_reduce" else n_steps,
            n_buckets,
            tuple(row.bytes_per_gpu * count // (max(params) * n_buckets) for count in params),
            row.traffic.endswith("_weights"),
            row.overlap_ratio > 0,
        )
