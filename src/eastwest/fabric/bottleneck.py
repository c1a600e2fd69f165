"""The link that bounds one row of the ledger: with ideal ECMP and nothing else on the network, its load over its rate
is the least time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eastwest.fabric.demand import row_loads
from eastwest.fabric.rooms import share_between
from eastwest.fabric.routing import Floats
from eastwest.fabric.tables import Fabric, LinkKind, NodeKind
from eastwest.fabric.transfers import Ints
from eastwest.units import BITS_PER_BYTE
from eastwest.workload.ledger import Grid, LedgerRow


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """What one row asks of the network in one `per`.

    `network_s` is the time of the most loaded link at line rate (or of a room link's narrowest box), `link` its tier
    ("" when nothing leaves the servers), `scale_up_bytes` the most that one GPU sends inside its scale-up domain.
    `nics_s` is the time of the busiest server's bytes over all its NICs together at line rate: what an ideal network
    leaves. `stretch` (at least 1) and `wait_s` are what distance between rooms does: the time of `nics_s` grows by the
    factor where too few bytes are in flight, and each turn of a collective waits for the fibre.
    """

    network_s: float
    link: str
    scale_up_bytes: float
    nics_s: float = 0.0
    stretch: float = 1.0
    wait_s: float = 0.0


def bottleneck(fabric: Fabric, grid: Grid, gpus: Ints, row: LedgerRow) -> Bottleneck:
    """The bottleneck of one row; `gpus` (n_ranks,) is where the job's ranks sit. It is a floor: collisions of ECMP
    flows are not in it.
    """
    loads, scale_up_bytes = row_loads(fabric, row, grid, gpus)
    if loads is None or len(loads) == 0:  # without any link the plan has an error finding and no time
        return Bottleneck(0.0, "", scale_up_bytes)
    network_s, link = _slowest(fabric, loads)
    return Bottleneck(network_s, link, scale_up_bytes, _nics_s(fabric, loads))


def _nics_s(fabric: Fabric, loads: Floats) -> float:
    """Seconds that the busiest server needs for its bytes, out or in, when all its NICs share them evenly."""
    is_server, links = fabric.nodes["kind"] == NodeKind.SERVER, fabric.links
    n_nodes, busiest_s = len(fabric.nodes), 0.0
    rate, size_out, size_in = np.zeros(n_nodes), np.zeros(n_nodes), np.zeros(n_nodes)
    for end, out, into in (("a", 0, 1), ("b", 1, 0)):
        mine = is_server[links[end]] & (links["kind"] != LinkKind.SCALE_UP)
        at = links[end][mine]
        rate += np.bincount(at, links["rate_bps"][mine].astype(np.float64), n_nodes)
        size_out += np.bincount(at, loads[mine, out], n_nodes)
        size_in += np.bincount(at, loads[mine, into], n_nodes)
    has = rate > 0
    if has.any():
        busiest_s = float((np.maximum(size_out, size_in)[has] * BITS_PER_BYTE / rate[has]).max())
    return busiest_s


def _slowest(fabric: Fabric, loads: Floats) -> tuple[float, str]:
    """Seconds and tier of the link that needs longest; a box that limits a room link counts for all its links."""
    seconds = np.maximum(loads[:, 0], loads[:, 1]) * BITS_PER_BYTE / fabric.links["rate_bps"]
    slowest = int(seconds.argmax())
    best_s, name = float(seconds[slowest]), LinkKind(int(fabric.links["kind"][slowest])).name.lower()
    for room_link in fabric.room_links:
        mine = (fabric.links["kind"] == LinkKind.ROOM) & _joins(fabric, room_link.rooms)
        share = share_between(fabric.room_links, room_link)
        limited_s = float(loads[mine].sum(axis=0).max(initial=0.0)) * share * BITS_PER_BYTE / room_link.rate_bps
        if limited_s > best_s:
            best_s, name = limited_s, "room"
    return best_s, name


def _joins(fabric: Fabric, rooms: tuple[int, int]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """(n_links,) whether a link ends in both rooms (the piece of the path that crosses)."""
    a, b = fabric.nodes["room"][fabric.links["a"]], fabric.nodes["room"][fabric.links["b"]]
    first, second = rooms
    joined: np.ndarray[tuple[int], np.dtype[np.bool_]] = ((a == first) & (b == second)) | ((a == second) & (b == first))
    return joined
