"""Pairwise all-to-all: the transfers of the direct one, but a rank begins the next step when it has sent and received
those of the step before, so that each rank receives from one other at a time.

Source: Thakur, Rabenseifner, Gropp 2005, section 4.2 (long messages).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eastwest.workload.collectives import direct_all_to_all
from eastwest.workload.collectives.direct_all_to_all import n_messages, sent_bytes

__all__ = ["n_messages", "sent_bytes", "transfers"]


def transfers(group: NDArray[np.int64], size_bytes: int) -> NDArray[np.void]:
    """(n * (n - 1),) TRANSFER of one all-to-all in which each rank holds `size_bytes`.

    >>> transfers(np.array([7, 9]), 10)[["src", "dst", "size_bytes"]].tolist()
    [(7, 9, 5), (9, 7, 5)]
    """
    return direct_all_to_all.transfers(group, size_bytes)
