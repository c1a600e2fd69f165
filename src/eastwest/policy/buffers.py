"""Packet memory of one switch: pools, dynamic thresholds, and whether the headroom of every lossless port fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eastwest.errors import UsageError
from eastwest.policy.settings import BufferPool, BufferProfile
from eastwest.units import MEGA, TERA

DEFAULT_ALPHA = 1 / 8  # SONiC dynamic_th -3 of lossless priority groups on most platforms; alpha = 2**dynamic_th
LOSSY_ALPHA = 1.0  # best effort egress queue
ASSUMED_BYTES_PER_BPS = (
    3.2 * MEGA / TERA
)  # packet memory per switching rate of Tomahawk 5 (165 MB at 51.2 Tb/s), the leanest listed
ASSUMED_CELL_BYTES = 256  # larger than most chips' cells, so that headroom is not underestimated
MAX_HEADROOM_SHARE_RATIO = 0.5  # more than half of the memory set aside leaves too little to share: our threshold
RESERVED_PG_BYTES = 0
POOL_LOSSLESS, POOL_LOSSY = "ingress_lossless_pool", "egress_lossy_pool"
PROFILE_LOSSY = "lossy"


@dataclass(frozen=True, slots=True)
class Memory:
    """Packet memory of a switch: `assumed` is True when no data sheet gave it."""

    total_bytes: int
    cell_bytes: int | None
    assumed: bool
    source: str


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether headroom fits: what is set aside, what is left to share, and how many ports at most would leave half of
    the memory.
    """

    total_bytes: int
    headroom_bytes: int
    shared_bytes: int
    n_groups: int
    fits: bool
    tight: bool


def memory_of(total_bytes: int | None, cell_bytes: int | None, ports: int, port_rate_bps: int) -> Memory:
    """Packet memory by data sheet, else assumed from the switching rate at the leanest published ratio.

    >>> memory_of(None, None, 64, 800 * 10**9).total_bytes
    163840000
    """
    if total_bytes is not None:
        return Memory(total_bytes, cell_bytes, False, "data sheet (hardware catalogue) or site file")
    assumed = round(ports * port_rate_bps * ASSUMED_BYTES_PER_BPS)
    return Memory(assumed, cell_bytes, True, "assumed: 3.2 MB per Tb/s, as Tomahawk 5 has (165 MB at 51.2 Tb/s)")


def dynamic_limit(alpha: float, shared_bytes: float, n_congested: int) -> float:
    """Bytes at which each of `n_congested` equally full queues stops growing: alpha B / (1 + n alpha).

    Source: Choudhury and Hahne 1998, IEEE/ACM ToN 6(2). It holds in the steady state with equal alpha; transients
    overshoot.

    >>> dynamic_limit(1.0, 100.0, 1), round(dynamic_limit(1 / 8, 1.0, 4), 3)
    (50.0, 0.083)
    """
    if alpha <= 0 or n_congested < 1:
        raise UsageError(f"alpha must be above 0 and queues at least 1, found {alpha} and {n_congested}")
    return alpha * shared_bytes / (1 + n_congested * alpha)


def congested_until(alpha: float, shared_bytes: float, depth_bytes: float) -> int:
    """The least number of equally congested queues at which the dynamic limit falls below `depth_bytes`; 1 when it
    always is.

    n > B/depth - 1/alpha.

    >>> congested_until(1 / 8, 60e6, 2e6)
    23
    """
    if depth_bytes <= 0:
        raise UsageError(f"depth must be above 0 B, found {depth_bytes}")
    exact = shared_bytes / depth_bytes - 1 / alpha
    return max(1, int(exact) + 1)


def fit(total_bytes: int, groups: Sequence[tuple[int, int]]) -> Fit:
    """Whether the headroom of every lossless priority group fits in memory; `groups` are (count, size in bytes each).

    >>> fit(165_000_000, [(64, 1_150_976)]).tight
    False
    """
    headroom = sum(count * size for count, size in groups)
    shared = total_bytes - headroom
    tight = headroom > MAX_HEADROOM_SHARE_RATIO * total_bytes
    return Fit(total_bytes, headroom, shared, sum(count for count, _ in groups), shared > 0, tight)


def pools(memory: Memory, headroom_bytes: int, lossless: bool) -> tuple[BufferPool, ...]:
    """The pools of a switch: one shared ingress pool, and an egress pool that lossy queues draw from."""
    shared = max(0, memory.total_bytes - headroom_bytes)
    egress = BufferPool(POOL_LOSSY, "egress", dynamic=True, size_bytes=shared)
    ingress = BufferPool(POOL_LOSSLESS if lossless else "ingress_pool", "ingress", dynamic=True, size_bytes=shared)
    return (ingress, egress)


def lossy_profile() -> BufferProfile:
    """The profile of queues that may drop."""
    return BufferProfile(PROFILE_LOSSY, POOL_LOSSY, reserved_bytes=0, alpha=LOSSY_ALPHA)
