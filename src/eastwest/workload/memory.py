"""What the fullest GPU holds, by term: weights, gradients, optimizer, activations, and an allowance for what nobody
counts.

Source: Rajbhandari et al. 2020 (ZeRO), section 3; Korthikanti et al. 2022, sections 4 and 5, generalised from GPT
(multi-head attention, plain 4h feed-forward) to grouped heads, gated feed-forward layers and mixtures; for GPT the sum
is theirs to the byte. It stops being true where activations are offloaded, kept in fp8, or computed again in other
places than the three modes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eastwest.finding import Finding
from eastwest.units import GIGA, format_size
from eastwest.workload.ledger import Memory, MemoryTerm
from eastwest.workload.model import Transformer
from eastwest.workload.parallelism import Layout, Stage
from eastwest.workload.step import MASTER_BYTES, MOMENT_BYTES
from eastwest.workload.training_case import TrainingCase

RUNTIME_ALLOWANCE_BYTES = (
    3 * GIGA
)  # assumed: CUDA context 0.5 GB, NCCL buffers 1 to 1.5 GB, cuBLAS workspace and allocator slack 1 GB
SCORE_BYTES_PER_HEAD = 5  # softmax output 2, its dropout mask 1, dropout output 2 (Korthikanti 2022, section 4.1)
MASK_BYTES = 1  # one byte an element of a dropout mask
LOGIT_BYTES = 4  # fp32 logits
MAX_REMEDIES = 3  # changes that a finding about memory names


@dataclass(frozen=True, slots=True)
class LayerActivations:
    """Bytes that one token leaves in one layer: `whole` on every tp rank (over tp with sequence parallel), `split`
    over tp, `scores` over tp.
    """

    whole: float
    split: float
    scores: float


def layer_activations(model: Transformer, layer: int, sequence: int, element_bytes: int = 2) -> LayerActivations:
    """Bytes per token that a layer keeps for its backward pass, nothing computed again.

    GPT: whole 10 h, split 24 h, scores 5 a s; so s b h (10 + 24/t + 5 a s/(h t)) as Korthikanti 2022, equation 2.
    """
    h, e = model.hidden, element_bytes
    dropout = 2 * MASK_BYTES * h if model.biases else 0
    whole = model.norms_per_layer * e * h + 2 * e * h + dropout
    queries, values = model.heads * model.qk_dim, model.heads * model.v_dim
    keys_values = queries + values if model.mla else 2 * model.kv_heads * model.head_dim
    latent = (model.mla.kv_rank + model.mla.rope_dim + model.mla.q_rank) * e if model.mla else 0
    attention = e * (queries + keys_values + values) + latent
    inner = 3 if model.gated else 2
    moe = model.moe
    if moe is not None and model.is_moe(layer):
        routed = moe.top_k * (e * 2 * h + inner * e * moe.ffn)
        return LayerActivations(
            whole, attention + routed + inner * e * moe.shared_ffn, SCORE_BYTES_PER_HEAD * model.heads * sequence
        )
    return LayerActivations(whole, attention + inner * e * model.ffn, SCORE_BYTES_PER_HEAD * model.heads * sequence)


def kept_bytes_per_token(part: LayerActivations, hidden: int, layout: Layout, recompute: str) -> float:
    """Bytes that one GPU keeps per token and layer, by recompute mode: none, selective (no scores), full (the
    layer's input only).
    """
    tp = layout.grid.tp
    whole = part.whole / tp if layout.sp else part.whole
    if recompute == "full":
        return layout.element_bytes * hidden
    if recompute == "selective":
        return whole + part.split / tp
    return whole + (part.split + part.scores) / tp


def in_flight_chunks(layout: Layout, stage: int) -> int:
    """Model chunks (layers / (pp * v)) whose activations a stage holds at once, counted in micro-batches x chunks.

    1F1B: pp - stage micro-batches; interleaved: 2 (pp - stage - 1) + (v - 1) pp + 1 chunks, at most all; GPipe: every
    micro-batch. Source: Narayanan et al. 2021, section 2.2; Megatron-LM schedules; Korthikanti 2022, section 4.2.3: 1 +
    (pp - 1)/(pp v) of L.
    """
    pp, v, m = layout.grid.pp, layout.virtual_stages, layout.n_micro_batches
    if layout.schedule == "gpipe":
        return m * v
    if v > 1:
        return min(2 * (pp - stage - 1) + (v - 1) * pp + 1, m * v)
    return min(pp - stage, m)


def activation_bytes(case: TrainingCase, stage: Stage) -> float:
    """Bytes of activations that one GPU of a stage holds at the worst moment."""
    layout, model = case.layout, case.model
    mode = case.job.recompute
    parts = [layer_activations(model, layer, layout.sequence, layout.element_bytes) for layer in stage.layers]
    per_token = [kept_bytes_per_token(part, model.hidden, layout, mode) for part in parts]
    chunk_layers = sum(per_token) / layout.virtual_stages
    kept = layout.tokens_per_rank * chunk_layers * in_flight_chunks(layout, stage.index)
    if mode == "full" and parts:  # one layer at a time is computed again and held whole, its scores excepted
        kept += layout.tokens_per_rank * max(
            kept_bytes_per_token(part, model.hidden, layout, "selective") for part in parts
        )
    if stage.holds_head:
        kept += layout.tokens_per_rank * model.vocab * LOGIT_BYTES / layout.grid.tp
    return kept


def optimizer_bytes_per_param(precision: str, optimizer: str) -> int:
    """Bytes of optimizer state per parameter: fp32 master weight (mixed precision) and moments; 12 for Adam."""
    master = 0 if precision in ("fp32", "tf32") else MASTER_BYTES
    return master + MOMENT_BYTES[optimizer]


def training_memory(case: TrainingCase, capacity_bytes: int) -> Memory:
    """What the fullest GPU of the job holds in training, against `capacity_bytes`."""
    found = [stage_memory(case, stage, capacity_bytes) for stage in case.stages]
    return max(found, key=lambda memory: memory.total_bytes)


def stage_memory(case: TrainingCase, stage: Stage, capacity_bytes: int) -> Memory:
    """What one GPU of one pipeline stage holds in training."""
    layout, e = case.layout, case.layout.element_bytes
    g = layout.gradient_bytes
    state = optimizer_bytes_per_param(case.job.precision, case.job.optimizer)
    copies = layout.grid.shard if layout.zero == 3 else layout.n_copies
    expert_copies = layout.n_expert_copies

    def held(each: int, from_stage: int) -> int:
        split = layout.zero >= from_stage
        return round(
            stage.dense_params * each / (copies if split else 1)
            + stage.expert_params * each / (expert_copies if split else 1)
        )

    whole = f"{stage.params} parameters"
    over = f" / {copies}" + (f" (experts / {expert_copies})" if stage.expert_params else "")
    terms = [
        MemoryTerm("weights", held(e, 3), f"{whole} x {e} B" + (over if layout.zero >= 3 else "")),
        MemoryTerm("gradients", held(g, 2), f"{whole} x {g} B" + (over if layout.zero >= 2 else "")),
        MemoryTerm("optimizer", held(state, 1), f"{whole} x {state} B" + (over if layout.zero >= 1 else "")),
        MemoryTerm("activations", round(activation_bytes(case, stage)), _activation_words(case, stage)),
    ]
    if layout.zero == 3:
        terms.append(MemoryTerm("gathered weights", 2 * stage.layer_params_max * e, "2 layers gathered at once"))
    terms.append(
        MemoryTerm(
            "runtime allowance", RUNTIME_ALLOWANCE_BYTES, "assumed: context, NCCL buffers, workspace, fragmentation"
        )
    )
    return Memory(tuple(terms), capacity_bytes)


def does_not_fit(job: str, memory: Memory, gpu: str, remedies: Sequence[str], path: str) -> Finding:
    """The finding about a layout that needs more memory than a GPU has: the largest term, what is over, what would fit.

    `remedies` are changes in words, at least one, `path` the key of the job that decides the layout.
    """
    args = _words(memory, gpu) | {"fitting": "; ".join(remedies)}
    return Finding("EW-WORK-005", "error", job, memory.capacity_bytes, memory.total_bytes, "bytes", args, path=path)


def nothing_fits(job: str, memory: Memory, gpu: str, least: tuple[str, int], args: Mapping[str, Any]) -> Finding:
    """The finding about a job that no layout fits: `least` is the change that needs least, with its bytes; `args` say
    what it would take (`gpus` now, `need_gpus`, `need`, the change with which so many hold it).
    """
    words, size_bytes = least
    args = _words(memory, gpu) | {"least": words, "least_size": format_size(size_bytes), **args}
    code, path = ("EW-WORK-006", "parallel") if "need" in args else ("EW-WORK-007", "tp")
    return Finding(code, "error", job, memory.capacity_bytes, memory.total_bytes, "bytes", args, path=path)


def _words(memory: Memory, gpu: str) -> dict[str, Any]:
    """The sizes of a layout that does not fit, as findings say them."""
    capacity, total, largest = memory.capacity_bytes, memory.total_bytes, memory.largest
    return {
        "gpu": gpu,
        "largest": largest.name,
        "largest_size": format_size(largest.size_bytes),
        "total_size": format_size(total),
        "capacity_size": format_size(capacity),
        "over_size": format_size(total - capacity),
        "largest_bytes": largest.size_bytes,
    }


def _activation_words(case: TrainingCase, stage: Stage) -> str:
    layout = case.layout
    chunks = in_flight_chunks(layout, stage.index)
    return (
        f"{layout.tokens_per_rank} tokens x {len(stage.layers) / layout.virtual_stages:g} layers x {chunks} in flight, "
        f"recompute {case.job.recompute} (Korthikanti et al. 2022)"
    )
