"""Lane rates that nobody gave follow the other end of their link."""

from __future__ import annotations

from dataclasses import replace

from eastwest.fabric.inputs import FabricInputs


def agree_lanes(inputs: FabricInputs) -> FabricInputs:
    """The same inputs where a lane rate that nobody gave follows the other end of the link.

    A switch given only as ports x rate may have 50G or 100G lanes; a NIC given only by its rate likewise. What a data
    sheet says stays.
    """
    server, switches = inputs.server, dict(inputs.switches)
    leaf = switches.get("leaf")
    if leaf is None:
        return inputs
    if not inputs.nic_lanes_known and inputs.nic_port_rate_bps % leaf.lane_rate_bps == 0:
        server = replace(server, nic_lane_rate_bps=leaf.lane_rate_bps)
    elif leaf.model is None:
        leaf = replace(leaf, lane_rate_bps=inputs.nic_lane_rate_bps)
    switches["leaf"] = below = leaf
    for tier in ("spine", "core"):
        above = switches.get(tier)
        if above is not None and above.model is None and below.lane_rate_bps < above.port_rate_bps:
            switches[tier] = above = replace(above, lane_rate_bps=below.lane_rate_bps)
        below = above or below
    return replace(inputs, server_facts=(server, *inputs.server_facts[1:]), switches=switches)
