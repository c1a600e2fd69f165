"""What lossless Ethernet is known to do, and what each mechanism is for: with it, and without it."""

import numpy as np
import pytest

from eastwest.simulate.analytic.loss import go_back_n_ratio
from eastwest.simulate.flow.tables import RunStatus
from eastwest.simulate.packet.params import ANSWER_BYTES, PacketParams, headroom_of
from tests.simulate.packet.runs import packet_run

PACKET = 4160
US = 1_000_000
ONE_SWITCH = "fabric: {family: single-switch, hosts: %d, rate: 100G, delay: 1us}\npayload: 4096\noverhead: 64\n"
TWO_LEAVES = (
    "fabric: {family: leaf-spine, leaves: 2, spines: 1, hosts_per_leaf: 8, rate: 100G, uplink_rate: 400G, delay: 1us}\n"
    "payload: 4096\noverhead: 64\n"
)


def dropped(found) -> int:
    return int(found.world.queues["dropped"].sum())


def incast(n: int, size: str, more: str) -> str:
    senders = ", ".join(f"h{host}" for host in range(1, n + 1))
    return (
        ONE_SWITCH % (n + 1)
        + f"traffic: {{pattern: incast, receiver: h0, size: {size}, senders: [{senders}]}}\n"
        + more
    )


def test_128_to_1_with_headroom_loses_nothing_and_without_pfc_it_does() -> None:
    _, found = packet_run(incast(128, "200kB", "transport: roce\npacket: {ecn: false}\n"))
    assert (found.status, dropped(found)) == (RunStatus.COMPLETE, 0)
    assert int(found.world.ingress["pfc_sent"].sum()) > 0
    _, lossy = packet_run(
        incast(128, "200kB", "transport: roce\npacket: {pfc: false, ecn: false, buffer: 4MB, timeout: 5}\n")
    )
    assert dropped(lossy) > 0
    assert int(lossy.world.flows["n_sent_again"].sum()) > 0


def lost_and_held(headroom: int, start_ps: int) -> tuple[int, int]:
    """Drops, and the most headroom used, when one packet to the sender is on its line at some time near the pause."""
    text = (
        ONE_SWITCH % 4
        + "transport: roce\n"
        + "traffic:\n  - {pattern: incast, receiver: h0, size: 300kB, senders: [h1, h2]}\n"
        + f"  - {{collective: send_recv, hosts: [h3, h1], size: 4096B, start: {start_ps}ps}}\n"
        + f"packet: {{ecn: false, xoff: 100kB, reserved: 0B, headroom: {headroom}B, acks_with_data: false,"
        + " storms: [{host: h0, at: 0s, for: 1ms}], timeout: 8}\n"
    )
    _, found = packet_run(text)
    return dropped(found), int(found.world.ingress["peak_headroom_bytes"].max())


def test_headroom_of_the_closed_form_is_enough_and_one_packet_less_is_not() -> None:
    """Over alignments of one packet against the pause frame: two cables, the response, the packet on each line. The
    receiver takes nothing, so the group fills at line rate and the pause comes 8 us after the first packet.
    """
    params = PacketParams(xoff_bytes=100_000)
    room = headroom_of(params, 100 * 10**9, US, PACKET)
    runs = [(start, *lost_and_held(room, start)) for start in range(7 * US, 10 * US, 20_000)]
    assert all(lost == 0 for _, lost, _ in runs)
    worst = max(runs, key=lambda run: run[2])[0]
    assert lost_and_held(room - PACKET - params.cell_bytes, worst)[0] > 0


def test_four_dcqcn_flows_share_a_link_fairly() -> None:
    _, found = packet_run(incast(4, "200MB", "transport: dcqcn\n"))
    rates = 1 / (found.end_ps - found.start_ps)
    assert rates.sum() ** 2 / (4 * (rates**2).sum()) > 0.95  # Jain's index
    assert dropped(found) == 0


def test_a_victim_waits_for_an_incast_that_is_not_its_own() -> None:
    """Head-of-line blocking: it shares only the uplink, which has room, with flows paused for their receiver."""
    text = (
        TWO_LEAVES
        + "transport: roce\ntraffic:\n"
        + "  - {name: incast, pattern: incast, receiver: h8, senders: [h0, h1, h2], size: 5MB}\n"
        + "  - {name: victim, collective: send_recv, hosts: [h5, h9], size: 5MB}\n"
        + "packet: {buffer: 2MB, ecn: false%s}\n"
    )
    alone_ps = 5_000_000 / 4096 * PACKET * 80
    _, paused = packet_run(text % "")
    assert paused.end_ps[3] > 2 * alone_ps
    assert dropped(paused) == 0
    _, roomy = packet_run((text % "").replace("buffer: 2MB", "buffer: 200MB"))
    assert roomy.end_ps[3] < 1.1 * alone_ps


RING = (
    "fabric: {family: ring, leaves: 5, hosts_per_leaf: 1, rate: 100G, delay: 1us}\ntransport: roce\npayload: 4096\n"
    "overhead: 64\ntraffic: {pattern: stride, stride: 2, size: 20MB}\npacket: {buffer: 2MB, ecn: false%s}\n"
)


def test_a_ring_of_switches_locks_and_the_cycle_is_named() -> None:
    prepared, found = packet_run(RING % "")
    assert found.status == RunStatus.STALLED
    names = {prepared.network.names[prepared.network.links["src"][link]] for link in found.cycle}
    assert names == {f"leaf{number}" for number in range(5)}
    assert dropped(found) == 0


def test_the_watchdog_ends_a_deadlock() -> None:
    """With selective repeat: going back N, all senders fill the ring again before the missing packets get through."""
    dog = ", watchdog: {action: drop, detect: 1ms, restore: 1ms, poll: 500us}, timeout: 12, recovery: selective_repeat"
    _, found = packet_run(RING % dog)
    assert found.status == RunStatus.COMPLETE
    assert int(found.world.queues["n_storms"].sum()) > 0
    assert int(found.world.queues["storm_drops"].sum()) > 0


def test_without_pauses_a_ring_does_not_lock() -> None:
    _, found = packet_run(RING % ", pfc: false, timeout: 8")
    assert found.status == RunStatus.COMPLETE


@pytest.mark.parametrize("seed", range(8))
def test_up_down_clos_never_locks(seed: int) -> None:
    text = (
        "fabric: {family: fat-tree, k: 4, rate: 100G, delay: 1us}\ntransport: roce\n"
        f"traffic: {{pattern: all_to_all, size: 100kB}}\nseed: {seed}\n"
        "packet: {buffer: 600kB, ecn: false, reserved: 0B, alpha: 0.25}\n"
    )
    _, found = packet_run(text)
    assert (found.status, found.cycle, dropped(found)) == (RunStatus.COMPLETE, (), 0)
    assert int(found.world.ingress["pfc_sent"].sum()) > 0


STORM = (
    TWO_LEAVES
    + "transport: roce\ntraffic:\n  - {collective: send_recv, hosts: [h0, h8], size: 20MB}\n"
    + "  - {collective: send_recv, hosts: [h1, h9], size: 20MB}\n"
    + "packet: {buffer: 1MB, ecn: false, storms: [{host: h8, at: 100us, for: 20ms}]%s}\n"
)


def test_a_storm_spreads_to_those_who_never_talk_to_the_receiver() -> None:
    _, found = packet_run(STORM % "")
    calm_ps = 20_000_000 / 4096 * PACKET * 80
    assert found.end_ps[1] > 20_000 * US
    paused = found.world.queues["paused_ps"].reshape(-1, 3)[:, 1]
    assert (paused > 10_000 * US).sum() >= 3  # the receiver's port, the uplinks behind it, the senders' NICs
    _, held = packet_run(STORM % ", watchdog: {action: drop, detect: 1ms, restore: 1ms, poll: 250us}, timeout: 12")
    assert held.end_ps[1] < calm_ps + 3_000 * US


def test_marks_too_early_cost_throughput_and_marks_too_late_leave_it_to_the_pauses() -> None:
    def run(thresholds: str):
        return packet_run(incast(8, "20MB", f"transport: dcqcn\npacket: {{buffer: 4MB, alpha: 0.5{thresholds}}}\n"))[1]

    shallow = run(", kmin: 2kB, kmax: 4kB, pmax: 1")
    fitting, deep = run(", kmin: 100kB, kmax: 400kB"), run(", kmin: 3900kB, kmax: 4MB")
    assert shallow.end_ps.max() > 1.2 * fitting.end_ps.max()
    assert int(fitting.world.ingress["pfc_sent"].sum()) < int(deep.world.ingress["pfc_sent"].sum())
    assert int(deep.world.queues["marked"].sum()) == 0


@pytest.mark.parametrize("ratio", [0.0005, 0.002])
def test_go_back_n_pays_a_window_for_each_loss_and_selective_repeat_a_packet(ratio: float) -> None:
    """Goodput near (1 - p) / (1 - p + p W), W the packets in flight of a round trip."""
    text = (
        ONE_SWITCH % 2
        + "transport: roce\ntraffic: {collective: send_recv, ranks: 2, size: 100MB}\n"
        + f"loss: {{links: [{{link: [leaf0, h1], ratio: {ratio}}}]}}\n"
        + "packet: {ecn: false, timeout: 3%s}\n"
    )
    rtt_ps = 4 * US + 2 * PACKET * 80 + 2 * ANSWER_BYTES * 80
    window = rtt_ps / (PACKET * 80)
    line_ps = 100_000_000 / 4096 * PACKET * 80
    _, found = packet_run(text % "")
    assert line_ps / found.end_ps[0] == pytest.approx(go_back_n_ratio(ratio, window), rel=0.03)
    _, kept = packet_run(text % ", recovery: selective_repeat")
    assert line_ps / kept.end_ps[0] == pytest.approx(1 - ratio, rel=0.005)
    assert int(kept.world.flows["n_sent_again"][0]) == pytest.approx(ratio * 24414, rel=0.5)


def test_a_lost_tail_waits_for_the_timer() -> None:
    """A port whose MTU is too small takes every packet: eight timers of 4.096 us x 2^10, then status 12."""
    text = (
        TWO_LEAVES + "transport: roce\ntraffic: {collective: send_recv, hosts: [h0, h8], size: 40kB}\n"
        "packet: {timeout: 10, devices: {spine0: {mtu: 1500}}}\n"
    )
    _, found = packet_run(text)
    assert found.world.flows["state"].tolist() == [4]
    assert found.time_ps == pytest.approx(8 * 4_096_000 * 2**10, rel=0.01)


def test_one_switch_without_the_policy_is_where_the_loss_is() -> None:
    text = (
        TWO_LEAVES
        + "transport: roce\ntraffic: {pattern: incast, receiver: h8, senders: [h0, h1, h2, h3], size: 20MB}\n"
        + "packet: {buffer: 4MB, ecn: false, timeout: 8%s}\n"
    )
    prepared, found = packet_run(text % ", devices: {leaf1: {pfc: false}}")
    lossy = np.flatnonzero(found.world.queues["dropped"])
    names = {prepared.network.names[prepared.network.links["src"][row // 3]] for row in lossy.tolist()}
    assert names == {"leaf1"}
    _, cured = packet_run(text % "")
    assert dropped(cured) == 0
    assert cured.end_ps.max() < found.end_ps.max()


def test_a_wrong_dscp_map_takes_rdma_out_of_its_class_at_one_hop() -> None:
    text = (
        TWO_LEAVES
        + "transport: roce\ntraffic: {pattern: incast, receiver: h8, senders: [h0, h1, h2, h3], size: 5MB}\n"
        + "packet: {buffer: 2MB, ecn: false, timeout: 8, devices: {leaf1: {misclassified: true}}}\n"
    )
    prepared, found = packet_run(text)
    rows = found.world.queues.reshape(-1, 3)
    last = int(prepared.network.down[8, 0])
    assert int(rows[last]["tx_packets"][1]) == 0
    assert int(rows[last]["tx_packets"][2]) > 0
    assert int(rows[last]["dropped"][2]) > 0
