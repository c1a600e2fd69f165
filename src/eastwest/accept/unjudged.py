"""Why a collective's result has no ceiling: what is missing, or that there is none; with what the number would be of
common servers.
"""

from __future__ import annotations

from eastwest.accept.ceilings import NIC_RATIO
from eastwest.accept.choice import COLLECTIVE_OPTION, Choice, may_be_cards
from eastwest.accept.results import Result, gigabytes
from eastwest.finding import Finding
from eastwest.units import BITS_PER_BYTE, GIGA

COMMON_EXITS = ((8, 400), (8, 200), (4, 200), (8, 100), (4, 100), (1, 400), (1, 200), (1, 100))  # NICs x Gb/s


def no_ceiling(result: Result, choice: Choice) -> Finding:
    """The finding for a result without a ceiling: the way out where there is one."""
    code, more = _reason(result, choice)
    measured = result.measured_bytes_per_s or 0.0
    lines = (result.line,) if result.line else ()
    args = {"measured": gigabytes(measured), **more}
    return Finding(code, "warning", result.collective, None, measured, "bytes_per_s", args, lines)


def _reason(result: Result, choice: Choice) -> tuple[str, dict[str, object]]:
    facts, missing = choice.facts, result.missing
    gpu = facts.get("gpu") or facts.get("gpu_printed") or ""
    if choice.spans_domains:
        return "EW-SCO-066", {"gpus": result.gpus or "?", "gpu": gpu}
    if not result.crosses_network:
        if missing and gpu and may_be_cards(facts):
            return "EW-SCO-076", {"gpu": gpu, "options": missing[0]}
        return "EW-SCO-009" if missing else "EW-SCO-013", {"gpu": gpu, "options": ", ".join(missing)}
    if not missing:
        return "EW-SCO-014", {}
    if len(missing) == 1 and missing[0].startswith(COLLECTIVE_OPTION):
        return "EW-SCO-074", {"options": missing[0]}
    return "EW-SCO-010", {"options": " ".join(missing), "would_be": _would_be(result.measured_bytes_per_s or 0.0)}


def _would_be(measured: float) -> str:
    """`98 % of 8 x 200G, 49 % of 8 x 400G`: shares of rings over common exits, none above the wire."""
    shares = [(measured / (nics * gbps * GIGA / BITS_PER_BYTE * NIC_RATIO), nics, gbps) for nics, gbps in COMMON_EXITS]
    fitting = [
        f"{share * 100:.0f} % of {nics} x {gbps}G"
        for share, nics, gbps in sorted(shares, reverse=True)
        if 0.2 <= share <= 1.03
    ]
    return ", ".join(fitting) or "more or less than common servers carry"
