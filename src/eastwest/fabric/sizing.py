"""`size`: the fabric for a number of GPUs without a site file, and counter-offers of the same shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from eastwest.errors import UsageError
from eastwest.fabric.families import FAMILIES
from eastwest.fabric.inputs import DEFAULT_ROOM, FabricInputs, lay_servers
from eastwest.fabric.suitability import judge_ports
from eastwest.fabric.tables import Fabric
from eastwest.finding import Finding, Verdict, sort_findings, verdict_of
from eastwest.spec import resolve
from eastwest.spec.resolve import ServerFacts, SwitchFacts
from eastwest.spec.switches import CablingWish, SwitchWish
from eastwest.units import format_port_rate, format_ratio

CHEAPER_RATIOS = (1.0, 1.5, 2.0, 3.0, 4.0)  # down:up that an offer may name, from the dearest on
BIGGER_SWITCHES = ("64x800G", "128x400G", "128x800G")  # 51.2T and 102.4T classes


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be sized; `oversubscription` is down:up at the leaf."""

    gpus: int
    nics_per_server: int
    nic_rate_bps: int
    switch: SwitchFacts
    gpus_per_server: int = 8
    oversubscription: float = 1.0
    rail_optimized: bool = False
    planes: int = 1


@dataclass(frozen=True, slots=True)
class Offer:
    """A fabric that could be bought instead: what changes, why it may be wanted, and its counts (`Fabric.as_json`)."""

    change: str
    because: str
    fabric: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Sizing:
    """The sized fabric, its findings and the counter-offers."""

    fabric: Fabric
    findings: tuple[Finding, ...]
    offers: tuple[Offer, ...]

    @property
    def verdict(self) -> Verdict:
        """pass, warn or fail."""
        return verdict_of(self.findings)

    def as_json(self) -> dict[str, Any]:
        """`fabric` and `offers` in the shape of the command line's contract; decisions too."""
        offers = [{"change": o.change, "because": o.because, **o.fabric} for o in self.offers]
        return {
            "fabric": self.fabric.as_json(),
            "decisions": [d.as_json() for d in self.fabric.decisions],
            "offers": offers,
        }


def size(
    gpus: int,
    nics_per_server: int,
    nic_rate_bps: int,
    switch: SwitchFacts,
    gpus_per_server: int = 8,
    oversubscription: float = 1.0,
    rail_optimized: bool = False,
    planes: int = 1,
) -> Sizing:
    """Leaves, spines, links and free ports for that many GPUs, and counter-offers.

    GPUs are rounded up to whole servers. More than two tiers can hold gives an error finding with the most that fits,
    and offers that do fit. Raises UsageError when a count is below one.
    """
    request = Request(
        gpus, nics_per_server, nic_rate_bps, switch, gpus_per_server, oversubscription, rail_optimized, planes
    )
    counts = {"gpus": gpus, "nics_per_server": nics_per_server, "gpus_per_server": gpus_per_server, "planes": planes}
    wrong = [name for name, value in counts.items() if value < 1]
    if wrong or nic_rate_bps % planes:
        raise UsageError(
            f"{', '.join(wrong) or 'planes'}: expected a whole number from 1 that divides the NIC rate (planes)"
        )
    fabric, findings = _build(request)
    return Sizing(fabric, findings, tuple(_offers(request, fabric, verdict_of(findings) != "fail")))


def inputs_for(request: Request) -> FabricInputs:
    """The inputs of a family for a request: one room, one switch for both tiers, a server known by its parts."""
    server = _server_of(request)
    names, rooms, groups = lay_servers((server,), (DEFAULT_ROOM,))
    return FabricInputs(
        family="rail_optimized" if request.rail_optimized else "leaf_spine",
        rooms=(DEFAULT_ROOM,),
        racks=((),),
        room_links=(),
        server_facts=(server,),
        server_names=names,
        server_rooms=rooms,
        server_groups=groups,
        leaf=request.switch,
        spine=request.switch,
        leaf_oversubscription=request.oversubscription,
        servers_per_leaf=None,
        spare_ports=0,
        controllers=(),
        planes=request.planes,
        growth_servers=0,
        cabling=CablingWish(),
        source="command line",
    )


def _server_of(request: Request) -> ServerFacts:
    """The server group of a request, whole servers."""
    rate = format_port_rate(request.nic_rate_bps)
    count = ceil(request.gpus / request.gpus_per_server)
    return ServerFacts(
        name="server",
        label=f"{request.gpus_per_server} GPUs, {request.nics_per_server} x {rate}",
        count=count,
        room=None,
        gpu="",
        gpus=request.gpus_per_server,
        nics=request.nics_per_server,
        nic_rate_bps=request.nic_rate_bps,
        nic_ports=request.planes,
        nic_lane_rate_bps=resolve.lane_rate_bps(request.nic_rate_bps),
        nic_label=f"{rate} NIC",
        pcie_generation=None,
        pcie_lanes=resolve.DEFAULT_PCIE_LANES,
        max_payload_bytes=resolve.DEFAULT_MAX_PAYLOAD_BYTES,
        scale_up_domain=request.gpus_per_server,
        rack_units=resolve.DEFAULT_SERVER_UNITS,
        power_w=resolve.DEFAULT_SERVER_POWER_W,
    )


def _build(request: Request) -> tuple[Fabric, tuple[Finding, ...]]:
    inputs = inputs_for(request)
    fabric = FAMILIES.get(inputs.family)(inputs)
    findings = sort_findings([*fabric.findings, *judge_ports(inputs)])
    return replace(fabric, findings=findings), findings


def _offers(request: Request, fabric: Fabric, fits: bool) -> Iterator[Offer]:
    """Counter-offers that can be built; a cheaper ratio or a bigger switch only when it saves switches, or fits at
    all.
    """
    seen = [fabric.as_json()]
    for change, because, other, must_save in _changes(request, fabric, fits):
        built, findings = _build(other)
        counts = built.as_json()
        saves = _switches(counts) < _switches(seen[0]) or not fits
        if verdict_of(findings) == "fail" or counts in seen or (must_save and not saves):
            continue
        seen.append(counts)
        yield Offer(change, because, counts)


def _switches(counts: dict[str, Any]) -> int:
    return int(counts["leaves"] + counts["spines"] + counts["cores"])


def _changes(request: Request, fabric: Fabric, fits: bool) -> Iterator[tuple[str, str, Request, bool]]:
    """What could be asked instead, whether it can be built or not, and whether it must save switches to be offered."""
    most = fabric.max_gpus // request.gpus_per_server * request.gpus_per_server
    if not fits and 0 < most < request.gpus:
        why = "the most that two tiers of this switch hold at this ratio; more needs a third tier"
        yield f"{most:,} GPUs", why, replace(request, gpus=most), False
    per_group = fabric.facts["servers_per_leaf_group"] * request.gpus_per_server
    full = ceil(request.gpus / per_group) * per_group
    if fits and full != request.gpus:
        why = "fills the last leaf with the switches that are bought anyway"
        yield f"{full:,} GPUs", why, replace(request, gpus=full), False
    ratio = next((ratio for ratio in CHEAPER_RATIOS if _saves(request, ratio, fits)), None)
    if ratio is not None:
        why = "fewer switches and cables; what crosses the spines slows down by up to this ratio"
        yield f"oversubscription {format_ratio(ratio)}", why, replace(request, oversubscription=ratio), True
    yield _other_family(request)
    if request.planes > 1:
        why = "fewer, fatter links; a leaf failure then takes whole NICs"
        yield "1 plane", why, replace(request, planes=1), False
    yield from _bigger(request)


def _saves(request: Request, ratio: float, fits: bool) -> bool:
    """Whether a higher ratio builds, with fewer switches than now if now builds."""
    if ratio <= request.oversubscription:
        return False
    built, findings = _build(replace(request, oversubscription=ratio))
    now = _build(request)[0].as_json()
    return verdict_of(findings) != "fail" and (not fits or _switches(built.as_json()) < _switches(now))


def _other_family(request: Request) -> tuple[str, str, Request, bool]:
    """The same servers in the other family."""
    other = replace(request, rail_optimized=not request.rail_optimized)
    if request.rail_optimized:
        return "family leaf_spine", "all NICs of a server on one leaf: short cables inside a rack", other, False
    return "family rail_optimized", "one rail's traffic stays on one leaf for a whole group of servers", other, False


def _bigger(request: Request) -> Iterator[tuple[str, str, Request, bool]]:
    """The same with each bigger usual switch."""
    here = request.switch.ports * request.switch.port_rate_bps
    for text in BIGGER_SWITCHES:
        ports, rate = text.split("x")
        other = resolve.resolve_switch(SwitchWish.model_validate({"ports": int(ports), "rate": rate}))
        if other.ports * other.port_rate_bps > here:
            why = "fewer and larger switches, more room to grow in two tiers"
            yield f"switch {text}", why, replace(request, switch=other), True
