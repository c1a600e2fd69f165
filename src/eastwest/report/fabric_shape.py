"""`Shape`: what the fabric picture draws, read from the plan's `fabric` object; whatever the plan does not say is not
drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

from eastwest.report.values import Json, amount, at, number, rows_at, texts_at

AGGREGATE_ABOVE_NODES = 200  # more boxes than this cannot be told apart on a page
AGGREGATE_ABOVE_LEAVES = 24  # so many leaves stand side by side before their names are too small to read
AGGREGATE_ABOVE_GROUPS = 10
DRAWN_GROUPS = 4  # groups drawn per room when aggregated; the others are counted in one box


@dataclass(frozen=True, slots=True)
class Group:
    """Servers that hang on the same leaves; a group with `more` > 0 stands for that many further groups."""

    name: str
    n_servers: int | None
    leaves: tuple[str, ...]
    n_leaves: int | None
    more: int = 0


@dataclass(frozen=True, slots=True)
class Room:
    """A room (or the whole fabric when there are none), its spines and its groups."""

    name: str
    n_spines: int
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class RoomSpan:
    """Links between two rooms with the boxes in their path."""

    rooms: tuple[str, str]
    distance_m: float | None
    n_links: int | None
    rate_bps: float | None
    boxes: tuple[tuple[str, str, float | None], ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """The whole picture; `n_direct` cables run from server to server. `detailed` draws each switch and the full mesh
    between leaves and spines of a room.
    """

    rooms: tuple[Room, ...]
    spans: tuple[RoomSpan, ...]
    n_cores: int
    n_spines: int
    n_nodes: int
    detailed: bool
    rails: int
    gpus_per_server: int | None
    planes: int
    n_direct: int


def shape_of(fabric: Json) -> Shape:
    """The shape of a fabric; one switch a box while it is legible and its mesh is certain, else one box a tier and
    group.
    """
    sizes = {key: amount(fabric.get(key)) or 0 for key in ("servers", "leaves", "spines", "cores")}
    n_nodes = sum(sizes.values())
    rooms = _rooms(fabric, sizes)
    detailed = _is_legible(rooms, n_nodes) and _is_certain(fabric, rooms, sizes)
    return Shape(
        rooms=rooms if detailed else tuple(_shortened(room) for room in rooms),
        spans=tuple(_span(row) for row in rows_at(fabric, "room_links")),
        n_cores=sizes["cores"],
        n_spines=sizes["spines"],
        n_nodes=n_nodes,
        detailed=detailed,
        rails=amount(fabric.get("rails")) or 0,
        gpus_per_server=amount(fabric.get("gpus_per_server")),
        planes=amount(fabric.get("planes")) or 1,
        n_direct=amount(at(fabric, "links", "direct")) or 0,
    )


def _rooms(fabric: Json, sizes: dict[str, int]) -> tuple[Room, ...]:
    rows = rows_at(fabric, "rooms")
    groups = rows_at(fabric, "groups")
    if not rows:
        found = tuple(_group(row) for row in groups) or (Group("", sizes["servers"], (), sizes["leaves"]),)
        return (Room("", sizes["spines"], found),)
    names = [str(row.get("name") or "") for row in rows]
    rooms = []
    for row, name in zip(rows, names, strict=True):
        is_first = name == names[0]
        mine = [g for g in groups if str(g.get("room")) == name or (is_first and str(g.get("room")) not in names)]
        found = tuple(_group(group) for group in mine) or (
            Group("", amount(row.get("servers")), (), amount(row.get("leaves"))),
        )
        rooms.append(Room(name, amount(row.get("spines")) or (sizes["spines"] if len(rows) == 1 else 0), found))
    return tuple(rooms)


def _group(row: Json) -> Group:
    leaves = tuple(texts_at(row, "leaves"))
    return Group(
        str(row.get("name") or ""), amount(row.get("servers")), leaves, len(leaves) or amount(row.get("leaves"))
    )


def _span(row: Json) -> RoomSpan:
    ends = [*texts_at(row, "rooms"), "", ""]
    boxes = tuple(
        (str(box.get("name") or ""), str(box.get("kind") or ""), number(box.get("rate_limit_bps")))
        for box in rows_at(row, "boxes")
    )
    return RoomSpan(
        (ends[0], ends[1]), number(row.get("distance_m")), amount(row.get("links")), number(row.get("rate_bps")), boxes
    )


def _is_legible(rooms: tuple[Room, ...], n_nodes: int) -> bool:
    """Whether one box for each switch can still be read on a page."""
    groups = [group for room in rooms for group in room.groups]
    n_leaves = sum(group.n_leaves or 0 for group in groups)
    few = n_leaves <= AGGREGATE_ABOVE_LEAVES and len(groups) <= AGGREGATE_ABOVE_GROUPS
    return few and n_nodes <= AGGREGATE_ABOVE_NODES


def _is_certain(fabric: Json, rooms: tuple[Room, ...], sizes: dict[str, int]) -> bool:
    """Whether drawing every leaf with every spine of its room, and every group's servers with all its leaves, tells
    the truth.
    """
    named = all(group.leaves and group.n_servers for room in rooms for group in room.groups)
    drawn_spines = sum(room.n_spines for room in rooms)
    mesh = sum(room.n_spines * (group.n_leaves or 0) for room in rooms for group in room.groups)
    down = sum((group.n_servers or 0) * (group.n_leaves or 0) for room in rooms for group in room.groups)
    links = (amount(at(fabric, "links", "leaf_spine")) or 0, amount(at(fabric, "links", "server_leaf")) or 0)
    one_plane = (amount(fabric.get("planes")) or 1) <= 1 or sizes["spines"] == 0  # planes without spines have no mesh
    plain = one_plane and sizes["cores"] == 0 and drawn_spines == sizes["spines"]
    return bool(named and plain and mesh <= links[0] and down <= links[1])


def _shortened(room: Room) -> Room:
    """The same room with at most `DRAWN_GROUPS` boxes: the first groups, and one box that counts the others."""
    if len(room.groups) <= DRAWN_GROUPS:
        return room
    kept, rest = room.groups[: DRAWN_GROUPS - 1], room.groups[DRAWN_GROUPS - 1 :]
    tail = Group(
        name=f"{rest[0].name} … {rest[-1].name}",
        n_servers=sum(group.n_servers or 0 for group in rest),
        leaves=(),
        n_leaves=sum(group.n_leaves or 0 for group in rest),
        more=len(rest),
    )
    return Room(room.name, room.n_spines, (*kept, tail))
