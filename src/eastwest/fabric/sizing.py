"""`size`: the fabric for a number of GPUs without a site file, and counter-offers of the same shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from eastwest.errors import UsageError
from eastwest.fabric.clos import clos_shape
from eastwest.fabric.families import FAMILIES
from eastwest.fabric.inputs import DEFAULT_ROOM, TIERS, FabricInputs, lay_servers
from eastwest.fabric.lanes import agree_lanes
from eastwest.fabric.shape import THREE_TIERS, TWO_TIERS
from eastwest.fabric.suitability import judge_ports
from eastwest.fabric.tables import Fabric
from eastwest.finding import Finding, Verdict, sort_findings, verdict_of
from eastwest.spec import resolve
from eastwest.spec.quantities import MAX_PER_SERVER, MAX_PLANES, MAX_RATE_BPS, MAX_RATIO, MIN_RATE_BPS, MIN_RATIO
from eastwest.spec.resolve import ServerFacts, SwitchFacts
from eastwest.spec.switches import CablingWish, SwitchWish
from eastwest.units import format_port_rate, format_ratio

MAX_SIZED_PORTS = 250_000  # NIC ports; twice the largest cluster of 2025, and seven fabrics are drawn for one answer
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
    is_alone: bool = False  # rails without uplinks: the stripe stands alone


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
        """`fabric` and `offers` in the shape of the command line's contract; `stripe` of a rail-optimised fabric and
        decisions too.
        """
        offers = [{"change": o.change, "because": o.because, **o.fabric} for o in self.offers]
        return {
            "fabric": self.fabric.as_json(),
            "stripe": self.fabric.facts.get("stripe"),
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
    """Leaves, spines, cores, links and free ports for that many GPUs, and counter-offers.

    GPUs are rounded up to whole servers. Two tiers while they hold, else three with pods; more than three tiers can
    hold gives an error finding with the most that fits, and offers that do fit. Raises UsageError when a count is below
    one.
    """
    request = Request(
        gpus, nics_per_server, nic_rate_bps, switch, gpus_per_server, oversubscription, rail_optimized, planes
    )
    _refuse(request)
    fabric, judged = _build(request)
    findings = sort_findings([*judged, *_rounded(request, fabric)])
    return Sizing(fabric, findings, tuple(_offers(request, fabric, verdict_of(findings) != "fail")))


def _rounded(request: Request, fabric: Fabric) -> Iterator[Finding]:
    """The GPUs asked for do not fill the last server, which is bought whole."""
    if fabric.n_gpus != request.gpus:
        args = {"servers": fabric.n_servers, "each": request.gpus_per_server}
        yield Finding("EW-FAB-043", "info", "gpus", request.gpus, fabric.n_gpus, "GPUs", args)


def _refuse(request: Request) -> None:
    """Raise UsageError with every count that is out of bounds, and for planes that do not divide the NIC."""
    counts = (
        ("gpus", request.gpus, MAX_SIZED_PORTS * MAX_PER_SERVER),
        ("nics_per_server", request.nics_per_server, MAX_PER_SERVER),
        ("gpus_per_server", request.gpus_per_server, MAX_PER_SERVER),
        ("planes", request.planes, MAX_PLANES),
    )
    wrong = [
        f"{name}: expected a whole number from 1 to {most:,}, found {value:,}"
        for name, value, most in counts
        if not 1 <= value <= most
    ]
    if not MIN_RATE_BPS <= request.nic_rate_bps <= MAX_RATE_BPS:
        wrong.append(f"nic: expected a rate from 1M to 10000T, found {request.nic_rate_bps:,} bit/s")
    if not MIN_RATIO <= request.oversubscription <= MAX_RATIO:
        wrong.append(f"oversubscription: expected from 1:100 to 1000:1, found {request.oversubscription:g}:1")
    if not wrong and request.nic_rate_bps % request.planes:
        wrong.append("planes: expected a number that divides the NIC rate")
    if not wrong:
        ports = ceil(request.gpus / request.gpus_per_server) * request.nics_per_server * request.planes
        if ports > MAX_SIZED_PORTS:
            wrong.append(f"gpus: that is {ports:,} NIC ports in all, expected at most {MAX_SIZED_PORTS:,}")
    if wrong:
        raise UsageError("; ".join(wrong), hint="`eastwest size --help` shows the form of each option")


def inputs_for(request: Request, tiers: int = TWO_TIERS) -> FabricInputs:
    """The inputs of a family for a request: one room, one switch for all tiers, a server known by its parts."""
    server = _server_of(request)
    names, rooms, groups = lay_servers((server,), (DEFAULT_ROOM,))
    return FabricInputs(
        family=_family_of(request, tiers),
        rooms=(DEFAULT_ROOM,),
        racks=((),),
        room_links=(),
        server_facts=(server,),
        server_names=names,
        server_rooms=rooms,
        server_groups=groups,
        switches=dict.fromkeys(TIERS, request.switch),
        ratios={"leaf": request.oversubscription},
        servers_per_leaf=None,
        controllers=(),
        planes=server.nics if request.is_alone else request.planes,
        growth_servers=0,
        cabling=CablingWish(),
        source="command line",
        plane_by="nic" if request.is_alone else "port",
        links_per_nic=1 if request.is_alone else request.planes,
        rail_optimized=request.rail_optimized,
        tiers=1 if request.is_alone else None,
    )


def _family_of(request: Request, tiers: int) -> str:
    """The family that such a request means."""
    if request.is_alone:
        return "rail_only"
    if tiers == THREE_TIERS:
        return "three_tier"
    return "rail_optimized" if request.rail_optimized else "leaf_spine"


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
    """The fabric of two tiers while they hold, else of three, with its findings."""
    tiers = TWO_TIERS
    if not request.is_alone and not clos_shape(agree_lanes(inputs_for(request)), request.rail_optimized, (tiers,)).fits:
        tiers = THREE_TIERS
    inputs = inputs_for(request, tiers)
    fabric = FAMILIES.get(inputs.family)(inputs)
    findings = sort_findings([*fabric.findings, *judge_ports(inputs, tuple(fabric.switches))])
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
        why = "the most that three tiers of this switch hold at this ratio"
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
    if fabric.tiers == THREE_TIERS:
        yield from _two_tiers(request, fits)
    yield _other_family(request, fabric.tiers)
    if request.rail_optimized and request.planes == 1 and request.nics_per_server > 1:
        why = "the stripe stands alone: no uplinks, all leaf ports face servers; rails do not meet and it cannot grow"
        yield "family rail_only, no uplinks", why, replace(request, is_alone=True), True
    if request.planes > 1:
        why = "fewer, fatter links; a leaf failure then takes whole NICs"
        yield "1 plane", why, replace(request, planes=1), False
    yield from _bigger(request)


def _two_tiers(request: Request, fits: bool) -> Iterator[tuple[str, str, Request, bool]]:
    """What two tiers of the same switch hold."""
    inputs = inputs_for(request)
    servers = clos_shape(agree_lanes(inputs), request.rail_optimized, (TWO_TIERS,)).max_servers
    gpus = servers * request.gpus_per_server
    if fits and 0 < gpus < request.gpus:
        why = "the most that two tiers of this switch hold at this ratio: no cores, two hops less"
        yield f"{gpus:,} GPUs", why, replace(request, gpus=gpus), False


def _saves(request: Request, ratio: float, fits: bool) -> bool:
    """Whether a higher ratio builds, with fewer switches than now if now builds."""
    if ratio <= request.oversubscription:
        return False
    built, findings = _build(replace(request, oversubscription=ratio))
    now = _build(request)[0].as_json()
    return verdict_of(findings) != "fail" and (not fits or _switches(built.as_json()) < _switches(now))


def _other_family(request: Request, tiers: int) -> tuple[str, str, Request, bool]:
    """The same servers with rails or without."""
    other = replace(request, rail_optimized=not request.rail_optimized)
    if tiers == THREE_TIERS:
        why = "all NICs of a server on one leaf" if request.rail_optimized else "one leaf a rail and group of servers"
        return f"rail_optimized: {str(other.rail_optimized).lower()}", why, other, False
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
            why = "fewer and larger switches, more room to grow before the next tier"
            yield f"switch {text}", why, replace(request, switch=other), True
