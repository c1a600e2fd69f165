"""Fat-trees and traffic as index tables for the benchmarks of the flow engine, made with array arithmetic only."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.flow.build import flow_table, link_table, offsets_of
from eastwest.simulate.flow.tables import FlowTable, LinkTable, PathTable

RATE_BPS, DELAY_PS = 100 * 10**9, 10**6
TIERS = 6  # of directed links: host, edge and aggregation upwards, and the same downwards


def fat_tree(k: int, rate_bps: int = RATE_BPS) -> LinkTable:
    """Links of a three-tier fat-tree of k-port switches: six blocks of k³/4, the way up and the way down."""
    n_hosts = k**3 // 4
    return link_table(np.full(TIERS * n_hosts, rate_bps), DELAY_PS)


def fat_tree_paths(k: int, src: NDArray[np.int64], dst: NDArray[np.int64], choice: NDArray[np.int64]) -> PathTable:
    """One path for each pair of hosts; `choice` in [0, (k/2)²) picks the core."""
    half, n = k // 2, k**3 // 4
    up, core = choice // half, choice % half
    src_edge, dst_edge = src // half, dst // half
    src_pod, dst_pod = src_edge // half, dst_edge // half
    columns = [
        src,
        n + src_edge * half + up,
        2 * n + (src_pod * half + up) * half + core,
        3 * n + (dst_pod * half + up) * half + core,
        4 * n + dst_edge * half + up,
        5 * n + dst,
    ]
    table = np.stack(columns, axis=1).astype(np.int32)
    is_used = np.ones(table.shape, bool)
    is_used[:, [1, 4]] = (src_edge != dst_edge)[:, None]
    is_used[:, [2, 3]] = (src_pod != dst_pod)[:, None]
    lengths = is_used.sum(axis=1)
    links = table[is_used]
    return PathTable(offsets_of(lengths), links, np.ones(len(links)), lengths * DELAY_PS)


def ring(n_ranks: int, size_bytes: int, *, own: bool = True) -> FlowTable:
    """Ring all-reduce: 2(n - 1) steps of n parts, each after the one received and (`own`) the one sent."""
    n_steps = 2 * (n_ranks - 1)
    n_flows = n_steps * n_ranks
    flow = np.arange(n_ranks, n_flows, dtype=np.int64)
    before = flow - n_ranks
    received = before - flow % n_ranks + (flow - 1) % n_ranks
    parents = np.stack([received, before], axis=1) if own else received[:, None]
    offsets = offsets_of(np.repeat([0, parents.shape[1]], [n_ranks, n_flows - n_ranks]))
    return flow_table(
        np.full(n_flows, size_bytes // n_ranks),
        np.tile(np.arange(n_ranks), n_steps),
        parents=(offsets, parents.ravel()),
    )


def flow_list(path: Path) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Sources, destinations and sizes (bytes) of a flow list."""
    with path.open(encoding="utf-8") as file:
        rows = [[int(row[name].lstrip("h")) for name in ("src", "dst", "bytes")] for row in csv.DictReader(file)]
    src, dst, size = np.array(rows, np.int64).T
    return src, dst, size
