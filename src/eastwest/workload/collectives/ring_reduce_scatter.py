"""Ring reduce-scatter: each part is summed along n - 1 hops, so a rank sends (n - 1)/n of the whole buffer in n - 1
messages.

The hops are those of the all-gather; what arrives is summed instead of kept. Source: nccl-tests PERFORMANCE.md (bus
bandwidth factor (n-1)/n); Patarasuk and Yuan 2009.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eastwest.workload.collectives import ring_all_gather
from eastwest.workload.collectives.ring_all_gather import n_messages, sent_bytes

__all__ = ["n_messages", "sent_bytes", "transfers"]


def transfers(group: NDArray[np.int64], size_bytes: int) -> NDArray[np.void]:
    """((n - 1) * n,) TRANSFER of one reduce-scatter of `size_bytes` on each rank; rank i ends with part i + 1.

    >>> transfers(np.array([4, 5]), 100)[["src", "dst", "size_bytes"]].tolist()
    [(4, 5, 50), (5, 4, 50)]
    """
    return ring_all_gather.transfers(group, size_bytes)
