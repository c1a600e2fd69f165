"""Family `direct`: servers cabled NIC to NIC, without a switch; two servers, or a few with a NIC port for every other.

Every pair of servers gets the same number of cables: with two servers NIC i goes to NIC i, with n servers each has
(NIC ports) / (n - 1) cables to each of the others. Bandwidth of a pair is that of its cables, and nothing else shares
it. There is no leaf, so no PFC or ECN between the two: the NICs' own flow control is all there is. It stands in one
room and ends where a server has no port left; one more server means new NICs or a switch.
"""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from eastwest.decision import Alternative, Decision
from eastwest.fabric import racks
from eastwest.fabric.cabling import MEDIA, cages, measure_links
from eastwest.fabric.draft import Draft
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.ports import allot
from eastwest.fabric.tables import Fabric, LinkKind, NodeKind
from eastwest.finding import Finding


def build(inputs: FabricInputs) -> Fabric:
    """The servers and their cables; a server that would need more ports than it has is an error finding."""
    server, n = inputs.server, inputs.n_servers
    ports = server.nics * inputs.links_per_nic
    per_pair = ports // max(1, n - 1)
    draft = Draft()
    nodes = draft.add_nodes(NodeKind.SERVER, list(inputs.server_names), room=inputs.server_rooms)
    low, high = np.triu_indices(n, 1)
    a, b = np.repeat(nodes[low], per_pair), np.repeat(nodes[high], per_pair)
    slot = np.repeat((high - 1) * per_pair, per_pair) + np.tile(np.arange(per_pair), len(low))
    draft.add_links(LinkKind.DIRECT, a, b, inputs.nic_port_rate_bps, rail=slot // inputs.links_per_nic)
    plan = allot(draft, inputs.nic_lane_rate_bps)
    rack_plan = racks.place_in_racks(inputs, plan.nodes, plan.links, draft.switch_of(), draft.switches)
    reach = measure_links(rack_plan.racks, plan.nodes, plan.links, plan.ports, inputs.cabling, cages(plan.ports))
    return Fabric(
        family=inputs.family,
        tiers=0,
        planes=1,
        rails=server.nics,
        rooms=inputs.rooms,
        racks=rack_plan.racks,
        media=MEDIA,
        names=tuple(draft.names),
        nodes=plan.nodes,
        ports=plan.ports,
        links=plan.links,
        gpus_per_server=server.gpus,
        nics_per_server=server.nics,
        nic_rate_bps=server.nic_rate_bps,
        scale_up_domain=server.scale_up_domain,
        oversubscription={},
        tier_ports=plan.tier_ports,
        switches={},
        max_gpus=(ports + 1) * server.gpus,
        max_leaves=0,
        max_spines=0,
        decisions=_explain(inputs, ports, per_pair),
        findings=(*plan.findings, *rack_plan.findings, *reach, *_judge(inputs, ports, per_pair)),
        facts=_facts(inputs, per_pair),
        links_per_nic=inputs.links_per_nic,
    )


def _explain(inputs: FabricInputs, ports: int, per_pair: int) -> tuple[Decision, ...]:
    """Cables of a pair, and where it ends."""
    values = {"nic_ports": ports, "servers": inputs.n_servers, "gpus_per_server": inputs.server.gpus}
    because = "every pair of servers gets the same number of cables, NIC to NIC"
    other = Alternative("one switch", "room to grow and full rate to any one server, for one device more")
    formula = "floor(nic_ports / (servers - 1))"
    pair = Decision("fabric.links_per_pair", per_pair, "cables", because, formula, values, alternatives=(other,))
    because = "one NIC port for each other server"
    most = (ports + 1) * inputs.server.gpus
    return (pair, Decision("fabric.max_gpus", most, "GPUs", because, "(nic_ports + 1) * gpus_per_server", values))


def _judge(inputs: FabricInputs, ports: int, per_pair: int) -> list[Finding]:
    """Too few NIC ports; several rooms."""
    found = []
    if per_pair == 0:
        args = {"servers": inputs.n_servers}
        expected, path = ports, "servers[0].nic"
        found.append(
            Finding("EW-FAB-034", "error", "servers", expected, inputs.n_servers - 1, "ports", args, path=path)
        )
    if len(inputs.rooms) > 1:
        words = {"family": inputs.family}
        found.append(
            Finding("EW-FAB-033", "error", "fabric", 1, len(inputs.rooms), "rooms", words, path="fabric.family")
        )
    grown = max(inputs.growth_servers, inputs.n_servers)
    if per_pair and grown > ports + 1:
        steps = {"servers": grown, "max_servers": ports + 1}
        gpus = inputs.server.gpus
        most, wanted = (ports + 1) * gpus, grown * gpus
        found.append(Finding("EW-FAB-017", "warning", "growth", most, wanted, "GPUs", steps, path="growth.steps"))
    return found


def _facts(inputs: FabricInputs, per_pair: int) -> dict[str, Any]:
    """Numbers that reports show beside the counts; half of the servers against the other half for the bisection."""
    half = inputs.n_servers // 2
    crossing = half * ceil(inputs.n_servers / 2) * per_pair
    return {"cables_per_pair": per_pair, "bisection_bps": crossing * inputs.nic_port_rate_bps, "assumed": []}
