"""Recursive halving and doubling: ranks exchange ever smaller parts with ever nearer ranks until each holds the sum of
one part, then gather the parts the same way back: 2(n - 1)/n of the buffer in 2 log2 n messages.

For ranks that are no power of two the first 2r of them (r above the power) pair up before and after, which sends the
whole buffer once more each way. Source: Thakur, Rabenseifner, Gropp 2005, section 4.3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eastwest.workload.collectives.transfer import TRANSFER


def transfers(group: NDArray[np.int64], size_bytes: int) -> NDArray[np.void]:
    """TRANSFER of one all-reduce of `size_bytes`.

    >>> transfers(np.arange(4), 400)[["step", "src", "dst", "size_bytes"]].tolist()[:2]
    [(0, 0, 2, 200), (0, 1, 3, 200)]
    """
    n = len(group)
    power = 1 << (n.bit_length() - 1)
    extra = n - power
    lone, partner = group[0 : 2 * extra : 2], group[1 : 2 * extra : 2]
    core = np.concatenate([partner, group[2 * extra :]])
    rounds = power.bit_length() - 1
    first = 1 if extra else 0
    rows = [_exchange(core, k, first + k, size_bytes, sums=True) for k in range(rounds)]
    last = first + 2 * rounds - 1
    rows += [_exchange(core, k, last - k, size_bytes, sums=False) for k in range(rounds - 1, -1, -1)]
    if extra:
        rows = [_whole(lone, partner, 0, size_bytes), *rows, _whole(partner, lone, 1 + 2 * rounds, size_bytes)]
    return np.concatenate(rows) if rows else np.zeros(0, TRANSFER)


def _exchange(core: NDArray[np.int64], k: int, step: int, size_bytes: int, *, sums: bool) -> NDArray[np.void]:
    """Round k: each rank swaps a part of S/2^(k+1) with the rank n/2^(k+1) away: the peer's part when summing, its own
    when gathering.
    """
    n = len(core)
    rank = np.arange(n, dtype=np.int64)
    peer = rank ^ (n >> (k + 1))
    parts = n >> (k + 1)
    low = (peer if sums else rank) // parts * parts
    edges = np.arange(n + 1, dtype=np.int64) * size_bytes // n
    rows = np.zeros(n, TRANSFER)
    rows["step"], rows["src"], rows["dst"] = step, core, core[peer]
    rows["size_bytes"] = edges[low + parts] - edges[low]
    return rows


def _whole(src: NDArray[np.int64], dst: NDArray[np.int64], step: int, size_bytes: int) -> NDArray[np.void]:
    rows = np.zeros(len(src), TRANSFER)
    rows["step"], rows["src"], rows["dst"], rows["size_bytes"] = step, src, dst, size_bytes
    return rows


def sent_bytes(n: int, size_bytes: int) -> int:
    """Bytes that the busiest rank of n sends: counted on the transfers, 2(n - 1)/n * S for a power of two."""
    rows = transfers(np.arange(n, dtype=np.int64), size_bytes)
    sums = np.zeros(n, np.int64)
    np.add.at(sums, rows["src"], rows["size_bytes"])
    return int(sums.max())


def n_messages(n: int) -> int:
    """Messages that the busiest rank sends: 2 log2 n for a power of two, one more otherwise."""
    return int(np.bincount(transfers(np.arange(n, dtype=np.int64), n)["src"], minlength=n).max())
