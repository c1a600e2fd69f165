"""Reads a Hugging Face `config.json` into the keys of a site's `model`: llama, mistral, mixtral, qwen, deepseek, gpt2,
gpt_neox, bloom, falcon.

Only the architecture's shape is read; training arguments, rotary scaling and quantisation are not. An unknown
architecture is read when it names its dimensions in the usual words; otherwise the error lists the keys that are
missing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eastwest.workload.model import Mla

PLAIN_TYPES = frozenset(
    {"gpt2", "gpt_neox", "gptj", "gpt_neo", "bloom", "opt", "falcon", "mpt", "gpt_bigcode", "phi", "starcoder2"}
)
TIED_BY_DEFAULT = frozenset(
    {"gpt2", "bloom", "opt", "falcon", "gemma", "gemma2", "gemma3", "gpt_neo", "gpt_bigcode", "mpt"}
)
QKV_BIAS_TYPES = frozenset({"qwen2", "qwen2_moe", "qwen2_5_vl_text"})
QK_NORM_TYPES = frozenset({"qwen3", "qwen3_moe"})
ALIASES: Mapping[str, tuple[str, ...]] = {
    "layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "hidden": ("hidden_size", "n_embd", "d_model", "n_embed", "model_dim"),
    "heads": ("num_attention_heads", "n_head", "n_heads"),
    "kv_heads": ("num_key_value_heads", "num_kv_heads"),
    "head_dim": ("head_dim",),
    "ffn": ("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"),
    "vocab": ("vocab_size",),
}
EXPERTS = ("num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts")
EXPERT_FFN = ("moe_intermediate_size", "moe_ffn_hidden_size")
TOP_K = ("num_experts_per_tok", "num_experts_per_token", "moe_top_k")
MAX_LAYERS, MAX_DIMENSION = 10_000, 10_000_000  # as in a site file: no model comes near
PLAIN_FFN_RATIO = 4  # n_inner is 4 x hidden where a GPT-like config leaves it out


class ConfigError(ValueError):
    """A config.json that does not say a model's shape: what is missing or wrong."""


@dataclass(frozen=True, slots=True)
class HuggingFaceModel:
    """What a config.json says: `fields` under the keys of a site's `model`, `details` that a site cannot say, and
    what had to be assumed.
    """

    fields: Mapping[str, Any]
    details: Mapping[str, Any] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()


def read(text: str) -> HuggingFaceModel:
    """The model of a config.json's text.

    Raises ConfigError with the missing keys when the dimensions are not there.

    >>> read('{"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4, '
    ...      '"intermediate_size": 128, "vocab_size": 1000}').fields["kv_heads"]
    4
    """
    config = _parse(text)
    kind = str(config.get("model_type", ""))
    assumed: list[str] = []
    fields: dict[str, Any] = {key: _first(config, names) for key, names in ALIASES.items()}
    missing = [
        f"{key} ({' or '.join(ALIASES[key])})" for key in ("layers", "hidden", "heads", "vocab") if not fields[key]
    ]
    if missing:
        raise ConfigError(f"model_type {kind or 'not given'!r}: missing {', '.join(missing)}")
    fields["gated"] = kind not in PLAIN_TYPES
    if not kind or not fields["ffn"]:
        _fill_ffn(fields, config, kind, assumed)
    if kind == "falcon":
        fields["kv_heads"] = _falcon_kv_heads(config, int(fields["heads"]))
    fields["kv_heads"] = fields["kv_heads"] or fields["heads"]
    fields["head_dim"] = fields["head_dim"] or _head_dim(fields["hidden"], fields["heads"])
    fields["tied_embeddings"] = bool(config.get("tie_word_embeddings", kind in TIED_BY_DEFAULT))
    details = _details(config, kind)
    _add_latent(fields, details, config)
    _add_experts(fields, details, config)
    fields["name"] = _name(config, kind)
    return HuggingFaceModel({key: value for key, value in fields.items() if value is not None}, details, tuple(assumed))


def _parse(text: str) -> Mapping[str, Any]:
    try:
        config = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(f"not JSON: {error.msg} in line {error.lineno}") from error
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, brackets without end
        raise ConfigError("a number or a nesting that no model has") from error
    if not isinstance(config, dict):
        raise ConfigError("not a JSON object")
    inner = config.get("text_config")
    return {**config, **inner} if isinstance(inner, dict) else config


def _first(config: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    """The first of several keys that is there; None when none is."""
    return next((_whole(config, name, 1) for name in names if config.get(name) is not None), None)


def _whole(config: Mapping[str, Any], name: str, least: int, default: int = 0) -> int:
    """A whole number from `least` to the most that a dimension may have; the default when it is absent or null."""
    value = config.get(name)
    if value is None:
        return default
    most = MAX_LAYERS if name in ALIASES["layers"] else MAX_DIMENSION
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        shown = "a number beyond all models" if isinstance(value, int) and abs(value) > 10**18 else repr(value)[:60]
        raise ConfigError(f"{name}: expected a whole number from {least} to {most:,}, found {shown}")
    return value


def _fill_ffn(fields: dict[str, Any], config: Mapping[str, Any], kind: str, assumed: list[str]) -> None:
    if not kind:
        fields["gated"] = config.get("hidden_act", "silu") == "silu"
        assumed.append(
            "model_type is missing: " + ("gated" if fields["gated"] else "plain") + " feed-forward layers assumed"
        )
    if not fields["ffn"]:
        expert = _first(config, EXPERT_FFN)
        if fields["gated"] and not expert:
            raise ConfigError(f"model_type {kind or 'not given'!r}: missing ffn ({' or '.join(ALIASES['ffn'])})")
        fields["ffn"] = expert or PLAIN_FFN_RATIO * int(fields["hidden"])


def _head_dim(hidden: int, heads: int) -> int:
    """The size of a head that the config leaves out."""
    if hidden % heads:
        raise ConfigError(f"head_dim is missing, and {heads} heads do not divide the hidden size {hidden}")
    return hidden // heads


def _falcon_kv_heads(config: Mapping[str, Any], heads: int) -> int:
    if config.get("new_decoder_architecture"):
        return _whole(config, "num_kv_heads", 1, heads)
    return 1 if config.get("multi_query", True) else heads


def _details(config: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Biases, norms and learned positions by architecture."""
    details: dict[str, Any] = {
        "biases": kind in PLAIN_TYPES and not (kind == "falcon" and not config.get("bias", False))
    }
    if kind in QKV_BIAS_TYPES or (kind not in PLAIN_TYPES and config.get("attention_bias")):
        details["qkv_bias"] = True
    if kind in QK_NORM_TYPES:
        details["qk_norm"] = True
    if kind in ("gpt2", "opt", "gpt_bigcode"):
        details["positions"] = _first(config, ("n_positions", "max_position_embeddings")) or 0
    if kind == "bloom":
        details["embedding_norm"] = True
    return details


def _add_latent(fields: dict[str, Any], details: dict[str, Any], config: Mapping[str, Any]) -> None:
    """Latent attention of DeepSeek-V2, V3 and Kimi K2."""
    rank = _whole(config, "kv_lora_rank", 0)
    if not rank:
        return
    rope, nope = _whole(config, "qk_rope_head_dim", 0, 64), _whole(config, "qk_nope_head_dim", 1, 128)
    value = _whole(config, "v_head_dim", 1, nope)
    details["mla"] = Mla(kv_rank=rank, q_rank=_whole(config, "q_lora_rank", 0), rope_dim=rope, v_dim=value)
    fields["head_dim"], fields["kv_latent"], fields["kv_heads"] = nope, rank + rope, None


def _add_experts(fields: dict[str, Any], details: dict[str, Any], config: Mapping[str, Any]) -> None:
    experts = _first(config, EXPERTS)
    if not experts or experts == 1:
        return
    ffn = _first(config, EXPERT_FFN) or fields["ffn"]
    top_k = _first(config, TOP_K)
    if not top_k:
        raise ConfigError(f"mixture of {experts} experts: missing top_k ({' or '.join(TOP_K)})")
    shared = _whole(config, "n_shared_experts", 0)
    moe: dict[str, Any] = {"experts": experts, "top_k": top_k, "ffn": ffn, "shared_experts": shared}
    _add_frequency(moe, config)
    groups = _whole(config, "topk_group", 0)
    if groups and _whole(config, "n_group", 0, 1) > 1:
        moe["max_nodes_per_token"] = groups
    shared_ffn = _whole(config, "shared_expert_intermediate_size", 0)
    if shared_ffn:
        details["shared_ffn"] = shared_ffn
    fields["moe"] = moe


def _add_frequency(moe: dict[str, Any], config: Mapping[str, Any]) -> None:
    """Which layers are mixtures: every n-th, or a list of 0 and 1 with the dense layers first."""
    listed = config.get("moe_layer_freq")
    if isinstance(listed, list):
        dense = listed.index(1) if 1 in listed else len(listed)
        if any(item != 1 for item in listed[dense:]) or any(item != 0 for item in listed[:dense]):
            raise ConfigError("moe_layer_freq: expected a number, or a list of zeros and then ones")
        moe["dense_layers"], moe["every"] = dense, 1
        return
    moe["dense_layers"] = _whole(config, "first_k_dense_replace", 0)
    moe["every"] = _whole(config, "moe_layer_freq", 0) or _whole(config, "decoder_sparse_step", 0) or 1


def _name(config: Mapping[str, Any], kind: str) -> str:
    path = str(config.get("_name_or_path") or "").rstrip("/").rpartition("/")[2]
    words = path if path and path[0].isalnum() else kind or "model"
    return "".join(letter if letter.isalnum() or letter in "._-" else "-" for letter in words)[:63]
