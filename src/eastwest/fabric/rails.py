"""What rails that do not meet can and cannot do, and what a thin spine between them would need."""

from __future__ import annotations

from dataclasses import replace

from eastwest.fabric.clos import clos_shape
from eastwest.fabric.inputs import FabricInputs, links_per_nic
from eastwest.fabric.lanes import agree_lanes
from eastwest.fabric.shape import TWO_TIERS
from eastwest.fabric.tables import Fabric
from eastwest.finding import Finding, Severity
from eastwest.units import format_ratio

THIN_RATIO = 8.0  # down:up of the thin spine that is offered; an eighth of a leaf's bandwidth may cross rails


def lone_rails(fabric: Fabric, inputs: FabricInputs, severity: Severity) -> Fabric:
    """The same fabric with the finding that its rails do not meet: group shapes that work, those that cannot, and the
    size of a thin spine.
    """
    if fabric.planes == 1:
        return fabric
    server = inputs.server
    per_rail = max(1, server.gpus // server.nics)
    joined = replace(inputs, planes=1, plane_by="port", ratios={**inputs.ratios, "leaf": THIN_RATIO}, tiers=None)
    joined = replace(joined, switches={"spine": inputs.leaf, **inputs.switches})
    joined = replace(joined, links_per_nic=links_per_nic(inputs.family, 1, "port", server.nic_ports))
    shape = clos_shape(agree_lanes(joined), True, (TWO_TIERS,))
    args = {
        "planes": fabric.planes,
        "gpus": server.gpus,
        "last": server.gpus - 1,
        "first_of_next": per_rail,
        "one_more": server.gpus + 1,
        "ratio": format_ratio(THIN_RATIO),
        "spines": sum(room.spines for room in shape.rooms),
        "uplinks": shape.largest.spread.uplinks,
    }
    finding = Finding("EW-FAB-030", severity, "rails", 1, fabric.planes, "networks", args, path="fabric.family")
    return replace(fabric, findings=(*fabric.findings, finding))
