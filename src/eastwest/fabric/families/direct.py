"""Family `direct`: servers cabled NIC to NIC, without a switch; two servers, or a few with a NIC port for every other.

Every pair of servers gets the same number of cables: with two servers NIC i goes to NIC i, with n servers each has
(NIC ports) / (n - 1) cables to each of the others. Bandwidth of a pair is that of its cables, and nothing else shares
it. There is no leaf, so no PFC or ECN between the two: the NICs' own flow control is all there is. It stands in one
room and ends where a server has no port left; one more server means new NICs or a switch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np

from eastwest.decision import Alternative, Decision
from eastwest.fabric.assembly import assemble
from eastwest.fabric.draft import Draft
from eastwest.fabric.inputs import FabricInputs
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
    fabric = assemble(inputs, draft)
    return replace(
        fabric,
        max_gpus=(ports + 1) * server.gpus,
        decisions=_explain(inputs, ports, per_pair),
        findings=(*fabric.findings, *_judge(inputs, ports, per_pair)),
        facts=_facts(inputs, per_pair),
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


def _judge(inputs: FabricInputs, ports: int, per_pair: int) -> Iterator[Finding]:
    """Too few NIC ports; several rooms; growth beyond the ports."""
    others = inputs.n_servers - 1
    if per_pair == 0:
        args = {"servers": inputs.n_servers}
        yield Finding("EW-FAB-034", "error", "servers", ports, others, "ports", args, path="servers[0].nic")
    if len(inputs.rooms) > 1:
        words = {"family": inputs.family}
        yield Finding("EW-FAB-033", "error", "fabric", 1, len(inputs.rooms), "rooms", words, path="fabric.family")
    grown = max(inputs.growth_servers, inputs.n_servers)
    if per_pair and grown > ports + 1:
        steps = {"servers": grown, "max_servers": ports + 1}
        gpus = inputs.server.gpus
        most, wanted = (ports + 1) * gpus, grown * gpus
        yield Finding("EW-FAB-017", "warning", "growth", most, wanted, "GPUs", steps, path="growth.steps")


def _facts(inputs: FabricInputs, per_pair: int) -> dict[str, Any]:
    """Numbers that reports show beside the counts; half of the servers against the other half for the bisection."""
    half = inputs.n_servers // 2
    crossing = half * ceil(inputs.n_servers / 2) * per_pair
    return {"cables_per_pair": per_pair, "bisection_bps": crossing * inputs.nic_port_rate_bps, "assumed": []}
