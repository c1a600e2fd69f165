"""The border of a collective: its transfers as one record array, and the closed forms that every algorithm states."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

TRANSFER = np.dtype(
    [
        ("step", np.int64),  # transfers of one step may run together; a step starts when the sender has what it sends
        ("src", np.int64),  # rank that sends
        ("dst", np.int64),  # rank that receives
        ("size_bytes", np.int64),
    ]
)


class Algorithm(Protocol):
    """What a file of this folder defines; `size_bytes` is nccl-tests' S: the whole buffer (for all-gather and
    reduce-scatter, n parts).
    """

    def transfers(self, group: NDArray[np.int64], size_bytes: int) -> NDArray[np.void]:
        """(n_transfers,) TRANSFER: every message between the ranks of one group, (n,) int64."""
        ...

    def sent_bytes(self, n: int, size_bytes: int) -> int:
        """Bytes that the busiest rank of n sends, closed form."""
        ...

    def n_messages(self, n: int) -> int:
        """Messages that the busiest rank of n sends, closed form."""
        ...


def parts_of(size_bytes: int, n: int) -> NDArray[np.int64]:
    """(n,) int64 bytes: a buffer cut in n parts that differ by at most one byte and sum to it.

    >>> parts_of(10, 4).tolist()
    [2, 3, 2, 3]
    """
    edges = np.arange(n + 1, dtype=np.int64) * size_bytes // n
    return np.diff(edges)


def ring_steps(group: NDArray[np.int64], parts: NDArray[np.int64], n_steps: int, offset: int = 0) -> NDArray[np.void]:
    """(n_steps * n,) TRANSFER: in step k rank i sends part (i - k + offset) mod n to its neighbour i + 1."""
    n = len(group)
    rows = np.zeros(n_steps * n, dtype=TRANSFER)
    step, rank = np.divmod(np.arange(n_steps * n, dtype=np.int64), n)
    rows["step"], rows["src"], rows["dst"] = step, group[rank], group[(rank + 1) % n]
    rows["size_bytes"] = parts[(rank - step + offset) % n]
    return rows


def chain_steps(group: NDArray[np.int64], size_bytes: int) -> NDArray[np.void]:
    """(n - 1,) TRANSFER: in step k rank k sends `size_bytes` to its neighbour k + 1."""
    rows = np.zeros(len(group) - 1, dtype=TRANSFER)
    rows["step"], rows["src"], rows["dst"] = np.arange(len(rows)), group[:-1], group[1:]
    rows["size_bytes"] = size_bytes
    return rows


def share_of(size_bytes: int, numerator: int, denominator: int) -> int:
    """Bytes of a share of a buffer, rounded to the nearest byte (half up), in whole numbers."""
    return (2 * size_bytes * numerator + denominator) // (2 * denominator)
