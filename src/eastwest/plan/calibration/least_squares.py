"""Robust least squares with a Gaussian prior and bounds on every unknown (Levenberg-Marquardt, finite differences).

Minimises sum_i w_i rho(r_i / s) + sum_j ((x_j - p_j) / q_j)^2 with Student's t as loss: a row far from the model pulls
little. Deterministic; at most a few hundred unknowns. Source: Marquardt 1963; Lange et al. 1989 (t distribution).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FREEDOM = 4.0  # degrees of freedom of Student's t (Lange et al. 1989, section 3)
STEP = 1e-4  # of a finite difference, in units of the unknown (a logarithm here)
LONGEST = 0.5  # move of one unknown in one iteration
GOOD_ENOUGH = 1e-4  # relative decrease of the loss at which the fit ends
FIRST_DAMPING, LEAST_DAMPING, STRONGER, TRIES = 1e-2, 1e-6, 5.0, 6


@dataclass(frozen=True, slots=True)
class Problem:
    """Residuals as a function of the unknowns (m,) -> (n,), weights (n,), the scale of a usual residual, and prior,
    spread, lowest and highest value of each unknown (m,).
    """

    residuals: Callable[[Floats], Floats]
    weights: Floats
    scale: float
    prior: Floats
    spread: Floats
    low: Floats
    high: Floats


def solve(problem: Problem, iterations: int = 40) -> Floats:
    """The unknowns (m,) that minimise the loss, started at their priors."""
    unknowns = problem.prior.copy()
    residuals = problem.residuals(unknowns)
    best, damping = loss(problem, unknowns, residuals), FIRST_DAMPING
    for _ in range(iterations):
        hessian, gradient = _normal_equations(problem, unknowns, residuals)
        moved = _descend(problem, unknowns, best, hessian, gradient, damping)
        if moved is None:
            break
        unknowns, residuals, found, damping = moved
        decrease, best = best - found, found
        if decrease < GOOD_ENOUGH * max(best, 1.0):
            break
    return unknowns


def loss(problem: Problem, unknowns: Floats, residuals: Floats) -> float:
    """The loss at these unknowns."""
    data = problem.weights * (FREEDOM + 1) * np.log1p((residuals / problem.scale) ** 2 / FREEDOM)
    return float(data.sum() + (((unknowns - problem.prior) / problem.spread) ** 2).sum())


def _normal_equations(problem: Problem, unknowns: Floats, residuals: Floats) -> tuple[Floats, Floats]:
    jacobian = np.empty((len(residuals), len(unknowns)))
    for index in range(len(unknowns)):
        moved = unknowns.copy()
        moved[index] += STEP
        jacobian[:, index] = (problem.residuals(moved) - residuals) / STEP
    pull = (FREEDOM + 1) / (FREEDOM + (residuals / problem.scale) ** 2) / problem.scale**2 * problem.weights
    hessian = jacobian.T @ (pull[:, None] * jacobian) + np.diag(problem.spread**-2.0)
    gradient = jacobian.T @ (pull * residuals) + (unknowns - problem.prior) / problem.spread**2
    return hessian, gradient


def _descend(
    problem: Problem, unknowns: Floats, best: float, hessian: Floats, gradient: Floats, damping: float
) -> tuple[Floats, Floats, float, float] | None:
    """A step that lowers the loss: (unknowns, residuals, loss, next damping); None when none was found."""
    for _ in range(TRIES):
        step = -np.linalg.solve(hessian + damping * np.diag(np.diag(hessian)), gradient)
        trial = np.clip(unknowns + np.clip(step, -LONGEST, LONGEST), problem.low, problem.high)
        residuals = problem.residuals(trial)
        found = loss(problem, trial, residuals)
        if found < best:
            return trial, residuals, found, max(damping / STRONGER, LEAST_DAMPING)
        damping *= STRONGER
    return None
