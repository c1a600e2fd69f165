"""The fullest of m links: every assignment counted for few flows, and whole sums for many."""

from collections import Counter
from itertools import product

import pytest

from eastwest.simulate.analytic.odds import mean_most_loaded, most_loaded_distribution


@pytest.mark.parametrize(("flows", "links"), [(1, 1), (1, 5), (3, 2), (4, 4), (6, 3), (5, 4)])
def test_the_distribution_is_that_of_all_assignments(flows: int, links: int) -> None:
    counts = Counter(max(Counter(choice).values()) for choice in product(range(links), repeat=flows))
    found = most_loaded_distribution(flows, links)
    assert found == pytest.approx([counts[k] / links**flows for k in range(flows + 1)], abs=1e-12)


@pytest.mark.parametrize(("flows", "links"), [(64, 64), (200, 7), (512, 512), (300, 1)])
def test_the_odds_of_many_flows_sum_to_one(flows: int, links: int) -> None:
    assert sum(most_loaded_distribution(flows, links)) == pytest.approx(1, abs=1e-9)
    assert flows / links <= mean_most_loaded(flows, links) <= flows
