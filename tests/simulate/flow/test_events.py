"""What happens from outside in the middle of flows: rates, paths, caps, stops."""

from eastwest.simulate.flow.build import event_table, flow_table, link_table, path_table
from eastwest.simulate.flow.engine import run_flows
from eastwest.simulate.flow.tables import NOT_YET_PS, EventKind, FlowState, RecordWish, RunStatus
from tests.simulate.flow.cases import GBPS

US = 10**6  # ps
TEN_MB_PS = 800 * US  # 10 MB at 100 Gb/s


def test_a_link_that_goes_down_and_up_holds_its_flow_for_that_time() -> None:
    links = link_table([100 * GBPS])
    events = event_table(
        [(600 * US, EventKind.LINK_RATE, 0, 100 * GBPS), (200 * US, EventKind.LINK_RATE, 0, 0)]  # in any order
    )
    found = run_flows(links, path_table([[0]], links), flow_table([10**7], [0]), events)
    assert found.end_ps.tolist() == [TEN_MB_PS + 400 * US]


def test_a_degraded_link_slows_what_is_left() -> None:
    links = link_table([100 * GBPS])
    events = event_table([(400 * US, EventKind.LINK_RATE, 0, 25 * GBPS)])
    found = run_flows(links, path_table([[0]], links), flow_table([10**7], [0]), events)
    assert found.end_ps.tolist() == [400 * US + 1600 * US]


def test_a_swapped_path_moves_flows_that_send_and_flows_to_come() -> None:
    links = link_table([100 * GBPS, 50 * GBPS])
    paths = path_table([[0], [1]], links)
    flows = flow_table([10**7, 10**7], [0, 0], parents=[[], [0]])
    events = event_table([(400 * US, EventKind.LINK_RATE, 0, 0), (400 * US, EventKind.PATH_SWAP, 0, 1)])
    found = run_flows(links, paths, flows, events, RecordWish(link_load=True))
    assert found.end_ps.tolist() == [1200 * US, 1200 * US + 1600 * US]
    assert found.link_bytes.tolist() == [5_000_000, 15_000_000]


def test_a_path_swapped_with_itself_takes_its_flows_back() -> None:
    links = link_table([100 * GBPS, 50 * GBPS])
    events = event_table([(200 * US, EventKind.PATH_SWAP, 0, 1), (600 * US, EventKind.PATH_SWAP, 0, 0)])
    found = run_flows(links, path_table([[0], [1]], links), flow_table([10**7], [0]), events)
    assert found.end_ps.tolist() == [1000 * US]
    assert found.link_bytes.tolist() == [7_500_000, 2_500_000]


def test_one_flow_moves_to_another_path_and_meets_another_flow_there() -> None:
    links = link_table([100 * GBPS, 100 * GBPS])
    paths = path_table([[0], [1]], links)
    events = event_table([(400 * US, EventKind.FLOW_PATH, 0, 1), (0, EventKind.FLOW_PATH, 2, 1)])
    flows = flow_table([10**7, 10**7, 10**7], [0, 1, 0], start_ps=[0, 0, 5000 * US])
    found = run_flows(links, paths, flows, events)
    assert found.end_ps.tolist() == [1200 * US, 1200 * US, 5800 * US]
    assert found.link_bytes.tolist() == [5_000_000, 25_000_000]


def test_a_cap_that_falls_gives_room_to_the_other_flow() -> None:
    links = link_table([100 * GBPS])
    events = event_table([(800 * US, EventKind.FLOW_CAP, 0, 25 * GBPS), (1200 * US, EventKind.FLOW_CAP, 0, 100 * GBPS)])
    found = run_flows(links, path_table([[0]], links), flow_table([10**7, 2 * 10**7], [0, 0]), events)
    # until 800 µs 5 MB each; until 1,200 µs 1.25 and 3.75 MB; half each from there: 3.75 MB take 600 µs
    assert found.end_ps.tolist() == [1800 * US, 2400 * US]


def test_a_stopped_flow_takes_all_that_wait_for_it_along() -> None:
    links = link_table([100 * GBPS])
    flows = flow_table([10**7] * 4, [0] * 4, parents=[[], [], [0, 1], [2]])
    events = event_table([(400 * US, EventKind.FLOW_STOP, 0, 0)])
    found = run_flows(links, path_table([[0]], links), flows, events)
    assert found.status is RunStatus.COMPLETE
    assert found.state.tolist() == [FlowState.STOPPED, FlowState.DONE, FlowState.STOPPED, FlowState.STOPPED]
    assert found.end_ps.tolist() == [NOT_YET_PS, 1000 * US, NOT_YET_PS, NOT_YET_PS]
    assert found.link_bytes.tolist() == [12_500_000]


def test_a_stop_after_the_end_changes_nothing() -> None:
    links = link_table([100 * GBPS])
    events = event_table([(TEN_MB_PS, EventKind.FLOW_STOP, 0, 0), (2 * TEN_MB_PS, EventKind.FLOW_CAP, 0, GBPS)])
    found = run_flows(links, path_table([[0]], links), flow_table([10**7], [0]), events)
    assert found.state.tolist() == [FlowState.DONE]
    assert found.end_ps.tolist() == [TEN_MB_PS]


def test_everything_at_one_instant_is_one_batch() -> None:
    """A flow ends, its link fails, another path takes over and a new flow starts, all at 800 µs."""
    links = link_table([100 * GBPS, 40 * GBPS])
    paths = path_table([[0], [1]], links)
    events = event_table([(TEN_MB_PS, EventKind.LINK_RATE, 0, 0), (TEN_MB_PS, EventKind.PATH_SWAP, 0, 1)])
    flows = flow_table([10**7, 10**7], [0, 0], start_ps=[0, TEN_MB_PS])
    found = run_flows(links, paths, flows, events)
    assert found.end_ps.tolist() == [TEN_MB_PS, TEN_MB_PS + 2000 * US]


def test_a_stopped_flow_says_what_it_had_sent() -> None:
    links = link_table([100 * GBPS])
    events = event_table([(400 * US, EventKind.FLOW_STOP, 0, 0), (500 * US, EventKind.FLOW_STOP, 0, 0)])
    flows = flow_table([10**7, 10**7, 10**7], [0, 0, 0], parents=[[], [], [0]])
    found = run_flows(links, path_table([[0]], links), flows, events)
    assert found.state.tolist() == [FlowState.STOPPED, FlowState.DONE, FlowState.STOPPED]
    assert found.sent_bytes.tolist() == [2_500_000, 10_000_000, 0]
    assert found.link_bytes.tolist() == [12_500_000]


def test_many_paths_swapped_at_once_move_every_flow_to_its_own_new_path() -> None:
    """Each of 1,000 flows goes over to a link of its own at half the rate; the swaps of a batch are one pass."""
    n = 1000
    links = link_table([100 * GBPS] * n + [50 * GBPS] * n)
    paths = path_table([[link] for link in range(2 * n)], links)
    events = event_table([(400 * US, EventKind.PATH_SWAP, row, n + row) for row in range(n)])
    found = run_flows(links, paths, flow_table([10**7] * n, range(n)), events)
    assert set(found.end_ps.tolist()) == {1200 * US}
    assert set(found.link_bytes.tolist()) == {5_000_000}
