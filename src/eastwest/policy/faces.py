"""The ports of a fabric by the way they face: towards servers, up, down, or to another room, with PFC or where it has
ended; with the longest cable and the most ports of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric.tables import Fabric, LinkKind, NodeKind
from eastwest.policy.settings import Role

PortFace = Literal["server", "uplink", "downlink", "room", "unknown"]
Face = PortFace | Literal["room_lossy"]
ROLE_OF_KIND: dict[int, Role] = {NodeKind.LEAF: "leaf", NodeKind.SPINE: "spine", NodeKind.CORE: "core"}
ROOM_LOSSY: Face = "room_lossy"  # towards another room, where PFC has ended
PORT_FACES: tuple[PortFace, ...] = ("server", "uplink", "downlink", "room", "unknown")
FACES: tuple[Face, ...] = (*PORT_FACES, ROOM_LOSSY)
_LOWER = {LinkKind.SERVER_LEAF: 4, LinkKind.LEAF_SPINE: 1, LinkKind.SPINE_CORE: 1, LinkKind.ROOM: 3}
_UPPER = {LinkKind.SERVER_LEAF: 0, LinkKind.LEAF_SPINE: 2, LinkKind.SPINE_CORE: 2, LinkKind.ROOM: 3}
LENGTH_STEP_M = 5.0  # cable lengths are rounded up to this step, so that a spare of the next length loses nothing


@dataclass(frozen=True, slots=True)
class FaceUse:
    """Equal ports of one role: the way they face, rate, longest cable, most of them on one switch, lanes."""

    role: Role
    face: Face
    rate_bps: int
    length_m: float
    n_most: int
    lanes: int

    @property
    def planned_length_m(self) -> float:
        """The longest cable, rounded up to 5 m."""
        return max(LENGTH_STEP_M, -(-self.length_m // LENGTH_STEP_M) * LENGTH_STEP_M)


def face_numbers(links: NDArray[np.void], side: Literal["a", "b"]) -> NDArray[np.int64]:
    """(n_links,) int64 index into `FACES` of each link's port at that end."""
    numbers = np.full(len(links), FACES.index("unknown"), np.int64)
    for kind, face in (_LOWER if side == "a" else _UPPER).items():
        numbers[links["kind"] == kind] = face
    return numbers


def face_uses(fabric: Fabric, without_pfc: NDArray[np.bool_] | None = None) -> tuple[FaceUse, ...]:
    """Every kind of switch port that has a cable, in the order role, face, rate; `without_pfc` (n_links,) marks the
    links that PFC does not cross.
    """
    links, nodes = fabric.links, fabric.nodes
    node = np.concatenate([links["a"], links["b"]]).astype(np.int64)
    port = np.concatenate([links["a_port"], links["b_port"]]).astype(np.int64)
    face = np.concatenate([face_numbers(links, "a"), face_numbers(links, "b")])
    if without_pfc is not None:
        face[np.tile(without_pfc, 2)] = FACES.index(ROOM_LOSSY)
    rate, length = np.tile(links["rate_bps"], 2), np.tile(links["length_m"], 2)
    kind = nodes["kind"][node]
    found = []
    for member, role in ROLE_OF_KIND.items():
        mine = np.flatnonzero(kind == member)
        pairs = [
            (f, r) for f in np.unique(face[mine]).tolist() for r in np.unique(rate[mine][face[mine] == f]).tolist()
        ]
        for number, speed in pairs:
            rows = mine[(face[mine] == number) & (rate[mine] == speed)]
            lane_bps = int(fabric.ports["lane_rate_bps"][port[rows[0]]]) or speed
            longest, most = float(length[rows].max()), int(np.bincount(node[rows]).max())
            found.append(FaceUse(role, FACES[number], speed, longest, most, max(1, speed // lane_bps)))
    return tuple(found)


def roles_of(fabric: Fabric) -> tuple[Role, ...]:
    """The roles of switches that the fabric has, from the leaf up."""
    kinds = set(fabric.nodes["kind"].tolist())
    return tuple(role for kind, role in ROLE_OF_KIND.items() if kind in kinds)


def most_ports(fabric: Fabric, role: Role) -> int:
    """Logical ports, free ones too, of the largest switch of a role."""
    kind = next(kind for kind, name in ROLE_OF_KIND.items() if name == role)
    return int(fabric.nodes["n_ports"][fabric.nodes["kind"] == kind].max(initial=0))


def longest_m(fabric: Fabric, kind: LinkKind) -> float:
    """The longest cable of one tier, metres; 0 when it has none."""
    return float(fabric.links["length_m"][fabric.links["kind"] == kind].max(initial=0.0))


def role_of(fabric: Fabric, node: int) -> Role:
    """The role of a node that is a switch; "box" for a box in a room link, "unknown" for a host."""
    kind = int(fabric.nodes["kind"][node])
    return "box" if kind == NodeKind.BOX else ROLE_OF_KIND.get(kind, "unknown")
