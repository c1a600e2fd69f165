"""Findings that need the site's wishes and data sheets only: switches, NICs and their slots, lane rates, transport,
mixed servers, room links.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from eastwest.fabric.capacity import LANE_RATES_BPS, LANES_OF_PORT, parts_at, possible_rates
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.lanes import agree_lanes
from eastwest.fabric.rooms import link_name
from eastwest.fabric.slots import nic_slot_payload_bps, slot_raw_bps
from eastwest.finding import Finding, Severity
from eastwest.spec.qos import LossRegime
from eastwest.spec.resolve import ServerFacts, SwitchFacts, regime_of
from eastwest.spec.site import Site
from eastwest.units import BITS_PER_BYTE, GIGA, format_port_rate

DATA_CENTRE_CLASS = "data_centre"
NEEDS_OF_REGIME: Mapping[LossRegime, tuple[str, ...]] = {  # what every switch must have
    "lossless": ("PFC", "ECN"),
    "ecn-only": ("ECN",),
    "spray-trim": ("ECN",),
    "infiniband": ("credits",),
    "tcp": (),
}


def judge_site(site: Site, inputs: FabricInputs, tiers: tuple[str, ...]) -> list[Finding]:
    """All findings that need no cable drawn; `tiers` are those that the fabric has switches for."""
    boxes = [] if site.jobs else list(_judge_boxes(inputs))
    return [
        *judge_ports(inputs, tiers),
        *_judge_servers(inputs),
        *_judge_switches(site, inputs, tiers),
        *_judge_transport(site),
        *boxes,
    ]


def judge_ports(inputs: FabricInputs, tiers: tuple[str, ...]) -> list[Finding]:
    """Findings about ports and lanes that do not match at the two ends of a link, in the tiers that there are."""
    if not tiers:
        return []
    rooms = _judge_room_ports(inputs, tiers[-1]) if len(tiers) > 1 else ()
    return [
        *_judge_port_rates(inputs, tiers),
        *_judge_nic_ports(inputs),
        *rooms,
        *_judge_lanes(agree_lanes(inputs), tiers),
    ]


def _judge_port_rates(inputs: FabricInputs, tiers: tuple[str, ...]) -> Iterator[Finding]:
    """Switches whose ports have a rate that no number of lanes gives."""
    for label, tier in {inputs.switches[tier].label: tier for tier in reversed(tiers)}.items():
        switch = inputs.switches[tier]
        if not possible_rates(switch):
            near = sorted(LANE_RATES_BPS[-1] * lanes for lanes in LANES_OF_PORT)
            rate = switch.port_rate_bps
            yield _no_such_rate(label, rate, tuple(near), f"fabric.{tier}")


def _no_such_rate(subject: str, rate_bps: int, possible: tuple[int, ...], path: str) -> Finding:
    args = {"rate": format_port_rate(rate_bps), "rates": ", ".join(format_port_rate(rate) for rate in possible)}
    return Finding("EW-FAB-046", "error", subject, possible[-1], rate_bps, "bit/s", args, path=path)


def _judge_servers(inputs: FabricInputs) -> Iterator[Finding]:
    """Mixed server groups, scale-up domains inside one server, and NICs faster than their slot."""
    first = inputs.server
    for index, group in enumerate(inputs.server_facts):
        path = f"servers[{index}]"
        if (group.gpus, group.nics, group.nic_rate_bps) != (first.gpus, first.nics, first.nic_rate_bps):
            args = {"first": first.name}
            yield Finding("EW-FAB-004", "error", group.name, _parts(first), _parts(group), "", args, path=path)
        if group.scale_up_domain < group.gpus:
            key = f"{path}.scale_up_domain"
            yield Finding("EW-FAB-040", "warning", group.name, group.gpus, group.scale_up_domain, "GPUs", path=key)
        payload_bps = nic_slot_payload_bps(group)
        if payload_bps is not None and group.nic_rate_bps > payload_bps:
            yield _beyond_slot(group, payload_bps, f"{path}.pcie")
        if payload_bps is not None and group.pcie_functions > 1:
            yield _shared_port(group, payload_bps, f"{path}.pcie")


def _shared_port(group: ServerFacts, payload_bps: float, path: str) -> Finding:
    """One network port behind several PCIe functions: software that opens one of them gets one slot's share."""
    generation, rate = group.pcie_generation or 0, group.nic_rate_bps
    one, both = min(rate, payload_bps) / group.pcie_functions, min(rate, payload_bps)
    args = {
        "nic": format_port_rate(rate),
        "slot": f"{group.pcie_functions} x Gen{generation} x{group.pcie_lanes}",
        "functions": group.pcie_functions,
        "raw_gbps": round(slot_raw_bps(generation, group.pcie_lanes) / GIGA),
        "one_gbytes": round(one / GIGA / BITS_PER_BYTE, 1),
        "all_gbytes": round(both / GIGA / BITS_PER_BYTE, 1),
    }
    return Finding("EW-FAB-036", "warning", group.name, rate, round(one), "bit/s", args, path=path)


def _beyond_slot(group: ServerFacts, payload_bps: float, path: str) -> Finding:
    """Raw and payload of all PCIe functions of the NIC together."""
    generation, functions = group.pcie_generation or 0, group.pcie_functions
    args = {
        "nic": format_port_rate(group.nic_rate_bps),
        "slot": f"{f'{functions} x ' if functions > 1 else ''}Gen{generation} x{group.pcie_lanes}",
        "raw_gbps": round(functions * slot_raw_bps(generation, group.pcie_lanes) / GIGA),
        "payload_gbps": round(payload_bps / GIGA),
        "max_payload": group.max_payload_bytes,
    }
    expected, observed = round(payload_bps), group.nic_rate_bps
    return Finding("EW-FAB-007", "warning", group.name, expected, observed, "bit/s", args, path=path)


def _parts(group: ServerFacts) -> str:
    return f"{group.gpus} x GPU, {group.nics} x {format_port_rate(group.nic_rate_bps)}"


def _judge_nic_ports(inputs: FabricInputs) -> Iterator[Finding]:
    """NIC ports faster than leaf ports."""
    nic_bps, port_bps = inputs.nic_port_rate_bps, inputs.leaf.port_rate_bps
    if nic_bps > port_bps:
        args = {"nic": format_port_rate(nic_bps), "port": format_port_rate(port_bps), "leaf": inputs.leaf.label}
        name, path = inputs.server.name, "servers[0].nic.rate"
        yield Finding("EW-FAB-005", "error", name, port_bps, nic_bps, "bit/s", args, path=path)
    elif (rates := possible_rates(inputs.leaf)) and nic_bps not in rates:
        yield _no_such_rate(f"NIC port on {inputs.leaf.label}", nic_bps, rates, "servers[0].nic.rate")


def _judge_room_ports(inputs: FabricInputs, tier: str) -> Iterator[Finding]:
    """Room links faster than the ports of the topmost tier."""
    switch = inputs.switches[tier]
    port_bps = switch.port_rate_bps
    for index, link in enumerate(inputs.room_links):
        if parts_at(switch, link.rate_bps) == 0:
            rate, port = format_port_rate(link.rate_bps), format_port_rate(port_bps)
            args = {"link": rate, "port": port, "spine": switch.label}
            path = f"room_links[{index}].rate"
            yield Finding("EW-FAB-021", "error", link_name(link), port_bps, link.rate_bps, "bit/s", args, path=path)
        elif (rates := possible_rates(switch)) and link.rate_bps not in rates:
            subject = f"{link_name(link)} on {switch.label}"
            yield _no_such_rate(subject, link.rate_bps, rates, f"room_links[{index}].rate")


def _judge_lanes(inputs: FabricInputs, tiers: tuple[str, ...]) -> Iterator[Finding]:
    """Links whose two ends run lanes of different rates: they do not link up."""
    leaf = inputs.leaf
    first = (
        *("server - leaf", inputs.server.nic_label, inputs.nic_lane_rate_bps),
        *(leaf.label, leaf.lane_rate_bps, "fabric.leaf"),
    )
    pairs = [first]
    for low, high in pairwise(tiers):
        a, b = inputs.switches[low], inputs.switches[high]
        pairs.append((f"{low} - {high}", a.label, a.lane_rate_bps, b.label, b.lane_rate_bps, f"fabric.{high}"))
    for subject, lower, a_lane, upper, b_lane, path in pairs:
        if a_lane != b_lane:
            args = {"a": lower, "b": upper, "a_lane": format_port_rate(a_lane), "b_lane": format_port_rate(b_lane)}
            yield Finding("EW-FAB-006", "error", subject, a_lane, b_lane, "bit/s", args, path=path)


def _judge_switches(site: Site, inputs: FabricInputs, names: tuple[str, ...]) -> Iterator[Finding]:
    """Switches that cannot do what the transport and loss regime need, or are of a class that does not belong here."""
    regime = regime_of(site)
    tiers: dict[str, tuple[SwitchFacts, list[str]]] = {}
    for tier in names:
        switch = inputs.switches[tier]
        tiers.setdefault(switch.label, (switch, []))[1].append(tier)
    for switch, mine in tiers.values():
        yield from _judge_switch(switch, mine, regime)


def _judge_switch(switch: SwitchFacts, tiers: list[str], regime: LossRegime) -> Iterator[Finding]:
    """One switch model against the loss regime, and its class; `tiers` are those that it stands in."""
    needs, label, path = NEEDS_OF_REGIME[regime], switch.label, f"fabric.{tiers[0]}"
    args = {"tier": ", ".join(tiers), "regime": regime}
    lacking = ", ".join(need for need in needs if _has(switch, need) is False)
    unknown = ", ".join(need for need in needs if _has(switch, need) is None)
    if lacking:
        yield Finding("EW-FAB-008", "error", label, ", ".join(needs), lacking, "", args, path=path)
    elif unknown:
        yield Finding("EW-FAB-026", "warning", label, ", ".join(needs), unknown, "", args, path=path)
    if switch.switch_class != DATA_CENTRE_CLASS:
        severity: Severity = "warning" if regime == "tcp" else "error"
        yield Finding("EW-FAB-009", severity, label, DATA_CENTRE_CLASS, switch.switch_class, "", args, path=path)


def _has(switch: SwitchFacts, need: str) -> bool | None:
    """Whether the data sheet says so; None when it is silent."""
    return {"PFC": switch.pfc, "ECN": switch.ecn, "credits": switch.credit}[need]


def _judge_transport(site: Site) -> Iterator[Finding]:
    """Training over TCP."""
    if site.transport == "tcp":
        for job in site.jobs:
            if job.kind == "training":
                yield Finding("EW-FAB-010", "error", job.name, "roce or infiniband", "tcp", path="transport")


def _judge_boxes(inputs: FabricInputs) -> Iterator[Finding]:
    """Boxes in room links that RDMA does not go well with, before any job is placed; with jobs, `placement` judges
    the paths in use.
    """
    for index, link in enumerate(inputs.room_links):
        for number, box in enumerate(link.boxes):
            limit, full = box.rate_limit_bps, link.count * link.rate_bps
            if box.is_stateful or (limit is not None and limit < full):
                args, path = {"link": link_name(link), "kind": box.kind}, f"room_links[{index}].boxes[{number}]"
                yield Finding("EW-FAB-027", "warning", box.name, full, limit, "bit/s", args, path=path)
