"""Odds of ECMP: flows are hashed to links like balls thrown into bins; the fullest bin is the slowest flow.

Exact by counting, for flows that a good hash spreads evenly and independently. It stops being true for a polarised
hash (every stage decides alike) and for flows of unequal rate.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from math import exp, lgamma, log

import numpy as np
from numpy.typing import NDArray

NOTHING = 1e-25  # a term that is lost beside the answer: all terms are positive and the answer is about 0.01 or more
ROUNDING = 1e-15  # what is left of a probability once it is one, in double precision


def no_collision_ratio(flows: int, links: int) -> float:
    """Probability that no two of `flows` share one of `links`: the birthday problem.

    >>> round(no_collision_ratio(4, 8), 3)
    0.41
    """
    if flows > links:
        return 0.0
    return exp(sum(log((links - taken) / links) for taken in range(flows)))


@cache
def most_loaded_distribution(flows: int, links: int) -> tuple[float, ...]:
    """(flows + 1,) probability that the fullest of `links` carries exactly k of `flows`, k = 0 ... flows.

    Flows in bins are independent Poisson counts of mean flows/links given their sum, so that none is above k with the
    coefficient of x^flows in (cut Poisson series)^links over that of the whole series: exact up to rounding.
    """
    if flows == 0:
        return (1.0,)
    below = [0.0] * (flows + 1)
    for most in range(-(-flows // links), flows + 1):
        below[most] = _none_above(flows, links, most)
        if 1.0 - below[most] <= ROUNDING:
            below[most:] = [1.0] * (flows + 1 - most)
            break
    return (0.0, *(max(0.0, now - before) for before, now in pairwise(below)))


def _none_above(flows: int, links: int, most: int) -> float:
    """Probability that no link carries more than `most`."""
    mean = flows / links
    series = np.array([exp(k * log(mean) - mean - lgamma(k + 1)) for k in range(min(most, flows) + 1)])
    whole = exp(flows * log(flows) - flows - lgamma(flows + 1))  # Poisson of mean `flows` at `flows`
    return min(1.0, float(_power(series, links, flows)[flows]) / whole)


def _power(series: NDArray[np.float64], times: int, degree: int) -> NDArray[np.float64]:
    """(degree + 1,) coefficients of a polynomial to a power, up to a degree."""
    found, base = np.ones(1), series
    while times:
        if times & 1:
            found = _trimmed(np.convolve(found, base)[: degree + 1])
        times >>= 1
        base = _trimmed(np.convolve(base, base)[: degree + 1]) if times else base
    return np.pad(found, (0, degree + 1 - len(found)))


def _trimmed(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """The series without the terms that no sum will show, which would only cost time."""
    series = np.where(series < NOTHING, 0.0, series)
    return series[: int(np.flatnonzero(series).max(initial=0)) + 1]


def mean_most_loaded(flows: int, links: int) -> float:
    """Expected flows on the fullest link.

    >>> round(mean_most_loaded(8, 8), 2)
    2.6
    """
    return sum(k * odds for k, odds in enumerate(most_loaded_distribution(flows, links)))


def slowest_flow_ratio(flows: int, links: int) -> float:
    """Rate of the slowest flow over a fair share of all links, on average over hashes: what a collective that waits for
    its slowest flow reaches of the uncongested rate.
    """
    if flows == 0:
        return 1.0
    fair = max(1.0, flows / links)
    return sum(odds * min(1.0, fair / k) for k, odds in enumerate(most_loaded_distribution(flows, links)) if k)


def used_links_ratio(flows: int, links: int) -> float:
    """Share of links that carry at least one flow, on average: the utilisation that ECMP reaches when every flow can
    fill a link, 1 - (1 - 1/m)^n.

    >>> round(used_links_ratio(64, 64), 2)
    0.64
    """
    return float(1 - (1 - 1 / links) ** flows)
