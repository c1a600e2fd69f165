"""Family `rail_optimized`: NIC i of every server of a group goes to leaf i of the group (a scalable unit), every
leaf on every spine. With `tiers: 3` the groups stand in pods that cores join, as in `three_tier`.
"""

from __future__ import annotations

from eastwest.fabric.clos import build_clos, open_tiers
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.shape import TWO_TIERS
from eastwest.fabric.tables import Fabric


def build(inputs: FabricInputs) -> Fabric:
    """The fabric with one leaf a rail and group; a group holds as many servers as a leaf has ports down.

    Traffic of one rail inside a group stays on one leaf; NCCL reaches other rails through NVLink first (PXN), so that
    it stays there too.

    Source: NVIDIA DGX SuperPOD reference architecture (H100), compute fabric table: 32 servers, 8 leaves and 4 spines
    of 64 x 400G a scalable unit.
    """
    return build_clos(inputs, True, open_tiers(inputs, TWO_TIERS))
