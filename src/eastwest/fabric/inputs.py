"""What a family builds from: servers in their order, switches, wishes; a `Site` with every value resolved, or the
arguments of `size`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from eastwest.errors import InputError
from eastwest.finding import Finding
from eastwest.spec.hosts import RackWish, RoomLinkWish
from eastwest.spec.resolve import ServerFacts, SwitchFacts, TierName, servers_of, switch_of_tier
from eastwest.spec.site import Site
from eastwest.spec.switches import CablingWish, PlaneBy
from eastwest.units import format_port_rate

DEFAULT_ROOM = "room-1"
TIERS: tuple[TierName, ...] = get_args(TierName)
PORTS_OF_DUAL_TOR = 2  # of a NIC, one to each of two leaves


@dataclass(frozen=True, eq=False)
class FabricInputs:
    """Everything that decides a fabric.

    `server_names` (n_servers,), `server_rooms` (n_servers,) int64 index into `rooms` and not decreasing,
    `server_groups` (n_servers,) int64 index into `server_facts`; `switches` the switch of each tier that has one;
    `ratios` the accepted down:up bandwidth of a tier, `spares` the ports kept free on each of its switches, both by
    tier; `pods` wished for each room, 0 for any; `links_per_nic` network ports that share a NIC's rate on this fabric;
    `controllers` are (name, links); `growth_servers` the most servers of any growth step, 0 when none is given.
    """

    family: str
    rooms: tuple[str, ...]
    racks: tuple[tuple[RackWish, ...], ...]
    room_links: tuple[RoomLinkWish, ...]
    server_facts: tuple[ServerFacts, ...]
    server_names: tuple[str, ...]
    server_rooms: NDArray[np.int64]
    server_groups: NDArray[np.int64]
    switches: Mapping[str, SwitchFacts]
    ratios: Mapping[str, float]
    servers_per_leaf: int | None
    controllers: tuple[tuple[str, int], ...]
    planes: int
    growth_servers: int
    cabling: CablingWish
    source: str
    spares: Mapping[str, int] = field(default_factory=dict)
    plane_by: PlaneBy = "port"
    links_per_nic: int = 1
    tiers: int | None = None
    rail_optimized: bool | None = None
    servers_per_pod: int | None = None
    pods: tuple[int, ...] = ()
    least_spines: int = 1
    link_rate_bps: int | None = None
    cross_rail_ratio: float | None = None
    servers_per_rack: int | None = None

    @property
    def leaf(self) -> SwitchFacts:
        """The switch of the leaves. Raises InputError when none is given."""
        return self._switch("leaf")

    @property
    def spine(self) -> SwitchFacts:
        """The switch of the spines. Raises InputError when none is given."""
        return self._switch("spine")

    @property
    def core(self) -> SwitchFacts:
        """The switch of the cores. Raises InputError when none is given."""
        return self._switch("core")

    def _switch(self, tier: str) -> SwitchFacts:
        if tier not in self.switches:
            path = f"fabric.{tier}"
            raise InputError([Finding("EW-FAB-022", "error", path, args={"tier": tier}, path=path)])
        return self.switches[tier]

    @property
    def leaf_oversubscription(self) -> float:
        """Accepted down:up bandwidth of a leaf."""
        return self.ratios.get("leaf", 1.0)

    @property
    def spine_oversubscription(self) -> float:
        """Accepted down:up bandwidth of a spine, where there are cores."""
        return self.ratios.get("spine", 1.0)

    @property
    def spare_ports(self) -> int:
        """Down ports kept free on each leaf."""
        return self.spares.get("leaf", 0)

    @property
    def links_per_plane(self) -> int:
        """Links of one server into one plane."""
        return ceil(self.server.nics * self.links_per_nic / self.planes)

    @property
    def server(self) -> ServerFacts:
        """The server group that the fabric is cut for: the first."""
        return self.server_facts[0]

    @property
    def n_servers(self) -> int:
        """Servers."""
        return len(self.server_names)

    @property
    def nic_port_rate_bps(self) -> int:
        """Bit/s of one NIC port: a NIC's rate is split over its ports (one a plane, or two in dual ToR)."""
        return self.server.nic_rate_bps // self.links_per_nic

    @property
    def nics_per_cage(self) -> int:
        """NICs that share a cage on the server, where each has one port."""
        return self.server.nics_per_cage if self.links_per_nic == 1 else 1

    @property
    def nic_lanes_known(self) -> bool:
        """Whether a data sheet gives the NIC's lanes; a NIC that is only a rate is labelled by that rate."""
        return self.server.nic_label != f"{format_port_rate(self.server.nic_rate_bps)} NIC"

    @property
    def nic_lane_rate_bps(self) -> int:
        """Bit/s of one lane of a NIC port; a NIC split over planes keeps its lanes."""
        return min(self.server.nic_lane_rate_bps, self.nic_port_rate_bps)


def inputs_of(site: Site) -> FabricInputs:
    """The inputs that a site file gives. Raises InputError when planes do not fit the NICs, UsageError for an unknown
    model.
    """
    facts = servers_of(site)
    rooms = tuple(room.name for room in site.rooms) or (DEFAULT_ROOM,)
    names, server_rooms, groups = lay_servers(facts, rooms)
    wish, ratio, spare = site.fabric, site.fabric.oversubscription, site.fabric.spare_ports
    found = {tier: switch_of_tier(site, tier) for tier in TIERS}
    planes, plane_by = planes_of(wish.family, wish.planes, wish.plane_by, facts[0], wish.cross_rail_ratio is not None)
    return FabricInputs(
        family=wish.family,
        rooms=rooms,
        racks=tuple(room.racks for room in site.rooms) or ((),),
        room_links=site.room_links,
        server_facts=facts,
        server_names=names,
        server_rooms=server_rooms,
        server_groups=groups,
        switches={tier: switch for tier, switch in found.items() if switch is not None},
        ratios={"leaf": ratio.leaf, "spine": ratio.spine},
        servers_per_leaf=wish.servers_per_leaf,
        controllers=tuple((host.name, host.links) for host in wish.controllers),
        planes=planes,
        growth_servers=max((step.servers for step in site.growth.steps), default=0),
        cabling=site.cabling,
        source="site file",
        spares={"leaf": spare.leaf, "spine": spare.spine, "core": spare.core},
        plane_by=plane_by,
        links_per_nic=links_per_nic(wish.family, planes, plane_by, facts[0].nic_ports),
        tiers=wish.tiers,
        rail_optimized=wish.rail_optimized,
        servers_per_pod=wish.servers_per_pod,
        pods=tuple(room.pods for room in site.rooms),
        least_spines=wish.spines or 1,
        link_rate_bps=wish.link_rate_bps,
        cross_rail_ratio=wish.cross_rail_ratio,
    )


def planes_of(
    family: str, wished: int | None, plane_by: PlaneBy, server: ServerFacts, is_joined: bool = False
) -> tuple[int, PlaneBy]:
    """Planes of a family and what each holds: what is wished, else what the family is named for.

    `rail_only` is one plane a rail unless a spine joins the rails (`is_joined`); `dual_plane` two; `multi_plane` one a
    NIC index or one a NIC port; the others one. Raises InputError when the NICs cannot be dealt out to the planes.
    """
    if family == "rail_only" and not is_joined:
        return server.nics, "nic"
    usual = {"dual_plane": 2, "multi_plane": server.nics if plane_by == "nic" else max(2, server.nic_ports)}
    planes = wished or usual.get(family, 1)
    fits = server.nics % planes == 0 if plane_by == "nic" else server.nic_rate_bps % planes == 0
    if not fits:
        args = {"planes": planes, "nics": server.nics, "rate": format_port_rate(server.nic_rate_bps), "by": plane_by}
        finding = Finding("EW-FAB-032", "error", "fabric.planes", observed=planes, args=args, path="fabric.planes")
        raise InputError([finding])
    return planes, plane_by


def links_per_nic(family: str, planes: int, plane_by: PlaneBy, nic_ports: int) -> int:
    """Network ports that share a NIC's rate: one a plane, two for two ToRs, the NIC's own when cabled directly."""
    if family == "direct":
        return nic_ports
    if family == "dual_tor":
        return PORTS_OF_DUAL_TOR
    return planes if plane_by == "port" else 1


def lay_servers(
    facts: tuple[ServerFacts, ...], rooms: tuple[str, ...]
) -> tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.int64]]:
    """Names (n_servers,), rooms and groups of all servers, ordered by room; a group without a room is spread evenly
    over the rooms.

    Groups of the same name count on, so every name is given once.
    """
    totals = {group.name: sum(other.count for other in facts if other.name == group.name) for group in facts}
    given = dict.fromkeys(totals, 0)
    names: list[str] = []
    for group in facts:
        width = max(2, len(str(totals[group.name])))
        first = given[group.name] + 1
        names += [f"{group.name}-{number:0{width}d}" for number in range(first, first + group.count)]
        given[group.name] += group.count
    server_rooms = np.concatenate([_rooms_of(group, rooms) for group in facts])
    groups = np.repeat(np.arange(len(facts)), [group.count for group in facts]).astype(np.int64)
    order = np.argsort(server_rooms, kind="stable")
    return tuple(names[i] for i in order), server_rooms[order], groups[order]


def _rooms_of(group: ServerFacts, rooms: tuple[str, ...]) -> NDArray[np.int64]:
    """(count,) int64 room of each server of a group: its own room, or equal consecutive shares of all rooms."""
    if group.room is not None and group.room in rooms:
        return np.full(group.count, rooms.index(group.room), np.int64)
    return np.arange(group.count, dtype=np.int64) * len(rooms) // group.count
