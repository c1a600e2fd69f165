"""Findings that need the site's wishes and data sheets only: switches, NICs and their slots, lane rates, transport,
mixed servers, room links.
"""

from __future__ import annotations

from collections.abc import Iterator

from eastwest.fabric.capacity import parts_at
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.two_tier import agree_lanes
from eastwest.finding import Finding
from eastwest.spec.resolve import ServerFacts, SwitchFacts
from eastwest.spec.site import Site
from eastwest.units import GIGA, format_port_rate

TRANSFERS_PER_S_OF_GENERATION = {
    3: 8 * GIGA,
    4: 16 * GIGA,
    5: 32 * GIGA,
    6: 64 * GIGA,
    7: 128 * GIGA,
}  # PCI Express Base, transfers/s a lane
LINE_CODE_RATIO = 128 / 130  # 128b/130b, generations 3 to 5
FLIT_RATIO = 236 / 256  # TLP bytes of a 256-byte flit, generations 6 and 7
TLP_OVERHEAD_BYTES = 24  # 4 framing and sequence + 16 header (64-bit address) + 4 LCRC
FLIT_GENERATION = 6
DATA_CENTRE_CLASS = "data_centre"
STATEFUL_KINDS = ("firewall", "load_balancer")  # boxes that keep sessions


def slot_raw_bps(generation: int, lanes: int) -> float:
    """Bit/s of a PCIe slot in one direction after line coding: transfers/s x lanes x 128/130 (Gen4 x16: 252 Gb/s).

    Source: PCI Express Base Specification; generations 6 and 7 count the TLP bytes of a flit instead.
    """
    code = FLIT_RATIO if generation >= FLIT_GENERATION else LINE_CODE_RATIO
    return TRANSFERS_PER_S_OF_GENERATION[generation] * lanes * code


def slot_payload_bps(generation: int, lanes: int, max_payload_bytes: int) -> float:
    """Bit/s of payload through a PCIe slot: raw x payload / (payload + 24 bytes of TLP framing, header and LCRC).

    Gen4 x16 gives 212, 230 and 241 Gb/s at 128, 256 and 512 bytes. Flow-control and acknowledge packets cost a few per
    cent more, which is not counted.
    """
    return slot_raw_bps(generation, lanes) * max_payload_bytes / (max_payload_bytes + TLP_OVERHEAD_BYTES)


def judge_site(site: Site, inputs: FabricInputs) -> list[Finding]:
    """All findings that need no cable drawn."""
    boxes = [] if site.jobs else list(_judge_boxes(inputs))
    return [
        *judge_ports(inputs),
        *_judge_servers(inputs),
        *_judge_switches(site, inputs),
        *_judge_transport(site),
        *boxes,
    ]


def judge_ports(inputs: FabricInputs) -> list[Finding]:
    """Findings about ports and lanes that do not match at the two ends of a link."""
    return [*_judge_nic_ports(inputs), *_judge_lanes(agree_lanes(inputs))]


def _judge_servers(inputs: FabricInputs) -> Iterator[Finding]:
    """Mixed server groups, and NICs faster than their slot."""
    first = inputs.server
    for group in inputs.server_facts[1:]:
        if (group.gpus, group.nics, group.nic_rate_bps) != (first.gpus, first.nics, first.nic_rate_bps):
            yield Finding("EW-FAB-004", "error", group.name, _parts(first), _parts(group), "", {"first": first.name})
    for name, group in {group.name: group for group in inputs.server_facts}.items():
        if group.pcie_generation is None:
            continue
        payload = slot_payload_bps(group.pcie_generation, group.pcie_lanes, group.max_payload_bytes)
        if group.nic_rate_bps > payload:
            args = {
                "nic": format_port_rate(group.nic_rate_bps),
                "slot": f"Gen{group.pcie_generation} x{group.pcie_lanes}",
                "raw_gbps": round(slot_raw_bps(group.pcie_generation, group.pcie_lanes) / GIGA),
                "payload_gbps": round(payload / GIGA),
                "max_payload": group.max_payload_bytes,
            }
            yield Finding("EW-FAB-007", "warning", name, round(payload), group.nic_rate_bps, "bit/s", args)


def _parts(group: ServerFacts) -> str:
    return f"{group.gpus} GPUs, {group.nics} x {format_port_rate(group.nic_rate_bps)}"


def _judge_nic_ports(inputs: FabricInputs) -> Iterator[Finding]:
    """NIC ports faster than leaf ports; room links faster than spine ports."""
    if inputs.nic_port_rate_bps > inputs.leaf.port_rate_bps:
        args = {
            "nic": format_port_rate(inputs.nic_port_rate_bps),
            "port": format_port_rate(inputs.leaf.port_rate_bps),
            "leaf": inputs.leaf.label,
        }
        yield Finding(
            "EW-FAB-005",
            "error",
            inputs.server.name,
            inputs.leaf.port_rate_bps,
            inputs.nic_port_rate_bps,
            "bit/s",
            args,
        )
    for link in inputs.room_links:
        if parts_at(inputs.spine, link.rate_bps) == 0:
            args = {
                "link": format_port_rate(link.rate_bps),
                "port": format_port_rate(inputs.spine.port_rate_bps),
                "spine": inputs.spine.label,
            }
            yield Finding(
                "EW-FAB-021",
                "error",
                " - ".join(link.between),
                inputs.spine.port_rate_bps,
                link.rate_bps,
                "bit/s",
                args,
            )


def _judge_lanes(inputs: FabricInputs) -> Iterator[Finding]:
    """Links whose two ends run lanes of different rates: they do not link up."""
    pairs = (
        (
            "server - leaf",
            inputs.server.nic_label,
            inputs.nic_lane_rate_bps,
            inputs.leaf.label,
            inputs.leaf.lane_rate_bps,
        ),
        ("leaf - spine", inputs.leaf.label, inputs.leaf.lane_rate_bps, inputs.spine.label, inputs.spine.lane_rate_bps),
    )
    for subject, a, a_lane, b, b_lane in pairs:
        if a_lane != b_lane:
            args = {"a": a, "b": b, "a_lane": format_port_rate(a_lane), "b_lane": format_port_rate(b_lane)}
            yield Finding("EW-FAB-006", "error", subject, a_lane, b_lane, "bit/s", args)


def _judge_switches(site: Site, inputs: FabricInputs) -> Iterator[Finding]:
    """Switches that cannot do what the transport and loss regime need, or are of a class that does not belong here."""
    tiers: dict[str, tuple[SwitchFacts, list[str]]] = {}
    for tier, switch in (("leaf", inputs.leaf), ("spine", inputs.spine)):
        tiers.setdefault(switch.label, (switch, []))[1].append(tier)
    for label, (switch, names) in tiers.items():
        tier = ", ".join(names)
        regime, needs = _needs(site)
        lacking = [need for need in needs if _has(switch, need) is False]
        unknown = [need for need in needs if _has(switch, need) is None]
        if lacking:
            yield Finding(
                "EW-FAB-008", "error", label, ", ".join(needs), ", ".join(lacking), "", {"tier": tier, "regime": regime}
            )
        elif unknown:
            yield Finding(
                "EW-FAB-026",
                "warning",
                label,
                ", ".join(needs),
                ", ".join(unknown),
                "",
                {"tier": tier, "regime": regime},
            )
        if switch.switch_class != DATA_CENTRE_CLASS:
            severity = "warning" if site.transport == "tcp" else "error"
            args = {"tier": tier}
            yield Finding("EW-FAB-009", severity, label, DATA_CENTRE_CLASS, switch.switch_class, "", args)  # type: ignore[arg-type]


def _needs(site: Site) -> tuple[str, tuple[str, ...]]:
    """The loss regime and what a switch must have for it."""
    usual = {"infiniband": "infiniband", "tcp": "tcp"}
    regime = site.loss_regime or usual.get(site.transport, "lossless")
    needs = {
        "lossless": ("PFC", "ECN"),
        "ecn-only": ("ECN",),
        "spray-trim": ("ECN",),
        "infiniband": ("credit flow control",),
    }
    return regime, needs.get(regime, ())


def _has(switch: SwitchFacts, need: str) -> bool | None:
    """Whether the data sheet says so; None when it is silent."""
    return {"PFC": switch.pfc, "ECN": switch.ecn, "credit flow control": switch.credit}[need]


def _judge_transport(site: Site) -> Iterator[Finding]:
    """Training over TCP."""
    if site.transport == "tcp":
        for job in site.jobs:
            if job.kind == "training":
                yield Finding("EW-FAB-010", "error", job.name, "roce or infiniband", "tcp")


def _judge_boxes(inputs: FabricInputs) -> Iterator[Finding]:
    """Boxes in room links that RDMA does not go well with, before any job is placed; with jobs, `placement` judges
    the paths in use.
    """
    for link in inputs.room_links:
        for box in link.boxes:
            limit, full = box.rate_limit_bps, link.count * link.rate_bps
            if box.kind in STATEFUL_KINDS or (limit is not None and limit < full):
                args = {"link": " - ".join(link.between), "kind": box.kind.replace("_", " ")}
                yield Finding("EW-FAB-027", "warning", box.name, full, limit, "bit/s", args)
