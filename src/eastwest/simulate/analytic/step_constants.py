"""Fitted constants of the step model, and what each run of a table sees of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.analytic.assumptions import ARCHITECTURES
from eastwest.simulate.analytic.step_priors import BY_ARCHITECTURE, CLASS_OF, CLASSES, SHARED
from eastwest.simulate.analytic.step_table import Table
from eastwest.simulate.analytic.training_run import NETWORKS, PRECISIONS

Floats = NDArray[np.float64]
PRIOR_VALUES: Mapping[str, float] = {prior.name: prior.value for prior in (*SHARED, *BY_ARCHITECTURE)}
_CLASS_INDEX = np.array([CLASSES.index(CLASS_OF[name]) for name in PRECISIONS])
_QUANTISED = ("", "fp8", "fp8", "mxfp8", "nvfp4")  # class -> constant of casting
ROWWISE_COST = 1.5  # a scale for each row: casting takes half as much again as one scale for the tensor


@dataclass(frozen=True, slots=True)
class Residual:
    """How well a group of runs is met: rows, median and 90th percentile of |predicted / measured - 1|, median of
    predicted / measured - 1, and the half width (log) that holds 80 % of the rows.
    """

    rows: int
    median_ratio: float
    p90_ratio: float
    bias_ratio: float
    spread_log: float


@dataclass(frozen=True, slots=True)
class StepConstants:
    """Values by name (step_priors), names at a bound, sources and row ids of the fit, residuals by (GPU, class) and
    by group (`moe`, or the architecture). A name that is missing has its prior's value (a factor: 1).
    """

    values: Mapping[str, float]
    at_bound: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    residuals: Mapping[str, Residual] = field(default_factory=dict)

    def value(self, name: str) -> float:
        """The value of a constant: fitted, else its prior; 1 for a factor of a GPU that was not fitted."""
        return self.values.get(name, PRIOR_VALUES.get(name, 1.0))

    def knows(self, gpu: str, kind: str) -> bool:
        """Whether runs of this GPU and class of precision were in the fit."""
        return f"gemm.{gpu}.{kind}" in self.values


@dataclass(frozen=True, slots=True)
class Seen:
    """What each run sees of the constants: (n,) arrays where they depend on its hardware or precision; the rest by
    name through `one`.
    """

    constants: StepConstants
    layer_flops: Floats
    wide_flops: Floats
    flash_flops: Floats
    memory_rate: Floats
    scale_up_rate: Floats
    network_rate: Floats
    launch_s: Floats
    quantise_bytes: Floats
    grouped: Floats

    def one(self, name: str) -> float:
        """A constant that all runs share."""
        return self.constants.value(name)


def see(table: Table, constants: StepConstants) -> Seen:
    """The constants as the runs of a table see them: rates in FLOP/s and B/s, times in s."""
    architecture = table["architecture"].astype(np.intp)
    kind = _CLASS_INDEX[table["precision"].astype(np.intp)]
    power = table["power_ratio"] ** constants.value("power")
    gpu, position = np.unique(table["gpu"], return_inverse=True)
    sheet = np.choose(kind, (table["flops_16"], *(table["flops_8"],) * 3, table["flops_4"]))
    factors = np.array([[constants.values.get(f"gemm.{name}.{cls}", 1.0) for cls in CLASSES] for name in gpu])
    shared = np.array([constants.value(f"gemm.{cls}") for cls in CLASSES])
    of_architecture = _of(constants, "gemm", ARCHITECTURES)[architecture] * power
    layer = sheet * shared[kind] * of_architecture * factors[position, kind]
    wide = table["flops_16"] * shared[0] * of_architecture * factors[position, 0]
    kernels = np.stack([_of(constants, name, ARCHITECTURES) for name in ("flash_1", "flash_1", "flash_2", "flash_3")])
    flash = table["flops_16"] * power * kernels[table["kernel"].astype(np.intp), architecture]
    network = _of(constants, "network", NETWORKS)[table["network"].astype(np.intp)]
    cast = np.array([constants.value(f"quantise.{name}") if name else 0.0 for name in _QUANTISED])
    cast[CLASSES.index("fp8_rowwise")] *= ROWWISE_COST
    grouped = np.where(kind == 0, constants.value("grouped.16"), constants.value("grouped.8"))
    return Seen(
        constants=constants,
        layer_flops=layer,
        wide_flops=wide,
        flash_flops=flash,
        memory_rate=table["memory_rate"] * _of(constants, "memory", ARCHITECTURES)[architecture],
        scale_up_rate=table["scale_up_rate"] * _of(constants, "scale_up", ARCHITECTURES)[architecture],
        network_rate=table["nic_rate"] * network,
        launch_s=_of(constants, "launch", ARCHITECTURES)[architecture],
        quantise_bytes=cast[kind],
        grouped=grouped,
    )


def _of(constants: StepConstants, name: str, kinds: tuple[str, ...]) -> Floats:
    return np.array([constants.value(f"{name}.{kind}") for kind in kinds])
