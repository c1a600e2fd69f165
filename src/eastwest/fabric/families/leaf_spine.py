"""Family `leaf_spine`: servers fill leaves in order, all NICs of a server on one leaf, every leaf on every spine
(two-tier Clos, a fat tree).
"""

from __future__ import annotations

from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.tables import Fabric
from eastwest.fabric.two_tier import build_two_tier

LEAVES_PER_GROUP = 1  # a server's NICs share one leaf


def build(inputs: FabricInputs) -> Fabric:
    """The fabric in which a leaf takes floor(down ports / NIC links per server) whole servers.

    Traffic between servers of one leaf stays on it; everything else crosses a spine, whatever its rail.
    """
    return build_two_tier(inputs, LEAVES_PER_GROUP)
