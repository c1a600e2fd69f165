"""One record for each training run: the numbers that the equations of a step read, with their units.

`pack` turns runs into a table; every equation of the package is written once over the columns of such a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.analytic.assumptions import ARCHITECTURES, Assumed, assume
from eastwest.simulate.analytic.training_run import NETWORKS, PRECISIONS, RECOMPUTE, TrainingRun
from eastwest.workload.model import Moe, Transformer, attention_params, mlp_params

FIELDS: tuple[tuple[str, str], ...] = (  # name, unit or meaning; all float64 but `gpu`
    ("layers", "layers of the model and of multi-token prediction"),
    ("moe_layers", "layers of them with experts"),
    ("hidden", "elements"),
    ("q_width", "elements of all query heads"),
    ("kv_width", "elements of all key and value heads"),
    ("v_width", "elements of all heads' values"),
    ("heads", "query heads"),
    ("qk_dim", "elements of a query head"),
    ("v_dim", "elements of a value head"),
    ("head_dim", "elements of a head without rotary part"),
    ("q_rank", "elements of the query latent, 0: none"),
    ("kv_rank", "elements of the KV latent, 0: no latent attention"),
    ("rope_dim", "elements"),
    ("ffn", "elements"),
    ("inputs", "matrices into the feed-forward block: 2 gated, 1 plain"),
    ("vocab", "tokens"),
    ("experts", "experts of a layer, 1: none"),
    ("top_k", "experts a token visits"),
    ("expert_ffn", "elements"),
    ("shared_ffn", "elements"),
    ("heads_out", "output heads that are computed: 1 and those of multi-token prediction"),
    ("parallel_block", "0 or 1"),
    ("scan_width", "elements of state-space layers, or of values in narrow windows, for each layer"),
    ("tp", "ranks"),
    ("pp", "ranks"),
    ("cp", "ranks"),
    ("dp", "ranks"),
    ("ep", "ranks"),
    ("expert_tp", "ranks"),
    ("gpus", "GPUs"),
    ("chunks", "model chunks of a pipeline rank"),
    ("zero_bubble", "0 or 1"),
    ("first_layers", "layers of the first stage"),
    ("mid_layers", "layers of the largest stage in between"),
    ("last_layers", "layers of the last stage"),
    ("balanced", "0 or 1: stages are cut by cost"),
    ("micro_batch", "sequences"),
    ("micro_batches", "of a step and replica"),
    ("sequence", "tokens"),
    ("window", "tokens that a windowed layer sees, 0: no window"),
    ("window_ratio", "share of the layers with a window"),
    ("kernel", "attention kernel, number of assumptions.KERNEL_NAMES"),
    ("precision", "number of training_run.PRECISIONS"),
    ("recompute", "number of training_run.RECOMPUTE"),
    ("compiled", "0 or 1"),
    ("blocks", "0 or 1: recomputed layers stop the queue of kernels"),
    ("sequence_parallel", "0 or 1"),
    ("scatter", "0 or 1: tensor ranks send a part each between stages"),
    ("zero", "stage"),
    ("reshard", "0 or 1"),
    ("shard", "ranks that one sharded copy is spread over"),
    ("one_nic", "0 or 1: gathered by broadcasts over one NIC"),
    ("overlap_tp", "0 or 1"),
    ("overlap_dp", "0 or 1"),
    ("overlap_pp", "0 or 1"),
    ("overlap_ep", "0 or 1"),
    ("dense_params", "parameters of one rank outside experts"),
    ("expert_params", "parameters of one rank's experts"),
    ("bucket_params", "parameters of a gradient bucket"),
    ("gradient_bytes", "B a parameter"),
    ("optimizer_bytes", "B a parameter and step"),
    ("capacity", "expert capacity factor, 0: dropless"),
    ("imbalance", "load of the busiest expert over the mean"),
    ("flops_16", "FLOP/s of the best product with 16-bit operands"),
    ("flops_8", "FLOP/s, 8-bit"),
    ("flops_4", "FLOP/s, 4-bit"),
    ("memory_rate", "B/s"),
    ("scale_up_rate", "B/s one way"),
    ("nic_rate", "B/s one way for each GPU"),
    ("domain", "GPUs of a scale-up domain"),
    ("network", "number of training_run.NETWORKS"),
    ("architecture", "number of assumptions.ARCHITECTURES"),
    ("power_ratio", "power cap over the data sheet's power"),
    ("age", "years of the framework's release after RELEASE_EPOCH, nan: not known"),
)
DTYPE = np.dtype([("gpu", "U32"), *((name, "f8") for name, _ in FIELDS)])
Table = NDArray[np.void]
_IN_ORDER = itemgetter(*(name for name, _ in FIELDS))
RELEASE_EPOCH = 26 + 2 / 12  # 26.02, in years as the releases count them
MONTHS = 12
NARROW = 256  # tokens: two tiles of a fused kernel, and the chunk of a state-space scan that stands for one
MODELS_KEPT = 256  # layouts of one model by the thousand read its columns once


def pack(runs: Sequence[TrainingRun]) -> Table:
    """The runs as a table, (n,) records of DTYPE. Raises UsageError for a GPU that the catalogue does not have."""
    return np.array([_record(run, assume(run)) for run in runs], dtype=DTYPE)


def _record(run: TrainingRun, known: Assumed) -> tuple[Any, ...]:
    values: dict[str, Any] = {
        **_model_columns(run.model, run.mtp_layers),
        **_layout_columns(run, known),
        **_program_columns(run, known),
        **_machine_columns(run, known),
        **_parameter_columns(run, known),
    }
    return (run.gpu, *_IN_ORDER(values))


@lru_cache(maxsize=MODELS_KEPT)
def _model_columns(model: Transformer, mtp_layers: int) -> Mapping[str, float]:
    mla, moe = model.mla, model.moe or Moe(1, 0, 1)
    return {
        "layers": model.layers + mtp_layers,
        "moe_layers": model.n_moe_layers + (mtp_layers if model.moe else 0),
        "hidden": model.hidden,
        "q_width": model.heads * model.qk_dim,
        "kv_width": model.kv_heads * (model.qk_dim + model.v_dim),
        "v_width": model.heads * model.v_dim,
        "heads": model.heads,
        "qk_dim": model.qk_dim,
        "v_dim": model.v_dim,
        "head_dim": model.head_dim,
        "q_rank": mla.q_rank if mla else 0,
        "kv_rank": mla.kv_rank if mla else 0,
        "rope_dim": mla.rope_dim if mla else 0,
        "ffn": model.ffn,
        "inputs": 2 if model.gated else 1,
        "vocab": model.vocab,
        "experts": moe.experts,
        "top_k": moe.top_k,
        "expert_ffn": moe.ffn,
        "shared_ffn": moe.shared_ffn,
        "heads_out": 1 + mtp_layers,
    }


def _layout_columns(run: TrainingRun, known: Assumed) -> dict[str, float]:
    first, mid, last = stage_layers(run.model.layers + run.mtp_layers, run.pp, known.program.blocks)
    return {
        "tp": run.tp,
        "pp": run.pp,
        "cp": run.cp,
        "dp": run.dp,
        "ep": known.ep,
        "expert_tp": run.expert_tp or 1,
        "gpus": run.gpus,
        "chunks": known.chunks,
        "zero_bubble": run.schedule == "zero_bubble",
        "first_layers": first,
        "mid_layers": mid,
        "last_layers": last,
        "balanced": known.program.balances,
        "micro_batch": known.micro_batch,
        "micro_batches": known.micro_batches,
        "sequence": run.sequence,
        "window": run.window or 0,
        "window_ratio": run.window_layers_ratio if run.window else 0,
        "parallel_block": run.parallel_block,
        "scan_width": run.scan_width or _narrow_width(run),
        "capacity": run.capacity_factor or 0,
        "imbalance": run.expert_imbalance or 1,
    }


def _narrow_width(run: TrainingRun) -> float:
    """Elements of a head's values in layers whose window is no wider than NARROW: they move bytes, as scans do."""
    if not run.window or run.window > NARROW:
        return 0.0
    return run.model.heads * run.model.v_dim * run.window_layers_ratio


def _program_columns(run: TrainingRun, known: Assumed) -> dict[str, float]:
    return {
        "kernel": known.kernel,
        "precision": PRECISIONS.index(run.precision),
        "recompute": RECOMPUTE.index(known.recompute),
        "compiled": bool(run.compiled),
        "blocks": known.program.blocks,
        "sequence_parallel": known.sequence_parallel,
        "scatter": known.program.scatter or known.sequence_parallel,
        "zero": known.zero,
        "reshard": True if run.reshard is None else run.reshard,
        "shard": min(run.shard or run.dp * run.cp, run.dp * run.cp),
        "one_nic": known.is_gathered_by_one_nic,
        "overlap_tp": known.overlap_tp,
        "overlap_dp": known.overlap_dp,
        "overlap_pp": known.overlap_pp,
        "overlap_ep": known.overlap_ep,
        "bucket_params": known.program.bucket_params,
        "gradient_bytes": known.gradient_bytes,
        "optimizer_bytes": known.optimizer_bytes,
        "age": release_age(run.release),
    }


def _machine_columns(run: TrainingRun, known: Assumed) -> dict[str, float]:
    wide, narrow, least = known.flops
    return {
        "flops_16": wide,
        "flops_8": narrow,
        "flops_4": least,
        "memory_rate": known.memory_bytes_per_s,
        "scale_up_rate": known.scale_up_bytes_per_s,
        "nic_rate": known.nic_bytes_per_s,
        "domain": known.scale_up_domain,
        "network": NETWORKS.index(known.network),
        "architecture": ARCHITECTURES.index(known.architecture),
        "power_ratio": known.power_ratio,
    }


def _parameter_columns(run: TrainingRun, known: Assumed) -> dict[str, float]:
    """Parameters of one rank: layers over tp x pp, tables over tp on the ranks that hold them, experts over ep too."""
    dense, table, experts = _parameters(run.model, run.mtp_layers)
    tables = table * (1 if run.pp > 1 or run.model.tied_embeddings else 2)
    return {
        "dense_params": dense / (run.tp * run.pp) + tables / run.tp,
        "expert_params": experts / (run.pp * known.ep * (run.expert_tp or 1)),
    }


@lru_cache(maxsize=MODELS_KEPT)
def _parameters(model: Transformer, mtp_layers: int) -> tuple[int, int, int]:
    """Parameters of all layers outside experts, of one table of the vocabulary, of all experts."""
    moe, with_experts = model.moe, model.n_moe_layers
    plain = model.layers - with_experts
    with_experts += mtp_layers if moe else 0
    shared = mlp_params(model, moe.shared_ffn) if moe and moe.shared_ffn else 0
    dense = (plain + with_experts) * attention_params(model) + plain * mlp_params(model, model.ffn)
    experts = with_experts * moe.experts * mlp_params(model, moe.ffn) if moe else 0
    return dense + with_experts * shared, model.vocab * model.hidden, experts


def stage_layers(layers: int, pp: int, in_whole_layers: bool) -> tuple[float, float, float]:
    """Layers of the first, the largest middle and the last stage.

    Even where pp divides the layers; else embedding and head count as one layer each, and a program that cuts
    `in_whole_layers` leaves the last stage what the others could not take.

    >>> stage_layers(126, 16, False), stage_layers(78, 12, True)
    ((7.0, 8.0, 7.0), (6.0, 7.0, 2.0))
    """
    if layers % pp == 0:
        return layers / pp, layers / pp, layers / pp
    units = (layers + 2) / pp
    if in_whole_layers and units != int(units):
        units = float(-(-(layers + 2) // pp))
        return units - 1, units, max(0.0, layers - (units - 1) - units * (pp - 2))
    return units - 1, units, units - 1


def release_age(release: str | None) -> float:
    """Years of a release `YY.MM` or `YY.MM.patch` after RELEASE_EPOCH; nan for none or another form.

    >>> round(release_age("26.08"), 2), release_age("v2")
    (0.5, nan)
    """
    parts = (release or "").split(".")
    if len(parts) < 2 or not all(part.isdigit() for part in parts) or not 1 <= int(parts[1]) <= MONTHS:
        return float("nan")
    return int(parts[0]) + int(parts[1]) / MONTHS - RELEASE_EPOCH
