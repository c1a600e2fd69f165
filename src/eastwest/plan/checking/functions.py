"""A network port behind several PCIe functions, or behind a slot too narrow for it: what one and what all can carry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from eastwest.errors import UsageError
from eastwest.fabric.slots import slot_payload_bps, slot_raw_bps
from eastwest.finding import Finding, Severity
from eastwest.plan.checking.sheet import Sheet
from eastwest.spec.resolve import DEFAULT_MAX_PAYLOAD_BYTES
from eastwest.units import BITS_PER_BYTE, GIGA, format_port_rate

JUMBO_MTU_BYTES = 9000  # what switches and NICs of RoCE networks are set to
SHOWN_FUNCTIONS = 8  # names that the setting in the hint spells out
SMALL_SHARE = 0.6  # of a ceiling: below it the path does not work as it should
MORE_THAN_ONE = 1.1  # of one function's ceiling: above it a second function carries traffic


@dataclass(frozen=True, slots=True)
class Ceilings:
    """What a port behind `n` functions can carry, bit/s: by one function, and by all together."""

    port_bps: int
    n: int
    n_named: int
    raw_bps: float
    one_bps: float
    all_bps: float

    @property
    def needs_all(self) -> bool:
        """Whether one function alone cannot fill the port."""
        return self.n > 1 and self.one_bps < self.all_bps


def ceilings_of(sheet: Sheet) -> Ceilings | None:
    """The ceilings of the port that a text describes; None when it does not.

    A function whose slot carries the whole port is bounded by the port. Else the port is split: each function has an
    equal share of it, and never more than its slot's payload. Source: PCI Express Base Specification (128b/130b, 24
    bytes a packet); NVIDIA dgx-spark-playbooks issue 102 (98 Gb/s by one function, 161 Gb/s by both).
    """
    port, generation, lanes = (sheet.whole(name) for name in ("nic_port_bps", "pcie_generation", "pcie_lanes"))
    n = sheet.whole("functions") or 1
    if not port or not generation or not lanes:
        return None
    try:
        raw, payload = (
            slot_raw_bps(generation, lanes),
            slot_payload_bps(generation, lanes, DEFAULT_MAX_PAYLOAD_BYTES),
        )
    except UsageError:
        return None
    named = {name.strip() for name in sheet.text("hca").split(",") if name.strip()}
    one = float(port) if payload >= port else min(port / n, payload)
    return Ceilings(port, n, len(named), raw, one, min(float(port), n * payload))


def judge_functions(sheet: Sheet) -> Iterator[Finding]:
    """Ceilings of a port by the PCIe behind it; a warning where not every needed function is named, or the slot is
    slow; then the measured rate and the MTU.
    """
    found = ceilings_of(sheet)
    if found is None:
        return
    yield _of_port(sheet, found)
    yield from _measured(sheet, found)
    mtu = sheet.whole("mtu_bytes")
    if mtu and mtu < JUMBO_MTU_BYTES:
        yield Finding("EW-CHK-062", "warning", "MTU", JUMBO_MTU_BYTES, mtu, "bytes", {}, sheet.evidence("mtu_bytes"))


def _of_port(sheet: Sheet, found: Ceilings) -> Finding:
    args = {
        "port": format_port_rate(found.port_bps),
        "n": found.n,
        "slot": f"Gen{sheet.whole('pcie_generation')} x{sheet.whole('pcie_lanes')}",
        "raw_gbps": round(found.raw_bps / GIGA),
        "one": _gbytes(found.one_bps),
        "all": _gbytes(found.all_bps),
        "hca": ",".join(f"<function {i + 1}>" for i in range(min(found.n, SHOWN_FUNCTIONS))),
    }
    code, severity = _verdict(sheet, found)
    ceiling = found.all_bps if code == "EW-CHK-043" else found.one_bps
    evidence = sheet.evidence("nic_port_bps", "functions", "pcie_generation", "hca")
    return Finding(code, severity, "NIC", found.port_bps, round(ceiling), "bit/s", args, evidence)


def _verdict(sheet: Sheet, found: Ceilings) -> tuple[str, Severity]:
    """A port too slow for its slot, a port of which one function is used, or one that fits."""
    if found.all_bps < found.port_bps:
        return "EW-CHK-043", "warning"
    busbw = sheet.ratio("busbw_bytes_per_s")
    are_used = busbw is not None and busbw * BITS_PER_BYTE > MORE_THAN_ONE * found.one_bps
    if found.needs_all and found.n_named < found.n and not are_used:
        return "EW-CHK-042", "warning"
    return "EW-CHK-044", "info"


def _measured(sheet: Sheet, found: Ceilings) -> Iterator[Finding]:
    """A measured bus bandwidth against the ceilings: half the port is a missing function, not a bad cable."""
    busbw = sheet.ratio("busbw_bytes_per_s")
    if not busbw:
        return
    of_one, of_all = busbw * BITS_PER_BYTE / found.one_bps, busbw * BITS_PER_BYTE / found.all_bps
    args = {"measured": f"{busbw / GIGA:.3g}", "of_one": f"{of_one:.0%}", "of_all": f"{of_all:.0%}"}
    code, severity = _measured_code(found, of_one, of_all)
    yield Finding(code, severity, "busbw", args=args, evidence=sheet.evidence("busbw_bytes_per_s"))


def _measured_code(found: Ceilings, of_one: float, of_all: float) -> tuple[str, Severity]:
    if of_all > MORE_THAN_ONE:
        return "EW-CHK-089", "warning"  # more than the port can carry: another measure, or another port
    if not found.needs_all:
        return ("EW-CHK-085", "info") if of_all >= SMALL_SHARE else ("EW-CHK-064", "warning")
    if of_one > MORE_THAN_ONE:
        return "EW-CHK-084", "info"
    if of_one < SMALL_SHARE:
        return "EW-CHK-064", "info"
    return ("EW-CHK-088", "warning") if found.n_named >= found.n else ("EW-CHK-063", "info")


def _gbytes(bps: float) -> str:
    return f"{bps / BITS_PER_BYTE / GIGA:.3g}"
