"""Ring (chain) broadcast: the first rank's buffer passes from neighbour to neighbour; every rank but the last sends all
of it.

Source: nccl-tests PERFORMANCE.md (factor 1). The pipelining of chunks along the chain is not modelled here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eastwest.workload.collectives.transfer import TRANSFER


def transfers(group: NDArray[np.int64], size_bytes: int) -> NDArray[np.void]:
    """(n - 1,) TRANSFER of one broadcast from the first rank of the group.

    >>> transfers(np.array([3, 1]), 10)[["src", "dst", "size_bytes"]].tolist()
    [(3, 1, 10)]
    """
    n = len(group)
    rows = np.zeros(n - 1, dtype=TRANSFER)
    rows["step"], rows["src"], rows["dst"], rows["size_bytes"] = np.arange(n - 1), group[:-1], group[1:], size_bytes
    return rows


def sent_bytes(n: int, size_bytes: int) -> int:
    """Bytes that a rank other than the last sends: S (0 for one rank)."""
    return size_bytes if n > 1 else 0


def n_messages(n: int) -> int:
    """Messages that a rank other than the last sends: 1 (0 for one rank)."""
    return min(n - 1, 1)
