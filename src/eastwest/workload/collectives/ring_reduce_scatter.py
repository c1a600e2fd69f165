"""Ring reduce-scatter: each part is summed along n - 1 hops, so a rank sends (n - 1)/n of the whole buffer in n - 1
messages.

Source: nccl-tests PERFORMANCE.md (bus bandwidth factor (n-1)/n); Patarasuk and Yuan 2009.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eastwest.workload.collectives.transfer import parts_of, ring_steps, share_of


def transfers(group: NDArray[np.int64], size_bytes: int) -> NDArray[np.void]:
    """((n - 1) * n,) TRANSFER of one reduce-scatter of `size_bytes` on each rank; rank i ends with part i + 1.

    >>> transfers(np.array([4, 5]), 100)[["src", "dst", "size_bytes"]].tolist()
    [(4, 5, 50), (5, 4, 50)]
    """
    n = len(group)
    return ring_steps(group, parts_of(size_bytes, n), n - 1)


def sent_bytes(n: int, size_bytes: int) -> int:
    """Bytes that one rank sends: (n - 1)/n * S."""
    return share_of(size_bytes, n - 1, n)


def n_messages(n: int) -> int:
    """Messages that one rank sends: n - 1."""
    return n - 1
