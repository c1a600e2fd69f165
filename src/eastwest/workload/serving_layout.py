"""How an inference service is split over its GPUs: replicas of tp x pp GPUs, experts over replicas; and the checks
of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from eastwest.finding import Finding
from eastwest.spec.jobs import InferenceWish
from eastwest.workload.ledger import Grid
from eastwest.workload.model import Transformer
from eastwest.workload.parallelism import divisors_text


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
        yield Finding("EW-WORK-004", "error", job.name, each, gpus, "GPUs", args, path="tp")
        return
    if model.heads % job.tp:
        args = {"remainder": model.heads % job.tp, "fitting": divisors_text(model.heads, job.tp)}
        yield Finding("EW-WORK-023", "error", job.name, job.tp, model.heads, "attention heads", args, path="tp")
    if job.pp > model.layers:
        args = {"pp": job.pp, "virtual_stages": 1}
        yield Finding("EW-WORK-021", "error", job.name, job.pp, model.layers, "layers", args, path="pp")
    if job.prefill_replicas >= replicas:
        args, path = {"replicas": replicas}, "prefill_replicas"
        yield Finding("EW-WORK-033", "error", job.name, job.prefill_replicas + 1, replicas, "replicas", args, path=path)
    yield from _check_experts(job, model, replicas)


def _check_experts(job: InferenceWish, model: Transformer, replicas: int) -> Iterator[Finding]:
    if job.ep == 1:
        return
    if model.moe is None:
        yield Finding("EW-WORK-025", "error", job.name, 1, job.ep, "ranks", {"model": model.name}, path="ep")
        return
    if model.moe.experts % job.ep:
        args = {"remainder": model.moe.experts % job.ep, "fitting": divisors_text(model.moe.experts, job.ep)}
        yield Finding("EW-WORK-026", "error", job.name, job.ep, model.moe.experts, "experts", args, path="ep")
    for count in (job.prefill_replicas, replicas - job.prefill_replicas):
        if count > 0 and count % job.ep:
            args = {"dp": count, "cp": 1, "remainder": count % job.ep, "fitting": divisors_text(count, job.ep)}
            yield Finding("EW-WORK-027", "error", job.name, job.ep, count, "ranks", args, path="ep")
            return
