"""How a training job is split over its GPUs: the layout with every degree known, its checks, and which layers each
pipeline stage holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

from eastwest.finding import Finding
from eastwest.spec.jobs import ParallelWish, TrainingWish
from eastwest.workload.ledger import Grid
from eastwest.workload.model import LayerParams, Transformer, embedding_params, head_params, layer_params

BYTES_OF = {"fp32": 4.0, "tf32": 4.0, "bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "mxfp8": 1.0, "nvfp4": 0.5625}
MASTER_PRECISION = "bf16"  # training in fp8 or fp4 keeps its weights and most activations in bf16
ELEMENT_BYTES = {
    "fp32": 4,
    "tf32": 4,
}  # bytes of a weight or an activation in training; 2 for all 16-bit and narrower recipes


@dataclass(frozen=True, slots=True)
class Layout:
    """A training job's split: the grid and what else decides who sends what (counts; `shard` 0 = no ZeRO-3
    sharding).
    """

    grid: Grid
    sp: bool
    zero: int
    schedule: str
    virtual_stages: int
    micro_batch: int
    n_micro_batches: int
    sequence: int
    element_bytes: int
    gradient_bytes: int

    @property
    def n_copies(self) -> int:
        """Ranks that hold the same weights: dp x cp."""
        return self.grid.dp * self.grid.cp

    @property
    def n_expert_copies(self) -> int:
        """Ranks that hold the same experts: dp x cp / ep."""
        return self.n_copies // self.grid.ep

    @property
    def tokens_per_rank(self) -> int:
        """Tokens of one micro-batch that one context-parallel rank works on: micro_batch * sequence / cp."""
        return self.micro_batch * self.sequence // self.grid.cp

    @property
    def bubble_ratio(self) -> float:
        """Idle time of the pipeline / busy time: (pp - 1) / (virtual_stages * n_micro_batches). Source: Narayanan
        et al. 2021, 2.2.
        """
        return (self.grid.pp - 1) / (self.virtual_stages * self.n_micro_batches)


@dataclass(frozen=True, slots=True)
class Stage:
    """What one GPU of one pipeline stage holds (parameters): split over tp and, for experts, over ep; `layers` are
    numbers from 0.
    """

    index: int
    layers: tuple[int, ...]
    dense_params: int
    expert_params: int
    layer_params_max: int
    holds_embedding: bool
    holds_head: bool

    @property
    def params(self) -> int:
        """Parameters that one GPU of the stage holds."""
        return self.dense_params + self.expert_params


def layout_of(job: TrainingWish, model: Transformer, gpus: int) -> tuple[Layout | None, tuple[Finding, ...]]:
    """The layout with dp worked out, or None, and every mistake of it at once."""
    wish = job.parallel
    findings = [*_check_product(job, gpus), *_check_schedule(job, model), *_check_tensor(job, model)]
    dp = wish.dp or gpus // (wish.tp * wish.pp * wish.cp)
    if not any(finding.severity == "error" for finding in findings):
        findings += [*_check_experts(job, model, dp), *_check_batch(job, dp), *_check_shards(wish, job.name, dp)]
    if any(finding.severity == "error" for finding in findings):
        return None, tuple(findings)
    shard = wish.shard or (dp * wish.cp if wish.zero == 3 else 1)
    grid = Grid(tp=wish.tp, cp=wish.cp, dp=dp, pp=wish.pp, ep=wish.ep, shard=shard if wish.zero == 3 else 1)
    layout = Layout(
        grid=grid,
        sp=wish.tp > 1 if wish.sp is None else wish.sp and wish.tp > 1,
        zero=wish.zero,
        schedule=wish.schedule,
        virtual_stages=wish.virtual_stages,
        micro_batch=job.micro_batch,
        n_micro_batches=job.global_batch // (dp * job.micro_batch),
        sequence=job.sequence,
        element_bytes=ELEMENT_BYTES.get(job.precision, 2),
        gradient_bytes=int(BYTES_OF[job.gradient_precision]),
    )
    return layout, tuple(findings)


_KEY_OF = {  # the key of a training job that a finding is about, inside the job
    "EW-WORK-003": "parallel",
    "EW-WORK-004": "parallel",
    "EW-WORK-020": "parallel.virtual_stages",
    "EW-WORK-021": "parallel.pp",
    "EW-WORK-022": "parallel.pp",
    "EW-WORK-023": "parallel.tp",
    "EW-WORK-024": "sequence",
    "EW-WORK-025": "parallel.ep",
    "EW-WORK-026": "parallel.ep",
    "EW-WORK-027": "parallel.ep",
    "EW-WORK-028": "global_batch",
    "EW-WORK-029": "global_batch",
    "EW-WORK-030": "global_batch",
    "EW-WORK-031": "parallel.shard",
    "EW-WORK-032": "parallel.shard",
}


def _error(code: str, job: str, expected: Any, observed: Any, unit: str, **args: Any) -> Finding:
    return Finding(code, "error", job, expected, observed, unit, args, path=_KEY_OF[code])


def _warning(code: str, job: str, expected: Any, observed: Any, unit: str, **args: Any) -> Finding:
    return Finding(code, "warning", job, expected, observed, unit, args, path=_KEY_OF[code])


def _check_product(job: TrainingWish, gpus: int) -> Iterator[Finding]:
    wish = job.parallel
    degrees = {"tp": wish.tp, "pp": wish.pp, "cp": wish.cp}
    fixed = prod(degrees.values())
    words = " x ".join(f"{name} {value}" for name, value in degrees.items())
    if wish.dp is None:
        if gpus % fixed or gpus < fixed:
            near = gpus // fixed * fixed or fixed
            yield _error("EW-WORK-004", job.name, fixed, gpus, "GPUs", layout=words, remainder=gpus % fixed, near=near)
    elif fixed * wish.dp != gpus:
        words += f" x dp {wish.dp}"
        fitting = f"dp {gpus // fixed}" if gpus % fixed == 0 and gpus >= fixed else f"gpus {fixed * wish.dp}"
        yield _error("EW-WORK-003", job.name, gpus, fixed * wish.dp, "GPUs", layout=words, fitting=fitting)


def _check_schedule(job: TrainingWish, model: Transformer) -> Iterator[Finding]:
    wish = job.parallel
    chunks = wish.pp * wish.virtual_stages
    if wish.virtual_stages > 1 and wish.pp == 1:
        yield _error("EW-WORK-020", job.name, 2, wish.pp, "pipeline stages", virtual_stages=wish.virtual_stages)
    elif chunks > model.layers:
        yield _error(
            "EW-WORK-021", job.name, chunks, model.layers, "layers", pp=wish.pp, virtual_stages=wish.virtual_stages
        )
    elif model.layers % chunks:
        args = {"pp": wish.pp, "virtual_stages": wish.virtual_stages, "remainder": model.layers % chunks}
        args["fullest"] = -(-model.layers // chunks)
        yield _warning("EW-WORK-022", job.name, chunks, model.layers, "layers", **args)


def _check_tensor(job: TrainingWish, model: Transformer) -> Iterator[Finding]:
    tp = job.parallel.tp
    for what, count in (("attention heads", model.heads), ("feed-forward size", model.ffn)):
        if count % tp:
            yield _error(
                "EW-WORK-023", job.name, tp, count, what, remainder=count % tp, fitting=divisors_text(count, tp)
            )
    if model.mla is None and model.kv_heads % tp and tp % model.kv_heads:
        yield _error(
            "EW-WORK-023",
            job.name,
            tp,
            model.kv_heads,
            "KV heads",
            remainder=model.kv_heads % tp,
            fitting=divisors_text(model.kv_heads, tp),
        )
    ring = 2 * job.parallel.cp if job.parallel.cp > 1 else 1
    if job.sequence % ring:
        yield _error(
            "EW-WORK-024", job.name, ring, job.sequence, "tokens", cp=job.parallel.cp, remainder=job.sequence % ring
        )


def divisors_text(count: int, near: int) -> str:
    """Degrees up to twice `near` that divide `count`, as words."""
    return ", ".join(str(n) for n in range(1, 2 * near + 1) if count % n == 0)


def _check_experts(job: TrainingWish, model: Transformer, dp: int) -> Iterator[Finding]:
    ep, copies = job.parallel.ep, dp * job.parallel.cp
    if ep == 1:
        return
    if model.moe is None:
        yield _error("EW-WORK-025", job.name, 1, ep, "ranks", model=model.name)
        return
    if model.moe.experts % ep:
        args = {"remainder": model.moe.experts % ep, "fitting": divisors_text(model.moe.experts, ep)}
        yield _error("EW-WORK-026", job.name, ep, model.moe.experts, "experts", **args)
    if copies % ep:
        args = {"dp": dp, "cp": job.parallel.cp, "remainder": copies % ep, "fitting": divisors_text(copies, ep)}
        yield _error("EW-WORK-027", job.name, ep, copies, "ranks", **args)


def _check_batch(job: TrainingWish, dp: int) -> Iterator[Finding]:
    per_round = dp * job.micro_batch
    if job.global_batch % per_round:
        near = max(1, round(job.global_batch / per_round)) * per_round
        args = {"dp": dp, "micro_batch": job.micro_batch, "remainder": job.global_batch % per_round, "near": near}
        yield _error("EW-WORK-028", job.name, per_round, job.global_batch, "samples", **args)
        return
    n_micro_batches, wish = job.global_batch // per_round, job.parallel
    if wish.schedule == "interleaved" or wish.virtual_stages > 1:
        if n_micro_batches % wish.pp:
            args = {"remainder": n_micro_batches % wish.pp}
            yield _error("EW-WORK-029", job.name, wish.pp, n_micro_batches, "micro-batches", **args)
    elif n_micro_batches < wish.pp:
        bubble = (wish.pp - 1) / n_micro_batches
        percent = f"{100 * bubble / (1 + bubble):.0f}"
        yield _warning("EW-WORK-030", job.name, wish.pp, n_micro_batches, "micro-batches", bubble_percent=percent)


def _check_shards(wish: ParallelWish, job: str, dp: int) -> Iterator[Finding]:
    copies = dp * wish.cp
    if wish.shard is None:
        return
    if wish.zero != 3:
        yield _error("EW-WORK-031", job, 3, wish.zero, "ZeRO stage", shard=wish.shard)
    elif copies % wish.shard:
        args = {"remainder": copies % wish.shard, "fitting": divisors_text(copies, wish.shard)}
        yield _error("EW-WORK-032", job, wish.shard, copies, "ranks", **args)


def chunk_sizes(n_layers: int, n_chunks: int) -> tuple[int, ...]:
    """Layers of each chunk, as even as possible, the first chunks taking what is left over.

    >>> chunk_sizes(10, 4)
    (3, 3, 2, 2)
    """
    each, rest = divmod(n_layers, n_chunks)
    return tuple(each + (1 if index < rest else 0) for index in range(n_chunks))


def stages_of(model: Transformer, grid: Grid, virtual_stages: int = 1) -> tuple[Stage, ...]:
    """Every pipeline stage of one tensor-parallel rank: chunk c of the layers sits on stage c mod pp (Narayanan et
    al. 2021, 2.2).
    """
    sizes = chunk_sizes(model.layers, grid.pp * virtual_stages)
    layers: list[list[int]] = [[] for _ in range(grid.pp)]
    start = 0
    for chunk, size in enumerate(sizes):
        layers[chunk % grid.pp].extend(range(start, start + size))
        start += size
    kinds = {True: _layer_share(model, grid, True), False: _layer_share(model, grid, False)}
    return tuple(_stage(model, grid, index, tuple(numbers), kinds) for index, numbers in enumerate(layers))


def _layer_share(model: Transformer, grid: Grid, mixture: bool) -> LayerParams:
    """One layer's parameters on one GPU: matrices / tp, experts / (tp * ep), norms and router whole."""
    number = next((layer for layer in range(model.layers) if model.is_moe(layer) == mixture), None)
    if number is None:
        return LayerParams(0, 0, 0)
    whole = layer_params(model, number)
    return LayerParams(-(-whole.sharded // grid.tp), -(-whole.experts // (grid.tp * grid.ep)), whole.replicated)


def _stage(
    model: Transformer, grid: Grid, index: int, layers: tuple[int, ...], kinds: dict[bool, LayerParams]
) -> Stage:
    shares = [kinds[model.is_moe(layer)] for layer in layers]
    first, last = index == 0, index == grid.pp - 1
    dense = sum(share.sharded + share.replicated for share in shares)
    if first:
        dense += -(-embedding_params(model) // grid.tp)
    if last:
        tied_copy = model.vocab * model.hidden if model.tied_embeddings and grid.pp > 1 else 0
        dense += -(-(head_params(model) + tied_copy) // grid.tp) + model.hidden * (2 if model.biases else 1)
    largest = max((share.total for share in shares), default=0)
    return Stage(index, layers, dense, sum(share.experts for share in shares), largest, first, last)
