"""Loads of a regular Clos in closed form: a leaf's bytes spread over its uplinks by rate, a pod's over its links to
cores, since every shortest path is equally long and every hop splits evenly.

Regular means that in each room, pod and plane every leaf has the same bandwidth to every spine, every spine the same
to each of its cores, and every core the same to every pod. A failed link breaks that: then `even_loads` says None and
the graph is walked.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric.tables import Fabric, LinkKind, NodeKind

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
REMEMBERED = 2  # fabrics whose tree is kept


@dataclass(frozen=True, eq=False)
class RegularTree:
    """`mesh` (n_nodes,) the room, pod and plane of a leaf or spine as one number; links by tier, and for each the share
    of its leaf's uplinks, or of its mesh's links to cores.
    """

    mesh: Ints
    room: Ints
    up_links: Ints
    up_share: Floats
    core_links: Ints
    core_share: Floats


def even_loads(fabric: Fabric, src_leaf: Ints, dst_leaf: Ints, size_bytes: Floats) -> Floats | None:
    """(n_links, 2) float64 bytes of the links between switches, up and down; None when the fabric is not regular or
    something crosses rooms.

    `src_leaf`, `dst_leaf` (n,) fabric nodes, `size_bytes` (n,) between them.
    """
    tree = regular_tree(fabric)
    if tree is None or (tree.room[src_leaf] != tree.room[dst_leaf]).any():
        return None
    loads = np.zeros((len(fabric.links), 2))
    n = len(fabric.nodes)
    far = src_leaf != dst_leaf
    a = fabric.links["a"]
    for side, leaf in enumerate((src_leaf, dst_leaf)):
        of_leaf = np.bincount(leaf[far], size_bytes[far], minlength=n)
        loads[tree.up_links, side] = of_leaf[a[tree.up_links]] * tree.up_share
    across = tree.mesh[src_leaf] != tree.mesh[dst_leaf]
    for side, leaf in enumerate((src_leaf, dst_leaf)):
        of_mesh = np.bincount(tree.mesh[leaf[across]], size_bytes[across], minlength=int(tree.mesh.max(initial=0)) + 1)
        loads[tree.core_links, side] = of_mesh[tree.mesh[a[tree.core_links]]] * tree.core_share
    return loads


@lru_cache(maxsize=REMEMBERED)
def regular_tree(fabric: Fabric) -> RegularTree | None:
    """The tree of a regular Clos, None when it is not one; found once for a fabric."""
    nodes, links = fabric.nodes, fabric.links
    key = np.stack([nodes["room"], nodes["plane"], nodes["pod"]], axis=1)
    _, mesh = np.unique(key, axis=0, return_inverse=True)
    mesh = mesh.reshape(-1)
    up, core = fabric.links_of(LinkKind.LEAF_SPINE), fabric.links_of(LinkKind.SPINE_CORE)
    if not _is_full_mesh(fabric, mesh, up) or not _is_even_above(fabric, mesh, core):
        return None
    rate = links["rate_bps"].astype(np.float64)
    of_leaf = np.bincount(links["a"][up], rate[up], minlength=len(nodes))
    of_mesh = np.bincount(mesh[links["a"][core]], rate[core], minlength=int(mesh.max(initial=0)) + 1)
    return RegularTree(
        mesh,
        nodes["room"].astype(np.int64),
        up,
        rate[up] / of_leaf[links["a"][up]],
        core,
        rate[core] / of_mesh[mesh[links["a"][core]]],
    )


def _pair_rates(low: Ints, high: Ints, rate: Floats) -> tuple[Ints, Ints, Floats]:
    """Each pair that occurs, and the rate of all its links together."""
    pairs, inverse = np.unique(low * (1 << 32) + high, return_inverse=True)
    total = np.bincount(inverse.reshape(-1), rate)
    return pairs >> 32, pairs & 0xFFFFFFFF, total.astype(np.float64)


def _is_full_mesh(fabric: Fabric, mesh: Ints, up: Ints) -> bool:
    """Whether every leaf of a mesh has the same bandwidth to every spine of it, and to no other."""
    links, n = fabric.links[up], int(mesh.max(initial=0)) + 1
    leaf, spine, rate = _pair_rates(
        links["a"].astype(np.int64), links["b"].astype(np.int64), links["rate_bps"].astype(np.float64)
    )
    leaves, spines = (np.bincount(mesh[fabric.nodes_of(kind)], minlength=n) for kind in (NodeKind.LEAF, NodeKind.SPINE))
    pairs = np.bincount(mesh[leaf], minlength=n)
    if (mesh[leaf] != mesh[spine]).any() or (pairs != leaves * spines).any():
        return False
    return _is_equal_by(mesh[leaf], rate, n)


def _is_even_above(fabric: Fabric, mesh: Ints, core: Ints) -> bool:
    """Whether the spines of a mesh have equal bandwidth to cores, equal on each, and cores equal bandwidth to every
    mesh of their room and plane.
    """
    links, n = fabric.links[core], int(mesh.max(initial=0)) + 1
    rate, spines = links["rate_bps"].astype(np.float64), fabric.nodes_of(NodeKind.SPINE)
    if len(core) == 0:
        return True
    of_spine = np.bincount(links["a"], rate, minlength=len(mesh))[spines].astype(np.float64)
    low, _, pair = _pair_rates(links["a"].astype(np.int64), links["b"].astype(np.int64), rate)
    below, above, to_mesh = _pair_rates(mesh[links["a"]], links["b"].astype(np.int64), rate)
    meshes = np.bincount(mesh[above], minlength=n)
    plane_of_mesh = np.zeros(n, np.int64)
    plane_of_mesh[below] = mesh[above]
    wanted = np.bincount(plane_of_mesh[np.unique(below)], minlength=n) * np.bincount(
        mesh[fabric.nodes_of(NodeKind.CORE)], minlength=n
    )
    if (meshes != wanted).any() or not np.array_equal(np.unique(below), np.unique(mesh[spines])):
        return False
    return (
        _is_equal_by(mesh[spines], of_spine, n)
        and _is_equal_by(mesh[low], pair, n)
        and _is_equal_by(mesh[above], to_mesh, n)
    )


def _is_equal_by(group: Ints, value: Floats, n: int) -> bool:
    """Whether all values of a group are the same."""
    least, most = np.full(n, np.inf), np.full(n, -np.inf)
    np.minimum.at(least, group, value)
    np.maximum.at(most, group, value)
    return bool((least[group] == most[group]).all())
