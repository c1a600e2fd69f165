"""Collective algorithms, one file each: the transfers between the ranks of a group, and their closed forms."""

from __future__ import annotations

from typing import cast

from eastwest.registry import Registry
from eastwest.workload.collectives import (
    direct_all_to_all,
    halving_doubling_all_reduce,
    pairwise_all_to_all,
    pat_all_gather,
    pat_reduce_scatter,
    pipeline_send_recv,
    ring_all_gather,
    ring_all_reduce,
    ring_broadcast,
    ring_reduce_scatter,
    tree_all_reduce,
)
from eastwest.workload.collectives.transfer import TRANSFER, Algorithm

__all__ = ["ALGORITHMS", "TRANSFER", "Algorithm", "algorithm_of"]

ALGORITHMS: Registry[Algorithm] = Registry(
    "collective algorithm",
    [
        ("direct_all_to_all", cast(Algorithm, direct_all_to_all)),
        ("halving_doubling_all_reduce", cast(Algorithm, halving_doubling_all_reduce)),
        ("pairwise_all_to_all", cast(Algorithm, pairwise_all_to_all)),
        ("pat_all_gather", cast(Algorithm, pat_all_gather)),
        ("pat_reduce_scatter", cast(Algorithm, pat_reduce_scatter)),
        ("pipeline_send_recv", cast(Algorithm, pipeline_send_recv)),
        ("ring_all_gather", cast(Algorithm, ring_all_gather)),
        ("ring_all_reduce", cast(Algorithm, ring_all_reduce)),
        ("ring_broadcast", cast(Algorithm, ring_broadcast)),
        ("ring_reduce_scatter", cast(Algorithm, ring_reduce_scatter)),
        ("tree_all_reduce", cast(Algorithm, tree_all_reduce)),
    ],
)
_USUAL = {
    "all_gather": "ring_all_gather",
    "all_reduce": "ring_all_reduce",
    "all_to_all": "direct_all_to_all",
    "broadcast": "ring_broadcast",
    "reduce_scatter": "ring_reduce_scatter",
    "send_recv": "pipeline_send_recv",
}


def algorithm_of(collective: str) -> Algorithm:
    """The algorithm by which the account counts a collective of `LedgerRow`; raises UsageError for one that has no
    group (`write`).
    """
    return ALGORITHMS.get(_USUAL.get(collective, collective))
