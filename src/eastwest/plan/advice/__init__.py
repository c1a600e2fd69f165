"""Advice: one topic = one file with `advise(case) -> Advice` + one line here (alphabetical)."""

from eastwest.plan.advice import (
    budget,
    buffers,
    distance,
    isolation,
    links,
    locality,
    oversubscription,
    pfc_domain,
    rack_power,
    segment,
    serving,
    slot,
    switch_class,
    tensor_parallel,
    transport,
)
from eastwest.plan.advice.case import Advice, Advisor, Case
from eastwest.registry import Registry

__all__ = ["ADVICE", "Advice", "Advisor", "Case"]

ADVICE: Registry[Advisor] = Registry(
    "advice",
    [
        ("budget", budget.advise),
        ("buffers", buffers.advise),
        ("distance", distance.advise),
        ("isolation", isolation.advise),
        ("links", links.advise),
        ("locality", locality.advise),
        ("oversubscription", oversubscription.advise),
        ("pfc_domain", pfc_domain.advise),
        ("rack_power", rack_power.advise),
        ("segment", segment.advise),
        ("serving", serving.advise),
        ("slot", slot.advise),
        ("switch_class", switch_class.advise),
        ("tensor_parallel", tensor_parallel.advise),
        ("transport", transport.advise),
    ],
)
