"""Who sends to whom in rings and exchanges of groups, and how a group lies in its scale-up domains.

A ring over servers of several ranks turns with its channel, so that all NICs of a server carry it (NCCL's rings).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Hops:
    """(n,) ranks that send and receive; what a rank sends in all is cut in `n_turns` equal parts, `turn` (n,) is the
    part that the hop carries.
    """

    src: Ints
    dst: Ints
    turn: Ints
    n_turns: int


def members_per_domain(domain: Ints) -> int:
    """Members that every group has in each of its scale-up domains, one after another, of (n_groups, group_size) domain
    numbers; 0 when that differs.
    """
    if not domain.size:
        return 0
    changes = domain[:, 1:] != domain[:, :-1]
    n_runs = 1 + changes.sum(axis=1)
    if len(np.unique(n_runs)) != 1 or domain.shape[1] % n_runs[0]:
        return 0
    per = domain.shape[1] // int(n_runs[0])
    blocks = domain.reshape(len(domain), -1, per)
    return per if bool((blocks == blocks[:, :, :1]).all()) else 0


def ring_hops(groups: Ints, hosts: Ints, domain: Ints) -> Hops:
    """The hops of the rings of (n_groups, group_size) ranks, in the order of their hosts: one ring for each member that
    a group has in a domain, each beginning with another.
    """
    n = groups.shape[1]
    if len(groups) == 0 or n < 2:
        nothing = np.zeros(0, np.int64)
        return Hops(nothing, nothing, nothing, 1)
    ordered = np.take_along_axis(groups, np.argsort(hosts[groups], axis=1, kind="stable"), axis=1)
    per = members_per_domain(domain[hosts[ordered]])
    n_turns = per if 1 < per < n else 1
    parts = []
    for number in range(n_turns):
        around = np.roll(ordered.reshape(len(groups), -1, max(1, per)), -number, axis=2).reshape(ordered.shape)
        parts.append((around.ravel(), np.roll(around, -1, axis=1).ravel(), np.full(around.size, number, np.int64)))
    src, dst, turn = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Hops(src, dst, turn, n_turns)


def all_pairs(groups: Ints) -> Hops:
    """Every rank to every other one of its group, an equal part to each."""
    n = groups.shape[1]
    src, dst = np.nonzero(~np.eye(n, dtype=np.bool_))
    turn = np.tile(np.arange(max(0, n - 1), dtype=np.int64), n * len(groups))
    return Hops(groups[:, src].ravel(), groups[:, dst].ravel(), turn, max(1, n - 1))
