"""Neighbour send: each rank of a pipeline sends the whole buffer to the next one; the last sends nothing.

The backward direction is the same with the group reversed. Source: Narayanan et al. 2021, section 2.2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eastwest.workload.collectives.transfer import chain_steps


def transfers(group: NDArray[np.int64], size_bytes: int) -> NDArray[np.void]:
    """(n - 1,) TRANSFER of one hand-over along the pipeline, one step a boundary.

    >>> transfers(np.array([0, 8, 16]), 10)[["step", "src", "dst"]].tolist()
    [(0, 0, 8), (1, 8, 16)]
    """
    return chain_steps(group, size_bytes)


def sent_bytes(n: int, size_bytes: int) -> int:
    """Bytes that a rank other than the last sends: S (0 for one rank)."""
    return size_bytes if n > 1 else 0


def n_messages(n: int) -> int:
    """Messages that a rank other than the last sends: 1 (0 for one rank)."""
    return min(n - 1, 1)
