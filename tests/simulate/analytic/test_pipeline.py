"""Pipelines against the published bubble and hand-made stages."""

import numpy as np
import pytest

from eastwest.simulate.analytic.pipeline import overlap_ratio, ramp_s, stages
from eastwest.simulate.analytic.step_table import pack
from tests.simulate.analytic.training_runs import gpt_run

NOTHING = np.zeros(1)


def _stages(run, layer=1.0, head=0.0, transfer=0.0):
    table = pack([run])
    return table, stages(table, np.array([layer]), np.array([head]), NOTHING, np.array([transfer]))


@pytest.mark.parametrize(("pp", "chunks"), [(4, 1), (4, 2), (8, 3), (1, 1)])
def test_the_bubble_of_equal_stages_is_p_minus_1_over_v_m(pp, chunks):
    # Narayanan et al. 2021, section 2.2: bubble / ideal = (p - 1) / (v m)
    table, found = _stages(gpt_run(pp=pp, gpus=64 * pp, virtual_stages=chunks))
    micro_batches = table["micro_batches"][0]
    ideal = micro_batches * found.slowest_s[0]
    assert ramp_s(table, found)[0] / ideal == pytest.approx((pp - 1) / (chunks * micro_batches))


def test_the_output_head_sets_the_pace_of_the_last_stage():
    _, found = _stages(gpt_run(), layer=1.0, head=3.0)
    assert found.slowest_s[0] == 12 + 3  # 48 layers over 4 stages


def test_a_stage_cut_by_cost_shares_the_head_out():
    _, found = _stages(gpt_run(framework="nanotron"), layer=1.0, head=3.0)
    assert found.slowest_s[0] == pytest.approx((48 + 3) / 4)


def test_transfers_cost_a_middle_stage_twice_what_they_cost_an_end():
    _, plain = _stages(gpt_run(), head=0.9)
    _, moving = _stages(gpt_run(), head=0.9, transfer=1.0)
    assert plain.slowest_s[0] == pytest.approx(12.9)  # the last stage
    assert moving.slowest_s[0] == pytest.approx(13.4)  # still the last one, half a transfer more than 12 + 1


def test_a_zero_bubble_schedule_leaves_a_third_of_the_ramp():
    table, found = _stages(gpt_run(schedule="1f1b"))
    other, same = _stages(gpt_run(schedule="zero_bubble"))
    assert ramp_s(other, same)[0] == pytest.approx(ramp_s(table, found)[0] / 3)


def test_gradients_of_an_interleaved_rank_have_more_computation_beside_them():
    one, three = (pack([gpt_run(virtual_stages=chunks)]) for chunks in (1, 3))
    assert overlap_ratio(one)[0] == 1.0
    assert overlap_ratio(three)[0] == pytest.approx(1 / 3 + 2 / 3 * 4)
