"""From Megatron-LM arguments to the keys of a training job: what each argument means for the account, and
Megatron's defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any, Protocol

from eastwest.finding import Evidence, Finding

GPT2_VOCAB = 50_257  # GPT2BPETokenizer
VOCAB_DIVISOR = 128  # default of --make-vocab-size-divisible-by
MLA_ROPE_DIM, MLA_QK_DIM, MLA_KV_RANK = 64, 128, 32  # defaults of Megatron's MLA arguments
PLAIN_FFN_RATIO = 4  # ffn_hidden_size = 4 x hidden_size
SWIGLU_FFN_STEP = 64  # with --swiglu: int(4 x hidden x 2/3 / 64) x 64
MAX_SHOWN = 60  # characters of a value that a sentence repeats
MAX_DIGITS = 13  # of a number; ten trillion is more than any argument has
SHARDING = {"no_shard": 0, "optim": 1, "optim_grads": 2, "optim_grads_params": 3}

USED_VALUES = frozenset(
    {
        "--context-parallel-size",
        "--data-parallel-sharding-strategy",
        "--ddp-bucket-size",
        "--expert-model-parallel-size",
        "--ffn-hidden-size",
        "--fp8-format",
        "--fp8-recipe",
        "--global-batch-size",
        "--hidden-size",
        "--kv-channels",
        "--kv-lora-rank",
        "--make-vocab-size-divisible-by",
        "--micro-batch-size",
        "--moe-ffn-hidden-size",
        "--moe-layer-freq",
        "--moe-router-topk",
        "--moe-shared-expert-intermediate-size",
        "--num-attention-heads",
        "--num-experts",
        "--num-layers",
        "--num-layers-per-virtual-pipeline-stage",
        "--num-query-groups",
        "--num-virtual-stages-per-pipeline-rank",
        "--optimizer",
        "--padded-vocab-size",
        "--pipeline-model-parallel-size",
        "--qk-head-dim",
        "--qk-pos-emb-head-dim",
        "--recompute-granularity",
        "--seq-length",
        "--tensor-model-parallel-size",
        "--tokenizer-type",
        "--vocab-size",
        "--moe-router-group-topk",
        "--num-distributed-optimizer-instances",
    }
)
USED_FLAGS = frozenset(
    {
        "--accumulate-allreduce-grads-in-fp32",
        "--bf16",
        "--fp16",
        "--fp8-hybrid",
        "--fp8",
        "--grad-reduce-in-bf16",
        "--group-query-attention",
        "--multi-latent-attention",
        "--no-overlap-p2p-communication",
        "--overlap-grad-reduce",
        "--overlap-param-gather",
        "--recompute-activations",
        "--sequence-parallel",
        "--swiglu",
        "--tp-comm-overlap",
        "--untie-embeddings-and-output-weights",
        "--use-distributed-optimizer",
        "--use-flash-attn",
        "--use-megatron-fsdp",
        "--use-custom-fsdp",
        "--use-torch-fsdp2",
    }
)


def whole_number(text: str) -> int | None:
    """The number of a text of at most 13 decimal digits; None for every other text."""
    return int(text) if text.isdecimal() and len(text) <= MAX_DIGITS else None


class Written(Protocol):
    """An argument as `megatron.Argument` holds it."""

    @property
    def value(self) -> str | None:
        """Value as text, None for a switch."""
        ...

    @property
    def line(self) -> int:
        """Line from 1."""
        ...


class _Reading:
    """Arguments by name, and what went wrong or was assumed while they were read."""

    def __init__(self, found: Mapping[str, Written], source: str) -> None:
        self.found, self.source = found, source
        self.flaws: list[Finding] = []
        self.assumed: list[str] = []

    def has(self, *names: str) -> bool:
        return any(name in self.found for name in names)

    def text(self, name: str) -> str | None:
        argument = self.found.get(name)
        return argument.value if argument else None

    def number(self, name: str, default: int | None = None) -> int | None:
        """A whole number above 0, the default when absent; a value that is none is a flaw."""
        argument = self.found.get(name)
        if argument is None or (argument.value or "").lower() == "none":
            return default
        text = (argument.value or "").replace("_", "")
        number = whole_number(text)
        if number:
            return number
        shown = (argument.value or "")[:MAX_SHOWN]
        evidence = (Evidence(self.source, argument.line, f"{name} {shown}".strip()),)
        args = {"name": name, "line": argument.line}
        code = "EW-WORK-042" if "$" in text else "EW-WORK-041"
        self.flaws.append(Finding(code, "error", name, "whole number above 0", shown or "nothing", "", args, evidence))
        return default

    def needed(self, name: str) -> int:
        if name not in self.found:
            self.flaws.append(Finding("EW-WORK-040", "error", name, args={"source": self.source}))
        return self.number(name, 1) or 1


def job_of(
    found: Mapping[str, Written], source: str, gpus: int | None
) -> tuple[dict[str, Any], tuple[str, ...], tuple[Finding, ...]]:
    """A training job (keys of a site file's `jobs` entry), what was assumed, and what is missing or wrong, all at
    once.
    """
    reading = _Reading(found, source)
    parallel = _parallel(reading)
    model = _model(reading, parallel["tp"])
    layers = model["layers"]
    _add_virtual(reading, parallel, layers)
    micro = reading.number("--micro-batch-size", 1) or 1
    job: dict[str, Any] = {
        "name": "megatron",
        "kind": "training",
        "model": model,
        "parallel": parallel,
        "sequence": reading.needed("--seq-length"),
        "micro_batch": micro,
        "global_batch": _global_batch(reading, parallel, micro, gpus),
        **_precisions(reading),
        "optimizer": {"sgd": "sgd"}.get(reading.text("--optimizer") or "adam", "adam"),
        "recompute": _recompute(reading),
        "overlap_gradients": reading.has("--overlap-grad-reduce"),
        "framework": "megatron-lm",
        "overlap_tp": reading.has("--tp-comm-overlap"),
    }
    if reading.has("--use-flash-attn"):
        job["flash_attention"] = True
    if reading.has("--no-overlap-p2p-communication"):
        job["overlap_pp"] = False
    elements = reading.number("--ddp-bucket-size")
    if elements:
        job["bucket"] = elements * (4 if job["gradient_precision"] == "fp32" else 2)
    if gpus:
        job["gpus"] = gpus
    return job, tuple(reading.assumed), tuple(reading.flaws)


def _parallel(reading: _Reading) -> dict[str, Any]:
    tp = reading.number("--tensor-model-parallel-size", 1) or 1
    zero = 1 if reading.has("--use-distributed-optimizer") else 0
    strategy = reading.text("--data-parallel-sharding-strategy")
    if reading.has("--use-torch-fsdp2"):
        zero = 3
    elif reading.has("--use-megatron-fsdp", "--use-custom-fsdp"):
        zero = SHARDING.get(strategy or "no_shard", zero)
    return {
        "tp": tp,
        "pp": reading.number("--pipeline-model-parallel-size", 1) or 1,
        "cp": reading.number("--context-parallel-size", 1) or 1,
        "ep": reading.number("--expert-model-parallel-size", 1) or 1,
        "sp": reading.has("--sequence-parallel"),
        "zero": zero,
    }


def _add_virtual(reading: _Reading, parallel: dict[str, Any], layers: int) -> None:
    stages = reading.number("--num-virtual-stages-per-pipeline-rank")
    each = reading.number("--num-layers-per-virtual-pipeline-stage")
    if each and not stages:
        stages = max(1, layers // (parallel["pp"] * each))
    if stages and stages > 1:
        parallel["virtual_stages"], parallel["schedule"] = stages, "interleaved"


def _model(reading: _Reading, tp: int) -> dict[str, Any]:
    hidden, heads = reading.needed("--hidden-size"), reading.needed("--num-attention-heads")
    gated = reading.has("--swiglu")
    plain = PLAIN_FFN_RATIO * hidden
    default = int(plain * 2 / 3 / SWIGLU_FFN_STEP) * SWIGLU_FFN_STEP if gated else plain
    ffn = reading.number("--ffn-hidden-size", default) or plain
    groups = reading.number("--num-query-groups", 1) if reading.has("--group-query-attention") else None
    model: dict[str, Any] = {
        "layers": reading.needed("--num-layers"),
        "hidden": hidden,
        "heads": heads,
        "kv_heads": groups or heads,
        "head_dim": reading.number("--kv-channels", max(1, hidden // heads)),
        "ffn": ffn,
        "gated": gated,
        "tied_embeddings": not reading.has("--untie-embeddings-and-output-weights"),
    }
    _add_vocab(reading, model, tp)
    if reading.has("--multi-latent-attention"):
        rope = reading.number("--qk-pos-emb-head-dim", MLA_ROPE_DIM) or MLA_ROPE_DIM
        model["kv_latent"] = (reading.number("--kv-lora-rank", MLA_KV_RANK) or MLA_KV_RANK) + rope
        model["head_dim"] = reading.number("--qk-head-dim", MLA_QK_DIM)
        del model["kv_heads"]
    _add_experts(reading, model, ffn)
    return model


def _add_vocab(reading: _Reading, model: dict[str, Any], tp: int) -> None:
    """The vocabulary, padded to a multiple of --make-vocab-size-divisible-by times tp as Megatron does."""
    padded = reading.number("--padded-vocab-size")
    vocab = reading.number("--vocab-size")
    if vocab is None and "GPT2BPE" in (reading.text("--tokenizer-type") or ""):
        vocab = GPT2_VOCAB
    step = (reading.number("--make-vocab-size-divisible-by", VOCAB_DIVISOR) or VOCAB_DIVISOR) * tp
    if padded:
        model["vocab"] = padded
    elif vocab:
        model["vocab"] = ceil(vocab / step) * step
        if model["vocab"] != vocab:
            reading.assumed.append(f"vocabulary {vocab} padded to {model['vocab']}, a multiple of {step}")


def _add_experts(reading: _Reading, model: dict[str, Any], ffn: int) -> None:
    experts = reading.number("--num-experts")
    if not experts:
        return
    expert_ffn = reading.number("--moe-ffn-hidden-size", ffn) or ffn
    moe: dict[str, Any] = {"experts": experts, "top_k": reading.number("--moe-router-topk", 2), "ffn": expert_ffn}
    shared = reading.number("--moe-shared-expert-intermediate-size")
    if shared:
        moe["shared_experts"] = max(1, round(shared / expert_ffn))
        if shared % expert_ffn:
            reading.assumed.append(
                f"shared experts of {shared} elements taken as {moe['shared_experts']} x {expert_ffn}"
            )
    limit = reading.number("--moe-router-group-topk")
    if limit:
        moe["max_nodes_per_token"] = limit
    _add_frequency(reading, moe)
    model["moe"] = moe


def _add_frequency(reading: _Reading, moe: dict[str, Any]) -> None:
    """`2` (every second layer) or `([0]*3+[1]*58)` (three dense layers first)."""
    text = (reading.text("--moe-layer-freq") or "1").replace(" ", "").strip("'\"()")
    every = whole_number(text)
    if every is not None:
        moe["every"] = max(1, every)
        return
    first, _, rest = text.partition("+")
    dense = first.removeprefix("[0]*")
    layers = whole_number(dense)
    if layers is not None and rest.startswith("[1]"):
        moe["dense_layers"] = layers
    elif not first.startswith("[1]"):
        reading.assumed.append(f"--moe-layer-freq {text} is not understood: every layer taken as a mixture")


def _precisions(reading: _Reading) -> dict[str, str]:
    """Datatype of the computation and of the gradient exchange; with --bf16 gradients are fp32 unless
    --grad-reduce-in-bf16.
    """
    precision = "bf16" if reading.has("--bf16") else "fp16" if reading.has("--fp16") else "fp32"
    gradient = precision
    if reading.has("--accumulate-allreduce-grads-in-fp32") or (
        precision == "bf16" and not reading.has("--grad-reduce-in-bf16")
    ):
        gradient = "fp32"
    if reading.has("--fp8-format", "--fp8-hybrid", "--fp8", "--fp8-recipe"):
        recipe = (reading.text("--fp8-recipe") or "").lower()
        precision = "mxfp8" if "mxfp8" in recipe else "fp8"
    return {"precision": precision, "gradient_precision": gradient}


def _recompute(reading: _Reading) -> str:
    granularity = reading.text("--recompute-granularity")
    if granularity in ("full", "selective"):
        return granularity
    if not reading.has("--recompute-activations"):
        reading.assumed.append(
            "no recompute asked for: fused attention keeps no scores, which is counted as recompute selective"
        )
    return "selective"


def _global_batch(reading: _Reading, parallel: Mapping[str, Any], micro: int, gpus: int | None) -> int:
    """The global batch; Megatron's default is one micro-batch for each data-parallel rank."""
    if reading.has("--global-batch-size") or not gpus:
        return reading.needed("--global-batch-size")
    ranks = max(1, gpus // int(parallel["tp"] * parallel["pp"] * parallel["cp"]))
    reading.assumed.append(
        f"global batch {micro * ranks}: one micro-batch of {micro} for each of {ranks} data-parallel ranks"
    )
    return micro * ranks
