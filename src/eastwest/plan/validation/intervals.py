"""80 % intervals of a prediction, from the residuals of other sources in the same family (split conformal).

The half width of a row's interval, as a factor of its time, is the 80th percentile of |ln(predicted / measured)| over
the scored rows of its family that come from other sources; all families where its own has too few such rows.
Source: Vovk et al. 2005; Lei et al. 2018 (split conformal prediction), section 2.2. Not true for a family whose other
sources ran on other software than the row's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
COVERAGE_RATIO = 0.80
LEAST_RESIDUALS = 8  # a percentile of 80 needs some rows on both sides
TARGET = (0.70, 0.90)  # share of the rows that their intervals hold


def half_widths(predicted: Values, measured: Values, families: Sequence[str], sources: Sequence[str]) -> Values:
    """Factor - 1 by which each interval reaches up from the prediction (and, inverted, down): (n,); nan for none."""
    residuals = np.abs(np.log(predicted / measured))
    kinds, origins = np.array(families, dtype=object), np.array(sources, dtype=object)
    known = np.isfinite(residuals)
    found = np.full(len(predicted), np.nan)
    for index in range(len(predicted)):
        others = known & (origins != origins[index])
        alike = others & (kinds == kinds[index])
        pool = alike if alike.sum() >= LEAST_RESIDUALS else others
        if pool.sum() >= LEAST_RESIDUALS:
            found[index] = np.expm1(_quantile(residuals[pool]))
    return found


def _quantile(residuals: Values) -> float:
    """The conformal quantile: rank ceil((n + 1) * 0.8) of n residuals."""
    rank = min(len(residuals), int(np.ceil((len(residuals) + 1) * COVERAGE_RATIO)))
    return float(np.sort(residuals)[rank - 1])


def coverage(predicted: Values, measured: Values, widths: Values) -> tuple[int, int]:
    """(rows inside their interval, rows that have one)."""
    has = np.isfinite(widths) & np.isfinite(predicted)
    ratio = np.abs(np.log(predicted[has] / measured[has]))
    return int((ratio <= np.log1p(widths[has])).sum()), int(has.sum())
