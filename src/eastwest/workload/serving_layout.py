"""How an inference service is split over its GPUs: replicas of tp x pp GPUs, experts over replicas; and the checks
of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from eastwest.finding import Finding
from eastwest.spec.jobs import InferenceWish
from eastwest.workload.ledger import Grid
from eastwest.workload.model import Transformer


def grid_of(job: InferenceWish, model: Transformer, gpus: int) -> tuple[Grid | None, tuple[Finding, ...]]:
    """The grid of a service (dp = replicas, prefill replicas first), or None, and every mistake of it at once."""
    findings = tuple(_check(job, model, gpus))
    if findings:
        return None, findings
    return Grid(tp=job.tp, pp=job.pp, dp=gpus // (job.tp * job.pp), ep=job.ep, prefill=job.prefill_replicas), ()


def _check(job: InferenceWish, model: Transformer, gpus: int) -> Iterator[Finding]:
    each = job.tp * job.pp
    replicas = gpus // each
    if gpus % each or not replicas:
        args = {"layout": f"tp {job.tp} x pp {job.pp}", "remainder": gpus % each, "near": replicas * each or each}
        yield Finding("EW-WORK-004", "error", job.name, each, gpus, "GPUs", args)
        return
    if model.heads % job.tp:
        fitting = ", ".join(str(n) for n in range(1, 2 * job.tp + 1) if model.heads % n == 0)
        args = {"remainder": model.heads % job.tp, "fitting": fitting}
        yield Finding("EW-WORK-023", "error", job.name, job.tp, model.heads, "attention heads", args)
    if job.pp > model.layers:
        yield Finding(
            "EW-WORK-021", "error", job.name, job.pp, model.layers, "layers", {"pp": job.pp, "virtual_stages": 1}
        )
    if job.prefill_replicas >= replicas:
        args = {"replicas": replicas}
        yield Finding("EW-WORK-033", "error", job.name, job.prefill_replicas + 1, replicas, "replicas", args)
    yield from _check_experts(job, model, replicas)


def _check_experts(job: InferenceWish, model: Transformer, replicas: int) -> Iterator[Finding]:
    if job.ep == 1:
        return
    if model.moe is None:
        yield Finding("EW-WORK-025", "error", job.name, 1, job.ep, "ranks", {"model": model.name})
        return
    if model.moe.experts % job.ep:
        fitting = ", ".join(str(n) for n in range(1, 2 * job.ep + 1) if model.moe.experts % n == 0)
        args = {"remainder": model.moe.experts % job.ep, "fitting": fitting}
        yield Finding("EW-WORK-026", "error", job.name, job.ep, model.moe.experts, "experts", args)
    for count in (job.prefill_replicas, replicas - job.prefill_replicas):
        if count > 0 and count % job.ep:
            fitting = ", ".join(str(n) for n in range(1, 2 * job.ep + 1) if count % n == 0)
            args = {"dp": count, "cp": 1, "remainder": count % job.ep, "fitting": fitting}
            yield Finding("EW-WORK-027", "error", job.name, job.ep, count, "ranks", args)
            return
