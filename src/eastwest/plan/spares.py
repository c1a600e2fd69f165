"""The spare stock: how many of each part last until the next delivery, from the failures that are to be expected."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from eastwest.decision import Decision
from eastwest.fabric.media import MEDIA, WHOLE_CABLES
from eastwest.fabric.parts import parts
from eastwest.fabric.tables import Fabric, NodeKind
from eastwest.plan.failure_rates import (
    LEAD_TIME_S,
    LINK_RATE,
    MONTH_S,
    NIC_RATE,
    SPARE_CONFIDENCE,
    SWITCH_RATE,
    FailureRate,
    spare_stock,
)
from eastwest.spec.resolve import ServerFacts
from eastwest.units import DAY_S

TIER_KINDS = {"leaf": NodeKind.LEAF, "spine": NodeKind.SPINE, "core": NodeKind.CORE}


@dataclass(frozen=True, slots=True)
class Spare:
    """One part: pieces in use, failures that are due in the lead time, and the stock that lasts through it.

    `failures_per_piece` is how often a failure of its kind falls on one piece: 1, or links a module when a failed link
    costs one of its modules.
    """

    part: str
    unit: str
    in_use: int
    failures_per_piece: float
    rate: FailureRate

    @property
    def expected(self) -> float:
        """Failures in the lead time that need a spare."""
        monthly = self.in_use * self.failures_per_piece * self.rate.per_month * self.rate.spare_share
        return monthly * LEAD_TIME_S / MONTH_S

    @property
    def stock(self) -> int:
        """Pieces to keep."""
        return spare_stock(self.expected)

    def as_json(self) -> dict[str, Any]:
        """The row in the shape of the command line's contract."""
        return {
            "part": self.part,
            "unit": self.unit,
            "in_use": self.in_use,
            "expected_in_lead_time": self.expected,
            "lead_time_s": LEAD_TIME_S,
            "confidence_ratio": SPARE_CONFIDENCE,
            "stock": self.stock,
            "source": self.rate.source,
        }


def spare_stocks(fabric: Fabric, server: ServerFacts) -> tuple[Spare, ...]:
    """Every part that fails whole: NICs, switches (one stock for a model of several tiers), cables with fixed ends,
    modules. Fibres are cleaned, seldom replaced, and have none.
    """
    return tuple(spare for spare in _spares(fabric, server) if spare.in_use)


def _spares(fabric: Fabric, server: ServerFacts) -> Iterator[Spare]:
    yield Spare(server.nic_label, "NIC", fabric.n_servers * fabric.nics_per_server, 1.0, NIC_RATE)
    switches: Counter[str] = Counter()
    for tier, label in fabric.switches.items():
        switches[label] += int(fabric.nodes_of(TIER_KINDS[tier]).size)
    for label, count in switches.items():
        yield Spare(label, "switch", count, 1.0, SWITCH_RATE)
    bought = parts(fabric)
    modules = sum(part.count for part in bought if part.unit == "module")
    optical_links = int(
        np.count_nonzero(~np.isin(fabric.links["medium"], [MEDIA.index(name) for name in WHOLE_CABLES]))
    )
    for part in bought:
        if part.is_fixed:
            yield Spare(part.part, part.unit, part.count, 1.0, LINK_RATE)
        elif part.unit == "module":
            yield Spare(part.part, part.unit, part.count, optical_links / modules, LINK_RATE)


def _id_of(part: str) -> str:
    """A part's name as a piece of a decision's id."""
    return re.sub(r"[^a-z0-9.]+", "-", part.lower()).strip("-")


def decide_spares(spares: tuple[Spare, ...]) -> Iterator[Decision]:
    """One decision a part: the stock, its formula and what went into it."""
    for spare in spares:
        yield Decision(
            f"failure.spares.{_id_of(spare.part)}",
            spare.stock,
            spare.unit,
            f"lasts {LEAD_TIME_S / DAY_S:g} days with {SPARE_CONFIDENCE:.0%} chance; {spare.expected:.3g} failures are "
            "due until then",
            "smallest n with sum(exp(-m) * m**k / k! for k = 0..n) >= confidence, "
            "m = in_use * failures_per_piece * per_month * spare_share * lead_time / month",
            {
                "in_use": spare.in_use,
                "failures_per_piece": spare.failures_per_piece,
                "per_month": spare.rate.per_month,
                "spare_share": spare.rate.spare_share,
                "lead_time_s": LEAD_TIME_S,
                "month_s": MONTH_S,
                "confidence": SPARE_CONFIDENCE,
            },
            f"{spare.rate.source}; lead time and chance are ours",
        )
