"""The program of a row: framework, precision, recompute, sharding, schedule, overlaps, in the words of `TrainingRun`.

What a row does not say stays None: the step model assumes it in one place and says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from eastwest.plan.validation.training_table import TrainingRow

FRAMEWORKS = (  # first that the row's framework, then its source, names
    ("megatron-bridge", r"megatron-bridge"),
    ("automodel", r"automodel"),
    ("nemo", r"\bnemo\b|nemo-"),
    ("megascale", r"megascale|2402\.15627"),
    ("megatron-deepspeed", r"megatron-deepspeed|bigscience|mt-nlg|2201\.11990"),
    ("megatron-lm", r"megatron-lm|2104\.04473|2205\.05198"),
    ("llm-foundry", r"llm-foundry"),
    ("torchtitan", r"torchtitan"),
    ("nanotron", r"nanotron"),
    ("colossal-ai", r"colossal"),
    ("meta", r"2407\.21783|llama-3\.1\b"),
    ("deepspeed", r"deepspeed"),
)
_PRECISIONS = (  # first match; names are those of TrainingRun
    ("nvfp4", r"nvfp4|\bfp4\b"),
    ("mxfp8", r"mx-?fp8|fp8-?mx|\bfp8-mx\b"),
    ("fp8_rowwise", r"(?:float8|fp8)[^,;]*row-?wise"),
    ("fp8", r"fp8|float8|e4m3"),
    ("bf16", r"bf16|bfloat16"),
    ("fp16", r"fp16|float16|half"),
)
DEFAULT_PRECISION = "bf16"
GRADIENT_BYTES = {"PURE": 2.0, "DEFAULT": 4.0}  # llm-foundry's FSDP mixed precision: reduces in 16 or in 32 bit


def framework_of(row: TrainingRow, added: Iterable[str] = ()) -> str | None:
    """The training framework of a row, of the variants that it builds on, or of its source; None when none is named."""
    for text in (row.text("framework"), " ".join(added), row.text("source"), row.id):
        found = next((name for name, pattern in FRAMEWORKS if re.search(pattern, text, re.I)), None)
        if found == "megatron-lm" and re.search(r"zero-?3", row.text("sharding"), re.I):
            return "deepspeed"  # SC'21, table 2: compared with ZeRO-3
        if found:
            return found
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
    found: dict[str, Any] = {}
    stage = re.search(r"zero[- _]?([0-3])(?! style)", text, re.I)
    if fsdp and fsdp > 1:
        found = {"zero": 3, "shard": fsdp}
    elif re.search(r"SHARD_GRAD_OP|no reshard|ZeRO-2 style", text, re.I):
        found = {"zero": 3, "reshard": False}
    elif re.search(r"FSDP", text, re.I):
        found = {"zero": 3, "reshard": True} if re.search(r"FULL_SHARD", text, re.I) else {"zero": 3}
        ranks = re.search(r"FSDP2?\s*x\s*(\d{1,6})", text, re.I)
        found |= {"shard": int(ranks[1])} if ranks and int(ranks[1]) > 1 else {}
    elif stage:
        found = {"zero": int(stage[1])}
    elif re.search(r"\bnone\b|\bDDP\b", text, re.I):
        found = {"zero": 0}
    return found


def schedule_of(row: TrainingRow, pp: int) -> dict[str, Any]:
    """Pipeline schedule and model chunks of a rank, where said."""
    text, chunks = row.text("schedule"), row.count("vp")
    found: dict[str, Any] = {"virtual_stages": chunks} if chunks else {}
    if pp == 1:
        return {}
    if re.search(r"zero[- ]bubble|\bZB", text, re.I):
        found["schedule"] = "zero_bubble"
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
    if "async_tp" in row.data:
        found["overlap_tp"] = row.data["async_tp"]
    if re.search(r"parallel (?:transformer )?block|\bPTB\b", said, re.I):
        found["parallel_block"] = True
    if re.search(r"sliding[- ]window", said, re.I) and row.count("seq"):
        found["window"] = max(1, row.data["seq"] // 2)
    if re.search(r"flash|efficient operators", said, re.I):
        found["flash_attention"] = True
    if re.search(r"compile", row.text("precision"), re.I) or re.search(r"efficient operators|compile", said, re.I):
        found["compiled"] = True
    mode = row.text("mixed_precision_mode").upper()
    if mode in GRADIENT_BYTES:
        found["gradient_bytes"] = GRADIENT_BYTES[mode]
    if "sequence_parallel" in row.data:
        found["sequence_parallel"] = row.data["sequence_parallel"]
    return found
