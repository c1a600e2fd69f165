"""Seconds of an optimiser step of training runs, term by term, from data sheets and fitted constants.

step = straggling x (compute + idle stages + ramp + visible communication + optimiser + overhead). `step_seconds` takes
runs by the thousand; `explain` takes one and names every term. Both are one set of equations over a table.
Where it stops being true: incast, flow collisions, loss and pauses; unbalanced experts unless the run says so; hosts
that cannot feed data; GPUs and precisions without measurements (`extrapolates`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.analytic.communication import (
    activation_ring_s,
    context_parallel,
    expert_exchange,
    tensor_parallel,
    visible_tp,
    visible_transfer_s,
)
from eastwest.simulate.analytic.compute import (
    attention,
    elementwise,
    embedding,
    experts,
    feed_forward,
    output_head,
    projections,
    routing,
    scan,
)
from eastwest.simulate.analytic.gemm import Pair
from eastwest.simulate.analytic.pipeline import overlap_ratio, ramp_s, spread_evenly, stages
from eastwest.simulate.analytic.sharding import Windows, optimizer_s, visible_data_parallel_s
from eastwest.simulate.analytic.step_constants import Seen, StepConstants, see
from eastwest.simulate.analytic.step_table import Table, pack
from eastwest.simulate.analytic.training_run import RECOMPUTE, TrainingRun

Floats = NDArray[np.float64]
ABLATIONS = ("attention", "recompute", "head_placement", "tp_communication")  # terms that tests leave out
OVERLAPPED_HOST = 4.0  # host and GPU time combine as (host^4 + gpu^4)^(1/4): the longer one, softly
FULL, SELECTIVE = RECOMPUTE.index("full"), RECOMPUTE.index("selective")
LAUNCHES_AGAIN = 1 / 3  # full recompute launches one of three passes again
COMPILED_LAUNCHES = 0.6
SCAN_LAUNCHES = 0.5  # a state-space layer's kernels over those of the layer that it stands beside
YOUNGEST = 3  # index of the architecture whose programs still get faster by the release
AGE_LIMIT = 0.5  # years over which progress is extrapolated


@dataclass(frozen=True, slots=True)
class StepTimes:
    """Seconds of a step (n,) and of its terms; the terms add up to the step."""

    step_s: Floats
    terms: dict[str, Floats]


@dataclass(frozen=True, slots=True)
class _Layers:
    """Mean layer of a model for one micro-batch: seconds with recompute and host, and its parts."""

    layer_s: Floats
    forward_ratio: Floats
    parts: dict[str, Floats]


def step_seconds(
    runs: Sequence[TrainingRun] | Table, constants: StepConstants, without: Collection[str] = ()
) -> Floats:
    """Seconds of a step of each run (n,); `without` leaves out terms named in ABLATIONS."""
    return step_times(runs, constants, without).step_s


def step_times(
    runs: Sequence[TrainingRun] | Table, constants: StepConstants, without: Collection[str] = ()
) -> StepTimes:
    """Seconds of a step of each run and of every term. Raises UsageError for an unknown GPU."""
    table = runs if isinstance(runs, np.ndarray) else pack(runs)
    seen = see(table, constants)
    layers = _layers(table, seen, without)
    head = output_head(table, seen)
    collected = np.where(table["tp"] > 1, activation_ring_s(table, seen) * visible_tp(table, seen), 0.0)
    if "tp_communication" in without:
        collected = np.zeros_like(collected)
    head_s = head.forward + head.backward + 2 * collected
    embedding_s = embedding(table, seen) + collected
    found = stages(table, layers.layer_s, head_s, embedding_s, visible_transfer_s(table, seen))
    whole = layers.layer_s * table["layers"] + head_s + embedding_s
    if "head_placement" in without:
        found = spread_evenly(table, found, whole)
    steps, pp = table["micro_batches"], table["pp"]
    terms = {name: steps * table["layers"] / pp * part for name, part in layers.parts.items()}
    terms["output head"] = steps * (head_s + embedding_s) / pp
    terms["pipeline transfers"] = np.where(pp > 1, steps * found.transfer_s, 0.0)
    terms["idle stages"] = steps * (found.slowest_s - whole / pp) - terms["pipeline transfers"]
    terms["pipeline bubble"] = ramp_s(table, found)
    window = found.slowest_s * overlap_ratio(table)
    forward, backward = layers.forward_ratio, 1 - layers.forward_ratio
    windows = Windows(window * backward, window * forward, layers.layer_s * forward, layers.layer_s * backward)
    terms["data parallel"] = visible_data_parallel_s(table, seen, windows)
    terms["optimizer"] = optimizer_s(table, seen)
    terms["step overhead"] = np.full(len(table), seen.one("step_overhead"))
    total = np.sum(list(terms.values()), axis=0)
    terms["straggling"] = total * seen.one("straggling") * np.log2(np.maximum(table["gpus"], 1.0))
    return StepTimes(total + terms["straggling"], terms)


def _layers(table: Table, seen: Seen, without: Collection[str]) -> _Layers:
    """The mean of dense and expert layers."""
    shares = table["moe_layers"] / table["layers"]
    parts = _shared_parts(table, seen, without)
    dense = {**parts, "feed-forward": feed_forward(table, seen), "elementwise": elementwise(table, seen, False)}
    found = _layer(table, seen, dense, without, has_experts=False)
    if not (shares > 0).any():
        return found
    halved = parts["tensor parallel"].times(0.5)  # experts replace the collectives of the feed-forward block
    sparse = {**parts, "tensor parallel": halved, "experts": experts(table, seen), "routing": routing(table, seen)}
    sparse |= {"expert exchange": expert_exchange(table, seen), "elementwise": elementwise(table, seen, True)}
    other = _layer(table, seen, sparse, without, has_experts=True)
    mixed = {
        name: found.parts.get(name, 0.0) * (1 - shares) + other.parts.get(name, 0.0) * shares
        for name in dict.fromkeys((*found.parts, *other.parts))
    }
    forward = np.where(shares > 0.5, other.forward_ratio, found.forward_ratio)
    return _Layers(found.layer_s * (1 - shares) + other.layer_s * shares, forward, mixed)


def _shared_parts(table: Table, seen: Seen, without: Collection[str]) -> dict[str, Pair]:
    """What dense and expert layers both have."""
    nothing = Pair(np.zeros(len(table)), np.zeros(len(table)))
    scores = nothing if "attention" in without else attention(table, seen)
    return {
        "projections": projections(table, seen),
        "attention": scores,
        "tensor parallel": nothing if "tp_communication" in without else tensor_parallel(table, seen),
        "context parallel": context_parallel(table, seen, scores),
        "state-space scan": scan(table, seen),
    }


def _layer(table: Table, seen: Seen, pairs: dict[str, Pair], without: Collection[str], has_experts: bool) -> _Layers:
    """One layer: recompute, gradient accumulation, and the host's launches beside the GPU's work."""
    full = (table["recompute"] == FULL).astype(np.float64)
    selective = (table["recompute"] == SELECTIVE).astype(np.float64)
    if "recompute" in without:
        full, selective = np.zeros_like(full), np.zeros_like(selective)
    parts = {name: pair.forward * (1 + full) + pair.backward for name, pair in pairs.items()}
    parts["attention"] = parts["attention"] + selective * pairs["attention"].forward
    parts["gradient accumulation"] = _accumulation_s(table, seen, has_experts)
    gpu = np.sum(list(parts.values()), axis=0)
    host = _host_s(table, seen, has_experts) * (1 + full * LAUNCHES_AGAIN)
    busy = (gpu**OVERLAPPED_HOST + host**OVERLAPPED_HOST) ** (1 / OVERLAPPED_HOST)
    faster = _progress(table, seen, has_experts)
    stops = np.where(table["blocks"] > 0, seen.one("block_recompute"), seen.one("layer_gap"))
    gap = np.where(table["recompute"] > 0, stops, 0.0)
    parts = {name: part * faster for name, part in parts.items()}
    parts["kernel launches"] = (busy - gpu) * faster + gap
    forward = np.sum([pair.forward for pair in pairs.values()], axis=0)
    return _Layers(busy * faster + gap, forward / gpu, parts)


def _accumulation_s(table: Table, seen: Seen, has_experts: bool) -> Floats:
    """Seconds to add a micro-batch's weight gradients to the sum, where there is more than one micro-batch."""
    params = table["dense_params"] / np.maximum(table["layers"] / table["pp"], 1.0)
    if has_experts:
        params = params + table["expert_params"] / np.maximum(table["moe_layers"] / table["pp"], 1.0)
    several = table["micro_batches"] > 1
    seconds: Floats = np.where(several, params * seen.one("accumulate") / seen.memory_rate, 0.0)
    return seconds


def _host_s(table: Table, seen: Seen, has_experts: bool) -> Floats:
    """Host time of one layer and micro-batch."""
    if has_experts:
        fixed = np.where(table["capacity"] > 0, 1 / seen.one("dropless"), 1.0)
        seconds: Floats = seen.one("launch_experts") * fixed
    else:
        seconds = seen.launch_s * np.where(table["compiled"] > 0, COMPILED_LAUNCHES, 1.0)
    return seconds * np.where(table["scan_width"] > 0, 1 + SCAN_LAUNCHES, 1.0)


def _progress(table: Table, seen: Seen, has_experts: bool) -> Floats:
    """Time over that at RELEASE_EPOCH: programs for the youngest architecture still get faster with each release."""
    rate = seen.one("progress_experts" if has_experts else "progress")
    years = np.clip(np.nan_to_num(table["age"], nan=0.0), -AGE_LIMIT, AGE_LIMIT)
    factor: Floats = np.where(table["architecture"] == YOUNGEST, np.exp(-rate * years), 1.0)
    return factor
