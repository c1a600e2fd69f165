"""The link that bounds one row of the ledger: with ideal ECMP and nothing else on the network, its load over its rate
is the least time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eastwest.fabric.demand import row_loads
from eastwest.fabric.routing import Floats
from eastwest.fabric.tables import Fabric, LinkKind
from eastwest.fabric.transfers import Ints
from eastwest.units import BITS_PER_BYTE
from eastwest.workload.ledger import Grid, LedgerRow


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """What one row asks of the network in one `per`.

    `network_s` is the time of the most loaded link at line rate (or of a room link's narrowest box), `link` its tier
    ("" when nothing leaves the servers), `scale_up_bytes` the most that one GPU sends inside its scale-up domain.
    """

    network_s: float
    link: str
    scale_up_bytes: float


def bottleneck(fabric: Fabric, grid: Grid, gpus: Ints, row: LedgerRow) -> Bottleneck:
    """The bottleneck of one row; `gpus` (n_ranks,) is where the job's ranks sit. It is a floor: collisions of ECMP
    flows are not in it.
    """
    loads, scale_up_bytes = row_loads(fabric, row, grid, gpus)
    if loads is None or len(loads) == 0:  # without any link the plan has an error finding and no time
        return Bottleneck(0.0, "", scale_up_bytes)
    network_s, link = _slowest(fabric, loads)
    return Bottleneck(network_s, link, scale_up_bytes)


def _slowest(fabric: Fabric, loads: Floats) -> tuple[float, str]:
    """Seconds and tier of the link that needs longest; a box that limits a room link counts for all its links."""
    seconds = loads.max(axis=1) * BITS_PER_BYTE / fabric.links["rate_bps"]
    slowest = int(seconds.argmax())
    best_s, name = float(seconds[slowest]), LinkKind(int(fabric.links["kind"][slowest])).name.lower()
    for room_link in fabric.room_links:
        mine = (fabric.links["kind"] == LinkKind.ROOM) & _joins(fabric, room_link.rooms)
        limited_s = float(loads[mine].sum(axis=0).max(initial=0.0)) * BITS_PER_BYTE / room_link.rate_bps
        if limited_s > best_s:
            best_s, name = limited_s, "room"
    return best_s, name


def _joins(fabric: Fabric, rooms: tuple[int, int]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """(n_links,) whether a link ends in both rooms (the piece of the path that crosses)."""
    a, b = fabric.nodes["room"][fabric.links["a"]], fabric.nodes["room"][fabric.links["b"]]
    first, second = rooms
    joined: np.ndarray[tuple[int], np.dtype[np.bool_]] = ((a == first) & (b == second)) | ((a == second) & (b == first))
    return joined
