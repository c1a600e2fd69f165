"""The unloaded round trip of the fabric: what a BDP is, and so where ECN must begin."""

from __future__ import annotations

from dataclasses import dataclass

from eastwest.fabric.tables import Fabric, LinkKind
from eastwest.policy.faces import longest_m
from eastwest.policy.headroom import SIGNAL_SPEED_M_PER_S
from eastwest.units import US_PER_S

SWITCH_LATENCY_S = 0.8 / US_PER_S  # data sheets of 25.6-51.2T chips say 0.5-1 us, store and forward of a short packet
HOST_LATENCY_S = 1.0 / US_PER_S  # NIC and PCIe, each end and direction; assumed
SWITCHES_BY_TIERS = {0: 0, 1: 1, 2: 3, 3: 5}  # switches on the longest path inside a room


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """Unloaded round trip of the longest path inside a room, in seconds, and what it is made of."""

    rtt_s: float
    n_switches: int
    cable_m: float


def base_rtt(fabric: Fabric) -> RoundTrip:
    """The round trip: 2 x (cables / v + switches x 0.8 us + 2 hosts x 1 us).

    Links between rooms are left out: they are long, few, and judged by their own headroom. It stops being true
    under load: queues add to it.
    """
    n_switches = SWITCHES_BY_TIERS.get(fabric.tiers, 2 * fabric.tiers - 1)
    tiers = (LinkKind.SERVER_LEAF, LinkKind.LEAF_SPINE, LinkKind.SPINE_CORE)
    cable_m = 2 * sum(longest_m(fabric, kind) for kind in tiers) + longest_m(fabric, LinkKind.DIRECT)
    one_way_s = cable_m / SIGNAL_SPEED_M_PER_S + n_switches * SWITCH_LATENCY_S + 2 * HOST_LATENCY_S
    return RoundTrip(2 * one_way_s, n_switches, cable_m)
