"""How far a pause can travel: the ports and hops of the PFC domain, and what should not be inside it."""

from __future__ import annotations

import numpy as np

from eastwest.decision import Decision
from eastwest.fabric.rooms import link_name
from eastwest.fabric.tables import SWITCHES
from eastwest.finding import Finding
from eastwest.plan.advice.case import Advice, Case
from eastwest.policy.rtt import SWITCHES_BY_TIERS
from eastwest.units import format_length

SOURCE = "seed text 001, section 5.1: the smaller the reach of PFC, the easier a fault is found and repaired"


def advise(case: Case) -> Advice:
    """Ports and hops that one pause can reach in a lossless fabric, with a finding for each link to another room."""
    if not case.is_lossless:
        return Advice()
    fabric = case.fabric
    n_switches = int(np.isin(fabric.nodes["kind"], SWITCHES).sum())
    inside = SWITCHES_BY_TIERS.get(fabric.tiers, 2 * fabric.tiers - 1)
    crosses = any(wish.pfc is not False for wish in case.site.room_links)
    rooms, ports = len(fabric.rooms) if crosses else 1, _ports(case, crosses)
    reach = f"{rooms} {'room' if rooms == 1 else 'rooms'}"
    ends = "" if crosses or not case.site.room_links else ": it ends at the links between rooms"
    hops = inside + (inside + 1) // 2 if crosses else inside
    shared = case.site.storage is not None and case.site.storage.network == "shared"
    decision = Decision(
        "pfc.domain",
        ports,
        "ports",
        f"a pause can travel over {hops} switches to any of {ports} switch ports in {reach}{ends}",
        "switch ports with a cable; hops = switches on the longest path",
        {
            "switches": n_switches,
            "hops": hops,
            "lossless_classes": len(case.policy.lossless_priorities),
            "rooms": rooms,
            "storage_inside": shared,
            "planes": fabric.planes,
        },
        SOURCE,
    )
    return Advice((decision,), tuple(_rooms(case, ports)))


def _ports(case: Case, crosses: bool) -> int:
    """Switch ports of one PFC domain: with a cable that pauses cross, of all rooms or of the largest."""
    fabric, ends = case.fabric, case.policy.without_pfc
    link = fabric.ports["link"]
    cabled = link >= 0
    if ends is not None:
        cabled &= ~ends[np.maximum(link, 0)]
    node = fabric.ports["node"][cabled]
    node = node[np.isin(fabric.nodes["kind"][node], SWITCHES)]
    by_room = np.bincount(fabric.nodes["room"][node])
    return int(by_room.sum() if crosses else by_room.max(initial=0))


def _rooms(case: Case, ports: int) -> list[Finding]:
    found = []
    for index, wish in enumerate(case.site.room_links):
        if wish.pfc is False:
            continue
        args = {"distance": format_length(wish.distance_m), "ports": ports}
        path = f"room_links[{index}]"
        found.append(Finding("EW-ADV-012", "warning", link_name(wish), 1, 2, "rooms", args, path=path))
    return found
