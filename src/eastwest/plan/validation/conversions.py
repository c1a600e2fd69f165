"""Seconds of an optimiser step from whatever a table prints, the convention named.

Time and tokens/s need no convention. FLOP/s, MFU and HFU are divided into the FLOPs that the source counts: with
recompute (`hardware_full_recompute`), of the model with full attention, or of the model with the causal half. Time
comes first, then the first figure that is printed with digits enough.

Source: Narayanan et al. 2021, appendix (96 * B * s * L * h^2 * ...); Chowdhery et al. 2022, appendix B (MFU);
Korthikanti et al. 2022, section 6.3 and appendix A.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from eastwest.plan.validation.layouts import Layout
from eastwest.plan.validation.training_table import TrainingRow
from eastwest.spec.catalogue import Gpu
from eastwest.units import DAY_S, MS_PER_S, PETA, TERA
from eastwest.workload.model import Transformer, training_flops_per_token

Convention = Literal[
    "time", "tokens", "hardware_full_recompute", "hardware_recompute", "full_attention", "causal_half_attention"
]
COARSE_RATIO = 0.02  # a figure rounded to fewer digits gives way to the next
PRE_FIX_RATIO = 0.97  # BLOOM's counter before its correction printed about 3 % too little
DAYS_TOKENS = 300e9  # SC'21, table 2: days for 300 billion tokens
PEAK_OF = {"fp8_rowwise": "fp8"}  # every other precision is a key of the catalogue
_CAUSAL_SOURCES = re.compile(r"megatron-bridge|automodel", re.I)


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds of an optimiser step, the printed figure that they come from, and what that figure counts."""

    seconds: float
    key: str
    printed: float
    convention: Convention


def measured_of(row: TrainingRow, layout: Layout, model: Transformer, gpu: Gpu, precision: str) -> Measured | None:
    """The measured step of a row; None when it prints nothing that can be converted."""
    found = list(_readings(row, layout, model, gpu, precision))
    precise = [it for it in found if it.convention == "time" or rounding_ratio(it.printed) <= COARSE_RATIO]
    if precise:
        return precise[0]
    return min(found, key=lambda reading: rounding_ratio(reading.printed), default=None)


def rounding_ratio(printed: float) -> float:
    """Half a unit of the last printed digit over the value: how far rounding alone may be off.

    >>> rounding_ratio(50.0), rounding_ratio(0.25)
    (0.01, 0.02)
    """
    text = repr(printed)
    decimals = 0 if "e" in text or text.endswith(".0") else len(text.partition(".")[2])
    return 0.5 * 10.0**-decimals / printed if printed else math.inf


def _readings(row: TrainingRow, layout: Layout, model: Transformer, gpu: Gpu, precision: str) -> Iterator[Measured]:
    """Every figure of a row as a step, in the order of preference: time, tokens, FLOP/s, utilisation, samples, days."""
    tokens, gpus = layout.global_batch * layout.sequence, row.data["gpus"]
    measured = row.measured
    for key in ("iter_time_s", "iter_time_ms"):
        if measured.get(key):
            yield Measured(measured[key] / (MS_PER_S if key.endswith("ms") else 1), key, measured[key], "time")
    for key in ("tokens_per_s", "tokens_per_s_per_gpu"):
        if measured.get(key):
            share = gpus if key.endswith("gpu") else 1
            yield Measured(tokens / share / measured[key], key, measured[key], "tokens")
    for key, flops_per_s in _rates(row, gpu, precision, gpus):
        if flops_per_s:
            convention = convention_of(row, key)
            flops = flops_per_token(model, layout.sequence, convention, row.text("activation_recompute"))
            yield Measured(tokens * flops / (flops_per_s * gpus), key, measured[key], convention)
    if measured.get("samples_per_s"):
        printed = measured["samples_per_s"]
        yield Measured(layout.global_batch / printed, "samples_per_s", printed, "tokens")
    if measured.get("days_for_300b_tokens"):
        days = measured["days_for_300b_tokens"]
        yield Measured(days * DAY_S * tokens / DAYS_TOKENS, "days_for_300b_tokens", days, "tokens")


def _rates(row: TrainingRow, gpu: Gpu, precision: str, gpus: int) -> Iterator[tuple[str, float]]:
    """(key, FLOP/s of one GPU) of every printed rate and utilisation, corrected for a counter known to print less."""
    low = PRE_FIX_RATIO if re.search(r"pre-?fix|3\s?% low", row.text("flops_basis"), re.I) else 1.0
    for key, unit in (
        ("tflops_per_gpu", TERA),
        ("model_tflops_per_gpu", TERA),
        ("tflops_per_gpu_with_cp", TERA),
        ("aggregate_pflops", PETA / gpus),
    ):
        if key in row.measured:
            yield key, row.measured[key] * unit / low
    peak = peak_flops(gpu, "bf16" if re.search(r"\bbf16\b", row.text("flops_basis"), re.I) else precision)
    for key in ("mfu_pct", "hfu_pct", "pct_peak"):
        if key in row.measured and peak:
            yield key, row.measured[key] / 100 * peak


def peak_flops(gpu: Gpu, precision: str) -> float | None:
    """Dense FLOP/s of a GPU in the datatype of a precision: 312e12 (A100), 989e12 (H100 bf16), 1979e12 (H100 fp8)."""
    peak = gpu.peak_flops.get(PEAK_OF.get(precision, precision))
    return float(peak) if peak else None


def convention_of(row: TrainingRow, key: str) -> Convention:
    """What a printed FLOP/s or utilisation counts: said by the row, else by the habit of its source."""
    basis = row.text("flops_basis").lower()
    hardware = re.search(r"^hardware|including (?:full )?recompute|recompute counted|theoretical peak", basis)
    if key == "hfu_pct" or (key == "pct_peak" and not basis.startswith("model")):
        return "hardware_full_recompute" if "full recompute" in basis else "hardware_recompute"
    if key in ("tflops_per_gpu", "aggregate_pflops") and hardware and "not counted" not in basis:
        return "hardware_full_recompute"
    if re.search(r"no causal halving|full attention|12\s?\*?\s?l\s?\*?\s?h", basis):
        return "full_attention"
    if re.search(r"causal[- ]half|half attention", basis) or _CAUSAL_SOURCES.search(row.text("source")):
        return "causal_half_attention"
    return "full_attention"


def flops_per_token(model: Transformer, sequence: int, convention: Convention, recompute: str) -> float:
    """FLOPs of one trained token by a convention; `recompute` as printed ("": as the convention says, or full)."""
    kind = "full"
    if convention == "hardware_recompute":
        kind = next((word for word in ("none", "selective") if word in recompute.lower()), "full")
    flops = training_flops_per_token(model, sequence, kind)
    if convention.startswith("hardware"):
        return flops.hardware
    return flops.model_causal if convention == "causal_half_attention" else flops.model_full
