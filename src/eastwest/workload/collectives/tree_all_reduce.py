"""Tree all-reduce: summed up a binary tree and sent down it again; one rank sends at most three buffers, but in 2 log2
n steps.

NCCL runs two complementary trees of half the buffer each, so that an inner rank of one is a leaf of the other; here the
second tree is the first with the ranks in reverse order. Source: Sanders, Speck, Träff 2009; NCCL 2.4 release note.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eastwest.workload.collectives.transfer import TRANSFER, parts_of


def transfers(group: NDArray[np.int64], size_bytes: int) -> NDArray[np.void]:
    """(4 * (n - 1),) TRANSFER of one all-reduce over two trees of half the buffer.

    >>> int(transfers(np.arange(4), 400)["size_bytes"].sum())
    2400
    """
    halves = parts_of(size_bytes, 2)
    return np.concatenate([_tree(group, int(halves[0])), _tree(group[::-1], int(halves[1]))])


def _tree(group: NDArray[np.int64], size_bytes: int) -> NDArray[np.void]:
    """(2 * (n - 1),) TRANSFER up and down the heap-shaped tree whose root is the first rank."""
    n = len(group)
    child = np.arange(1, n, dtype=np.int64)
    parent = (child - 1) // 2
    depth = np.frexp(child + 1)[1].astype(np.int64) - 1
    deepest = int(depth.max(initial=0))
    rows = np.zeros(2 * (n - 1), dtype=TRANSFER)
    rows["size_bytes"] = size_bytes
    rows["src"] = np.concatenate([group[child], group[parent]])
    rows["dst"] = np.concatenate([group[parent], group[child]])
    rows["step"] = np.concatenate([deepest - depth, deepest + depth - 1])
    return rows


def sent_bytes(n: int, size_bytes: int) -> int:
    """Bytes that the busiest rank sends: counted on the transfers, at most 2 S for large n (3 of one half, 1 of the
    other).
    """
    rows = transfers(np.arange(n, dtype=np.int64), size_bytes)
    return int(np.bincount(rows["src"], weights=rows["size_bytes"], minlength=1).max()) if n > 1 else 0


def n_messages(n: int) -> int:
    """Messages that the busiest rank sends."""
    rows = transfers(np.arange(n, dtype=np.int64), 2)
    return int(np.bincount(rows["src"], minlength=1).max()) if n > 1 else 0
