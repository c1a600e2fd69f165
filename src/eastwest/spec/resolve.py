"""From wishes to facts: a site's servers and switches with the catalogue's values filled in where the user gave none.

What the user wrote wins over the catalogue; what neither gives is a named default of this file, listed in `assumed`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from eastwest.spec import catalogue
from eastwest.spec.hosts import ServerWish
from eastwest.spec.qos import REGIMES_OF_TRANSPORT, LossRegime
from eastwest.spec.site import Site
from eastwest.spec.switches import SwitchWish
from eastwest.units import GIGA, format_port_rate

TierName = Literal["leaf", "spine", "core"]
# One electrical lane of a port of that rate (IEEE 802.3bs/cd/ck/df; InfiniBand HDR, NDR, XDR).
LANE_RATE_OF_PORT_BPS = {
    10 * GIGA: 10 * GIGA,
    25 * GIGA: 25 * GIGA,
    40 * GIGA: 10 * GIGA,
    50 * GIGA: 50 * GIGA,
    100 * GIGA: 25 * GIGA,
    200 * GIGA: 50 * GIGA,
    400 * GIGA: 100 * GIGA,
    800 * GIGA: 100 * GIGA,
    1600 * GIGA: 200 * GIGA,
}
DEFAULT_GPU = "h100"
DEFAULT_GPUS_PER_SERVER = 8
DEFAULT_NIC_RATE_BPS = 400 * GIGA
DEFAULT_SERVER_UNITS = 8  # rack units of an 8-GPU HGX-class server
DEFAULT_SERVER_POWER_W = 10_200.0  # DGX H100 data sheet, maximum
DEFAULT_SWITCH_UNITS = 1
DEFAULT_SWITCH_POWER_W = 1_000.0
# Without optics, of a switch known only by its ports, by what it switches one way: a device of one chip, typical data
# sheets of 64 x 400G and 64 x 800G; above, a chassis whose fabric cards switch every bit once more.
POWER_OF_ONE_CHIP_W = ((25_600 * GIGA, DEFAULT_SWITCH_POWER_W), (51_200 * GIGA, 1_500.0), (102_400 * GIGA, 3_000.0))
CHASSIS_W_PER_BPS = 2 * DEFAULT_SWITCH_POWER_W / (25_600 * GIGA)
CHASSIS_PORTS_PER_CARD = 36  # line cards of 36 ports, two rack units each: 576 ports in 32 units
CHASSIS_UNITS_PER_CARD = 2
DEFAULT_PCIE_LANES = 16
DEFAULT_MAX_PAYLOAD_BYTES = 256


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """One group of equal servers with every value known."""

    name: str
    label: str
    count: int
    room: str | None
    gpu: str
    gpus: int
    nics: int
    nic_rate_bps: int
    nic_ports: int
    nic_lane_rate_bps: int
    nic_label: str
    pcie_generation: int | None
    pcie_lanes: int
    max_payload_bytes: int
    scale_up_domain: int
    rack_units: int
    power_w: float
    assumed: tuple[str, ...] = ()
    pcie_functions: int = 1
    nics_per_cage: int = 1


@dataclass(frozen=True, slots=True)
class SwitchFacts:
    """The switch of one tier, every value known; `breakouts` are (parts, rate_bps) that a port may be split into."""

    label: str
    model: str | None
    ports: int
    port_rate_bps: int
    ports_per_cage: int
    lane_rate_bps: int
    breakouts: tuple[tuple[int, int], ...]
    buffer_total_bytes: int | None
    buffer_shared_bytes: int | None
    cell_bytes: int | None
    pfc: bool | None
    ecn: bool | None
    watchdog: bool | None
    credit: bool
    switch_class: str
    os: str | None
    rack_units: int
    power_w: float
    assumed: tuple[str, ...] = ()


def lane_rate_bps(port_rate_bps: int) -> int:
    """Bit/s of one lane of a port of that rate (the usual generation; 400G as 4 x 100G), else the port's own rate."""
    return LANE_RATE_OF_PORT_BPS.get(port_rate_bps, port_rate_bps)


def usual_breakouts(port_rate_bps: int, lane_bps: int) -> tuple[tuple[int, int], ...]:
    """Splits of one port into 2, 4 or 8 equal parts that keep whole lanes."""
    lanes = max(1, port_rate_bps // lane_bps)
    return tuple((parts, port_rate_bps // parts) for parts in (2, 4, 8) if lanes % parts == 0)


def regime_of(site: Site) -> LossRegime:
    """The wished loss regime, else the usual one of the transport."""
    return site.loss_regime or REGIMES_OF_TRANSPORT[site.transport][0]


def servers_of(site: Site) -> tuple[ServerFacts, ...]:
    """The site's server groups with the catalogue's values filled in. Raises UsageError for an unknown model."""
    return tuple(resolve_server(wish) for wish in site.servers)


def gpus_of_servers(groups: Iterable[ServerFacts]) -> int:
    """GPUs (cards, 卡) of all server groups."""
    return sum(group.count * group.gpus for group in groups)


def resolve_server(wish: ServerWish) -> ServerFacts:
    """A server group with the catalogue's values filled in. Raises UsageError for an unknown model."""
    model = catalogue.get("server", wish.model) if wish.model else None
    nic_model = (wish.nic.model if wish.nic else None) or (model.nic if model else None)
    nic = catalogue.get("nic", nic_model) if nic_model else None
    known_bps = (
        (wish.nic.rate_bps if wish.nic else None)
        or (model.nic_rate_bps if model else None)
        or (nic.port_rate_bps if nic else None)
    )
    rate_bps = known_bps or DEFAULT_NIC_RATE_BPS
    gpu = wish.gpu or (model.gpu if model else DEFAULT_GPU)
    gpus = wish.gpus or (model.gpus if model else DEFAULT_GPUS_PER_SERVER)
    nics = (wish.nic.count if wish.nic else None) or (model.nics if model else None) or gpus
    pcie = wish.pcie
    catalogue.get("gpu", gpu)
    lane = (nic.lane_rate_bps if nic and nic.port_rate_bps == rate_bps else None) or lane_rate_bps(rate_bps)
    return ServerFacts(
        name=wish.name,
        label=model.name if model else f"{gpus} x {gpu}, {nics} x {format_port_rate(rate_bps)}",
        count=wish.count,
        room=wish.room,
        gpu=gpu,
        gpus=gpus,
        nics=nics,
        nic_rate_bps=rate_bps,
        nic_ports=wish.nic.ports if wish.nic else 1,
        nic_lane_rate_bps=lane,
        nic_label=nic.name if nic else f"{format_port_rate(rate_bps)} NIC",
        pcie_generation=pcie.generation if pcie else (model.pcie_generation if model else None),
        pcie_lanes=pcie.lanes if pcie else (model.pcie_lanes if model else DEFAULT_PCIE_LANES),
        max_payload_bytes=pcie.max_payload_bytes if pcie else DEFAULT_MAX_PAYLOAD_BYTES,
        scale_up_domain=wish.scale_up_domain or (model.scale_up_domain if model else gpus),
        rack_units=wish.rack_units or (model.rack_units if model else DEFAULT_SERVER_UNITS),
        power_w=wish.power_w or (model.power_w if model else DEFAULT_SERVER_POWER_W),
        assumed=() if model else _assumed_of(wish, known_bps),
        pcie_functions=pcie.functions if pcie else 1,
        nics_per_cage=model.nic_ports_per_cage if model and not (wish.nic and wish.nic.model) else 1,
    )


def _assumed_of(wish: ServerWish, nic_rate_bps: int | None) -> tuple[str, ...]:
    """What a server group without a catalogue model takes from this file's defaults, in words."""
    nics = wish.nic.count if wish.nic else None
    taken = {
        f"GPU {DEFAULT_GPU}": wish.gpu,
        f"{DEFAULT_GPUS_PER_SERVER} GPUs": wish.gpus,
        "one NIC a GPU": nics,
        f"{format_port_rate(DEFAULT_NIC_RATE_BPS)} NICs": nic_rate_bps,
        "one scale-up domain a server": wish.scale_up_domain,
        f"{DEFAULT_SERVER_UNITS} rack units": wish.rack_units,
        f"{DEFAULT_SERVER_POWER_W:g} W": wish.power_w,
    }
    return tuple(f"{wish.name}: {words}" for words, value in taken.items() if value is None)


def resolve_switch(wish: SwitchWish) -> SwitchFacts:
    """A switch with the catalogue's values filled in. Raises UsageError for an unknown model."""
    if wish.model is None:
        return _custom_switch(wish)
    model = catalogue.get("switch", wish.model)
    asic = catalogue.get("asic", model.asic) if model.asic else None
    lane = model.lane_rate_bps or lane_rate_bps(model.port_rate_bps)
    power_w = default_power_w(model.ports, model.port_rate_bps)
    total = wish.buffer_bytes or model.buffer_total_bytes or (asic.buffer_total_bytes if asic else None)
    return SwitchFacts(
        label=model.name,
        model=wish.model,
        ports=wish.ports or model.ports,
        port_rate_bps=wish.rate_bps or model.port_rate_bps,
        ports_per_cage=model.ports_per_cage,
        lane_rate_bps=lane,
        breakouts=model.breakouts or usual_breakouts(model.port_rate_bps, lane),
        buffer_total_bytes=total,
        buffer_shared_bytes=model.buffer_shared_bytes,
        cell_bytes=asic.cell_bytes if asic else None,
        pfc=model.pfc if wish.pfc is None else wish.pfc,
        ecn=model.ecn if wish.ecn is None else wish.ecn,
        watchdog=model.watchdog,
        credit=model.flow_control == "credit",
        switch_class=model.switch_class,
        os=wish.os,
        rack_units=model.rack_units or default_units(model.ports, model.port_rate_bps),
        power_w=model.power_w or power_w,
        assumed=() if model.power_w else (f"{model.name}: power {power_w:g} W",),
    )


def default_power_w(ports: int, port_rate_bps: int) -> float:
    """Watts at most, without optics, of a switch whose data sheet does not say: by the rate that it switches.

    >>> default_power_w(64, 400 * GIGA), default_power_w(576, 400 * GIGA)
    (1000.0, 18000.0)
    """
    total_bps = ports * port_rate_bps
    return next((power_w for most, power_w in POWER_OF_ONE_CHIP_W if total_bps <= most), total_bps * CHASSIS_W_PER_BPS)


def default_units(ports: int, port_rate_bps: int) -> int:
    """Rack units of a switch whose data sheet does not say: one, or those of a chassis' line cards."""
    if ports * port_rate_bps <= POWER_OF_ONE_CHIP_W[-1][0]:
        return DEFAULT_SWITCH_UNITS
    return -(-ports // CHASSIS_PORTS_PER_CARD) * CHASSIS_UNITS_PER_CARD


def _custom_switch(wish: SwitchWish) -> SwitchFacts:
    """A switch given by its ports: data-centre class with PFC and ECN, listed as assumed, unless said otherwise."""
    ports, rate_bps = wish.ports or 0, wish.rate_bps or 0
    label = f"{ports}x{format_port_rate(rate_bps)}"
    lane = lane_rate_bps(rate_bps)
    power_w, units = default_power_w(ports, rate_bps), default_units(ports, rate_bps)
    assumed = [
        f"{label}: {name}" for name, value in (("supports PFC", wish.pfc), ("supports ECN", wish.ecn)) if value is None
    ]
    return SwitchFacts(
        label=label,
        model=None,
        ports=ports,
        port_rate_bps=rate_bps,
        ports_per_cage=1,
        lane_rate_bps=lane,
        breakouts=usual_breakouts(rate_bps, lane),
        buffer_total_bytes=wish.buffer_bytes,
        buffer_shared_bytes=None,
        cell_bytes=None,
        pfc=True if wish.pfc is None else wish.pfc,
        ecn=True if wish.ecn is None else wish.ecn,
        watchdog=None,
        credit=True,
        switch_class="data_centre",
        os=wish.os,
        rack_units=units,
        power_w=power_w,
        assumed=(*assumed, f"{label}: power {power_w:g} W", *([f"{label}: {units} rack units"] if units > 1 else ())),
    )


def switch_of_tier(site: Site, tier: TierName) -> SwitchFacts | None:
    """The switch of one tier: the tier's own wish, else the fabric's `switch`, else None."""
    wish = getattr(site.fabric, tier) or site.fabric.switch
    return resolve_switch(wish) if wish else None
