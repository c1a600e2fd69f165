"""The constants of the step model: what each means, its prior, how far it may stray, and its bounds.

A prior is a round figure from a data sheet, a paper or a kernel's published speed, before any fit; `sigma` is its
spread (standard deviation of the logarithm). Constants come in three levels: shared ones, factors of an architecture,
factors of a GPU type and class of precision. A factor that no run informs stays at its prior, so that a GPU or a
precision without measurements is predicted from its data sheet with the constants of its architecture.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from eastwest.simulate.analytic.assumptions import ARCHITECTURES
from eastwest.simulate.analytic.training_run import NETWORKS

CLASSES = ("16", "fp8", "fp8_rowwise", "mxfp8", "nvfp4")  # of precision: fp16 and bf16 run at one rate
CLASS_OF = {"fp16": "16", "bf16": "16", "fp8": "fp8", "fp8_rowwise": "fp8_rowwise", "mxfp8": "mxfp8", "nvfp4": "nvfp4"}
BOUND_SIGMAS = 3.5  # a constant may stray this many sigma from its prior
GPU_SIGMA = 0.08  # of the factor of one GPU type and class: boards of one architecture differ by a tenth


@dataclass(frozen=True, slots=True)
class Prior:
    """One constant: name, unit, prior value, sigma of its logarithm, meaning with the prior's origin."""

    name: str
    unit: str
    value: float
    sigma: float
    meaning: str

    @property
    def bounds(self) -> tuple[float, float]:
        """Lowest and highest value that a fit may choose."""
        reach = float(np.exp(BOUND_SIGMAS * self.sigma))
        return self.value / reach, self.value * reach


def _by_architecture(name: str, unit: str, values: Iterable[float], sigma: float, meaning: str) -> tuple[Prior, ...]:
    pairs = zip(ARCHITECTURES, values, strict=True)
    return tuple(Prior(f"{name}.{kind}", unit, value, sigma, meaning) for kind, value in pairs)


_GEMM = "sustained share of the best matrix product, large shapes; below 1 for clocks under load"
_FLASH = "fused attention, forward, over the best matrix product: kernels' published speeds"
_NETWORK = "share of the NIC's rate that large collectives reach over {}"
SHARED: tuple[Prior, ...] = (
    *(
        Prior(f"gemm.{kind}", "ratio", value, 0.12, _GEMM)
        for kind, value in zip(CLASSES, (0.88, 0.8, 0.6, 0.75, 0.55), strict=True)
    ),
    Prior("gemm_depth", "elements", 200.0, 0.4, "K at which filling and draining a tile's pipeline doubles its time"),
    Prior("gemm_edge", "elements", 25.0, 0.4, "M or N at which edges of a product double its time"),
    Prior("tile_waste", "ratio", 0.8, 0.3, "share of tile and wave quantisation that a library does not avoid"),
    Prior("grouped.16", "ratio", 0.75, 0.25, "grouped matrix products of experts over dense ones, 16 bit"),
    Prior("grouped.8", "ratio", 0.6, 0.25, "grouped matrix products of experts over dense ones, 8 bit and less"),
    Prior("grouped_edge", "tokens", 64.0, 0.6, "tokens of one expert at which its product takes twice the time"),
    Prior("small_head", "exponent", 0.2, 0.5, "loss of fused attention below heads of 128: (head / 128)^x"),
    Prior("unfused", "ratio", 1.0, 0.25, "bytes that unfused softmax moves over 13 B a score and pass"),
    Prior(
        "odd_head",
        "ratio",
        14.0,
        0.3,
        "unfused score products with heads not a multiple of 8: best matrix product over fp32 cores",
    ),
    Prior("elementwise", "ratio", 1.0, 0.25, "bytes of norms, dropout, residuals and activation over the counted"),
    Prior("quantise.fp8", "B", 8.0, 0.4, "bytes moved to cast one element for all three products, per-tensor scale"),
    Prior("quantise.mxfp8", "B", 12.0, 0.4, "same, blocks of 32 with a scale each, both directions"),
    Prior("quantise.nvfp4", "B", 14.0, 0.4, "same, blocks of 16, random Hadamard transform"),
    Prior("quantise_experts", "ratio", 1.0, 0.4, "casting of experts' tokens over that of dense products"),
    Prior("accumulate", "B", 8.0, 0.4, "bytes a parameter and micro-batch to add a weight gradient"),
    Prior("permute", "ratio", 1.0, 0.5, "bytes of routing, permutation and combination over the counted"),
    Prior("scan", "B", 200.0, 0.4, "bytes moved for an element of state or of a narrow window, forward"),
    Prior("launch_experts", "s", 8e-3, 0.2, "host time of a dropless expert layer: 300 kernels, 2 syncs"),
    Prior("dropless", "ratio", 2.0, 0.3, "host time of a dropless expert layer over one with fixed shapes"),
    Prior("block_recompute", "s", 8e-3, 0.4, "host time of a recomputed layer that saves and restores random states"),
    Prior("layer_gap", "s", 0.3e-3, 0.5, "idle time of a recomputed layer and micro-batch elsewhere"),
    *(
        Prior(f"network.{kind}", "ratio", value, 0.12, _NETWORK.format(kind))
        for kind, value in zip(NETWORKS, (0.9, 0.9, 0.75, 0.55, 0.4), strict=True)
    ),
    Prior("network_step", "s", 15e-6, 0.4, "latency of one network step of a ring (NCCL: 14 us, Simple)"),
    Prior("scale_up_step", "s", 15e-6, 0.4, "latency of a collective inside the scale-up domain"),
    Prior("visible_tp", "ratio", 0.4, 0.4, "share of overlapped TP communication that stays visible"),
    Prior("visible_dp", "ratio", 0.15, 0.5, "slow-down by overlapped gradient communication over its time"),
    Prior("visible_fsdp", "ratio", 0.2, 0.5, "slow-down by overlapped gathers and scatters over their time"),
    Prior("visible_pp", "ratio", 0.8, 0.3, "share of transfers between stages that stays visible without overlap"),
    Prior("visible_ep", "ratio", 0.7, 0.3, "share of expert all-to-all that stays visible"),
    Prior("exchange_network", "ratio", 0.5, 0.4, "all-to-all over the network, every copy counted, over collectives"),
    Prior("exchange_scale_up", "ratio", 0.4, 0.4, "all-to-all inside the domain, over the links' rate"),
    Prior("optimizer", "ratio", 1.0, 0.3, "bytes of an optimiser step over the counted"),
    Prior("step_overhead", "s", 0.05, 0.8, "host time of a step: data, norms of gradients, logging"),
    Prior("straggling", "ratio", 0.004, 0.5, "slow-down by each doubling of the GPUs"),
    Prior("progress_experts", "1/year", 0.35, 0.4, "faster expert layers by release, youngest architecture"),
    Prior("progress", "1/year", 0.08, 0.5, "faster dense layers by release, youngest architecture"),
    Prior("power", "exponent", 0.6, 0.3, "matrix speed under a power cap: (cap / sheet)^x"),
)
BY_ARCHITECTURE: tuple[Prior, ...] = (
    *_by_architecture("gemm", "ratio", (1, 1, 1, 1), 0.08, "factor of an architecture on gemm"),
    *_by_architecture("flash_1", "ratio", (0.4, 0.45, 0.25, 0.2), 0.12, _FLASH),
    *_by_architecture("flash_2", "ratio", (0.4, 0.65, 0.4, 0.3), 0.12, _FLASH),
    *_by_architecture("flash_3", "ratio", (0.4, 0.65, 0.52, 0.6), 0.12, _FLASH),
    *_by_architecture("launch", "s", (0.6e-3,) * 4, 0.4, "host time of a dense layer and micro-batch: 100 kernels"),
    *_by_architecture("scale_up", "ratio", (0.75,) * 4, 0.15, "share of the links' rate that large rings reach"),
    *_by_architecture("memory", "ratio", (0.8,) * 4, 0.12, "share of the memory's rate that streaming kernels reach"),
)


def gpu_prior(gpu: str, kind: str) -> Prior:
    """The factor of one GPU type and class of precision on `gemm`."""
    return Prior(f"gemm.{gpu}.{kind}", "ratio", 1.0, GPU_SIGMA, "factor of a GPU type and precision on gemm")


def priors_of(pairs: Iterable[tuple[str, str]]) -> tuple[Prior, ...]:
    """Every constant of a fit on runs with these (GPU, class of precision)."""
    return (*SHARED, *BY_ARCHITECTURE, *(gpu_prior(gpu, kind) for gpu, kind in sorted(set(pairs))))
