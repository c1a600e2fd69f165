"""Ring all-reduce: a reduce-scatter and then an all-gather, so a rank sends 2(n - 1)/n of the buffer in 2(n - 1)
messages.

For many ranks that is twice the buffer, whatever their number. Source: nccl-tests PERFORMANCE.md (factor 2(n-1)/n);
Patarasuk and Yuan 2009.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eastwest.workload.collectives.transfer import parts_of, ring_steps, share_of


def transfers(group: NDArray[np.int64], size_bytes: int) -> NDArray[np.void]:
    """(2 * (n - 1) * n,) TRANSFER of one all-reduce of `size_bytes`.

    >>> int(transfers(np.arange(4), 400)["size_bytes"].sum())
    2400
    """
    n = len(group)
    parts = parts_of(size_bytes, n)
    summing = ring_steps(group, parts, n - 1)
    spreading = ring_steps(group, parts, n - 1, offset=1)  # rank i ends the first half with part i + 1
    spreading["step"] += n - 1
    return np.concatenate([summing, spreading])


def sent_bytes(n: int, size_bytes: int) -> int:
    """Bytes that one rank sends: 2(n - 1)/n * S."""
    return share_of(size_bytes, 2 * (n - 1), n)


def n_messages(n: int) -> int:
    """Messages that one rank sends: 2(n - 1)."""
    return 2 * (n - 1)
