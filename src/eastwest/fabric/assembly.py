"""From a drawing to a fabric: ports, racks, cable lengths and media, which every family gets in the same way."""

from __future__ import annotations

from eastwest.fabric import racks
from eastwest.fabric.cabling import measure_links
from eastwest.fabric.draft import Draft
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.media import MEDIA
from eastwest.fabric.ports import allot
from eastwest.fabric.tables import Fabric


def assemble(inputs: FabricInputs, draft: Draft) -> Fabric:
    """The drawn nodes and links with their ports, racks, lengths and media, and the findings of these.

    What depends on the family is left at nothing (tiers, ratios, switches, limits) or at one (planes): it is the
    family's to `replace`.
    """
    plan = allot(draft, inputs.nic_lane_rate_bps, inputs.nics_per_cage)
    placed = racks.place_in_racks(inputs, plan.nodes, plan.links, draft.switch_of(), draft.switches)
    reach = measure_links(placed.racks, plan.nodes, plan.links, plan.ports, inputs.cabling)
    server = inputs.server
    return Fabric(
        family=inputs.family,
        tiers=0,
        planes=1,
        rails=server.nics,
        rooms=inputs.rooms,
        racks=placed.racks,
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
        max_gpus=0,
        max_leaves=0,
        max_spines=0,
        findings=(*plan.findings, *placed.findings, *reach),
        links_per_nic=inputs.links_per_nic,
    )
