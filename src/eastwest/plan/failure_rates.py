"""How often parts of a network fail, as published, and how many spares that asks for.

Published rates differ by ten and more between fleets; each one here names its source, and the decisions of a plan show
the formula, so that a fleet's own rate can be put in its place. Failures are taken as independent and as equally likely
at any time (Poisson): infant mortality in the first weeks is higher, and a bad batch fails together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from eastwest.fabric.faults import Fault, FaultKind
from eastwest.units import DAY_S

MONTH_S = 365.25 / 12 * DAY_S
LEAD_TIME_S = 30 * DAY_S  # from order to delivery of a spare; our assumption, a purchasing department knows its own
SPARE_CONFIDENCE = 0.95  # chance that the stock lasts until the next delivery
LINK_SHARE_PER_MONTH = 0.00057  # NIC-to-ToR links that fail in a month: 0.057 %
TOR_SHARE_PER_MONTH = 0.00051  # ToRs with a critical failure in a month: 0.051 %
SWITCHES_LOST = 0.02  # of a cohort of switches, within the following months
SWITCH_MONTHS = 3
SWITCH_HARDWARE_SHARE = 0.32  # of switch failures, the rest being power, software and unknown
NIC_INTERRUPTIONS, NIC_COUNT, NIC_DAYS = 7, 16_384, 54  # Llama 3 405B pre-training: one NIC a GPU
NETWORK_INTERRUPTIONS = 35  # of the same run: network switch or cable
HPN = "Qian et al. 2024 (Alibaba HPN, SIGCOMM)"
LLAMA = "Llama 3 paper 2024, table 5"
SWITCH_SURVIVAL = "Singh et al. 2021 (surviving switch failures in cloud datacenters, SIGCOMM CCR 51-2)"


@dataclass(frozen=True, slots=True)
class FailureRate:
    """Failures of one part in a month, where that is published, in words, and how many of them need a spare."""

    per_month: float
    formula: str
    source: str
    spare_share: float = 1.0


LINK_RATE = FailureRate(LINK_SHARE_PER_MONTH, "0.00057 links a month", f"{HPN}: 0.057 % of NIC-ToR links a month")
SWITCH_RATE = FailureRate(
    -math.log(1 - SWITCHES_LOST) / SWITCH_MONTHS,
    "-ln(1 - 0.02) / 3 switches a month",
    f"{SWITCH_SURVIVAL}: 2 % of 180,000 switches within 3 months, 32 % of them hardware",
    SWITCH_HARDWARE_SHARE,
)
NIC_RATE = FailureRate(
    NIC_INTERRUPTIONS / NIC_COUNT / (NIC_DAYS * DAY_S) * MONTH_S,
    "7 / 16384 / 54 days",
    f"{LLAMA}: 7 NIC interruptions of 16,384 GPUs in 54 days",
)
# A plane goes with an image or a configuration, a room path with a duct: nobody publishes a rate that would fit.
RATES: dict[FaultKind, FailureRate] = {
    FaultKind.NIC: NIC_RATE,
    FaultKind.SERVER_LINK: LINK_RATE,
    FaultKind.DIRECT_LINK: LINK_RATE,
    FaultKind.LEAF_SPINE_LINK: LINK_RATE,
    FaultKind.SPINE_CORE_LINK: LINK_RATE,
    FaultKind.ROOM_LINK: LINK_RATE,
    FaultKind.LEAF: SWITCH_RATE,
    FaultKind.SPINE: SWITCH_RATE,
    FaultKind.CORE: SWITCH_RATE,
}


# Of a link's failures; fibres are seldom the cause, so each falls on the module of either end.
OPTIC_RATE = replace(
    LINK_RATE,
    per_month=LINK_SHARE_PER_MONTH / 2,
    formula="0.00057 / 2 links a month",
    source=f"{HPN}: 0.057 % of NIC-ToR links a month, half of it at either end",
)
# Kinds of links whose failures hold those of their modules already, by the kind of the fault.
OPTIC_FAULTS = (FaultKind.SERVER_OPTIC, FaultKind.SWITCH_OPTIC)


def rate_of(fault: Fault) -> FailureRate | None:
    """How often the part of a fault fails; a module as often as half of each of its links. None without a published
    rate.
    """
    if fault.kind not in OPTIC_FAULTS:
        return RATES.get(fault.kind)
    n = len(fault.links)
    formula = OPTIC_RATE.formula if n == 1 else f"{n} x {OPTIC_RATE.formula}"
    return replace(OPTIC_RATE, per_month=OPTIC_RATE.per_month * n, formula=formula)


def spare_stock(expected: float, confidence: float = SPARE_CONFIDENCE) -> int:
    """The fewest spares that last with that chance when `expected` failures are due until the next delivery: the
    quantile of the Poisson distribution, smallest n with sum over k <= n of exp(-m) m^k / k! >= confidence.

    >>> [spare_stock(mean) for mean in (0.0, 0.05, 1.0, 9.3)]
    [0, 0, 3, 15]
    """
    log_term, total, n = -expected, math.exp(-expected), 0
    while total < confidence:
        n += 1
        log_term += math.log(expected / n)
        total += math.exp(log_term)
    return n
