"""Seconds of each kind of layer on one GPU for one micro-batch: projections, attention scores, feed-forward block,
experts, elementwise kernels, output head, embedding. Communication is elsewhere.

Source: Korthikanti et al. 2022 (bytes of activations); Dao 2023, FlashAttention-2 (FLOPs of fused passes); DeepSeek-V2
2024 (latent attention).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.analytic.gemm import PASSES, PER_MULTIPLY_ADD, Pair, depth, linear, product_s
from eastwest.simulate.analytic.programs import UNFUSED
from eastwest.simulate.analytic.step_constants import Seen
from eastwest.simulate.analytic.step_table import Table

Floats = NDArray[np.float64]
WIDTH_BYTES = 2.0  # of an activation
FLASH_BACKWARD = 2.5 / 0.9  # five products instead of two, at 0.9 of their speed (Dao 2023, section 4)
WHOLE_HEAD = 128.0  # elements of a head at which fused kernels are fastest
LEAST_HEAD = 32.0
SHORT_SPAN = 256.0  # tokens seen at which a fused kernel takes twice the time of its FLOPs
ALIGNED = 8.0  # elements; tensor cores read 16-bit operands in groups of 8
UNFUSED_FORWARD, UNFUSED_BACKWARD = 13.0, 24.0  # B of a score: written, softmax, mask, dropout, read
SCORE_DEPTH = 0.6  # of the depth of a large product: batched products keep tiles in flight
NORM_BYTES = 22.0  # of a token and hidden element: two norms, two residuals with dropout
COMPILED = 0.7  # bytes left when a compiler fuses elementwise kernels
LOSS_BYTES = 12.0  # of a logit: fp32 softmax, its gradient
EMBEDDING_BYTES = 12.0
SCORE_BYTES = 16.0  # of a token and expert: router's logits, softmax, top-k, sort
PERMUTE_PASSES = 6.0  # of an expert's token: gather, pad, scatter, each read and written
PERMUTE_BACKWARD = 1.5
DEEP_BACKWARD = 0.5  # share of the depth that small groups pay when weights' gradients sum over their tokens


def tokens_of(table: Table) -> Floats:
    """Tokens of a micro-batch on one rank's group of tensor ranks (n,)."""
    tokens: Floats = table["micro_batch"] * table["sequence"] / table["cp"]
    return tokens


def projections(table: Table, seen: Seen) -> Pair:
    """Query, key, value and output matrices, or the latents' ones."""
    tokens, tp, hidden = tokens_of(table), table["tp"], table["hidden"]
    plain = linear(table, seen, tokens, hidden, (table["q_width"] + table["kv_width"]) / tp)
    latent = table["kv_rank"] > 0
    if latent.any():
        rank = np.where(table["q_rank"] > 0, table["q_rank"], hidden)
        down = table["q_rank"] + table["kv_rank"] + table["rope_dim"]
        wide = table["heads"] * (table["head_dim"] + table["v_dim"]) / tp
        parts = linear(table, seen, tokens, hidden, down)
        parts += linear(table, seen, tokens, rank, table["q_width"] / tp)
        parts += linear(table, seen, tokens, np.maximum(table["kv_rank"], 1.0), wide)
        plain = parts.where(latent, plain)
    return plain + linear(table, seen, tokens, table["v_width"] / tp, hidden)


def attention(table: Table, seen: Seen) -> Pair:
    """Scores and their product with V: fused kernels skip what the mask hides, unfused ones write every score."""
    tokens, heads, sequence = tokens_of(table), table["heads"] / table["tp"], table["sequence"]
    half = sequence / 2
    near = np.where(table["window"] > 0, np.minimum(table["window"], half), half)
    span = (1 - table["window_ratio"]) * half + table["window_ratio"] * near
    flops = PER_MULTIPLY_ADD * tokens * heads * (table["qk_dim"] + table["v_dim"]) * span
    small = np.minimum(1.0, np.maximum(table["qk_dim"], LEAST_HEAD) / WHOLE_HEAD) ** seen.one("small_head")
    fused = flops / (seen.flash_flops * small) * (1 + SHORT_SPAN / np.maximum(span, 1.0))
    fused_pair = Pair(fused, fused * FLASH_BACKWARD)
    unfused = table["kernel"] == UNFUSED
    if not unfused.any():
        return fused_pair
    return _unfused(table, seen, tokens * heads * sequence).where(unfused, fused_pair)


def _unfused(table: Table, seen: Seen, scores: Floats) -> Pair:
    """Every score computed, written, normalised and read again."""
    odd = np.where(np.mod(table["qk_dim"], ALIGNED) != 0, seen.one("odd_head"), 1.0)
    shape = (1 + SCORE_DEPTH * depth(table, seen) / table["qk_dim"]) * odd
    products = 2 * PER_MULTIPLY_ADD * scores * table["qk_dim"] / seen.wide_flops * shape
    moved = scores / seen.memory_rate * seen.one("unfused")
    return Pair(products + UNFUSED_FORWARD * moved, 2 * products + UNFUSED_BACKWARD * moved)


def scan(table: Table, seen: Seen) -> Pair:
    """State-space scans of a hybrid, and windows as narrow as a scan's chunk: kernels bound by memory."""
    moved = seen.one("scan") * tokens_of(table) * table["scan_width"] / table["tp"]
    forward = moved / seen.memory_rate
    return Pair(forward, 2 * forward)


def feed_forward(table: Table, seen: Seen) -> Pair:
    """The matrices of a dense feed-forward block."""
    tokens, ffn = tokens_of(table), table["ffn"] / table["tp"]
    into = linear(table, seen, tokens, table["hidden"], table["inputs"] * ffn)
    return into + linear(table, seen, tokens, ffn, table["hidden"])


def elementwise(table: Table, seen: Seen, has_experts: bool) -> Pair:
    """Norms, residuals, dropout and, in a dense layer, the activation; in an expert layer the rotary part."""
    tokens, tp = tokens_of(table), table["tp"]
    parts = np.where(table["sequence_parallel"] > 0, tp, 1.0)
    norms = NORM_BYTES * tokens * table["hidden"] / parts
    if has_experts:
        rest = 2 * WIDTH_BYTES * (table["q_width"] + table["kv_width"]) * tokens / tp
    else:
        rest = WIDTH_BYTES * (1 + table["inputs"]) * tokens * table["ffn"] / tp
    fused = np.where(table["compiled"] > 0, COMPILED, 1.0)
    forward = (norms + rest) * seen.one("elementwise") * fused / seen.memory_rate
    return Pair(forward, 2 * forward)


def expert_tokens(table: Table) -> Floats:
    """Tokens that the experts of one rank compute for one micro-batch, the busiest rank (n,)."""
    kept = np.where(table["capacity"] > 0, np.minimum(table["capacity"], 1.0), 1.0)
    tokens: Floats = tokens_of(table) / table["tp"] * table["expert_tp"] * table["top_k"] * kept * table["imbalance"]
    return tokens


def experts(table: Table, seen: Seen) -> Pair:
    """Grouped products of the routed experts and the shared experts' matrices."""
    hidden, inputs, ffn = table["hidden"], table["inputs"], table["expert_ffn"] / table["expert_tp"]
    routed = _grouped(table, seen, hidden, inputs * ffn) + _grouped(table, seen, ffn, hidden)
    has_shared = table["shared_ffn"] > 0
    if not has_shared.any():
        return routed
    tokens, shared = tokens_of(table), table["shared_ffn"] / table["tp"]
    always = linear(table, seen, tokens, hidden, inputs * shared) + linear(table, seen, tokens, shared, hidden)
    return routed + always.times(has_shared.astype(np.float64))


def _grouped(table: Table, seen: Seen, into: Floats, out: Floats) -> Pair:
    """One grouped product: few tokens for each expert cost speed; below that the weights' bytes bound it."""
    tokens = expert_tokens(table)
    each = np.maximum(tokens * table["ep"] / table["experts"], 1.0)
    rate, deep = seen.layer_flops * seen.grouped, depth(table, seen)
    few = 1 + seen.one("grouped_edge") / each
    flops_s = PER_MULTIPLY_ADD * tokens * into * out / rate * few
    weights_s = table["experts"] / table["ep"] * into * out * WIDTH_BYTES / seen.memory_rate
    cast = seen.quantise_bytes * seen.one("quantise_experts") * tokens * (into + out) / seen.memory_rate
    forward = np.maximum(flops_s * (1 + deep / np.maximum(into, 1.0)), weights_s)
    both = 2 * flops_s * (1 + deep / np.maximum(out, 1.0)) * (1 + DEEP_BACKWARD * deep / each)
    backward = np.maximum(both, PASSES * weights_s)
    return Pair(forward + cast / PASSES, backward + cast * (PASSES - 1) / PASSES)


def routing(table: Table, seen: Seen) -> Pair:
    """Router, permutation of tokens to experts and back, activation: bytes over the memory's rate."""
    tokens, hidden = expert_tokens(table), table["hidden"]
    scores = SCORE_BYTES * tokens_of(table) / table["tp"] * table["experts"]
    moved = (WIDTH_BYTES * PERMUTE_PASSES * tokens * hidden + scores) * seen.one("permute")
    active = WIDTH_BYTES * (1 + table["inputs"]) * tokens * table["expert_ffn"]
    forward = np.where(table["top_k"] > 0, (moved + active) / seen.memory_rate, 0.0)
    return Pair(forward, PERMUTE_BACKWARD * forward)


def output_head(table: Table, seen: Seen) -> Pair:
    """The output head in 16 bit and the loss over the vocabulary, for every head that is computed."""
    tokens, vocab, hidden = tokens_of(table), table["vocab"] / table["tp"], table["hidden"]
    rate = seen.wide_flops
    forward = product_s(table, seen, tokens, vocab, hidden, rate)
    backward = product_s(table, seen, tokens, hidden, vocab, rate) + product_s(table, seen, vocab, hidden, tokens, rate)
    loss = LOSS_BYTES * tokens * vocab * seen.one("elementwise") / seen.memory_rate / PASSES
    return Pair(forward + loss, backward + 2 * loss).times(table["heads_out"])


def embedding(table: Table, seen: Seen) -> Floats:
    """Looking up tokens and adding their gradients, both passes (n,) s."""
    seconds: Floats = EMBEDDING_BYTES * tokens_of(table) * table["hidden"] / seen.memory_rate
    return seconds
