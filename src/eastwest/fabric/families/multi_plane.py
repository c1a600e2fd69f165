"""Family `multi_plane`: several disjoint fabrics, in either meaning of the word.

- `plane_by: port` (default): a NIC's rate is split over one port a plane, an 800G NIC as 8 x 100G in 8 planes; any two
  NICs meet in every plane. `planes` follows the ports of the NIC (`nic.ports`) when not given.
- `plane_by: nic`: NIC i of every server is in plane i modulo planes, with its full rate. NICs of different index never
  meet on the network: data changes planes inside a server, over NVLink (PXN). Groups must hold the same NIC indices in
  each of their servers; a finding counts those of a job that do not. `planes` is one a NIC when not given.

Each plane is a Clos of `tiers` (the fewest of two and three when not given; 1 is one switch a plane). With planes by
port there is one leaf a rail unless `rail_optimized: false`; with planes by NIC a plane has one rail anyway.
"""

from __future__ import annotations

from eastwest.fabric.clos import build_clos, open_tiers
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.rails import lone_rails
from eastwest.fabric.shape import THREE_TIERS, TWO_TIERS
from eastwest.fabric.tables import Fabric


def build(inputs: FabricInputs) -> Fabric:
    """The fabric of `planes` planes.

    Source: DeepSeek-AI, arXiv:2505.09343 (ISCA 2025), section 5.1: eight planes of two-layer fat trees for 8 NICs of
    400G, traffic between planes through NVLink inside the node.
    """
    is_railed = inputs.rail_optimized is not False and inputs.tiers != 1
    fabric = build_clos(inputs, is_railed, open_tiers(inputs, TWO_TIERS, THREE_TIERS))
    return lone_rails(fabric, inputs, "info") if inputs.plane_by == "nic" else fabric
