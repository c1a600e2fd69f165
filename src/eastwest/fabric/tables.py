"""`Fabric`: what will exist, as record arrays: nodes, ports, links; names and indices; and where the ranks sit.

Every cable is one row of `links` with two rows of `ports`; a port belongs to one link or is free. A logical port is
what a link needs: a cage (800G) that is broken out holds several logical ports (2 x 400G). Endpoint `a` is the lower
one (server, leaf, spine), `b` the upper one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eastwest.decision import Decision
from eastwest.finding import Finding
from eastwest.spec.hosts import BoxWish
from eastwest.spec.resolve import TierName
from eastwest.spec.switches import PlaneBy


class NodeKind(IntEnum):
    """What a node is."""

    SERVER = 0
    LEAF = 1
    SPINE = 2
    CORE = 3
    BOX = 4
    CONTROLLER = 5


class LinkKind(IntEnum):
    """Which tier a link belongs to."""

    SERVER_LEAF = 0
    LEAF_SPINE = 1
    SPINE_CORE = 2
    ROOM = 3
    SCALE_UP = 4
    DIRECT = 5


class Tier(IntEnum):
    """The highest part of the network that a transfer crosses; `ROOM` is a link between rooms, `DIRECT` a cable from
    server to server.
    """

    LOCAL = 0
    SCALE_UP = 1
    LEAF = 2
    SPINE = 3
    CORE = 4
    ROOM = 5
    DIRECT = 6


NODE_DTYPE = np.dtype(
    [
        ("kind", np.int8),
        ("room", np.int32),  # index into Fabric.rooms
        ("group", np.int32),  # scalable unit or rail group, counted over all rooms; -1 when none
        ("pod", np.int32),  # counted over all rooms, of fabrics with three tiers; -1 when none
        ("rail", np.int16),  # rail that a leaf serves; -1 when it serves all
        ("plane", np.int16),
        ("rack", np.int32),  # index into Fabric.racks
        ("unit", np.int16),  # lowest rack unit; -1 when not placed
        ("first_port", np.int64),  # index of its first row in ports
        ("n_ports", np.int32),
    ]
)
PORT_DTYPE = np.dtype(
    [
        ("node", np.int32),
        ("number", np.int32),  # logical port on the node, from 0
        ("whole", np.int32),  # port of the data sheet that it is a part of, from 0
        ("cage", np.int32),  # physical cage, from 0
        ("lane", np.int16),  # first lane inside the cage
        ("rate_bps", np.int64),
        ("lane_rate_bps", np.int64),
        ("link", np.int64),  # index into links; -1 when free
    ]
)
LINK_DTYPE = np.dtype(
    [
        ("kind", np.int8),
        ("a", np.int32),  # node
        ("a_port", np.int64),  # index into ports
        ("b", np.int32),
        ("b_port", np.int64),
        ("rate_bps", np.int64),
        ("length_m", np.float64),
        ("rail", np.int16),
        ("plane", np.int16),
        ("medium", np.int8),  # index into Fabric.media
    ]
)


SWITCHES = (NodeKind.LEAF, NodeKind.SPINE, NodeKind.CORE)
TIER_OF_KIND: Mapping[NodeKind, TierName] = {NodeKind.LEAF: "leaf", NodeKind.SPINE: "spine", NodeKind.CORE: "core"}


def numbers_among(marks: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(n,) int64 number of each marked row among the marked ones, -1 for the others."""
    found: NDArray[np.int64] = np.where(marks, np.cumsum(marks) - 1, -1).astype(np.int64)
    return found


@dataclass(frozen=True, slots=True)
class Rack:
    """A rack: its room, place and limits."""

    name: str
    room: int
    row: int
    position: int
    units: int
    power_w: float
    ports: int | None


@dataclass(frozen=True, slots=True)
class RoomLink:
    """Links between two rooms as built: `cable_rate_bps` of all cables together, `rate_bps` what the boxes in their
    path let through of it; `path` is the key of the site file that asks for them.
    """

    rooms: tuple[int, int]
    distance_m: float
    n_links: int
    cable_rate_bps: int
    rate_bps: int
    boxes: tuple[BoxWish, ...] = ()
    path: str = ""


@dataclass(frozen=True, slots=True)
class TierPorts:
    """Ports of one tier as the data sheet counts them, over all its switches; one that is broken out is used as soon as
    one part of it is.
    """

    used: int
    free: int


@dataclass(frozen=True, eq=False)
class Fabric:
    """The network as it will exist.

    `nodes`, `ports`, `links` are record arrays (dtypes above), `names` (n_nodes,) names, `oversubscription` down:up
    bandwidth per tier ("leaf", "spine", "room") as built, `switches` the model of each tier, `planes` disjoint
    switching fabrics, each of one port of every NIC or of every NIC of one index (`plane_by`), `links_per_nic` cables
    of a NIC, `pods` of three tiers (0 otherwise), `decisions` and `findings` of the building.
    """

    family: str
    tiers: int
    planes: int
    rails: int
    rooms: tuple[str, ...]
    racks: tuple[Rack, ...]
    media: tuple[str, ...]
    names: tuple[str, ...]
    nodes: NDArray[np.void]
    ports: NDArray[np.void]
    links: NDArray[np.void]
    gpus_per_server: int
    nics_per_server: int
    nic_rate_bps: int
    scale_up_domain: int
    oversubscription: Mapping[str, float]
    tier_ports: Mapping[str, TierPorts]
    switches: Mapping[str, str]
    max_gpus: int
    max_leaves: int
    max_spines: int
    room_links: tuple[RoomLink, ...] = ()
    decisions: tuple[Decision, ...] = ()
    findings: tuple[Finding, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    plane_by: PlaneBy = "port"
    links_per_nic: int = 1
    rail_optimized: bool = False
    pods: int = 0
    max_cores: int = 0

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Name -> node."""
        return {name: i for i, name in enumerate(self.names)}

    def nodes_of(self, kind: NodeKind) -> NDArray[np.int64]:
        """(n,) int64 nodes of one kind, in order."""
        found: NDArray[np.int64] = np.flatnonzero(self.nodes["kind"] == kind)
        return found

    def links_of(self, kind: LinkKind) -> NDArray[np.int64]:
        """(n,) int64 links of one tier, in order."""
        found: NDArray[np.int64] = np.flatnonzero(self.links["kind"] == kind)
        return found

    @property
    def n_servers(self) -> int:
        """Servers."""
        return int(self.nodes_of(NodeKind.SERVER).size)

    @property
    def n_gpus(self) -> int:
        """GPUs."""
        return self.n_servers * self.gpus_per_server

    def as_json(self) -> dict[str, Any]:
        """The fabric in the shape of the command line's contract."""
        kinds = {kind: int(np.count_nonzero(self.links["kind"] == kind)) for kind in LinkKind}
        return {
            "family": self.family,
            "tiers": self.tiers,
            "planes": self.planes,
            "plane_by": self.plane_by,
            "rail_optimized": self.rail_optimized,
            "pods": self.pods,
            "servers": self.n_servers,
            "gpus": self.n_gpus,
            "leaves": int(self.nodes_of(NodeKind.LEAF).size),
            "spines": int(self.nodes_of(NodeKind.SPINE).size),
            "cores": int(self.nodes_of(NodeKind.CORE).size),
            "links": {
                "server_leaf": kinds[LinkKind.SERVER_LEAF],
                "leaf_spine": kinds[LinkKind.LEAF_SPINE],
                "spine_core": kinds[LinkKind.SPINE_CORE],
                "room": kinds[LinkKind.ROOM],
                "direct": kinds[LinkKind.DIRECT],
            },
            "oversubscription_ratio": {"leaf": None, "spine": None, **self.oversubscription},
            "ports": {tier: {"used": p.used, "free": p.free} for tier, p in self.tier_ports.items()},
            "max_gpus": self.max_gpus,
        }
