"""The solver against problems with known answers."""

import numpy as np
import pytest

from eastwest.plan.calibration.least_squares import Problem, loss, solve


def _line(noise: np.ndarray, spread: float = 10.0, low: float = -9.0, high: float = 9.0) -> Problem:
    """Residuals of a + b x against 1 + 2 x + noise."""
    x = np.linspace(0, 1, len(noise))
    y = 1 + 2 * x + noise
    return Problem(
        residuals=lambda unknowns: unknowns[0] + unknowns[1] * x - y,
        weights=np.ones(len(noise)),
        scale=0.1,
        prior=np.zeros(2),
        spread=np.full(2, spread),
        low=np.full(2, low),
        high=np.full(2, high),
    )


def test_a_line_is_found():
    assert solve(_line(np.zeros(50))) == pytest.approx([1, 2], abs=1e-3)


def test_wild_rows_pull_little():
    noise = np.zeros(50)
    noise[::10] = 5.0
    assert solve(_line(noise)) == pytest.approx([1, 2], abs=0.05)


def test_a_tight_prior_holds():
    assert np.abs(solve(_line(np.zeros(50), spread=1e-4))).max() < 1e-2


def test_bounds_are_kept():
    found = solve(_line(np.zeros(50), high=1.5))
    assert found[1] == 1.5


def test_the_loss_falls():
    problem = _line(np.zeros(20))
    start, end = problem.prior, solve(problem)
    assert loss(problem, end, problem.residuals(end)) < loss(problem, start, problem.residuals(start))
