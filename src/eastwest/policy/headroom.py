"""PFC headroom: the bytes that still arrive after a switch has said stop, term by term, by two documented models.

`textbook` adds the terms of IEEE 802.1Qbb without any packing: nothing below it can be lossless. `sonic` is the
model of NVIDIA chips in SONiC, which also counts how badly small packets fill the chip's cells. Both show every
term.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eastwest.errors import UsageError
from eastwest.units import BITS_PER_BYTE, GIGA, KIBI

SIGNAL_SPEED_M_PER_S = 1.98e8  # SONiC buffer_headroom_mellanox.lua; 0.66 c in fibre and copper
QUANTUM_BYTES = 64  # 512 bit times, IEEE 802.3 Annex 31B
PAUSE_FRAME_BYTES = 64  # IEEE 802.1Qbb
MIN_PACKET_BYTES = 64
MAC_PHY_BYTES = 0.8 * KIBI  # SONiC asic_table.j2, mac_phy_delay 0.8 KB
DEFAULT_LOSSLESS_MTU_BYTES = 1024  # SONiC LOSSLESS_TRAFFIC_PATTERN
TILE_CELL_BYTES = 192  # Spectrum-4 and -5
TILE_BYTES_PER_GBPS = 15.0  # their tile delay: 120 bits per Mb/s / 8 / 1000
BIG_CELL_BYTES = 256  # Spectrum-6
QUANTA_BY_RATE: Mapping[
    int, int
] = {  # pause response, IEEE 802.3 31B.3.7 as listed in SONiC buffer_headroom_mellanox.lua
    10 * GIGA: 67,
    25 * GIGA: 80,
    40 * GIGA: 118,
    50 * GIGA: 147,
    100 * GIGA: 394,
    200 * GIGA: 453,
    400 * GIGA: 905,
    800 * GIGA: 905,
}
CELL_SOURCE = "SONiC platform/mellanox/asic_table.j2: Spectrum-1 96, -2 and -3 144, -4 and -5 192, -6 256 B"


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a sum: bytes, the formula with names, and where it comes from."""

    name: str
    size_bytes: float
    formula: str
    source: str


@dataclass(frozen=True, slots=True)
class Model:
    """A version of the SONiC model.

    `pipeline_bytes` is the latency that becomes xon, `eight_lane_less_bytes` what is taken off when it doubles,
    `rounds_cells` whether the cell factor is rounded up, `has_tile` whether the tile term exists, `cable_divisor`
    1.024 where the code mixes KB and KiB (2.3 % low).
    """

    name: str
    pipeline_bytes: int
    eight_lane_less_bytes: int
    rounds_cells: bool
    has_tile: bool
    cable_divisor: float
    source: str


CURRENT = Model(
    "sonic-current", 19 * KIBI, 0, True, True, 1.0, "sonic-swss buffer_headroom_mellanox.lua, code of 2025-2026"
)
DESIGN = Model(
    "sonic-design", 18 * KIBI, KIBI, False, False, 1.024, "SONiC dynamic headroom design; sonic-swss lua of 2021-2024"
)
DESIGN_19K = Model(
    "sonic-design-19k", 19 * KIBI, KIBI, False, False, 1.024, DESIGN.source + ", pipeline 19 KiB (Spectrum-4)"
)
MODELS = {model.name: model for model in (CURRENT, DESIGN, DESIGN_19K)}


@dataclass(frozen=True, slots=True)
class Headroom:
    """Headroom of one lossless priority on one port: `xoff_bytes` holds what arrives late, `size_bytes` is set aside
    in all.
    """

    model: str
    xoff_bytes: int
    xon_bytes: int
    size_bytes: int
    terms: tuple[Term, ...]
    inputs: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""

    def as_json(self) -> dict[str, Any]:
        """The working as the verb `headroom` prints it."""
        terms = [
            {"name": t.name, "size_bytes": t.size_bytes, "formula": t.formula, "source": t.source} for t in self.terms
        ]
        return {
            "model": self.model,
            "xoff_bytes": self.xoff_bytes,
            "xon_bytes": self.xon_bytes,
            "size_bytes": self.size_bytes,
            "terms": terms,
            "inputs": dict(self.inputs),
            "source": self.source,
        }


def cable_bytes(rate_bps: int, length_m: float) -> float:
    """Bytes that fill the cable both ways: 2 x length x rate / (8 v).

    >>> round(cable_bytes(400 * GIGA, 1.0))
    505
    """
    return 2 * length_m * rate_bps / (BITS_PER_BYTE * SIGNAL_SPEED_M_PER_S)


def response_bytes(rate_bps: int) -> int:
    """Bytes that the peer may still send before it obeys: pause quanta x 64 B; an unlisted rate takes the next listed
    one above.

    The standard ends at 800G; above it the quanta of 800G are doubled per doubling of the rate, which is our
    extrapolation.

    >>> response_bytes(400 * GIGA), response_bytes(100 * GIGA)
    (57920, 25216)
    """
    at_least = [rate for rate in QUANTA_BY_RATE if rate >= rate_bps]
    if at_least:
        return QUANTA_BY_RATE[min(at_least)] * QUANTUM_BYTES
    top = max(QUANTA_BY_RATE)
    return math.ceil(QUANTA_BY_RATE[top] * rate_bps / top) * QUANTUM_BYTES


def textbook(rate_bps: int, length_m: float, mtu_bytes: int) -> Headroom:
    """The least headroom that physics allows, before cells: cable both ways, one frame begun at each end, the peer's
    response.

    `rate_bps` of the link, `length_m` of the cable, `mtu_bytes` the largest frame of any class. Raises UsageError
    for values at or below zero. It stops being true where a gearbox, a retimer or a long PHY adds delay: those add
    2 x delay x rate. Source: IEEE 802.1Qbb annex O (terms); SONiC pause quanta (response).

    >>> textbook(400 * GIGA, 100, 9216).xoff_bytes
    126858
    """
    _check(rate_bps, length_m, mtu_bytes)
    terms = (
        Term("cable", cable_bytes(rate_bps, length_m), "2 L C / (8 v)", "physics, v = 1.98e8 m/s"),
        Term("own frame", mtu_bytes, "MTU", "802.1Qbb: a frame in transmission delays the pause"),
        Term("peer frame", mtu_bytes, "MTU", "802.1Qbb: a frame begun by the peer is finished"),
        Term("response", response_bytes(rate_bps), "quanta x 64 B", "IEEE 802.3 31B.3.7"),
    )
    total = math.ceil(sum(term.size_bytes for term in terms))
    inputs = {"rate_bps": rate_bps, "length_m": length_m, "mtu_bytes": mtu_bytes}
    return Headroom("textbook", total, 0, total, terms, inputs, "IEEE 802.1Qbb")


def cell_factor(cell_bytes: int, rounds: bool) -> float:
    """How much memory a 64 B packet takes at worst, over its size: cells hold at least one packet each.

    >>> cell_factor(144, False), cell_factor(192, True), round(cell_factor(96, False), 3)
    (2.25, 3.0, 1.979)
    """
    if cell_bytes > 2 * MIN_PACKET_BYTES:
        factor = cell_bytes / MIN_PACKET_BYTES
        return float(math.ceil(factor)) if rounds else factor
    return 2 * cell_bytes / (1 + cell_bytes)


def sonic(
    rate_bps: int,
    length_m: float,
    cell_bytes: int,
    port_mtu_bytes: int = 9216,
    *,
    model: Model = CURRENT,
    lossless_mtu_bytes: int = DEFAULT_LOSSLESS_MTU_BYTES,
    small_packets_ratio: float = 1.0,
    eight_lanes: bool = False,
    shared_pool: bool = False,
    gearbox_s: float = 0.0,
) -> Headroom:
    """Headroom of one priority by the SONiC model of NVIDIA chips: xoff = up(lossless MTU + propagation x occupancy),
    to the KiB.

    `small_packets_ratio` is the share (by count) of 64 B packets that is planned for, 1.0 the worst; `eight_lanes`
    doubles the pipeline and adds an MTU; with a `shared_pool` only xon is set aside per port. Raises UsageError for
    values out of range. It is a model of Spectrum chips; for others the cell packing is the part that carries over.
    Source: SONiC dynamic headroom design, sonic-swss cfgmgr/buffer_headroom_mellanox.lua; checked against the
    SN5600 look-up table.

    >>> sonic(400 * GIGA, 40, 192).xoff_bytes
    283648
    """
    _check(rate_bps, length_m, port_mtu_bytes)
    if not 0 <= small_packets_ratio <= 1 or cell_bytes <= 0:
        raise UsageError(f"small packets 0-1 and cell above 0 B, found {small_packets_ratio} and {cell_bytes}")
    parts = _propagation(rate_bps, length_m, cell_bytes, port_mtu_bytes, model, gearbox_s)
    propagation = sum(term.size_bytes for term in parts)
    occupancy = _occupancy(cell_bytes, small_packets_ratio, lossless_mtu_bytes, model)
    xoff = up_to_kib(lossless_mtu_bytes + propagation * occupancy)
    xon = up_to_kib(model.pipeline_bytes * 2 - model.eight_lane_less_bytes if eight_lanes else model.pipeline_bytes)
    size = up_to_kib(xon if shared_pool else xoff + xon + (port_mtu_bytes if eight_lanes else 0))
    terms = (
        Term("own lossless frame", lossless_mtu_bytes, "lossless MTU", "SONiC LOSSLESS_TRAFFIC_PATTERN"),
        *parts,
        Term("cell packing", propagation * (occupancy - 1), f"propagation x ({occupancy:.4g} - 1)", CELL_SOURCE),
    )
    inputs = {
        "rate_bps": rate_bps,
        "length_m": length_m,
        "cell_bytes": cell_bytes,
        "port_mtu_bytes": port_mtu_bytes,
        "lossless_mtu_bytes": lossless_mtu_bytes,
        "small_packets_ratio": small_packets_ratio,
        "eight_lanes": eight_lanes,
        "shared_pool": shared_pool,
    }
    return Headroom(model.name, xoff, xon, size, terms, inputs, model.source)


def _propagation(
    rate_bps: int, length_m: float, cell_bytes: int, port_mtu_bytes: int, model: Model, gearbox_s: float
) -> tuple[Term, ...]:
    terms = [
        Term("peer frame", port_mtu_bytes, "port MTU", model.source),
        Term("cable", cable_bytes(rate_bps, length_m) / model.cable_divisor, "2 L C / (8 v)", model.source),
        Term("mac and phy", MAC_PHY_BYTES, "0.8 KiB", "SONiC asic_table.j2"),
        Term("response", response_bytes(rate_bps), "quanta x 64 B", "IEEE 802.3 31B.3.7"),
    ]
    if gearbox_s:
        terms.append(Term("gearbox", 2 * gearbox_s * rate_bps / BITS_PER_BYTE, "2 x delay x C / 8", model.source))
    if model.has_tile and cell_bytes == TILE_CELL_BYTES:
        terms.append(Term("tile", TILE_BYTES_PER_GBPS * rate_bps / GIGA, "15 B x C in Gb/s", model.source))
    return tuple(terms)


def _occupancy(cell_bytes: int, small_ratio: float, lossless_mtu_bytes: int, model: Model) -> float:
    """Memory taken over bytes received, when that share of packets is 64 B."""
    share = small_ratio
    if model.rounds_cells:  # the current code weighs small packets by their bytes
        share = (
            small_ratio * MIN_PACKET_BYTES / (small_ratio * MIN_PACKET_BYTES + (1 - small_ratio) * lossless_mtu_bytes)
        )
    return 1 - share + share * cell_factor(cell_bytes, model.rounds_cells)


def up_to_kib(size_bytes: float) -> int:
    """Bytes rounded up to a whole KiB."""
    return math.ceil(round(size_bytes, 6) / KIBI) * KIBI


def _check(rate_bps: int, length_m: float, mtu_bytes: int) -> None:
    if rate_bps <= 0 or length_m <= 0 or mtu_bytes <= 0:
        raise UsageError(
            f"rate, cable length and MTU must be above zero, found {rate_bps} bit/s, {length_m} m, {mtu_bytes} B",
            hint="a cable of 0 m with PFC means that nobody told the switch its length",
        )
