"""Family `single_switch`: all NICs of all servers on one switch; nothing is oversubscribed and no hash can collide.

Every port faces a server, broken out where the NICs are slower, so 64 x 400G take 64 NICs of 400G (8 servers of 8) or
128 of 200G. It ends at the ports of the switch, its failure stops everything, and it stands in one room. A second
switch means new cables for every server: a cluster that will grow begins as `leaf_spine`.
"""

from __future__ import annotations

from eastwest.fabric.clos import build_clos
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.shape import ONE_TIER
from eastwest.fabric.tables import Fabric


def build(inputs: FabricInputs) -> Fabric:
    """The fabric of one switch; with `planes` one switch for each port of the NICs."""
    return build_clos(inputs, False, (ONE_TIER,))
