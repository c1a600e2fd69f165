"""Time of a collective: the least over algorithms and protocols of latency + filling of the pipeline + bytes over rate.

Written once over arrays of points; one size is an array of one. It stops being true under collisions of ECMP flows,
loss, other jobs on the network, cold first calls and defects of a system: there it is a floor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.analytic import nccl_cost as nccl
from eastwest.simulate.analytic.collective_constants import LL_CAPS, Constants, Floats, Ints, shipped_constants
from eastwest.simulate.analytic.collective_run import AUTO, TRANSPORTS, CollectiveRun, Points, pack
from eastwest.units import MEBI

CANDIDATES = (
    ("ring", "ll"),
    ("ring", "ll128"),
    ("ring", "simple"),
    ("tree", "ll"),
    ("tree", "ll128"),
    ("tree", "simple"),
    ("nvls", "simple"),
    ("nvls_tree", "simple"),
    ("collnet", "simple"),
    ("pat", "simple"),
    ("direct", "simple"),
)
CHANNEL_BUFFER_BYTES = 4 * MEBI  # NCCL_BUFFSIZE: bytes in flight of one channel
NVLS_LEAST_RANKS = 2  # two GPUs gain nothing from a reduction in the switch
FULL_DOMAIN = 8  # GPUs at which `nvls_share` is stated
NVLS_ROOT_RANKS = 0.4  # ranks' worth of a domain that NVLS loses: 363, 414, 436, 460, 473 GB/s at 4-8 H200 (ring 366)
ONE_CORE_BYTES_PER_S = 25e9 / 8  # one core copies about 25 Gbit/s of TCP; IP over InfiniBand offloads none of it
MOST_FILL_BYTES = 256 * MEBI  # NCCL's chunk stops growing: beyond it the filling of the pipeline costs no more
LEAST_BYTES, GROWTH_DOUBLINGS = 128, 8  # steps of LL and LL128 lengthen from 128 B to 32 KiB as more channels join
NEVER = np.inf
LEAST_FACTOR = 1e-12  # of one rank alone, which sends nothing


@dataclass(frozen=True, slots=True)
class CollectiveTime:
    """Seconds of each size, and the algorithm and protocol that the model found least (indices of CANDIDATES)."""

    time_s: Floats
    candidate: NDArray[np.int64]

    def chosen(self, index: int) -> tuple[str, str]:
        """Algorithm and protocol of one size."""
        return CANDIDATES[int(self.candidate[index])]


def time_of(
    run: CollectiveRun, sizes_bytes: Sequence[float] | NDArray[np.float64], constants: Constants | None = None
) -> CollectiveTime:
    """Time of one collective at each size."""
    return time_of_points(pack(run, sizes_bytes), constants or shipped_constants())


def time_of_points(points: Points, constants: Constants, sets: Ints | None = None) -> CollectiveTime:
    """(n_points,) seconds of every point; `sets` (n_points,) is the set of constants of each (None: the first)."""
    world = _World(points, constants, np.zeros(len(points), np.int64) if sets is None else sets)
    table = np.stack([_candidate_s(world, algorithm, protocol) for algorithm, protocol in CANDIDATES])
    best = table.argmin(axis=0)
    return CollectiveTime(np.take_along_axis(table, best[None], axis=0)[0] + world.launch_s, best)


class _World:
    """What every candidate reads of the points: (n_points,) each."""

    def __init__(self, points: Points, constants: Constants, sets: Ints) -> None:
        generation, transport = points["generation"], points["transport"]
        self.points, self.size_bytes = points, points["size_bytes"]
        self.ranks, self.domains = points["ranks"], points["domains"]
        self.value = {
            name: constants.of(name, _classes(name, generation, transport), sets) for name in constants.values
        }
        self.launch_s = self.value["launch_s"] + points["host"] * self.value["host_s"]
        self.outer = self.domains > 1
        factors = [nccl.bus_factor(c, self.ranks) for c in nccl.COLLECTIVES]
        self.bus_factors = np.maximum(_select(points["collective"], factors), LEAST_FACTOR)
        passes = np.where(points["collective"] == 0, 2.0, 1.0)
        self.steps = nccl.Steps(passes * (self.ranks - 1), passes * (self.domains - 1), np.log2(self.domains))
        rtt_s = points["rtt_s"]
        window = np.divide(
            points["channels"] * CHANNEL_BUFFER_BYTES, rtt_s, out=np.full(len(points), NEVER), where=rtt_s > 0
        )
        sockets = np.isin(transport, _SOCKETS)
        one_core = transport == TRANSPORTS.index("ipoib")
        line = points["network_bytes_per_s"]
        line = np.where(one_core, np.minimum(line, ONE_CORE_BYTES_PER_S), line)
        self.network_bytes_per_s = np.where(self.outer, np.minimum(line * self.value["network_share"], window), NEVER)
        self.direct_bytes_per_s = np.where(
            self.outer, np.minimum(line * self.value["outer_direct_share"], window), NEVER
        )
        # Inner nodes of a tree send the buffer twice; two domains once, yet a host's sockets copy both ways.
        self.tree_share = np.where((self.domains > 2) | sockets, 0.5, 1.0)
        self.ring_bytes_per_s = np.where(
            self.ranks > self.domains, points["scale_up_bytes_per_s"] * self.value["ring_share"], NEVER
        )
        per_domain = self.ranks / self.domains
        few = (1 - NVLS_ROOT_RANKS / per_domain) / (1 - NVLS_ROOT_RANKS / FULL_DOMAIN)
        self.nvls_bytes_per_s = points["scale_up_bytes_per_s"] * self.value["nvls_share"] * few
        self.nvls_s = self.value["rank_s"] * np.maximum(per_domain - FULL_DOMAIN, 0)
        doublings = np.log2(np.maximum(self.size_bytes, 1) / LEAST_BYTES) / GROWTH_DOUBLINGS
        self.growth = 1 + self.value["growth"] * np.clip(doublings, 0, 1)
        self.megabytes = np.sqrt(np.minimum(self.size_bytes, MOST_FILL_BYTES) / MEBI)
        self.allowed = _allowed(self)


def _classes(name: str, generation: Ints, transport: Ints) -> Ints:
    """(n_points,) the class index of a constant: transport, generation, or the only one."""
    if name in _OF_ALL:
        return np.zeros_like(generation)
    return transport if name in _OF_TRANSPORT else generation


def _select(kind: NDArray[np.int8], values: Sequence[nccl.Real]) -> Floats:
    """(n_points,) the value of each point's collective."""
    found: Floats = np.choose(kind, [np.broadcast_to(value, kind.shape) for value in values])
    return found


_OF_TRANSPORT = (
    "network_share",
    "outer_latency",
    "outer_simple",
    "outer_fill_s",
    "outer_ll_share",
    "outer_direct_share",
)
_SOCKETS = [TRANSPORTS.index("tcp"), TRANSPORTS.index("ipoib")]
_OF_ALL = ("host_s", "rank_s", "growth", "tree_fill")


def _candidate_s(world: _World, algorithm: str, protocol: str) -> Floats:
    """Seconds of one candidate at every point; infinite where NCCL has no such algorithm."""
    points, allowed = world.points, world.allowed[algorithm]
    if algorithm in ("ring", "tree"):
        allowed = allowed & ((points["protocol"] == AUTO) | (points["protocol"] == nccl.PROTOCOLS.index(protocol)))
    if not allowed.any():
        return np.full(len(points), NEVER)
    seconds = _direct_s(world) if algorithm == "direct" else _stepped_s(world, algorithm, protocol)
    return np.where(allowed, seconds, NEVER)


def _allowed(world: _World) -> dict[str, NDArray[np.bool_]]:
    """Algorithm -> (n_points,) whether NCCL has it for a point: by collective, domains, and what switches can do."""
    points, kind = world.points, world.points["collective"]
    direct = (kind == nccl.COLLECTIVES.index("all_to_all")) | (kind == nccl.COLLECTIVES.index("send_recv"))
    reduces, inside = kind == nccl.COLLECTIVES.index("all_reduce"), world.ranks > world.domains
    across = reduces & world.outer
    gathers = (kind == nccl.COLLECTIVES.index("all_gather")) | (kind == nccl.COLLECTIVES.index("reduce_scatter"))
    found = {
        "ring": ~direct,
        "tree": across,
        "nvls": reduces & ~world.outer & points["nvls"] & (world.ranks > NVLS_LEAST_RANKS),
        "nvls_tree": across & points["nvls"] & inside,
        "collnet": across & points["in_network"],
        "pat": gathers & world.outer & ~inside,
        "direct": direct,
    }
    forced = points["algorithm"]
    return {name: mask & ((forced == AUTO) | (forced == nccl.ALGORITHMS.index(name))) for name, mask in found.items()}


def _stepped_s(world: _World, algorithm: str, protocol: str) -> Floats:
    """Latency + filling + bytes over algorithm bandwidth."""
    value = world.value
    row = "ring" if algorithm == "ring" else algorithm
    outer_scale = value["outer_simple"] if protocol == "simple" else value["outer_latency"]
    alone = "tree" if algorithm == "ring" else row
    step_s = np.where(
        world.ranks > world.domains,
        nccl.step_latency_s(row, protocol, "network"),
        nccl.step_latency_s(alone, protocol, "network"),
    )
    growth = 1.0 if protocol == "simple" else world.growth
    outer_s = step_s * outer_scale * growth + world.points["rtt_s"]
    latency_s = nccl.latency_s(
        algorithm, protocol, world.steps, world.ranks, world.domains, value["inner_latency"] * growth, outer_s
    )
    found: Floats = (
        latency_s
        + _fill_s(world, algorithm, protocol)
        + world.size_bytes / _algorithm_bytes_per_s(world, algorithm, protocol)
    )
    return found


def _fill_s(world: _World, algorithm: str, protocol: str) -> Floats:
    """Seconds until the pipeline of chunks is full; LL and LL128 send at once. NVLS pays for each further rank."""
    if protocol != "simple":
        return np.zeros(len(world.points))
    value = world.value
    found: Floats = world.megabytes * (value["fill_s"] + np.where(world.outer, value["outer_fill_s"], 0.0))
    if algorithm == "tree":
        return found * value["tree_fill"]
    return found + world.nvls_s if algorithm.startswith("nvls") else found


def _algorithm_bytes_per_s(world: _World, algorithm: str, protocol: str) -> Floats:
    """Bytes of the buffer over seconds: the narrower of scale-up domain and network."""
    share, value = nccl.protocol_share(algorithm, protocol), world.value
    if algorithm in ("nvls", "nvls_tree", "collnet"):
        inner = world.nvls_bytes_per_s * np.where(world.outer, value["nvls_tree_share"], 1.0)
        network = world.network_bytes_per_s * (1.0 if algorithm == "collnet" else world.tree_share)
        slower: Floats = np.minimum(inner, network)
        return slower
    if algorithm == "tree":
        inner = world.ring_bytes_per_s * nccl.TREE_SHARE / 2 * value["tree_share"]
        slower = np.minimum(inner, world.network_bytes_per_s * world.tree_share)
        return slower * share
    bus = np.minimum(world.ring_bytes_per_s, world.network_bytes_per_s) * share
    if protocol == "ll":
        scale = np.where(world.outer, value["outer_ll_share"], value["ll_share"])
        bus = np.minimum(bus, nccl.ll_cap_bytes_per_s(LL_CAPS[world.points["generation"]], world.domains) * scale)
    bus = bus * (nccl.PAT_SHARE if algorithm == "pat" else 1.0)
    return bus / world.bus_factors


def _direct_s(world: _World) -> Floats:
    """All-to-all: each GPU's bytes leave it over the scale-up links, those for other domains over the NICs as well.
    Send and receive: one GPU's bytes over its links, or over one NIC.
    """
    points, value = world.points, world.value
    per_domain = world.ranks / world.domains
    inner = points["scale_up_bytes_per_s"] * value["direct_share"]
    inside_s = np.where(world.ranks > world.domains, world.size_bytes * (per_domain - 1) / world.ranks / inner, 0.0)
    leaving = world.size_bytes * (world.ranks - per_domain) / world.ranks * per_domain
    exchange_s = np.maximum(inside_s, np.where(world.outer, leaving / world.direct_bytes_per_s, 0.0))
    copy = points["scale_up_bytes_per_s"] * value["copy_share"]
    copy_s = world.size_bytes / np.where(world.outer, points["nic_bytes_per_s"] * value["network_share"], copy)
    single = points["collective"] == nccl.COLLECTIVES.index("send_recv")
    outer_s = np.where(world.outer, nccl.step_latency_s("tree", "simple", "network") * value["outer_simple"], 0.0)
    found: Floats = np.where(single, copy_s, exchange_s) + value["direct_s"] + outer_s + points["rtt_s"]
    return found
