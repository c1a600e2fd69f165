"""One training job's part of the account: model, layout, rows, memory, FLOPs, profile, findings and decisions
together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from math import ceil
from pathlib import Path
from typing import Any

from eastwest.decision import Alternative, Decision
from eastwest.finding import Finding
from eastwest.spec.jobs import TrainingWish
from eastwest.units import format_size
from eastwest.workload.dimensions import resolve_model
from eastwest.workload.gradients import bucket_bytes
from eastwest.workload.ledger import JobLedger, Memory
from eastwest.workload.machines import Machines
from eastwest.workload.memory import MAX_REMEDIES, RUNTIME_ALLOWANCE_BYTES, does_not_fit, nothing_fits, training_memory
from eastwest.workload.model import Transformer, count_params, training_flops_per_token
from eastwest.workload.parallelism import layout_of, stages_of
from eastwest.workload.profile import training_profile
from eastwest.workload.step import training_rows
from eastwest.workload.training_case import TrainingCase

MORE_GPUS = (2, 4, 8, 16, 32, 64)  # times the job's GPUs, tried when nothing fits on them
Entry = tuple[JobLedger | None, tuple[Finding, ...], tuple[Decision, ...]]


def training_ledger(job: TrainingWish, machines: Machines, folder: Path | None = None) -> Entry:
    """The account of one training job on its GPUs; None beside the findings when it cannot be laid out."""
    model, assumed, findings = resolve_model(job.model, subject=job.name, folder=folder)
    if model is None:
        return None, findings, ()
    case, more = case_of(job, model, machines.gpus)
    findings += more
    if case is None:
        return None, findings, ()
    memory = training_memory(case, machines.memory_bytes)
    if memory.total_bytes > memory.capacity_bytes:
        findings += (memory_finding(case, memory, machines),)
    made = training_rows(case)
    assumed += (
        f"{job.name}: {format_size(RUNTIME_ALLOWANCE_BYTES)} of each GPU for context, NCCL buffers and fragmentation",
    )
    flops = training_flops_per_token(model, job.sequence, job.recompute)
    tokens = job.global_batch * job.sequence
    profile, more_assumed = training_profile(
        job, case.layout.grid, made, machines, flops.model_full * tokens / machines.gpus
    )
    ledger = JobLedger(
        name=job.name,
        kind="training",
        grid=case.layout.grid,
        gpus=machines.gpus,
        params=count_params(model).total,
        rows=made,
        memory=memory,
        flops_per_gpu=flops.model_full * tokens / machines.gpus,
        flops_per="step",
        profile=profile,
        assumed=(*assumed, *more_assumed),
        facts=_facts(case, machines),
        model=model,
    )
    return ledger, findings, _decisions(case, ledger)


def case_of(job: TrainingWish, model: Transformer, gpus: int) -> tuple[TrainingCase | None, tuple[Finding, ...]]:
    """The job with its layout and stages, or None with the layout's mistakes."""
    layout, findings = layout_of(job, model, gpus)
    if layout is None:
        return None, findings
    return TrainingCase(job, model, layout, stages_of(model, layout.grid, layout.virtual_stages)), findings


def memory_finding(case: TrainingCase, memory: Memory, machines: Machines) -> Finding:
    """The layout does not fit: the largest term, what is over, and up to three changes with which it would fit; when
    none does, the one that needs least, and the GPUs that it would take.
    """
    name, fitting = case.job.name, remedies(case, machines)
    if fitting:
        return does_not_fit(name, memory, machines.gpu, fitting, "parallel")
    least = min(_needs(case, machines), key=lambda need: need[1], default=("-", memory.total_bytes))
    for more in MORE_GPUS:
        gpus = machines.gpus * more
        enough = [words for words, need in _needs(case, replace(machines, gpus=gpus)) if need <= machines.memory_bytes]
        if enough:
            break
    else:
        enough, gpus = [least[0]], machines.gpus * ceil(least[1] / machines.memory_bytes)
    args = {"gpus": machines.gpus, "need_gpus": gpus, "need": enough[0]}
    return nothing_fits(name, memory, machines.gpu, least, args)


def remedies(case: TrainingCase, machines: Machines) -> tuple[str, ...]:
    """Single changes (then pairs) of the layout that fit the GPU's memory, with the bytes that they need."""
    fits = ((words, need) for words, need in _needs(case, machines) if need <= machines.memory_bytes)
    return tuple(f"{words} ({format_size(need)})" for words, need in islice(fits, MAX_REMEDIES))


def _needs(case: TrainingCase, machines: Machines) -> Iterator[tuple[str, int]]:
    """Single changes, then pairs, that the layout allows, and the bytes of the fullest GPU with each."""
    singles = _changes(case.job)
    pairs = [
        (f"{a} + {b}", {**x, **y})
        for i, (a, x) in enumerate(singles)
        for b, y in singles[i + 1 :]
        if not x.keys() & y.keys()
    ]
    for words, change in (*singles, *pairs):
        need = _bytes_with(case, machines, change)
        if need is not None:
            yield words, need


def _changes(job: TrainingWish) -> list[tuple[str, dict[str, Any]]]:
    """Changes worth trying, the cheapest for the network first: a key of the job or of its `parallel` -> new value."""
    tries: list[tuple[str, dict[str, Any]]] = []
    if job.parallel.zero < 1:
        tries.append(("zero: 1", {"zero": 1}))
    if job.recompute == "none":
        tries.append(("recompute: selective", {"recompute": "selective"}))
    if job.recompute != "full":
        tries.append(("recompute: full", {"recompute": "full"}))
    if job.micro_batch > 1:
        tries.append(("micro_batch: 1", {"micro_batch": 1}))
    tries += [(f"tp: {tp}", {"tp": tp}) for tp in (2, 4, 8) if tp > job.parallel.tp]
    tries += [(f"pp: {job.parallel.pp * n}", {"pp": job.parallel.pp * n}) for n in (2, 4, 8, 16)]
    if job.parallel.zero < 3:
        tries.append(("zero: 3", {"zero": 3}))
    return tries


def _bytes_with(case: TrainingCase, machines: Machines, change: dict[str, Any]) -> int | None:
    """Bytes of the fullest GPU after a change, dp left to follow; None when the changed layout is not possible."""
    split = {key: value for key, value in change.items() if key in ("tp", "pp", "zero")}
    rest = {key: value for key, value in change.items() if key not in split}
    parallel = case.job.parallel.model_copy(update={"dp": None, "shard": None, **split})
    changed, _ = case_of(case.job.model_copy(update={"parallel": parallel, **rest}), case.model, machines.gpus)
    return training_memory(changed, machines.memory_bytes).total_bytes if changed else None


def _facts(case: TrainingCase, machines: Machines) -> dict[str, Any]:
    """What others need beside the rows: counts, FLOPs by convention, stages."""
    job, model, layout = case.job, case.model, case.layout
    count = count_params(model)
    flops = training_flops_per_token(model, job.sequence, job.recompute)
    tokens = job.global_batch * job.sequence
    return {
        "active_params": count.active,
        "params_in_flops": count.multiplied,
        "params_parts": dict(count.parts),
        "params_per_gpu": case.heaviest.params,
        "layers": model.layers,
        "hidden": model.hidden,
        "heads": model.heads,
        "kv_heads": model.kv_heads,
        "head_dim": model.head_dim,
        "ffn": model.ffn,
        "vocab": model.vocab,
        "moe": model.moe is not None,
        "sequence": job.sequence,
        "micro_batch": job.micro_batch,
        "global_batch": job.global_batch,
        "n_micro_batches": layout.n_micro_batches,
        "virtual_stages": layout.virtual_stages,
        "schedule": layout.schedule,
        "sequence_parallel": layout.sp,
        "zero": layout.zero,
        "recompute": job.recompute,
        "precision": job.precision,
        "bubble_ratio": layout.bubble_ratio,
        "tokens_per_step": tokens,
        "layers_per_stage": [len(stage.layers) for stage in case.stages],
        "params_per_gpu_by_stage": [stage.params for stage in case.stages],
        "model_flops_per_token": flops.model_full,
        "model_flops_per_token_causal": flops.model_causal,
        "hardware_flops_per_token": flops.hardware,
        "hardware_flops_per_gpu": flops.hardware * tokens / machines.gpus,
        "peak_flops": machines.peak_flops,
        "gpu": machines.gpu,
        "compute_s": job.compute_s,
    }


def _decisions(case: TrainingCase, ledger: JobLedger) -> tuple[Decision, ...]:
    name = f"workload.{case.job.name}"
    every = "every matrix, bias and norm counted"
    parts = dict(ledger.facts["params_parts"])
    count = Decision(f"{name}.params", ledger.params, "parameters", every, " + ".join(parts), parts)
    return (count, *_split_decisions(case, name), _memory_decision(case, ledger.memory, name))


def _split_decisions(case: TrainingCase, name: str) -> tuple[Decision, ...]:
    job, layout, grid = case.job, case.layout, case.layout.grid
    degrees = {"gpus": grid.n_ranks, "tp": grid.tp, "pp": grid.pp, "cp": grid.cp}
    said = "the site file says so"
    batches = {"global_batch": job.global_batch, "dp": grid.dp, "micro_batch": job.micro_batch}
    equal = "the global batch in equal parts over data-parallel ranks"
    sp_because = "beside tensor parallelism: the same bytes, less activation memory" if layout.sp else "off"
    sp_source = "site file" if job.parallel.sp is not None else "Korthikanti et al. 2022, section 4.2.2"
    bucket = bucket_bytes(case, case.heaviest.dense_params * layout.gradient_bytes)
    default = "Megatron-LM's default" if job.overlap_gradients else "one bucket, since the exchange does not overlap"
    n_micro_batches = "global_batch / (dp * micro_batch)"
    dp_because = said if job.parallel.dp else "what the other degrees leave"
    return (
        Decision(f"{name}.dp", grid.dp, "ranks", dp_because, "gpus / (tp * pp * cp)", degrees),
        Decision(f"{name}.micro_batches", layout.n_micro_batches, "per step", equal, n_micro_batches, batches),
        Decision(f"{name}.sequence_parallel", layout.sp, "", sp_because, source=sp_source),
        Decision(f"{name}.bucket", bucket, "bytes", said if job.bucket_bytes else default, source="Megatron-LM"),
    )


def _memory_decision(case: TrainingCase, memory: Memory, name: str) -> Decision:
    terms = {term.name.replace(" ", "_"): term.size_bytes for term in memory.terms}
    return Decision(
        f"{name}.memory",
        memory.total_bytes,
        "bytes",
        f"of {format_size(memory.capacity_bytes)}; the largest term is {memory.largest.name}",
        " + ".join(terms),
        terms,
        "Rajbhandari et al. 2020; Korthikanti et al. 2022",
        _recompute_alternatives(case, memory),
    )


def _recompute_alternatives(case: TrainingCase, memory: Memory) -> tuple[Alternative, ...]:
    """What the other recompute modes would hold, as alternatives."""
    found = []
    for mode in ("none", "selective", "full"):
        if mode != case.job.recompute:
            other = replace(case, job=case.job.model_copy(update={"recompute": mode}))
            total = training_memory(other, memory.capacity_bytes).total_bytes
            fits = "fits too" if total <= memory.capacity_bytes else "does not fit"
            found.append(Alternative(f"recompute {mode}: {format_size(total)}", f"not asked for; {fits}"))
    return tuple(found)
