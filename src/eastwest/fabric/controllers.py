"""Controllers on the fabric (fabric manager, subnet manager, monitor): the leaf ports that they take, all in the first
plane, and the leaves that serve them.

They take what servers leave over; a further leaf group is bought only when nothing is left. The first leaves serve
them, which are there from the first phase of growth on, with ports that full leaves do not need before those that
servers of a later phase will.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from eastwest.fabric.capacity import LeafSplit
from eastwest.fabric.inputs import FabricInputs


def controller_links(inputs: FabricInputs) -> int:
    """Links of all controllers."""
    return sum(links for _, links in inputs.controllers)


def ports_beside(inputs: FabricInputs, split: LeafSplit, uplinks: int) -> int:
    """Down ports of a leaf with so many uplinks, in links of the NIC's rate."""
    return split.down_parts * (inputs.leaf.ports - ceil(uplinks / split.up_parts))


def groups_short(inputs: FabricInputs, split: LeafSplit, per_group: int, groups: int, uplinks: int) -> int:
    """Leaf groups to add to `groups` of `per_group` leaves in a plane so that the controllers find ports; 0 when they
    do. `uplinks` of a leaf, the most of any room.
    """
    wanted = controller_links(inputs)
    if wanted == 0:
        return 0
    each = max(1, ports_beside(inputs, split, uplinks) - inputs.spare_ports)
    taken = inputs.n_servers * inputs.links_per_plane
    return max(0, ceil((taken + wanted - groups * per_group * each) / (per_group * each)))


def servers_given_up(inputs: FabricInputs, split: LeafSplit, leaves: int, servers: int) -> int:
    """Servers that a full fabric of `servers` on so many leaves in a plane holds less than without controllers."""
    each = max(1, ports_beside(inputs, split, split.uplinks) - inputs.spare_ports)
    short = controller_links(inputs) + servers * inputs.links_per_plane - leaves * each
    return ceil(short / inputs.links_per_plane) if controller_links(inputs) and short > 0 else 0


def choose_leaves(links: int, left: Sequence[int], beside_full: Sequence[int]) -> list[int]:
    """Index of the leaf of each link of one controller: leaves that it is not on yet first, ports that a full leaf
    does not need (`beside_full`) before others that are free (`left`), the first leaf before later ones.

    >>> choose_leaves(3, left=[8, 8, 20], beside_full=[8, 8, 8])
    [0, 1, 2]
    >>> choose_leaves(2, left=[0, 0, 20], beside_full=[0, 0, 0])
    [2, 2]
    """
    times = [0] * len(left)
    chosen = []
    for _ in range(links):
        at = min(
            range(len(left)),
            key=lambda i: (left[i] <= times[i], times[i], beside_full[i] <= times[i], i),
        )
        times[at] += 1
        chosen.append(at)
    return chosen
