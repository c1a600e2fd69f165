"""Constants fitted on synthetic measurements of the model itself."""

from dataclasses import replace

import numpy as np
import pytest

from eastwest.plan.calibrate import calibrate, row_weights, without_each_source
from eastwest.simulate.analytic.step import step_seconds
from eastwest.simulate.analytic.step_constants import Residual, StepConstants
from tests.simulate.analytic.training_runs import gpt_run, llama_run, sparse_run

TRUTH = StepConstants({"gemm.16": 0.75, "network.infiniband": 0.8, "gemm.h100-sxm5-80gb.16": 1.06})


def _runs():
    runs = [
        replace(
            run,
            id=f"{name}-{micro}-{gpus}",
            source=f"source-{micro}",
            micro_batch=micro,
            gpus=gpus,
            global_batch=gpus * 8,
        )
        for name, run in (("gpt", gpt_run()), ("llama", llama_run()))
        for micro in (1, 2, 4)
        for gpus in (64, 256, 1024)
    ]
    return [*runs, sparse_run(), sparse_run(id="moe-2", micro_batch=2)]


def test_known_constants_are_recovered_from_exact_times():
    runs = _runs()
    seconds = step_seconds(runs, TRUTH)
    fitted = calibrate(runs, seconds)
    assert fitted.ratios == pytest.approx(1.0, abs=0.02)
    found, true = (step_seconds(runs, constants) for constants in (fitted.constants, TRUTH))
    assert found == pytest.approx(true, rel=0.02)


def test_a_speed_that_every_run_shows_is_found():
    runs = _runs()
    slower = step_seconds(runs, StepConstants({"gemm.16": 0.66, "gemm.mxfp8": 0.56}))
    values = calibrate(runs, slower).constants
    speed = values.value("gemm.16") * values.value("gemm.hopper") * values.value("gemm.h100-sxm5-80gb.16")
    assert speed == pytest.approx(0.66, rel=0.05)


def test_residuals_rows_and_sources_are_kept():
    runs = _runs()
    constants = calibrate(runs, step_seconds(runs, TRUTH)).constants
    assert constants.rows == tuple(run.id for run in runs)
    assert set(constants.sources) == {"source-1", "source-2", "source-4", "synthetic"}
    assert constants.residuals["a100-sxm4-80gb 16"].rows == 9
    assert constants.residuals["moe"].rows == 2
    assert constants.knows("gb200-186gb", "mxfp8")
    assert not constants.knows("gb200-186gb", "fp8")


def test_own_runs_move_shipped_constants_and_leave_the_rest():
    start = StepConstants(
        {"gemm.16": 0.8, "gemm.gb300-288gb.nvfp4": 1.2, "odd_head": 10.0},
        sources=("github:someone/synthetic",),
        rows=("old",),
        residuals={"blackwell": Residual(9, 0.1, 0.2, 0.0, 0.15)},
    )
    own = [run for run in _runs() if run.source == "source-1"][:3]
    found = calibrate(own, 1.1 * step_seconds(own, start), start).constants
    assert found.value("gemm.gb300-288gb.nvfp4") == pytest.approx(1.2)
    assert found.value("odd_head") == pytest.approx(10.0, rel=1e-3)  # heads of 128 show nothing of it
    assert found.residuals["blackwell"].rows == 9
    assert found.sources == ("github:someone/synthetic", "source-1")
    assert found.rows[0] == "old"
    times = step_seconds(own, found) / step_seconds(own, start)
    assert (times > 1.05).all()


def test_without_a_source_its_rows_are_not_used():
    runs = [run for run in _runs() if run.source != "synthetic"]
    found = without_each_source(runs, step_seconds(runs, TRUTH))
    assert set(found) == {"source-1", "source-2", "source-4"}
    assert all(source not in constants.sources for source, constants in found.items())


def test_rows_of_a_large_source_weigh_less():
    weights = row_weights([*[gpt_run(source="large")] * 100, gpt_run(source="small")])
    assert weights[0] == pytest.approx(100**-0.35)
    assert weights[-1] == 1.0


@pytest.mark.parametrize(
    ("runs", "seconds"),
    [([], []), ([gpt_run()], []), ([gpt_run()], [0.0]), ([gpt_run()], [np.nan]), ([gpt_run()], [-1.0])],
)
def test_times_that_are_none_are_refused(runs, seconds):
    with pytest.raises(ValueError, match=r"time"):
        calibrate(runs, seconds)
