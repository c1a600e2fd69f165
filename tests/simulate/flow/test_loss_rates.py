"""Lossy flows against the closed forms of go-back-N and selective repeat; policers; time-outs of the last packet."""

import numpy as np
import pytest

from eastwest.errors import UsageError
from eastwest.simulate.analytic.loss import go_back_n_ratio, selective_repeat_ratio, window_packets
from eastwest.simulate.analytic.tcp_rate import policed_ratio
from eastwest.simulate.flow.build import event_table, flow_table, link_table, path_table
from eastwest.simulate.flow.engine import run_flows
from eastwest.simulate.flow.tables import EventKind, FlowOutcome, FlowState, RecordWish
from eastwest.simulate.flow.transport_table import FlowletTable, LossTable, TransportTable

GBPS, US = 10**9, 10**6
RATE, DELAY = 100 * GBPS, 5 * US
PACKET = 4000
ALONE_PS = 8 * 10**8  # 10 MB at 100 Gb/s


def losses(n_links: int, n_flows: int, **columns: object) -> TransportTable:
    """Nothing lost but what the columns say."""
    usual: dict[str, object] = {
        "link_ratio": np.zeros(n_links),
        "police_bps": np.full(n_links, np.inf),
        "burst_bytes": np.zeros(n_links),
        "answer_rtt_ps": np.full(n_links, 2.0 * DELAY),
        "flow_ratio": np.zeros(n_flows),
        "tail_ps": np.zeros(n_flows),
        "packet_bytes": PACKET,
        "host_ps": 0,
        "goes_back": True,
        "is_answered": False,
    }
    return TransportTable(losses=LossTable(**(usual | columns)))  # type: ignore[arg-type]


def one_link(n_flows: int, **columns: object) -> FlowOutcome:
    """Flows of 10 MB over one link of 100 Gb/s and 5 us."""
    links = link_table([RATE], DELAY)
    flows = flow_table([10**7] * n_flows, [0] * n_flows)
    return run_flows(links, path_table([[0]], links), flows, transport=losses(1, n_flows, **columns))


@pytest.mark.parametrize("loss", [1e-9, 1e-5, 1e-3, 0.02, 0.5])
@pytest.mark.parametrize("n_flows", [1, 4])
def test_go_back_n_leaves_its_closed_form_of_each_flows_rate(loss: float, n_flows: int) -> None:
    """W of each flow from its own rate: four that share a link have a quarter each in flight."""
    found = one_link(n_flows, flow_ratio=np.full(n_flows, loss))
    gain = go_back_n_ratio(loss, window_packets(RATE / n_flows, 2 * DELAY / 1e12, PACKET))
    assert found.end_ps.tolist() == pytest.approx([n_flows * ALONE_PS / gain + DELAY] * n_flows, rel=1e-9)
    assert found.carried_bytes is not None
    assert found.carried_bytes.tolist() == pytest.approx([1e7 / gain] * n_flows, rel=1e-9)
    assert found.link_bytes[0] == pytest.approx(n_flows * 1e7 / gain, abs=0.5)  # whole bytes
    assert found.sent_bytes.tolist() == [10**7] * n_flows


@pytest.mark.parametrize("loss", [1e-5, 0.02, 0.5])
def test_selective_repeat_sends_only_what_was_lost_again(loss: float) -> None:
    found = one_link(1, flow_ratio=np.array([loss]), goes_back=False)
    assert found.end_ps[0] == pytest.approx(ALONE_PS / selective_repeat_ratio(loss) + DELAY, rel=1e-9)


def test_losses_of_links_in_line_add_up_and_those_side_by_side_are_averaged() -> None:
    links = link_table([RATE] * 3, 0)
    paths = path_table([[0, 1], [1, 2]], links, shares=[[1, 1], [0.5, 0.5]])
    for path, lost in ((0, 1 - 0.99 * 0.98), (1, 0.5 * 0.02 + 0.5 * 0.04)):
        table = losses(3, 1, link_ratio=np.array([0.01, 0.02, 0.04]), goes_back=False)
        found = run_flows(links, paths, flow_table([10**7], [path], cap_bps=RATE), transport=table)
        assert found.end_ps[0] == pytest.approx(ALONE_PS / (1 - lost), rel=1e-9)


def test_nothing_lost_changes_nothing() -> None:
    """Ablation: the lossy tables with zeros give the plain run."""
    links = link_table([RATE, RATE // 2], DELAY)
    paths = path_table([[0], [0, 1]], links)
    flows = flow_table([10**7, 3 * 10**7, 10**6], [0, 1, 1], start_ps=[0, US, 50 * US])
    plain = run_flows(links, paths, flows)
    assert run_flows(links, paths, flows, transport=losses(2, 3)).end_ps.tolist() == plain.end_ps.tolist()


def test_the_gain_follows_the_rate_when_another_flow_ends() -> None:
    """Half the rate and half the window until the first ends, the whole from there."""
    lost = 0.01
    links = link_table([RATE], DELAY)
    table = losses(1, 2, flow_ratio=np.array([0.0, lost]))
    found = run_flows(links, path_table([[0]], links), flow_table([10**7, 10**7], [0, 0]), transport=table)
    half, whole = (go_back_n_ratio(lost, window_packets(rate, 1e-5, PACKET)) for rate in (RATE / 2, RATE))
    left = 1e7 * (1 - half)
    assert found.end_ps.tolist() == pytest.approx(
        [2 * ALONE_PS + DELAY, 2 * ALONE_PS + left * 8e12 / RATE / whole + DELAY], rel=1e-9
    )


@pytest.mark.parametrize("n_flows", [1, 3])
def test_a_policer_drops_what_is_above_its_rate_and_go_back_n_collapses(n_flows: int) -> None:
    """100 Gb/s into 80: a fifth is lost, and every loss costs the packets in flight."""
    links = link_table([RATE, RATE], 0)
    paths = path_table([[0, 1]], links, delay_ps=[DELAY])
    table = losses(2, n_flows, police_bps=np.array([np.inf, 80e9]))
    found = run_flows(links, paths, flow_table([10**6] * n_flows, [0] * n_flows), transport=table)
    gain = go_back_n_ratio(0.2, window_packets(RATE / n_flows, 1e-5, PACKET))
    assert found.end_ps.tolist() == pytest.approx([n_flows * 8e7 / gain + DELAY] * n_flows, rel=1e-9)


def test_a_policer_above_the_load_drops_nothing_and_one_that_falls_below_does() -> None:
    links = link_table([RATE, RATE], 0)
    paths = path_table([[0, 1]], links, delay_ps=[0])
    table = losses(2, 1, police_bps=np.array([np.inf, 100e9]), goes_back=False)
    events = event_table([(400 * US, EventKind.LINK_RATE, 1, 50 * GBPS)])
    found = run_flows(links, paths, flow_table([10**7], [0]), events, transport=table)
    assert found.end_ps.tolist() == [400 * US + 800 * US]


@pytest.mark.parametrize(("n_flows", "burst"), [(1, 0), (1, 200_000), (4, 0), (4, 200_000), (4, 10**9)])
def test_tcp_uses_of_a_policer_what_its_sawtooth_leaves(n_flows: int, burst: int) -> None:
    links = link_table([RATE, RATE], 0)
    paths = path_table([[0, 1]], links, delay_ps=[500 * US])
    columns = {"police_bps": np.array([np.inf, 50e9]), "burst_bytes": np.array([0, burst]), "is_answered": True}
    table = losses(2, n_flows, answer_rtt_ps=np.full(2, 1000.0 * US), **columns)
    found = run_flows(links, paths, flow_table([10**7] * n_flows, [0] * n_flows), transport=table)
    used = policed_ratio(n_flows, 50e9 * 1e-3 / 8 / PACKET, burst / PACKET)
    assert found.end_ps.tolist() == pytest.approx([n_flows * 1.6e9 / used + 500 * US] * n_flows, rel=1e-9)


def test_a_lost_last_packet_delays_its_flow_and_what_waits_for_it() -> None:
    links = link_table([RATE], DELAY)
    flows = flow_table([10**7, 10**7, 0], [0, 0, 0], parents=[[], [0], [1]])
    table = losses(1, 3, tail_ps=np.array([5e9, 0.0, 7e9]))
    found = run_flows(links, path_table([[0]], links), flows, transport=table)
    first = ALONE_PS + DELAY + 5 * 10**9
    assert found.end_ps.tolist()[:2] == [first, first + ALONE_PS + DELAY]
    assert found.end_ps[2] < found.end_ps[1] + 7 * 10**9  # nothing sent, nothing lost


def test_loads_count_what_is_sent_again() -> None:
    links = link_table([RATE], DELAY)
    found = run_flows(
        links,
        path_table([[0]], links),
        flow_table([10**7], [0]),
        wish=RecordWish(link_load=True, bin_ps=10**8),
        transport=losses(1, 1, flow_ratio=np.array([0.5]), goes_back=False),
    )
    assert found.link_bytes.tolist() == [2 * 10**7]
    assert found.series_bytes is not None
    assert found.series_bytes.sum() == pytest.approx(2e7)


def test_a_stopped_lossy_flow_says_what_arrived_and_what_was_carried() -> None:
    links = link_table([RATE], DELAY)
    events = event_table([(400 * US, EventKind.FLOW_STOP, 0, 0)])
    table = losses(1, 1, flow_ratio=np.array([0.5]), goes_back=False)
    found = run_flows(links, path_table([[0]], links), flow_table([10**7], [0]), events, transport=table)
    assert found.state.tolist() == [FlowState.STOPPED]
    assert found.sent_bytes.tolist() == [2_500_000]
    assert found.carried_bytes is not None
    assert found.carried_bytes.tolist() == [5e6]


def flowlets(n_flows: int, gap_ps: int, *, by_load: bool) -> TransportTable:
    """All flows are one pair's; it can take the paths 0 to 3."""
    ways = np.arange(4, dtype=np.int32).reshape(1, 4)
    return TransportTable(flowlets=FlowletTable(np.zeros(n_flows, np.int64), ways, gap_ps, by_load))


def test_a_flowlet_chooses_anew_after_a_gap_and_only_then() -> None:
    """Bursts 1 us apart keep their way; 200 us apart they find others."""
    links = link_table([RATE] * 4)
    paths = path_table([[0], [1], [2], [3]], links)
    for apart, n_ways in ((US, 1), (200 * US, 4)):
        starts = [turn * (80 * US + apart) for turn in range(40)]
        flows = flow_table([10**6] * 40, [0] * 40, start_ps=starts)
        found = run_flows(links, paths, flows, transport=flowlets(40, 100 * US, by_load=False))
        assert found.path is not None
        assert len(set(found.path.tolist())) == n_ways
        assert found.fct_ps.tolist() == [80 * US] * 40


def test_flowlets_by_load_avoid_the_busy_links_and_drawn_ones_do_not() -> None:
    """Links 0 to 2 carry elephants; the one free link is found."""
    links = link_table([RATE] * 4)
    paths = path_table([[0], [1], [2], [3]], links)
    for by_load in (True, False):
        flows = flow_table([10**9] * 3 + [10**6] * 20, [0, 1, 2] + [0] * 20, start_ps=[0] * 3 + [1] + [10**9] * 19)
        pair = np.r_[1, 2, 3, np.zeros(20, np.int64)]
        fixed = np.repeat(np.arange(3, dtype=np.int32), 4).reshape(3, 4)
        ways = np.concatenate([np.arange(4, dtype=np.int32).reshape(1, 4), fixed])
        table = TransportTable(flowlets=FlowletTable(pair, ways, 100.0, by_load))
        found = run_flows(links, paths, flows, transport=table)
        assert found.path is not None
        assert (set(found.path[3:].tolist()) == {3}) == by_load


@pytest.mark.parametrize(
    "table",
    [
        losses(1, 1, flow_ratio=np.array([1.0])),
        losses(2, 1),
        losses(1, 2),
        flowlets(2, 1, by_load=False),
    ],
)
def test_tables_that_do_not_fit_are_refused(table: TransportTable) -> None:
    links = link_table([RATE])
    with pytest.raises(UsageError):
        run_flows(links, path_table([[0]], links), flow_table([1], [0]), transport=table)
