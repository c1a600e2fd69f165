"""The fit of the constants of collectives to measured runs: a user's own nccl-tests output, or published tables.

The logarithms of the factors are fitted to the logarithm of time by Gauss-Newton steps; each residual is weighted
down when it is large (an outlier of a curve, a defect), and each run counts by the square root of its points, so that
a long curve does not drown the rest. The priors hold what no measurement shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from eastwest.simulate.analytic.collective_constants import TABLE, Constants, Floats, factors_of, spreads
from eastwest.simulate.analytic.collective_run import CollectiveRun, Points, pack
from eastwest.simulate.analytic.collective_time import time_of_points

EXPECTED_ERROR = 0.08  # log: what two healthy machines of one kind differ by
ROBUST_ERROR = 0.10  # log: residuals beyond it count less and less (Cauchy)
DIFFERENCE = 1e-4  # log: step of the numeric derivative
STEPS, REFIT_STEPS = 12, 5
LONGEST_STEP = 0.5  # log
SETTLED = 3e-3  # log: a step shorter than it ends the fit


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """One measured curve: `sizes_bytes` and `times_s` of one run, and the source that a fit may leave out."""

    id: str
    source: str
    run: CollectiveRun
    sizes_bytes: tuple[float, ...]
    times_s: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Around:
    """A prior of the logarithms: `mean` and `spread` (n_theta,); a logarithm with spread 0 keeps its mean."""

    mean: Floats
    spread: Floats

    def pull(self, theta: Floats) -> Floats:
        """(n_theta,) distances from the mean in standard deviations; 0 for fixed ones."""
        free = self.spread > 0
        return np.where(free, (theta - self.mean) / np.where(free, self.spread, 1.0), 0.0)


@dataclass(frozen=True, slots=True)
class FittedCollectives:
    """Constants, their logarithms, and log(predicted / measured) of every point of every run."""

    constants: Constants
    theta: Floats
    runs: tuple[MeasuredRun, ...]
    residuals: tuple[Floats, ...]


def fit_collectives(
    runs: Iterable[MeasuredRun], start: Floats | None = None, steps: int = STEPS, around: Around | None = None
) -> FittedCollectives:
    """The constants that fit `runs` best; `start` are logarithms to begin from (those of a fit of nearly the same
    runs), `around` the prior in place of the package's own.
    """
    kept = tuple(runs)
    points, log_times, weights = _stack(kept)
    prior = around or Around(np.zeros(len(spreads())), spreads())
    theta = prior.mean.copy() if start is None else start.copy()
    seen = [index for index in seen_logarithms(points) if prior.spread[index] > 0]
    for _ in range(steps if seen else 0):
        before = theta
        theta = _step(theta, points, log_times, weights, seen, prior)
        if np.abs(theta - before).max() < SETTLED:
            break
    residuals = _residuals(theta, points, log_times)
    ends = np.cumsum([len(run.sizes_bytes) for run in kept])[:-1]
    return FittedCollectives(factors_of(theta), theta, kept, tuple(np.split(residuals, ends)))


def _stack(runs: Sequence[MeasuredRun]) -> tuple[Points, Floats, Floats]:
    """Every point of every run, the logarithm of its time, and its weight."""
    points = np.concatenate([pack(run.run, run.sizes_bytes) for run in runs])
    log_times = np.log(np.concatenate([np.asarray(run.times_s, dtype="f8") for run in runs]))
    weights = np.concatenate([np.full(len(run.times_s), len(run.times_s) ** -0.5) for run in runs])
    return points, log_times, weights


def seen_logarithms(points: Points) -> list[int]:
    """Indices of logarithms that some point can depend on: shared ones, and classes that occur."""
    occurring = set(points["generation"].tolist()), set(points["transport"].tolist())
    found, at = [], 0
    for constant in TABLE:
        n = len(constant.classes)
        of_transport = constant.classes[0] == "infiniband"
        mine = {0} if n == 1 else occurring[of_transport]
        found += [at, *(at + 1 + index for index in sorted(mine))]
        at += 1 + n
    return found


def _residuals(theta: Floats, points: Points, log_times: Floats) -> Floats:
    found: Floats = np.log(time_of_points(points, factors_of(theta)).time_s) - log_times
    return found


def _step(theta: Floats, points: Points, log_times: Floats, weights: Floats, seen: list[int], around: Around) -> Floats:
    """One Gauss-Newton step of the weighted least squares with the priors."""
    here = _residuals(theta, points, log_times)
    precision = weights / EXPECTED_ERROR**2 / (1 + (here / ROBUST_ERROR) ** 2)
    moved = np.repeat(theta[None], len(seen), axis=0)
    moved[np.arange(len(seen)), seen] += DIFFERENCE
    sets = np.repeat(np.arange(len(seen)), len(points))
    seconds = time_of_points(np.tile(points, len(seen)), factors_of(moved), sets).time_s
    jacobian = ((np.log(seconds).reshape(len(seen), -1) - log_times - here) / DIFFERENCE).T
    prior = 1 / around.spread[seen] ** 2
    normal = jacobian.T @ (precision[:, None] * jacobian) + np.diag(prior)
    gradient = jacobian.T @ (precision * here) + prior * (theta - around.mean)[seen]
    change = np.clip(np.linalg.solve(normal, -gradient), -LONGEST_STEP, LONGEST_STEP)
    return _shortened(theta, seen, change, points, log_times, weights, around)


def _shortened(
    theta: Floats,
    seen: list[int],
    change: Floats,
    points: Points,
    log_times: Floats,
    weights: Floats,
    around: Around,
) -> Floats:
    """The step, halved until the loss falls; no step when it never does."""
    before = _loss(theta, points, log_times, weights, around)
    for _ in range(5):
        moved = theta.copy()
        moved[seen] += change
        if _loss(moved, points, log_times, weights, around) < before:
            return moved
        change = change / 2
    return theta


def _loss(theta: Floats, points: Points, log_times: Floats, weights: Floats, around: Around) -> float:
    here = _residuals(theta, points, log_times)
    robust = weights * np.log1p((here / ROBUST_ERROR) ** 2) * (ROBUST_ERROR / EXPECTED_ERROR) ** 2
    return float(robust.sum() + (around.pull(theta) ** 2).sum())
