"""The fitted constants of collectives: one value a GPU generation or transport class, never one a run or source.

Each constant is a prior (NCCL's table, a data sheet's ratio) times a factor that all classes share times a factor of
the class; a class that no measurement shows keeps the shared one. `collective_fit` fits the logarithms of the factors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.analytic.collective_run import GENERATIONS, TRANSPORTS
from eastwest.simulate.analytic.nccl_cost import LL_CAP_BYTES_PER_S

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Constant:
    """One constant: its classes, its prior in each class, how far (log) the shared and the class factor may stray."""

    name: str
    classes: tuple[str, ...]
    prior: tuple[float, ...]
    shared_sd: float
    class_sd: float
    means: str


def _by_generation(name: str, prior: float, shared_sd: float, class_sd: float, means: str, **other: float) -> Constant:
    return Constant(name, GENERATIONS, tuple(other.get(c, prior) for c in GENERATIONS), shared_sd, class_sd, means)


def _by_transport(name: str, prior: float, shared_sd: float, class_sd: float, means: str, **other: float) -> Constant:
    return Constant(name, TRANSPORTS, tuple(other.get(c, prior) for c in TRANSPORTS), shared_sd, class_sd, means)


# Priors: 0.80-0.82 = NCCL's own link constants over the data sheet (20 GB/s x 12 of 300, 20.6 x 18 of 450, 40.1 x 18 of
# 900); PCIe 12 of 15.75; NVLS as one pass up and down at the ring's efficiency, less the root's share; transports: RDMA
# 0.95 of line rate (nccl-tests on 4 nodes up), EFA 0.90, kernel sockets 0.8 (IP over InfiniBand: of one core's rate).
CONSTANTS: tuple[Constant, ...] = (
    _by_generation("ring_share", 0.81, 0.1, 0.05, "ring busbw over the scale-up rate", pcie=0.76),
    _by_generation("tree_share", 0.92, 0.04, 0.04, "tree algbw over half the ring's busbw x 0.92"),
    _by_generation("nvls_share", 0.57, 0.3, 0.1, "NVLS algbw over the scale-up rate, 8 GPUs"),
    _by_generation("nvls_tree_share", 0.92, 0.2, 0.05, "NVLSTree algbw over NVLS algbw"),
    _by_generation("direct_share", 0.75, 0.1, 0.05, "all-to-all busbw over the scale-up rate", pcie=0.20),
    _by_generation("copy_share", 0.83, 0.1, 0.05, "copy between two GPUs over the scale-up rate"),
    _by_generation("inner_latency", 1.0, 0.3, 0.1, "steps inside a domain over NCCL's table"),
    _by_generation("ll_share", 1.0, 0.3, 0.15, "LL bandwidth over NCCL's table"),
    _by_generation("launch_s", 3e-6, 1.0, 1.0, "seconds before a kernel starts, nccl-tests"),
    _by_generation("fill_s", 10e-6, 0.7, 0.2, "filling of the pipeline at 1 MiB, inside a domain"),
    _by_generation("direct_s", 25e-6, 1.0, 0.5, "seconds of an empty all-to-all"),
    _by_transport(
        "network_share", 0.95, 0.05, 0.05, "busbw over the line rate", efa1=0.9, tcpxo=0.9, tcp=0.8, ipoib=0.95
    ),
    _by_transport(
        "outer_latency",
        1.0,
        0.1,
        0.3,
        "LL and LL128 steps between domains over NCCL's table",
        roce=2.0,
        efa=6.0,
        efa1=14.0,
        tcpxo=10.0,
        omni_path=2.0,
        tcp=7.0,
        ipoib=6.0,
    ),
    _by_transport(
        "outer_simple",
        1.0,
        0.3,
        0.3,
        "Simple steps between domains over NCCL's table",
        efa=2.0,
        efa1=4.0,
        tcpxo=4.0,
        tcp=4.0,
        ipoib=4.0,
    ),
    _by_transport(
        "outer_fill_s",
        10e-6,
        0.7,
        0.4,
        "filling of the pipeline at 1 MiB, between domains",
        efa1=40e-6,
        tcpxo=40e-6,
        tcp=100e-6,
        ipoib=1e-3,
    ),
    _by_transport(
        "outer_ll_share", 1.0, 0.3, 0.3, "LL bandwidth between domains over NCCL's table", ipoib=0.05, tcp=0.1
    ),
    _by_transport("outer_direct_share", 0.90, 0.15, 0.1, "all-to-all between domains over the line rate"),
)
HOST_S = Constant("host_s", ("all",), (20e-6,), 0.5, 1e-3, "seconds of a launch by one process or a framework")
RANK_S = Constant("rank_s", ("all",), (5e-6,), 1.0, 1e-3, "seconds a rank beyond 8 in an NVLS domain")
GROWTH = Constant("growth", ("all",), (0.4,), 0.5, 1e-3, "growth of an LL step from 128 B to 32 KiB")
TREE_FILL = Constant("tree_fill", ("all",), (1.5,), 0.7, 1e-3, "filling of a tree's pipeline over a ring's")
TABLE = (*CONSTANTS, HOST_S, RANK_S, GROWTH, TREE_FILL)
LL_CAPS = np.array([LL_CAP_BYTES_PER_S[name] for name in GENERATIONS])


@dataclass(frozen=True, slots=True)
class Constants:
    """Values of every constant: name -> (n_sets, n_classes), classes in their order; several sets in a fit only."""

    values: Mapping[str, Floats]

    def of(self, name: str, classes: Ints, sets: Ints) -> Floats:
        """(n_points,) of a constant, `classes` (n_points,) indices of generations or transports, `sets` of sets."""
        found: Floats = self.values[name][sets, classes]
        return found


def factors_of(theta: Floats) -> Constants:
    """The constants at logarithms `theta` (n_theta,) or (n_sets, n_theta): for each constant its shared factor, then
    one for each class.
    """
    sets, values, at = np.atleast_2d(theta), {}, 0
    for constant in TABLE:
        n = len(constant.classes)
        shared, own = sets[:, at : at + 1], sets[:, at + 1 : at + 1 + n]
        values[constant.name] = np.array(constant.prior) * np.exp(shared + own)
        at += 1 + n
    return Constants(values)


def spreads() -> Floats:
    """(n_theta,) standard deviations of the prior of every logarithm."""
    return np.array([sd for c in TABLE for sd in (c.shared_sd, *(c.class_sd for _ in c.classes))])


def named(theta: Floats) -> dict[str, dict[str, dict[str, float]]]:
    """The logarithms by name, as the constants file holds them: constant -> `shared` and each class -> log, value."""
    values, found, at = factors_of(theta).values, {}, 0
    for constant in TABLE:
        own = zip(constant.classes, theta[at + 1 :], values[constant.name][0], strict=False)
        classes = {name: {"log": float(log), "value": float(value)} for name, log, value in own}
        found[constant.name] = {"shared": {"log": float(theta[at])}, **classes}
        at += 1 + len(constant.classes)
    return found


def theta_of(constants: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Floats:
    """The logarithms of a constants file."""
    logs = [constants[c.name][name]["log"] for c in TABLE for name in ("shared", *c.classes)]
    return np.array(logs, dtype="f8")


@cache
def shipped() -> Mapping[str, Any]:
    """The constants file of the package: logarithms, values, intervals, residuals, runs used."""
    from ruamel.yaml import YAML

    text = (files("eastwest.simulate.analytic") / "constants" / "collectives.yaml").read_text(encoding="utf-8")
    loaded: Mapping[str, Any] = YAML(typ="safe").load(text)
    return loaded


@cache
def shipped_constants() -> Constants:
    """The fitted constants of the package."""
    return factors_of(theta_of(shipped()["constants"]))
