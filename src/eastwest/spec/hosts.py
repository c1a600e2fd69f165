"""Where the servers are and what they hold: rooms, racks, links between rooms, groups of equal servers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from eastwest.spec.quantities import (
    Length,
    Name,
    Natural,
    Parallel,
    PerServer,
    PlaneCount,
    Power,
    Rate,
    Ratio,
    Whole,
    Wish,
)

STATEFUL_KINDS = ("firewall", "load_balancer")  # boxes that track connections unless the site file says otherwise


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


class RackWish(Wish):
    """Racks in a row: `count` equal racks from `position` on; lengths of cables follow from rows and positions."""

    name: Name = Field("rack", description="name; with count above 1 a number is appended")
    count: Parallel = Field(1, description="equal racks side by side")
    row: Whole = Field(1, description="row in the room, from 1")
    position: Whole = Field(1, description="place of the first rack in its row, from 1")
    units: Whole = Field(48, description="rack units")
    power_w: Power = Field(40_000.0, alias="power", description="power that the rack may draw")
    ports: Whole | None = Field(None, description="patch panel ports for east-west cables; unlimited when not given")
    servers: Whole | None = Field(None, description="most servers in one rack; by units and power when not given")


class RoomWish(Wish):
    """A room with racks; leaves belong to rooms."""

    name: Name = Field(description="name that servers and room links refer to", examples=["east"])
    racks: Annotated[
        tuple[RackWish, ...],
        BeforeValidator(_as_list, json_schema_input_type=tuple[RackWish, ...] | RackWish),
    ] = Field((), description="rows of racks; one row is made when not given")
    pods: Natural = Field(0, description="pods in this room; 0 leaves it to the family")


class BoxWish(Wish):
    """A device in the path of a room link that is not a fabric switch."""

    name: Name = Field(description="name in reports", examples=["fw1"])
    kind: Literal["firewall", "wan", "load_balancer", "encryptor", "switch"] = Field(description="what it is")
    rate_limit_bps: Rate | None = Field(
        None, alias="rate_limit", description="most that all flows together get through it"
    )
    sessions: Literal["stateful", "stateless"] | None = Field(
        None, description="whether it tracks connections; firewalls and load balancers do when not given"
    )

    @property
    def is_stateful(self) -> bool:
        """Whether it tracks connections: as said, else by its kind."""
        return self.kind in STATEFUL_KINDS if self.sessions is None else self.sessions == "stateful"


class RoomLinkWish(Wish):
    """Cables between two rooms, and the boxes in their path."""

    between: tuple[Name, Name] = Field(description="the two rooms", examples=["[east, west]"])
    distance_m: Length = Field(alias="distance", description="fibre length between the rooms", examples=["300m"])
    count: Parallel = Field(1, description="parallel links")
    rate_bps: Rate = Field(alias="rate", description="rate of each link")
    boxes: Annotated[
        tuple[BoxWish, ...],
        BeforeValidator(_as_list, json_schema_input_type=tuple[BoxWish, ...] | BoxWish),
    ] = Field((), description="devices in the path that are not fabric switches; none when not given")
    oversubscription_ratio: Ratio | None = Field(
        None, alias="oversubscription", description="accepted server:room-link ratio"
    )
    pfc: bool | None = Field(
        None, description="whether PFC crosses the link; it does when not given, and the plan says how far that may be"
    )


class NicWish(Wish):
    """The east-west NICs of one server."""

    model: str | None = Field(None, description="catalogue model")
    count: PerServer | None = Field(None, description="east-west NICs in one server")
    rate_bps: Rate | None = Field(None, alias="rate", description="rate of one NIC")
    ports: PlaneCount = Field(1, description="network ports that share the NIC's rate")


class PcieWish(Wish):
    """The slot that a NIC sits in."""

    generation: Annotated[int, Field(ge=3, le=7, strict=True)] = Field(description="PCIe generation", examples=["5"])
    lanes: Literal[1, 2, 4, 8, 16] = Field(16, description="lanes of the slot")
    max_payload_bytes: Literal[128, 256, 512] = Field(
        256, alias="max_payload", description="PCIe MaxPayloadSize in bytes"
    )
    functions: Literal[1, 2] = Field(
        1, description="PCIe functions of such a slot that share one network port (socket direct and alike)"
    )


class ServerWish(Wish):
    """A group of equal servers: a catalogue model, its parts overridden where given, or all parts given."""

    name: Name = Field("server", description="prefix of the names; a number is appended")
    model: str | None = Field(None, description="catalogue server such as dgx-h100")
    count: Whole = Field(description="servers (machines, 台), not GPUs (cards, 卡)", examples=["8"])
    room: Name | None = Field(None, description="room; the only room, or all rooms evenly, when not given")
    gpu: str | None = Field(None, description="catalogue GPU")
    gpus: PerServer | None = Field(None, description="GPUs in one server")
    nic: NicWish | None = Field(None, description="east-west NICs, where they differ from the model")
    pcie: PcieWish | None = Field(None, description="slot of the NICs, where it differs from the model")
    scale_up_domain: Whole | None = Field(None, description="GPUs that reach each other by NVLink or alike, 8 or 72")
    rack_units: Whole | None = Field(None, description="height of one server in rack units")
    power_w: Power | None = Field(None, alias="power", description="most that one server draws")
