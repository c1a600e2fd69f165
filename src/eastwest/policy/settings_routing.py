"""Routing and neighbourhood of one switch, vendor-neutral: BGP underlay, BFD, LLDP with DCBX, tunnels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class BfdSettings:
    """Bidirectional forwarding detection: a session is down after `multiplier` intervals of `interval_s` without a
    packet.
    """

    interval_s: float
    multiplier: int

    @property
    def detection_s(self) -> float:
        """Seconds until a silent neighbour is declared down."""
        return self.interval_s * self.multiplier


@dataclass(frozen=True, slots=True)
class BgpNeighbour:
    """One eBGP session: by `address`, or unnumbered over `interface`; `remote_asn` None means "any external".

    `guards_valley` says that routes learnt here are tagged and not exported upwards again (no leaf becomes a
    transit between spines).
    """

    address: str | None = None
    interface: str | None = None
    remote_asn: int | None = None
    local_address: str | None = None
    peer_group: str | None = None
    description: str | None = None
    hold_s: float | None = None
    keepalive_s: float | None = None
    bfd: bool | None = None
    enabled: bool | None = None
    guards_valley: bool | None = None
    allow_own_asn: bool | None = None


@dataclass(frozen=True, slots=True)
class BgpSettings:
    """The underlay of one switch; `max_paths` is the width of ECMP, `multipath_relax` lets paths of different
    neighbour AS share load.
    """

    asn: int | None
    router_id: str | None = None
    neighbours: tuple[BgpNeighbour, ...] = ()
    networks: tuple[str, ...] = ()
    max_paths: int | None = None
    multipath_relax: bool | None = None
    redistribute_connected: bool | None = None
    bfd: BfdSettings | None = None
    vrf: str | None = None


@dataclass(frozen=True, slots=True)
class LldpSettings:
    """LLDP agent and DCBX: `roce_tlv` is (UDP port, priority) of the application TLV, None when it is not announced."""

    enabled: bool | None
    dcbx: Literal["off", "ieee", "cee"] | None = None
    roce_tlv: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class TunnelSettings:
    """VXLAN overlay of tenants: whether outer DSCP is copied from the inner packet and ECN is propagated both ways
    (RFC 6040).
    """

    vnis: tuple[tuple[int, str], ...] = ()
    source: str | None = None
    copies_dscp: bool | None = None
    copies_ecn: bool | None = None
