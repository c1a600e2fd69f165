"""How far a pause can travel: the ports and hops of the PFC domain, and what should not be inside it."""

from __future__ import annotations

import numpy as np

from eastwest.decision import Decision
from eastwest.fabric.rooms import link_name
from eastwest.fabric.tables import NodeKind
from eastwest.finding import Finding
from eastwest.plan.advice.case import Advice, Case
from eastwest.policy.rtt import SWITCHES_BY_TIERS
from eastwest.units import format_length

SOURCE = "seed text 001, section 5.1: the smaller the reach of PFC, the easier a fault is found and repaired"
SWITCHES = (NodeKind.LEAF, NodeKind.SPINE, NodeKind.CORE)


def advise(case: Case) -> Advice:
    """Ports and hops that one pause can reach in a lossless fabric, with a finding for each link to another room."""
    if not case.is_lossless:
        return Advice()
    fabric = case.fabric
    cabled = fabric.ports["node"][fabric.ports["link"] >= 0]
    on_switch = np.isin(fabric.nodes["kind"][cabled], SWITCHES)
    ports, n_switches = int(np.count_nonzero(on_switch)), int(np.isin(fabric.nodes["kind"], SWITCHES).sum())
    inside = SWITCHES_BY_TIERS.get(fabric.tiers, 2 * fabric.tiers - 1)
    hops = inside + (inside + 1) // 2 if fabric.room_links else inside
    shared = case.site.storage is not None and case.site.storage.network == "shared"
    decision = Decision(
        "pfc.domain",
        ports,
        "ports",
        f"a pause can travel over {hops} switches to any of {ports} switch ports in {len(fabric.rooms)} rooms",
        "switch ports with a cable; hops = switches on the longest path",
        {
            "switches": n_switches,
            "hops": hops,
            "lossless_classes": len(case.policy.lossless_priorities),
            "rooms": len(fabric.rooms),
            "storage_inside": shared,
            "planes": fabric.planes,
        },
        SOURCE,
    )
    return Advice((decision,), tuple(_rooms(case, ports)))


def _rooms(case: Case, ports: int) -> list[Finding]:
    found = []
    for index, wish in enumerate(case.site.room_links):
        args = {"distance": format_length(wish.distance_m), "ports": ports}
        path = f"room_links[{index}]"
        found.append(Finding("EW-ADV-012", "warning", link_name(wish), 1, 2, "rooms", args, path=path))
    return found
