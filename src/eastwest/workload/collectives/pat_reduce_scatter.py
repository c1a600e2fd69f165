"""PAT reduce-scatter: the trees of the PAT all-gather run from the leaves to the root, near ranks first.

Source: Jeaugey 2025, as for the all-gather; NCCL 2.23.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eastwest.workload.collectives import pat_all_gather
from eastwest.workload.collectives.pat_all_gather import n_messages, sent_bytes

__all__ = ["n_messages", "sent_bytes", "transfers"]


def transfers(group: NDArray[np.int64], size_bytes: int) -> NDArray[np.void]:
    """(n * ceil(log2 n),) TRANSFER of one reduce-scatter of `size_bytes` on each rank.

    >>> transfers(np.arange(4), 400)[["step", "src", "dst", "size_bytes"]].tolist()[::4]
    [(0, 1, 0, 200), (1, 2, 0, 100)]
    """
    there = pat_all_gather.transfers(group, size_bytes)
    rows = there.reshape(-1, len(group))[::-1].ravel() if len(there) else there
    back = rows.copy()
    back["src"], back["dst"] = rows["dst"], rows["src"]
    back["step"] = n_messages(len(group)) - 1 - rows["step"]
    return back
