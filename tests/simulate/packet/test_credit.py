"""InfiniBand's credits: nothing overflows, a lane without room waits, and its head is given up after its lifetime."""

import numpy as np
import pytest

from eastwest.simulate.flow.tables import RunStatus
from eastwest.simulate.packet.params import PacketParams, credits_of
from tests.simulate.packet.runs import packet_run

US = 1_000_000
PACKET_PS = 4160 * 80
WIRE = "payload: 4096\noverhead: 64\n"
ONE_SWITCH = "fabric: {family: single-switch, hosts: %d, rate: 100G, delay: 1us}\n" + WIRE
RING = (
    "fabric: {family: ring, leaves: 5, hosts_per_leaf: 2, rate: 100G, delay: 1us}\ntransport: infiniband\n"
    + WIRE
    + "traffic: {pattern: stride, stride: 4, size: 2MB}\n"
    + "packet: {head_of_queue: %d, timeout: 14, recovery: selective_repeat}\n"
)


def incast(n: int, size: str, more: str = ""):
    senders = ", ".join(f"h{host}" for host in range(1, n + 1))
    text = ONE_SWITCH % (n + 1) + f"traffic: {{pattern: incast, receiver: h0, size: {size}, senders: [{senders}]}}\n"
    return packet_run(text + "transport: infiniband\n" + more)[1]


def test_no_buffer_overflows_and_the_last_link_is_always_busy() -> None:
    """Every packet full, so the last byte comes when the receiver's link has carried all."""
    found = incast(32, "1048576B")
    assert found.status == RunStatus.COMPLETE
    assert int(found.end_ps.max()) == PACKET_PS + US + 32 * 256 * PACKET_PS + US
    room = credits_of(PacketParams(), 100 * 10**9, US, 4160)
    assert 0.8 * room < found.world.ingress["peak_bytes"].max() <= room
    for column in (found.world.queues["dropped"], found.world.queues["discarded"], found.world.ingress["pfc_sent"]):
        assert int(column.sum()) == 0
    assert int(found.world.queues["paused_ps"].max()) > 0  # PortXmitWait


@pytest.mark.parametrize("packets", [1, 2, 5])
def test_a_small_buffer_sends_a_window_in_a_round_trip(packets: int) -> None:
    """Room for k packets: k packets each time the first one's room has come back, two delays after it was sent."""
    text = ONE_SWITCH % 2 + "transport: infiniband\ntraffic: {collective: send_recv, ranks: 2, size: 819200B}\n"
    _, found = packet_run(text + f"packet: {{credits: {packets * 4160}B, acks_with_data: false}}\n")
    period_ps = PACKET_PS + 2 * US
    last_ps = (200 // packets - 1) * period_ps + packets * PACKET_PS  # has left the sender
    assert found.end_ps.tolist() == [last_ps + PACKET_PS + 2 * US]


def test_with_the_usual_buffer_a_flow_alone_is_never_blocked() -> None:
    text = "fabric: {family: fat-tree, k: 8, rate: 100G, delay: 1us}\n" + WIRE + "transport: %s\n"
    text += "traffic: {collective: send_recv, hosts: [h0, h127], size: 10MB}\n"
    _, credited = packet_run(text % "infiniband")
    _, paused = packet_run(text % "roce")
    assert credited.end_ps.tolist() == paused.end_ps.tolist()


def test_room_is_conserved() -> None:
    """What a transmitter may send, what is on the wire or waits, and what comes back is the buffer again."""
    found = incast(8, "200kB")
    world = found.world
    room = credits_of(PacketParams(), 100 * 10**9, US, 4160)
    back = np.zeros(len(world.queues), np.int64)
    for index, queue in enumerate(world.queues):
        row = int(queue["credit_first"])
        while row >= 0:
            back[index] += int(world.packets[row]["size"])
            row = int(world.packets[row]["next"])
    on_wire = np.zeros(len(world.queues), np.int64)
    for link, port in enumerate(world.links):
        row = int(port["wire_first"])
        while row >= 0:
            on_wire[link * 3 + int(world.packets[row]["lane"])] += int(world.packets[row]["size"])
            row = int(world.packets[row]["next"])
    assert (world.queues["credit_bytes"] + back + on_wire + world.ingress["bytes"] == room).all()


def test_a_broken_wire_does_not_eat_the_room() -> None:
    text = ONE_SWITCH % 2 + "transport: infiniband\ntraffic: {collective: send_recv, ranks: 2, size: 20MB}\n"
    text += "loss: {links: [{link: [leaf0, h1], ratio: 0.01}]}\npacket: {timeout: 3}\n"
    _, found = packet_run(text)
    assert found.status == RunStatus.COMPLETE
    assert int(found.world.flows["n_sent_again"].sum()) > 0


def test_a_ring_locks_and_the_lifetime_of_heads_ends_it() -> None:
    _, found = packet_run(RING % 20)
    assert (found.status, len(found.cycle)) == (RunStatus.STALLED, 5)
    _, ended = packet_run(RING % 8)
    assert (ended.status, len(ended.cycle)) == (RunStatus.COMPLETE, 5)
    assert int(ended.world.queues["discarded"].sum()) > 0


def test_the_pfc_watchdog_leaves_lanes_alone_that_wait_for_room() -> None:
    text = (
        "fabric: {family: ring, leaves: 5, hosts_per_leaf: 2, rate: 100G, delay: 1us}\ntransport: infiniband\n"
        "traffic: {pattern: all_to_all, size: 30kB}\n"
        "packet: {timeout: 1, recovery: selective_repeat, head_of_queue: 8, jitter: 100ns,"
        " watchdog: {action: drop, detect: 1ms, restore: 1ms, poll: 500us}}\n"
    )
    _, found = packet_run(text)
    assert found.status == RunStatus.COMPLETE
    assert int(found.world.queues["storm_drops"].sum()) == 0
    _, locked = packet_run(text.replace("size: 30kB", "size: 300kB").replace("head_of_queue: 8", "head_of_queue: 20"))
    assert (locked.status, len(locked.cycle) > 0) == (RunStatus.STALLED, True)
