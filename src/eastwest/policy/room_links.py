"""Where PFC ends between rooms: the cables of a room link that the site file takes out of the lossless domain, and why.

On such a link both ends send and obey no pause and keep no headroom. The class is still the same (mark, queue, ECN);
what its queue cannot hold is dropped, and the NICs send again: selective repeat where they can, go-back-N where they
cannot, so thresholds of ECN must keep that rare.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from eastwest.decision import Alternative, Decision
from eastwest.fabric.rooms import link_name
from eastwest.fabric.tables import Fabric, LinkKind
from eastwest.spec.hosts import RoomLinkWish
from eastwest.spec.qos import LossRegime
from eastwest.spec.site import Site
from eastwest.units import format_length

Marks = NDArray[np.bool_]


def without_pfc(site: Site, fabric: Fabric) -> Marks:
    """(n_links,) whether a link is a cable of a room link with `pfc: false`, the pieces to its boxes included."""
    links, room = fabric.links, fabric.nodes["room"]
    marks = np.zeros(len(links), bool)
    between = links["kind"] == LinkKind.ROOM
    for wish in site.room_links:
        if wish.pfc is not False or not set(wish.between) <= set(fabric.rooms):
            continue
        pair = np.sort([fabric.rooms.index(name) for name in wish.between])
        ends = np.sort(np.stack([room[links["a"]], room[links["b"]]], axis=1), axis=1)
        boxes = [fabric.index[box.name] for box in wish.boxes if box.name in fabric.index]
        marks |= between & (ends == pair).all(axis=1)
        marks |= between & (np.isin(links["a"], boxes) | np.isin(links["b"], boxes))
    return marks


def pfc_decisions(site: Site, regime: LossRegime) -> Iterator[Decision]:
    """For each room link of a lossless fabric, whether PFC crosses it, and who said so."""
    if regime != "lossless":
        return
    for index, wish in enumerate(site.room_links):
        yield _decision(wish, index)


def _decision(wish: RoomLinkWish, index: int) -> Decision:
    name, far = link_name(wish), format_length(wish.distance_m)
    off = Alternative("off", "the pause stays in its room; drops on the link are met by ECN, DCQCN and resending")
    on = Alternative(
        "on", f"nothing is dropped on the {far}, for headroom that grows with them, and one pause stops both"
    )
    source = f"site file: room_links[{index}].pfc"
    values = {"distance_m": wish.distance_m, "pfc": wish.pfc}
    formula = f"as wished, else on; distance.{'-'.join(wish.between)}.pfc_ends_at says how far headroom reaches"
    if wish.pfc is False:
        because = f"PFC ends before {name}: no pause and no headroom at its ports; ECN and DCQCN alone over {far}"
        value, others = "off", (on,)
    else:
        because = f"one lossless domain over {far}: a pause crosses {name}"
        because += "" if wish.pfc else ", since the site file does not end it"
        source = source if wish.pfc else "default"
        value, others = "on", (off,)
    return Decision(f"policy.pfc.{'-'.join(wish.between)}", value, "", because, formula, values, source, others)
