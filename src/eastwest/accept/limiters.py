"""The likely limiter of a result below its ceiling, named only when the log or the ratio tells.

A ratio tells when it is a simple fraction: 1/N and (N-1)/N of N NICs, 1/2 (ACS, one port of a bond, a PCIe slot of half
the width), 1/8 and 3/4 (one of four uplinks). A few GB/s whatever the NICs can do is TCP. Everything else is "not
told by this number", with the test that would tell.
Source: NVIDIA/nccl-tests#112, #252, #265, NVIDIA/nccl#304, #700, #949: reports with confirmed causes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from eastwest.accept.ceilings import Ceiling
from eastwest.accept.curve import Curve
from eastwest.accept.facts import Facts
from eastwest.accept.results import gigabytes
from eastwest.finding import Finding
from eastwest.units import GIGA

NEAR_FRACTION_RATIO = 0.05  # relative: a healthy ring itself varies by 4 %
SOCKET_BYTES_PER_S = 13.0 * GIGA  # published all-reduce over TCP: 3 (IPoIB, 8 x 200G) to 10 (100GbE) GB/s
SOCKET_SHARE_RATIO = 0.12
LOSS_BYTES_PER_S = 1.0 * GIGA  # RoCE without a lossless class or ECN end to end: below 1 GB/s (NVIDIA/nccl#378, #306)


@dataclass(frozen=True, slots=True)
class Case:
    """What a limiter is looked for in."""

    subject: str
    measured_bytes_per_s: float
    ceiling: Ceiling
    ratio: float
    facts: Facts
    curve: Curve | None = None
    ring: Ceiling | None = None
    is_pair: bool = False


def limiter_of(case: Case) -> Finding:
    """The first limiter that the log or the ratio tells, else the finding that none does."""
    return next(iter(_told(case)), _finding("EW-SCO-039", case, share=_share(case.ratio)))


def _told(case: Case) -> Iterator[Finding]:
    yield from _by_log(case)
    if case.ceiling.limit == "scale-up":
        yield from _inside(case)
        return
    if case.curve and case.curve.collapse:
        yield _finding("EW-SCO-036", case, after=case.curve.collapse.size_bytes)
    yield from _by_level(case)
    if case.ceiling.name == "all-to-all" and case.ratio >= 0.7:
        yield _finding("EW-SCO-034", case, share=_share(case.ratio))
    yield from (_by_pair_fraction(case) if case.is_pair else _by_fraction(case))


def _by_log(case: Case) -> Iterator[Finding]:
    """What the text itself says of the transport."""
    if case.facts.get("transport") == "Socket" and not case.is_pair:
        yield _finding("EW-SCO-020", case, why=_why(case, "transport"))
    elif case.facts.get("gpu_direct") == "off" and not case.is_pair:
        yield _finding("EW-SCO-031", case, why=_why(case, "gpu_direct"))


def _inside(case: Case) -> Iterator[Finding]:
    """Inside a server: NVLS that was not used looks like the ring at its full rate."""
    if case.ring and case.ceiling.name == "NVLS" and case.measured_bytes_per_s >= 0.9 * case.ring.bytes_per_s:
        share = _share(case.measured_bytes_per_s / case.ring.bytes_per_s)
        yield _finding("EW-SCO-027", case, ring=gigabytes(case.ring.bytes_per_s), share=share)
    else:
        yield _finding("EW-SCO-038", case, share=_share(case.ratio))


def _by_level(case: Case) -> Iterator[Finding]:
    """A level that does not depend on the NICs: loss, or TCP."""
    level = case.measured_bytes_per_s
    if case.ratio < SOCKET_SHARE_RATIO and level < LOSS_BYTES_PER_S:
        yield _finding("EW-SCO-028", case, share=_share(case.ratio))
    elif case.ratio < SOCKET_SHARE_RATIO and level < SOCKET_BYTES_PER_S and not case.is_pair:
        yield _finding("EW-SCO-021", case, share=_share(case.ratio))


def _by_pair_fraction(case: Case) -> Iterator[Finding]:
    """One NIC at one end: half of it is one leg of a bond or a slot of half the width."""
    if _near(case.ratio, 1 / 2):
        yield _finding("EW-SCO-035", case, fraction="1/2")
    elif _near(case.ratio, 1 / 4):
        yield _finding("EW-SCO-040", case, fraction="1/4")


def _by_fraction(case: Case) -> Iterator[Finding]:
    """A simple fraction of all NICs."""
    nics = case.facts.get("nics_per_server") or 0
    if nics == 2 or _near(case.ratio, 1 / 2):
        if _near(case.ratio, 1 / 2):
            yield _finding("EW-SCO-023", case, fraction="1/2", nics=nics)
        return
    if nics > 2 and _near(case.ratio, 1 / nics):
        yield _finding("EW-SCO-022", case, fraction=f"1/{nics}", nics=nics)
    elif nics > 2 and _near(case.ratio, (nics - 1) / nics, 1 / (4 * nics)):
        yield _finding("EW-SCO-024", case, fraction=f"{nics - 1}/{nics}", nics=nics)
    elif _near(case.ratio, 3 / 4):
        yield _finding("EW-SCO-033", case, fraction="3/4", nics=nics)
    elif _near(case.ratio, 1 / 8) or _near(case.ratio, 1 / 4):
        part = "1/8" if _near(case.ratio, 1 / 8) else "1/4"
        yield _finding("EW-SCO-025", case, fraction=part, nics=nics)


def _near(ratio: float, fraction: float, within: float = NEAR_FRACTION_RATIO) -> bool:
    return abs(ratio - fraction) <= min(within, NEAR_FRACTION_RATIO) * fraction


def _share(ratio: float) -> str:
    return f"{ratio * 100:.0f}" if ratio >= 0.1 else f"{ratio * 100:.1f}"


def _why(case: Case, name: str) -> str:
    fact = case.facts.by_name[name]
    return fact.why


def _finding(code: str, case: Case, **args: object) -> Finding:
    return Finding(
        code,
        "warning",
        case.subject,
        case.ceiling.bytes_per_s,
        case.measured_bytes_per_s,
        "bytes_per_s",
        {"measured": gigabytes(case.measured_bytes_per_s), "ceiling": gigabytes(case.ceiling.bytes_per_s), **args},
    )
