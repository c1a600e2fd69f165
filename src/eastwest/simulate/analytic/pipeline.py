"""How a pipeline of unequal stages turns seconds of layers into seconds of a step.

The slowest stage sets the pace: m micro-batches at its time, plus the ramp in which the others fill and drain, divided
by the chunks of a rank (interleaved 1F1B). The output head adds to the last stage and the embedding to the first;
transfers between stages cost a middle stage twice what they cost an end.

Source: Narayanan et al. 2021, section 2.2 (bubble (p - 1) / (v m)); Qi et al. 2023 (zero bubble: a third of the ramp is
filled by gradients of weights).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.analytic.step_table import Table

Floats = NDArray[np.float64]
ZERO_BUBBLE_RAMP = 1 / 3  # of the ramp that is left when weights' gradients wait for it
WHOLE_LAYERS = 8  # stages of fewer layers cannot be cut by cost to better than half a layer
HALF = 0.5


@dataclass(frozen=True, slots=True)
class Stages:
    """Seconds of one micro-batch (n,): on all stages together, on the slowest, and of transfers on a middle stage."""

    all_s: Floats
    slowest_s: Floats
    transfer_s: Floats


def stages(table: Table, layer_s: Floats, head_s: Floats, embedding_s: Floats, transfer_s: Floats) -> Stages:
    """Stage times from the mean seconds of a layer, of the head, of the embedding and of a middle stage's transfers."""
    pp = table["pp"]
    whole = layer_s * table["layers"] + head_s + embedding_s
    ends = transfer_s * HALF
    first = layer_s * table["first_layers"] + embedding_s + ends
    last = layer_s * table["last_layers"] + head_s + ends
    middle = np.where(pp > 2, layer_s * table["mid_layers"] + transfer_s, 0.0)
    uneven = np.maximum(np.maximum(first, last), middle)
    rounding = np.where(table["layers"] / pp < WHOLE_LAYERS, HALF * layer_s, 0.0)
    even = np.maximum(whole / pp + rounding, np.where(pp > 2, head_s, 0.0)) + transfer_s
    slowest = np.where(pp > 1, np.where(table["balanced"] > 0, even, uneven), whole)
    return Stages(whole + transfer_s * (pp - 1), slowest, transfer_s)


def spread_evenly(table: Table, found: Stages, whole_s: Floats) -> Stages:
    """The same work as if head and embedding were shared out over all stages (an ablation)."""
    pp = table["pp"]
    return Stages(found.all_s, np.where(pp > 1, whole_s / pp + found.transfer_s, whole_s), found.transfer_s)


def ramp_s(table: Table, found: Stages) -> Floats:
    """Seconds in which a pipeline fills and drains (n,); 0 for one stage."""
    left = np.where(table["zero_bubble"] > 0, ZERO_BUBBLE_RAMP, 1.0)
    seconds: Floats = np.maximum(found.all_s - found.slowest_s, 0.0) / table["chunks"] * left
    return np.where(table["pp"] > 1, seconds, 0.0)


def overlap_ratio(table: Table) -> Floats:
    """Micro-batches of the slowest stage that run while gradients of its first finished chunk already travel (n,)."""
    chunks = table["chunks"]
    ratio: Floats = np.where(table["pp"] > 1, 1 / chunks + (1 - 1 / chunks) * table["pp"], 1.0)
    return ratio
