"""The retransmission timer of a flow: it runs from the first packet in flight, and only while one is."""

import pytest

from eastwest.simulate.flow.tables import RunStatus
from tests.simulate.packet.runs import packet_run

US = 1_000_000
ONE_SWITCH = "fabric: {family: single-switch, hosts: 3, rate: 100G, delay: 1us}\npayload: 4096\noverhead: 64\n"


def test_a_sender_that_is_paused_for_longer_than_its_timer_waits_without_events() -> None:
    """After it went back nothing is in flight, so no retry is used up: it goes on when the pause ends."""
    text = (
        ONE_SWITCH
        + "transport: roce\ntraffic: {collective: send_recv, hosts: [h1, h0], size: 100kB, start: 10us}\n"
        + "packet: {timeout: 2, storms: [{host: h0, at: 0s, for: 3ms}], reserved: 0B, xoff: 4000B}\n"
    )
    _, found = packet_run(text)
    assert (found.status, found.world.flows["state"].tolist()) == (RunStatus.COMPLETE, [2])
    assert 3_000 * US < found.end_ps[0] < 3_100 * US
    assert found.n_events < 2_000


@pytest.mark.parametrize("timeout", [2, 5, 8])
def test_the_timer_runs_from_the_first_packet_in_flight(timeout: int) -> None:
    """A port whose MTU is too small takes the only packet; with one retry the flow fails after two timers."""
    text = (
        ONE_SWITCH
        + "transport: roce\ntraffic: {collective: send_recv, hosts: [h1, h0], size: 4096B, start: 10us}\n"
        + f"packet: {{timeout: {timeout}, retries: 1, devices: {{leaf0: {{mtu: 1500}}}}}}\n"
    )
    _, found = packet_run(text)
    assert found.world.flows["state"].tolist() == [4]
    assert found.world.flows["n_sent_again"].tolist() == [1]
    assert found.time_ps == 10 * US + 2 * 4_096_000 * 2**timeout


@pytest.mark.parametrize("transport", ["tcp", "roce"])
def test_a_flow_whose_answers_were_lost_asks_for_them_again(transport: str) -> None:
    """A link breaks for 60 us: the receiver has packets that the sender does not know of."""
    text = (
        "fabric: {family: leaf-spine, leaves: 3, spines: 2, hosts_per_leaf: 4, rate: 100G, delay: 500ns}\n"
        f"transport: {transport}\ntraffic: {{pattern: incast, fan_in: 5, size: 300kB}}\nseed: 54\n"
        "packet: {timeout: 8, recovery: selective_repeat, pfc: off}\nevents:\n"
        "  - {at: 30us, link_down: [leaf0, spine0]}\n  - {at: 90us, link_up: [leaf0, spine0]}\n"
    )
    _, found = packet_run(text)
    assert (found.status, set(found.world.flows["state"].tolist())) == (RunStatus.COMPLETE, {2})
