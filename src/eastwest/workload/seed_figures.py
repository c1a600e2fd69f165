"""The communication account of the source texts, as printed there and then corrected: each figure a `Decision` with
its formula and inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eastwest.decision import Decision
from eastwest.units import BITS_PER_BYTE, GIGA

SEED_PARAMS = 50 * GIGA  # text 001, section 1.1
SEED_RATE_BPS = 400 * GIGA  # text 001, section 1.1
LARGE_PARAMS = 100 * GIGA  # text 000, section 1.2: "a model of a hundred billion parameters"
GPU_MEMORY_BYTES = 80 * GIGA
SERVER_GPUS = 8
FP32_BYTES, BF16_BYTES = 4, 2
ADAM_STATE_BYTES = 16  # bf16 weight 2 + gradient 2 + fp32 master 4 + moments 8 (Rajbhandari et al. 2020, section 3.1)
CHECKPOINT_BYTES = 14  # bf16 weight 2 + fp32 master 4 + moments 8
RING_LIMIT = 2  # 2(n - 1)/n of the buffer for many ranks


def seed_figures() -> tuple[Decision, ...]:
    """Every figure of the account in reading order: `as_printed.*` is the text's, `corrected.*` what it leaves out.

    >>> {figure.id: figure.value for figure in seed_figures()}["seeds.as_printed.sent_once"]
    4.0
    """
    return (*_as_printed(), *_corrected(), *_memory())


def _figure(name: str, value: float, unit: str, because: str, formula: str, source: str, **inputs: Any) -> Decision:
    filled: Mapping[str, Any] = inputs
    return Decision(f"seeds.{name}", value, unit, because, formula, filled, source)


def _as_printed() -> tuple[Decision, ...]:
    text = "source text 001, section 1.1"
    replica = SEED_PARAMS * FP32_BYTES
    rate = SEED_RATE_BPS / BITS_PER_BYTE
    once = "params * gradient_bytes / bytes_per_s"
    inputs = {"params": SEED_PARAMS, "gradient_bytes": FP32_BYTES, "bytes_per_s": rate}
    return (
        _figure(
            "as_printed.replica",
            replica,
            "bytes",
            "the gradients of one fp32 replica of the model",
            "params * gradient_bytes",
            text,
            params=SEED_PARAMS,
            gradient_bytes=FP32_BYTES,
        ),
        _figure(
            "as_printed.sent_once",
            replica / rate,
            "s",
            "one replica sent once through one 400 Gb/s NIC",
            once,
            text,
            **inputs,
        ),
        _figure(
            "as_printed.doubled",
            RING_LIMIT * replica / rate,
            "s",
            "the text doubles it for overhead; a ring over many ranks sends 2(n - 1)/n of the buffer: twice it anyway",
            f"2 * {once}",
            text,
            **inputs,
        ),
    )


def _corrected() -> tuple[Decision, ...]:
    rate = SEED_RATE_BPS / BITS_PER_BYTE
    shard = SEED_PARAMS * FP32_BYTES / SERVER_GPUS
    held = {"params": SEED_PARAMS, "gradient_bytes": FP32_BYTES}
    split = {**held, "tp": SERVER_GPUS}
    sent = {**split, "bytes_per_s": rate}
    once = "params * gradient_bytes / tp / bytes_per_s"
    no_gpu = "one 80 GB GPU cannot hold a 200 GB replica, so no GPU sends one: the model is split before it is copied"
    eighth = "tensor parallel over the 8 GPUs of a server leaves each GPU an eighth, on its own NIC"
    fraction = "params * gradient_bytes / gpu_memory_bytes"
    memory = {**held, "gpu_memory_bytes": GPU_MEMORY_BYTES}
    needed = SEED_PARAMS * FP32_BYTES / GPU_MEMORY_BYTES
    half = {**sent, "gradient_bytes": BF16_BYTES}
    at_once = "that shard sent once; eight NICs work at the same time"
    ring = "that shard as a ring over many ranks"
    return (
        _figure("corrected.no_gpu_holds_it", needed, "GPUs", no_gpu, fraction, "derived", **memory),
        _figure("corrected.shard", shard, "bytes", eighth, "params * gradient_bytes / tp", "derived", **split),
        _figure("corrected.sent_once", shard / rate, "s", at_once, once, "derived", **sent),
        _figure("corrected.ring", RING_LIMIT * shard / rate, "s", ring, f"2 * {once}", "derived", **sent),
        _figure("corrected.ring_bf16", shard / rate, "s", "bf16 gradients halve it", f"2 * {once}", "derived", **half),
    )


def _memory() -> tuple[Decision, ...]:
    state = LARGE_PARAMS * ADAM_STATE_BYTES
    return (
        _figure(
            "memory.training_state",
            state,
            "bytes",
            "weights, gradients and Adam state of a 100B model in mixed precision, activations not counted",
            "params * state_bytes",
            "source text 000, section 1.2; Rajbhandari et al. 2020, section 3.1",
            params=LARGE_PARAMS,
            state_bytes=ADAM_STATE_BYTES,
        ),
        _figure(
            "memory.gpus_at_least",
            -(-state // GPU_MEMORY_BYTES),
            "GPUs",
            'fewer 80 GB GPUs cannot hold the state, before any activation: the text\'s "tens of cards"',
            "ceil(params * state_bytes / gpu_memory_bytes)",
            "source text 000, section 1.2",
            params=LARGE_PARAMS,
            state_bytes=ADAM_STATE_BYTES,
            gpu_memory_bytes=GPU_MEMORY_BYTES,
        ),
        _figure(
            "memory.checkpoint",
            SEED_PARAMS * CHECKPOINT_BYTES,
            "bytes",
            "one checkpoint of the 50B model: bf16 weights, fp32 master weights and Adam moments",
            "params * checkpoint_bytes",
            "derived",
            params=SEED_PARAMS,
            checkpoint_bytes=CHECKPOINT_BYTES,
        ),
    )
