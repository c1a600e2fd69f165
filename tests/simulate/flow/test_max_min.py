"""Max-min rates against a naive oracle in fractions, the optimality certificate, and closed forms."""

import numpy as np
import pytest
from hypothesis import given

from eastwest.simulate.flow.build import flow_table, link_table, path_table
from eastwest.simulate.flow.max_min import max_min_rates
from eastwest.simulate.flow.tables import Float64
from tests.simulate.flow.cases import GBPS, networks, tables
from tests.simulate.flow.naive import NaiveFlow, naive_rates

EXACT = 1e-9  # rounding of the sums on a link; rates are of the order of the links' rates


def certificate(rates_bps: list[int], flows: list[NaiveFlow], found: Float64) -> list[str]:
    """What keeps these rates from being max-min fair: overloaded links, flows without a bottleneck of their own.

    A bottleneck is the cap, or a full link on which no flow of the same priority has a higher level, what higher
    priorities take being taken first.
    """
    wrong = []
    for priority in sorted({flow.priority for flow in flows}, reverse=True):
        load, highest = np.zeros(len(rates_bps)), np.zeros(len(rates_bps))
        for flow, rate in zip(flows, found, strict=True):
            for link, share in flow.way:
                if flow.priority >= priority:
                    load[link] += rate * float(share)
                if flow.priority == priority:
                    highest[link] = max(highest[link], rate / float(flow.weight))
        wrong += [f"link {link} is overloaded" for link in np.flatnonzero(load > np.array(rates_bps) * (1 + EXACT))]
        full = load >= np.array(rates_bps) * (1 - EXACT)
        for index, (flow, rate) in enumerate(zip(flows, found, strict=True)):
            if flow.priority != priority:
                continue
            level = rate / float(flow.weight)
            at_cap = flow.cap_bps is not None and rate >= flow.cap_bps * (1 - EXACT)
            if not at_cap and not any(full[link] and level >= highest[link] * (1 - EXACT) - 1 for link, _ in flow.way):
                wrong.append(f"flow {index} has no bottleneck")
    return wrong


@given(networks())
def test_rates_equal_those_of_the_naive_oracle_and_carry_their_certificate(
    case: tuple[list[int], list[NaiveFlow]],
) -> None:
    rates, flows = case
    found = max_min_rates(*tables(rates, flows))
    assert found == pytest.approx([float(rate) for rate in naive_rates(rates, flows)], rel=EXACT, abs=1.0)
    assert certificate(rates, flows, found) == []


def test_the_certificate_refuses_wrong_rates() -> None:
    flows = [NaiveFlow([(0, 1)]), NaiveFlow([(0, 1)])]
    assert certificate([10], flows, np.array([5.0, 5.0])) == []
    assert certificate([10], flows, np.array([6.0, 4.0])) == ["flow 1 has no bottleneck"]
    assert certificate([10], flows, np.array([6.0, 6.0])) == ["link 0 is overloaded"]
    assert certificate([10], flows, np.array([4.0, 4.0])) == ["flow 0 has no bottleneck", "flow 1 has no bottleneck"]


def test_the_textbook_line_of_links() -> None:
    """One flow over all three links, one on each: 1/2 of the least link, the others take what is left."""
    links = link_table([10 * GBPS, 20 * GBPS, 40 * GBPS])
    paths = path_table([[0, 1, 2], [0], [1], [2]], links)
    found = max_min_rates(links, paths, flow_table([1] * 4, range(4)))
    assert found.tolist() == [5 * GBPS, 5 * GBPS, 15 * GBPS, 35 * GBPS]


def test_weights_caps_and_priorities_on_one_link() -> None:
    links = link_table([100 * GBPS])
    paths = path_table([[0]], links)
    weighted = flow_table([1] * 3, [0] * 3, weight=[1, 2, 5])
    assert max_min_rates(links, paths, weighted) == pytest.approx([12.5 * GBPS, 25 * GBPS, 62.5 * GBPS], rel=EXACT)
    capped = flow_table([1] * 3, [0] * 3, cap_bps=[10 * GBPS, 200 * GBPS, 200 * GBPS])
    assert max_min_rates(links, paths, capped).tolist() == [10 * GBPS, 45 * GBPS, 45 * GBPS]
    strict = flow_table([1] * 3, [0] * 3, cap_bps=[70 * GBPS, 200 * GBPS, 200 * GBPS], priority=[5, -3, -3])
    assert max_min_rates(links, paths, strict).tolist() == [70 * GBPS, 15 * GBPS, 15 * GBPS]


def test_a_sprayed_flow_takes_its_share_of_every_way() -> None:
    """Two ways of 100 and 50 Gb/s, half on each: the weaker way holds the flow at 100 Gb/s."""
    links = link_table([100 * GBPS, 50 * GBPS])
    paths = path_table([[0, 1], [0]], links, shares=[[0.5, 0.5], [1.0]])
    assert max_min_rates(links, paths, flow_table([1], [0])).tolist() == [100 * GBPS]
    shared = max_min_rates(links, paths, flow_table([1, 1], [0, 1]))
    assert shared == pytest.approx([2 / 3 * 100 * GBPS, 2 / 3 * 100 * GBPS], rel=EXACT)


def test_a_link_that_is_down_stops_its_flows_only() -> None:
    links = link_table([0, 10 * GBPS])
    found = max_min_rates(links, path_table([[0, 1], [1]], links), flow_table([1, 1], [0, 1]))
    assert found.tolist() == [0, 10 * GBPS]
