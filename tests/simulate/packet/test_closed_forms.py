"""Times that can be counted by hand, to the picosecond."""

import numpy as np
import pytest

from eastwest.simulate.flow.tables import RunStatus
from tests.simulate.packet.runs import packet_run

FAT_TREE = "fabric: {family: fat-tree, k: 8, rate: 100G, delay: 1us}\npayload: 4096\noverhead: 64\n"
PACKET_PS = 4160 * 80  # at 100G a byte takes 80 ps
HOP_PS = 1_000_000
INCAST = "traffic: {pattern: incast, receiver: h0, size: %s, senders: [%s]}\n"
FAR = ", ".join(f"h{host}" for host in range(64, 80))


def test_one_packet_takes_its_time_on_every_link_of_its_path() -> None:
    _, found = packet_run(FAT_TREE + "traffic: {collective: send_recv, hosts: [h0, h127], size: 4096B}\n")
    assert found.end_ps.tolist() == [6 * (PACKET_PS + HOP_PS)]


def test_a_flow_alone_is_a_pipeline() -> None:
    """The last packet waits for those before it once and is then stored and forwarded on six links."""
    _, found = packet_run(FAT_TREE + "traffic: {collective: send_recv, hosts: [h0, h127], size: 10MB}\n")
    full, last = 2441, 10_000_000 - 2441 * 4096 + 64
    expected = full * PACKET_PS + 6 * HOP_PS + 5 * PACKET_PS + last * 80
    before_last = (full - 1) * PACKET_PS + 6 * (PACKET_PS + HOP_PS)  # arrival of the last full packet
    assert found.end_ps.tolist() == [max(before_last + last * 80, expected - 5 * (PACKET_PS - last * 80))]


@pytest.mark.parametrize(
    ("size", "bound_ps"),
    [
        ("10002432B", 16 * 2442 * PACKET_PS),  # every packet full: 13,003.16 us
        ("10MB", (16 * 2441 * 4160 + 16 * (1664 + 64)) * 80),  # short last packets: 13,000.05 us
    ],
    ids=["full", "short"],
)
def test_incast_of_16_ends_when_the_last_link_has_carried_all(size: str, bound_ps: int) -> None:
    """The last link starts when the first packet has crossed five others, and is never idle after that."""
    _, found = packet_run(FAT_TREE + "transport: roce\n" + INCAST % (size, FAR))
    assert found.status == RunStatus.COMPLETE
    assert int(found.end_ps.max()) == 5 * (PACKET_PS + HOP_PS) + bound_ps + HOP_PS
    assert round(bound_ps / 1e6, 2) in (13_003.16, 13_000.05)
    assert int(found.world.queues["dropped"].sum()) == 0


def test_cut_through_saves_the_time_of_the_packet_on_every_switch() -> None:
    text = FAT_TREE + "traffic: {collective: send_recv, hosts: [h0, h127], size: 4096B}\npacket: {cut_through: 64B}\n"
    _, found = packet_run(text)
    assert found.end_ps.tolist() == [5 * (64 * 80 + HOP_PS) + PACKET_PS + HOP_PS]


def test_dynamic_threshold_holds_each_of_n_groups_at_its_share() -> None:
    """N full groups settle at B alpha / (1 + N alpha) (Choudhury and Hahne 1998), two packets each at most above it."""
    senders = ", ".join(f"h{host}" for host in range(1, 9))
    text = (
        "fabric: {family: single-switch, hosts: 9, rate: 100G, delay: 1us}\ntransport: roce\n"
        + "payload: 4096\noverhead: 64\n"
        + INCAST % ("8MB", senders)
        + "packet: {buffer: 9MB, alpha: 0.125, reserved: 0B, headroom: 500kB, ecn: false}\n"
    )
    _, found = packet_run(text)
    shared = 9_000_000 - 9 * 500_000
    share = shared * 0.125 / (1 + 8 * 0.125)
    peaks = found.world.ingress["peak_bytes"][found.world.ingress["peak_bytes"] > 4160]
    assert len(peaks) == 8
    assert np.all((peaks > share - 4160) & (peaks < share + 2 * 4160))
    assert found.world.nodes["peak_bytes"].max() == pytest.approx(8 * share, rel=0.02)
