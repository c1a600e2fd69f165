"""The management network: one port for each BMC, host and switch, 48-port access switches in every room, an aggregation
pair above them.
"""

from __future__ import annotations

import math

import numpy as np

from eastwest.decision import Decision
from eastwest.fabric.tables import Fabric, NodeKind
from eastwest.plan.bom import BomRow
from eastwest.plan.part_names import OUT_OF_BAND_CABLE
from eastwest.plan.side_network import SideNetwork
from eastwest.spec import catalogue
from eastwest.spec.site import Site

ACCESS_SWITCH, AGGREGATION_SWITCH = "mgmt-48x1g", "l3-48x10g-6x100g"
PORTS_PER_SWITCH = 1  # one management port on each switch and monitoring host
UPLINKS_PER_ACCESS_SWITCH = 2  # 10G each, to two aggregation switches
AGGREGATION_PAIR = 2
CABLE_M = 5.0  # access switch in the rack or beside it; assumed
UPLINK_M = 30.0  # assumed
FABRIC_SWITCHES = (NodeKind.LEAF, NodeKind.SPINE, NodeKind.CORE)


def out_of_band_network(site: Site, fabric: Fabric, managed: int) -> SideNetwork:
    """The management network that the site file asks for; `managed` switches and hosts of other side networks stand in
    the first room.
    """
    if site.out_of_band is None:
        return SideNetwork()
    ports = ports_by_room(fabric, site.out_of_band.ports_per_server)
    ports[0] += managed * PORTS_PER_SWITCH
    access = catalogue.get("switch", ACCESS_SWITCH)
    switches = [math.ceil(n / access.ports) for n in ports]
    total, n_ports = sum(switches), sum(ports)
    decision = Decision(
        "out_of_band.switches",
        total,
        "switches",
        f"{n_ports} ports of servers and switches over {access.ports}-port access switches, room by room",
        "sum over rooms of ceil((servers x ports_per_server + switches) / 48)",
        {
            "ports_per_server": site.out_of_band.ports_per_server,
            "servers": fabric.n_servers,
            "other_devices": n_ports - fabric.n_servers * site.out_of_band.ports_per_server,
            "ports_by_room": ports,
        },
        "seed text 001, section 3.1: ordinary L3 switches for management, never for RoCE",
    )
    return SideNetwork(tuple(_bill(total, n_ports)), (decision,))


def ports_by_room(fabric: Fabric, ports_per_server: int) -> list[int]:
    """Management ports of each room's servers and switches."""
    room, kind = fabric.nodes["room"], fabric.nodes["kind"]
    servers = np.bincount(room[kind == NodeKind.SERVER], minlength=len(fabric.rooms))
    switches = np.bincount(room[np.isin(kind, FABRIC_SWITCHES)], minlength=len(fabric.rooms))
    found: list[int] = (servers * ports_per_server + switches * PORTS_PER_SWITCH).tolist()
    return found


def _bill(total: int, n_ports: int) -> list[BomRow]:
    access = catalogue.get("switch", ACCESS_SWITCH)
    note = f"{n_ports} ports over {access.ports}-port access switches"
    power_w = access.power_w * total if access.power_w else None
    rows = [
        BomRow(access.name, "out-of-band switch", total, "switch", "management", power_w, note, "out_of_band"),
        BomRow(
            f"{OUT_OF_BAND_CABLE} {CABLE_M:g} m",
            "out-of-band port",
            n_ports,
            "cable",
            "management",
            None,
            "length assumed",
            "out_of_band",
        ),
    ]
    if total <= 1:
        return rows
    uplinks = total * UPLINKS_PER_ACCESS_SWITCH
    upper = catalogue.get("switch", AGGREGATION_SWITCH)
    count = max(AGGREGATION_PAIR, math.ceil(uplinks / upper.ports))
    upper_w = upper.power_w * count if upper.power_w else None
    rows.append(
        BomRow(upper.name, "out-of-band aggregation", count, "switch", "management", upper_w, "", "out_of_band")
    )
    cable = f"AOC 10G {UPLINK_M:g} m"
    rows.append(
        BomRow(cable, "out-of-band uplink", uplinks, "link", "management", None, "length assumed", "out_of_band")
    )
    return rows
