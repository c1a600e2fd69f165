"""Family `dual_plane`: two disjoint fabrics, one for each port of every NIC (HPN, B300 with Spectrum-X).

A NIC of 400G is two ports of 200G; port 1 of every NIC is in plane 1, port 2 in plane 2, and no switch joins the two.
Each plane sees half of the rate, so a switch of the same chip has twice the radix: more servers under a leaf, more
leaves under a spine, one tier less. A leaf's failure takes half of the rate of its servers, and no server is lost.
Inside a plane it is a Clos of `tiers` (the fewest that hold when not given), one leaf a rail unless
`rail_optimized: false`. `plane_by: nic` deals out the NICs instead: see `multi_plane`.
"""

from __future__ import annotations

from eastwest.fabric.clos import build_clos, open_tiers
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.shape import THREE_TIERS, TWO_TIERS
from eastwest.fabric.tables import Fabric


def build(inputs: FabricInputs) -> Fabric:
    """The fabric of two planes.

    Source: Qian and others, Alibaba HPN, SIGCOMM 2024, section 6: 2 x 200G NICs, 16 ToRs for 128 servers of 8 GPUs, 128
    ports of 200G down and 60 of 400G up each (1.067:1), aggregation 15:1 towards the core.
    """
    is_railed = inputs.rail_optimized is not False
    return build_clos(inputs, is_railed, open_tiers(inputs, TWO_TIERS, THREE_TIERS))
