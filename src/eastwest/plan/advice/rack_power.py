"""Power of the racks: what they draw as filled, and servers that a rack holds by units but not by power."""

from __future__ import annotations

from eastwest.decision import Decision
from eastwest.finding import Finding
from eastwest.plan.advice.case import Advice, Case
from eastwest.spec.resolve import resolve_server
from eastwest.units import format_power

HIGH_POWER_W = 40_000.0  # above it air alone is hard: ASHRAE TC 9.9 sees liquid or rear-door cooling from about there
SOURCE = "data sheets, at most; optics not counted; seed text 001, section 2.2: eight 8-GPU servers a rack"
USUAL_SERVERS_PER_RACK = 8  # the seed text's rack: 50 to 80 kW of 8-GPU servers


def advise(case: Case) -> Advice:
    """The rack that draws most, what eight servers a rack would draw, and wishes that power does not allow."""
    racks, server = case.bill.racks, case.server
    if not racks.racks:
        return Advice()
    full_w = USUAL_SERVERS_PER_RACK * server.power_w
    decision = Decision(
        "rack.power",
        racks.most_w,
        "W",
        f"{racks.most_rack} draws most of {racks.racks} racks; {USUAL_SERVERS_PER_RACK} servers a rack would draw "
        f"{format_power(full_w)}",
        "sum of the devices' most in one rack",
        {
            "racks": racks.racks,
            "mean_w": racks.mean_w,
            "limit_w": racks.limit_w,
            "server_w": server.power_w,
            "eight_servers_w": full_w,
        },
        SOURCE,
    )
    return Advice((decision,), (*_high(case), *_wishes(case)))


def _high(case: Case) -> list[Finding]:
    racks = case.bill.racks
    if racks.most_w <= HIGH_POWER_W:
        return []
    args = {
        "power": format_power(racks.most_w),
        "usual": format_power(HIGH_POWER_W),
        "mean": format_power(racks.mean_w),
    }
    return [Finding("EW-ADV-016", "info", racks.most_rack, HIGH_POWER_W, racks.most_w, "W", args, path="rooms")]


def _wishes(case: Case) -> list[Finding]:
    """Racks that are to hold more servers than their power feeds."""
    found = []
    for room_index, room in enumerate(case.site.rooms):
        groups = [resolve_server(wish) for wish in case.site.servers if wish.room in (None, room.name)]
        server_w = max((group.power_w for group in groups), default=0.0)
        for rack_index, rack in enumerate(room.racks):
            if rack.servers is None or rack.servers * server_w <= rack.power_w:
                continue
            args = {
                "room": room.name,
                "servers": rack.servers,
                "need": format_power(rack.servers * server_w),
                "power": format_power(rack.power_w),
                "fit": int(rack.power_w // server_w),
            }
            path = f"rooms[{room_index}].racks[{rack_index}].servers"
            wanted = rack.servers * server_w
            found.append(Finding("EW-ADV-017", "warning", rack.name, rack.power_w, wanted, "W", args, path=path))
    return found
