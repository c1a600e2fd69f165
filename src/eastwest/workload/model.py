"""`Transformer`: every dimension of a decoder known, and from it the exact count of parameters, bytes of KV cache and
FLOPs of a token.

Two families of decoder are counted: *gated* ones (Llama and its kin: SwiGLU, RMSNorm without bias, no biases unless
said) and *plain* ones (GPT-3 and its kin: two matrices, LayerNorm with bias, a bias on every matrix, learned positions
where `positions` is above 0).

Source: the published architectures; Brown et al. 2020 (GPT-3), Llama 3 herd of models 2024, Mixtral 2024, DeepSeek-V2
2024 section 2.1 (MLA).
"""

from __future__ import annotations

from dataclasses import dataclass

GATED_MATRICES, PLAIN_MATRICES = 3, 2
FORWARD_FLOPS_PER_PARAM = 2  # one multiply and one add
PASSES = 3  # forward 1, backward 2 (gradient of the input and of the weight)


@dataclass(frozen=True, slots=True)
class Moe:
    """A mixture of experts: `ffn` and `shared_ffn` are hidden sizes (elements) of one expert and of all shared
    experts together.
    """

    experts: int
    top_k: int
    ffn: int
    shared_ffn: int = 0
    dense_layers: int = 0
    every: int = 1
    max_nodes_per_token: int | None = None


@dataclass(frozen=True, slots=True)
class Mla:
    """Multi-head latent attention (elements): latent of K and V, latent of Q (0: none), rotary part of a head, size
    of a V head.
    """

    kv_rank: int
    q_rank: int
    rope_dim: int
    v_dim: int


@dataclass(frozen=True, slots=True)
class Transformer:
    """One decoder with every dimension known (counts of elements)."""

    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocab: int
    gated: bool = True
    tied_embeddings: bool = False
    biases: bool = False
    qkv_bias: bool = False
    qk_norm: bool = False
    positions: int = 0
    norms_per_layer: int = 2
    embedding_norm: bool = False
    mla: Mla | None = None
    moe: Moe | None = None

    @property
    def qk_dim(self) -> int:
        """Elements of one query or key head."""
        return self.head_dim + (self.mla.rope_dim if self.mla else 0)

    @property
    def v_dim(self) -> int:
        """Elements of one value head."""
        return self.mla.v_dim if self.mla else self.head_dim

    @property
    def kv_elements(self) -> int:
        """Elements of KV cache of one token in one layer."""
        if self.mla:
            return self.mla.kv_rank + self.mla.rope_dim
        return 2 * self.kv_heads * self.head_dim

    def is_moe(self, layer: int) -> bool:
        """Whether layer number `layer` (from 0) is a mixture of experts."""
        moe = self.moe
        return moe is not None and layer >= moe.dense_layers and (layer - moe.dense_layers) % moe.every == moe.every - 1

    @property
    def n_moe_layers(self) -> int:
        """Layers that are a mixture of experts."""
        return sum(self.is_moe(layer) for layer in range(self.layers))


@dataclass(frozen=True, slots=True)
class LayerParams:
    """Parameters of one layer by how they are split: `sharded` over tp, `experts` over tp and ep, `replicated` on
    every tp rank.
    """

    sharded: int
    experts: int
    replicated: int

    @property
    def total(self) -> int:
        """Parameters of the whole layer."""
        return self.sharded + self.experts + self.replicated


@dataclass(frozen=True, slots=True)
class ParamCount:
    """Parameters: all of them, those that one token uses, those in matrices that it multiplies (for FLOPs), and the
    parts.
    """

    total: int
    active: int
    multiplied: int
    parts: tuple[tuple[str, int], ...]


def attention_params(model: Transformer) -> int:
    """Parameters of one layer's attention matrices and their biases, norms inside it left out."""
    h, q_out = model.hidden, model.heads * model.qk_dim
    if model.mla:
        mla = model.mla
        query = h * mla.q_rank + mla.q_rank * q_out if mla.q_rank else h * q_out
        key_value = h * (mla.kv_rank + mla.rope_dim) + mla.kv_rank * model.heads * (model.head_dim + mla.v_dim)
        return query + key_value + model.heads * mla.v_dim * h
    kv_out = 2 * model.kv_heads * model.head_dim
    bias = (q_out + kv_out if model.biases or model.qkv_bias else 0) + (h if model.biases else 0)
    return h * q_out + h * kv_out + q_out * h + bias


def mlp_params(model: Transformer, ffn: int) -> int:
    """Parameters of one feed-forward block of hidden size `ffn` (elements)."""
    matrices = GATED_MATRICES if model.gated else PLAIN_MATRICES
    bias = ffn * (matrices - 1) + model.hidden if model.biases else 0
    return matrices * model.hidden * ffn + bias


def norm_params(model: Transformer) -> int:
    """Parameters of one layer's norms (and of the norms inside its attention)."""
    width = 2 if model.biases else 1
    inside = 2 * model.head_dim if model.qk_norm else 0
    if model.mla:
        inside += model.mla.kv_rank + model.mla.q_rank
    return model.norms_per_layer * model.hidden * width + inside


def layer_params(model: Transformer, layer: int) -> LayerParams:
    """Parameters of layer number `layer` (from 0) by the way that they are split over ranks."""
    attention, norms = attention_params(model), norm_params(model)
    moe = model.moe
    if moe is None or not model.is_moe(layer):
        return LayerParams(attention + mlp_params(model, model.ffn), 0, norms)
    shared = mlp_params(model, moe.shared_ffn) if moe.shared_ffn else 0
    experts = moe.experts * mlp_params(model, moe.ffn)
    return LayerParams(attention + shared, experts, norms + model.hidden * moe.experts)


def embedding_params(model: Transformer) -> int:
    """Parameters of the input table (and of learned positions and the norm behind them)."""
    norm = 2 * model.hidden if model.embedding_norm else 0
    return (model.vocab + model.positions) * model.hidden + norm


def head_params(model: Transformer) -> int:
    """Parameters of the output head; 0 when it is the input table."""
    return 0 if model.tied_embeddings else model.vocab * model.hidden


def count_params(model: Transformer) -> ParamCount:
    """Every parameter of the model, exactly; `multiplied` counts the output head once and not the input table
    (Source: validation tables).
    """
    layers = [layer_params(model, layer) for layer in range(model.layers)]
    experts = sum(layer.experts for layer in layers)
    rest = sum(layer.sharded + layer.replicated for layer in layers)
    moe = model.moe
    used_experts = experts * moe.top_k // moe.experts if moe else 0
    final_norm = model.hidden * (2 if model.biases else 1)
    embedding, head = embedding_params(model), head_params(model)
    total = embedding + head + final_norm + rest + experts
    active = total - experts + used_experts
    norms = sum(norm_params(model) for _ in layers) + final_norm
    multiplied = rest + used_experts - norms + final_norm + model.vocab * model.hidden
    parts = (
        ("embedding", embedding),
        ("attention", model.layers * attention_params(model)),
        ("mlp", rest - model.layers * attention_params(model) - norms + final_norm - _routers(model)),
        ("router", _routers(model)),
        ("experts", experts),
        ("norms", norms),
        ("head", head),
    )
    return ParamCount(total, active, multiplied, parts)


def _routers(model: Transformer) -> int:
    return model.n_moe_layers * model.hidden * model.moe.experts if model.moe else 0


def attention_flops_per_token(model: Transformer, sequence: int) -> int:
    """FLOPs of one token's scores and their product with V, forward, all layers, every token seen (no causal halving).

    4 * L * heads * head_dim * s for equal head sizes: 2 for scores, 2 for values.
    """
    return FORWARD_FLOPS_PER_PARAM * model.layers * model.heads * (model.qk_dim + model.v_dim) * sequence


@dataclass(frozen=True, slots=True)
class TokenFlops:
    """FLOPs of one trained token: model FLOPs with full attention and with the causal half, and hardware FLOPs with
    recompute.
    """

    model_full: float
    model_causal: float
    hardware: float


def training_flops_per_token(model: Transformer, sequence: int, recompute: str) -> TokenFlops:
    """FLOPs of one trained token: 6 * N + 12 * L * h * s with full attention, 6 * N + 6 * L * h * s with the causal
    half.

    N counts the output head once and not the input table, and of experts those that a token visits. Hardware FLOPs add
    one forward pass of the layers (recompute full: 96 * B * s * L * h^2 * (1 + s/6h + V/16Lh) for GPT) or of the scores
    alone (selective). Source: Narayanan et al. 2021, appendix; PaLM 2022, appendix B; Korthikanti et al. 2022, section
    5.
    """
    multiplied = count_params(model).multiplied
    scores = attention_flops_per_token(model, sequence)
    matrices = FORWARD_FLOPS_PER_PARAM * multiplied
    full = PASSES * (matrices + scores)
    head = FORWARD_FLOPS_PER_PARAM * model.vocab * model.hidden
    again = {"none": 0, "selective": scores, "full": matrices - head + scores}[recompute]
    return TokenFlops(full, PASSES * (matrices + scores / 2), full + again)


def forward_flops_per_token(model: Transformer, context: int) -> float:
    """FLOPs of one token through the model forward (inference) that attends to `context` tokens: 2 * N + 4 * L * h
    * context.
    """
    return FORWARD_FLOPS_PER_PARAM * count_params(model).multiplied + attention_flops_per_token(model, context)
