"""`Ledger`, the communication account: who sends how many bytes to whom, when, between *logical ranks*.

A job's ranks are numbered 0 … n-1 in the order tp (fastest), cp, dp, pp (slowest), as Megatron orders them; ep groups
are made of dp x cp neighbours. Where a rank sits is the fabric's business (`fabric.placement`), so a row knows its
groups but not its tier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from eastwest.workload.model import Transformer

Per = Literal["step", "token", "request", "checkpoint"]
Collective = Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send_recv", "broadcast", "write"]
Jitter = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class Grid:
    """A job's logical ranks: degrees of each parallel dimension, and the rank numbers of every group of a dimension.

    `n_ranks = tp * cp * dp * pp`; rank = tp_i + tp * (cp_i + cp * (dp_i + dp * pp_i)).
    """

    tp: int = 1
    cp: int = 1
    dp: int = 1
    pp: int = 1
    ep: int = 1
    shard: int = 1
    prefill: int = 0

    @property
    def n_ranks(self) -> int:
        """Ranks of the job."""
        return self.tp * self.cp * self.dp * self.pp

    def groups(self, dimension: str) -> NDArray[np.int64]:
        """(n_groups, group_size) int64 rank numbers of one dimension: tp, cp, dp, dp_cp, pp, pp_ends, ep, expert_dp,
        shard, replica, all.

        `dp_cp` are the ranks that hold the same weights (gradients are reduced over them), `ep` consecutive ones of
        them, `shard` and `replica` split `dp_cp` for HSDP, `expert_dp` are the ranks that hold the same experts,
        `pp_ends` the first and the last stage of a pipeline (tied embeddings; empty for pp 1), `prefill_decode` pairs
        (prefill rank, decode rank): of dp replicas the first `prefill` ones prefill, each hands over to one decode
        replica in turn; `all` every rank. Raises KeyError for another name.
        """
        cube = np.arange(self.n_ranks, dtype=np.int64).reshape(self.pp, self.dp, self.cp, self.tp)
        same_weights = cube.transpose(0, 3, 1, 2).reshape(self.pp * self.tp, self.dp * self.cp)
        split = {"ep": self.ep, "shard": self.shard}
        if dimension in split:
            return same_weights.reshape(-1, split[dimension])
        shapes = {
            "tp": cube.reshape(-1, self.tp),
            "cp": cube.transpose(0, 1, 3, 2).reshape(-1, self.cp),
            "dp": cube.transpose(0, 2, 3, 1).reshape(-1, self.dp),
            "dp_cp": same_weights,
            "pp": cube.transpose(1, 2, 3, 0).reshape(-1, self.pp),
            "pp_ends": cube[[0, -1]].transpose(1, 2, 3, 0).reshape(-1, 2) if self.pp > 1 else cube[:0].reshape(-1, 2),
            "prefill_decode": self._prefill_decode(cube),
            "all": cube.reshape(1, -1),
            "replica": same_weights.reshape(same_weights.shape[0], -1, self.shard)
            .transpose(0, 2, 1)
            .reshape(-1, self.dp * self.cp // self.shard),
            "expert_dp": same_weights.reshape(same_weights.shape[0], -1, self.ep)
            .transpose(0, 2, 1)
            .reshape(-1, self.dp * self.cp // self.ep),
        }
        return shapes[dimension]

    def _prefill_decode(self, cube: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n_pairs, 2) int64 ranks of same place in a prefill and in a decode replica."""
        prefill = np.arange(self.prefill, dtype=np.int64)
        decode = self.prefill + prefill % max(1, self.dp - self.prefill)
        by_replica = cube.transpose(1, 0, 2, 3)
        return np.stack([by_replica[prefill].ravel(), by_replica[decode % self.dp].ravel()], axis=1)


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One kind of traffic of one job.

    `bytes_per_gpu` is what one GPU *sends* in one `per`, in `messages` messages of `message_bytes`; `dimension` names
    the groups of the job's grid that take part, `group_size` their size; `overlaps` says what computation hides it (""
    = nothing); `overlap_ratio` is the share of the time that can be hidden at most and `window_ratio` the share of the
    step's computation that it can hide behind; `formula` and `source` defend the number.
    """

    job: str
    traffic: str
    dimension: str
    group: str
    group_size: int
    collective: Collective
    bytes_per_gpu: int
    messages: int
    message_bytes: int
    per: Per
    overlaps: str = ""
    overlap_ratio: float = 0.0
    window_ratio: float = 0.0
    formula: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    source: str = "derived"


@dataclass(frozen=True, slots=True)
class MemoryTerm:
    """Bytes of one kind that the fullest GPU holds."""

    name: str
    size_bytes: int
    formula: str


@dataclass(frozen=True, slots=True)
class Memory:
    """What the fullest GPU of a job holds, by term, against what it has."""

    terms: tuple[MemoryTerm, ...]
    capacity_bytes: int

    @property
    def total_bytes(self) -> int:
        """Sum of the terms."""
        return sum(term.size_bytes for term in self.terms)

    @property
    def largest(self) -> MemoryTerm:
        """The term to look at first."""
        return max(self.terms, key=lambda term: term.size_bytes)


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """One traffic feature and what follows from it for congestion control, load balancing and queueing, each with the
    reason.

    The texts are English; `workload.features.translated(row, "zh")` says the same in Chinese by `id` and `args`.
    """

    feature: str
    observed: str
    congestion_control: str
    load_balancing: str
    queueing: str
    because: str
    id: str = ""
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Profile:
    """A job's traffic in the seeds' words: who is the main pattern, how high the burst goes, whether the business
    tolerates jitter.
    """

    job: str
    main_pattern: str
    main_share_ratio: float
    period_s: float | None
    duty_ratio: float | None
    peak_to_average_ratio: float | None
    fan_in: int
    jitter_tolerance: Jitter
    rows: tuple[ProfileRow, ...] = ()


@dataclass(frozen=True, slots=True)
class JobLedger:
    """One job's part of the account; `path` is the job's key in the site file (`jobs[0]`), `model` what it runs."""

    name: str
    kind: Literal["training", "inference"]
    grid: Grid
    gpus: int
    params: int
    rows: tuple[LedgerRow, ...]
    memory: Memory
    flops_per_gpu: float
    flops_per: Per
    profile: Profile
    assumed: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    path: str = ""
    model: Transformer | None = None


@dataclass(frozen=True, slots=True)
class Ledger:
    """The whole communication account: every job, in the order of the site file."""

    jobs: tuple[JobLedger, ...] = ()

    @property
    def rows(self) -> tuple[LedgerRow, ...]:
        """Every row of every job."""
        return tuple(row for job in self.jobs for row in job.rows)
