"""The NIC against its slot: what PCIe leaves of the wire's rate at each MaxPayloadSize."""

from __future__ import annotations

from eastwest.decision import Alternative, Decision
from eastwest.fabric.slots import TLP_OVERHEAD_BYTES, slot_payload_bps, slot_raw_bps
from eastwest.plan.advice.case import Advice, Case
from eastwest.units import GIGA, format_port_rate

PAYLOADS_BYTES = (128, 256, 512)


def advise(case: Case) -> Advice:
    """Payload through the slot of the NICs; the finding about a slot that is too slow is EW-FAB-007."""
    server = case.server
    if server.pcie_generation is None:
        return Advice()
    generation, lanes = server.pcie_generation, server.pcie_lanes
    chosen = slot_payload_bps(generation, lanes, server.max_payload_bytes)
    raw = slot_raw_bps(generation, lanes)
    fits = server.nic_rate_bps <= chosen
    harm = "the wire outruns the host: the NIC's buffer fills and the NIC sends pause into the fabric"
    good = "the host takes what the wire brings"
    others = [size for size in PAYLOADS_BYTES if size != server.max_payload_bytes]
    decision = Decision(
        "server.slot",
        round(chosen),
        "bit/s",
        f"{format_port_rate(server.nic_rate_bps)} NIC in Gen{generation} x{lanes}: {good if fits else harm}",
        "transfers/s x lanes x 128/130 x P / (P + 24)",
        {
            "raw_bps": round(raw),
            "nic_rate_bps": server.nic_rate_bps,
            "max_payload_bytes": server.max_payload_bytes,
            "overhead_bytes": TLP_OVERHEAD_BYTES,
        },
        "PCI Express Base Specification; 24 bytes of framing, header and LCRC a packet",
        tuple(
            Alternative(round(slot_payload_bps(generation, lanes, size)), _at(generation, lanes, size))
            for size in others
        ),
    )
    return Advice((decision,))


def _at(generation: int, lanes: int, size: int) -> str:
    return f"{slot_payload_bps(generation, lanes, size) / GIGA:.0f} Gb/s at a MaxPayloadSize of {size} B"
