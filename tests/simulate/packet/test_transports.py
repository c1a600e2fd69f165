"""Traffics with a transport of their own: RDMA and TCP in separate classes, and in one."""

import numpy as np
import pytest

from eastwest.errors import InputError, UsageError
from tests.simulate.packet.runs import packet_run

TEXT = (
    "fabric: {family: single-switch, hosts: 9, rate: 100G, delay: 1us}\ntransport: dcqcn\npayload: 4096\n"
    "traffic:\n  - {name: training, pattern: incast, receiver: h0, senders: [h1, h2], size: 20MB}\n"
    "  - {name: storage, pattern: incast, receiver: h0, senders: [h5, h6], size: 20MB}\n"
    "packet: {buffer: 8MB, jitter: 50ns, kmin: 100kB, kmax: 400kB%s}\n"
)
APART = ", transports: {storage: {transport: tcp}}"
TOGETHER = ", transports: {storage: {transport: tcp, class: rdma}}"


def ends(found) -> tuple[int, int]:
    """Last byte of the training and of the storage."""
    return int(found.end_ps[:2].max()), int(found.end_ps[2:].max())


def test_each_traffic_has_its_class_and_recovery() -> None:
    _, found = packet_run(TEXT % APART)
    flows, queues = found.world.flows, found.world.queues.reshape(-1, 3)
    assert flows["lane"].tolist() == [1, 1, 2, 2]
    assert flows["retries"].tolist() == [7, 7, 15, 15]
    assert int(queues["tx_packets"][:, 2].sum()) > 0
    _, found = packet_run(TEXT % TOGETHER)
    assert found.world.flows["lane"].tolist() == [1, 1, 1, 1]
    assert int(found.world.queues.reshape(-1, 3)["tx_packets"][:, 2].sum()) == 0


def test_tcp_in_the_class_of_rdma_takes_its_rate_and_a_class_of_its_own_gives_it_back() -> None:
    """TCP listens to neither delay nor marks, so it keeps the shared queue full and the RDMA flows give way for as long
    as it sends; with a class each they have half of the link, and nobody pauses.
    """
    text = TEXT.replace("dcqcn", "swift")
    (_, apart), (_, together) = packet_run(text % APART), packet_run(text % TOGETHER)
    line_ps = 2 * -(-20_000_000 // 4096) * 4178 * 80
    assert ends(apart)[0] < 2.05 * line_ps
    assert ends(together)[0] > 1.5 * ends(apart)[0]
    pauses = [int(found.world.ingress["pfc_sent"].sum()) for found in (apart, together)]
    assert pauses[1] > pauses[0] == 0


def test_a_ramp_that_drops_what_it_cannot_mark_drops_tcp_only() -> None:
    _, found = packet_run(TEXT % (TOGETHER + ", drop_non_ect: true"))
    again = found.world.flows["n_sent_again"]
    assert int(found.world.queues["early_drops"].sum()) > 0
    assert again[:2].tolist() == [0, 0]
    assert np.all(again[2:] > 0)
    _, passed = packet_run(TEXT % TOGETHER)
    assert int(passed.world.queues["early_drops"].sum()) == 0


def test_a_traffic_that_there_is_not_is_named() -> None:
    with pytest.raises(UsageError, match="no traffic"):
        packet_run(TEXT % ", transports: {backup: {transport: tcp}}")


def test_an_unknown_class_or_transport_is_a_mistake() -> None:
    with pytest.raises(InputError, match="transports"):
        packet_run(TEXT % ", transports: {storage: {transport: quic}}")
    with pytest.raises(InputError, match="class"):
        packet_run(TEXT % ", transports: {storage: {transport: tcp, class: gold}}")
