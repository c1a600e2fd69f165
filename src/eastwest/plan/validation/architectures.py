"""The transformer of a row: its `arch`, or what its name stands for, and every dimension that had to be assumed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from eastwest.plan.validation.hybrid_models import hybrid_of
from eastwest.plan.validation.named_models import NO_DECODER, named_model
from eastwest.plan.validation.reasons import Skip
from eastwest.plan.validation.training_table import TrainingRow
from eastwest.units import GIGA, TERA
from eastwest.workload.model import Mla, Moe, Transformer, count_params, training_flops_per_token

NEEDED = ("layers", "hidden", "heads", "ffn", "vocab")
MLA_HEAD, MLA_ROPE, MLA_Q_RANK, MLA_KV_RANK = 128, 64, 1536, 512  # DeepSeek-V2 2024, section 2.1; DeepSeek-V3, Kimi K2
WINDOW_LAYERS_RATIO = 0.5  # GPT-OSS 2025: every second layer sees a window
PREDICTS_MORE_TOKENS = re.compile(r"deepseek.?v3|nemotron.*super|glm.?4|qwen3.?next|mimo", re.I)  # published with MTP
FLOPS_PER_PARAM = 6  # of one trained token: 2 forward, 4 backward
TWO_THIRDS = 2 / 3  # a gated block of 2/3 the size has the parameters of a plain one


@dataclass(frozen=True, slots=True)
class Architecture:
    """A transformer and what `Transformer` does not hold: window of attention (tokens) and the share of the layers
    that have it, extra layers for multi-token prediction; `assumed` in words.
    """

    model: Transformer
    window: int | None = None
    window_layers_ratio: float = 1.0
    mtp_layers: int = 0
    assumed: tuple[str, ...] = ()


def architecture_of(row: TrainingRow) -> Architecture | Skip:
    """The transformer that a row trained, or why it is not known."""
    found = _bare(row)
    if isinstance(found, Skip) or re.search(r"w/o MTP|without MTP", row.text("model"), re.I):
        return found
    if not counts_more_layers(row, found):
        return found
    said = "one layer of multi-token prediction (by the FLOPs of a token that the row prints)"
    return replace(found, mtp_layers=1, assumed=(*found.assumed, said))


def _bare(row: TrainingRow) -> Architecture | Skip:
    name, arch = row.text("model"), row.arch
    mtp = _mtp_layers(name, arch)
    if not all(arch.get(key) for key in NEEDED):
        if NO_DECODER.search(name):
            return Skip.no_decoder
        hybrid = hybrid_of(name)
        if hybrid:
            return Architecture(hybrid.model, hybrid.window, hybrid.window_layers_ratio, mtp, (hybrid.assumed,))
        named = named_model(name)
        return Architecture(named[0], mtp_layers=mtp, assumed=(named[1],)) if named else Skip.no_model
    model, assumed = _fitted(_written(name, arch), row)
    if "mla" in str(arch.get("attention", "")).lower() and not arch.get("kv_lora_rank"):
        assumed = (*assumed, f"latent attention with ranks {MLA_KV_RANK} and {MLA_Q_RANK} (as DeepSeek-V3)")
    window = arch.get("sliding_window") or None
    ratio = WINDOW_LAYERS_RATIO if window else 1.0
    if window:
        assumed = (*assumed, f"window of {window} tokens in every second layer (as GPT-OSS)")
    return Architecture(model, window, ratio, mtp, assumed)


def counts_more_layers(row: TrainingRow, architecture: Architecture) -> bool:
    """Whether the FLOPs of a token that a row prints (FLOP/s over tokens/s, whatever the time) are those of a model
    with one more layer for multi-token prediction rather than of the bare model. Source: DeepSeek-V3 2024, section 2.2.
    """
    flops, tokens, sequence = (
        row.measured.get("tflops_per_gpu"),
        row.measured.get("tokens_per_s_per_gpu"),
        row.count("seq"),
    )
    may = PREDICTS_MORE_TOKENS.search(row.text("model"))
    if not flops or not tokens or not sequence or not may or architecture.mtp_layers:
        return False
    printed = flops * TERA / tokens
    bare, longer = (causal_flops(replace(architecture, mtp_layers=layers), sequence) for layers in (0, 1))
    return abs(printed / longer - 1) < abs(printed / bare - 1)


def causal_flops(architecture: Architecture, sequence: int) -> float:
    """Model FLOPs of one trained token with the causal half of attention, windows and extra layers counted."""
    model = architecture.model
    flops = training_flops_per_token(model, sequence, "none")
    scores = flops.model_full - flops.model_causal  # half of all: what a causal token sees
    seen = 1.0
    if architecture.window:
        narrow = min(1.0, 2 * architecture.window / sequence)
        seen = 1.0 - architecture.window_layers_ratio * (1.0 - narrow)
    matrices = flops.model_causal - scores
    head = FLOPS_PER_PARAM * model.vocab * model.hidden
    layer = (matrices - head + scores * seen) / model.layers
    return matrices + scores * seen + architecture.mtp_layers * (layer + head)


def _mtp_layers(name: str, arch: Mapping[str, Any]) -> int:
    said = re.search(r"\bw/\s*MTP\b|\bwith MTP\b", name, re.I)
    return arch.get("mtp_layers") or (1 if said else 0)


def _written(name: str, arch: Mapping[str, Any]) -> Transformer:
    gated, heads, hidden = arch.get("gated_mlp", False), arch["heads"], arch["hidden"]
    mla = None
    head_dim = arch.get("head_dim") or max(1, hidden // heads)
    if "mla" in str(arch.get("attention", "")).lower():
        head_dim = arch.get("head_dim") or MLA_HEAD
        ranks = arch.get("kv_lora_rank") or MLA_KV_RANK, arch.get("q_lora_rank", MLA_Q_RANK)
        mla = Mla(*ranks, arch.get("rope_head_dim") or MLA_ROPE, arch.get("v_head_dim") or MLA_HEAD)
    return Transformer(
        name=name or "model",
        layers=arch["layers"],
        hidden=hidden,
        heads=heads,
        kv_heads=arch.get("kv_heads") or heads,
        head_dim=head_dim,
        ffn=arch["ffn"],
        vocab=arch["vocab"],
        gated=gated,
        tied_embeddings=arch.get("tied_embeddings", not gated),
        biases=not gated and not re.match(r"MPT\b|PaLM\b", name, re.I),
        mla=mla,
        moe=_experts(arch),
    )


def _experts(arch: Mapping[str, Any]) -> Moe | None:
    experts = arch.get("moe_experts") or 0
    if experts <= 1:
        return None
    ffn = arch.get("moe_ffn") or arch["ffn"]
    shared = arch.get("moe_shared_ffn") or (arch.get("moe_shared") or 0) * ffn
    top_k = min(experts, arch.get("moe_topk") or 1)
    return Moe(
        experts, top_k, ffn, shared, min(arch.get("dense_layers") or 0, arch["layers"]), arch.get("moe_every") or 1
    )


def _fitted(model: Transformer, row: TrainingRow) -> tuple[Transformer, tuple[str, ...]]:
    """The model, or, where the row calls its dimensions approximate, the details that meet its printed count best."""
    printed = row.data.get("params") or (row.data.get("params_b") or 0) * GIGA
    approximate = re.search(r"approximate|trust params", row.text("arch_provenance"), re.I)
    if not printed or not approximate:
        return model, ()
    best = min(_variants(model), key=lambda other: abs(count_params(other).total / printed - 1))
    kind = "gated" if best.gated else "plain"
    tied = "tied" if best.tied_embeddings else "untied"
    said = (
        f"{kind} feed-forward of {best.ffn}, {best.kv_heads} KV heads, {tied} embeddings (nearest to the printed size)"
    )
    return best, (said,)


def _variants(model: Transformer) -> Iterator[Transformer]:
    """Llama-like (gated, no biases) decoders with the given width and depth; the same as plain ones otherwise."""
    gated = model.gated or "llama" in model.name.lower()
    sizes = {model.ffn, round(model.ffn * TWO_THIRDS)} if gated else {model.ffn}
    for ffn in sorted(sizes):
        for kv_heads in sorted({model.kv_heads, model.heads}):
            for tied in (False, True):
                biases = model.biases and not gated
                yield replace(model, ffn=ffn, kv_heads=kv_heads, tied_embeddings=tied, gated=gated, biases=biases)
