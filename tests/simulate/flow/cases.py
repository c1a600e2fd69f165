"""Random small cases for the flow engine, and their tables."""

from fractions import Fraction

from hypothesis import strategies as st

from eastwest.simulate.flow.build import flow_table, link_table, path_table
from eastwest.simulate.flow.tables import NO_CAP_BPS, FlowTable, LinkTable, PathTable
from tests.simulate.flow.naive import NaiveFlow

GBPS = 10**9
RATES = [1, 3, 7, 10, 25, 40, 100]  # Gb/s
WEIGHTS = [Fraction(1, 2), Fraction(1), Fraction(1), Fraction(2), Fraction(3)]
SHARES = [Fraction(1), Fraction(1), Fraction(1, 2), Fraction(1, 4)]
SIZES = [0, 1, 1000, 10**6, 10**6, 10**6 + 1, 3 * 10**6]
DELAYS_PS = [0, 0, 10**6, 333]
STARTS_PS = [0, 0, 0, 10**6, 10**8, 123_456_789]

rates_bps = st.lists(st.sampled_from(RATES).map(lambda rate: rate * GBPS), min_size=1, max_size=6)


@st.composite
def flow(draw: st.DrawFn, n_links: int, *, priorities: bool) -> NaiveFlow:
    """A flow on some of the links."""
    links = draw(st.lists(st.integers(0, n_links - 1), unique=True, min_size=1, max_size=4))
    return NaiveFlow(
        way=[(link, draw(st.sampled_from(SHARES))) for link in links],
        size_bytes=draw(st.sampled_from(SIZES)),
        weight=draw(st.sampled_from(WEIGHTS)),
        cap_bps=draw(st.sampled_from([None, None, None, GBPS, 5 * GBPS])),
        priority=draw(st.sampled_from([0, 1, 2])) if priorities else 0,
        start_ps=draw(st.sampled_from(STARTS_PS)),
        parent_delay_ps=draw(st.sampled_from(DELAYS_PS)),
        delay_ps=draw(st.sampled_from(DELAYS_PS)),
    )


@st.composite
def flows(draw: st.DrawFn, n_links: int, *, parents: bool, priorities: bool) -> list[NaiveFlow]:
    """Some flows, with parents among the earlier ones."""
    found = draw(st.lists(flow(n_links, priorities=priorities), min_size=1, max_size=12))
    if parents:
        for index in range(1, len(found)):
            found[index].parents = draw(st.lists(st.integers(0, index - 1), unique=True, max_size=3))
    return found


@st.composite
def networks(draw: st.DrawFn, *, parents: bool = False) -> tuple[list[int], list[NaiveFlow]]:
    """Link rates and flows."""
    rates = draw(rates_bps)
    return rates, draw(flows(len(rates), parents=parents, priorities=draw(st.booleans())))


def tables(rates: list[int], found: list[NaiveFlow]) -> tuple[LinkTable, PathTable, FlowTable]:
    """The tables of a naive case, one path a flow."""
    links = link_table(rates)
    paths = path_table(
        [[link for link, _ in flow.way] for flow in found],
        links,
        shares=[[float(share) for _, share in flow.way] for flow in found],
        delay_ps=[flow.delay_ps for flow in found],
    )
    table = flow_table(
        [flow.size_bytes for flow in found],
        range(len(found)),
        start_ps=[flow.start_ps for flow in found],
        weight=[float(flow.weight) for flow in found],
        cap_bps=[NO_CAP_BPS if flow.cap_bps is None else flow.cap_bps for flow in found],
        priority=[flow.priority for flow in found],
        parents=[flow.parents for flow in found],
        parent_delay_ps=[flow.parent_delay_ps for flow in found],
    )
    return links, paths, table
