"""How far an own constant may lie from the shipped one: in a fit, and in a file that is read."""

from __future__ import annotations

import math

from eastwest.simulate.analytic.step_constants import StepConstants
from eastwest.simulate.analytic.step_priors import BOUND_SIGMAS, BY_ARCHITECTURE, GPU_SIGMA, SHARED

SHRINK_RATIO = 0.5  # of a prior's spread that is left for a shared constant: published runs have shown the rest
NORMAL_80 = 1.2816  # standard deviations of a normal distribution that hold 80 % on both sides
READ_RATIO = 2.0  # a file may lie twice as far as a fit goes: the release that wrote it had other shipped values
_SIGMAS = {prior.name: prior.sigma for prior in (*SHARED, *BY_ARCHITECTURE)}


def sigma_of(name: str, shipped: StepConstants) -> float:
    """How far (log) a constant may stray from the shipped one: the level of a GPU by the spread of its published
    runs.
    """
    if name in _SIGMAS:
        return SHRINK_RATIO * _SIGMAS[name]
    _, gpu, kind = name.split(".", 2)
    published = shipped.residuals.get(f"{gpu} {kind}")
    return max(published.spread_log / NORMAL_80 if published else 2 * GPU_SIGMA, GPU_SIGMA)


def readable(name: str, shipped: StepConstants) -> tuple[float, float]:
    """Lowest and highest value of a constant of the step model that a file may hold."""
    reach = math.exp(READ_RATIO * BOUND_SIGMAS * sigma_of(name, shipped))
    return shipped.value(name) / reach, shipped.value(name) * reach
