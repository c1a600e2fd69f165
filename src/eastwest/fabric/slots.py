"""What a PCI Express slot lets a NIC have: raw bits after line coding, and payload after TLP framing."""

from __future__ import annotations

from eastwest.spec import catalogue
from eastwest.spec.resolve import ServerFacts

LINE_CODE_RATIO = 128 / 130  # 128b/130b, generations 3 to 5
FLIT_RATIO = 236 / 256  # TLP bytes of a 256-byte flit, generations 6 and 7
TLP_OVERHEAD_BYTES = 24  # 4 framing and sequence + 16 header (64-bit address) + 4 LCRC
FLIT_GENERATION = 6


def slot_raw_bps(generation: int, lanes: int) -> float:
    """Bit/s of a PCIe slot in one direction after line coding: transfers/s x lanes x 128/130 (Gen4 x16: 252 Gb/s).

    Transfers/s of a lane come from the hardware catalogue (`eastwest hardware gen4`). Generations 6 and 7 count the
    TLP bytes of a flit instead. Source: PCI Express Base Specification. Raises UsageError for an unknown generation.
    """
    code = FLIT_RATIO if generation >= FLIT_GENERATION else LINE_CODE_RATIO
    return catalogue.get("pcie", f"gen{generation}").lane_rate_bps * lanes * code


def slot_payload_bps(generation: int, lanes: int, max_payload_bytes: int) -> float:
    """Bit/s of payload through a PCIe slot: raw x payload / (payload + 24 bytes of TLP framing, header and LCRC).

    Gen4 x16 gives 212, 230 and 241 Gb/s at 128, 256 and 512 bytes. Flow-control and acknowledge packets cost a few per
    cent more, which is not counted.
    """
    return slot_raw_bps(generation, lanes) * max_payload_bytes / (max_payload_bytes + TLP_OVERHEAD_BYTES)


def nic_slot_payload_bps(server: ServerFacts) -> float | None:
    """Bit/s of payload through the slot of each NIC of a server, all its PCIe functions together; None when the slot's
    generation is not known.
    """
    if server.pcie_generation is None:
        return None
    one = slot_payload_bps(server.pcie_generation, server.pcie_lanes, server.max_payload_bytes)
    return one * server.pcie_functions
