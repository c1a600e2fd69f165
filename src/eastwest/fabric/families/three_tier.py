"""Family `three_tier`: pods of leaves and spines in a full mesh, joined by cores (three-tier Clos).

A pod is a two-tier fabric whose spines keep ports for cores; with `rail_optimized: true` NIC i of every server of a
group goes to leaf i of the group, without it a server's NICs share one leaf. Spine i of every pod goes to the same set
of cores, so that a path between pods is leaf, spine i, core of set i, spine i, leaf, and ECMP splits it evenly.
`servers_per_pod` or `rooms[].pods` decide the pods; else those that need the fewest switches, then the fewest, are
taken. With `servers_per_pod` the last pod may be smaller; it keeps its full number of spines and of their uplinks, so
that filling it moves no cable. `oversubscription: {leaf, spine}` may differ by tier: 7:1 between Meta's pods, 15:1 at
the core of HPN. Rooms have their own cores; links between rooms end on them.
"""

from __future__ import annotations

from eastwest.fabric.clos import build_clos
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.shape import THREE_TIERS
from eastwest.fabric.tables import Fabric


def build(inputs: FabricInputs) -> Fabric:
    """The fabric of pods joined by cores, with rails when the site says `rail_optimized: true`.

    At 1:1 and equal switches of k ports it ends at k^3/4 NICs: k pods of k/2 leaves and k/2 spines.
    Source: Al-Fares, Loukissas, Vahdat, SIGCOMM 2008, section 2.2; NVIDIA DGX SuperPOD (B200), compute fabric table:
    16 scalable units take 128 leaves, 128 spines and 64 cores of 64 x 400G.
    """
    return build_clos(inputs, bool(inputs.rail_optimized), (THREE_TIERS,))
