"""What to order for the links: cables with fixed ends, modules, fibre cords; by the name that the bill and the cable
list give them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric.assemblies import (
    COUPLED,
    MPO_LANES,
    SPLIT,
    STRAIGHT,
    Cages,
    Cords,
    FixedCables,
    Ints,
    cages_of,
    cords_of,
    fixed_cables,
)
from eastwest.fabric.media import COHERENT, MEDIA, PARALLEL_FIBRE, WHOLE_CABLES, fibre_of, order_lengths_m
from eastwest.fabric.tables import Fabric
from eastwest.units import GIGA, format_length, format_port_rate

COUPLER = "MPO-12 coupler"
ONE_LANE_BPS = (10 * GIGA, 25 * GIGA, 50 * GIGA)  # rates of SFP modules: SR of one lane
CABLE, MODULE, PIECE = "cable", "module", "piece"  # units of the bill


@dataclass(frozen=True, slots=True)
class Part:
    """One line of the parts to buy; `is_fixed` when the cable has its ends fixed (copper, active optical)."""

    part: str
    count: int
    unit: str
    is_fixed: bool = False


@dataclass(frozen=True, eq=False)
class _Pieces:
    """The pieces that could carry each link, and which links are optical."""

    cages: Cages
    fixed: FixedCables
    cords: Cords
    is_optical: NDArray[np.bool_]


@lru_cache(maxsize=1)
def _pieces(fabric: Fabric) -> _Pieces:
    cages = cages_of(fabric.ports)
    is_fixed = np.isin(fabric.links["medium"], [MEDIA.index(name) for name in WHOLE_CABLES])
    cords = cords_of(fabric.links, fabric.ports, cages)
    return _Pieces(cages, fixed_cables(fabric.links, cages), cords, ~is_fixed)


def parts(fabric: Fabric) -> tuple[Part, ...]:
    """Parts to buy, spares left out: one module a used cage, one cable with fixed ends a pair or fan of cages, one cord
    a pair of connectors or a splitter.
    """
    pieces = _pieces(fabric)
    count: Counter[tuple[str, str, bool]] = Counter()
    for part, n in _fixed(fabric, pieces):
        count[part, CABLE, True] += n
    for part, n in _modules(fabric, pieces):
        count[part, MODULE, False] += n
    for part, n in _cords(fabric, pieces):
        count[part, PIECE if part == COUPLER else CABLE, False] += n
    return tuple(Part(part, n, unit, is_fixed) for (part, unit, is_fixed), n in sorted(count.items()))


def fixed_name(medium: str, rate_bps: int, legs: int, length: str = "") -> str:
    """`DAC 800G 1.5 m (1:2 splitter)`: a cable with fixed ends by the rate of its thick end."""
    words = (medium.upper(), format_port_rate(rate_bps), length, f"(1:{legs} splitter)" if legs > 1 else "")
    return " ".join(word for word in words if word)


def module_name(medium: str, rate_bps: int, connectors: int, lanes: int) -> str:
    """`2x400G SR module (2 ports a cage)` or `SR 400G single-port`: the module of a cage; SR of eight slow lanes or two
    fast ones is another module than SR4, and does not link up with it.
    """
    if connectors > 1 and medium not in COHERENT:
        rate = format_port_rate(rate_bps // connectors)
        return f"{connectors}x{rate} {medium.upper()} module ({connectors} ports a cage)"
    usual = 1 if rate_bps in ONE_LANE_BPS else MPO_LANES
    words = f" ({lanes} {'lane' if lanes == 1 else 'lanes'})" if medium == "sr" and lanes != usual else ""
    return f"{medium.upper()} {format_port_rate(rate_bps)} single-port{words}"


def cord_name(medium: str, legs: int, lanes: int, length: str = "") -> str:
    """`MPO-12 OM4 fibre 30 m`, `MPO-12 OM4 1:2 splitter fibre 30 m`: MPO-16 for SR of eight lanes on one connector, LC
    duplex for one lane or for wavelengths on one pair of fibres.
    """
    is_parallel = legs > 1 or (medium in PARALLEL_FIBRE and lanes > 1)
    plug = "LC duplex" if not is_parallel else "MPO-16" if medium == "sr" and lanes > MPO_LANES else "MPO-12"
    return f"{plug} {fibre_of(medium)}{f' 1:{legs} splitter' if legs > 1 else ''} fibre {length}".rstrip()


def _fixed(fabric: Fabric, pieces: _Pieces) -> Iterator[tuple[str, int]]:
    """Cables with fixed ends; a link for which there is none of that shape counts as one of its own rate."""
    fixed = pieces.fixed
    mine = np.flatnonzero(~pieces.is_optical)
    shared, lone = mine[fixed.number[mine] >= 0], mine[fixed.number[mine] < 0]
    _, first = np.unique(fixed.number[shared], return_index=True)
    kept = np.sort(np.r_[shared[first], lone])
    rate = np.where(fixed.number[kept] >= 0, fixed.rate_bps[kept], fabric.links["rate_bps"][kept])
    columns = (fabric.links["medium"][kept], rate, fixed.legs[kept], fabric.links["length_m"][kept])
    for (medium, bps, legs, length_m), n in tally(*columns):
        yield fixed_name(MEDIA[int(medium)], int(bps), int(legs), format_length(length_m)), n


def _modules(fabric: Fabric, pieces: _Pieces) -> Iterator[tuple[str, int]]:
    """One module a cage with an optical link."""
    cages, links = pieces.cages, fabric.links[pieces.is_optical]
    medium = np.full(len(cages.ports), -1, np.int64)
    for side in ("a_port", "b_port"):
        np.maximum.at(medium, cages.of_port[links[side]], links["medium"].astype(np.int64))
    lit = np.flatnonzero(medium >= 0)
    columns = (medium, cages.rate_bps, cages.connectors, cages.lanes)
    for (name, rate, connectors, lanes), n in tally(*(column[lit] for column in columns)):
        yield module_name(MEDIA[int(name)], int(rate), int(connectors), int(lanes)), n


def _cords(fabric: Fabric, pieces: _Pieces) -> Iterator[tuple[str, int]]:
    """Straight cords (two a link of eight lanes), splitters, and where connectors are split at both ends a splitter at
    each and a coupler a link.
    """
    cords, links = pieces.cords, fabric.links
    mine = np.flatnonzero(pieces.is_optical)
    shape = cords.shape[mine]
    shared = mine[(cords.number[mine] >= 0) & (shape != COUPLED)]
    _, first = np.unique(cords.number[shared], return_index=True)
    kept = np.sort(np.r_[shared[first], mine[(shape == STRAIGHT) & (cords.number[mine] < 0)]])
    count = np.where(np.isin(links["medium"][kept], [MEDIA.index(name) for name in COHERENT]), 1, cords.count[kept])
    count = np.where(cords.shape[kept] == SPLIT, 1, count)
    columns = (links["medium"][kept], cords.legs[kept], cords.lanes[kept], links["length_m"][kept], count)
    for (medium, legs, lanes, length_m, each), n in tally(*columns):
        yield cord_name(MEDIA[int(medium)], int(legs), int(lanes), format_length(length_m)), int(each) * n
    coupled = mine[shape == COUPLED]
    if len(coupled):
        yield COUPLER, len(coupled)
        yield from _coupled(links[coupled], cords, coupled)


def _coupled(links: NDArray[np.void], cords: Cords, at: Ints) -> Iterator[tuple[str, int]]:
    """A splitter of half the length at each connector of links that share one at both ends."""
    connector = np.r_[cords.a[at], cords.b[at]]
    _, first = np.unique(connector, return_index=True)
    row = first % len(at)
    half = order_lengths_m(links["length_m"] / 2)[row]
    for (medium, legs, lanes, length_m), n in tally(
        links["medium"][row], cords.legs[at][row], cords.lanes[at][row], half
    ):
        yield cord_name(MEDIA[int(medium)], int(legs), int(lanes), format_length(length_m)), n


def link_parts(fabric: Fabric) -> list[str]:
    """(n_links,) what carries each link, end to end, in the names of the bill without lengths: `DAC 800G (1:2
    splitter)`, or module + cord + module.
    """
    pieces = _pieces(fabric)
    cages, fixed, cords, links = pieces.cages, pieces.fixed, pieces.cords, fabric.links
    a, b = cages.of_port[links["a_port"]], cages.of_port[links["b_port"]]
    by_cage = (cages.rate_bps, cages.connectors, cages.lanes)
    whole = np.where(fixed.number >= 0, fixed.rate_bps, links["rate_bps"])
    columns: tuple[NDArray[Any], ...] = (links["medium"], pieces.is_optical, links["rate_bps"], whole, fixed.legs)
    columns += (cords.shape, cords.legs, cords.lanes, *(column[a] for column in by_cage), *(c[b] for c in by_cage))
    names: dict[tuple[int, ...], str] = {}
    found = []
    for key in zip(*(column.tolist() for column in columns), strict=True):
        name = names.get(key)
        if name is None:
            name = names[key] = _link_part(key)
        found.append(name)
    return found


def _link_part(key: tuple[int, ...]) -> str:
    number, is_optical, rate, whole, legs, shape, cord_legs, lanes, *ends = key
    medium = MEDIA[number]
    if not is_optical:
        shares = legs == 1 and whole > rate
        carried = f" ({whole // rate} x {format_port_rate(rate)})" if shares else ""
        return fixed_name(medium, whole, legs) + carried
    cord = cord_name(medium, cord_legs, lanes)
    if shape == COUPLED:
        cord = f"{cord} + {COUPLER} + {cord}"
    return f"{module_name(medium, *ends[:3])} + {cord} + {module_name(medium, *ends[3:])}"


def tally(*columns: NDArray[np.generic]) -> Iterator[tuple[tuple[float, ...], int]]:
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
