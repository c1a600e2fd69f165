"""Contradictions between the jobs of a site and its GPUs, and inside one job: layouts, batches, model dimensions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from eastwest.spec.document import Flaw, Path
from eastwest.spec.jobs import InferenceWish, ModelWish, ParallelWish, TrainingWish
from eastwest.spec.site import Site

DIMENSIONS = ("layers", "hidden", "heads")  # with these three the rest can be assumed
_ROUNDING = 1e-9  # shares such as 0.1 + 0.2 + 0.7 are one

JobCheck = Callable[[Site, int], Iterator[Flaw]]


def _names(site: Site, gpus: int) -> Iterator[Flaw]:
    first: dict[str, int] = {}
    for index, job in enumerate(site.jobs):
        if job.name in first:
            words = {"found": job.name, "first": f"jobs[{first[job.name]}].name"}
            yield Flaw("EW-SITE-071", None, ("jobs", index, "name"), words)
        first.setdefault(job.name, index)


def _shares(site: Site, gpus: int) -> Iterator[Flaw]:
    """How the jobs divide the GPUs: given twice, more than all, or left open by several."""
    for index, job in enumerate(site.jobs):
        if job.gpus is not None and job.share is not None:
            yield Flaw("EW-SITE-076", None, ("jobs", index, "share"), {"found": job.share, "gpus": job.gpus})
    shares = [job.share for job in site.jobs if job.share is not None]
    if sum(shares) > 1 + _ROUNDING:
        yield Flaw("EW-SITE-077", None, ("jobs",), {"found": f"{sum(shares):g}", "expected": 1})
    for index, job in enumerate(site.jobs):
        if job.share is not None and gpus_of_job(site, index, gpus) == 0:
            words = {"found": job.share, "gpus": gpus, "least": f"{1 / gpus:.2g}"}
            yield Flaw("EW-SITE-110", None, ("jobs", index, "share"), words)
    open_ended = [index for index, job in enumerate(site.jobs) if job.gpus is None and job.share is None]
    for index in open_ended[1:]:
        words = {"found": site.jobs[index].name, "other": site.jobs[open_ended[0]].name}
        yield Flaw("EW-SITE-102", None, ("jobs", index), words)
    if len(open_ended) == 1 and len(site.jobs) > 1 and gpus_of_job(site, open_ended[0], gpus) is None:
        words = {"found": site.jobs[open_ended[0]].name, "gpus": str(gpus)}
        yield Flaw("EW-SITE-103", None, ("jobs", open_ended[0]), words)


def gpus_of_job(site: Site, index: int, gpus: int) -> int | None:
    """GPUs of one job of a cluster of `gpus`: as given, by share, or what the others leave; None when nothing."""
    job = site.jobs[index]
    if job.gpus is not None:
        return job.gpus
    if job.share is not None:
        return round(job.share * gpus)
    others = sum(other.gpus or round((other.share or 0) * gpus) for other in site.jobs if other is not job)
    return gpus - others if gpus > others else None


def _layouts(site: Site, gpus: int) -> Iterator[Flaw]:
    for index, job in enumerate(site.jobs):
        mine = gpus_of_job(site, index, gpus)
        path: Path = ("jobs", index)
        if not mine:
            continue
        if isinstance(job, TrainingWish):
            yield from _training_layout(job, mine, path)
        else:
            yield from _inference_layout(job, mine, path)


def _training_layout(job: TrainingWish, gpus: int, path: Path) -> Iterator[Flaw]:
    """TP x PP x DP x CP against the GPUs, then what hangs on DP: expert parallel, shards, batches."""
    split = job.parallel
    replica = split.tp * split.pp * split.cp
    layout = f"tp {split.tp} x pp {split.pp} x cp {split.cp}"
    at: Path = (*path, "parallel")
    if split.dp is None and gpus % replica:
        words = {"layout": layout, "found": replica, "gpus": gpus, "rest": gpus % replica}
        yield Flaw("EW-SITE-084", None, at, words)
        return
    dp = split.dp or gpus // replica
    if dp * replica != gpus:
        words = {"layout": f"tp {split.tp} x pp {split.pp} x dp {dp} x cp {split.cp}", "gpus": gpus, "expected": gpus}
        yield Flaw("EW-SITE-083", None, at, words | {"found": dp * replica})
        return
    yield from _on_data_parallel(job, dp, at)
    if job.global_batch % (job.micro_batch * dp):
        words = {"found": job.global_batch, "micro_batch": job.micro_batch, "dp": dp}
        step = job.micro_batch * dp
        near = max(step, round(job.global_batch / step) * step)
        yield Flaw("EW-SITE-092", None, (*path, "global_batch"), words | {"step": step, "near": near, "expected": near})


def _on_data_parallel(job: TrainingWish, dp: int, at: Path) -> Iterator[Flaw]:
    split = job.parallel
    ranks = dp * split.cp
    if ranks % split.ep:
        words = {"found": split.ep, "dp": dp, "cp": split.cp, "ranks": ranks}
        yield Flaw("EW-SITE-085", None, (*at, "ep"), words)
    if split.shard is not None and ranks % split.shard:
        yield Flaw("EW-SITE-104", None, (*at, "shard"), {"found": split.shard, "ranks": ranks})


def _inference_layout(job: InferenceWish, gpus: int, path: Path) -> Iterator[Flaw]:
    """Whole replicas, and at least one of them left to decode."""
    replica = job.tp * job.pp
    if gpus % replica:
        words = {"found": replica, "gpus": gpus, "rest": gpus % replica, "layout": f"tp {job.tp} x pp {job.pp}"}
        yield Flaw("EW-SITE-084", None, (*path, "tp"), words)
    elif job.prefill_replicas >= gpus // replica:
        words = {"found": job.prefill_replicas, "replicas": gpus // replica}
        yield Flaw("EW-SITE-101", None, (*path, "prefill_replicas"), words)


def _pipelines(site: Site, gpus: int) -> Iterator[Flaw]:
    """Pipeline chunks that the schedule does not have, or more stages than layers."""
    for index, job in enumerate(site.jobs):
        split = job.parallel if isinstance(job, TrainingWish) else ParallelWish(tp=job.tp, pp=job.pp, ep=job.ep)
        at: Path = ("jobs", index, "parallel") if isinstance(job, TrainingWish) else ("jobs", index)
        if split.virtual_stages > 1 and split.schedule != "interleaved":
            words = {"found": split.virtual_stages, "schedule": split.schedule}
            yield Flaw("EW-SITE-099", None, (*at, "virtual_stages"), words)
        stages = split.pp * split.virtual_stages
        if job.model.layers is not None and stages > job.model.layers:
            yield Flaw("EW-SITE-098", None, (*at, "pp"), {"found": stages, "layers": job.model.layers})
        if job.model.heads is not None and job.model.heads % split.tp:
            yield Flaw("EW-SITE-097", None, (*at, "tp"), {"found": split.tp, "heads": job.model.heads})
        if job.model.moe is not None and job.model.moe.experts % split.ep:
            yield Flaw("EW-SITE-105", None, (*at, "ep"), {"found": split.ep, "experts": job.model.moe.experts})


def _models(site: Site, gpus: int) -> Iterator[Flaw]:
    for index, job in enumerate(site.jobs):
        yield from _model(job.model, ("jobs", index, "model"))


def _model(model: ModelWish, path: Path) -> Iterator[Flaw]:
    """A model that says nothing, or half of its dimensions, or names two sources, or cannot be built."""
    given = [name for name in DIMENSIONS if getattr(model, name) is not None]
    missing = [name for name in DIMENSIONS if name not in given]
    has_source = bool(model.preset or model.config)
    if model.preset and model.config:
        yield Flaw("EW-SITE-095", None, path, {"found": model.preset, "config": model.config})
    if not has_source and not given and model.params is None:
        yield Flaw("EW-SITE-093", None, path)
    elif not has_source and given and missing:
        words = {"found": ", ".join(given), "missing": ", ".join(missing)}
        yield Flaw("EW-SITE-094", None, path, words)
    if model.hidden and model.heads and model.head_dim is None and model.hidden % model.heads:
        yield Flaw("EW-SITE-096", None, (*path, "heads"), {"found": model.heads, "hidden": model.hidden})
    if model.moe is not None and model.moe.top_k > model.moe.experts:
        too_many = {"found": model.moe.top_k, "experts": model.moe.experts}
        yield Flaw("EW-SITE-106", None, (*path, "moe", "top_k"), too_many)


JOB_CHECKS: tuple[JobCheck, ...] = (_names, _shares, _layouts, _pipelines, _models)
