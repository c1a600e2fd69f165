"""`SubnetSettings`: how an InfiniBand subnet manager must route and schedule one fabric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

RoutingEngine = Literal[
    "ftree", "updn", "minhop", "dnup", "dor", "torus-2QoS", "lash", "dfsssp", "ar_ftree", "ar_updn", "dfp"
]


@dataclass(frozen=True, slots=True)
class Partition:
    """One partition (P_Key): `members` are port GUIDs or ALL with full membership; `rate_code` and `mtu_code` as
    OpenSM numbers them.
    """

    name: str
    pkey: int
    members: tuple[str, ...] = ("ALL",)
    full_members: bool = True
    ipoib: bool = False
    rate_code: int | None = None
    mtu_code: int | None = None
    service_level: int | None = None


@dataclass(frozen=True, slots=True)
class VlWeight:
    """One entry of a VL arbitration table: `weight` in units of 64 bytes, 0-255."""

    vl: int
    weight: int


@dataclass(frozen=True, slots=True)
class SubnetSettings:
    """What the subnet manager is told: engine, roots, service levels to virtual lanes, arbitration, partitions,
    adaptive routing, SHARP.
    """

    routing_engine: RoutingEngine
    fallback_engines: tuple[RoutingEngine, ...] = ()
    root_nodes: tuple[str, ...] = ()
    root_guids: tuple[str, ...] = ()
    sl_to_vl: tuple[int, ...] = ()
    max_operational_vls: int | None = None
    high_limit: int | None = None
    vl_high: tuple[VlWeight, ...] = ()
    vl_low: tuple[VlWeight, ...] = ()
    partitions: tuple[Partition, ...] = ()
    adaptive_routing: bool | None = None
    sharp: bool | None = None
    priority: int | None = None
    standby_priority: int | None = None
    sweep_interval_s: float | None = None
    head_of_queue_lifetime_s: float | None = None
    subnet_prefix: str | None = None
