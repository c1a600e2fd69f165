"""Seconds of a step's gradient and weight traffic over data-parallel ranks that computation does not hide, and of the
optimiser.

Gradients of a layer leave when its last backward pass ends, weights of a sharded optimiser come back before the next
forward pass; sharded weights (ZeRO 3, FSDP) are gathered a layer ahead. Each hides behind what runs beside it.

Source: Rajbhandari et al. 2020 (ZeRO), section 7; Zhao et al. 2023 (FSDP); Megatron-Core's distributed optimiser.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.analytic.communication import ring_s
from eastwest.simulate.analytic.compute import WIDTH_BYTES
from eastwest.simulate.analytic.step_constants import Seen
from eastwest.simulate.analytic.step_table import Table

Floats = NDArray[np.float64]
SHARDED_WEIGHTS = 3  # ZeRO stage
WINDOW = 0.9  # share of the computation beside a transfer that it can hide behind: its ends are bare
GROWING_BUCKETS = 1e6  # parameters of a Megatron bucket for each data-parallel rank
MEGATRON_BUCKET = 40e6
SHARDED_SUM = 2 * WIDTH_BYTES  # a replicated shard's gradients are reduced over its replicas


@dataclass(frozen=True, slots=True)
class Windows:
    """Seconds of computation that run beside a step's gradients and weights, and those of one layer, forward and
    backward (n,).
    """

    gradients_s: Floats
    weights_s: Floats
    layer_forward_s: Floats
    layer_backward_s: Floats


def visible_data_parallel_s(table: Table, seen: Seen, windows: Windows) -> Floats:
    """Seconds of gradient and weight traffic that a step waits for (n,)."""
    ranks = table["dp"] * table["cp"]
    dense = _replicated_s(table, seen, windows)
    sharded = table["zero"] >= SHARDED_WEIGHTS
    if sharded.any():
        dense = np.where(sharded, _sharded_s(table, seen, windows), dense)
    seconds: Floats = np.where(ranks > 1, dense, 0.0)
    return seconds


def expert_replicas(table: Table) -> Floats:
    """Ranks that hold the same experts (n,)."""
    replicas: Floats = np.maximum(table["dp"] * table["cp"] * table["tp"] / (table["ep"] * table["expert_tp"]), 1.0)
    return replicas


def _expert_rings_s(table: Table, seen: Seen) -> tuple[Floats, Floats]:
    """Seconds to reduce experts' gradients and to gather their weights over the ranks that hold the same ones."""
    replicas = expert_replicas(table)
    stride = np.minimum(table["ep"] * table["expert_tp"], table["domain"])
    gradients = ring_s(table, seen, table["expert_params"] * table["gradient_bytes"], replicas, stride)
    weights = ring_s(table, seen, table["expert_params"] * WIDTH_BYTES, replicas, stride)
    return gradients, weights


def _replicated_s(table: Table, seen: Seen, windows: Windows) -> Floats:
    """All-reduce, or scatter of gradients and gather of weights (ZeRO 1 and 2)."""
    ranks = table["dp"] * table["cp"]
    bucket = table["bucket_params"]
    bucket = np.where(bucket == MEGATRON_BUCKET, np.maximum(bucket, GROWING_BUCKETS * ranks), bucket)
    pieces = np.maximum(table["dense_params"] / bucket, 1.0)
    scatter = ring_s(table, seen, table["dense_params"] * table["gradient_bytes"], ranks, table["tp"], pieces)
    gather = ring_s(table, seen, table["dense_params"] * WIDTH_BYTES, ranks, table["tp"], pieces)
    expert_scatter, expert_gather = _expert_rings_s(table, seen)
    reduced = table["zero"] == 0
    whole = reduced | ((table["blocks"] > 0) & (table["zero"] == 1))  # DeepSpeed's ZeRO 1 reduces to every rank
    gradients = scatter + expert_scatter + np.where(whole, scatter + np.where(reduced, expert_scatter, 0.0), 0.0)
    weights = np.where(reduced, 0.0, gather + expert_gather)
    overlaps, cost = table["overlap_dp"] > 0, seen.one("visible_dp")
    seconds: Floats = _visible(gradients, windows.gradients_s, overlaps, cost)
    return seconds + _visible(weights, windows.weights_s, overlaps, cost)


def _visible(transfer: Floats, window: Floats, overlaps: NDArray[np.bool_], cost: float) -> Floats:
    beside = np.maximum(transfer - WINDOW * window, 0.0) + cost * np.minimum(transfer, window)
    visible: Floats = np.where(overlaps, beside, transfer)
    return visible


def _sharded_s(table: Table, seen: Seen, windows: Windows) -> Floats:
    """Gathers and scatters of sharded weights, layer by layer and micro-batch by micro-batch; once a step in a
    pipeline, whose micro-batches in flight need the weights.
    """
    layers, shard = table["layers"] / table["pp"], table["shard"]
    size = table["dense_params"] * WIDTH_BYTES / np.maximum(layers, 1.0)
    ring = ring_s(table, seen, size, shard, table["tp"])
    broadcast = size / seen.network_rate
    gather = np.where(table["one_nic"] > 0, broadcast, ring)
    scatter = np.where(table["one_nic"] > 0, broadcast, ring * table["gradient_bytes"] / WIDTH_BYTES)
    backward = np.where(table["reshard"] > 0, gather, 0.0) + scatter
    cost = seen.one("visible_fsdp")
    always = np.ones(len(table), dtype=bool)
    each = _visible(gather, windows.layer_forward_s / WINDOW, always, cost)
    each = each + _visible(backward, windows.layer_backward_s / WINDOW, always, cost)
    passes = np.where(table["pp"] > 1, 1.0, table["micro_batches"])
    copies = table["dp"] * table["cp"] / np.maximum(shard, 1.0)
    shares = table["dense_params"] * SHARDED_SUM / np.maximum(shard, 1.0)
    replicated = np.where(copies > 1, ring_s(table, seen, shares, copies, table["domain"]), 0.0)
    expert_scatter, expert_gather = _expert_rings_s(table, seen)
    seconds: Floats = passes * layers * each + 2 * (gather + scatter) + replicated
    return seconds + seen.one("visible_dp") * (expert_scatter + expert_gather)


def optimizer_s(table: Table, seen: Seen) -> Floats:
    """Seconds of the optimiser's step: its bytes over the memory's rate, sharded where ZeRO shards its state."""
    ranks = np.where(table["zero"] >= SHARDED_WEIGHTS, table["shard"], table["dp"] * table["cp"])
    ranks = np.where(table["zero"] > 0, ranks, 1.0)
    replicas = np.where(table["zero"] > 0, expert_replicas(table), 1.0)
    params = table["dense_params"] / ranks + table["expert_params"] / replicas
    seconds: Floats = params * table["optimizer_bytes"] * seen.one("optimizer") / seen.memory_rate
    return seconds
