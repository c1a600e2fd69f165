"""The fabric that is wished for: family, switches that may be bought, oversubscription, cables."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field

from eastwest.spec.quantities import FreePorts, Length, Name, PlaneCount, PortCount, Rate, Ratio, Size, Whole, Wish

_PORTS_BY_RATE = re.compile(r"^\s*(\d{1,6})\s*[xX×*]\s*([^\s-]+)\s*$")
Family = Literal[
    "direct",
    "dual_plane",
    "dual_tor",
    "leaf_spine",
    "multi_plane",
    "nvl72",
    "rail_only",
    "rail_optimized",
    "single_switch",
    "three_tier",
]
FAMILIES: tuple[str, ...] = get_args(Family)
PlaneBy = Literal["port", "nic"]
Medium = Literal["auto", "dac", "acc", "aoc", "sr", "dr", "fr", "lr", "zr"]


def is_ports_by_rate(text: str) -> bool:
    """Whether a switch is written as its ports, `64x400G`, and not as a catalogue model."""
    return _PORTS_BY_RATE.match(text) is not None


def _read_switch(value: Any) -> Any:
    """`qm9700` is a catalogue model, `64x400G` a switch given by its ports."""
    if isinstance(value, str):
        match = _PORTS_BY_RATE.match(value)
        return {"ports": int(match[1]), "rate": match[2]} if match else {"model": value}
    return value


def _read_ratios(value: Any) -> Any:
    return value if isinstance(value, dict) else {"leaf": value}


def _read_spares(value: Any) -> Any:
    return {"leaf": value} if isinstance(value, int) and not isinstance(value, bool) else value


def _read_cable(value: Any) -> Any:
    return {"length": value} if isinstance(value, str | int | float) and not isinstance(value, bool) else value


class SwitchWish(Wish):
    """One switch model that may be bought: from the catalogue, or given as ports x rate (x buffer)."""

    model: str | None = Field(None, description="catalogue model such as qm9700")
    ports: PortCount | None = Field(None, description="ports, when no catalogue model is given")
    rate_bps: Rate | None = Field(None, alias="rate", description="rate of a port")
    buffer_bytes: Size | None = Field(None, alias="buffer", description="packet memory of the chip")
    pfc: bool | None = Field(None, description="whether it can send and obey priority flow control")
    ecn: bool | None = Field(None, description="whether it can mark ECN")
    os: str | None = Field(None, description="network operating system: sonic, eos, cumulus, …")


Switch = Annotated[SwitchWish, BeforeValidator(_read_switch, json_schema_input_type=str | SwitchWish)]


class OversubscriptionWish(Wish):
    """Accepted down:up bandwidth at each tier; 1:1 is non-blocking."""

    leaf: Ratio = Field(1.0, description="servers : uplinks of a leaf")
    spine: Ratio = Field(1.0, description="leaves : uplinks of a spine")


class SparePortsWish(Wish):
    """Ports kept free on each switch, by tier."""

    leaf: FreePorts = Field(0, description="down ports kept free on each leaf, in links of the NIC's rate")
    spine: FreePorts = Field(0, description="ports kept free on each spine")
    core: FreePorts = Field(0, description="ports kept free on each core")


class ControllerWish(Wish):
    """A host on the fabric that is no GPU server, such as a UFM appliance or a subnet manager."""

    name: Name = Field(description="name in reports", examples=["ufm1"])
    links: PortCount = Field(1, description="cables to leaves")


class CableWish(Wish):
    """Cables of one tier; the length follows from the racks and the medium from the length when not given."""

    length_m: Length | None = Field(None, alias="length", description="length of every cable of the tier")
    medium: Medium = Field("auto", description="kind of cable or optic; follows from the length when auto")


Cable = Annotated[CableWish, BeforeValidator(_read_cable, json_schema_input_type=str | CableWish)]


class CablingWish(Wish):
    """Cables by tier, and spares."""

    server_leaf: Cable = Field(CableWish(), description="server to leaf; 30m, or length and medium")
    leaf_spine: Cable = Field(CableWish(), description="leaf to spine; 30m, or length and medium")
    spine_core: Cable = Field(CableWish(), description="spine to core; 30m, or length and medium")
    spare_ratio: Annotated[float, Field(ge=0, le=1)] = Field(
        0.0, description="spare cables and optics as a share of those used"
    )


class FabricWish(Wish):
    """Which fabric, of which switches."""

    family: Family = Field("leaf_spine", description="topology family")
    switch: Switch | None = Field(None, description="one switch for every tier")
    leaf: Switch | None = Field(None, description="switch of the leaves, when it is another")
    spine: Switch | None = Field(None, description="switch of the spines, when it is another")
    core: Switch | None = Field(None, description="switch of the cores, when it is another")
    oversubscription: Annotated[
        OversubscriptionWish,
        BeforeValidator(_read_ratios, json_schema_input_type=str | float | OversubscriptionWish),
    ] = Field(OversubscriptionWish(), description="accepted down:up ratio, of the leaves or per tier", examples=["1:1"])
    servers_per_leaf: Whole | None = Field(
        None, description="servers (or servers per rail group) under one leaf, fewer than ports allow"
    )
    controllers: tuple[ControllerWish, ...] = Field((), description="hosts on the fabric that are no GPU servers")
    spare_ports: Annotated[
        SparePortsWish, BeforeValidator(_read_spares, json_schema_input_type=int | SparePortsWish)
    ] = Field(SparePortsWish(), description="ports kept free; a single number is the leaf's")
    tiers: Literal[1, 2, 3] | None = Field(
        None, description="tiers of switches, where the family leaves them open; the fewest that hold when not given"
    )
    rail_optimized: bool | None = Field(
        None, description="one leaf per NIC index, where the family leaves it open; follows the family when not given"
    )
    servers_per_pod: Whole | None = Field(
        None, description="servers of a full pod, with three tiers; what needs the fewest switches when not given"
    )
    spines: PortCount | None = Field(
        None, description="fewest spines of a room or pod and plane, such as 4 against failures"
    )
    link_rate_bps: Rate | None = Field(
        None, alias="link_rate", description="rate of a leaf-spine link; the fastest that fits when not given"
    )
    planes: PlaneCount | None = Field(None, description="disjoint switching fabrics; 1, or what the family needs")
    plane_by: PlaneBy = Field(
        "port", description="what a plane holds: one port of every NIC, or every NIC of one index in its server"
    )
    cross_rail_ratio: Ratio | None = Field(
        None, alias="cross_rail", description="rail_only: a thin spine joins the rails at this down:up ratio"
    )
