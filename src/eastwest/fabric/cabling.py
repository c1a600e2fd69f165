"""Cables: length from the racks, medium from length and lane rate, part of each end, label; and the parts to buy,
twin-port optics counted per cage.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric.racks import route_lengths_m
from eastwest.fabric.tables import Fabric, LinkKind, NodeKind, Rack
from eastwest.finding import Finding
from eastwest.spec.switches import CablingWish
from eastwest.units import GIGA, M_PER_KM, format_length, format_port_rate

MEDIA = ("dac", "acc", "aoc", "sr", "dr", "fr", "lr", "zr")
SLACK_M = 1.0  # cable management at both ends together
UNPLACED_LENGTH_M = 10.0  # of a cable with an end outside the racks, such as a box in a room link
ORDER_LENGTHS_M = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 70.0, 100.0)
ORDER_STEP_M = 50.0  # longer cables come in steps of this length
DAC_REACH_M = {  # passive copper by lane rate
    10 * GIGA: 7.0,  # SFF-8431
    25 * GIGA: 3.0,  # IEEE 802.3by/bj without strong FEC
    50 * GIGA: 3.0,  # IEEE 802.3cd
    100 * GIGA: 2.0,  # IEEE 802.3ck
    200 * GIGA: 1.0,  # IEEE 802.3dj (draft)
}
OPTICAL_REACH_M = {  # by medium, usual parts of 400G and 800G; a part's own data sheet may say less
    "aoc": 50.0,
    "sr": 50.0,  # 100G a lane over OM4
    "dr": 500.0,
    "fr": 2.0 * M_PER_KM,
    "lr": 10.0 * M_PER_KM,
    "zr": 80.0 * M_PER_KM,
}
ACC_REACH_M = 3.0  # active copper, 100G a lane
AUTO_OPTICS = ("sr", "dr", "fr", "lr", "zr")
WHOLE_CABLES = ("dac", "acc", "aoc")  # cable with fixed ends
PARALLEL_FIBRE = ("sr", "dr")  # MPO; the others are duplex LC


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


@dataclass(frozen=True, slots=True)
class Part:
    """One line of the parts to buy."""

    part: str
    count: int
    unit: str


def reach_m(medium: str, lane_rate_bps: int) -> float:
    """Metres that a medium reaches at a lane rate."""
    if medium == "dac":
        return DAC_REACH_M.get(lane_rate_bps, 2.0)
    return ACC_REACH_M if medium == "acc" else OPTICAL_REACH_M[medium]


def measure_links(
    racks: tuple[Rack, ...],
    nodes: NDArray[np.void],
    links: NDArray[np.void],
    ports: NDArray[np.void],
    wish: CablingWish,
    cage_of: NDArray[np.int64],
) -> tuple[Finding, ...]:
    """Writes `length_m` (ordered length) and `medium` into `links`; findings about cables that no part reaches.

    A length or medium that the site file gives for a tier wins. Links of rooms keep the length that is already in
    `length_m`. Both links of a twin-port cage get the same medium, the farther reaching one, since a cage holds one
    module.
    """
    measured = np.isfinite(links["length_m"]) & (links["length_m"] > 0)
    route = route_lengths_m(racks, nodes, links["a"].astype(np.int64), links["b"].astype(np.int64)) + SLACK_M
    route = np.where(np.isnan(route), UNPLACED_LENGTH_M, route)
    links["length_m"] = np.where(measured, links["length_m"], order_lengths_m(route))
    forced = np.full(len(links), -1, np.int64)
    for kind, tier in (
        (LinkKind.SERVER_LEAF, wish.server_leaf),
        (LinkKind.DIRECT, wish.server_leaf),
        (LinkKind.LEAF_SPINE, wish.leaf_spine),
        (LinkKind.SPINE_CORE, wish.spine_core),
    ):
        mine = links["kind"] == kind
        if tier.length_m is not None:
            links["length_m"][mine] = tier.length_m
        if tier.medium != "auto":
            forced[mine] = MEDIA.index(tier.medium)
    lanes = ports["lane_rate_bps"][links["b_port"]]
    medium = np.where(forced >= 0, forced, _auto_medium(links["length_m"], lanes))
    links["medium"] = np.where(forced >= 0, forced, _same_in_cage(medium, links, cage_of))
    return _beyond_reach(links, lanes)


def order_lengths_m(route_m: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) m the next length that cables are sold in."""
    table = np.array(ORDER_LENGTHS_M)
    at = np.minimum(np.searchsorted(table, route_m), len(table) - 1)
    length: NDArray[np.float64] = np.where(
        route_m <= table[-1], table[at], np.ceil(route_m / ORDER_STEP_M) * ORDER_STEP_M
    )
    return length


def _auto_medium(length_m: NDArray[np.float64], lane_rate_bps: NDArray[np.int64]) -> NDArray[np.int64]:
    """(n,) index into MEDIA: copper while it reaches, else the shortest-reaching optics that do."""
    medium = np.full(len(length_m), MEDIA.index(AUTO_OPTICS[-1]), np.int64)
    for name in reversed(AUTO_OPTICS):
        medium[length_m <= OPTICAL_REACH_M[name]] = MEDIA.index(name)
    for lane in np.unique(lane_rate_bps):
        medium[(lane_rate_bps == lane) & (length_m <= reach_m("dac", int(lane)))] = MEDIA.index("dac")
    return medium


def _same_in_cage(medium: NDArray[np.int64], links: NDArray[np.void], cage_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """(n,) index into MEDIA where links that share a cage at either end share the farther-reaching medium."""
    ends = cage_of[links["a_port"]], cage_of[links["b_port"]]
    n_cages = int(cage_of.max(initial=-1)) + 1
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
                }
                tier = kind.name.lower()
                path = "room_links" if kind == LinkKind.ROOM else f"cabling.{tier}"
                found.append(Finding("EW-FAB-024", "error", tier, limit, longest, "m", args, path=path))
    return tuple(found)


def cages(ports: NDArray[np.void]) -> NDArray[np.int64]:
    """(n_ports,) int64 a number for each cage of each node, from 0."""
    key = ports["node"].astype(np.int64) << 32 | ports["cage"].astype(np.int64)
    _, inverse = np.unique(key, return_inverse=True)
    number: NDArray[np.int64] = inverse.reshape(-1)
    return number


def port_names(fabric: Fabric) -> list[str]:
    """(n_ports,) names: `nic3`, or `nic3p2` of a NIC with several links, on a server (NICs from 0, ports from 1),
    `port17` or `port17/2` (cage and part, from 1) on a switch or box.
    """
    shared = np.bincount(cages(fabric.ports))[cages(fabric.ports)] > 1
    first = np.r_[
        True,
        (fabric.ports["node"][1:] != fabric.ports["node"][:-1])
        | (fabric.ports["cage"][1:] != fabric.ports["cage"][:-1]),
    ]
    starts = np.flatnonzero(first)
    part = np.arange(len(fabric.ports)) - np.repeat(starts, np.diff(np.r_[starts, len(fabric.ports)]))
    kind = fabric.nodes["kind"][fabric.ports["node"]]
    is_switch = ~np.isin(kind, [NodeKind.SERVER, NodeKind.CONTROLLER])
    per_nic = np.where(kind == NodeKind.SERVER, fabric.links_per_nic, 1)
    columns = (fabric.ports["cage"], part, shared, is_switch, per_nic)
    return [
        _switch_port(cage, p, twin) if switch else _nic_port(cage, links)
        for cage, p, twin, switch, links in zip(*(column.tolist() for column in columns), strict=True)
    ]


def _switch_port(cage: int, part: int, is_shared: bool) -> str:
    return f"port{cage + 1}/{part + 1}" if is_shared else f"port{cage + 1}"


def _nic_port(number: int, links_per_nic: int) -> str:
    return f"nic{number}" if links_per_nic == 1 else f"nic{number // links_per_nic}p{number % links_per_nic + 1}"


@lru_cache(maxsize=1)
def cable_rows(fabric: Fabric) -> tuple[Cable, ...]:
    """Every cable in the order of the links; kept for the last fabric, since several lists are made of it."""
    return tuple(_cables(fabric))


def _cables(fabric: Fabric) -> Iterator[Cable]:
    names, ports = fabric.names, port_names(fabric)
    twin_b = _twin_ends(fabric)
    width = max(4, len(str(len(fabric.links))))
    columns = ("kind", "a", "a_port", "b", "b_port", "rate_bps", "length_m", "rail", "plane", "medium")
    table = zip(*(fabric.links[name].tolist() for name in columns), twin_b.tolist(), strict=True)
    kinds = {int(kind): kind.name.lower() for kind in LinkKind}
    part_names: dict[tuple[int, int, bool], str] = {}
    for number, (kind, a, a_port, b, b_port, rate, length, rail, plane, medium, twin) in enumerate(table, start=1):
        cable_id = f"C{number:0{width}d}"
        label = f"{cable_id} {names[a]}:{ports[a_port]} - {names[b]}:{ports[b_port]}"
        part = part_names.get((medium, rate, twin)) or part_name(fabric.media[medium], rate, twin)
        part_names[medium, rate, twin] = part
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


def _twin_ends(fabric: Fabric) -> NDArray[np.bool_]:
    """(n_links,) whether the upper end sits in a cage of two logical ports or more."""
    cage = cages(fabric.ports)
    twin: NDArray[np.bool_] = (np.bincount(cage)[cage] > 1)[fabric.links["b_port"]]
    return twin


def part_name(medium: str, rate_bps: int, twin: bool) -> str:
    """What is ordered for one link: "DAC 400G", or the module of the upper end and its fibre."""
    rate = format_port_rate(rate_bps)
    if medium in WHOLE_CABLES:
        return f"{medium.upper()} {rate}" + (" (one leg of a splitter)" if twin else "")
    fibre = "MPO" if medium in PARALLEL_FIBRE else "LC duplex"
    module = f"2x{rate} {medium.upper()} twin-port" if twin else f"{rate} {medium.upper()}"
    return f"{module} + {fibre}"


def parts(fabric: Fabric) -> tuple[Part, ...]:
    """Parts to buy: one module a used cage (twin-port modules carry two links), one fibre or cable a link; spares
    are not in it.
    """
    cage = cages(fabric.ports)
    size = np.bincount(cage)
    count: Counter[tuple[str, str]] = Counter()
    media, rates, lengths = fabric.links["medium"], fabric.links["rate_bps"], fabric.links["length_m"]
    for (medium, rate, length), n in _tally(media, rates, lengths):
        name, text = fabric.media[int(medium)], format_length(float(length))
        if name in WHOLE_CABLES:
            count[f"{name.upper()} {format_port_rate(int(rate))} {text}", "link"] += n
        else:
            count[f"{'MPO-12' if name in PARALLEL_FIBRE else 'LC duplex'} fibre {text}", "cable"] += n
    used = fabric.ports["link"] >= 0
    link = fabric.ports["link"][used]
    optical = ~np.isin(media[link], [MEDIA.index(name) for name in WHOLE_CABLES])
    port = np.flatnonzero(used)[optical]
    _, first = np.unique(cage[port], return_index=True)
    port = port[first]
    link = fabric.ports["link"][port]
    for (medium, rate, ends), n in _tally(media[link], fabric.ports["rate_bps"][port], size[cage[port]]):
        rate_text, name = format_port_rate(int(rate)), fabric.media[int(medium)].upper()
        module = (
            f"{name} {rate_text} single-port"
            if ends == 1
            else f"{int(ends)}x{rate_text} {name} module ({int(ends)} ports a cage)"
        )
        count[module, "module"] += n
    return tuple(Part(part, n, unit) for (part, unit), n in sorted(count.items()))


def _tally(*columns: NDArray[np.generic]) -> Iterator[tuple[tuple[float, ...], int]]:
    """Each combination of values and how often it occurs, in order."""
    if len(columns[0]) == 0:
        return
    code = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values, number = np.unique(column, return_inverse=True)
        code = code * len(values) + number.reshape(-1)
    _, first, counts = np.unique(code, return_index=True, return_counts=True)
    found = np.stack([column[first].astype(np.float64) for column in columns], axis=1)
    yield from ((tuple(value), int(n)) for value, n in zip(found.tolist(), counts, strict=True))
