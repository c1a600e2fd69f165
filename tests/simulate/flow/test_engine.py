"""Whole runs against a naive oracle in fractions; dependencies, delays, records, interruption, conservation."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.simulate.flow.build import event_table, flow_table, link_table, path_table
from eastwest.simulate.flow.engine import run_flows
from eastwest.simulate.flow.tables import (
    NOT_YET_PS,
    EventKind,
    FlowOutcome,
    FlowState,
    ProgressReport,
    RecordWish,
    RunStatus,
)
from tests.simulate.flow.cases import GBPS, networks, tables
from tests.simulate.flow.naive import NaiveFlow, naive_run

US = 10**6  # ps
EXACT = 1e-9
EVENT_TIMES_PS = [0, 50 * US, 10**8, 777 * US]
EVENT_RATES_BPS = [0, GBPS, 10 * GBPS, 100 * GBPS]

rate_events = st.lists(
    st.tuples(st.sampled_from(EVENT_TIMES_PS), st.integers(0, 5), st.sampled_from(EVENT_RATES_BPS)), max_size=4
)


@given(networks(parents=True), rate_events)
def test_starts_and_ends_equal_those_of_the_naive_run(
    case: tuple[list[int], list[NaiveFlow]], changes: list[tuple[int, int, int]]
) -> None:
    rates, flows = case
    changes = [(at, link % len(rates), rate) for at, link, rate in changes]
    events = event_table([(at, EventKind.LINK_RATE, link, rate) for at, link, rate in changes])
    found = run_flows(*tables(rates, flows), events, RecordWish(link_load=True, bin_ps=10**7, n_bins=16))
    naive_run(rates, flows, changes)
    for name, column in (("begin_ps", found.start_ps), ("end_ps", found.end_ps)):
        expected = [NOT_YET_PS if (at := getattr(flow, name)) is None else float(at) for flow in flows]
        assert column == pytest.approx(expected, rel=EXACT, abs=2), name
    conserves(found, flows, len(rates))


def conserves(found: FlowOutcome, flows: list[NaiveFlow], n_links: int) -> None:
    """Every link carried the sum of what its flows sent, by its own account and by its time series."""
    carried = np.zeros(n_links)
    for flow, sent in zip(flows, found.sent_bytes, strict=True):
        for link, share in flow.way:
            carried[link] += sent * float(share)
    assert found.link_bytes == pytest.approx(carried, abs=len(flows))
    assert found.series_bytes is not None
    assert found.series_bytes.sum(axis=1) == pytest.approx(carried, rel=EXACT, abs=len(flows))


def test_the_incast_of_sixteen_ends_when_the_last_link_has_carried_all() -> None:
    """16 x 10 MB into one 100 Gb/s link: 12,800 µs, and six links of 1 µs: 12,806 µs, to the picosecond."""
    links = link_table([100 * GBPS] * 17, US)
    paths = path_table([[sender, 16] for sender in range(16)], links, delay_ps=6 * US)
    found = run_flows(links, paths, flow_table([10**7] * 16, range(16)), wish=RecordWish(link_load=True))
    assert set(found.fct_ps.tolist()) == {12_806 * US}
    assert found.status is RunStatus.COMPLETE
    assert found.link_bytes.tolist() == [10**7] * 16 + [16 * 10**7]
    assert found.link_peak_bps is not None
    assert found.link_busy_ps is not None
    assert found.link_peak_bps[16] == 100 * GBPS
    assert found.link_busy_ps[16] == 12_800 * US
    assert found.n_solves == 1  # all end at once


def test_a_flow_that_leaves_gives_its_rate_to_those_that_stay() -> None:
    """10 and 30 MB on 100 Gb/s: both at half until 1,600 µs, then 20 MB at the full rate: 3,200 µs."""
    links = link_table([100 * GBPS])
    found = run_flows(links, path_table([[0]], links), flow_table([10**7, 3 * 10**7], [0, 0]))
    assert found.end_ps.tolist() == [1600 * US, 3200 * US]


def test_a_flow_that_comes_takes_its_part() -> None:
    links = link_table([100 * GBPS])
    found = run_flows(links, path_table([[0]], links), flow_table([10**7, 10**7], [0, 0], start_ps=[0, 400 * US]))
    assert found.end_ps.tolist() == [1200 * US, 1600 * US]


def test_a_dependent_flow_starts_a_delay_after_the_last_parent_was_received() -> None:
    links = link_table([100 * GBPS] * 3, US)
    paths = path_table([[0], [1], [2]], links)
    flows = flow_table([10**7, 2 * 10**7, 10**7], range(3), parents=[[], [], [0, 1]], parent_delay_ps=[0, 0, 5 * US])
    found = run_flows(links, paths, flows)
    assert found.start_ps.tolist() == [0, 0, 1606 * US]
    assert found.end_ps.tolist() == [801 * US, 1601 * US, 2407 * US]


def test_flows_of_no_bytes_and_on_no_links_are_computations_and_local_copies() -> None:
    links = link_table([GBPS])
    paths = path_table([[]], links)
    flows = flow_table(
        [0, 0, 10**6, 10**6],
        [0] * 4,
        start_ps=[7, 0, 0, 0],
        parents=[[], [0], [1], [1]],
        parent_delay_ps=[0, 500, 0, 0],
        cap_bps=[GBPS, GBPS, 8 * GBPS, 2**63 - 1],
    )
    found = run_flows(links, paths, flows)
    assert found.start_ps.tolist() == [7, 507, 507, 507]
    assert found.end_ps.tolist() == [7, 507, 507 + 1000 * US, 507]


def test_strict_priority_interrupts_and_lets_go_on() -> None:
    """A 10 MB flow of high priority takes the whole link from 400 µs to 1,200 µs."""
    links = link_table([100 * GBPS])
    flows = flow_table([10**7, 10**7], [0, 0], start_ps=[0, 400 * US], priority=[0, 1])
    assert run_flows(links, path_table([[0]], links), flows).end_ps.tolist() == [1600 * US, 1200 * US]


def test_peak_and_average_of_a_burst_differ() -> None:
    """Two bursts of 100 µs at full rate in a millisecond: average 20 % in ten bins, peak 100 %."""
    links = link_table([100 * GBPS])
    flows = flow_table([1_250_000] * 2, [0, 0], start_ps=[0, 900 * US])
    found = run_flows(links, path_table([[0]], links), flows, wish=RecordWish(bin_ps=100 * US, n_bins=10))
    assert found.series_bytes is not None
    assert found.series_bytes[0] == pytest.approx([1.25e6, *[0] * 8, 1.25e6], abs=1)
    assert found.link_peak_bps is not None
    assert found.link_peak_bps[0] == 100 * GBPS
    assert found.series_bytes[0].sum() * 8 / (1000 * US) * 1e12 == pytest.approx(20 * GBPS)


def test_full_bins_are_merged_in_pairs() -> None:
    links = link_table([8 * GBPS])
    wish = RecordWish(bin_ps=US, n_bins=4)
    found = run_flows(links, path_table([[0]], links), flow_table([15_000], [0]), wish=wish)
    assert found.series_bin_ps == 4 * US
    assert found.series_bytes is not None
    assert found.series_bytes[0] == pytest.approx([4000, 4000, 4000, 3000])


def test_progress_is_reported_and_an_interrupt_leaves_a_partial_result() -> None:
    links = link_table([100 * GBPS])
    reports: list[ProgressReport] = []

    def stop_at_the_second(report: ProgressReport) -> None:
        reports.append(report)
        if len(reports) == 2:
            raise KeyboardInterrupt

    flows = flow_table([10**7] * 8, [0] * 8, parents=[[], *([index] for index in range(7))])
    wish = RecordWish(progress_every=4)
    found = run_flows(links, path_table([[0]], links), flows, wish=wish, progress=stop_at_the_second)
    assert found.status is RunStatus.INTERRUPTED
    assert [report.n_flows for report in reports] == [8, 8]
    assert reports[0].n_events < reports[1].n_events
    n_done = int((found.state == FlowState.DONE).sum())
    assert 0 < n_done < 8
    assert found.end_ps.tolist() == [*(800 * US * (index + 1) for index in range(n_done)), *[NOT_YET_PS] * (8 - n_done)]
    assert found.link_bytes[0] == found.sent_bytes.sum() == found.time_ps // (800 * US) * 10**7


def test_a_run_that_cannot_go_on_names_the_flows_that_are_held() -> None:
    links = link_table([0, GBPS])
    found = run_flows(links, path_table([[0], [1]], links), flow_table([1, 1, 1], [0, 1, 1], parents=[[], [], [0]]))
    assert found.status is RunStatus.STALLED
    assert found.stalled.tolist() == [0]
    assert found.state.tolist() == [FlowState.ACTIVE, FlowState.DONE, FlowState.WAITING]


def test_the_pool_grows_when_many_flows_meet_on_a_link() -> None:
    n = 300
    links = link_table([100 * GBPS])
    found = run_flows(links, path_table([[0]], links), flow_table([10**6] * n, [0] * n, start_ps=np.arange(n) % 7))
    assert found.status is RunStatus.COMPLETE
    assert found.link_bytes.tolist() == [n * 10**6]
    assert found.time_ps == pytest.approx(n * 80 * US, rel=EXACT)


@given(networks(parents=True))
def test_the_same_tables_give_the_same_outcome(case: tuple[list[int], list[NaiveFlow]]) -> None:
    first, second = (run_flows(*tables(*case), wish=RecordWish(link_load=True)) for _ in range(2))
    for column in fields(first):
        assert np.array_equal(getattr(first, column.name), getattr(second, column.name)), column.name
