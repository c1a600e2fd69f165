"""The gradient exchange of a training step: data parallel, ZeRO-1, 2 and 3 (FSDP), HSDP, in buckets.

Source: Rajbhandari et al. 2020 (ZeRO), section 7; bucket sizes of Megatron-LM's distributed data parallel.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from eastwest.units import MEGA
from eastwest.workload import rows
from eastwest.workload.rows import Operation
from eastwest.workload.training_case import TrainingCase

# Megatron-LM, distributed data parallel: a bucket has max(40M, 1M * dp) elements when the exchange overlaps.
DDP_BUCKET_ELEMENTS = 40 * MEGA
DDP_BUCKET_ELEMENTS_PER_RANK = MEGA


def gradient_operations(case: TrainingCase) -> Iterator[Operation]:
    """Gradient (and weight) exchange of the dense part over dp x cp, of the experts over their own copies."""
    layout, stage = case.layout, case.heaviest
    if layout.zero == 3:
        yield from _sharded(case, "dp", stage.dense_params, layout.grid.shard, layout.n_copies)
        yield from _sharded(case, "expert_dp", stage.expert_params, layout.n_expert_copies, layout.n_expert_copies)
        return
    yield from _exchange(case, "dp", "dp_cp", stage.dense_params, layout.n_copies)
    yield from _exchange(case, "expert_dp", "expert_dp", stage.expert_params, layout.n_expert_copies)


def bucket_bytes(case: TrainingCase, size_bytes: int) -> int:
    """Bytes of one gradient bucket: as wished, Megatron's default when the exchange overlaps, else one bucket of
    all.
    """
    if case.job.bucket_bytes:
        return min(case.job.bucket_bytes, max(size_bytes, 1))
    if not case.job.overlap_gradients:
        return max(size_bytes, 1)
    elements = max(DDP_BUCKET_ELEMENTS, DDP_BUCKET_ELEMENTS_PER_RANK * case.layout.n_copies)
    return min(elements * case.layout.gradient_bytes, max(size_bytes, 1))


def _exchange(case: TrainingCase, name: str, dimension: str, params: int, n: int) -> Iterator[Operation]:
    """All-reduce of gradients; with ZeRO-1 or 2 a reduce-scatter of gradients and an all-gather of weights."""
    layout = case.layout
    size = params * layout.gradient_bytes
    if not size:
        return
    n_buckets = ceil(size / bucket_bytes(case, size))
    inputs = {
        "n": n,
        "params": params,
        "gradient_bytes": layout.gradient_bytes,
        "n_buckets": n_buckets,
        "zero": layout.zero,
    }
    overlaps = "backward pass of the last micro-batch" if case.job.overlap_gradients else ""
    ratio = (n_buckets - 1) / n_buckets if overlaps else 0.0
    if layout.zero == 0:
        formula = "2 * (n - 1) / n * params * gradient_bytes"
        one = size / n_buckets
        yield Operation(
            name, dimension, n, "all_reduce", one, n_buckets, "step", formula, inputs, rows.ZERO, overlaps, ratio
        )
        return
    repeats = layout.n_micro_batches if layout.zero == 2 else 1
    more = {**inputs, "element_bytes": layout.element_bytes, "repeats": repeats}
    formula = "repeats * (n - 1) / n * params * gradient_bytes"
    one, times = size / n_buckets, n_buckets * repeats
    gradients = f"{name}_gradients"
    yield Operation(
        gradients, dimension, n, "reduce_scatter", one, times, "step", formula, more, rows.ZERO, overlaps, ratio
    )
    formula = "(n - 1) / n * params * element_bytes"
    one = params * layout.element_bytes / n_buckets
    first = "forward pass of the first micro-batch" if overlaps else ""
    yield Operation(
        f"{name}_weights", dimension, n, "all_gather", one, n_buckets, "step", formula, more, rows.ZERO, first, ratio
    )


def _sharded(case: TrainingCase, name: str, params: int, shard: int, copies: int) -> Iterator[Operation]:
    """ZeRO-3 (FSDP): weights gathered forward and backward, gradients scattered, each micro-batch, layer by layer."""
    layout = case.layout
    if not params:
        return
    whole = shard == copies
    dimension = ("dp_cp" if name == "dp" else name) if whole else "shard"
    units, m = max(1, len(case.heaviest.layers)), layout.n_micro_batches
    inputs = {
        "n": shard,
        "params": params,
        "element_bytes": layout.element_bytes,
        "gradient_bytes": layout.gradient_bytes,
        "n_micro_batches": m,
        "units": units,
    }
    ratio, source = (units - 1) / units, rows.ZERO
    weights, gradients = params * layout.element_bytes / units, params * layout.gradient_bytes / units
    formula = "2 * n_micro_batches * (n - 1) / n * params * element_bytes (once forward, once backward)"
    hidden, times, traffic = "computation of the layer before", 2 * m * units, f"{name}_weights"
    yield Operation(
        traffic, dimension, shard, "all_gather", weights, times, "step", formula, inputs, source, hidden, ratio
    )
    hidden, ratio = ("backward pass", ratio) if case.job.overlap_gradients else ("", 0.0)
    formula, times, traffic = "n_micro_batches * (n - 1) / n * params * gradient_bytes", m * units, f"{name}_gradients"
    yield Operation(
        traffic, dimension, shard, "reduce_scatter", gradients, times, "step", formula, inputs, source, hidden, ratio
    )
    if not whole:
        n, traffic = copies // shard, f"{name}_replicas"
        more, one = {**inputs, "n": n, "shard": shard}, gradients / shard
        formula = "2 * (n - 1) / n * params / shard * gradient_bytes"
        yield Operation(
            traffic, "replica", n, "all_reduce", one, units, "step", formula, more, "derived", hidden, ratio
        )
