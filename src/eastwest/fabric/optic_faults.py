"""Optical modules as parts that fail: one module a used cage, and its loss takes all links of the cage, two of a
twin-port one. Cables with fixed ends (copper, active optical) have none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric.assemblies import cage_numbers
from eastwest.fabric.media import MEDIA, WHOLE_CABLES
from eastwest.fabric.routing import Floats, Ints
from eastwest.fabric.symmetry import number_values, representatives
from eastwest.fabric.tables import Fabric, LinkKind, NodeKind

TO_SERVERS = (LinkKind.SERVER_LEAF, LinkKind.DIRECT)
NO_MODULE = (NodeKind.CONTROLLER, NodeKind.BOX)  # ends whose modules are not judged


@dataclass(frozen=True, eq=False)
class LostOptic:
    """One module of a class of `alike`, of `population` at servers (`is_at_server`: one of its links ends at a server)
    or between switches: `links` (n,) int64 that go with it.
    """

    subject: str
    links: Ints
    alike: int
    population: int
    is_at_server: bool


@dataclass(frozen=True, eq=False)
class _Ends:
    """Ends of optical links in the order of their cages: `link`, `node`, `far` (n_ends,) int64, `first` (n_cages,)."""

    link: Ints
    node: Ints
    far: Ints
    cage: Ints
    first: Ints


def lost_optics(fabric: Fabric, classes: Ints, stress: Floats) -> Iterator[LostOptic]:
    """One module for each class that is alike: same end, same kinds of links to the same classes of devices. `classes`
    (n_nodes,) are the fabric's `switch_classes`, `stress` (n_links,) chooses the member.
    """
    ends = _ends(fabric)
    if len(ends.first) == 0:
        return
    kind, rows = fabric.nodes["kind"], fabric.links[ends.link]
    at_server = np.logical_or.reduceat(np.isin(rows["kind"], [int(tier) for tier in TO_SERVERS]), ends.first)
    columns = [kind[ends.node[ends.first]], classes[ends.node[ends.first]]]
    columns += [np.diff(np.r_[ends.first, len(ends.link)])]
    for values in (rows["kind"], rows["rate_bps"], classes[ends.far]):
        columns += [np.minimum.reduceat(values, ends.first), np.maximum.reduceat(values, ends.first)]
    load = np.add.reduceat(stress[ends.link], ends.first)
    for is_at_server in (True, False):
        mine = np.flatnonzero(at_server == is_at_server)
        if len(mine):
            alike = number_values(*(column[mine] for column in columns))
            for at, count in representatives(alike, load[mine]):
                yield _lost(fabric, ends, int(mine[at]), count, len(mine), is_at_server)


def _lost(fabric: Fabric, ends: _Ends, at: int, alike: int, population: int, is_at_server: bool) -> LostOptic:
    """The module of one cage."""
    start = int(ends.first[at])
    stop = int(ends.first[at + 1]) if at + 1 < len(ends.first) else len(ends.link)
    subject = f"{fabric.names[int(ends.node[start])]}:cage{int(ends.cage[start]) + 1}"
    return LostOptic(subject, ends.link[start:stop], alike, population, is_at_server)


def _ends(fabric: Fabric) -> _Ends:
    """Both ends of every optical link but those of controllers and boxes."""
    rows, kind = fabric.links, fabric.nodes["kind"]
    is_optical = (rows["medium"] >= 0) & ~np.isin(rows["medium"], [MEDIA.index(name) for name in WHOLE_CABLES])
    is_judged: NDArray[np.bool_] = is_optical & ~np.isin(kind[rows["a"]], [NodeKind.CONTROLLER])
    link = np.flatnonzero(is_judged)
    both = np.concatenate([link, link]).astype(np.int64)
    port = np.concatenate([rows["a_port"][link], rows["b_port"][link]])
    node = np.concatenate([rows["a"][link], rows["b"][link]]).astype(np.int64)
    far = np.concatenate([rows["b"][link], rows["a"][link]]).astype(np.int64)
    cage = cage_numbers(fabric.ports)[port]
    keep = ~np.isin(kind[node], [int(end) for end in NO_MODULE])
    order = np.flatnonzero(keep)[np.lexsort((both[keep], cage[keep]))]
    ordered = cage[order]
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(order) else np.zeros(0, np.int64)
    number = fabric.ports["cage"][port][order].astype(np.int64)
    return _Ends(both[order], node[order], far[order], number, first.astype(np.int64))
