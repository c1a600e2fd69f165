"""NCCL's own cost structure: what an algorithm with a protocol pays in latency, and the share of the link rate that it
reaches.

t = latency + bytes / algorithm bandwidth, with the latencies and factors of NCCL's tuning table. Every function takes
numbers or arrays of one shape and returns the same. The table is what NCCL chooses by; what a run takes needs the
fitted corrections of `collective_constants`.

Source: NVIDIA NCCL 2.2x, src/graph/tuning.cc (tables `baseLatencies`, `hwLatencies`, `llMaxBws`, busbw to algbw);
nccl-tests, doc/PERFORMANCE.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eastwest.units import GIGA, US_PER_S

Real = float | NDArray[np.float64]

COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "all_to_all", "send_recv")
ALGORITHMS = ("ring", "tree", "nvls", "nvls_tree", "collnet", "pat", "direct")
PROTOCOLS = ("ll", "ll128", "simple")

# (LL, LL128, Simple), microseconds: before the first step, and per step over NVLink, PCIe and the network.
_BASE_US = {"ring": (6.6, 14.0, 8.4), "tree": (6.8, 14.0, 8.4), "pat": (8.0, 8.0, 8.0)}
_NVLINK_US = {"ring": (0.6, 1.9, 3.4), "tree": (0.6, 1.25, 4.0), "collnet": (3.7, 3.7, 3.7), "nvls": (25.0, 25.0, 25.0)}
_PCIE_US = {"ring": (1.0, 2.5, 5.7), "tree": (1.0, 1.9, 4.0), "collnet": (3.7, 3.7, 3.7), "nvls": (25.0, 25.0, 25.0)}
_NETWORK_US = {
    "ring": (2.7, 4.0, 14.0),
    "tree": (5.0, 8.5, 14.0),
    "collnet": (31.0, 31.0, 31.0),
    "nvls": (20.9, 20.9, 20.9),
    "pat": (14.0, 14.0, 14.0),
}
COLLNET_RANK_US = 0.4  # collnet: per further rank of a domain
PAT_RANK_US = 2.8  # PAT: per rank
PAT_FOLD = 3.5  # PAT: rounds that share one network latency

# Share of the ring's bus bandwidth that a protocol leaves: LL sends a flag with every 4 bytes, LL128 one with 120.
LL_SHARE = 0.5
LL128_SHARE = 0.92
TREE_SHARE = 0.92
TREE_LL_SHARE = 1 / 3.8
TREE_LL128_SHARE = 120 / 128
PAT_SHARE = 0.75
# Bus bandwidth that LL reaches at most: in one domain by GPU generation, over two and over more domains.
LL_CAP_BYTES_PER_S = {
    "volta": 39.0 * GIGA,
    "ampere": 87.7 * GIGA,
    "hopper": 141.0 * GIGA,
    "blackwell": 282.0 * GIGA,
    "pcie": 39.0 * GIGA,
    "other": 87.7 * GIGA,
}
LL_CAP_TWO_DOMAINS = 39.0 * GIGA
LL_CAP_MORE_DOMAINS = 20.4 * GIGA


def bus_factor(collective: str, ranks: Real) -> Real:
    """Bus bandwidth over algorithm bandwidth: 2(n-1)/n, (n-1)/n or 1. Source: nccl-tests, doc/PERFORMANCE.md.

    >>> bus_factor("all_reduce", 8)
    1.75
    """
    if collective in ("broadcast", "send_recv"):
        return 1.0 * (ranks / ranks)
    factor = (ranks - 1) / ranks
    return 2 * factor if collective == "all_reduce" else factor


@dataclass(frozen=True, slots=True)
class Steps:
    """Steps that follow each other: of a ring, those of them that cross domains, rounds of a tree over domains."""

    all: Real
    outer: Real
    rounds: Real


def steps_of(collective: str, ranks: Real, domains: Real) -> Steps:
    """Steps of one collective: a ring takes 2(n-1) for an all-reduce, n-1 otherwise, and of them 2(D-1) or D-1 between
    D domains.
    """
    passes = 2.0 if collective == "all_reduce" else 1.0
    return Steps(passes * (ranks - 1), passes * (domains - 1), np.log2(domains))


def step_latency_s(algorithm: str, protocol: str, link: str) -> float:
    """Seconds of one step over `nvlink`, `pcie` or the `network`, NCCL's table.

    >>> step_latency_s("tree", "ll", "network")
    5e-06
    """
    table = {"nvlink": _NVLINK_US, "pcie": _PCIE_US, "network": _NETWORK_US}[link]
    row = "nvls" if algorithm == "nvls_tree" else algorithm
    return table[row][PROTOCOLS.index(protocol)] / US_PER_S if row in table else 0.0


def base_latency_s(algorithm: str, protocol: str) -> float:
    """Seconds before the first step: kernel start and set-up; 0 for algorithms that NCCL gives none."""
    return _BASE_US.get(algorithm, (0.0, 0.0, 0.0))[PROTOCOLS.index(protocol)] / US_PER_S


def latency_s(
    algorithm: str, protocol: str, steps: Steps, ranks: Real, domains: Real, inner_scale: Real, outer_s: Real
) -> Real:
    """Seconds that no bandwidth shortens. `domains` are the scale-up domains that `ranks` fill evenly, `inner_scale`
    multiplies the steps inside them, `outer_s` is one step between them (`step_latency_s` of the network, or fitted).
    """
    inner_s = step_latency_s(algorithm, protocol, "nvlink") * inner_scale
    per_domain = ranks / domains
    base_s = base_latency_s(algorithm, protocol)
    if algorithm == "ring":
        return base_s + (steps.all - steps.outer) * inner_s + steps.outer * outer_s
    if algorithm == "tree":
        return base_s + 2 * ((per_domain - 1) * inner_s + steps.rounds * outer_s)
    if algorithm in ("nvls", "nvls_tree"):
        return base_s + inner_s + 2 * steps.rounds * outer_s
    if algorithm == "collnet":
        return 2 * (inner_s + COLLNET_RANK_US / US_PER_S * (per_domain - 1)) + outer_s
    return base_s + steps.rounds * outer_s / PAT_FOLD + PAT_RANK_US / US_PER_S * ranks


def table_latency_s(algorithm: str, protocol: str, collective: str, ranks: int, domains: int) -> float:
    """The latency of NCCL's own table, without fitted corrections. With one rank a domain every step is a network step,
    and NCCL takes the tree's network row for a ring.

    >>> round(table_latency_s("tree", "ll", "all_reduce", 16, 2) * 1e6, 1)
    25.2
    """
    row = "tree" if ranks == domains and algorithm == "ring" else algorithm
    outer_s = step_latency_s(row, protocol, "network")
    steps = steps_of(collective, float(ranks), float(domains))
    return float(latency_s(algorithm, protocol, steps, float(ranks), float(domains), 1.0, outer_s))


def protocol_share(algorithm: str, protocol: str) -> float:
    """Share of an algorithm's rate that a protocol leaves; LL has a cap besides (`ll_cap_bytes_per_s`)."""
    if algorithm == "ring":
        return {"ll": LL_SHARE, "ll128": LL128_SHARE, "simple": 1.0}[protocol]
    if algorithm == "tree":
        return {"ll": TREE_LL_SHARE, "ll128": TREE_LL128_SHARE, "simple": 1.0}[protocol]
    return 1.0


def ll_cap_bytes_per_s(one_domain_cap: Real, domains: Real) -> Real:
    """Bus bandwidth that LL reaches at most, bytes/s: by GPU generation in one domain, NCCL's limits beyond."""
    beyond = np.where(domains > 2, LL_CAP_MORE_DOMAINS, LL_CAP_TWO_DOMAINS)
    return np.where(domains > 1, beyond, one_domain_cap)
