"""One run explained: interval, sensitivities, assumptions, extrapolation."""

import pytest

from eastwest.simulate.analytic.step_constants import Residual, StepConstants
from eastwest.simulate.analytic.step_explain import EXTRAPOLATED, OTHER_SOURCE, explain
from tests.simulate.analytic.training_runs import gpt_run, llama_run, sparse_run

FITTED = StepConstants(
    {"gemm.a100-sxm4-80gb.16": 1.0},
    residuals={"ampere": Residual(100, 0.03, 0.08, 0.0, 0.05), "moe": Residual(100, 0.1, 0.3, 0.0, 0.2)},
)


def test_the_interval_is_the_spread_of_the_fit_widened_for_other_sources():
    step = explain(gpt_run(), FITTED)
    width = pytest.approx(2.718281828 ** (0.05 * OTHER_SOURCE))
    assert step.high_s / step.step_s == width
    assert step.step_s / step.low_s == width
    assert step.extrapolates == ()


def test_a_gpu_or_precision_that_was_never_measured_says_so_and_widens():
    step = explain(sparse_run(), FITTED)
    assert step.high_s / step.step_s == pytest.approx(2.718281828 ** (0.2 * OTHER_SOURCE * EXTRAPOLATED))
    assert "gb200-186gb with mxfp8" in step.extrapolates[0].sentence()


def test_the_three_largest_sensitivities_come_first():
    found = explain(llama_run(), FITTED).sensitivities
    assert len(found) == 3
    assert found[0].what == "16-bit FLOP/s +10 %"
    assert abs(found[0].delta_s) >= abs(found[1].delta_s) >= abs(found[2].delta_s)
    assert found[0].delta_s < 0


def test_a_slow_network_shows_as_a_sensitivity():
    step = explain(gpt_run(nic_bytes_per_s=1e8), FITTED)
    assert step.sensitivities[0].what == "NIC rate +10 %"
    assert step.visible_communication_s > step.step_s / 2


def test_what_was_assumed_is_listed():
    assert any("ZeRO" in text for text in explain(gpt_run(), FITTED).assumed)
