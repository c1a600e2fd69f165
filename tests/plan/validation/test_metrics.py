"""Figures against numpy and against definitions written out naively."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.plan.validation.intervals import LEAST_RESIDUALS, coverage, half_widths
from eastwest.plan.validation.metrics import (
    abs_errors,
    groups_of,
    median,
    order_of_pairs,
    p90,
    ranks,
    regret,
    spearman,
)

TIMES = st.lists(st.sampled_from([1.0, 1.01, 1.1, 2.0, 3.5, 8.0]), min_size=2, max_size=12)


def naive_ranks(values):
    return [sum(v < x for v in values) + (sum(v == x for v in values) + 1) / 2 for x in values]


@given(TIMES)
def test_ranks_are_means_over_ties(values):
    assert ranks(np.array(values)).tolist() == naive_ranks(values)


@given(st.lists(st.tuples(st.floats(1, 9), st.floats(1, 9)), min_size=2, max_size=12))
def test_spearman_is_the_correlation_of_ranks(pairs):
    one, other = (np.array(side) for side in zip(*pairs, strict=True))
    found = spearman(one, other)
    if len(set(one)) == 1 or len(set(other)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(np.corrcoef(naive_ranks(one), naive_ranks(other))[0, 1], abs=1e-9)


@given(TIMES, st.integers(0, 2**32 - 1))
def test_pairs_are_counted_once_each(measured, seed):
    predicted = np.random.default_rng(seed).choice([1.0, 2.0, 3.0], len(measured))
    telling = [
        (i, j)
        for i, j in itertools.combinations(range(len(measured)), 2)
        if abs(measured[i] - measured[j]) > 0.03 * min(measured[i], measured[j])
    ]
    right = sum((measured[i] - measured[j]) * (predicted[i] - predicted[j]) > 0 for i, j in telling)
    assert order_of_pairs(predicted, np.array(measured), 0.03) == (right, len(telling))


def test_regret_is_how_much_slower_the_pick_is():
    measured = np.array([10.0, 12.0, 11.0])
    assert regret(np.array([3.0, 1.0, 2.0]), measured) == pytest.approx(0.2)
    assert regret(measured, measured) == 0.0


def test_quantiles_leave_out_what_is_not_finite():
    values = np.array([0.1, 0.2, np.nan, 0.3, 0.4])
    assert median(values) == pytest.approx(0.25)
    assert p90(values) == pytest.approx(np.percentile([0.1, 0.2, 0.3, 0.4], 90))
    assert median(np.array([np.nan])) is None
    assert p90(np.empty(0)) is None
    assert abs_errors(np.array([1.1, 0.9]), np.array([1.0, 1.0])) == pytest.approx([0.1, 0.1])


def test_groups_are_all_and_the_families_that_occur():
    groups = groups_of(["moe", "other", "moe"])
    assert {name: mask.tolist() for name, mask in groups.items()} == {
        "all": [True, True, True],
        "moe": [True, False, True],
        "other": [False, True, False],
    }


def test_intervals_of_exchangeable_residuals_hold_80_percent():
    generator = np.random.default_rng(7)
    measured = np.exp(generator.normal(0, 1, 4000))
    predicted = measured * np.exp(generator.normal(0, 0.1, 4000))
    sources = [f"s{number % 4}" for number in range(4000)]
    widths = half_widths(predicted[:400], measured[:400], ["moe"] * 400, sources[:400])
    inside, has = coverage(predicted[:400], measured[:400], widths)
    assert has == 400
    assert inside / has == pytest.approx(0.80, abs=0.05)  # 2.5 standard deviations of 400 draws
    assert widths.mean() == pytest.approx(np.expm1(0.128), rel=0.1)  # |N(0, 0.1)| has its 80th percentile at 0.128


def test_a_row_of_a_source_that_stands_alone_has_no_interval():
    ones = np.ones(LEAST_RESIDUALS + 2)
    widths = half_widths(1.1 * ones, ones, ["moe"] * len(ones), ["only"] * len(ones))
    assert np.isnan(widths).all()
    assert coverage(ones, ones, widths) == (0, 0)


def test_a_small_family_borrows_the_residuals_of_all():
    n = LEAST_RESIDUALS + 4
    predicted, measured = np.full(n, 1.2), np.ones(n)
    widths = half_widths(predicted, measured, ["other", *["moe"] * (n - 1)], ["a", *["b"] * (n - 1)])
    assert widths[0] == pytest.approx(0.2)
    assert np.isnan(widths[1:]).all()
