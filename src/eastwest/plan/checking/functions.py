"""A network port behind several PCIe functions, or behind a slot too narrow for it: what one and what all can carry."""

from __future__ import annotations

from collections.abc import Iterator

from eastwest.errors import UsageError
from eastwest.fabric.slots import slot_payload_bps, slot_raw_bps
from eastwest.finding import Finding
from eastwest.plan.checking.sheet import Sheet
from eastwest.spec.resolve import DEFAULT_MAX_PAYLOAD_BYTES
from eastwest.units import BITS_PER_BYTE, GIGA, format_port_rate

JUMBO_MTU_BYTES = 9000
SMALL_SHARE = 0.6  # of one function's ceiling: below it not even one function works as it should


def judge_functions(sheet: Sheet) -> Iterator[Finding]:
    """Ceilings of a port by the PCIe behind it; a warning where one function only is named, or the slot is slow.

    A port of rate R seen as n functions gives each R / n, and never more than its slot's payload. Source: PCI Express
    Base Specification (128b/130b, 24 bytes a packet); NVIDIA dgx-spark-playbooks issue 102 (98 Gb/s by one function,
    161 Gb/s by both).
    """
    port, generation, lanes = (sheet.whole(name) for name in ("nic_port_bps", "pcie_generation", "pcie_lanes"))
    n = sheet.whole("functions") or 1
    if not port or not generation or not lanes:
        return
    try:
        raw, payload = (
            slot_raw_bps(generation, lanes),
            slot_payload_bps(generation, lanes, DEFAULT_MAX_PAYLOAD_BYTES),
        )
    except UsageError:
        return
    one, all_of_them = min(port / n, payload), min(float(port), n * payload)
    args = {
        "port": format_port_rate(port),
        "n": n,
        "slot": f"Gen{generation} x{lanes}",
        "raw_gbps": round(raw / GIGA),
        "one": f"{one / BITS_PER_BYTE / GIGA:.3g}",
        "all": f"{all_of_them / BITS_PER_BYTE / GIGA:.3g}",
    }
    evidence = sheet.evidence("nic_port_bps", "functions", "pcie_generation", "hca")
    if n > 1:
        named = [name for name in sheet.text("hca").split(",") if name.strip()]
        code, severity = ("EW-CHK-044", "info") if len(named) >= n else ("EW-CHK-042", "warning")
        args["hca"] = ",".join(f"<function {i + 1}>" for i in range(min(n, 8)))
        observed = round(one)
        yield Finding(code, "info" if severity == "info" else "warning", "NIC", port, observed, "bit/s", args, evidence)
    elif all_of_them < port:
        yield Finding("EW-CHK-043", "warning", "NIC", port, round(all_of_them), "bit/s", args, evidence)
    else:
        yield Finding("EW-CHK-044", "info", "NIC", port, round(one), "bit/s", {**args, "hca": ""}, evidence)
    yield from _measured(sheet, one, all_of_them)
    mtu = sheet.whole("mtu_bytes")
    if mtu and mtu < JUMBO_MTU_BYTES:
        yield Finding("EW-CHK-062", "warning", "MTU", JUMBO_MTU_BYTES, mtu, "bytes", {}, sheet.evidence("mtu_bytes"))


def _measured(sheet: Sheet, one_bps: float, all_bps: float) -> Iterator[Finding]:
    """A measured bus bandwidth against the two ceilings: half the port is a missing function, not a bad cable."""
    busbw = sheet.ratio("busbw_bytes_per_s")
    if not busbw:
        return
    share = busbw * BITS_PER_BYTE / one_bps
    args = {
        "measured": f"{busbw / GIGA:.3g}",
        "of_one": f"{share:.0%}",
        "of_all": f"{busbw * BITS_PER_BYTE / all_bps:.0%}",
    }
    code = "EW-CHK-063" if share >= SMALL_SHARE else "EW-CHK-064"
    yield Finding(code, "info", "busbw", args=args, evidence=sheet.evidence("busbw_bytes_per_s"))
