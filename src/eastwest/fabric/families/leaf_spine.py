"""Family `leaf_spine`: servers fill leaves in order, all NICs of a server on one leaf, every leaf on every spine
(two-tier Clos, a fat tree). With `tiers: 3` leaves and spines stand in pods that cores join, as in `three_tier`.
"""

from __future__ import annotations

from eastwest.fabric.clos import build_clos, open_tiers
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.shape import TWO_TIERS
from eastwest.fabric.tables import Fabric


def build(inputs: FabricInputs) -> Fabric:
    """The fabric in which a leaf takes floor(down ports / NIC links per server) whole servers.

    Traffic between servers of one leaf stays on it; everything else crosses a spine, whatever its rail.
    """
    return build_clos(inputs, False, open_tiers(inputs, TWO_TIERS))
