"""Mistakes in the tables are named by index before a run starts."""

from dataclasses import replace

import numpy as np
import pytest

from eastwest.errors import UsageError
from eastwest.simulate.flow.build import event_table, flow_table, link_table, path_table
from eastwest.simulate.flow.engine import run_flows
from eastwest.simulate.flow.tables import EventKind, FlowTable

LINKS = link_table([100, 100])
PATHS = path_table([[0], [0, 1]], LINKS)
FLOWS = flow_table([1, 1, 1], [0, 1, 0])


@pytest.mark.parametrize(
    ("flows", "message"),
    [
        (replace(FLOWS, size_bytes=np.array([1, -1, -2])), r"flow 1: its size is negative \(2 such\)"),
        (flow_table([1], [2]), "flow 0: no such path; there are 2"),
        (flow_table([1, 1], [0, 0], weight=[1, 0]), "flow 1: its weight is not above 0"),
        (flow_table([1, 1], [0, 0], weight=[1, np.nan]), "flow 1: its weight is not above 0"),
        (flow_table([1], [0], cap_bps=0), "flow 0: its cap is not above 0 bit/s"),
        (flow_table([1], [0], start_ps=-1), "flow 0: its start or delay is negative"),
        (flow_table([1], [0], parents=[[1]]), "entry of parents 0: no such flow; there are 1"),
        (replace(FLOWS, weight=np.ones(2)), "columns weight of the flows do not have 3 rows"),
        (replace(FLOWS, parent_offsets=np.array([0, 1, 0, 0])), "parents: offsets must rise from 0 to 0 in 3 rows"),
    ],
)
def test_a_wrong_flow_is_named(flows: FlowTable, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run_flows(LINKS, PATHS, flows)


@pytest.mark.parametrize(
    ("kind", "subject", "value", "message"),
    [
        (EventKind.LINK_RATE, 2, 0, "event 0: no such link, path or flow"),
        (EventKind.LINK_RATE, 0, -1, "event 0: the link's rate is negative"),
        (EventKind.PATH_SWAP, 0, 2, "event 0: no such path; there are 2"),
        (EventKind.FLOW_PATH, 3, 0, "event 0: no such link, path or flow"),
        (EventKind.FLOW_CAP, 0, 0, "event 0: the cap is not above 0 bit/s"),
    ],
)
def test_a_wrong_event_is_named(kind: EventKind, subject: int, value: int, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run_flows(LINKS, PATHS, FLOWS, event_table([(0, kind, subject, value)]))


def test_wrong_links_and_paths_are_named_together() -> None:
    links = link_table([100, -1], [0, 0])
    with pytest.raises(UsageError, match=r"link 1: its rate is negative.*entry of paths 1: no such link"):
        run_flows(links, replace(PATHS, links=np.array([0, 5, 1], np.int32)), FLOWS)


def test_flows_that_wait_in_a_circle_are_named() -> None:
    flows = flow_table([1] * 5, [0] * 5, parents=[[], [3], [1], [2], [3]])
    with pytest.raises(UsageError, match=r"circle of 3: .*; 4 flows would never start") as caught:
        run_flows(LINKS, PATHS, flows)
    assert "1 → 3 → 2 → 1" in caught.value.message


def test_a_flow_that_waits_for_itself_is_a_circle_of_one() -> None:
    with pytest.raises(UsageError, match="circle of 1: 0 → 0"):
        run_flows(LINKS, PATHS, flow_table([1], [0], parents=[[0]]))


def test_parents_in_later_rows_are_no_circle() -> None:
    found = run_flows(LINKS, PATHS, flow_table([1] * 3, [0] * 3, parents=[[2], [0], []]))
    assert found.start_ps[2] < found.start_ps[0] < found.start_ps[1]
