"""What a failed part takes away: one fault for each class of parts that are alike, the links that go with it, and the
NICs, GPUs and bandwidth that are lost.

Parts are alike when colour refinement of the switch graph cannot tell them apart (`symmetry`); of each class the member
with the most traffic stands for all. A fault is clean: the part is off, routing has converged. A part that limps
(errors, flaps, a slow lane) costs more than its loss; that is the simulator's matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric.optic_faults import lost_optics
from eastwest.fabric.routing import Floats, Ints, components, server_links, switch_graph
from eastwest.fabric.symmetry import number_values, refine, representatives
from eastwest.fabric.tables import SWITCHES, Fabric, LinkKind, NodeKind, numbers_among


class FaultKind(StrEnum):
    """Which part fails."""

    NIC = "nic"
    SERVER_OPTIC = "server_optic"
    SERVER_LINK = "server_link"
    DIRECT_LINK = "direct_link"
    LEAF = "leaf"
    SWITCH_OPTIC = "switch_optic"
    LEAF_SPINE_LINK = "leaf_spine_link"
    SPINE = "spine"
    SPINE_CORE_LINK = "spine_core_link"
    CORE = "core"
    PLANE = "plane"
    ROOM_LINK = "room_link"
    ROOM_PATH = "room_path"


SWITCH_FAULTS = {FaultKind.LEAF: NodeKind.LEAF, FaultKind.SPINE: NodeKind.SPINE, FaultKind.CORE: NodeKind.CORE}
LINK_FAULTS = {
    FaultKind.SERVER_LINK: LinkKind.SERVER_LEAF,
    FaultKind.DIRECT_LINK: LinkKind.DIRECT,
    FaultKind.LEAF_SPINE_LINK: LinkKind.LEAF_SPINE,
    FaultKind.SPINE_CORE_LINK: LinkKind.SPINE_CORE,
    FaultKind.ROOM_LINK: LinkKind.ROOM,
}


@dataclass(frozen=True, eq=False)
class Fault:
    """One part that fails: `links` (n,) int64 the links that go with it, `alike` how many parts of its kind are like
    it, `population` how many there are of its kind.
    """

    kind: FaultKind
    subject: str
    links: Ints
    alike: int
    population: int


@dataclass(frozen=True, eq=False)
class Stress:
    """How much traffic parts carry, to choose who stands for a class: `nodes` (n_nodes,) and `links` (n_links,)
    float64, any unit.
    """

    nodes: Floats
    links: Floats


@dataclass(frozen=True, slots=True)
class Loss:
    """What a fault takes away: NIC ports, NICs without any port left, their GPUs, servers that lost a port, servers
    without any NIC left; and the least share of bandwidth left at any server, leaf, pod or room that it touches.
    """

    ports: int
    nics: int
    gpus: int
    servers_touched: int
    servers_cut: int
    remaining_ratio: float


@dataclass(frozen=True, eq=False)
class Cut:
    """Parts of the fabric that only links of one kind join: `part` (n_nodes,) int64, `rate_bps` (n_parts,) float64 of
    the links that leave each part, `ends` (n, 2) int64 the two parts of each of those `links` (n,).
    """

    kind: LinkKind
    part: Ints
    rate_bps: Floats
    links: Ints
    ends: Ints


def without(fabric: Fabric, lost: Ints) -> Fabric:
    """The fabric with the links `lost` (n,) gone and their ports free; nothing else is changed or judged again."""
    alive = np.ones(len(fabric.links), bool)
    alive[lost] = False
    ports = fabric.ports.copy()
    ports["link"] = np.where(ports["link"] >= 0, numbers_among(alive)[ports["link"]], -1)
    return replace(fabric, links=fabric.links[alive], ports=ports)


def faults_of(fabric: Fabric, stress: Stress | None = None, classes: Ints | None = None) -> tuple[Fault, ...]:
    """One fault for each class of parts that are alike, kind by kind; of a class the member with the most stress, the
    first one without it. The classes and their order do not depend on the stress. `classes` are the fabric's
    `switch_classes` where they are known.
    """
    stress = stress or Stress(np.zeros(len(fabric.nodes)), np.zeros(len(fabric.links)))
    classes = switch_classes(fabric) if classes is None else classes
    found: dict[FaultKind, list[Fault]] = {}
    found[FaultKind.NIC] = list(_nics(fabric, classes, stress))
    for kind, node_kind in SWITCH_FAULTS.items():
        found[kind] = list(_switches(fabric, kind, node_kind, classes, stress))
    for kind, link_kind in LINK_FAULTS.items():
        found[kind] = list(_links(fabric, kind, link_kind, classes, stress))
    for optic in lost_optics(fabric, classes, stress.links):
        kind = FaultKind.SERVER_OPTIC if optic.is_at_server else FaultKind.SWITCH_OPTIC
        found.setdefault(kind, []).append(Fault(kind, optic.subject, optic.links, optic.alike, optic.population))
    found[FaultKind.PLANE] = list(_planes(fabric))
    found[FaultKind.ROOM_PATH] = list(_room_paths(fabric))
    return tuple(fault for kind in FaultKind for fault in found.get(kind, ()))


def switch_classes(fabric: Fabric) -> Ints:
    """(n_nodes,) int64 class of each switch and box, -1 for hosts: kind, server links and neighbourhood are alike
    inside a class, whatever the room, plane or pod.
    """
    graph = switch_graph(fabric)
    down = fabric.links[fabric.links["kind"] == LinkKind.SERVER_LEAF]
    n_nodes = len(fabric.nodes)
    count = np.bincount(down["b"], minlength=n_nodes)
    rate = np.bincount(down["b"], down["rate_bps"], minlength=n_nodes)
    kind = fabric.nodes["kind"][graph.nodes]
    classes = np.full(n_nodes, -1, np.int64)
    classes[graph.nodes] = refine(graph, number_values(kind, count[graph.nodes], rate[graph.nodes]))
    return classes


def _nics(fabric: Fabric, classes: Ints, stress: Stress) -> Iterator[Fault]:
    """NICs with all their ports, by the leaves that they lead to."""
    table = server_links(fabric)
    table = table.reshape(-1, table.shape[2])
    there = np.flatnonzero((table >= 0).any(axis=1))
    link = table[there]
    leaf = np.where(link >= 0, classes[fabric.links["b"][link]], -1)
    load = np.where(link >= 0, stress.links[link], 0.0).max(axis=1, initial=0.0)
    servers = fabric.nodes_of(NodeKind.SERVER)
    for at, alike in representatives(number_values(*leaf.T), load):
        server, nic = divmod(int(there[at]), fabric.nics_per_server)
        subject = f"{fabric.names[int(servers[server])]}:nic{nic}"
        yield Fault(FaultKind.NIC, subject, link[at][link[at] >= 0], alike, len(there))


def _switches(fabric: Fabric, kind: FaultKind, node_kind: NodeKind, classes: Ints, stress: Stress) -> Iterator[Fault]:
    nodes = fabric.nodes_of(node_kind)
    for at, alike in representatives(classes[nodes], stress.nodes[nodes]):
        node = int(nodes[at])
        yield Fault(kind, fabric.names[node], _links_at(fabric, node), alike, len(nodes))


def _links_at(fabric: Fabric, node: int) -> Ints:
    """(n,) int64 links that end at a node."""
    found: Ints = np.flatnonzero((fabric.links["a"] == node) | (fabric.links["b"] == node)).astype(np.int64)
    return found


def _links(fabric: Fabric, kind: FaultKind, link_kind: LinkKind, classes: Ints, stress: Stress) -> Iterator[Fault]:
    """Single links, by the classes of their ends; of room links the piece that crosses."""
    links = fabric.links_of(link_kind)
    if link_kind == LinkKind.ROOM:
        links = links[_crosses(fabric)[links]]
    if link_kind == LinkKind.SERVER_LEAF:
        links = links[fabric.nodes["kind"][fabric.links["a"][links]] == NodeKind.SERVER]
    rows = fabric.links[links]
    if len(rows) == 0:
        return
    load = stress.links[links] + stress.nodes[rows["a"]] + stress.nodes[rows["b"]]
    for at, alike in representatives(number_values(classes[rows["a"]], classes[rows["b"]], rows["rate_bps"]), load):
        a, b = fabric.names[int(rows["a"][at])], fabric.names[int(rows["b"][at])]
        yield Fault(kind, f"{a} - {b}", links[at : at + 1].astype(np.int64), alike, len(links))


def _crosses(fabric: Fabric) -> NDArray[np.bool_]:
    """(n_links,) whether a link ends in two rooms."""
    room = fabric.nodes["room"]
    crossing: NDArray[np.bool_] = room[fabric.links["a"]] != room[fabric.links["b"]]
    return crossing


def _planes(fabric: Fabric) -> Iterator[Fault]:
    """A whole plane: all its switches at once, as a bad configuration or image does it."""
    planes = np.unique(fabric.nodes["plane"][np.isin(fabric.nodes["kind"], SWITCHES)])
    if len(planes) > 1:
        lost = np.flatnonzero(fabric.links["plane"] == planes[0]).astype(np.int64)
        yield Fault(FaultKind.PLANE, f"plane {int(planes[0]) + 1}", lost, len(planes), len(planes))


def _room_paths(fabric: Fabric) -> Iterator[Fault]:
    """All cables between two rooms at once: one duct, or the box in the path."""
    crossing, room = np.flatnonzero(_crosses(fabric)).astype(np.int64), fabric.nodes["room"]
    ends = np.sort(np.stack([room[fabric.links[side][crossing]] for side in "ab"], axis=1), axis=1)
    pairs = np.unique(ends, axis=0)
    for pair in pairs:
        subject = " - ".join(fabric.rooms[int(number)] for number in pair)
        yield Fault(FaultKind.ROOM_PATH, subject, crossing[(ends == pair).all(axis=1)], 1, len(pairs))


def cuts_of(fabric: Fabric) -> tuple[Cut, ...]:
    """The cuts of the fabric, lowest first: leaves at leaf-spine links, pods at spine-core links, rooms at room
    links (or their planes, each for itself).
    """
    below: list[LinkKind] = []
    found = []
    for kind in (LinkKind.LEAF_SPINE, LinkKind.SPINE_CORE, LinkKind.ROOM):
        part = _parts(fabric, below)
        links = fabric.links_of(kind)
        ends = np.stack([part[fabric.links[side][links]] for side in "ab"], axis=1)
        leaving = ends[:, 0] != ends[:, 1]
        links, ends = links[leaving].astype(np.int64), ends[leaving]
        rate = np.bincount(ends.ravel(), np.repeat(fabric.links["rate_bps"][links], 2), minlength=int(part.max()) + 1)
        if len(links):
            found.append(Cut(kind, part, rate.astype(np.float64), links, ends))
        below.append(kind)
    return tuple(found)


def _parts(fabric: Fabric, kinds: list[LinkKind]) -> Ints:
    """(n_nodes,) int64 number of the part of each node when only links of `kinds` join nodes."""
    mine = np.isin(fabric.links["kind"], [int(kind) for kind in kinds])
    return components(len(fabric.nodes), fabric.links["a"][mine], fabric.links["b"][mine])


def rate_left(cut: Cut, fabric: Fabric, lost: Ints) -> Floats:
    """(n_parts,) float64 bit/s that still leave each part of a cut without the links `lost`."""
    gone = np.isin(cut.links, lost)
    rate = np.repeat(fabric.links["rate_bps"][cut.links[gone]], 2).astype(np.float64)
    left: Floats = cut.rate_bps - np.bincount(cut.ends[gone].ravel(), rate, minlength=len(cut.rate_bps))
    return left


def live_table(table: Ints, lost: Ints) -> Ints:
    """The table of server links (n_servers, nics, links_per_nic) with -1 where a link is lost."""
    left: Ints = np.where(np.isin(table, lost), -1, table)
    return left


def direct_pairs(fabric: Fabric) -> dict[tuple[int, int], int]:
    """(server, server) -> cables between them, of servers that are cabled directly."""
    rows = fabric.links[fabric.links_of(LinkKind.DIRECT)]
    return dict(Counter(zip(rows["a"].tolist(), rows["b"].tolist(), strict=True)))


def living(table: Ints) -> NDArray[np.bool_]:
    """(n_servers, nics) whether a NIC has a port with a link in the table of server links."""
    alive: NDArray[np.bool_] = np.any(np.greater_equal(table, 0), axis=2)
    return alive


def loss_of(fabric: Fabric, fault: Fault, cuts: tuple[Cut, ...], table: Ints) -> Loss:
    """What the fault takes away; `table` is `server_links(fabric)`."""
    left = live_table(table, fault.links)
    gone = (table >= 0) & (left < 0)
    nics = living(table) & ~living(left)
    gpu_nic = np.arange(fabric.gpus_per_server) * fabric.nics_per_server // fabric.gpus_per_server
    had = (table >= 0).sum(axis=(1, 2))
    share = (left >= 0).sum(axis=(1, 2)) / np.maximum(1, had)
    touched = gone.any(axis=(1, 2))
    ratios = [share[touched].min(initial=1.0)]
    for cut in cuts:
        hurt = np.unique(cut.ends[np.isin(cut.links, fault.links)])
        hurt = hurt[np.isin(hurt, _sending_parts(fabric, cut, left))]
        ratios.append((rate_left(cut, fabric, fault.links)[hurt] / cut.rate_bps[hurt]).min(initial=1.0))
    if fault.kind == FaultKind.DIRECT_LINK:
        before, after = direct_pairs(fabric), direct_pairs(without(fabric, fault.links))
        ratios += [after.get(pair, 0) / count for pair, count in before.items()]
    return Loss(
        ports=int(gone.sum()),
        nics=int(nics.sum()),
        gpus=int(nics[:, gpu_nic].sum()),
        servers_touched=int(touched.sum()),
        servers_cut=int((touched & (share == 0)).sum()),
        remaining_ratio=float(min(ratios)),
    )


def _sending_parts(fabric: Fabric, cut: Cut, table: Ints) -> Ints:
    """Parts of a cut that hold leaves with servers."""
    found: Ints = np.unique(cut.part[fabric.links["b"][table[table >= 0]]])
    return found
