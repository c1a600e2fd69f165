"""What a family builds from: servers in their order, switches, wishes; a `Site` with every value resolved, or the
arguments of `size`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eastwest.errors import InputError
from eastwest.finding import Finding
from eastwest.spec.hosts import RackWish, RoomLinkWish
from eastwest.spec.resolve import ServerFacts, SwitchFacts, servers_of, switch_of_tier
from eastwest.spec.site import Site
from eastwest.spec.switches import CablingWish
from eastwest.units import format_port_rate

DEFAULT_ROOM = "room-1"


@dataclass(frozen=True, eq=False)
class FabricInputs:
    """Everything that decides a fabric.

    `server_names` (n_servers,), `server_rooms` (n_servers,) int64 index into `rooms` and not decreasing,
    `server_groups` (n_servers,) int64 index into `server_facts`; `controllers` are (name, links); `growth_servers` the
    most servers of any growth step, 0 when none is given.
    """

    family: str
    rooms: tuple[str, ...]
    racks: tuple[tuple[RackWish, ...], ...]
    room_links: tuple[RoomLinkWish, ...]
    server_facts: tuple[ServerFacts, ...]
    server_names: tuple[str, ...]
    server_rooms: NDArray[np.int64]
    server_groups: NDArray[np.int64]
    leaf: SwitchFacts
    spine: SwitchFacts
    leaf_oversubscription: float
    servers_per_leaf: int | None
    spare_ports: int
    controllers: tuple[tuple[str, int], ...]
    planes: int
    growth_servers: int
    cabling: CablingWish
    source: str

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
        """Bit/s of one NIC port: with planes, a NIC's rate is split over one port per plane."""
        return self.server.nic_rate_bps // self.planes

    @property
    def nic_lanes_known(self) -> bool:
        """Whether a data sheet gives the NIC's lanes; a NIC that is only a rate is labelled by that rate."""
        return self.server.nic_label != f"{format_port_rate(self.server.nic_rate_bps)} NIC"

    @property
    def nic_lane_rate_bps(self) -> int:
        """Bit/s of one lane of a NIC port; a NIC split over planes keeps its lanes."""
        return min(self.server.nic_lane_rate_bps, self.nic_port_rate_bps)


def inputs_of(site: Site) -> FabricInputs:
    """The inputs that a site file gives. Raises InputError when a tier has no switch, UsageError for an unknown
    model.
    """
    facts = servers_of(site)
    rooms = tuple(room.name for room in site.rooms) or (DEFAULT_ROOM,)
    names, server_rooms, groups = lay_servers(facts, rooms)
    leaf, spine = switch_of_tier(site, "leaf"), switch_of_tier(site, "spine")
    missing = [tier for tier, switch in (("leaf", leaf), ("spine", spine)) if switch is None]
    if leaf is None or spine is None:
        paths = {tier: f"fabric.{tier}" for tier in missing}
        raise InputError(
            [Finding("EW-FAB-022", "error", path, args={"tier": tier}, path=path) for tier, path in paths.items()]
        )
    return FabricInputs(
        family=site.fabric.family,
        rooms=rooms,
        racks=tuple(room.racks for room in site.rooms) or ((),),
        room_links=site.room_links,
        server_facts=facts,
        server_names=names,
        server_rooms=server_rooms,
        server_groups=groups,
        leaf=leaf,
        spine=spine,
        leaf_oversubscription=site.fabric.oversubscription.leaf,
        servers_per_leaf=site.fabric.servers_per_leaf,
        spare_ports=site.fabric.spare_ports,
        controllers=tuple((wish.name, wish.links) for wish in site.fabric.controllers),
        planes=site.fabric.planes,
        growth_servers=max((step.servers for step in site.growth.steps), default=0),
        cabling=site.cabling,
        source="site file",
    )


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
