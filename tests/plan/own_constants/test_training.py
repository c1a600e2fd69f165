"""Own training runs: the level is found from a few, other constants move with many, a left-out group is predicted."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.plan.own_constants.training import LEAST_ROWS, groups_of, joined_groups, shrink
from eastwest.simulate.analytic.step import step_seconds
from eastwest.simulate.analytic.step_constants_file import shipped_constants
from tests.simulate.analytic.training_runs import gpt_run, llama_run

LEVEL = "gemm.h100-sxm5-80gb.16"


def runs_of(n: int):
    shapes = [(micro, gpus) for gpus in (64, 128, 256, 512) for micro in (1, 2, 4)]
    return [
        replace(llama_run(), id=f"own-{index}", source="own", micro_batch=micro, gpus=gpus, global_batch=gpus * 8)
        for index, (micro, gpus) in enumerate(shapes[:n])
    ]


def test_a_few_runs_move_the_level_only():
    runs = runs_of(3)
    own = shrink(runs, step_seconds(runs, shipped_constants()) * 1.1, shipped_constants())
    assert own.moved == (LEVEL,)
    assert own.level_only == {("h100-sxm5-80gb", "16"): 3}
    changed = {name for name, value in own.constants.values.items() if value != shipped_constants().value(name)}
    assert changed == {LEVEL}
    assert own.constants.values[LEVEL] < shipped_constants().values[LEVEL]
    assert np.median(own.ratios) > np.median(own.shipped_ratios)  # nearer to 1: all were 1/1.1


def test_many_runs_meet_their_times_and_predict_the_left_out_ones():
    runs = runs_of(LEAST_ROWS + 4)
    own = shrink(runs, step_seconds(runs, shipped_constants()) * 1.15, shipped_constants())
    assert own.level_only == {}
    assert own.ratios == pytest.approx(1.0, abs=0.05)
    assert own.left_out_ratios == pytest.approx(1.0, abs=0.07)
    assert own.shipped_ratios == pytest.approx(1 / 1.15)


def test_healthy_runs_leave_the_shipped_constants():
    runs = runs_of(LEAST_ROWS)
    own = shrink(runs, step_seconds(runs, shipped_constants()), shipped_constants())
    for name, value in own.constants.values.items():
        assert value == pytest.approx(shipped_constants().value(name), rel=1e-6)


def test_another_gpu_is_not_touched():
    runs = runs_of(4)
    own = shrink(runs, step_seconds(runs, shipped_constants()) * 1.2, shipped_constants())
    other = [gpt_run()]
    assert step_seconds(other, own.constants) == pytest.approx(step_seconds(other, shipped_constants()))


def test_groups_are_sources_then_shapes_then_rows():
    runs = runs_of(4)
    assert set(groups_of([replace(run, source=run.id) for run in runs])) == {run.id for run in runs}
    assert groups_of(runs)[0] == "run 1"  # one source, two sizes of one model
    assert len(set(groups_of(runs_of(9)))) == 3
    own = shrink(runs[:2], step_seconds(runs[:2], shipped_constants()), shipped_constants())
    assert np.isnan(own.left_out_ratios).all()


def test_runs_with_the_same_inputs_free_no_constant_and_share_a_group():
    runs = [replace(llama_run(), id=f"own-{index}", source=f"source {index % 4}") for index in range(12)]
    own = shrink(runs, step_seconds(runs, shipped_constants()) * 1.1, shipped_constants())
    assert own.moved == (LEVEL,)
    assert own.level_only == {("h100-sxm5-80gb", "16"): 1}
    assert len(set(own.groups)) == 1
    assert np.isnan(own.left_out_ratios).all()


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.integers(0, 4)), min_size=1, max_size=12))
def test_joined_groups_part_only_runs_that_share_neither_name_nor_inputs(pairs):
    groups = joined_groups([name for name, _ in pairs], [inputs for _, inputs in pairs])
    for one, (name, inputs) in zip(groups, pairs, strict=True):
        for other, (name_2, inputs_2) in zip(groups, pairs, strict=True):
            if name == name_2 or inputs == inputs_2:
                assert one == other


@pytest.mark.parametrize("seconds", [[], [1.0], [0.0, 1.0], [np.nan, 1.0]])
def test_wrong_times_are_refused(seconds):
    with pytest.raises(ValueError, match=r"step time"):
        shrink(runs_of(2), seconds, shipped_constants())
