"""The routed underlay: eBGP unnumbered on every switch link, an AS number plan without valleys, BFD, LLDP."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric.tables import Fabric, NodeKind
from eastwest.policy.settings_routing import BgpNeighbour, BgpSettings, LldpSettings
from eastwest.policy.watchdog import BFD, BGP_HOLD_S, BGP_KEEPALIVE_S

LEAF_ASN, SPINE_ASN, CORE_ASN = 4_200_000_001, 4_200_100_001, 4_200_200_001  # private 4-byte range, RFC 6996
MAX_PATHS = 64  # width of ECMP that the usual switch OSs accept
ASN_BECAUSE = (
    "every leaf has its own AS, the spines of one pod and plane share one: a route that comes back down and up "
    "meets its own AS and is dropped, so no leaf becomes a transit between spines and PFC has no cycle"
)


def asn_plan(fabric: Fabric) -> NDArray[np.int64]:
    """(n_nodes,) int64 AS number of every switch, 0 for hosts.

    Leaves are numbered one by one; spines share a number per room and plane (and pod, with three tiers), cores per
    room and plane. Source: RFC 7938 section 5.2.1.
    """
    nodes = fabric.nodes
    asns = np.zeros(len(nodes), np.int64)
    leaves = fabric.nodes_of(NodeKind.LEAF)
    asns[leaves] = LEAF_ASN + np.arange(leaves.size)
    for kind, first in ((NodeKind.SPINE, SPINE_ASN), (NodeKind.CORE, CORE_ASN)):
        mine = fabric.nodes_of(kind)
        pod = nodes["group"][mine] if kind == NodeKind.SPINE and fabric.tiers > 2 else np.zeros(mine.size, np.int64)
        key = np.stack([nodes["room"][mine], nodes["plane"][mine], pod], axis=1)
        if mine.size:
            _, number = np.unique(key, axis=0, return_inverse=True)
            asns[mine] = first + number.reshape(-1)
    return asns


def bgp_for(asn: int, neighbours: tuple[tuple[str, int, str], ...]) -> BgpSettings:
    """BGP of one switch; `neighbours` are (interface, AS of the peer, name of the peer). Router id and networks come
    with the addresses.
    """
    sessions = tuple(
        BgpNeighbour(
            interface=interface,
            remote_asn=remote,
            description=peer,
            hold_s=BGP_HOLD_S,
            keepalive_s=BGP_KEEPALIVE_S,
            bfd=True,
            enabled=True,
            guards_valley=True,
            allow_own_asn=False,
        )
        for interface, remote, peer in neighbours
    )
    return BgpSettings(
        asn, neighbours=sessions, max_paths=MAX_PATHS, multipath_relax=True, redistribute_connected=True, bfd=BFD
    )


def lldp() -> LldpSettings:
    """LLDP on for cabling checks; DCBX off: PFC is set by hand at both ends, an agent would overwrite it."""
    return LldpSettings(True, "off", None)
