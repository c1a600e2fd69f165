"""The delay-based control: its target, a flow alone, and many that share a link."""

import numpy as np
import pytest

from eastwest.simulate.packet.build import build_world
from eastwest.simulate.packet.cc import delay
from eastwest.simulate.packet.cc.control import CONTROL, PARAMS
from eastwest.simulate.packet.engine import MORE, advance
from eastwest.simulate.packet.flows import FLOW
from eastwest.simulate.packet.params import ANSWER_BYTES
from eastwest.simulate.prepared import prepare
from eastwest.simulate.scenario import parse_scenario
from tests.simulate.flow.interpreted import interpreted
from tests.simulate.packet.runs import packet_run

US = 1_000_000
PACKET = 4160
BASE_PS = 4 * US + 2 * PACKET * 80 + 2 * ANSWER_BYTES * 80  # round trip through one switch
TEXT = (
    "fabric: {family: single-switch, hosts: %d, rate: 100G, delay: 1us}\npayload: 4096\noverhead: 64\n"
    "transport: swift\ntraffic: {pattern: incast, receiver: h0, size: %s, senders: [%s]}\npacket: {target_delay: %s}\n"
)


def incast_text(n: int, size: str, target: str = "6us") -> str:
    return TEXT % (n + 1, size, ", ".join(f"h{host}" for host in range(1, n + 1)), target)


def incast(n: int, size: str):
    return packet_run(incast_text(n, size))[1]


@pytest.mark.parametrize(
    ("window", "allowances"), [(0.1, 6.0), (1.0, 2.4695), (25.0, 1.1633), (100.0, 1.0), (400.0, 1.0)]
)
def test_the_target_grows_as_the_window_falls(window: float, allowances: float) -> None:
    """Swift's flow scaling: a / sqrt(w) + b, five allowances at w = 0.1 and none from w = 100."""
    controls, params = np.zeros(1, CONTROL), np.zeros(1, PARAMS)
    controls["window_packets"], controls["base_rtt_ps"], params["target_delay_ps"] = window, BASE_PS, 6 * US
    target = interpreted(delay, delay.target)
    assert target(controls, params, 0) == pytest.approx(BASE_PS + allowances * 6 * US, rel=1e-3)


def test_the_round_trip_of_the_empty_path_is_known() -> None:
    found = incast(3, "1MB")
    assert found.world.controls["base_rtt_ps"].tolist() == [BASE_PS] * 3


def test_a_flow_alone_is_never_slowed() -> None:
    found = incast(1, "100MB")
    full, last = divmod(100_000_000, 4096)
    assert found.end_ps.tolist() == [(full + 1) * PACKET * 80 + (last + 64) * 80 + 2 * US]


@pytest.mark.parametrize("n", [4, 32])
def test_many_keep_the_queue_at_the_allowance_and_the_link_full(n: int) -> None:
    """The queue holds what the target allows (scaled for the window of each), not what all started with."""
    size = 200_000_000 // n
    found = incast(n, f"{size}B")
    bound_ps = n * -(-size // 4096) * PACKET * 80
    assert found.end_ps.max() < 1.03 * bound_ps
    rates = 1.0 / (found.end_ps - found.start_ps)
    assert rates.sum() ** 2 / (n * (rates**2).sum()) > 0.98  # Jain's index
    assert found.world.queues["peak_bytes"].max() < n * BASE_PS / 80 + 6 * 6 * US / 80  # the start, all at once
    assert int(found.world.ingress["pfc_sent"].sum()) == 0


@pytest.mark.parametrize("target", [2, 6, 20])
def test_the_windows_stand_for_the_round_trip_that_is_wanted(target: int) -> None:
    """In the middle of a run all windows (of whole packets) are what the link carries in the target's time,
    up to the packet that each may be above and the one on the line.
    """
    text = incast_text(4, "40MB", f"{target}us")
    world, _ = build_world(prepare(parse_scenario(text, "synthetic.yaml")), parse_scenario(text, "a.yaml").packet)
    assert advance(world, 150_000, 1 << 60) == MORE
    wanted = interpreted(delay, delay.target)(world.controls, world.params, 0)
    assert int(world.flows["window"].sum()) * PACKET * 80 == pytest.approx(wanted, abs=5 * PACKET * 80)


def test_a_loss_cuts_the_window_by_half_at_most_once_a_round_trip() -> None:
    flows, controls, params = np.zeros(1, FLOW), np.zeros(1, CONTROL), np.zeros(1, PARAMS)
    flows["full_size"], controls["line_bps"], controls["base_rtt_ps"] = PACKET, 100 * 10**9, BASE_PS
    controls["window_packets"], params["most_cut"], params["target_delay_ps"] = 16.0, 0.5, 6 * US
    on_loss = interpreted(delay, delay.on_loss)
    on_loss(flows, controls, params, 0, 2 * BASE_PS)
    on_loss(flows, controls, params, 0, 2 * BASE_PS + 1)
    assert (float(controls["window_packets"][0]), int(flows["window"][0])) == (8.0, 8)
