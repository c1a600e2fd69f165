"""`StepWork`: one training step as seconds of passes and bytes of exchanges, before any network is asked.

A cell is the ranks that compute in lock-step: all tensor- and context-parallel ranks of one pipeline stage of one
data-parallel replica.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eastwest.workload.ledger import Grid

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Exchange:
    """A collective that follows every pass and leaves the scale-up domain: all its layers' transfers as one.

    `traffic` is its class (tp, cp, ep), `groups` (n_groups, group_size) ranks; each rank sends `forward_bytes` in a
    forward pass and `backward_bytes` in a backward pass, in rings or to all others; `forward_steps` and
    `backward_steps` follow each other in one pass.
    """

    traffic: str
    groups: Ints
    is_ring: bool
    forward_bytes: int
    backward_bytes: int
    forward_steps: int
    backward_steps: int


@dataclass(frozen=True, eq=False)
class Buckets:
    """Gradients behind the backward passes of the last micro-batch, or weights (`is_weights`) before the forward passes
    of the first, in `n_buckets` that follow each other.

    A rank of stage s sends `stage_bytes[s]` of each bucket round its ring of `groups` (n_groups, group_size), in
    `n_steps` steps. Buckets travel while their stage computes if `overlaps`.
    """

    groups: Ints
    n_steps: int
    n_buckets: int
    stage_bytes: tuple[int, ...]
    is_weights: bool
    overlaps: bool


@dataclass(frozen=True, eq=False)
class StepWork:
    """One step of one job. `hosts` (n_ranks,) is where each rank sits; `forward_ps`, `backward_ps` (pp, virtual_stages)
    one pass of one micro-batch through each chunk; `stage_bytes` what each rank sends to the next stage in one pass;
    `end_ps` the optimiser and what else comes at the end.
    """

    job: str
    grid: Grid
    hosts: Ints
    schedule: str
    virtual_stages: int
    n_micro_batches: int
    forward_ps: Ints
    backward_ps: Ints
    stage_bytes: int
    exchanges: tuple[Exchange, ...] = ()
    buckets: tuple[Buckets, ...] = ()
    end_ps: int = 0

    @property
    def ranks_per_cell(self) -> int:
        """Ranks that compute in lock-step."""
        return self.grid.tp * self.grid.cp

    def stage_of(self, ranks: Ints) -> Ints:
        """(n,) pipeline stage of each rank."""
        return ranks // (self.ranks_per_cell * self.grid.dp)

    def replica_of(self, ranks: Ints) -> Ints:
        """(n,) data-parallel replica of each rank."""
        return ranks // self.ranks_per_cell % self.grid.dp

    def cell_ranks(self, stage: int) -> Ints:
        """(dp, ranks_per_cell) ranks of every cell of a stage."""
        per_stage = self.ranks_per_cell * self.grid.dp
        first = np.arange(per_stage, dtype=np.int64) + stage * per_stage
        return first.reshape(self.grid.dp, self.ranks_per_cell)
