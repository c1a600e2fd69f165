"""The rows of an inference service: prefill of a prompt, decode rounds, hand-over between stages, experts, and the KV
cache that moves.

A row per `request` is what one GPU sends while its replica prefills one prompt. A row per `token` is one *decode
round*: each of the `batch` sequences of a replica gets one token; divide by the batch for one generated token. It stops
being true for speculative decoding, prefix caches and chunked prefill mixed into decode rounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from eastwest.decision import Decision
from eastwest.finding import Finding
from eastwest.spec.jobs import InferenceWish
from eastwest.units import format_size
from eastwest.workload import rows
from eastwest.workload.dimensions import resolve_model
from eastwest.workload.ledger import Grid, JobLedger, LedgerRow, Memory, MemoryTerm, Per
from eastwest.workload.machines import Machines
from eastwest.workload.memory import MAX_REMEDIES, RUNTIME_ALLOWANCE_BYTES, does_not_fit, nothing_fits
from eastwest.workload.model import Transformer, count_params, forward_flops_per_token
from eastwest.workload.parallelism import BYTES_OF, Stage, stages_of
from eastwest.workload.profile import inference_profile
from eastwest.workload.rows import Hiding, Operation, row_of
from eastwest.workload.serving_layout import grid_of

ACTIVATION_BYTES = 2  # activations between GPUs are bf16 also when weights are fp8 or fp4
WORKING_VECTORS = 4  # hidden-size vectors of one token alive at once: residual, norm, block input, block output
Entry = tuple[JobLedger | None, tuple[Finding, ...], tuple[Decision, ...]]


@dataclass(frozen=True, slots=True)
class ServingCase:
    """One inference service with everything resolved."""

    job: InferenceWish
    model: Transformer
    grid: Grid
    stages: tuple[Stage, ...]

    @property
    def layers(self) -> int:
        """Layers of the fullest stage."""
        return max(len(stage.layers) for stage in self.stages)

    @property
    def moe_layers(self) -> int:
        """Mixture layers of the stage that has the most."""
        return max(sum(self.model.is_moe(layer) for layer in stage.layers) for stage in self.stages)

    @property
    def kv_bytes_per_token(self) -> float:
        """Bytes of KV cache that one token has in all layers of the model, all tp ranks together."""
        return self.model.layers * self.model.kv_elements * BYTES_OF[self.job.kv_precision]


def inference_ledger(job: InferenceWish, machines: Machines, folder: Path | None = None) -> Entry:
    """The account of one inference service on its GPUs; None beside the findings when it cannot be laid out."""
    model, assumed, findings = resolve_model(job.model, subject=job.name, folder=folder)
    if model is None:
        return None, findings, ()
    grid, more = grid_of(job, model, machines.gpus)
    findings += more
    if grid is None:
        return None, findings, ()
    case = ServingCase(job, model, grid, stages_of(model, grid))
    memory = serving_memory(case, machines.memory_bytes)
    if memory.total_bytes > memory.capacity_bytes:
        findings += (_memory_finding(case, memory, machines),)
    made = inference_rows(case)
    context = job.prompt + job.output // 2
    per_token = forward_flops_per_token(model, context)
    per_round = per_token * job.batch / (grid.tp * grid.pp)
    profile, more_assumed = inference_profile(job, grid, made, machines, memory)
    ledger = JobLedger(
        name=job.name,
        kind="inference",
        grid=grid,
        gpus=machines.gpus,
        params=count_params(model).total,
        rows=made,
        memory=memory,
        flops_per_gpu=per_round,
        flops_per="token",
        profile=profile,
        assumed=(
            *assumed,
            *more_assumed,
            f"{job.name}: {format_size(RUNTIME_ALLOWANCE_BYTES)} of each GPU for context and NCCL buffers",
        ),
        facts=_facts(case, machines, per_token),
        model=model,
    )
    return ledger, findings, _decisions(case, ledger)


def inference_rows(case: ServingCase) -> tuple[LedgerRow, ...]:
    """Every row of the service: per request (prefill, KV transfer) and per decode round (`token`)."""
    job = case.job
    operations = [
        *_passes(case, "prefill", job.prompt, "request"),
        *_passes(case, "decode", job.batch, "token"),
        *_kv_transfer(case),
    ]
    return tuple(row_of(job.name, operation) for operation in operations if operation.group_size > 1)


def _passes(case: ServingCase, phase: str, tokens: int, per: Per) -> Iterator[Operation]:
    """Tensor, expert and pipeline traffic of one forward pass over `tokens` tokens."""
    model, grid = case.model, case.grid
    size = tokens * model.hidden * ACTIVATION_BYTES
    inputs: dict[str, Any] = {
        "tokens": tokens,
        "hidden": model.hidden,
        "element_bytes": ACTIVATION_BYTES,
        "layers": case.layers,
    }
    what = "tokens * hidden * element_bytes"
    formula = f"2 * layers * 2 * (tp - 1) / tp * {what}"
    tp_inputs = {**inputs, "tp": grid.tp}
    yield Operation(
        f"{phase}_tp",
        "tp",
        grid.tp,
        "all_reduce",
        size,
        2 * case.layers,
        per,
        formula,
        tp_inputs,
        rows.MEGATRON_INFERENCE,
    )
    if model.moe:
        copies = min(model.moe.top_k, model.moe.max_nodes_per_token or model.moe.top_k)
        more = {**inputs, "top_k": model.moe.top_k, "ep": grid.ep, "tp": grid.tp, "moe_layers": case.moe_layers}
        more["max_fabric_copies_per_token"] = copies
        one = size * model.moe.top_k / grid.tp
        formula = f"(ep - 1) / ep * moe_layers * top_k * {what} / tp"
        for step in ("dispatch", "combine"):
            yield Operation(
                f"{phase}_ep_{step}", "ep", grid.ep, "all_to_all", one, case.moe_layers, per, formula, more, rows.GSHARD
            )
    pp_inputs = {**inputs, "tp": grid.tp, "direction": "forward"}
    yield Operation(f"{phase}_pp", "pp", grid.pp, "send_recv", size / grid.tp, 1, per, f"{what} / tp", pp_inputs)


def _kv_transfer(case: ServingCase) -> Iterator[Operation]:
    """KV cache of one prompt from a prefill replica to a decode replica, rank to same rank, one message a layer.

    Replicas 0 … prefill_replicas - 1 of `dp` prefill, the others decode; the sender is a prefill GPU.
    """
    job, grid = case.job, case.grid
    if not job.prefill_replicas:
        return
    held = kv_copies(case.model, grid.tp)
    each = case.kv_bytes_per_token * job.prompt * held / (grid.tp * grid.pp)
    inputs = {
        "layers": case.model.layers,
        "kv_elements": case.model.kv_elements,
        "kv_bytes": BYTES_OF[job.kv_precision],
        "prompt": job.prompt,
        "tp": grid.tp,
        "pp": grid.pp,
        "copies": held,
        "prefill_replicas": job.prefill_replicas,
        "decode_replicas": grid.dp - job.prefill_replicas,
    }
    formula = "layers * kv_elements * kv_bytes * prompt * copies / (tp * pp)"
    n_layers = case.layers
    share = (n_layers - 1) / n_layers
    hiding, one = Hiding("later layers of the prefill", share, share), each / n_layers
    yield Operation(
        "kv_transfer", "prefill_decode", 2, "send_recv", one, n_layers, "request", formula, inputs, hiding=hiding
    )


def kv_copies(model: Transformer, tp: int) -> int:
    """How many tp ranks hold the same part of the KV cache: tp for a latent cache, tp / kv_heads when there are
    fewer heads than ranks.
    """
    return tp if model.mla else max(1, tp // model.kv_heads)


def serving_memory(case: ServingCase, capacity_bytes: int) -> Memory:
    """What the fullest GPU holds: weights, KV cache of the whole batch at full length, activations of one prompt,
    an allowance.
    """
    job, model, grid = case.job, case.model, case.grid
    fullest = max(stage.params for stage in case.stages)
    width = BYTES_OF[job.precision]
    length = job.prompt + job.output
    cache = (
        case.kv_bytes_per_token * case.layers / model.layers * job.batch * length * kv_copies(model, grid.tp) / grid.tp
    )
    inner = max(model.ffn, model.moe.top_k * model.moe.ffn if model.moe else 0) / grid.tp
    working = job.prompt * ACTIVATION_BYTES * (WORKING_VECTORS * model.hidden + 3 * inner)
    logits = job.batch * model.vocab * 4 / grid.tp
    return Memory(
        (
            MemoryTerm("weights", ceil(fullest * width), f"{fullest} parameters x {width:g} B"),
            MemoryTerm(
                "KV cache",
                ceil(cache),
                f"{job.batch} sequences x {length} tokens x {case.layers} layers x {job.kv_precision}",
            ),
            MemoryTerm(
                "activations", ceil(working + logits), f"one prompt of {job.prompt} tokens in one layer, and the logits"
            ),
            MemoryTerm(
                "runtime allowance", RUNTIME_ALLOWANCE_BYTES, "assumed: context, NCCL buffers, workspace, fragmentation"
            ),
        ),
        capacity_bytes,
    )


def _memory_finding(case: ServingCase, memory: Memory, machines: Machines) -> Finding:
    needs = list(_variants(case, machines))
    fitting = [f"{words} ({format_size(need)})" for words, need in needs if need <= machines.memory_bytes]
    if not fitting:
        least = min(needs, key=lambda need: need[1], default=("-", memory.total_bytes))
        each = case.grid.tp * case.grid.pp
        more = {"each": each, "need_gpus": each * ceil(memory.total_bytes / machines.memory_bytes)}
        return nothing_fits(case.job.name, memory, machines.gpu, least, more)
    return does_not_fit(case.job.name, memory, machines.gpu, fitting[:MAX_REMEDIES], "tp")


def _variants(case: ServingCase, machines: Machines) -> Iterator[tuple[str, int]]:
    """Changes of the service and the bytes of its fullest GPU then."""
    job = case.job
    tries: list[tuple[str, dict[str, Any]]] = [(f"tp: {tp}", {"tp": tp}) for tp in (2, 4, 8, 16) if tp > job.tp]
    tries += [("precision: fp8", {"precision": "fp8"}), ("kv_precision: fp8", {"kv_precision": "fp8"})]
    tries += [(f"batch: {batch}", {"batch": batch}) for batch in (job.batch // 2, job.batch // 4) if batch]
    tries += [(f"pp: {job.pp * 2}", {"pp": job.pp * 2})]
    for words, change in tries:
        changed = job.model_copy(update=change)
        grid, findings = grid_of(changed, case.model, machines.gpus)
        if grid is not None and not findings:
            other = ServingCase(changed, case.model, grid, stages_of(case.model, grid))
            yield words, serving_memory(other, machines.memory_bytes).total_bytes


def _facts(case: ServingCase, machines: Machines, flops_per_token: float) -> dict[str, Any]:
    job, grid, count = case.job, case.grid, count_params(case.model)
    return {
        "active_params": count.active,
        "params_in_flops": count.multiplied,
        "params_parts": dict(count.parts),
        "params_per_gpu": max(stage.params for stage in case.stages),
        "layers": case.model.layers,
        "hidden": case.model.hidden,
        "replicas": grid.dp,
        "prefill_replicas": job.prefill_replicas,
        "decode_replicas": grid.dp - job.prefill_replicas,
        "tokens_per_round": job.batch,
        "prompt": job.prompt,
        "output": job.output,
        "requests_per_s": job.requests_per_s,
        "kv_bytes_per_token": case.kv_bytes_per_token,
        "forward_flops_per_token": flops_per_token,
        "prefill_flops_per_gpu": forward_flops_per_token(case.model, job.prompt // 2)
        * job.prompt
        / (grid.tp * grid.pp),
        "weight_bytes_per_gpu": serving_memory(case, machines.memory_bytes).terms[0].size_bytes,
        "precision": job.precision,
        "peak_flops": machines.peak_flops,
        "gpu": machines.gpu,
    }


def _decisions(case: ServingCase, ledger: JobLedger) -> tuple[Decision, ...]:
    name, grid, memory = f"workload.{case.job.name}", case.grid, ledger.memory
    degrees = {"gpus": grid.n_ranks, "tp": grid.tp, "pp": grid.pp}
    return (
        Decision(
            f"{name}.params",
            ledger.params,
            "parameters",
            "every matrix, bias and norm counted",
            inputs=dict(ledger.facts["params_parts"]),
        ),
        Decision(f"{name}.replicas", grid.dp, "replicas", "each replica is tp x pp GPUs", "gpus / (tp * pp)", degrees),
        Decision(
            f"{name}.memory",
            memory.total_bytes,
            "bytes",
            f"of {format_size(memory.capacity_bytes)}; the largest term is {memory.largest.name}",
            " + ".join(term.name.replace(" ", "_") for term in memory.terms),
            {term.name.replace(" ", "_"): term.size_bytes for term in memory.terms},
        ),
    )
