"""Family `dual_tor`: the two ports of a NIC go to two leaves (ToRs) of one fabric, so that a leaf's failure halves a
server's rate instead of cutting it off.

Both leaves of a pair reach every spine: unlike two planes, the ports meet again one tier higher, and a leaf keeps its
radix at the port's rate (a 400G NIC is 2 x 200G). The two leaves announce the server's address separately (BGP), or are
a stacked pair; the plan takes the first. One pair a rail unless `rail_optimized: false`; `tiers` as few as hold when
not given. What a NIC sends is split equally over its two ports.
"""

from __future__ import annotations

from eastwest.fabric.clos import build_clos, open_tiers
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.shape import THREE_TIERS, TWO_TIERS
from eastwest.fabric.tables import Fabric


def build(inputs: FabricInputs) -> Fabric:
    """The fabric of pairs of leaves.

    Source: Qian and others, Alibaba HPN, SIGCOMM 2024, section 5 (non-stacked dual ToR).
    """
    is_railed = inputs.rail_optimized is not False
    return build_clos(inputs, is_railed, open_tiers(inputs, TWO_TIERS, THREE_TIERS))
