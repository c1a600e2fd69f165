"""Seconds of a matrix product on one GPU: FLOPs over the sustained rate, times what its shape costs.

Shape costs: filling and draining the pipeline over K, edges of M and N, and quantisation into tiles and waves of tiles
over the multiprocessors, where a library picks the best of a few tile sizes. Not true below a few microseconds, where
the launch dominates, and for products that memory bounds (expert layers add those bytes themselves).

Source: NVIDIA, Matrix multiplication background user's guide (tile and wave quantisation); data sheets (numbers of
multiprocessors).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.analytic.step_constants import Seen
from eastwest.simulate.analytic.step_table import Table

Floats = NDArray[np.float64]
MULTIPROCESSORS = np.array([80.0, 108.0, 132.0, 148.0])  # V100, A100, H100, B200; data sheets
# Rows and columns of a tile, and how much slower it is than the largest ones.
TILES = ((256, 128, 1.0), (128, 256, 1.0), (128, 128, 1.12), (64, 128, 1.35))
MOST_WASTE = 3.0  # a product of one tile splits K instead
# K at which a product reaches half speed grows with the speed of the tensor cores: by architecture and by operand.
DEPTH_OF_ARCHITECTURE = np.array([0.7, 0.7, 1.0, 1.4])
DEPTH_OF_PRECISION = np.array([1.0, 1.0, 2.0, 2.0, 2.0, 4.0])
PER_MULTIPLY_ADD = 2.0
PASSES = 3.0  # forward, gradient of the input, gradient of the weight


@dataclass(frozen=True, slots=True)
class Pair:
    """Seconds of the forward and of the backward pass (n,)."""

    forward: Floats
    backward: Floats

    def __add__(self, other: Pair) -> Pair:
        return Pair(self.forward + other.forward, self.backward + other.backward)

    def times(self, factor: Floats | float) -> Pair:
        """Both passes times a factor."""
        return Pair(self.forward * factor, self.backward * factor)

    def where(self, condition: NDArray[np.bool_], other: Pair) -> Pair:
        """These passes where the condition holds, else the other ones."""
        return Pair(
            np.where(condition, self.forward, other.forward), np.where(condition, self.backward, other.backward)
        )


def depth(table: Table, seen: Seen) -> Floats:
    """Elements of K that cost as much as a whole tile pipeline (n,)."""
    scale: Floats = DEPTH_OF_ARCHITECTURE[table["architecture"].astype(np.intp)]
    depths: Floats = seen.one("gemm_depth") * scale * DEPTH_OF_PRECISION[table["precision"].astype(np.intp)]
    return depths


def tile_waste(m: Floats, n: Floats, multiprocessors: Floats) -> Floats:
    """Time over that of a product without quantisation, for the best tile size (n,), at least 1."""
    best = np.full(m.shape, np.inf)
    for rows, columns, cost in TILES:
        tiles = np.ceil(m / rows) * np.ceil(n / columns)
        waves = np.ceil(tiles / multiprocessors)
        best = np.minimum(best, cost * waves * multiprocessors * (rows * columns) / (m * n))
    waste: Floats = np.minimum(best, 1 + MOST_WASTE)
    return waste


def product_s(table: Table, seen: Seen, m: Floats, n: Floats, k: Floats, rate: Floats) -> Floats:
    """Seconds of one product m x n x k at a sustained rate (FLOP/s)."""
    m, n, k = np.maximum(m, 1.0), np.maximum(n, 1.0), np.maximum(k, 1.0)
    edge = seen.one("gemm_edge")
    waste = tile_waste(m, n, MULTIPROCESSORS[table["architecture"].astype(np.intp)])
    shape = (1 + depth(table, seen) / k) * (1 + edge / m) * (1 + edge / n)
    seconds: Floats = PER_MULTIPLY_ADD * m * n * k / rate * shape * (1 + seen.one("tile_waste") * (waste - 1))
    return seconds


def linear(table: Table, seen: Seen, tokens: Floats, into: Floats, out: Floats) -> Pair:
    """Seconds of a layer's weight matrix: forward, and both gradients, casting to narrow operands included."""
    rate = seen.layer_flops
    forward = product_s(table, seen, tokens, out, into, rate)
    backward = product_s(table, seen, tokens, into, out, rate) + product_s(table, seen, out, into, tokens, rate)
    cast = seen.quantise_bytes * tokens * (into + out) / seen.memory_rate
    return Pair(forward + cast / PASSES, backward + cast * (PASSES - 1) / PASSES)
