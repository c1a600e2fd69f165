"""The fit: it finds constants that made synthetic runs, ignores an outlier, leaves what nothing shows at the prior."""

from dataclasses import replace

import numpy as np
import pytest

from eastwest.simulate.analytic.collective_constants import TABLE, factors_of, named, shipped, spreads, theta_of
from eastwest.simulate.analytic.collective_fit import MeasuredRun, fit_collectives
from eastwest.simulate.analytic.collective_run import GENERATIONS, CollectiveRun, pack
from eastwest.simulate.analytic.collective_time import time_of_points
from eastwest.simulate.analytic.published_runs import published_runs

SIZES = tuple(2.0**k for k in range(10, 35, 2))
NODE = CollectiveRun("all_reduce", 8, 1, 300e9, "ampere", algorithm="ring")


def synthetic(run, theta, noise=0.0, seed=1):
    seconds = time_of_points(pack(run, SIZES), factors_of(theta)).time_s
    seconds = seconds * np.exp(np.random.default_rng(seed).normal(0, noise, len(seconds)))
    return MeasuredRun("synthetic", "ours", run, SIZES, tuple(seconds))


def index_of(name, cls="shared"):
    at = 0
    for constant in TABLE:
        if constant.name == name:
            return at if cls == "shared" else at + 1 + constant.classes.index(cls)
        at += 1 + len(constant.classes)
    raise AssertionError(name)


@pytest.fixture
def slower():
    theta = np.zeros(len(spreads()))
    theta[index_of("ring_share")] = -0.05
    return theta


def test_it_finds_the_rate_that_made_the_runs(slower):
    fitted = fit_collectives([synthetic(NODE, slower)])
    true = factors_of(slower).values["ring_share"][0]
    ampere = GENERATIONS.index("ampere")
    assert fitted.constants.values["ring_share"][0][ampere] == pytest.approx(
        true[ampere], rel=0.02
    )  # the prior pulls a little
    assert np.abs(fitted.residuals[0]).max() < 0.05


def test_one_outlier_moves_nothing(slower):
    clean = synthetic(NODE, slower, noise=0.01)
    times = list(clean.times_s)
    times[-2] *= 5
    dirty = fit_collectives([replace(clean, times_s=tuple(times))]).constants.values["ring_share"][0]
    assert dirty == pytest.approx(fit_collectives([clean]).constants.values["ring_share"][0], rel=0.01)


def test_what_nothing_shows_stays_at_the_prior(slower):
    fitted = fit_collectives([synthetic(NODE, slower)])
    assert fitted.theta[index_of("network_share")] == 0
    assert fitted.theta[index_of("ring_share", "hopper")] == 0


def test_a_start_at_the_answer_stays_there(slower):
    first = fit_collectives([synthetic(NODE, slower)])
    again = fit_collectives([synthetic(NODE, slower)], start=first.theta, steps=2)
    assert again.theta == pytest.approx(first.theta, abs=5e-3)


def test_names_and_logarithms_are_the_same_thing(slower):
    assert theta_of(named(slower)) == pytest.approx(slower)


def test_the_shipped_file_holds_values_of_its_logarithms():
    constants = shipped()["constants"]
    values = factors_of(theta_of(constants)).values
    for constant in TABLE:
        for index, name in enumerate(constant.classes):
            assert constants[constant.name][name]["value"] == pytest.approx(values[constant.name][0][index], rel=1e-4)


def test_shipped_constants_fit_the_published_runs():
    fitted = fit_collectives(published_runs(), theta_of(shipped()["constants"]), steps=0)
    errors = np.abs(np.expm1(np.concatenate(fitted.residuals)))
    assert np.median(errors) < 0.06


def test_every_published_run_has_a_source_and_times_that_grow():
    for run in published_runs():
        assert run.source
        assert len(run.sizes_bytes) == len(run.times_s) > 0
        assert list(run.sizes_bytes) == sorted(run.sizes_bytes)
        assert run.times_s[-1] >= run.times_s[0]
