"""Matrix products against their closed forms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.simulate.analytic.gemm import MULTIPROCESSORS, Pair, linear, product_s, tile_waste
from eastwest.simulate.analytic.step_constants import StepConstants, see
from eastwest.simulate.analytic.step_table import pack
from tests.simulate.analytic.training_runs import gpt_run, llama_run

A100 = MULTIPROCESSORS[1:2]
IDEAL = StepConstants({"gemm_depth": 1e-9, "gemm_edge": 1e-9, "tile_waste": 1e-9})


def _one(value: float) -> np.ndarray:
    return np.array([float(value)])


def test_a_product_that_fills_waves_wastes_nothing():
    # 108 multiprocessors, tiles of 256 x 128: 12 x 9 tiles are one wave
    assert tile_waste(_one(12 * 256), _one(9 * 128), A100) == pytest.approx(1.0)


def test_one_tile_more_than_a_wave_takes_two():
    # 109 tiles of 256 x 128; no smaller tile does better than 2 waves of the large one
    waste = tile_waste(_one(109 * 256), _one(128), A100)[0]
    assert 1.12 <= waste <= 2 * 108 / 109


@given(m=st.integers(1, 50_000), n=st.integers(1, 50_000))
def test_waste_is_bounded(m, n):
    waste = tile_waste(_one(m), _one(n), A100)[0]
    assert 1.0 - 1e-12 <= waste <= 4.0


def test_time_is_flops_over_rate_without_shape_costs():
    table = pack([gpt_run()])
    seen = see(table, IDEAL)
    seconds = product_s(table, seen, _one(4096), _one(8192), _one(1024), _one(1e14))
    assert seconds[0] == pytest.approx(2 * 4096 * 8192 * 1024 / 1e14, rel=1e-6)


def test_a_weight_matrix_costs_three_products():
    table = pack([gpt_run()])
    seen = see(table, IDEAL)
    pair = linear(table, seen, _one(2048), _one(8192), _one(4096))
    product = 2 * 2048 * 8192 * 4096 / seen.layer_flops
    assert pair.forward == pytest.approx(product, rel=1e-6)
    assert pair.backward == pytest.approx(2 * product, rel=1e-6)


def test_narrow_operands_are_cast_for_bytes_and_run_faster():
    wide, narrow = (see(pack([llama_run(precision=name)]), StepConstants({})) for name in ("bf16", "fp8"))
    assert narrow.layer_flops > 1.5 * wide.layer_flops
    assert wide.quantise_bytes[0] == 0 < narrow.quantise_bytes[0]
    assert narrow.wide_flops == wide.wide_flops  # the output head stays in 16 bit


def test_small_dimensions_cost_speed():
    table = pack([gpt_run()])
    seen = see(table, StepConstants({}))
    rates = [
        2 * 4096 * 4096 * k / product_s(table, seen, _one(4096), _one(4096), _one(k), _one(1e14))[0] for k in (64, 1024)
    ]
    assert rates[0] < 0.5 * rates[1]


def test_pairs_add_and_scale():
    pair = Pair(_one(1), _one(2)) + Pair(_one(3), _one(4)).times(2)
    assert (pair.forward[0], pair.backward[0]) == (7.0, 10.0)
