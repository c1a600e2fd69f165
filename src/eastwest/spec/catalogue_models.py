"""The kinds of the hardware catalogue: GPU, server, NIC, switch, ASIC, optic, cable, PCIe slot, transformer preset.

Every field is in the base unit that its suffix names; the YAML key is the field without that suffix. `None` means that
no source is known, never zero and never "no".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from eastwest.spec.catalogue_values import (
    Bandwidth,
    Count,
    Duration,
    Flops,
    Generation,
    Lanes,
    Length,
    Power,
    Rate,
    Size,
    Source,
    Splits,
    Whole,
    Window,
)
from eastwest.spec.jobs import MoeWish

Kind = Literal["asic", "cable", "gpu", "model", "nic", "optic", "pcie", "server", "switch"]
Cage = Literal[
    "osfp",  # finned top, switch cages and DGX server cages
    "osfp-flat",  # flat top, NIC cages only
    "osfp224",  # 200G per lane
    "qsfp-dd",
    "qsfp112",
    "qsfp56",
    "qsfp28",
    "sfp28",
    "sfp+",
    "rj45",
]
Medium = Literal["dac", "acc", "aoc", "sr", "dr", "fr", "lr", "zr", "fibre", "copper"]
Transport = Literal["roce", "infiniband", "ethernet", "srd"]
SwitchClass = Literal["data_centre", "l3", "home"]
FlowControl = Literal["pfc", "credit", "none"]


class Entry(BaseModel):
    """One model of the catalogue: `id` is its file's name, `sources` says for each field where its value comes from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    name: str
    aliases: tuple[str, ...] = ()
    vendor: str = ""
    notes: tuple[str, ...] = ()
    sources: Mapping[str, Source]

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.id))


class Gpu(Entry):
    """One accelerator; FLOP/s are dense (no sparsity), `scale_up` is one direction of one GPU (half as printed)."""

    architecture: str
    memory_bytes: Size = Field(alias="memory")
    memory_bytes_per_s: Bandwidth = Field(alias="memory_bandwidth")
    peak_flops: Flops
    measured_matmul_flops: Flops = Field(default_factory=dict)
    scale_up_bytes_per_s: Bandwidth | None = Field(None, alias="scale_up")
    power_w: Power | None = Field(None, alias="power")
    pcie_generation: Generation | None = None
    pcie_lanes: Lanes | None = None


class Server(Entry):
    """One machine (台) with its GPUs (卡) and its east-west NICs; `nic_cage` when NICs share cages on the server."""

    gpu: str
    gpus: Whole
    nic: str
    nics: Whole
    nic_rate_bps: Rate = Field(alias="nic_rate")
    nic_cage: Cage | None = None
    nic_ports_per_cage: Whole = 1
    pcie_generation: Generation
    pcie_lanes: Lanes
    scale_up_domain: Whole
    rack_units: Whole
    power_w: Power = Field(alias="power")


class Nic(Entry):
    """One network adapter; `breakouts` are the other (ports, rate) that the same adapter is sold or set up with."""

    ports: Whole
    port_rate_bps: Rate = Field(alias="port_rate")
    breakouts: Splits = ()
    lanes: Lanes | None = None
    lane_rate_bps: Rate | None = Field(None, alias="lane_rate")
    cage: Cage | None = None
    pcie_generation: Generation | None = None
    pcie_lanes: Lanes | None = None
    transports: tuple[Transport, ...]
    per_server: Whole | None = None


class Switch(Entry):
    """One switch as it is normally counted: `ports` at `port_rate` on `cages`; each port splits into `breakouts`.

    Rates are one direction. `breakouts` are (parts, bit/s) of one port, whole lanes each. `power_w` is the switch
    without optics where the source says so (see its note).
    """

    switch_class: SwitchClass = Field(alias="class")
    asic: str | None = None
    asics: Whole = 1
    transports: tuple[Transport, ...]
    ports: Whole
    port_rate_bps: Rate = Field(alias="port_rate")
    uplinks: Splits = ()
    cage: Cage
    cages: Whole
    ports_per_cage: Whole
    breakouts: Splits = ()
    lane_rate_bps: Rate | None = Field(None, alias="lane_rate")
    lanes_per_port: Lanes | None = None
    flow_control: FlowControl
    pfc: bool
    ecn: bool
    watchdog: bool
    ecn_counters: bool | None = None
    buffer_total_bytes: Size | None = Field(None, alias="buffer_total")
    buffer_shared_bytes: Size | None = Field(None, alias="buffer_shared")
    telemetry: tuple[str, ...] = ()
    power_w: Power | None = Field(None, alias="power")
    rack_units: Whole | None = None
    latency_s: Duration | None = Field(None, alias="latency")


class Asic(Entry):
    """One switching chip: one-way rate, packet memory, cell; `serdes` and `port_layouts` are (count, rate)."""

    rate_bps: Rate = Field(alias="rate")
    serdes: Splits = ()
    port_layouts: Splits = ()
    buffer_total_bytes: Size | None = Field(None, alias="buffer_total")
    buffer_external_bytes: Size | None = Field(None, alias="buffer_external")
    cell_bytes: Size | None = Field(None, alias="cell")
    power_w: Power | None = Field(None, alias="power")


class Optic(Entry):
    """One pluggable transceiver; `lanes` are on the fibre side, `host_lanes` on the cage side, dBm are lane averages.

    `twin_port`: one module carries two ports of half its rate, each with its own connector.
    """

    medium: Medium
    rate_bps: Rate = Field(alias="rate")
    cage: Cage | None = None
    twin_port: bool = False
    lanes: Lanes | None = None
    lane_rate_bps: Rate | None = Field(None, alias="lane_rate")
    host_lanes: Lanes | None = None
    host_lane_rate_bps: Rate | None = Field(None, alias="host_lane_rate")
    fibre: str | None = None
    connector: str | None = None
    connectors: Whole = 1
    reach_m: Length | None = Field(None, alias="reach")
    power_w: Power | None = Field(None, alias="power")
    power_typical_w: Power | None = Field(None, alias="power_typical")
    tx_dbm: Window | None = None
    rx_dbm: Window | None = None
    rx_damage_dbm: float | None = None
    los_assert_dbm: float | None = None


class Cable(Entry):
    """One cable: copper or active optical with its `ends` fixed, or a fibre cord (`medium: fibre`) between two optics.

    `rate_bps` is the rate of the A end; a splitter has `ends` B ends of `end_rate_bps`.
    """

    medium: Medium
    rate_bps: Rate | None = Field(None, alias="rate")
    cage: Cage | None = None
    ends: Whole = 1
    end_rate_bps: Rate | None = Field(None, alias="end_rate")
    end_cage: Cage | None = None
    lanes: Lanes | None = None
    lane_rate_bps: Rate | None = Field(None, alias="lane_rate")
    twin_port: bool = False
    fibre: str | None = None
    connector: str | None = None
    reach_m: Length | None = Field(None, alias="reach")
    power_w: Annotated[Power | None, Field(alias="power")] = None


class Pcie(Entry):
    """One generation of PCI Express: rate per lane and direction, share left by line code, what a slot gives a NIC."""

    generation: Generation
    lane_rate_bps: Rate = Field(alias="lane_rate")
    encoding_ratio: Annotated[float, Field(gt=0, le=1)]
    x16_bytes_per_s: Bandwidth = Field(alias="x16")
    x16_usable_bytes_per_s: Bandwidth | None = Field(None, alias="x16_usable")
    x16_nic_rate_bps: Rate | None = Field(None, alias="x16_nic_rate")


class Preset(Entry):
    """One published transformer: its dimensions under the names of a site file's `model`."""

    params: Count
    layers: Whole
    hidden: Whole
    heads: Whole
    kv_heads: Whole | None = None
    head_dim: Whole
    ffn: Whole
    vocab: Whole
    gated: bool
    tied_embeddings: bool
    kv_latent: Whole | None = None
    moe: MoeWish | None = None

    def as_wish(self) -> dict[str, Any]:
        """The dimensions as keyword arguments of `spec.jobs.ModelWish`, with the preset's id as name."""
        unwanted = set(Entry.model_fields)
        facts = {key: value for key, value in self if key not in unwanted and value is not None}
        return {"name": self.id, **facts}


CLASSES: Mapping[Kind, type[Entry]] = {
    "asic": Asic,
    "cable": Cable,
    "gpu": Gpu,
    "model": Preset,
    "nic": Nic,
    "optic": Optic,
    "pcie": Pcie,
    "server": Server,
    "switch": Switch,
}
