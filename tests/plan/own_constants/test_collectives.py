"""Own curves of collectives: the class that was measured moves, no other; few points move no latency."""

from dataclasses import replace

import numpy as np
import pytest

from eastwest.plan.own_constants.collectives import LEAST_POINTS, shrink
from eastwest.simulate.analytic.collective_constants import shipped_constants
from eastwest.simulate.analytic.collective_fit import MeasuredRun
from eastwest.simulate.analytic.collective_run import CollectiveRun, pack
from eastwest.simulate.analytic.collective_time import time_of_points

SIZES = tuple(2.0**k for k in range(10, 34))
NODE = CollectiveRun("all_reduce", 8, 1, 300e9, "ampere", algorithm="ring")
ACROSS = CollectiveRun("all_reduce", 32, 4, 300e9, "ampere", 8, 25e9, "roce", algorithm="ring")


def measured(run: CollectiveRun, factor: float = 1.0, sizes=SIZES, source: str = "own") -> MeasuredRun:
    seconds = time_of_points(pack(run, sizes), shipped_constants()).time_s * factor
    return MeasuredRun(f"synthetic {source}", source, run, tuple(sizes), tuple(seconds))


def test_only_the_measured_classes_move():
    own = shrink([measured(ACROSS, 1.12)])
    assert {constant.of_class for constant in own.moved} <= {"ampere", "roce"}
    assert "network_share" in {constant.name for constant in own.moved}
    before, after = (np.median(np.abs(np.concatenate(found) - 1)) for found in (own.shipped_ratios, own.ratios))
    assert after < 0.6 * before


def test_what_is_as_shipped_does_not_move():
    own = shrink([measured(NODE)])
    assert own.moved == ()
    assert own.ratios[0] == pytest.approx(1.0)


def test_few_points_move_shares_only():
    sizes = SIZES[-(LEAST_POINTS - 2) :]
    own = shrink([measured(NODE, 1.1, sizes)])
    assert own.share_only == {"ampere": len(sizes)}
    assert {constant.name for constant in own.moved} <= {"ring_share", "tree_share"}


def test_a_left_out_source_is_predicted_from_three_on():
    machines = [replace(NODE, collective=name) for name in ("all_reduce", "all_gather", "reduce_scatter")]
    curves = [measured(machine, 1.1, source=machine.collective) for machine in machines]
    two = shrink(curves[:2])
    assert all(np.isnan(found).all() for found in two.left_out_ratios)
    three = shrink(curves)
    assert three.groups == ("all_reduce", "all_gather", "reduce_scatter")
    assert [float(np.median(found)) for found in three.left_out_ratios] == pytest.approx([1.0] * 3, abs=0.05)


def test_sources_that_ran_the_same_do_not_vouch_for_each_other():
    own = shrink([measured(NODE, 1.1, SIZES[index:], source=name) for index, name in enumerate("abc")])
    assert set(own.groups) == {"a"}
    assert all(np.isnan(found).all() for found in own.left_out_ratios)


def test_no_run_is_refused():
    with pytest.raises(ValueError, match="no measured run"):
        shrink([])
