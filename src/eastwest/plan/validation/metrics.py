"""Figures of a set of predictions: errors, quantiles, rank correlation, order of pairs, regret."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eastwest.plan.validation.families import ALL, FAMILIES

Values = NDArray[np.float64]
P90 = 90.0


def abs_errors(predicted: Values, measured: Values) -> Values:
    """|predicted / measured - 1|: (n,), 1."""
    return np.abs(predicted / measured - 1.0)


def median(values: Values) -> float | None:
    """The median of what is finite; None of nothing."""
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if finite.size else None


def p90(values: Values) -> float | None:
    """The 90th percentile (linear between ranks) of what is finite; None of nothing."""
    finite = values[np.isfinite(values)]
    return float(np.percentile(finite, P90)) if finite.size else None


def ranks(values: Values) -> Values:
    """Ranks from 1, the mean rank where values are equal: (n,).

    >>> ranks(np.array([10.0, 30.0, 10.0]))
    array([1.5, 3. , 1.5])
    """
    order = np.argsort(values, kind="stable")
    _, inverse, counts = np.unique(values[order], return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean = last - (counts - 1) / 2.0
    found = np.empty(len(values), np.float64)
    found[order] = mean[inverse]
    return found


def spearman(one: Values, other: Values) -> float | None:
    """Spearman's rank correlation; None when one side is constant or has fewer than two values."""
    return correlation(ranks(one), ranks(other))


def correlation(one: Values, other: Values) -> float | None:
    """Pearson's correlation; None when one side is constant or has fewer than two values."""
    if len(one) < 2:
        return None
    a, b = one - one.mean(), other - other.mean()
    spread = math.sqrt(float((a @ a) * (b @ b)))
    return float(a @ b) / spread if spread else None


def order_of_pairs(predicted: Values, measured: Values, least_ratio: float) -> tuple[int, int]:
    """(right, all) pairs whose measured values differ by more than `least_ratio` of the smaller one; a predicted tie is
    wrong.
    """
    n_right = n_pairs = 0
    for first in range(len(measured)):
        rest = slice(first + 1, None)
        gap = measured[rest] - measured[first]
        telling = np.abs(gap) > least_ratio * np.minimum(measured[rest], measured[first])
        n_pairs += int(telling.sum())
        n_right += int(((gap * (predicted[rest] - predicted[first]) > 0) & telling).sum())
    return n_right, n_pairs


def regret(predicted: Values, measured: Values) -> float:
    """How much slower the run predicted to be best is than the one that is: measured over measured, minus 1."""
    return float(measured[int(np.argmin(predicted))] / measured.min() - 1.0)


def groups_of(families: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    """`all` and then every family that occurs, in their fixed order -> which rows: (n,) bool."""
    names = np.array(families, dtype=object)
    groups = {ALL: np.ones(len(families), np.bool_)}
    return groups | {family: names == family for family in FAMILIES if family in families}
