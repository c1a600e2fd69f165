"""The GPUs that a job gets: how many, from which server groups, and what the weakest of them holds and computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eastwest.decision import Decision
from eastwest.finding import Finding
from eastwest.spec import catalogue
from eastwest.spec.jobs import InferenceWish, TrainingWish
from eastwest.spec.resolve import ServerFacts
from eastwest.units import BITS_PER_BYTE, format_percent

PRECISION_FALLBACKS = (
    "fp16",
    "bf16",
    "tf32",
    "fp32",
)  # a GPU without a rate for the wished datatype computes in the next one


@dataclass(frozen=True, slots=True)
class Machines:
    """The GPUs of one job: numbers of the weakest kind among them (bytes, dense FLOP/s by datatype, bytes/s one
    way).
    """

    gpu: str
    gpus: int
    memory_bytes: int
    memory_bytes_per_s: float
    peak_flops: float
    scale_up_domain: int
    nic_bytes_per_s: float


def peak_flops(gpu: str, precision: str) -> float:
    """Dense FLOP/s of one GPU in a datatype (mxfp8 counts as fp8), or in the next wider datatype that its data
    sheet has.
    """
    rates = catalogue.get("gpu", gpu).peak_flops
    known = {str(key): float(value) for key, value in rates.items()}
    wanted = {"mxfp8": "fp8"}.get(precision, precision)
    for name in (wanted, *PRECISION_FALLBACKS):
        if name in known:
            return known[name]
    return max(known.values())


def machines_of(groups: Sequence[ServerFacts], first: int, gpus: int, precision: str) -> Machines:
    """The GPUs number `first` … `first + gpus - 1` of the cluster, counted through its server groups."""
    used: list[ServerFacts] = []
    start = 0
    for group in groups:
        end = start + group.count * group.gpus
        if start < first + gpus and first < end:
            used.append(group)
        start = end
    used = used or [groups[0]]
    weakest = min(used, key=lambda group: catalogue.get("gpu", group.gpu).memory_bytes)
    return Machines(
        gpu=weakest.gpu,
        gpus=gpus,
        memory_bytes=catalogue.get("gpu", weakest.gpu).memory_bytes,
        memory_bytes_per_s=float(catalogue.get("gpu", weakest.gpu).memory_bytes_per_s),
        peak_flops=min(peak_flops(group.gpu, precision) for group in used),
        scale_up_domain=min(group.scale_up_domain for group in used),
        nic_bytes_per_s=min(group.nics * group.nic_rate_bps / group.gpus / BITS_PER_BYTE for group in used),
    )


def share_gpus(
    jobs: Sequence[TrainingWish | InferenceWish], total: int
) -> tuple[tuple[int, ...], tuple[Finding, ...], tuple[Decision, ...]]:
    """GPUs of each job: as wished, by share of the cluster, or an equal part of what the others leave.

    Findings: more GPUs asked than there are; nothing left for a job.
    """
    fixed = [job.gpus or (round(job.share * total) if job.share else 0) for job in jobs]
    open_jobs = [index for index, count in enumerate(fixed) if count == 0]
    left = total - sum(fixed)
    findings: list[Finding] = []
    if left < 0:
        asked = ", ".join(f"{job.name} {count}" for job, count in zip(jobs, fixed, strict=True) if count)
        findings.append(
            Finding(
                "EW-WORK-001", "error", "jobs", total, sum(fixed), "GPUs", {"asked": asked, "short": -left}, path="jobs"
            )
        )
    for place, index in enumerate(open_jobs):
        part = max(left, 0) // len(open_jobs) + (1 if place < max(left, 0) % len(open_jobs) else 0)
        fixed[index] = part
        if part == 0 and left >= 0:
            name, path = jobs[index].name, f"jobs[{index}].gpus"
            findings.append(Finding("EW-WORK-002", "error", name, 1, 0, "GPUs", {"total": total}, path=path))
    decisions = tuple(_decision(job, count, total) for job, count in zip(jobs, fixed, strict=True))
    return tuple(fixed), tuple(findings), decisions


def _decision(job: TrainingWish | InferenceWish, count: int, total: int) -> Decision:
    inputs: dict[str, float]
    if job.gpus:
        because, formula, inputs = "the site file says so", "gpus", {"gpus": job.gpus}
    elif job.share:
        because, formula = f"{format_percent(job.share)} of the cluster", "share * cluster_gpus"
        inputs = {"share": job.share, "cluster_gpus": total}
    else:
        because, formula, inputs = (
            "what the other jobs leave",
            "cluster_gpus - gpus of other jobs",
            {"cluster_gpus": total},
        )
    return Decision(f"workload.{job.name}.gpus", count, "GPUs", because, formula, inputs, "site file")
