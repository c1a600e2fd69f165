"""Cables: length from the racks, medium from length, lane rate and the cages at both ends, part, label."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric.assemblies import SPLIT, Cages, cage_numbers, cages_of, cords_of, fixed_cables, longest_of
from eastwest.fabric.media import AUTO_OPTICS, MEDIA, WHOLE_CABLES, order_lengths_m, reach_m
from eastwest.fabric.parts import link_parts
from eastwest.fabric.racks import route_lengths_m
from eastwest.fabric.tables import Fabric, LinkKind, NodeKind, Rack
from eastwest.finding import Finding
from eastwest.spec.reach import reach_of_medium_m
from eastwest.spec.switches import CablingWish
from eastwest.units import format_length

SLACK_M = 1.0  # cable management at both ends together
UNPLACED_LENGTH_M = 10.0  # of a cable with an end outside the racks, such as a box in a room link
MOST_PARTS = 1024  # ports of one cage or NIC


class Cable(NamedTuple):
    """One cable of the list: both ends as device and port, and the part of each end."""

    cable_id: str
    a_device: str
    a_port: str
    b_device: str
    b_port: str
    kind: str
    rail: int | None
    plane: int
    rate_bps: int
    length_m: float
    medium: str
    part: str
    label: str


def measure_links(
    racks: tuple[Rack, ...],
    nodes: NDArray[np.void],
    links: NDArray[np.void],
    ports: NDArray[np.void],
    wish: CablingWish,
) -> tuple[Finding, ...]:
    """Writes `length_m` (ordered length) and `medium` into `links`; findings about cables that no part reaches, or that
    are not made in the shape that the cages ask for.

    A length or medium that the site file gives for a tier wins. Links of rooms keep the length that is already in
    `length_m`. All links of a cage get the same medium, the farther reaching one, since a cage holds one module; legs
    of one splitter get the length of the longest, since they are sold equal.
    """
    route = route_lengths_m(racks, nodes, links["a"].astype(np.int64), links["b"].astype(np.int64)) + SLACK_M
    route = np.where(np.isnan(route), UNPLACED_LENGTH_M, route)
    measured = np.isfinite(links["length_m"]) & (links["length_m"] > 0)
    length = np.where(measured, links["length_m"], order_lengths_m(route))
    length, forced = _as_wished(links, length, wish)
    cages = cages_of(ports)
    fixed, cords = fixed_cables(links, cages), cords_of(links, ports, cages)
    copper_m = longest_of(fixed.number, length)
    lanes = ports["lane_rate_bps"][links["b_port"]]
    auto = _auto_medium(np.where(fixed.number >= 0, copper_m, np.inf), length, lanes)
    medium = np.where(forced >= 0, forced, auto)
    medium = np.where(forced >= 0, forced, _same_in_cage(medium, links, cages))
    fibre_m = longest_of(np.where(cords.shape == SPLIT, cords.number, -1), length)
    is_fixed = np.isin(medium, [MEDIA.index(name) for name in WHOLE_CABLES])
    links["medium"], links["length_m"] = medium, np.where(is_fixed, copper_m, fibre_m)
    return (*_beyond_reach(links, lanes), *_not_made(links, is_fixed & (fixed.number < 0)))


def _as_wished(
    links: NDArray[np.void], length_m: NDArray[np.float64], wish: CablingWish
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(n,) m with the lengths that the site file gives, and (n,) index into MEDIA of the media, -1 where it gives
    none.
    """
    length, forced = length_m.copy(), np.full(len(links), -1, np.int64)
    for kind, tier in (
        (LinkKind.SERVER_LEAF, wish.server_leaf),
        (LinkKind.DIRECT, wish.server_leaf),
        (LinkKind.LEAF_SPINE, wish.leaf_spine),
        (LinkKind.SPINE_CORE, wish.spine_core),
    ):
        mine = links["kind"] == kind
        if tier.length_m is not None:
            length[mine] = tier.length_m
        if tier.medium != "auto":
            forced[mine] = MEDIA.index(tier.medium)
    return length, forced


def _auto_medium(
    copper_m: NDArray[np.float64], length_m: NDArray[np.float64], lane_rate_bps: NDArray[np.int64]
) -> NDArray[np.int64]:
    """(n,) index into MEDIA: copper while it reaches, else the shortest-reaching optics that do."""
    medium = np.full(len(length_m), MEDIA.index(AUTO_OPTICS[-1]), np.int64)
    for name in reversed(AUTO_OPTICS):
        medium[length_m <= reach_of_medium_m(name)] = MEDIA.index(name)
    for lane in np.unique(lane_rate_bps):
        medium[(lane_rate_bps == lane) & (copper_m <= reach_m("dac", int(lane)))] = MEDIA.index("dac")
    return medium


def _same_in_cage(medium: NDArray[np.int64], links: NDArray[np.void], cages: Cages) -> NDArray[np.int64]:
    """(n,) index into MEDIA where links that share a cage at either end share the farther-reaching medium."""
    ends = cages.of_port[links["a_port"]], cages.of_port[links["b_port"]]
    n_cages = len(cages.ports)
    while True:
        best = np.zeros(n_cages, np.int64)
        for end in ends:
            np.maximum.at(best, end, medium)
        raised = np.maximum(best[ends[0]], best[ends[1]])
        if np.array_equal(raised, medium):
            return medium
        medium = raised


def _beyond_reach(links: NDArray[np.void], lanes: NDArray[np.int64]) -> tuple[Finding, ...]:
    found = []
    for kind in LinkKind:
        for medium in np.unique(links["medium"][links["kind"] == kind]):
            mine = (links["kind"] == kind) & (links["medium"] == medium)
            limit = min(reach_m(MEDIA[medium], int(lane)) for lane in np.unique(lanes[mine]))
            longest = float(links["length_m"][mine].max())
            if longest > limit:
                args = {
                    "medium": MEDIA[medium].upper(),
                    "cables": int(np.count_nonzero(links["length_m"][mine] > limit)),
                    "longest": format_length(longest),
                    "reach": format_length(limit),
                }
                tier = kind.name.lower()
                path = "room_links" if kind == LinkKind.ROOM else f"cabling.{tier}"
                found.append(Finding("EW-FAB-024", "error", tier, limit, longest, "m", args, path=path))
    return tuple(found)


def _not_made(links: NDArray[np.void], lacking: NDArray[np.bool_]) -> tuple[Finding, ...]:
    """Findings about wished copper or active optical cables of cages that go to several others."""
    found = []
    for kind in LinkKind:
        mine = lacking & (links["kind"] == kind)
        if mine.any():
            tier, medium = kind.name.lower(), MEDIA[int(links["medium"][mine][0])].upper()
            args, cables = {"medium": medium}, int(np.count_nonzero(mine))
            found.append(Finding("EW-FAB-044", "error", tier, 0, cables, "links", args, path=f"cabling.{tier}"))
    return tuple(found)


@lru_cache(maxsize=1)
def port_names(fabric: Fabric) -> tuple[str, ...]:
    """(n_ports,) names: `nic3`, or `nic3p2` of a NIC with several links, on a server (NICs from 0, ports from 1),
    `port17` or `port17/2` (cage and part, from 1) on a switch or box; kept for the last fabric.
    """
    ports, per_nic = fabric.ports, fabric.links_per_nic
    cage = cage_numbers(ports)
    size = np.bincount(cage)
    starts = np.cumsum(size) - size
    part = np.where(size[cage] > 1, np.arange(len(ports)) - starts[cage], -1)
    kind = fabric.nodes["kind"][ports["node"]]
    is_switch = ~np.isin(kind, [NodeKind.SERVER, NodeKind.CONTROLLER])
    is_split = (kind == NodeKind.SERVER) & (per_nic > 1)
    number = np.where(is_switch, ports["cage"], np.where(is_split, ports["number"] // per_nic, ports["number"]))
    part = np.where(is_switch, part, np.where(is_split, ports["number"] % per_nic, -1))
    keys = (is_switch * 2 - 1) * ((number.astype(np.int64) + 1) * MOST_PARTS + part + 1)
    values, inverse = np.unique(keys, return_inverse=True)
    words = [_port_name(abs(key) // MOST_PARTS, abs(key) % MOST_PARTS, key > 0) for key in values.tolist()]
    return tuple(words[key] for key in inverse.reshape(-1).tolist())


def _port_name(place: int, part: int, is_switch: bool) -> str:
    """The name of port `part` (from 1, 0 for the whole) of the cage or NIC at `place`, from 1."""
    if is_switch:
        return f"port{place}/{part}" if part else f"port{place}"
    return f"nic{place - 1}p{part}" if part else f"nic{place - 1}"


@lru_cache(maxsize=1)
def full_port_names(fabric: Fabric) -> tuple[str, ...]:
    """(n_ports,) `leaf-01:port17`, the device and port of each end of a cable; kept for the last fabric."""
    devices = zip(fabric.ports["node"].tolist(), port_names(fabric), strict=True)
    return tuple(f"{fabric.names[node]}:{port}" for node, port in devices)


@lru_cache(maxsize=1)
def cable_rows(fabric: Fabric) -> tuple[Cable, ...]:
    """Every cable in the order of the links; kept for the last fabric, since several lists are made of it."""
    return tuple(_cables(fabric))


def _cables(fabric: Fabric) -> Iterator[Cable]:
    names, ports, ends = fabric.names, port_names(fabric), full_port_names(fabric)
    width = max(4, len(str(len(fabric.links))))
    columns = ("kind", "a", "a_port", "b", "b_port", "rate_bps", "length_m", "rail", "plane", "medium")
    table = zip(*(fabric.links[name].tolist() for name in columns), link_parts(fabric), strict=True)
    kinds = {int(kind): kind.name.lower() for kind in LinkKind}
    for number, (kind, a, a_port, b, b_port, rate, length, rail, plane, medium, part) in enumerate(table, start=1):
        cable_id = f"C{number:0{width}d}"
        label = f"{cable_id} {ends[a_port]} - {ends[b_port]}"
        yield Cable(
            cable_id,
            names[a],
            ports[a_port],
            names[b],
            ports[b_port],
            kinds[kind],
            rail if rail >= 0 else None,
            plane,
            rate,
            length,
            fabric.media[medium],
            part,
            label,
        )
