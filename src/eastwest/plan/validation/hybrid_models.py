"""Hybrids of Mamba-2, attention and expert layers, as the transformer that costs about the same.

The step model knows attention and feed-forward layers only. A hybrid becomes one layer for each expert layer; its
attention matrices hold as many parameters as the state-space and attention layers beside it, scores see a chunk of
tokens in the share of the layers that stands for the scans, and experts in a latent space become fewer and wider ones
with equal FLOPs and equal bytes to dispatch. Where it stops being true: kernels of the scan and of the convolution are
bound by memory and are not modelled, so the time of small models is too short.

Source: Megatron-Bridge, model providers of Nemotron 3 (2026); Dao and Gu 2024 (Mamba-2), section 6 and 7.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from eastwest.workload.model import Moe, Transformer

CHUNK_TOKENS = 256  # tokens that one token of a chunked scan meets: chunk of 128 plus a state of 128 elements


@dataclass(frozen=True, slots=True)
class Hybrid:
    """Dimensions as published (elements): layers of each kind, Mamba-2 inner size, heads, groups and state, attention
    heads of `head_dim`, experts of `ffn` in a space of `latent` elements (0: the hidden size).
    """

    name: str
    hidden: int
    mamba_layers: int
    expert_layers: int
    attention_layers: int
    mamba_heads: int
    mamba_head_dim: int
    groups: int
    state: int
    heads: int
    kv_heads: int
    head_dim: int
    experts: int
    top_k: int
    ffn: int
    shared_ffn: int
    latent: int
    vocab: int

    @property
    def inner(self) -> int:
        """Elements of a Mamba-2 layer's inner state."""
        return self.mamba_heads * self.mamba_head_dim

    @property
    def mixing_params(self) -> int:
        """Parameters of all state-space and attention layers."""
        into = 2 * self.inner + 2 * self.groups * self.state + self.mamba_heads
        mamba = self.hidden * (into + self.inner)
        attention = 2 * self.hidden * self.head_dim * (self.heads + self.kv_heads)
        return self.mamba_layers * mamba + self.attention_layers * attention


@dataclass(frozen=True, slots=True)
class Equivalent:
    """The transformer that stands for a hybrid, and the share of its layers that see `window` tokens only."""

    model: Transformer
    window: int
    window_layers_ratio: float
    assumed: str


NANO = Hybrid("nemotron-3-nano", 2688, 23, 23, 6, 64, 64, 8, 128, 32, 2, 128, 128, 6, 1856, 3712, 0, 131_072)
SUPER = Hybrid("nemotron-3-super", 4096, 40, 40, 8, 128, 64, 8, 128, 32, 2, 128, 512, 22, 2688, 5376, 1024, 131_072)
_NAMES = {re.compile(r"nemotron[\W_]*(?:v?3)[\W_]*nano", re.I): NANO}
_NAMES[re.compile(r"nemotron[\W_]*(?:v?3)[\W_]*super", re.I)] = SUPER


def hybrid_of(model: str) -> Equivalent | None:
    """The equivalent of a hybrid by its printed name; None when the name is of no known hybrid."""
    found = next((hybrid for pattern, hybrid in _NAMES.items() if pattern.search(model)), None)
    return equivalent(found) if found else None


def equivalent(hybrid: Hybrid) -> Equivalent:
    """The transformer with equal parameters, FLOPs, scores and dispatched bytes, to whole heads and experts."""
    layers = hybrid.expert_layers
    heads = max(hybrid.heads, hybrid.inner // hybrid.head_dim)
    wide = hybrid.hidden * hybrid.head_dim
    kv_heads = round((hybrid.mixing_params / layers / wide - 2 * heads) / 2)
    model = Transformer(
        name=hybrid.name,
        layers=layers,
        hidden=hybrid.hidden,
        heads=heads,
        kv_heads=max(1, min(heads, _whole(kv_heads))),
        head_dim=hybrid.head_dim,
        ffn=hybrid.ffn,
        vocab=hybrid.vocab,
        gated=False,
        moe=_experts(hybrid),
    )
    seeing_all = hybrid.attention_layers * hybrid.heads / heads
    return Equivalent(model, CHUNK_TOKENS, 1 - seeing_all / layers, _said(hybrid))


def _experts(hybrid: Hybrid) -> Moe:
    if not hybrid.latent:
        return Moe(hybrid.experts, hybrid.top_k, hybrid.ffn, hybrid.shared_ffn)
    merged = hybrid.hidden // hybrid.latent  # experts in the latent space that one in the hidden space stands for
    top_k = -(-hybrid.top_k // merged)
    ffn = hybrid.top_k * hybrid.latent * hybrid.ffn // (top_k * hybrid.hidden)
    return Moe(hybrid.experts // merged, top_k, ffn, hybrid.shared_ffn + hybrid.latent)


def _whole(kv_heads: int) -> int:
    """Heads that tensor parallelism of 8 can split."""
    return max(1, round(kv_heads / 8)) * 8


def _said(hybrid: Hybrid) -> str:
    return (
        f"{hybrid.name}: {hybrid.mamba_layers} Mamba-2, {hybrid.expert_layers} expert and {hybrid.attention_layers} "
        f"attention layers counted as {hybrid.expert_layers} transformer layers of equal parameters"
    )
