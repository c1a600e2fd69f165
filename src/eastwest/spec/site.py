"""`Site`: what the user asked for, in one frozen value; units are read, nothing is decided yet."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from eastwest.spec.hosts import RoomLinkWish, RoomWish, ServerWish
from eastwest.spec.jobs import Job
from eastwest.spec.qos import LossRegime, QosWish, Transport
from eastwest.spec.quantities import Duration, Name, Rate, Whole, Wish
from eastwest.spec.switches import CablingWish, FabricWish


class GrowthStepWish(Wish):
    """One later phase: the total number of servers then."""

    name: Name
    servers: Whole = Field(description="servers in all after this step, not added by it")


class GrowthWish(Wish):
    """How the cluster is to grow; ports are reserved for it."""

    steps: tuple[GrowthStepWish, ...] = ()


class StorageWish(Wish):
    """The storage network: its own fabric, or on the east-west fabric."""

    network: str = Field("separate", pattern="^(separate|shared)$", description="separate or shared")
    bandwidth_bps: Rate | None = Field(None, alias="bandwidth", description="what the storage system takes in all")
    nics_per_server: Whole = 1
    nic_rate_bps: Rate | None = Field(None, alias="nic_rate")
    checkpoint_within_s: Duration | None = Field(None, alias="checkpoint_within", description="time in which a checkpoint must be written")


class OutOfBandWish(Wish):
    """The management network."""

    ports_per_server: Whole = Field(2, description="BMC and host management")
    rate_bps: Rate = Field(1_000_000_000, alias="rate")


class Site(Wish):
    """One cluster: what there is, what may be bought, what runs on it."""

    name: Name
    description: str = ""
    transport: Transport = Field("roce", description="roce, infiniband or tcp")
    loss_regime: LossRegime | None = Field(None, description="lossless, ecn-only, spray-trim, infiniband or tcp; follows the transport when not given")
    rooms: tuple[RoomWish, ...] = ()
    room_links: tuple[RoomLinkWish, ...] = ()
    servers: Annotated[tuple[ServerWish, ...], Field(min_length=1)]
    fabric: FabricWish
    cabling: CablingWish = CablingWish()
    qos: QosWish = QosWish()
    jobs: tuple[Job, ...] = ()
    growth: GrowthWish = GrowthWish()
    storage: StorageWish | None = None
    out_of_band: OutOfBandWish | None = None
