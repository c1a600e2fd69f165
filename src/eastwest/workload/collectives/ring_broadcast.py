"""Ring (chain) broadcast: the first rank's buffer passes from neighbour to neighbour; every rank but the last sends all
of it.

A rank sends what it sends in a pipeline: the buffer, once. The pipelining of chunks along the chain is not modelled
here. Source: nccl-tests PERFORMANCE.md (factor 1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eastwest.workload.collectives.pipeline_send_recv import n_messages, sent_bytes
from eastwest.workload.collectives.transfer import chain_steps

__all__ = ["n_messages", "sent_bytes", "transfers"]


def transfers(group: NDArray[np.int64], size_bytes: int) -> NDArray[np.void]:
    """(n - 1,) TRANSFER of one broadcast from the first rank of the group.

    >>> transfers(np.array([3, 1]), 10)[["src", "dst", "size_bytes"]].tolist()
    [(3, 1, 10)]
    """
    return chain_steps(group, size_bytes)
