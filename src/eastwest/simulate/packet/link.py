"""Directed links: the transmitter at one end and the wire behind it.

Packets on a wire keep their order, so only the first of them has an event. A transmitter has an event ("free") only
while something waits for it.
"""

from __future__ import annotations

import numpy as np

from eastwest.simulate.packet.events import ARRIVE, FREE, draw, push
from eastwest.simulate.packet.kernel import NONE, Records, entry_kernel, kernel, record
from eastwest.simulate.packet.pool import DATA, give_back

BITS_PER_BYTE, PS_PER_S = 8, 1_000_000_000_000

LINK = record(
    # one line of the cache: what every packet touches
    ("free_ps", np.int64),  # end of the packet that is being sent
    ("rate_bps", np.int64),  # 0 is down: what is sent is lost
    ("delay_ps", np.int64),
    ("carried_bytes", np.int64),
    ("wire_first", np.int32),
    ("wire_last", np.int32),
    ("mac_first", np.int32),  # control frames of this transmitter, before all else
    ("ring", np.int32),  # flow that sent last; the next one is behind it
    ("mtu_bytes", np.int32),  # on the wire; larger ones vanish
    ("cut_bytes", np.int32),  # cut-through: after so many bytes the next hop begins; 0: store and forward
    ("waiting", np.uint8),  # bit of each class whose queue holds something
    ("paused", np.uint8),  # bit of each class that may not send
    ("has_free", np.int8),  # its event is to come
    ("turn", np.int8),  # class that is served next
    ("lane_of_rdma", np.int8),  # class in which the node at the other end keeps RDMA packets
    ("has_errors", np.int8),
    # seldom
    ("error_ratio", np.float64),  # of packets
    ("lost", np.int64),  # packets that a broken wire, a bit error or a small MTU took
    ("response_ps", np.int64),  # from a pause frame to the end of sending
    ("obey_first", np.int32),  # pause frames that wait for the response time
    ("obey_last", np.int32),
    ("back", np.int32),  # link of the other direction
)


@kernel
def serial_ps(size_bytes: int, rate_bps: int) -> int:
    """Time on the line, rounded up to a picosecond."""
    return (int(size_bytes) * (BITS_PER_BYTE * PS_PER_S) + rate_bps - 1) // rate_bps


@kernel
def put_on_wire(links: Records, packets: Records, heap: Records, clock: Records, link: int, packet: int) -> bool:
    """Send now: the transmitter is taken until the last bit, which arrives one delay later; False: it is lost."""
    port, row = links[link], packets[packet]
    now, size = clock[0]["now_ps"], row["size"]
    clock[0]["n_hops"] += 1
    if row["kind"] == DATA:
        clock[0]["n_data_hops"] += 1
    if port["rate_bps"] == 0 or size > port["mtu_bytes"]:
        port["lost"] += 1
        give_back(packets, clock, packet)
        return False
    port["free_ps"] = now + serial_ps(size, port["rate_bps"])
    port["carried_bytes"] += size
    if port["has_errors"] and is_hit(packets, clock, port["error_ratio"], packet):
        port["lost"] += 1
        give_back(packets, clock, packet)
        return False
    seen = port["free_ps"]
    if 0 < port["cut_bytes"] < size:
        seen = now + serial_ps(port["cut_bytes"], port["rate_bps"])
    row["arrive_ps"] = seen + port["delay_ps"]
    row["next"] = NONE
    if port["wire_first"] == NONE:
        port["wire_first"] = port["wire_last"] = packet
        push(heap, clock, row["arrive_ps"], ARRIVE, link)
    else:
        packets[port["wire_last"]]["next"] = packet
        port["wire_last"] = packet
    return True


@kernel
def is_hit(packets: Records, clock: Records, error_ratio: float, packet: int) -> bool:
    """Whether a bit error takes this packet; drawn anew for each link and each time it is sent."""
    row = packets[packet]
    word = np.int64(row["flow"]) * 1024 + row["kind"] * 64 + row["pos"]
    return draw(clock[0]["error_key"] ^ clock[0]["now_ps"], word, row["seq"]) < error_ratio


@kernel
def land(links: Records, packets: Records, heap: Records, clock: Records, link: int) -> int:
    """The packet that arrives at the other end; the one behind it on the wire is due next."""
    port = links[link]
    packet = port["wire_first"]
    following = packets[packet]["next"]
    port["wire_first"] = following
    if following != NONE:
        push(heap, clock, packets[following]["arrive_ps"], ARRIVE, link)
    return packet


@kernel
def wake_transmitter(links: Records, heap: Records, clock: Records, link: int) -> None:
    """See to it that the transmitter looks for work as soon as it is free."""
    port = links[link]
    if not port["has_free"]:
        port["has_free"] = 1
        push(heap, clock, max(port["free_ps"], clock[0]["now_ps"]), FREE, link)


@entry_kernel
def change_rate(links: Records, heap: Records, clock: Records, link: int, rate_bps: int) -> None:
    """From now on the link has that rate; what is on the line keeps the old one."""
    links[link]["rate_bps"] = rate_bps
    wake_transmitter(links, heap, clock, link)
