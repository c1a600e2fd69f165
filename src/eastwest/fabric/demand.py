"""What one ledger row asks of a fabric: bytes by tier, the load of every link, the most inside a scale-up domain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric.all_to_all import is_large, uniform_exchange
from eastwest.fabric.routing import SwitchGraph, crossing_loads, link_loads
from eastwest.fabric.tables import Fabric, Tier
from eastwest.fabric.transfers import tiers_of, transfers_of, where
from eastwest.workload.ledger import Grid, LedgerRow

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def tier_bytes_of(fabric: Fabric, row: LedgerRow, grid: Grid, gpus: Ints) -> tuple[dict[Tier, float], Tier]:
    """Bytes of one row by tier in one `per`, over all GPUs, and the highest tier; `gpus` (n_ranks,) is where the ranks
    sit.
    """
    members = large_groups(fabric, row, grid, gpus)
    if members is not None:
        sums = uniform_exchange(fabric, members, float(row.bytes_per_gpu)).tier_bytes
        used = np.flatnonzero(sums)
    else:
        places = where(fabric)
        moves = transfers_of(row, grid, gpus, places.domain)
        tier = tiers_of(places, moves)
        sums = np.bincount(tier, moves.size_bytes, minlength=len(Tier)).astype(np.float64)
        used = np.unique(tier)
    return {Tier(int(i)): float(sums[i]) for i in used}, Tier(int(used.max(initial=Tier.LOCAL)))


def row_loads(
    fabric: Fabric, row: LedgerRow, grid: Grid, gpus: Ints, graph: SwitchGraph | None = None
) -> tuple[Floats | None, float]:
    """(n_links, 2) float64 bytes of every link in one `per` (a to b, b to a), None when nothing leaves the scale-up
    domains; and the most bytes that one GPU sends inside its domain.
    """
    members = large_groups(fabric, row, grid, gpus)
    if members is not None:
        found = uniform_exchange(fabric, members, float(row.bytes_per_gpu))
        return crossing_loads(fabric, found.crossing, graph), found.scale_up_bytes
    places = where(fabric)
    moves = transfers_of(row, grid, gpus, places.domain)
    tiers = tiers_of(places, moves)
    inside, wire = tiers == Tier.SCALE_UP, tiers > Tier.SCALE_UP
    scale_up = np.bincount(moves.src[inside], moves.size_bytes[inside]).max(initial=0.0) if inside.any() else 0.0
    if not wire.any():
        return None, float(scale_up)
    src, dst = moves.src[wire], moves.dst[wire]
    out, into = places.nic_pair(src, dst)
    a, b = src // places.per_server, dst // places.per_server
    return link_loads(fabric, a, out, b, into, moves.size_bytes[wire], graph), float(scale_up)


def large_groups(fabric: Fabric, row: LedgerRow, grid: Grid, gpus: Ints) -> Ints | None:
    """(n_groups, n) GPUs of an all-to-all whose pairs are too many to list; None for any other row."""
    if row.collective != "all_to_all" or fabric.tiers == 0:
        return None
    members = gpus[grid.groups(row.dimension)]
    return members if members.size and is_large(members) else None
