"""How flows choose their uplinks: hash fields with the destination QP, and another seed and other bits of the hash on
each tier so that choices do not repeat.
"""

from __future__ import annotations

import hashlib

from eastwest.policy.settings import HashSettings
from eastwest.spec.qos import LoadBalancing, LossRegime

FIVE_TUPLE = frozenset({"src_ip", "dst_ip", "protocol", "src_port", "dst_port"})
FIELDS = FIVE_TUPLE | {"rdma_qp"}  # destination QP of the BTH: RoCE has one UDP port pair per QP at best
SEED_BITS = 16
TIERS = ("leaf", "spine", "core")
ALGORITHM = "crc"
# A tier reads its own bits of 32: ten tell 1,024 next hops apart. A CRC is linear, so that over a power of two next
# hops another seed alone only renames the choices of the tier before.
OFFSET_BITS = 10
FLOWLET_GAP_S = 128e-6  # longer than the difference of path delays, shorter than a gap between messages: our choice


def seeds(site_name: str) -> dict[str, int]:
    """One hash seed per tier, all different, the same at every run for the same site.

    With one seed on all tiers a spine repeats the leaf's choice and uses only a part of its links (polarisation); with
    a CRC it needs other bits as well (`offsets`).

    >>> len(set(seeds("any").values()))
    3
    """
    found: dict[str, int] = {}
    for tier in TIERS:
        number = int.from_bytes(hashlib.sha256(f"{site_name}/{tier}".encode()).digest()[: SEED_BITS // 8], "big")
        while number in found.values():
            number = (number + 1) % 2**SEED_BITS
        found[tier] = number
    return found


def offsets() -> dict[str, int]:
    """Bits by which each tier rotates the hash.

    >>> offsets()
    {'leaf': 0, 'spine': 10, 'core': 20}
    """
    return {tier: OFFSET_BITS * number for number, tier in enumerate(TIERS)}


def balancing(regime: LossRegime, wish: LoadBalancing | None) -> tuple[LoadBalancing, str]:
    """How load is spread and why: the wish, else by loss regime."""
    if wish is not None:
        return wish, "wished in the site file"
    if regime == "spray-trim":
        return "spray", "the regime's transport takes packets in any order"
    if regime == "infiniband":
        return "adaptive", "adaptive routing is the default of current InfiniBand fabrics and NICs reorder"
    return "ecmp", "go-back-N treats reordering as loss, so a flow stays on its path; several QPs give entropy"


def settings_for(tier: str, site_name: str, how: LoadBalancing) -> HashSettings:
    """The hash of one tier's switches."""
    gap = FLOWLET_GAP_S if how == "flowlet" else None
    return HashSettings(FIELDS, seeds(site_name)[tier], ALGORITHM, offsets()[tier], how, gap)
