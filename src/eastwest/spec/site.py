"""`Site`: what the user asked for, in one frozen value; units are read, nothing is decided yet."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from eastwest.spec.hosts import RoomLinkWish, RoomWish, ServerWish
from eastwest.spec.jobs import Job
from eastwest.spec.qos import LossRegime, QosWish, Transport
from eastwest.spec.quantities import Duration, Name, Natural, Rate, Whole, Wish
from eastwest.spec.switches import CablingWish, FabricWish, Switch
from eastwest.units import DAY_S

MAX_GROWTH_STEPS = 40  # ten years of quarters; each step is designed, cabled and compared twice


class GrowthStepWish(Wish):
    """One later phase: the total number of servers then."""

    name: Name = Field(description="name of the phase", examples=["phase2"])
    servers: Whole = Field(description="servers in all after this step, not added by it", examples=["16"])


class GrowthWish(Wish):
    """How the cluster is to grow; ports are reserved for it."""

    steps: tuple[GrowthStepWish, ...] = Field(
        (), max_length=MAX_GROWTH_STEPS, description="later phases, each larger than the one before"
    )


class StorageWish(Wish):
    """The storage network: its own fabric, or on the east-west fabric."""

    network: Literal["separate", "shared"] = Field("separate", description="its own fabric, or the east-west fabric")
    bandwidth_bps: Rate | None = Field(None, alias="bandwidth", description="what the storage system takes in all")
    nics_per_server: Whole = Field(1, description="storage NICs in one server")
    nic_rate_bps: Rate | None = Field(None, alias="nic_rate", description="rate of one storage NIC")
    checkpoint_within_s: Duration | None = Field(
        None, alias="checkpoint_within", description="time in which a checkpoint must be written"
    )
    switch: Switch | None = Field(
        None, description="switch of the storage network; the leaves' model when not given", examples=["64x400G"]
    )


class OutOfBandWish(Wish):
    """The management network."""

    ports_per_server: Whole = Field(2, description="BMC and host management")
    rate_bps: Rate = Field(1_000_000_000, alias="rate", description="rate of a management port")


class MonitoringWish(Wish):
    """What watches the network: collectors, mirror ports, optical power meters."""

    interval_s: Duration = Field(10.0, alias="interval", description="time between two readings of every counter")
    counters_per_port: Whole | None = Field(
        None, description="counters read at each port; the canonical ones when not given", examples=["64"]
    )
    retention_s: Duration = Field(15.0 * DAY_S, alias="retention", description="how long readings are kept")
    mirror_ports_per_leaf: Natural = Field(1, description="leaf ports for mirrored traffic")
    optical_power_meters: Natural = Field(1, description="optical power meters, for every room")


class OperationsWish(Wish):
    """Who runs the network and what is there already: the inputs of RoCE against InfiniBand."""

    dedicated_network_team: bool | None = Field(None, description="whether a team does nothing but the network")
    existing_assets: Literal["none", "ethernet", "infiniband"] | None = Field(
        None, description="the data-centre network that is there already and stays"
    )


class Site(Wish):
    """One cluster: what there is, what may be bought, what runs on it."""

    name: Name = Field(description="name of the cluster", examples=["my-cluster"])
    description: str = Field("", description="free text, repeated in the report")
    transport: Transport = Field("roce", description="roce, infiniband or tcp")
    loss_regime: LossRegime | None = Field(None, description="how loss is avoided or met; follows the transport")
    rooms: tuple[RoomWish, ...] = Field((), description="rooms; one is made when not given")
    room_links: tuple[RoomLinkWish, ...] = Field((), description="cables between rooms, with the boxes in their path")
    servers: tuple[ServerWish, ...] = Field(
        min_length=1, description="groups of equal servers", examples=["[{model: dgx-h100, count: 8}]"]
    )
    fabric: FabricWish = Field(description="which fabric, of which switches", examples=["{switch: 64x400G}"])
    cabling: CablingWish = Field(CablingWish(), description="cables by tier")
    qos: QosWish = Field(
        QosWish(), description="marks, priorities, MTU, thresholds; the documented rules when not given"
    )
    jobs: tuple[Job, ...] = Field((), description="training and inference jobs; no traffic account without them")
    growth: GrowthWish = Field(GrowthWish(), description="later phases that ports are kept for")
    storage: StorageWish | None = Field(None, description="storage network")
    out_of_band: OutOfBandWish | None = Field(None, description="management network")
    monitoring: MonitoringWish | None = Field(None, description="collectors, mirror ports, optical power meters")
    operations: OperationsWish = Field(OperationsWish(), description="team and existing network, for advice only")
