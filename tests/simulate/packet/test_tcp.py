"""TCP packet by packet: slow start, the square root law, marks, Linux's timers, and incast."""

import math

import pytest

from eastwest.simulate.flow.tables import RunStatus
from eastwest.simulate.packet.params import ANSWER_BYTES
from tests.simulate.packet.runs import packet_run

US = 1_000_000
MS, SECOND = 1_000 * US, 1_000_000 * US
WIRE = 1448 + 90
WIRE_PS = WIRE * 800  # at 10G a byte takes 800 ps
HEAD = (
    "fabric: {family: single-switch, hosts: %d, rate: 10G, delay: %s}\npayload: 1448\noverhead: 90\n"
    "transport: tcp\ntraffic: {pattern: incast, receiver: h0, size: %s, senders: [%s]}\n"
)


def incast(n: int, size: str, more: str = "", delay: str = "10us"):
    return packet_run(HEAD % (n + 1, delay, size, ", ".join(f"h{host}" for host in range(1, n + 1))) + more)[1]


def test_slow_start_doubles_a_window_of_ten_each_round_trip() -> None:
    """70 packets are windows of 10, 20 and 40: two round trips, then the last packet's way, behind the 39 of its window
    whose answers came spread over the second one's line time.
    """
    found = incast(1, f"{70 * 1448}B", delay="1ms")
    rtt_ps = 4 * MS + 2 * WIRE_PS + 2 * ANSWER_BYTES * 800
    assert found.end_ps.tolist() == [2 * rtt_ps + 40 * WIRE_PS + WIRE_PS + 2 * MS]


@pytest.mark.parametrize("control", ["reno", "cubic", "dctcp"])
def test_a_flow_alone_fills_the_link_after_its_start(control: str) -> None:
    found = incast(1, "50MB", f"packet: {{tcp: {control}}}\n")
    packets = -(-50_000_000 // 1448)
    assert packets * WIRE_PS < found.end_ps[0] < 1.005 * packets * WIRE_PS
    assert int(found.world.flows["n_sent_again"].sum()) == 0


@pytest.mark.parametrize("ratio", [0.001, 0.004])
def test_reno_follows_the_square_root_law(ratio: float) -> None:
    """sqrt(3 / (2 p)) packets a round trip (Mathis et al. 1997), every packet answered."""
    more = f"loss: {{links: [{{link: [leaf0, h0], ratio: {ratio}}}]}}\npacket: {{tcp: reno}}\n"
    found = incast(1, "60MB", more, delay="1ms")
    rtt_ps = 4 * MS + 2 * WIRE_PS + 2 * ANSWER_BYTES * 800
    packets = -(-60_000_000 // 1448)
    law = math.sqrt(1.5 / ratio)
    assert packets * rtt_ps / found.end_ps[0] == pytest.approx(law, rel=0.15)


def test_cubic_loses_less_rate_than_reno_on_a_long_path() -> None:
    more = "loss: {links: [{link: [leaf0, h0], ratio: 0.0002}]}\npacket: {tcp: %s}\n"
    ends = [float(incast(1, "200MB", more % name, delay="10ms").end_ps[0]) for name in ("cubic", "reno")]
    assert ends[0] < 0.9 * ends[1]


def test_dctcp_keeps_the_queue_at_its_threshold_without_loss() -> None:
    more = "packet: {tcp: %s, kmin: 60kB, kmax: 60kB, buffer: 8MB, jitter: 200ns}\n"
    found, plain = (incast(4, "40MB", more % name) for name in ("dctcp", "cubic"))
    packets = 4 * -(-40_000_000 // 1448)
    assert found.end_ps.max() < 1.03 * packets * WIRE_PS
    assert int(found.world.queues["dropped"].sum()) == 0
    assert int(found.world.queues["marked"].sum()) > 0
    assert found.world.queues["peak_bytes"].max() < plain.world.queues["peak_bytes"].max() / 5
    assert int(plain.world.queues["marked"].sum()) == 0
    rates = 1.0 / (found.end_ps - found.start_ps)
    assert rates.sum() ** 2 / (4 * (rates**2).sum()) > 0.95  # Jain's index


def test_incast_collapses_with_linux_timers_and_not_with_short_ones() -> None:
    """More senders than the buffer has packets: whole windows are lost, and only the timer brings them back."""
    more = "packet: {buffer: 60kB, reserved: 0B}\n"
    found = incast(128, "16kB", more)
    line_ps = 128 * -(-16_000 // 1448) * WIRE_PS
    assert found.end_ps.max() > 200 * MS > 10 * line_ps
    short = incast(128, "16kB", more + "tcp: {min_rto: 1ms}\n")
    assert short.end_ps.max() < found.end_ps.max() / 5


def test_a_connection_without_answers_ends_after_the_924_seconds_of_linux() -> None:
    """15 retries with a timer of 200 ms that doubles up to 120 s (tcp_retries2)."""
    found = incast(1, "1000B", "packet: {devices: {leaf0: {mtu: 500}}}\n")
    assert found.world.flows["state"].tolist() == [4]
    assert found.time_ps == sum(min(SECOND // 5 << turn, 120 * SECOND) for turn in range(16))
    assert found.time_ps == 924_600 * MS


def test_a_retransmission_that_is_lost_is_sent_again_without_the_timer() -> None:
    more = "loss: {links: [{link: [leaf0, h0], ratio: 0.02}]}\n"
    found = incast(1, "20MB", more)
    assert found.status == RunStatus.COMPLETE
    links = found.world.links
    lost = int(links["lost"][links["carried_bytes"] > 10_000_000].sum())  # of data; answers are lost the other way
    assert lost <= int(found.world.flows["n_sent_again"][0]) <= 1.02 * lost
    assert int(found.world.controls["n_cuts"][0]) > 50
