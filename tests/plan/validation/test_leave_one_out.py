"""Predictions without the row's own source, with a toy model that has one constant: a FLOP rate."""

import numpy as np
import pytest

from eastwest.plan.validation.cases import cases_of
from eastwest.plan.validation.leave_one_out import LEAST_ROWS, Rule, leave_one_out
from eastwest.plan.validation.naive import hardware_flops, naive_seconds, naive_seconds_without_source
from eastwest.plan.validation.sources import source_key
from eastwest.plan.validation.training_table import read_rows
from tests.plan.validation.rows import changed, table, toy, toy_fit

RATES = {"github:a/a": 100e12, "github:b/b": 200e12, "github:c/c": 300e12}


def runs_of(n_of_each):
    """Rows of three sources that compute at 100, 200 and 300 TFLOP/s, `n_of_each` of each."""
    rows = [
        changed(id=f"{source}-{number}", source=f"{source}@1:x", gpus=8 * (1 + number % 4), micro_batch=1)
        for number in range(n_of_each)
        for source in RATES
    ]
    runs = [case.run for case in cases_of(read_rows(table(*rows), "t.yaml"))]
    return runs, np.array([hardware_flops(run) / RATES[run.source] for run in runs])


def rate_of(runs, seconds, source):
    found = {
        round(hardware_flops(run) / s / 1e12) for run, s in zip(runs, seconds, strict=True) if run.source == source
    }
    assert len(found) == 1
    return found.pop()


def test_a_release_of_control_characters_is_one_source() -> None:
    assert source_key("github:NVIDIA-NeMo/Megatron-Bridge@1:x", "\x00") == "github:NVIDIA-NeMo/Megatron-Bridge"


@pytest.mark.parametrize("source", ["\\u0000", "github:a/a\\u0000", "\\u0007 \\u0000"])
def test_a_source_of_control_characters_is_one_source(source: str) -> None:
    rows = read_rows(table(changed(id="one", source="x")).replace('"x"', f'"{source}"'), "t.yaml")
    runs = [case.run for case in cases_of(rows)]
    left = leave_one_out(toy(150e12), runs, np.array([1.0]), np.ones(1, bool))
    assert np.isfinite(left.seconds).all()


def test_shipped_constants_that_never_saw_a_source_are_used_as_they_are():
    runs, measured = runs_of(4)
    left = leave_one_out(toy(150e12), runs, measured, np.ones(12, bool))
    assert set(left.rules.values()) == {Rule.unseen}
    assert rate_of(runs, left.seconds, "github:a/a") == 150


def test_a_known_source_takes_the_constants_stored_without_it():
    runs, measured = runs_of(4)
    left = leave_one_out(toy(150e12, RATES, {"github:a/a": 250e12}), runs, measured, np.ones(12, bool))
    assert left.rules["github:a/a"] is Rule.stored
    assert rate_of(runs, left.seconds, "github:a/a") == 250
    assert left.rules["github:b/b"] is Rule.impossible  # and the file is too small for a fit
    assert np.isnan(left.seconds[[run.source == "github:b/b" for run in runs]]).all()


def test_a_large_file_is_refitted_without_the_source_and_without_suspects():
    runs, measured = runs_of(LEAST_ROWS // 2 + 1)
    usable = np.array([run.source != "github:c/c" or index % 2 == 0 for index, run in enumerate(runs)])
    seen = []
    model = toy(150e12, RATES)

    def fit(others, measured_s):
        seen.append({run.source for run in others})
        assert len(others) == len(measured_s)
        return toy_fit(others, measured_s)

    model = type(model)(model.seconds, fit, model.shipped, model.sources)
    left = leave_one_out(model, runs, measured, np.ones(len(runs), bool))
    assert set(left.rules.values()) == {Rule.refitted}
    assert all(source not in fitted for source, fitted in zip(left.rules, seen, strict=True))
    assert rate_of(runs, left.seconds, "github:a/a") in (200, 250, 300)  # the median of 200 and 300
    fewer = leave_one_out(model, runs, measured, usable)
    assert fewer.rules["github:a/a"] is Rule.impossible  # 51 and 26 rows: fewer than LEAST_ROWS


def test_the_naive_model_is_the_median_rate_of_a_gpu_and_precision():
    runs, measured = runs_of(3)
    assert rate_of(runs, naive_seconds(runs, measured), "github:a/a") == 200
    without = naive_seconds_without_source(runs, measured)
    assert rate_of(runs, without, "github:a/a") == 250
    assert rate_of(runs, without, "github:c/c") == 150


def test_the_naive_model_borrows_a_share_of_the_peak_for_a_gpu_that_is_alone():
    rows = [changed(source="github:a/a"), changed(source="github:b/b", gpu="H100-SXM5-80GB")]
    runs = [case.run for case in cases_of(read_rows(table(*rows), "t.yaml"))]
    measured = np.array([hardware_flops(runs[0]) / 156e12, 1.0])
    without = naive_seconds_without_source(runs, measured)
    assert hardware_flops(runs[1]) / without[1] == pytest.approx(989e12 / 2, rel=1e-9)  # 156 is half of 312 TFLOP/s
