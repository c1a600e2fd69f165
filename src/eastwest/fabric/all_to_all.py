"""Uniform all-to-all of large groups, summed by server, rail and leaf without listing its pairs of GPUs.

Each GPU of a group of n sends the same bytes to each of the n - 1 others. What goes from leaf A to leaf B is then the
product of how many members of a group hang on each, added up over the groups: a matrix product instead of n^2 pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric.routing import Crossing, server_links
from eastwest.fabric.tables import Fabric, Tier
from eastwest.fabric.transfers import Where, tier_between, where

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
PAIRS_LISTED = 4_000_000  # pairs of GPUs that are still listed one by one: 100 MB of transfers


@dataclass(frozen=True, eq=False)
class UniformExchange:
    """`tier_bytes` (n_tiers,) over all GPUs, `scale_up_bytes` the most that one GPU sends inside its domain, and what
    crosses the fabric.
    """

    tier_bytes: Floats
    scale_up_bytes: float
    crossing: Crossing


def is_large(members: Ints) -> bool:
    """Whether the pairs of these groups (n_groups, n) are too many to be listed."""
    n_groups, n = members.shape
    return bool(n_groups * n * (n - 1) > PAIRS_LISTED)


def uniform_exchange(fabric: Fabric, members: Ints, size_bytes: float) -> UniformExchange:
    """All-to-all in each of the groups `members` (n_groups, n) GPUs, every GPU sending `size_bytes` in all.

    It counts as `transfers` does: over the destination's rail where rails are kept, inside a scale-up domain without
    the network. Equal parts to all others; skewed expert loads are not in it.
    """
    places = where(fabric)
    part = size_bytes / (members.shape[1] - 1)
    counts = _counts(places, members)
    every = counts.sum(axis=0)
    tiers = np.zeros(len(Tier))
    in_domain = _by_domain(places, every)
    tiers[Tier.SCALE_UP] = part * float((in_domain * (in_domain - 1)).sum())
    sums = np.zeros((2, len(fabric.links)))
    blocks: list[tuple[Ints, Ints, Floats]] = []
    for out in [None] if places.rail_aligned else range(places.nics):
        for into in range(places.nics):
            src, dst = (every if out is None else counts[out]), counts[into]
            _add_rail(fabric, places, src, dst, (into if out is None else out, into), part, tiers, sums, blocks)
    columns = [np.concatenate(column) for column in zip(*blocks, strict=True)]
    crossing = Crossing(sums[0], sums[1], columns[0], columns[1], columns[2])
    return UniformExchange(tiers, part * float(max(0.0, in_domain.max(initial=1.0) - 1)), crossing)


def server_exchange(places: Where, members: Ints, size_bytes: float) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """What `uniform_exchange` sends over the network, by server and NIC: (n,) source server and NIC, destination
    server and NIC, and bytes, each four once.
    """
    part = size_bytes / (members.shape[1] - 1)
    counts = _counts(places, members)
    every = counts.sum(axis=0)
    near = places.domain_of[:, None] == places.domain_of[None, :]
    columns: list[tuple[Ints, Ints, Ints, Ints, Floats]] = []
    for out in [None] if places.rail_aligned else range(places.nics):
        for into in range(places.nics):
            matrix = (every if out is None else counts[out]).T @ counts[into]
            matrix[near] = 0.0
            a, b = np.nonzero(matrix)
            nic = np.full((2, len(a)), into, np.int64)
            nic[0] = into if out is None else out
            columns.append((a, nic[0], b, nic[1], matrix[a, b] * part))
    src, src_nic, dst, dst_nic, size = (np.concatenate(column) for column in zip(*columns, strict=True))
    return src, src_nic, dst, dst_nic, size


def _counts(places: Where, members: Ints) -> Floats:
    """(nics, n_groups, n_servers) members of each group by server and NIC index."""
    n_groups, n_servers = len(members), len(places.room)
    group = np.repeat(np.arange(n_groups), members.shape[1])
    gpu = members.ravel()
    key = (places.nic_of(gpu) * n_groups + group) * n_servers + gpu // places.per_server
    found: Floats = np.bincount(key, minlength=places.nics * n_groups * n_servers).astype(np.float64)
    return found.reshape(places.nics, n_groups, n_servers)


def _by_domain(places: Where, counts: Floats) -> Floats:
    """(n_groups, n_domains) of (n_groups, n_servers)."""
    starts = np.flatnonzero(np.r_[True, places.domain_of[1:] != places.domain_of[:-1]])
    found: Floats = np.add.reduceat(counts, starts, axis=1)
    return found


def _add_rail(
    fabric: Fabric,
    places: Where,
    src: Floats,
    dst: Floats,
    nics: tuple[int, int],
    part: float,
    tiers: Floats,
    sums: Floats,
    blocks: list[tuple[Ints, Ints, Floats]],
) -> None:
    """Adds what `src` (n_groups, n_servers) members send over NIC `nics[0]` to `dst` members over NIC `nics[1]`."""
    table, share = server_links(fabric), part / fabric.links_per_nic
    outside = dst.sum(axis=1, keepdims=True) - _by_domain(places, dst)[:, places.domain_of]
    sent = (src * outside).sum(axis=0) * share
    outside = src.sum(axis=1, keepdims=True) - _by_domain(places, src)[:, places.domain_of]
    got = (dst * outside).sum(axis=0) * share
    for port in range(fabric.links_per_nic):
        out, into = table[:, nics[0], port], table[:, nics[1], port]
        if (out < 0).any() or (into < 0).any():
            continue  # ports are short: the plan says so
        sums[0, out] += sent
        sums[1, into] += got
        a, b, size = _leaf_pairs(fabric, places, src, dst, out, into)
        blocks.append((a, b, size * share))
        first = np.zeros(len(fabric.nodes), np.int64)
        first[fabric.links["b"][into]], first[fabric.links["b"][out]] = np.arange(len(into)), np.arange(len(out))
        tiers += np.bincount(tier_between(places, first[a], first[b], a == b), size * share, minlength=len(tiers))


def _leaf_pairs(
    fabric: Fabric, places: Where, src: Floats, dst: Floats, out: Ints, into: Ints
) -> tuple[Ints, Ints, Floats]:
    """Leaves and the pairs of members between them, those of one scale-up domain left out."""
    leaf_out, number_out = np.unique(fabric.links["b"][out], return_inverse=True)
    leaf_in, number_in = np.unique(fabric.links["b"][into], return_inverse=True)
    low, high = (
        _by_leaf(counts, number.reshape(-1), len(leaves))
        for counts, number, leaves in ((src, number_out, leaf_out), (dst, number_in, leaf_in))
    )
    matrix = low.T @ high
    a, b = _same_domain(places)
    inside = (src[:, a] * dst[:, b]).sum(axis=0)
    np.subtract.at(matrix, (number_out.reshape(-1)[a], number_in.reshape(-1)[b]), inside)
    rows, columns = np.nonzero(matrix > 0)
    return leaf_out[rows].astype(np.int64), leaf_in[columns].astype(np.int64), matrix[rows, columns]


def _by_leaf(counts: Floats, number: Ints, n_leaves: int) -> Floats:
    """(n_groups, n_leaves) of (n_groups, n_servers)."""
    found = np.zeros((len(counts), n_leaves))
    np.add.at(found.T, number, counts.T)
    return found


def _same_domain(places: Where) -> tuple[Ints, Ints]:
    """All pairs of servers of one scale-up domain, a server with itself too."""
    size = np.bincount(places.domain_of)
    first = np.cumsum(size) - size
    a = np.repeat(np.arange(len(places.domain_of)), size[places.domain_of])
    starts = np.repeat(np.cumsum(size[places.domain_of]) - size[places.domain_of], size[places.domain_of])
    return a, first[places.domain_of[a]] + np.arange(len(a)) - starts
