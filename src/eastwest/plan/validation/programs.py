"""The program of a row: framework, precision, recompute, sharding, schedule, overlaps, in the words of `TrainingRun`.

What a row does not say stays None: the step model assumes it in one place and says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from eastwest.plan.validation.training_table import TrainingRow
from eastwest.simulate.analytic.assumptions import SERVER_GPUS, STATE_BYTES
from eastwest.simulate.analytic.programs import MEGATRON, name_of
from eastwest.units import GIGA

PAPERS = (  # training program of a paper or of the one model that is named, where no program is
    ("megatron-lm", r"2104\.04473|2205\.05198|2402\.16819|2406\.11704|2305\.06161|2310\.19341|star-?coder"),
    ("megascale", r"2402\.15627"),
    ("megatron-deepspeed", r"2201\.11990|2211\.05100|2210\.02414|mt-nlg|\bbloom\b|glm-?130b"),
    ("gpt-neox", r"2204\.06745|2304\.01373|pythia"),
    ("fairscale", r"2205\.01068|\bopt-\d"),
    ("meta", r"2407\.21783"),
    ("hai-llm", r"2412\.19437|2405\.04434|2401\.06066"),
    ("fsdp", r"2402\.00838|2501\.00656|2401\.02385|tiny-?llama"),
    ("llm-foundry", r"\bmpt-\d"),
    ("jax", r"2204\.02311"),
)
LIBRARIES = r"accelerate|hugging ?face|transformers|lightning|x-?formers|pytorch"  # sharded by PyTorch's FSDP
_TEXTS = ("sharding", "optimisations", "overlap", "kernels", "schedule", "system", "section", "note", "notes")
_PRECISIONS = (  # first match; names are those of TrainingRun
    ("nvfp4", r"nvfp4|\bfp4\b"),
    ("mxfp8", r"mx-?fp8|fp8-?mx|\bfp8-mx\b"),
    ("fp8_rowwise", r"(?:float8|fp8)[^,;]*row-?wise"),
    ("fp8", r"fp8|float8|e4m3"),
    ("bf16", r"bf16|bfloat16"),
    ("fp16", r"fp16|float16|half"),
)
DEFAULT_PRECISION = "bf16"
_HYBRID = r"HSDP|HYBRID_SHARD|hybrid[- ]shard"
_FULLY = rf"FSDP|FULL_SHARD|fully[- ]shard|{_HYBRID}"
_RELEASED = r"FULL_SHARD|HYBRID_SHARD"
HYBRID_BYTES = 40e9  # half of an 80 GB GPU is left to activations
GRADIENT_BYTES = {"PURE": 2.0, "DEFAULT": 4.0}  # llm-foundry's FSDP mixed precision: reduces in 16 or in 32 bit


@dataclass(frozen=True, slots=True)
class Framework:
    """A training framework, and which words of the row say so ("": its own field)."""

    name: str
    by: str


def framework_of(row: TrainingRow, added: Iterable[str] = ()) -> Framework | None:
    """The training framework of a row: named by its own field, by the variants that it builds on, by its source, by
    words that only one framework uses, by its paper or model. A field that names none that is known stays as written;
    None when nothing says one.
    """
    said = row.text("framework").strip()
    found = name_of(said) or ("fsdp" if re.search(LIBRARIES, said, re.I) else None)
    if found:
        return Framework(_of_comparison(found, row), "")
    for text, where in ((" ".join(added), "variant"), (row.text("source"), "source"), (row.id, "id")):
        found = name_of(text)
        if found:
            return Framework(_of_comparison(found, row), where)
    return Framework(said, "") if said else _by_words(row)


def _of_comparison(name: str, row: TrainingRow) -> str:
    """SC'21, table 2, and its like: Megatron-LM's page compares with ZeRO-3, which is DeepSpeed."""
    return "deepspeed" if name == MEGATRON and re.search(r"zero-?3", row.text("sharding"), re.I) else name


def _by_words(row: TrainingRow) -> Framework | None:
    """The framework by words that only it uses, else by its paper or by the one model that it is known for."""
    if row.text("mixed_precision_mode").upper() in GRADIENT_BYTES:
        return Framework("llm-foundry", "mixed precision mode")
    if "async_tp" in row.data or precision_of(row.text("precision")) == "fp8_rowwise":
        return Framework("torchtitan", "async_tp or row-wise float8")
    for key in _TEXTS:
        name = name_of(row.text(key))
        if name and name != "fsdp":  # sharded weights alone are no program: the step model looks at the whole run
            return Framework(name, key)
    for key in ("source", "id", "model"):
        name = next((name for name, pattern in PAPERS if re.search(pattern, row.text(key), re.I)), None)
        if name:
            return Framework(name, key)
    return None


def precision_of(printed: str) -> str | None:
    """The datatype of the layers' matrix products; bf16 when nothing is printed, None when it is none that is known.

    >>> precision_of("fp16 mixed"), precision_of("FP8-MX"), precision_of("float8 rowwise"), precision_of("tf32")
    ('fp16', 'mxfp8', 'fp8_rowwise', None)
    """
    if not printed.strip():
        return DEFAULT_PRECISION
    return next((name for name, pattern in _PRECISIONS if re.search(pattern, printed, re.I)), None)


def recompute_of(printed: str) -> str | None:
    """`none`, `selective` or `full`; None when nothing is printed.

    >>> recompute_of("selective op"), recompute_of("full"), recompute_of("")
    ('selective', 'full', None)
    """
    text = printed.strip().lower()
    if not text:
        return None
    if re.search(r"select|\bop\b|\bsac\b|partial", text):
        return "selective"
    return "none" if re.search(r"^(?:none|no|off|false|0)\b", text) else "full"


def sharding_of(row: TrainingRow) -> dict[str, Any]:
    """ZeRO stage, ranks of one sharded copy and whether weights are released after the forward pass, where said."""
    text, fsdp = f"{row.text('sharding')} {row.text('layout')}", row.count("fsdp")
    stage = re.search(r"zero(?:[- _]*stage)?[- _]*([0-3])(?! style)|zero[- _]?(infinity)", text, re.I)
    found: dict[str, Any] = {}
    if fsdp and fsdp > 1:
        found = {"zero": 3, "shard": fsdp}
    elif re.search(r"SHARD_GRAD_OP|no reshard|ZeRO-2 style", text, re.I):
        found = {"zero": 3, "reshard": False}
    elif re.search(_FULLY, text, re.I):
        found = {"zero": 3, "reshard": True} if re.search(_RELEASED, text, re.I) else {"zero": 3}
        ranks = re.search(r"(?:FSDP2?|HSDP)\s*x\s*(\d{1,6})", text, re.I)
        if ranks and int(ranks[1]) > 1:
            found["shard"] = int(ranks[1])
        elif re.search(_HYBRID, text, re.I):
            found["shard"] = _hybrid_ranks(row)
    elif stage:
        found = {"zero": int(stage[1] or 3)}
    elif re.search(r"distributed optimi[sz]er|optimi[sz]er[- ]state sharding", text, re.I):
        found = {"zero": 1}
    elif re.search(r"\bnone\b|\bDDP\b", text, re.I):
        found = {"zero": 0}
    return found


def _hybrid_ranks(row: TrainingRow) -> int:
    """Ranks of one copy where copies are replicated: a server's GPUs, doubled until the model's state fits."""
    ranks = row.count("gpus_per_node") or SERVER_GPUS
    params = row.data.get("params_b", 0) * GIGA
    while params * STATE_BYTES / ranks > HYBRID_BYTES:
        ranks *= 2
    return ranks


def schedule_of(row: TrainingRow, pp: int) -> dict[str, Any]:
    """Pipeline schedule and model chunks of a rank, where said."""
    text, chunks = row.text("schedule"), row.count("vp")
    found: dict[str, Any] = {"virtual_stages": chunks} if chunks else {}
    if pp == 1:
        return {}
    if re.search(r"zero[- ]bubble|\bZB", text, re.I):
        found["schedule"] = "zero_bubble"
    elif re.search(r"dual-?pipe", text, re.I):
        found["schedule"] = "zero_bubble"  # DeepSeek-V3 2024, table 2: half the chunks' bubble, weights' passes fill it
    elif re.search(r"interleav", text, re.I) and not re.search(r"\bor\b", text):
        found["schedule"] = "interleaved"
    elif chunks:
        found["schedule"] = "interleaved" if chunks > 1 else "1f1b"
    elif re.search(r"1F1B", text, re.I) and not re.search(r"\bor\b", text):
        found["schedule"] = "1f1b"
    return found


def features_of(row: TrainingRow, added: Iterable[str] = ()) -> dict[str, Any]:
    """Overlaps, kernels and the shape of a block that a row's texts name; `added` are variants of rows before it."""
    said = " ; ".join((row.text("optimisations"), row.text("overlap"), row.text("kernels"), *added))
    found: dict[str, Any] = {}
    for letters, field in (("TP", "overlap_tp"), ("DP", "overlap_dp"), ("PP", "overlap_pp"), ("EP", "overlap_ep")):
        if re.search(rf"\b{letters}\b[^;]*\boverlap|(?:^|, )overlap\b(?=,|$| ;)", said) and "no overlap" not in said:
            found[field] = True
    if re.search(r"dual-?pipe", f"{row.text('schedule')} {said}", re.I):
        found["overlap_ep"] = True  # its purpose: dispatch and combine beside another micro-batch's computation
    if re.search(r"parallel (?:transformer )?block|\bPTB\b", said, re.I):
        found["parallel_block"] = True
    if re.search(r"sliding[- ]window", said, re.I) and row.count("seq"):
        found["window"] = max(1, row.data["seq"] // 2)
    if re.search(r"flash|efficient operators", said, re.I):
        found["flash_attention"] = True
    if re.search(r"compile", row.text("precision"), re.I) or re.search(r"efficient operators|compile", said, re.I):
        found["compiled"] = True
    return found | _flags(row)


def _flags(row: TrainingRow) -> dict[str, Any]:
    """Features that have a key of their own."""
    keys = {"async_tp": "overlap_tp", "sequence_parallel": "sequence_parallel"}
    found = {field: row.data[key] for key, field in keys.items() if key in row.data}
    mode = row.text("mixed_precision_mode").upper()
    return found | ({"gradient_bytes": GRADIENT_BYTES[mode]} if mode in GRADIENT_BYTES else {})
