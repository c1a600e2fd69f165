"""From a model as wished for to a `Transformer`: presets and config files are read, missing dimensions assumed by a
written rule and listed.

The rule when only `params` is known: a gated decoder with heads of 128 elements, hidden = 128 x layers rounded to whole
groups of 8 heads, 8 KV heads, feed-forward size 3.5 x hidden, a vocabulary of 128,256, untied; layers are a multiple of
4 and the feed-forward size is then set so that the count comes out. Llama 3 (8B, 70B, 405B) has these proportions
within a third.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eastwest.errors import UsageError
from eastwest.finding import Finding
from eastwest.registry import nearest
from eastwest.spec import catalogue
from eastwest.spec.jobs import ModelWish
from eastwest.units import GIGA
from eastwest.workload.imports import huggingface
from eastwest.workload.model import Mla, Moe, Transformer, count_params

ASSUMED_VOCAB = 128_256  # Llama 3
SMALL_MODEL_PARAMS = 3 * GIGA  # below it a large vocabulary would outweigh the layers
SMALL_VOCAB = 32_000  # Llama 2
ASSUMED_HEAD_DIM = 128  # GPT-3, Llama, Qwen, DeepSeek
ASSUMED_KV_HEADS = 8  # Llama 3, Qwen 2: one KV head for each GPU of a server
ASSUMED_ASPECT = 128  # hidden / layers: GPT-3 175B 128, Llama 3 8B 128, 70B 102, 405B 130
ASSUMED_LAYER_PARAMS = 13.0  # parameters of a layer / hidden^2: 12.75 with ffn 3.5 x hidden and 8 KV heads of 64
ASSUMED_GATED_FFN_RATIO = 3.5  # ffn / hidden of Llama 3 8B and 70B
PLAIN_FFN_RATIO = 4  # ffn / hidden of GPT
LAYER_STEP = 4  # so that a pipeline of 2 or 4 divides the layers
FFN_STEP = 128  # so that tp up to 8 leaves multiples of 16
MLA_Q_RANK_PER_KV_RANK = 3  # DeepSeek-V2 and V3: 1536 / 512
TOLERANCE_RATIO = 0.02  # published counts are rounded to two or three digits

MAX_CONFIG_BYTES = 4 * 1_048_576  # as a site file; a config.json has a few thousand
DETAIL_KEYS = ("biases", "qkv_bias", "qk_norm", "positions", "norms_per_layer", "embedding_norm", "mla", "shared_ffn")
ResolvedModel = tuple[Transformer | None, tuple[str, ...], tuple[Finding, ...]]


@dataclass(frozen=True, slots=True)
class _Known:
    """Dimensions that are known (keys of ModelWish), details that only a config file says, and what was assumed."""

    fields: dict[str, Any]
    details: Mapping[str, Any]
    assumed: list[str]


def resolve_model(wish: ModelWish, *, subject: str = "model", folder: Path | None = None) -> ResolvedModel:
    """The model with every dimension known, what was assumed, and findings; None when it cannot be known.

    `folder` is where a relative `config` path starts (the site file's folder). What the user wrote wins over preset and
    file.
    """
    try:
        known = _gather(wish, folder)
    except (huggingface.ConfigError, OSError) as error:
        problem = str(error.strerror if isinstance(error, OSError) else error)
        args = {"config": wish.config}
        return None, (), (Finding("EW-WORK-012", "error", subject, None, problem, "", args, path="model.config"),)
    except UsageError:
        near = {"near": nearest(str(wish.preset), catalogue.names("model")) or "-"}
        return None, (), (Finding("EW-WORK-013", "error", subject, None, wish.preset, "", near, path="model.preset"),)
    missing = [key for key in ("layers", "hidden") if known.fields.get(key) is None]
    if missing and known.fields.get("params") is None:
        words = {"missing": ", ".join(missing)}
        return None, (), (Finding("EW-WORK-011", "error", subject, args=words, path="model"),)
    model = _complete(known)
    broken = _check_shape(model, subject)
    if broken:
        return None, (), broken
    return model, tuple(known.assumed), _check_count(model, wish, known, subject)


def _gather(wish: ModelWish, folder: Path | None) -> _Known:
    fields: dict[str, Any] = {}
    details: Mapping[str, Any] = {}
    assumed: list[str] = []
    if wish.preset:
        fields = catalogue.get("model", wish.preset).as_wish()
    elif wish.config:
        read = huggingface.read(_config_text(folder / wish.config if folder else Path(wish.config)))
        fields, details = dict(read.fields), read.details
        assumed.extend(f"{wish.config}: {line}" for line in read.assumed)
    said = {key: getattr(wish, key) for key in ModelWish.model_fields if getattr(wish, key) is not None}
    fields.update({key: value for key, value in said.items() if key not in ("preset", "config")})
    if isinstance(fields.get("moe"), Mapping):
        from eastwest.spec.jobs import MoeWish

        fields["moe"] = MoeWish.model_validate(fields["moe"])
    return _Known(fields, details, assumed)


def _config_text(path: Path) -> str:
    """The text of a config.json. Raises OSError when there is none, ConfigError when it is no text of that size."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_CONFIG_BYTES + 1)
    except ValueError as error:  # a NUL in the name
        raise huggingface.ConfigError(str(error)) from error
    if len(content) > MAX_CONFIG_BYTES:
        raise huggingface.ConfigError(f"more than {MAX_CONFIG_BYTES:,} B: not a config.json")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise huggingface.ConfigError(f"not UTF-8 text: 0x{content[error.start]:02X}") from error


def _assume(known: _Known, key: str, value: Any, why: str) -> Any:
    if known.fields.get(key) is None:
        known.fields[key] = value
        known.assumed.append(f"model {key} = {value} ({why})")
    return known.fields[key]


def _complete(known: _Known) -> Transformer:
    """A transformer whose missing dimensions follow the rule of this module."""
    fields = known.fields
    sized = fields.get("layers") is None or fields.get("hidden") is None
    if fields.get("gated") is None:
        plain = (
            fields.get("ffn") is not None
            and fields.get("hidden")
            and fields["ffn"] == PLAIN_FFN_RATIO * fields["hidden"]
        )
        _assume(known, "gated", not plain, "plain when ffn = 4 x hidden, else gated as Llama")
    small = sized and fields["params"] < SMALL_MODEL_PARAMS
    _assume(known, "vocab", SMALL_VOCAB if small else ASSUMED_VOCAB, "as Llama 2" if small else "as Llama 3")
    _assume(known, "tied_embeddings", small, "usual below 3B parameters" if small else "as Llama 3")
    if sized:
        _size(known)
    hidden = fields["hidden"]
    if fields.get("heads") is None:
        _assume(known, "heads", max(1, hidden // (fields.get("head_dim") or ASSUMED_HEAD_DIM)), "heads of 128 elements")
    if fields.get("head_dim") is None:
        fields["head_dim"] = max(1, hidden // fields["heads"])
    if fields.get("kv_heads") is None:
        fields["kv_heads"] = fields["heads"]
        if fields.get("kv_latent") is None:
            known.assumed.append(f"model kv_heads = {fields['heads']} (one for each head)")
    if fields.get("ffn") is None:
        if fields.get("moe") is not None and not fields["moe"].dense_layers and fields["moe"].every == 1:
            fields["ffn"] = fields["moe"].ffn
        else:
            ratio = ASSUMED_GATED_FFN_RATIO if fields["gated"] else PLAIN_FFN_RATIO
            _assume(known, "ffn", int(ratio * hidden), f"{ratio:g} x hidden")
    model = _build(known)
    return _fit_ffn(known, model) if sized else model


def _size(known: _Known) -> None:
    """Layers and hidden size of a model of which only the parameter count is known."""
    fields, params = known.fields, known.fields["params"]
    moe = fields.get("moe")
    if fields.get("hidden") is None:
        layers = fields.get("layers")
        # params = layers * 13 * hidden^2 with hidden = 128 * layers; a mixture is sized by the same rule
        exact = (
            (params / (ASSUMED_LAYER_PARAMS * layers)) ** 0.5
            if layers
            else (params * ASSUMED_ASPECT / ASSUMED_LAYER_PARAMS) ** (1 / 3)
        )
        step = 8 * ASSUMED_HEAD_DIM if exact > 8 * ASSUMED_HEAD_DIM else ASSUMED_HEAD_DIM
        _assume(
            known, "hidden", max(step, round(exact / step) * step), "hidden = 128 x layers in whole groups of heads"
        )
    if fields.get("kv_heads") is None and fields.get("kv_latent") is None and fields.get("heads") is None:
        heads = fields["hidden"] // (fields.get("head_dim") or ASSUMED_HEAD_DIM)
        if heads % ASSUMED_KV_HEADS == 0:
            _assume(known, "kv_heads", ASSUMED_KV_HEADS, "grouped query attention as Llama 3")
    if fields.get("layers") is None:
        hidden = fields["hidden"]
        ffn = fields.get("ffn") or int((ASSUMED_GATED_FFN_RATIO if fields["gated"] else PLAIN_FFN_RATIO) * hidden)
        probe = {**fields, "layers": 1, "ffn": ffn, "heads": fields.get("heads") or max(1, hidden // ASSUMED_HEAD_DIM)}
        probe["head_dim"] = fields.get("head_dim") or max(1, hidden // probe["heads"])
        probe["kv_heads"] = fields.get("kv_heads") or probe["heads"]
        probe["moe"] = moe.model_copy(update={"dense_layers": 0, "every": 1}) if moe else None
        one = count_params(_build(_Known(probe, known.details, []))).total
        two = count_params(_build(_Known({**probe, "layers": 2}, known.details, []))).total
        exact_layers = (params - one) / (two - one) + 1
        _assume(
            known, "layers", max(LAYER_STEP, round(exact_layers / LAYER_STEP) * LAYER_STEP), "by the parameter count"
        )


def _fit_ffn(known: _Known, model: Transformer) -> Transformer:
    """The same dense model with the feed-forward size set so that the count comes out as wished."""
    wanted: int = known.fields["params"]
    if model.moe is not None or not any(line.startswith("model ffn") for line in known.assumed):
        return model
    slope = (
        count_params(replace(model, ffn=2 * FFN_STEP)).total - count_params(replace(model, ffn=FFN_STEP)).total
    ) / FFN_STEP
    exact = model.ffn + (wanted - count_params(model).total) / slope
    ffn = max(FFN_STEP, round(exact / FFN_STEP) * FFN_STEP)
    known.assumed[:] = [line for line in known.assumed if not line.startswith("model ffn")]
    known.assumed.append(f"model ffn = {ffn} (so that the parameter count comes out)")
    return replace(model, ffn=ffn)


def _build(known: _Known) -> Transformer:
    fields, details = known.fields, dict(known.details)
    mla = details.pop("mla", None) or _latent(known)
    wish = fields.get("moe")
    shared_ffn = details.pop("shared_ffn", None)
    moe = None
    if wish is not None:
        shared = wish.shared_experts * wish.ffn if shared_ffn is None else shared_ffn
        moe = Moe(wish.experts, wish.top_k, wish.ffn, shared, wish.dense_layers, wish.every, wish.max_nodes_per_token)
    details.setdefault("biases", not fields["gated"])
    keys = ("layers", "hidden", "heads", "kv_heads", "head_dim", "ffn", "vocab", "gated", "tied_embeddings")
    sizes = {key: fields[key] for key in keys}
    return Transformer(name=str(fields.get("name") or "model"), mla=mla, moe=moe, **sizes, **details)


def _latent(known: _Known) -> Mla | None:
    """Latent attention when only its cache size is known, with the proportions of DeepSeek-V2 and V3."""
    latent = known.fields.get("kv_latent")
    if latent is None:
        return None
    head_dim = known.fields["head_dim"]
    rope = head_dim // 2
    rank = latent - rope
    q_rank = MLA_Q_RANK_PER_KV_RANK * rank
    line = f"model latent attention: rotary part {rope}, KV rank {rank}, Q rank {q_rank} (as DeepSeek-V3)"
    if line not in known.assumed:
        known.assumed.append(line)
    return Mla(kv_rank=rank, q_rank=q_rank, rope_dim=rope, v_dim=head_dim)


def _check_shape(model: Transformer, subject: str) -> tuple[Finding, ...]:
    """A finding for each rule that the dimensions of every decoder keep and these do not."""
    mla, moe = model.mla, model.moe
    rules = [
        ("head_dim > 0", model.head_dim > 0, {"head_dim": model.head_dim}),
        (
            "heads % kv_heads = 0",
            mla is not None or model.heads % model.kv_heads == 0,
            {"heads": model.heads, "kv_heads": model.kv_heads},
        ),
        ("kv_latent > head_dim / 2", mla is None or mla.kv_rank > 0, {"head_dim": model.head_dim}),
    ]
    if moe is not None:
        rules += [
            ("top_k <= experts", moe.top_k <= moe.experts, {"top_k": moe.top_k, "experts": moe.experts}),
            (
                "dense_layers < layers",
                moe.dense_layers < model.layers,
                {"dense_layers": moe.dense_layers, "layers": model.layers},
            ),
        ]
    return tuple(
        Finding("EW-WORK-014", "error", subject, rule, _listed(found), path="model")
        for rule, holds, found in rules
        if not holds
    )


def _listed(found: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {value:,}" for name, value in found.items())


def _check_count(model: Transformer, wish: ModelWish, known: _Known, subject: str) -> tuple[Finding, ...]:
    """A finding when the stated parameter count and the dimensions disagree by more than 2 %."""
    stated = known.fields.get("params")
    if stated is None:
        return ()
    counted = count_params(model).total
    off = counted / stated - 1
    if abs(off) <= TOLERANCE_RATIO:
        return ()
    return (
        Finding(
            "EW-WORK-010",
            "warning",
            subject,
            expected=stated,
            observed=counted,
            unit="parameters",
            args={"off_percent": f"{off * 100:+.1f}", "assumed": "; ".join(known.assumed) or "-"},
            path="model.params",
        ),
    )


def dimensions_text(model: Transformer) -> str:
    """The dimensions as one JSON line, for facts and `why`."""
    keys = ("layers", "hidden", "heads", "kv_heads", "head_dim", "ffn", "vocab")
    return json.dumps({key: getattr(model, key) for key in keys})
