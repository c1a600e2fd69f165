"""Which class of switch belongs where: data-centre, ordinary L3, home."""

from __future__ import annotations

from eastwest.decision import Alternative, Decision
from eastwest.plan.advice.case import Advice, Case
from eastwest.policy.derive import TIER_OF_ROLE
from eastwest.policy.faces import roles_of
from eastwest.spec.resolve import switch_of_tier

SOURCE = "seed text 001, section 3.1, table of switch classes"
USE_OF_CLASS = {
    "data_centre": "the training and inference network: large buffer, PFC, ECN, low latency",
    "l3": "management and monitoring, never RDMA: no PFC, a buffer that one incast fills",
    "home": "debugging on a desk, never production: no lossless ability at all",
}


def advise(case: Case) -> Advice:
    """What each tier's switch may be used for; the findings about a wrong class are EW-FAB-008 and EW-FAB-009."""
    found = []
    for role in roles_of(case.fabric):
        switch = switch_of_tier(case.site, TIER_OF_ROLE[role])
        if switch is None:
            continue
        others = tuple(Alternative(name, use) for name, use in USE_OF_CLASS.items() if name != switch.switch_class)
        inputs = {
            "switch": switch.label,
            "pfc": switch.pfc,
            "ecn": switch.ecn,
            "buffer_total_bytes": switch.buffer_total_bytes,
        }
        because = f"for {USE_OF_CLASS.get(switch.switch_class, 'what its data sheet says')}"
        found.append(Decision(f"switch_class.{role}", switch.switch_class, "", because, "", inputs, SOURCE, others))
    return Advice(tuple(found))
