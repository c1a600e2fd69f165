"""What is near what, as a tree for schedulers: servers under the leaf (or rail group of leaves) that they share, leaf
groups under the spines that join them, pods under cores, rooms under their links.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric.routing import Ints, components
from eastwest.fabric.tables import Fabric, LinkKind, NodeKind

LEVELS = ("leaf", "spine", "core", "room")  # what joins the groups of a level, from the nearest
JOINS = {"spine": LinkKind.LEAF_SPINE, "core": LinkKind.SPINE_CORE, "room": LinkKind.ROOM}
STEMS = {"leaf": "group", "spine": "pod", "core": "core", "room": "rooms"}


@dataclass(frozen=True, eq=False)
class Level:
    """One level of the tree: `group` (n_servers,) int64 the group of each server, from 0; `names` (n_groups,), and
    `leaves` (n_groups,) names of the leaves below each.
    """

    joined_by: str
    group: Ints
    names: tuple[str, ...]
    leaves: tuple[tuple[str, ...], ...]


def locality(fabric: Fabric, site_name: str) -> tuple[Level, ...]:
    """Levels from the nearest to the farthest; a level that joins nothing new is left out.

    A server belongs to the leaf that has most of its links (the first of equals), so a server that straddles two leaves
    is counted with one of them: a tree cannot say more. Servers that nothing joins stay in separate trees.
    """
    servers = fabric.nodes_of(NodeKind.SERVER)
    kinds = [LinkKind.DIRECT, LinkKind.SERVER_LEAF]
    partitions = [("leaf", _numbered(_home_leaf(fabric, servers)))]
    for level, kind in JOINS.items():
        kinds.append(kind)
        group = _numbered(_joined(fabric, kinds)[servers])
        if group.max(initial=0) < partitions[-1][1].max(initial=0):
            partitions.append((level, group))
    reached = _leaves_of_servers(fabric, servers)
    return tuple(_level(fabric, site_name, servers, level, group, reached) for level, group in partitions)


def scale_up_domains(fabric: Fabric) -> Ints | None:
    """(n_servers,) int64 the scale-up domain of each server when a domain holds several servers (NVL72), else None."""
    per_domain = fabric.scale_up_domain // fabric.gpus_per_server
    return np.arange(fabric.n_servers, dtype=np.int64) // per_domain if per_domain > 1 else None


def _joined(fabric: Fabric, kinds: list[LinkKind]) -> Ints:
    """(n_nodes,) int64 the part of each node when only links of `kinds` join nodes.

    A controller does not forward, so its links join nothing.
    """
    links = fabric.links[np.isin(fabric.links["kind"], kinds)]
    links = links[fabric.nodes["kind"][links["a"]] != NodeKind.CONTROLLER]
    return components(len(fabric.nodes), links["a"], links["b"])


def _home_leaf(fabric: Fabric, servers: Ints) -> Ints:
    """(n_servers,) the leaf with most links of each server; for a server without a leaf a number below those of all
    leaves, the same for servers that are cabled to each other.
    """
    links = fabric.links[fabric.links_of(LinkKind.SERVER_LEAF)]
    to_leaf = fabric.nodes["kind"][links["b"]] == NodeKind.LEAF
    pairs, counts = np.unique(
        links["a"][to_leaf].astype(np.int64) * len(fabric.nodes) + links["b"][to_leaf], return_counts=True
    )
    server, leaf = pairs // len(fabric.nodes), pairs % len(fabric.nodes)
    home = _joined(fabric, [LinkKind.DIRECT, LinkKind.SERVER_LEAF]) - len(fabric.nodes)
    order = np.lexsort((-leaf, counts, server))
    home[server[order]] = leaf[order]
    return home[servers]


def _numbered(labels: Ints) -> Ints:
    """(n,) int64 labels replaced by numbers from 0 in the order in which they first appear."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    numbered: Ints = rank[inverse.reshape(-1)]
    return numbered


def _leaves_of_servers(fabric: Fabric, servers: Ints) -> tuple[Ints, Ints]:
    """(n,), (n,) each pair of a server's number and a leaf that it reaches, leaves in order."""
    number = np.full(len(fabric.nodes), -1, np.int64)
    number[servers] = np.arange(len(servers))
    links = fabric.links[fabric.links_of(LinkKind.SERVER_LEAF)]
    mine = (number[links["a"]] >= 0) & (fabric.nodes["kind"][links["b"]] == NodeKind.LEAF)
    return number[links["a"][mine]], links["b"][mine].astype(np.int64)


def _level(fabric: Fabric, site_name: str, servers: Ints, level: str, group: Ints, reached: tuple[Ints, Ints]) -> Level:
    n = int(group.max(initial=-1)) + 1
    n_nodes = len(fabric.nodes)
    below: list[list[str]] = [[] for _ in range(n)]
    for pair in np.unique(group[reached[0]] * n_nodes + reached[1]).tolist():
        below[pair // n_nodes].append(fabric.names[pair % n_nodes])
    leaves = tuple(map(tuple, below))
    rooms = fabric.nodes["room"][servers]
    if level == "leaf":
        names = tuple(own[0] if len(own) == 1 else f"group-{i + 1}" for i, own in enumerate(leaves))
        names = names if len(set(names)) == n else tuple(f"group-{i + 1}" for i in range(n))
    elif len(fabric.rooms) == n and np.array_equal(_numbered(rooms.astype(np.int64)), group):
        names = tuple(fabric.rooms[int(room)] for room in _first_of_each(rooms, group, n))
    elif n == 1:
        names = (site_name,)
    else:
        names = tuple(f"{STEMS[level]}-{i + 1}" for i in range(n))
    return Level(level, group, names, leaves)


def _first_of_each(values: NDArray[np.generic], group: Ints, n: int) -> list[int]:
    _, first = np.unique(group, return_index=True)
    return [int(value) for value in values[first[:n]]]


def members(group: Ints) -> list[list[int]]:
    """(n_groups,) the servers of each group, in order."""
    found: list[list[int]] = [[] for _ in range(int(group.max(initial=-1)) + 1)]
    for server, number in enumerate(group.tolist()):
        found[number].append(server)
    return found


def parents(lower: Level, upper: Level) -> list[int]:
    """(n_lower groups,) the upper group that holds each lower group; a component holds whole components."""
    return _first_of_each(upper.group, lower.group, len(lower.names))
