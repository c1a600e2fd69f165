"""Shared packet memory of a switch: what a packet may take, by the priority group that it came in by.

A group has reserved bytes, then a share of what is free (dynamic threshold, alpha times the free shared bytes), and,
when it is lossless, headroom for what arrives after the pause. A lossy packet is limited by its egress queue in the
same way. Memory is counted in whole cells and given back when the packet begins to leave: the packet on the line sits
in the transmitter. Source: Choudhury and Hahne 1998; the order reserved, shared, headroom as in SONiC's buffer model.
"""

from __future__ import annotations

import numpy as np

from eastwest.simulate.packet.kernel import Records, kernel, record

NODE = np.dtype(
    [
        ("shared_bytes", np.int64),  # without what is reserved and headroom
        ("used_bytes", np.int64),
        ("peak_bytes", np.int64),
        ("cell_bytes", np.int64),
    ],
    align=True,
)
INGRESS = record(
    # one line of the cache: what every packet that waits touches
    ("bytes", np.int64),  # reserved and shared part
    ("headroom_used_bytes", np.int64),
    ("reserved_bytes", np.int64),
    ("alpha", np.float64),
    ("limit_bytes", np.int64),  # static threshold; 0: dynamic by alpha
    ("xon_offset_bytes", np.int64),
    ("peak_bytes", np.int64),
    ("node", np.int32),
    ("is_lossless", np.int8),
    ("is_credited", np.int8),  # the transmitter knows the room: nothing is refused
    ("is_pausing", np.int8),
    ("has_refresh", np.int8),  # its event is to come
    # with pauses and drops
    ("headroom_bytes", np.int64),
    ("peak_headroom_bytes", np.int64),
    ("pause_ps", np.int64),  # length that a pause frame asks for
    ("dropped", np.int64),
    ("pfc_sent", np.int64),
)


@kernel
def cells(size_bytes: int, cell_bytes: int) -> int:
    """Bytes of the whole cells that a packet takes."""
    return (size_bytes + cell_bytes - 1) // cell_bytes * cell_bytes


@kernel
def threshold(nodes: Records, ingress: Records, group: int) -> int:
    """Shared bytes that the group may use now."""
    here = ingress[group]
    if here["limit_bytes"] > 0:
        return here["limit_bytes"]
    node = nodes[here["node"]]
    return int(here["alpha"] * (node["shared_bytes"] - node["used_bytes"]))


@kernel
def admit_lossless(nodes: Records, ingress: Records, group: int, size_bytes: int) -> bool:
    """Take memory for a packet of a lossless group; False: it does not even fit the headroom. The packet that crosses
    the threshold is still shared.
    """
    here = ingress[group]
    node = nodes[here["node"]]
    amount = cells(size_bytes, node["cell_bytes"])
    shared = min(amount, max(0, here["bytes"] + amount - here["reserved_bytes"]))
    is_over = shared > 0 and here["bytes"] - here["reserved_bytes"] > threshold(nodes, ingress, group)
    if is_over or node["used_bytes"] + shared > node["shared_bytes"]:
        if here["headroom_used_bytes"] + amount > here["headroom_bytes"]:
            here["dropped"] += 1
            return False
        here["headroom_used_bytes"] += amount
        here["peak_headroom_bytes"] = max(here["peak_headroom_bytes"], here["headroom_used_bytes"])
        return True
    here["bytes"] += amount
    here["peak_bytes"] = max(here["peak_bytes"], here["bytes"])
    node["used_bytes"] += shared
    node["peak_bytes"] = max(node["peak_bytes"], node["used_bytes"])
    return True


@kernel
def admit_lossy(nodes: Records, ingress: Records, queues: Records, group: int, queue: int, size_bytes: int) -> bool:
    """Take memory for a packet of a lossy class; False: its egress queue is at its limit, or the memory is full."""
    here, line = ingress[group], queues[queue]
    node = nodes[here["node"]]
    amount = cells(size_bytes, node["cell_bytes"])
    free = node["shared_bytes"] - node["used_bytes"]
    if amount > free or line["bytes"] + amount > line["alpha"] * free:
        here["dropped"] += 1
        return False
    here["bytes"] += amount
    node["used_bytes"] += min(amount, max(0, here["bytes"] - here["reserved_bytes"]))
    node["peak_bytes"] = max(node["peak_bytes"], node["used_bytes"])
    return True


@kernel
def admit(nodes: Records, ingress: Records, queues: Records, group: int, queue: int, size_bytes: int) -> bool:
    """Take memory for a packet that comes in by a group and waits in a queue."""
    if ingress[group]["is_credited"]:
        here = ingress[group]
        here["bytes"] += size_bytes
        here["peak_bytes"] = max(here["peak_bytes"], here["bytes"])
        return True
    if ingress[group]["is_lossless"]:
        return admit_lossless(nodes, ingress, group, size_bytes)
    return admit_lossy(nodes, ingress, queues, group, queue, size_bytes)


@kernel
def release(nodes: Records, ingress: Records, group: int, size_bytes: int) -> None:
    """Give back the memory of a packet: headroom first, then shared, then reserved."""
    here = ingress[group]
    if here["is_credited"]:
        here["bytes"] -= size_bytes
        return
    node = nodes[here["node"]]
    amount = cells(size_bytes, node["cell_bytes"])
    headroom = min(here["headroom_used_bytes"], amount)
    here["headroom_used_bytes"] -= headroom
    rest = amount - headroom
    node["used_bytes"] -= min(rest, max(0, here["bytes"] - here["reserved_bytes"]))
    here["bytes"] -= rest


@kernel
def must_pause(nodes: Records, ingress: Records, group: int) -> bool:
    """Whether a lossless group is above its threshold."""
    here = ingress[group]
    if here["headroom_used_bytes"] > 0:
        return True
    return here["bytes"] - here["reserved_bytes"] > threshold(nodes, ingress, group)


@kernel
def may_resume(nodes: Records, ingress: Records, group: int) -> bool:
    """Whether a group that pauses is far enough below its threshold."""
    here = ingress[group]
    if here["headroom_used_bytes"] > 0:
        return False
    shared = here["bytes"] - here["reserved_bytes"]
    return shared <= 0 or shared + here["xon_offset_bytes"] <= threshold(nodes, ingress, group)
