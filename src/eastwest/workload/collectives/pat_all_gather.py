"""PAT (parallel aggregated trees) all-gather: every rank's part goes down a binomial tree of its own, far ranks first,
and parts on the same hop travel in one message: (n - 1)/n of the buffer in ceil(log2 n) messages.

Source: Jeaugey 2025, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale"; NCCL 2.23. Buffers
of bounded size, which make more and smaller messages, are not modelled.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eastwest.workload.collectives.transfer import TRANSFER, parts_of


def transfers(group: NDArray[np.int64], size_bytes: int) -> NDArray[np.void]:
    """(n * ceil(log2 n),) TRANSFER of one all-gather whose result is `size_bytes` long.

    >>> transfers(np.arange(4), 400)[["step", "src", "dst", "size_bytes"]].tolist()[::4]
    [(0, 0, 2, 100), (1, 0, 1, 200)]
    """
    n = len(group)
    parts = parts_of(size_bytes, n)
    rank = np.arange(n, dtype=np.int64)
    rounds = (n - 1).bit_length()
    found = []
    for step in range(rounds):
        distance = 1 << (rounds - 1 - step)
        held = np.arange(0, n - distance, 2 * distance, dtype=np.int64)  # distances from the root that have the part
        rows = np.zeros(n, TRANSFER)
        rows["step"], rows["src"], rows["dst"] = step, group, group[(rank + distance) % n]
        rows["size_bytes"] = parts[(rank[:, None] - held) % n].sum(axis=1)
        found.append(rows)
    return np.concatenate(found) if found else np.zeros(0, TRANSFER)


def sent_bytes(n: int, size_bytes: int) -> int:
    """Bytes that one rank sends: (n - 1)/n * S, counted on the transfers."""
    rows = transfers(np.arange(n, dtype=np.int64), size_bytes)
    sums = np.zeros(n, np.int64)
    np.add.at(sums, rows["src"], rows["size_bytes"])
    return int(sums.max())


def n_messages(n: int) -> int:
    """Messages that one rank sends: ceil(log2 n)."""
    return (n - 1).bit_length()
