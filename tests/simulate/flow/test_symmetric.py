"""Steps that repeat are run once: the same times as the whole run, and no shortcut where the table does not repeat."""

from dataclasses import replace

import numpy as np
import pytest

from eastwest.simulate.flow import engine
from eastwest.simulate.flow.build import event_table, flow_table
from eastwest.simulate.flow.engine import run_flows
from eastwest.simulate.flow.symmetric import period_of
from eastwest.simulate.flow.tables import NOT_YET_PS, EventKind, FlowTable, RecordWish, RunStatus
from tests.simulate.flow.leaf_spine import LeafSpine, ring

RATE_BPS = 100 * 10**9
SIZES = [10**6, 999_983]  # the second does not divide: times that are no whole picoseconds at 7 Gb/s
N_STEPS = 700
NETWORK = LeafSpine(4, 4, 2, RATE_BPS)
UNEVEN = LeafSpine(4, 4, 2, 7 * 10**9)


def shifted_paths(network: LeafSpine) -> list[tuple[int, int]]:
    return [(host, (host + 1) % network.n) for host in range(network.n)]


@pytest.mark.parametrize("network", [NETWORK, UNEVEN])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("skew_ps", [0, 3 * 10**7])
def test_a_continued_ring_has_the_times_and_bytes_of_the_whole_run(network: LeafSpine, size: int, skew_ps: int) -> None:
    flows = ring(network.n, size, n_steps=N_STEPS)
    flows.start_ps[0] = skew_ps
    paths = network.paths(shifted_paths(network))
    short = run_flows(network.links, paths, flows)
    whole = run_flows(network.links, paths, flows, repeats_once=False)
    assert short.n_skipped > flows.n_flows // 2
    assert whole.n_skipped == 0
    for column in ("start_ps", "end_ps", "time_ps"):  # a thousandth of a ns in a tenth of a second
        assert getattr(short, column) == pytest.approx(getattr(whole, column), rel=1e-12, abs=1), column
    for column in ("link_bytes", "sent_bytes", "state", "n_events", "status"):
        assert np.array_equal(getattr(short, column), getattr(whole, column)), column


def test_flows_that_share_links_with_the_step_before_repeat_as_well() -> None:
    """Two-to-one: four flows of a leaf on two uplinks, each step overlapping the next by their different ways."""
    paths = NETWORK.paths([(host, (host + 3) % NETWORK.n) for host in range(NETWORK.n)])
    flows = ring(NETWORK.n, 10**6, n_steps=N_STEPS)
    short, whole = (run_flows(NETWORK.links, paths, flows, repeats_once=once) for once in (True, False))
    assert np.abs(short.end_ps - whole.end_ps).max() <= 1
    assert np.array_equal(short.link_bytes, whole.link_bytes)


def test_the_period_of_a_ring_is_its_ranks() -> None:
    assert period_of(ring(4, 10**6, n_steps=N_STEPS)) == 4


def edited(name: str, index: int, value: int) -> FlowTable:
    """The ring with one value changed."""
    flows = ring(4, 10**6, n_steps=N_STEPS)
    column = getattr(flows, name).copy()
    column[index] = value
    return replace(flows, **{name: column})


@pytest.mark.parametrize(
    ("name", "index", "value"),
    [
        ("size_bytes", 1501, 1),
        ("path", 1501, 0),
        ("weight", 1501, 2),
        ("cap_bps", 1501, 10**9),
        ("priority", 1501, 1),
        ("start_ps", 1501, 10**6),
        ("parent_delay_ps", 1501, 10**6),
        ("parents", 1501, 3),
    ],
)
def test_a_table_with_one_other_row_does_not_repeat(name: str, index: int, value: int) -> None:
    assert period_of(edited(name, index, value)) is None


def test_short_tables_and_flows_without_parents_do_not_repeat() -> None:
    assert period_of(ring(4, 10**6)) is None
    assert period_of(flow_table([1] * 1000, [0] * 1000)) is None
    assert period_of(flow_table([], [])) is None


@pytest.mark.parametrize("wish", [RecordWish(link_load=True), RecordWish(bin_ps=10**9)])
def test_records_and_events_need_the_whole_run(wish: RecordWish) -> None:
    flows, paths = ring(NETWORK.n, 10**6, n_steps=300), NETWORK.paths(shifted_paths(NETWORK))
    assert run_flows(NETWORK.links, paths, flows, wish=wish).n_skipped == 0
    late = event_table([(10**9, EventKind.LINK_RATE, 0, RATE_BPS // 2)])
    assert run_flows(NETWORK.links, paths, flows, late).n_skipped == 0


def test_an_interrupt_while_the_first_steps_run_leaves_a_result_without_times(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "steady_steps", interrupted)
    flows, paths = ring(NETWORK.n, 10**6, n_steps=300), NETWORK.paths(shifted_paths(NETWORK))
    found = run_flows(NETWORK.links, paths, flows)
    assert found.status is RunStatus.INTERRUPTED
    assert (found.end_ps == NOT_YET_PS).all()
    assert not found.link_bytes.any()
