"""The gradient exchange of a training step: data parallel, ZeRO-1, 2 and 3 (FSDP), HSDP, in buckets.

Source: Rajbhandari et al. 2020 (ZeRO), section 7; bucket sizes of Megatron-LM's distributed data parallel.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from eastwest.units import MEGA
from eastwest.workload import rows
from eastwest.workload.rows import BACKWARD_SHARE, EXPOSED, FORWARD_SHARE, Hiding, Operation
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
    inputs: dict[str, float] = {
        "n": n,
        "params": params,
        "gradient_bytes": layout.gradient_bytes,
        "n_buckets": n_buckets,
        "zero": layout.zero,
    }
    repeats = layout.n_micro_batches if layout.zero == 2 else 1
    backward, forward = _hiding(case, n_buckets, repeats)
    one, times = size / n_buckets, n_buckets * repeats
    if layout.zero == 0:
        formula = "2 * (n - 1) / n * params * gradient_bytes"
        yield Operation(name, dimension, n, "all_reduce", one, times, "step", formula, inputs, rows.ZERO, backward)
        return
    inputs |= {"element_bytes": layout.element_bytes, "repeats": repeats}
    formula, traffic = "repeats * (n - 1) / n * params * gradient_bytes", f"{name}_gradients"
    yield Operation(traffic, dimension, n, "reduce_scatter", one, times, "step", formula, inputs, rows.ZERO, backward)
    formula, traffic = "(n - 1) / n * params * element_bytes", f"{name}_weights"
    one = params * layout.element_bytes / n_buckets
    yield Operation(traffic, dimension, n, "all_gather", one, n_buckets, "step", formula, inputs, rows.ZERO, forward)


def _hiding(case: TrainingCase, n_buckets: int, repeats: int) -> tuple[Hiding, Hiding]:
    """What hides the gradients (backward of the last micro-batch; of each with ZeRO-2) and the weights (first forward);
    one bucket always shows.
    """
    if not case.job.overlap_gradients:
        return EXPOSED, EXPOSED
    ratio, m = (n_buckets - 1) / n_buckets, case.layout.n_micro_batches
    which = "the last micro-batch" if repeats == 1 else "each micro-batch"
    backward = Hiding(f"backward pass of {which}", ratio, BACKWARD_SHARE * repeats / m)
    return backward, Hiding("forward pass of the first micro-batch", ratio, FORWARD_SHARE / m)


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
    ratio, gradients = (units - 1) / units, params * layout.gradient_bytes / units
    weights, source = params * layout.element_bytes / units, rows.ZERO
    formula, traffic = "2 * n_micro_batches * (n - 1) / n * params * element_bytes", f"{name}_weights"
    hiding = Hiding("computation of the layer before", ratio, 1.0)
    times = 2 * m * units  # once forward, once backward
    yield Operation(traffic, dimension, shard, "all_gather", weights, times, "step", formula, inputs, source, hiding)
    overlaps = case.job.overlap_gradients
    hiding = Hiding("backward pass", ratio, BACKWARD_SHARE) if overlaps else EXPOSED
    formula, times, traffic = "n_micro_batches * (n - 1) / n * params * gradient_bytes", m * units, f"{name}_gradients"
    yield Operation(
        traffic, dimension, shard, "reduce_scatter", gradients, times, "step", formula, inputs, source, hiding
    )
    if not whole:
        n, traffic = copies // shard, f"{name}_replicas"
        hiding = Hiding("backward pass of the last micro-batch", ratio, BACKWARD_SHARE / m) if overlaps else EXPOSED
        more, one = {**inputs, "n": n, "shard": shard}, gradients / shard
        formula = "2 * (n - 1) / n * params / shard * gradient_bytes"
        yield Operation(traffic, "replica", n, "all_reduce", one, units, "step", formula, more, "derived", hiding)
