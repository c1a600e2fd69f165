"""The routed underlay: eBGP unnumbered on every switch link, an AS number plan without valleys, BFD, LLDP."""

from __future__ import annotations

from eastwest.policy.settings_routing import BgpNeighbour, BgpSettings, LldpSettings
from eastwest.policy.watchdog import BFD, BGP_HOLD_S, BGP_KEEPALIVE_S

MAX_PATHS = 64  # width of ECMP that the usual switch OSs accept
ASN_BECAUSE = (
    "every leaf has its own AS, the spines of one pod and plane share one: a route that comes back down and up "
    "meets its own AS and is dropped, so no leaf becomes a transit between spines and PFC has no cycle"
)


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
