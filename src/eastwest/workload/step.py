"""The rows of one training step: what the busiest GPU of each kind of group sends, by traffic class.

Left out as small (below 1 % of its class for usual sizes): the all-reduce of the embedding's output and of the loss
inside tp, gradient norms, router statistics, optimizer scalars. All volumes are those of bandwidth-optimal algorithms;
NVLS, SHARP and trees move less or other bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from eastwest.workload import rows
from eastwest.workload.gradients import gradient_operations
from eastwest.workload.ledger import LedgerRow
from eastwest.workload.model import (
    Transformer,
    attention_flops_per_token,
    count_params,
    training_flops_per_token,
)
from eastwest.workload.rows import BACKWARD_SHARE, EXPOSED, FORWARD_SHARE, Hiding, Operation, row_of
from eastwest.workload.training_case import TrainingCase

TP_OPS_PER_LAYER = 2  # one behind attention, one behind the feed-forward block
MASTER_BYTES, MOMENT_BYTES = 4, {"adam": 8, "sgd": 4, "adam8bit": 2}  # fp32 master weight; moments of the optimizer
FP8_DISPATCH_BYTES = 1  # DeepSeek-V3: tokens go to the experts in fp8, come back in bf16


def training_rows(case: TrainingCase) -> tuple[LedgerRow, ...]:
    """Every row of one training step of the job, tp first, storage last; groups of one rank have no row."""
    makers = (_tensor, _context, _experts, _pipeline, gradient_operations, _embedding)
    operations = [operation for maker in makers for operation in maker(case)]
    made = [row_of(case.job.name, operation) for operation in operations if operation.group_size > 1]
    return (*made, checkpoint_row(case))


def _tensor(case: TrainingCase) -> Iterator[Operation]:
    """Tensor parallel: per layer and micro-batch 2 all-reduces forward and 2 backward (2 more when all is computed
    again).
    """
    layout, model = case.layout, case.model
    size = layout.tokens_per_rank * model.hidden * layout.element_bytes
    stage, passes = case.busiest, case.forward_passes + 1
    n_moe = sum(model.is_moe(layer) for layer in stage.layers)
    top_k = model.moe.top_k if model.moe else 0
    n_ops = TP_OPS_PER_LAYER * len(stage.layers) - n_moe
    inputs = {
        "micro_batch": layout.micro_batch,
        "sequence": layout.sequence,
        "cp": layout.grid.cp,
        "hidden": model.hidden,
        "element_bytes": layout.element_bytes,
        "tp": layout.grid.tp,
        "layers": len(stage.layers),
        "n_micro_batches": layout.n_micro_batches,
        "passes": passes,
    }
    yield from _tensor_operations(case, "tp", size, n_ops * passes * layout.n_micro_batches, inputs)
    if n_moe:
        more = {**inputs, "moe_layers": n_moe, "top_k": top_k}
        yield from _tensor_operations(case, "tp_experts", size * top_k, n_moe * passes * layout.n_micro_batches, more)


def _tensor_operations(
    case: TrainingCase, name: str, size: float, times: float, inputs: dict[str, int]
) -> Iterator[Operation]:
    tp = case.layout.grid.tp
    ops = "moe_layers * top_k" if name == "tp_experts" else "2 * layers" + (" - moe_layers" if case.model.moe else "")
    what = f"{ops} * passes * n_micro_batches * micro_batch * sequence / cp * hidden * element_bytes"
    if not case.layout.sp:
        formula = f"2 * (tp - 1) / tp * {what}"
        yield Operation(name, "tp", tp, "all_reduce", size, times, "step", formula, inputs, rows.NARAYANAN)
        return
    half = f"(tp - 1) / tp * {what}"
    yield Operation(f"{name}_gather", "tp", tp, "all_gather", size, times, "step", half, inputs, rows.KORTHIKANTI)
    yield Operation(f"{name}_scatter", "tp", tp, "reduce_scatter", size, times, "step", half, inputs, rows.KORTHIKANTI)
    again = f"(tp - 1) / tp * {what} / passes (inputs of column-parallel matrices again, for weight gradients)"
    times /= inputs["passes"]
    hiding = Hiding("gradient of the same matrix's input", 1.0, BACKWARD_SHARE / 2)
    yield Operation(
        f"{name}_regather", "tp", tp, "all_gather", size, times, "step", again, inputs, rows.KORTHIKANTI, hiding
    )


def kv_elements_of_rank(model: Transformer, tp: int) -> int:
    """Elements of K and V of one token and layer that one tp rank computes with (latent attention expanded to
    heads).
    """
    if model.mla:
        return model.heads // tp * (model.qk_dim + model.v_dim)
    return 2 * max(1, model.kv_heads // tp) * model.head_dim


def _context(case: TrainingCase) -> Iterator[Operation]:
    """Context parallel as a ring: K and V pass every rank forward and again backward, and their gradients come back
    summed.
    """
    layout, model = case.layout, case.model
    cp, n_layers = layout.grid.cp, len(case.busiest.layers)
    kv = kv_elements_of_rank(model, layout.grid.tp)
    size = layout.micro_batch * layout.sequence * kv * layout.element_bytes
    rounds = n_layers * layout.n_micro_batches
    inputs = {
        "micro_batch": layout.micro_batch,
        "sequence": layout.sequence,
        "kv_elements": kv,
        "element_bytes": layout.element_bytes,
        "cp": cp,
        "layers": n_layers,
        "n_micro_batches": layout.n_micro_batches,
        "passes": case.forward_passes + 1,
    }
    what = "(cp - 1) / cp * layers * n_micro_batches * micro_batch * sequence * kv_elements * element_bytes"
    attention_flops = attention_flops_per_token(model, layout.sequence) / FORWARD_SHARE  # forward and backward
    window = attention_flops / training_flops_per_token(model, layout.sequence, "none").model_full
    hiding = Hiding("attention of the block in hand", 1.0, window)
    times, formula = rounds * (case.forward_passes + 1), f"passes * {what}"
    yield Operation("cp_kv", "cp", cp, "all_gather", size, times, "step", formula, inputs, rows.RING_ATTENTION, hiding)
    hiding = hiding._replace(window_ratio=window * BACKWARD_SHARE)
    yield Operation("cp_kv_gradients", "cp", cp, "reduce_scatter", size, rounds, "step", what, inputs, hiding=hiding)


def _experts(case: TrainingCase) -> Iterator[Operation]:
    """Expert parallel: each mixture layer sends every token's copies to its experts and back, forward and backward."""
    layout, model = case.layout, case.model
    moe, ep = model.moe, layout.grid.ep
    if moe is None:
        return
    tokens = layout.tokens_per_rank / layout.grid.tp if layout.sp else layout.tokens_per_rank
    n_moe = sum(model.is_moe(layer) for layer in case.busiest.layers)
    narrow = FP8_DISPATCH_BYTES if case.job.precision in ("fp8", "mxfp8", "nvfp4") else layout.element_bytes
    copies = min(moe.top_k, moe.max_nodes_per_token or moe.top_k)
    rounds = n_moe * layout.n_micro_batches
    inputs = {
        "top_k": moe.top_k,
        "tokens": tokens,
        "hidden": model.hidden,
        "element_bytes": layout.element_bytes,
        "dispatch_bytes": narrow,
        "ep": ep,
        "moe_layers": n_moe,
        "n_micro_batches": layout.n_micro_batches,
        "forward_passes": case.forward_passes,
        "max_fabric_copies_per_token": copies,
    }
    elements = moe.top_k * tokens * model.hidden
    what = "(ep - 1) / ep * moe_layers * n_micro_batches * top_k * tokens * hidden"
    there = elements * (case.forward_passes * narrow + layout.element_bytes) / (case.forward_passes + 1)
    back = elements * layout.element_bytes
    times = rounds * (case.forward_passes + 1)
    source = rows.DEEPSEEK if moe.max_nodes_per_token else rows.GSHARD
    formula = f"{what} * (forward_passes * dispatch_bytes + element_bytes)"
    yield Operation("ep_dispatch", "ep", ep, "all_to_all", there, times, "step", formula, inputs, source)
    formula = f"{what} * (forward_passes + 1) * element_bytes"
    yield Operation("ep_combine", "ep", ep, "all_to_all", back, times, "step", formula, inputs, source)


def _pipeline(case: TrainingCase) -> Iterator[Operation]:
    """Pipeline: activations to the next stage and their gradients back, once a micro-batch and model chunk.

    With virtual stages the last stage also sends forward to the first, and the first backward to the last (`wraps`).
    """
    layout = case.layout
    split = layout.grid.tp if layout.sp else 1
    size = layout.tokens_per_rank * case.model.hidden * layout.element_bytes / split
    times = layout.n_micro_batches * layout.virtual_stages
    inputs = {
        "micro_batch": layout.micro_batch,
        "sequence": layout.sequence,
        "cp": layout.grid.cp,
        "hidden": case.model.hidden,
        "element_bytes": layout.element_bytes,
        "split": split,
        "n_micro_batches": layout.n_micro_batches,
        "virtual_stages": layout.virtual_stages,
        "wraps": layout.virtual_stages > 1,
    }
    formula = "n_micro_batches * virtual_stages * micro_batch * sequence / cp * hidden * element_bytes / split"
    interleaved = layout.virtual_stages > 1
    hiding = Hiding("computation of other micro-batches", 1 - 1 / times, 1.0) if interleaved else EXPOSED
    for traffic in ("pp_forward", "pp_backward"):
        more = {**inputs, "direction": traffic.removeprefix("pp_")}
        pp, source = layout.grid.pp, rows.NARAYANAN
        yield Operation(traffic, "pp", pp, "send_recv", size, times, "step", formula, more, source, hiding)


def _embedding(case: TrainingCase) -> Iterator[Operation]:
    """All-reduce of the tied embedding's gradient between the first and the last stage."""
    layout, model = case.layout, case.model
    if not model.tied_embeddings or layout.grid.pp == 1:
        return
    size = model.vocab * model.hidden * layout.gradient_bytes / layout.grid.tp
    inputs = {
        "vocab": model.vocab,
        "hidden": model.hidden,
        "gradient_bytes": layout.gradient_bytes,
        "tp": layout.grid.tp,
    }
    formula = "vocab * hidden * gradient_bytes / tp"
    yield Operation("embedding", "pp_ends", 2, "all_reduce", size, 1, "step", formula, inputs, rows.NARAYANAN)


def checkpoint_bytes_per_param(precision: str, optimizer: str) -> int:
    """Bytes of a checkpoint for one parameter: weight, fp32 master, moments; 14 for bf16 with Adam (2 + 4 + 8)."""
    weight, master = (4, 0) if precision in ("fp32", "tf32") else (2, MASTER_BYTES)
    return weight + master + MOMENT_BYTES[optimizer]


def checkpoint_row(case: TrainingCase) -> LedgerRow:
    """One checkpoint, written by all GPUs in equal parts (fully parallel save); with fewer writers each writes more."""
    params, gpus = count_params(case.model).total, case.layout.grid.n_ranks
    each = checkpoint_bytes_per_param(case.job.precision, case.job.optimizer)
    wish = case.job.checkpoint
    sent = ceil(params * each / gpus)
    return LedgerRow(
        job=case.job.name,
        traffic="checkpoint",
        dimension="all",
        group=f"all{gpus}",
        group_size=gpus,
        collective="write",
        bytes_per_gpu=sent,
        messages=1,
        message_bytes=sent,
        per="checkpoint",
        formula="params * bytes_per_param / gpus",
        inputs={
            "params": params,
            "bytes_per_param": each,
            "gpus": gpus,
            "every_s": wish.every_s if wish else None,
            "bandwidth_bps": wish.bandwidth_bps if wish else None,
        },
        source="derived: weight 2 + fp32 master 4 + Adam moments 8 bytes in mixed precision",
    )
