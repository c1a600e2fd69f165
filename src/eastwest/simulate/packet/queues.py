"""Queues of an egress port, one a class, and who is served next: strict classes first, the others by weight.

Source of the weighted part: deficit round robin, Shreedhar and Varghese 1996.
"""

from __future__ import annotations

import numpy as np

from eastwest.simulate.packet.kernel import NONE, Records, kernel, record

N_LANES = 3  # classes of a run: control, RDMA, TCP
CONTROL, RDMA, TCP = range(N_LANES)

QUEUE = record(
    # one line of the cache: what every packet touches
    ("first", np.int32),
    ("last", np.int32),
    ("bytes", np.int64),  # waiting; the packet on the line is not in it
    ("tx_bytes", np.int64),
    ("tx_packets", np.int64),
    ("peak_bytes", np.int64),
    ("kmin_bytes", np.int64),
    ("kmax_bytes", np.int64),
    ("priority", np.int8),  # on the wire
    ("storm", np.int8),  # what the watchdog does with it now: 0 nothing, DROP or FORWARD
    ("drops_non_ect", np.int8),  # the ramp drops what cannot be marked
    ("obeys", np.int8),  # pause frames
    ("has_unpause", np.int8),  # its event is to come
    ("is_credited", np.int8),  # sends only what the receiver has room for
    ("has_credit", np.int8),  # its event is to come
    ("has_expire", np.int8),  # its event is to come
    # with marks, pauses and several classes
    ("pmax", np.float64),
    ("marked", np.int64),
    ("alpha", np.float64),  # dynamic limit of a lossy queue, times the free shared bytes
    ("quantum_bytes", np.int64),  # a turn of deficit round robin; 0: strict
    ("deficit_bytes", np.int64),
    ("paused_until_ps", np.int64),
    ("paused_since_ps", np.int64),
    ("paused_ps", np.int64),
    ("credit_bytes", np.int64),  # room at the receiver
    ("credit_first", np.int32),  # room that comes back
    ("credit_last", np.int32),
    # seldom
    ("n_blocked", np.int64),  # times without room
    ("discarded", np.int64),  # packets that stood at the head for too long
    ("dropped", np.int64),
    ("early_drops", np.int64),  # by the ramp
    ("pfc_received", np.int64),
    ("stuck_ps", np.int64),  # how long it has been paused without sending
    ("quiet_ps", np.int64),  # how long no pause came, while the watchdog acts
    ("seen_packets", np.int64),  # sent, at the watchdog's last look
    ("seen_frames", np.int64),  # pauses received, at its last look
    ("n_storms", np.int64),
    ("storm_drops", np.int64),
)


@kernel
def enqueue(links: Records, queues: Records, packets: Records, link: int, lane: int, packet: int) -> None:
    """Put a packet at the end of a class's queue."""
    row = packets[packet]
    queue = queues[link * N_LANES + lane]
    row["next"] = NONE
    if queue["first"] == NONE:
        queue["first"] = packet
        links[link]["waiting"] |= np.uint8(1 << lane)
    else:
        packets[queue["last"]]["next"] = packet
    queue["last"] = packet
    queue["bytes"] += row["size"]
    queue["peak_bytes"] = max(queue["peak_bytes"], queue["bytes"])


@kernel
def next_lane(links: Records, queues: Records, packets: Records, link: int) -> int:
    """The class whose first packet is to be sent; -1 when none may."""
    port = links[link]
    ready = port["waiting"] & ~port["paused"]
    if ready == 0:
        return NONE
    for lane in range(N_LANES):
        if ready >> lane & 1 and (queues[link * N_LANES + lane]["quantum_bytes"] == 0 or ready == 1 << lane):
            return lane
    lane = port["turn"]
    while True:
        if ready >> lane & 1:
            queue = queues[link * N_LANES + lane]
            size = packets[queue["first"]]["size"]
            if queue["deficit_bytes"] >= size:
                queue["deficit_bytes"] -= size
                port["turn"] = lane
                return lane
        lane = (lane + 1) % N_LANES
        if ready >> lane & 1:
            queues[link * N_LANES + lane]["deficit_bytes"] += queues[link * N_LANES + lane]["quantum_bytes"]


@kernel
def dequeue(links: Records, queues: Records, packets: Records, link: int, lane: int) -> int:
    """The first packet of that class, which leaves the queue."""
    queue = queues[link * N_LANES + lane]
    packet = queue["first"]
    queue["first"] = packets[packet]["next"]
    queue["bytes"] -= packets[packet]["size"]
    if queue["first"] == NONE:
        links[link]["waiting"] &= np.uint8(255 ^ (1 << lane))
        queue["deficit_bytes"] = 0
    return packet
