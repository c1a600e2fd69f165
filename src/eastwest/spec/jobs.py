"""What runs on the cluster: models, parallel layouts, training and inference jobs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from eastwest.spec.quantities import Count, Duration, LayerCount, Name, Natural, Rate, Share, Size, Whole, Wish

MAX_REQUESTS_PER_S = 1e9  # a thousand times the busiest service known
Precision = Literal["fp32", "tf32", "bf16", "fp16", "fp8", "mxfp8", "nvfp4"]


def _read_model(value: Any) -> Any:
    """`llama3-70b` is a preset, `configs/config.json` a Hugging Face file."""
    if isinstance(value, str):
        return {"config": value} if value.endswith(".json") else {"preset": value}
    return value


class MoeWish(Wish):
    """Mixture of experts: which layers, how many experts, how many each token visits."""

    experts: Whole = Field(description="experts in one layer", examples=["64"])
    top_k: Whole = Field(description="experts that each token visits", examples=["4"])
    ffn: Whole = Field(description="hidden size of one expert's feed-forward layer", examples=["2048"])
    shared_experts: Natural = Field(0, description="experts that every token visits besides")
    dense_layers: Natural = Field(0, description="first layers that are not mixtures")
    every: Whole = Field(1, description="every n-th layer is a mixture")
    max_nodes_per_token: Whole | None = Field(
        None, description="node-limited routing: servers that one token's copies may reach"
    )


class ModelWish(Wish):
    """A transformer: a preset, a Hugging Face config.json, or its dimensions.

    With `params` alone the dimensions are assumed, and the plan says so.
    """

    name: Name | None = Field(None, description="name in reports")
    preset: str | None = Field(None, description="catalogue model such as llama3-70b")
    config: str | None = Field(None, description="path of a Hugging Face config.json, relative to the site file")
    params: Count | None = Field(None, description="parameters; checked against the dimensions when both are given")
    layers: LayerCount | None = Field(None, description="transformer layers")
    hidden: Whole | None = Field(None, description="hidden size")
    heads: Whole | None = Field(None, description="attention heads")
    kv_heads: Whole | None = Field(None, description="key and value heads (GQA); heads when not given")
    head_dim: Whole | None = Field(None, description="size of one head; hidden / heads when not given")
    ffn: Whole | None = Field(None, description="hidden size of the feed-forward layer; 4 x hidden when not given")
    vocab: Whole | None = Field(None, description="entries of the vocabulary")
    gated: bool | None = Field(None, description="gated feed-forward layer (SwiGLU): three matrices instead of two")
    tied_embeddings: bool | None = Field(None, description="one matrix for input and output embeddings")
    kv_latent: Whole | None = Field(
        None, description="elements of latent KV cache per token and layer (MLA), instead of kv_heads"
    )
    moe: MoeWish | None = Field(None, description="mixture of experts")


Model = Annotated[ModelWish, BeforeValidator(_read_model, json_schema_input_type=str | ModelWish)]


class ParallelWish(Wish):
    """How the model and the batch are split over GPUs; tp * pp * dp * cp = GPUs of the job, ep divides dp * cp (tp)."""

    tp: Whole = Field(1, description="tensor parallel")
    pp: Whole = Field(1, description="pipeline parallel")
    dp: Whole | None = Field(None, description="data parallel; the rest of the GPUs when not given")
    cp: Whole = Field(1, description="context parallel")
    ep: Whole = Field(1, description="expert parallel, inside data parallel")
    sp: bool | None = Field(None, description="sequence parallel beside tp; on when tp > 1 unless said")
    zero: Literal[0, 1, 2, 3] = Field(0, description="ZeRO stage; 1 is the distributed optimizer, 3 is FSDP")
    shard: Whole | None = Field(None, description="HSDP: ranks that share one ZeRO-3 shard set; replicas across")
    schedule: Literal["1f1b", "interleaved", "gpipe"] = Field("1f1b", description="order of passes in the pipeline")
    virtual_stages: Whole = Field(1, description="model chunks per pipeline rank (interleaved)")


class CheckpointWish(Wish):
    """Checkpoint writes to storage."""

    every_s: Duration = Field(alias="every", description="time between two checkpoints", examples=["30min"])
    bandwidth_bps: Rate | None = Field(None, alias="bandwidth", description="rate of the whole storage path")


class _JobWish(Wish):
    name: Name = Field(description="name of the job", examples=["train"])
    gpus: Whole | None = Field(None, description="GPUs; by share, or what other jobs leave, when not given")
    share: Share | None = Field(None, description="share of the cluster's GPUs")
    model: Model = Field(description="what is trained or served", examples=["{params: 13B}"])
    precision: Precision = Field("bf16", description="datatype of the matrix multiplications")
    jitter_tolerance: Literal["low", "medium", "high"] | None = Field(
        None, description="how much delay variation the business tolerates"
    )


class TrainingWish(_JobWish):
    """A training job."""

    kind: Literal["training"] = Field("training", description="training or inference")
    parallel: ParallelWish = Field(ParallelWish(), description="how the model is split over GPUs")
    sequence: Whole = Field(4096, description="tokens per sample")
    global_batch: Whole = Field(description="samples per optimizer step", examples=["256"])
    micro_batch: Whole = Field(1, description="samples per forward pass of one pipeline")
    gradient_precision: Literal["fp32", "bf16", "fp16"] = Field("fp32", description="datatype of the gradient exchange")
    optimizer: Literal["adam", "sgd", "adam8bit"] = Field("adam", description="optimizer, for its memory")
    recompute: Literal["none", "selective", "full"] = Field("selective", description="activations computed again")
    bucket_bytes: Size | None = Field(
        None, alias="bucket", description="gradient bucket; the framework's default when not given"
    )
    overlap_gradients: bool = Field(True, description="gradient exchange runs during the backward pass")
    checkpoint: CheckpointWish | None = Field(None, description="checkpoint writes to storage")
    compute_s: Duration | None = Field(
        None, alias="compute", description="measured compute of one step, instead of a prediction"
    )
    framework: Name | None = Field(
        None, description="training framework, whose defaults fill what is not said", examples=["megatron-lm"]
    )
    release: Name | None = Field(None, description="release of the framework, YY.MM in quotes", examples=['"25.09"'])
    overlap_tp: bool | None = Field(None, description="tensor-parallel exchange runs beside matrix products")
    overlap_pp: bool | None = Field(None, description="sends between pipeline stages run beside computation")
    overlap_ep: bool | None = Field(None, description="exchange of experts runs beside computation")
    flash_attention: bool | None = Field(None, description="attention keeps its scores on chip")
    compiled: bool | None = Field(None, description="a compiler fuses elementwise kernels")


class InferenceWish(_JobWish):
    """An inference service: replicas of one model, prefill and decode together or split."""

    kind: Literal["inference"] = Field("inference", description="training or inference")
    tp: Whole = Field(1, description="tensor parallel of one replica")
    pp: Whole = Field(1, description="pipeline parallel of one replica")
    ep: Whole = Field(1, description="expert parallel of one replica")
    batch: Whole = Field(16, description="sequences decoded together by one replica")
    prompt: Whole = Field(2048, description="tokens of a prompt")
    output: Whole = Field(256, description="tokens of an answer")
    requests_per_s: Annotated[float, Field(gt=0, le=MAX_REQUESTS_PER_S)] = Field(
        1.0, description="requests of the whole service per second"
    )
    prefill_replicas: Natural = Field(
        0, description="replicas that only prefill; above 0 the KV cache moves to decode replicas"
    )
    kv_precision: Literal["fp16", "bf16", "fp8"] = Field("bf16", description="datatype of the KV cache")


def _kind_of(value: Any) -> str:
    kind = value.get("kind", "training") if isinstance(value, dict) else getattr(value, "kind", "training")
    return str(kind)


Job = Annotated[
    Annotated[TrainingWish, Tag("training")] | Annotated[InferenceWish, Tag("inference")], Discriminator(_kind_of)
]
