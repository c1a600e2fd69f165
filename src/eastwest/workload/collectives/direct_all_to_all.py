"""Direct all-to-all: every rank sends each other rank its own part, so (n - 1)/n of the buffer in n - 1 messages, all
of them incast-shaped.

In step k rank i sends to rank i + k, so that no rank receives from two in one step when all keep pace. Source:
nccl-tests PERFORMANCE.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eastwest.workload.collectives.transfer import TRANSFER, parts_of, share_of


def transfers(group: NDArray[np.int64], size_bytes: int) -> NDArray[np.void]:
    """(n * (n - 1),) TRANSFER of one all-to-all in which each rank holds `size_bytes`, part j of them for rank j.

    >>> transfers(np.array([7, 9]), 10)[["src", "dst", "size_bytes"]].tolist()
    [(7, 9, 5), (9, 7, 5)]
    """
    n = len(group)
    rows = np.zeros(n * (n - 1), dtype=TRANSFER)
    step, rank = np.divmod(np.arange(n * (n - 1), dtype=np.int64), n)
    peer = (rank + step + 1) % n
    rows["step"], rows["src"], rows["dst"] = step, group[rank], group[peer]
    rows["size_bytes"] = parts_of(size_bytes, n)[peer]
    return rows


def sent_bytes(n: int, size_bytes: int) -> int:
    """Bytes that one rank sends: (n - 1)/n * S, its own part left out."""
    return share_of(size_bytes, n - 1, n)


def n_messages(n: int) -> int:
    """Messages that one rank sends: n - 1."""
    return n - 1
