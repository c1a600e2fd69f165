"""`CollectiveRun`: everything that the model of collectives reads of one run, and the points it is packed into.

A *domain* is a set of GPUs that reach each other without NICs: a server of 8, or up to 72 GPUs of an NVL72 set. A
size is what nccl-tests prints: total bytes of an all-gather or reduce-scatter, bytes a rank of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.analytic.nccl_cost import ALGORITHMS, COLLECTIVES, PROTOCOLS

GENERATIONS = ("volta", "ampere", "hopper", "blackwell", "pcie", "other")
TRANSPORTS = ("infiniband", "roce", "efa1", "efa", "tcpxo", "omni_path", "tcp", "ipoib")
TOOLS = ("nccl-tests", "one_process", "script")
AUTO = -1  # of an algorithm or protocol: the least of the model

# One record a (run, size).
POINT = np.dtype(
    [
        ("size_bytes", "f8"),
        ("collective", "i1"),  # index into COLLECTIVES
        ("ranks", "f8"),
        ("domains", "f8"),  # scale-up domains that the ranks fill evenly
        ("scale_up_bytes_per_s", "f8"),  # one way, one GPU, data sheet
        ("network_bytes_per_s", "f8"),  # one way, all NICs that the run uses in one domain, line rate
        ("nic_bytes_per_s", "f8"),  # one way, one NIC, line rate
        ("generation", "i1"),  # index into GENERATIONS
        ("transport", "i1"),  # index into TRANSPORTS
        ("algorithm", "i1"),  # index into ALGORITHMS, or AUTO
        ("protocol", "i1"),  # index into PROTOCOLS, or AUTO
        ("nvls", "?"),  # the switches inside a domain reduce (NVLink SHARP)
        ("in_network", "?"),  # the switches between domains reduce (SHARP)
        ("host", "?"),  # the host's launch is in the time: one process for all GPUs, or a framework's script
        ("rtt_s", "f8"),  # round trip between domains that distance adds; 0 inside a building
        ("channels", "f8"),  # NCCL channels that cross a long link
    ]
)
Points = NDArray[np.void]


@dataclass(frozen=True, slots=True)
class CollectiveRun:
    """One collective on one machine.

    `collective` one of COLLECTIVES, `ranks` GPUs in `domains` scale-up domains of equal size; `scale_up_bytes_per_s`
    one way of one GPU, `generation` one of GENERATIONS (`pcie`: no scale-up links); `nics` a domain of
    `nic_bytes_per_s` each over `transport` (one of TRANSPORTS); `algorithm` and `protocol` of ALGORITHMS and PROTOCOLS,
    None: the least of the model; `nvls` and `in_network` whether switches inside and between domains reduce; `tool` one
    of TOOLS (`one_process`: nccl-tests that launches all GPUs of a server from one process, `script`: a framework's own
    timing); `rtt_s` the round trip that distance adds, over `channels` NCCL channels.
    """

    collective: str
    ranks: int
    domains: int
    scale_up_bytes_per_s: float
    generation: str
    nics: int = 0
    nic_bytes_per_s: float = 0.0
    transport: str = "infiniband"
    algorithm: str | None = None
    protocol: str | None = None
    nvls: bool = False
    in_network: bool = False
    tool: str = "nccl-tests"
    rtt_s: float = 0.0
    channels: int = 16


def pack(run: CollectiveRun, sizes_bytes: Sequence[float] | NDArray[np.float64]) -> Points:
    """(n_sizes,) POINT of one run."""
    sizes = np.asarray(sizes_bytes, dtype="f8").reshape(-1)
    points = np.zeros(len(sizes), POINT)
    points["size_bytes"] = sizes
    points["collective"] = COLLECTIVES.index(run.collective)
    points["ranks"], points["domains"] = run.ranks, run.domains
    points["scale_up_bytes_per_s"] = run.scale_up_bytes_per_s
    points["network_bytes_per_s"] = run.nics * run.nic_bytes_per_s
    points["nic_bytes_per_s"] = run.nic_bytes_per_s
    points["generation"] = GENERATIONS.index(run.generation)
    points["transport"] = TRANSPORTS.index(run.transport)
    points["algorithm"] = AUTO if run.algorithm is None else ALGORITHMS.index(run.algorithm)
    points["protocol"] = AUTO if run.protocol is None else PROTOCOLS.index(run.protocol)
    points["nvls"], points["in_network"] = run.nvls, run.in_network
    points["host"] = run.tool != "nccl-tests"
    points["rtt_s"], points["channels"] = run.rtt_s, run.channels
    return points
