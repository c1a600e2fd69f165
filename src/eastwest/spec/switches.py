"""The fabric that is wished for: family, switches that may be bought, oversubscription, cables."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from eastwest.spec.quantities import Length, Name, Natural, Rate, Ratio, Size, Whole, Wish

_PORTS_BY_RATE = re.compile(r"^\s*(\d+)\s*[x×*]\s*(\S+)\s*$")
Medium = Literal["auto", "dac", "acc", "aoc", "sr", "dr", "fr", "lr", "zr"]


def _read_switch(value: Any) -> Any:
    """`qm9700` is a catalogue model, `64x400G` a switch given by its ports."""
    if isinstance(value, str):
        match = _PORTS_BY_RATE.match(value)
        return {"ports": int(match[1]), "rate": match[2]} if match else {"model": value}
    return value


def _read_ratios(value: Any) -> Any:
    return value if isinstance(value, dict) else {"leaf": value}


def _read_cable(value: Any) -> Any:
    return {"length": value} if isinstance(value, str | int | float) and not isinstance(value, bool) else value


class SwitchWish(Wish):
    """One switch model that may be bought: from the catalogue, or given as ports x rate (x buffer)."""

    model: str | None = Field(None, description="catalogue model such as qm9700")
    ports: Whole | None = Field(None, description="ports, when no catalogue model is given")
    rate_bps: Rate | None = Field(None, alias="rate", description="rate of a port")
    buffer_bytes: Size | None = Field(None, alias="buffer", description="packet memory of the chip")
    pfc: bool | None = Field(None, description="whether it can send and obey priority flow control")
    ecn: bool | None = Field(None, description="whether it can mark ECN")
    os: str | None = Field(None, description="network operating system: sonic, eos, cumulus, …")


Switch = Annotated[SwitchWish, BeforeValidator(_read_switch, json_schema_input_type=str | SwitchWish)]


class OversubscriptionWish(Wish):
    """Accepted down:up bandwidth at each tier; 1:1 is non-blocking."""

    leaf: Ratio = 1.0
    spine: Ratio = 1.0


class ControllerWish(Wish):
    """A host on the fabric that is no GPU server, such as a UFM appliance or a subnet manager."""

    name: Name
    links: Whole = Field(1, description="cables to leaves")


class CableWish(Wish):
    """Cables of one tier; the length follows from the racks and the medium from the length when not given."""

    length_m: Length | None = Field(None, alias="length")
    medium: Medium = "auto"


Cable = Annotated[CableWish, BeforeValidator(_read_cable, json_schema_input_type=str | CableWish)]


class CablingWish(Wish):
    """Cables by tier, and spares."""

    server_leaf: Cable = CableWish()
    leaf_spine: Cable = CableWish()
    spine_core: Cable = CableWish()
    spare_ratio: Annotated[float, Field(ge=0, le=1)] = Field(0.0, description="spare cables and optics as a share of those used")


class FabricWish(Wish):
    """Which fabric, of which switches."""

    family: str = Field("leaf_spine", description="topology family; `eastwest schema site` lists them")
    switch: Switch | None = Field(None, description="one switch for every tier")
    leaf: Switch | None = None
    spine: Switch | None = None
    core: Switch | None = None
    oversubscription: Annotated[
        OversubscriptionWish,
        BeforeValidator(_read_ratios, json_schema_input_type=str | float | OversubscriptionWish),
    ] = OversubscriptionWish()
    servers_per_leaf: Whole | None = Field(None, description="servers (or servers per rail group) under one leaf, fewer than ports allow")
    controllers: tuple[ControllerWish, ...] = ()
    spare_ports: Natural = Field(0, description="leaf down ports kept free on each leaf")
    planes: Whole = 1
