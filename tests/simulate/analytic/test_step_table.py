"""The record of a run: derived numbers against closed forms."""

import math

import numpy as np
import pytest

from eastwest.simulate.analytic.step_table import DTYPE, FIELDS, pack, release_age, stage_layers
from eastwest.workload.model import count_params
from tests.simulate.analytic.training_runs import SPARSE, gpt_run, llama_run, sparse_run


def test_every_field_has_a_unit_and_a_number():
    table = pack([gpt_run(), llama_run(), sparse_run()])
    assert table.dtype == DTYPE
    assert all(unit for _, unit in FIELDS)
    for name, _ in FIELDS:
        if name != "age":
            assert np.isfinite(table[name]).all(), name


@pytest.mark.parametrize("run", [gpt_run(tp=1, pp=1, gpus=8), llama_run()])
def test_parameters_of_one_rank_are_those_of_the_model_when_nothing_is_split(run):
    # the record leaves out norms, biases of norms and positions: a thousandth
    held = pack([run])["dense_params"][0]
    assert held == pytest.approx(count_params(run.model).total, rel=2e-3)


def test_experts_are_split_over_ep_and_stages():
    record = pack([sparse_run(pp=2)])[0]
    expert = 3 * SPARSE.hidden * SPARSE.moe.ffn
    assert record["expert_params"] == SPARSE.layers * SPARSE.moe.experts * expert / 2 / 64


@pytest.mark.parametrize(
    ("layers", "pp", "whole", "expected"),
    [
        (96, 8, False, (12, 12, 12)),
        (126, 8, False, (15, 16, 15)),  # Llama 3 405B: embedding and head count as layers
        (70, 12, True, (5, 6, 5)),  # BLOOM 176B
        (78, 12, True, (6, 7, 2)),  # uneven: the last stage takes what is left
        (80, 1, False, (80, 80, 80)),
    ],
)
def test_layers_of_stages(layers, pp, whole, expected):
    assert stage_layers(layers, pp, whole) == expected
    first, mid, last = stage_layers(layers, pp, whole)
    if pp > 1:
        assert first + mid * (pp - 2) + last >= layers


@pytest.mark.parametrize(("release", "years"), [("26.02", 0.0), ("26.08", 0.5), ("25.11", -0.25), ("26.02.01", 0.0)])
def test_age_of_a_release(release, years):
    assert release_age(release) == pytest.approx(years)


@pytest.mark.parametrize("release", [None, "", "main", "26", "26.13", "v26.02"])
def test_no_age_without_a_release(release):
    assert math.isnan(release_age(release))


def test_micro_batches_of_a_replica():
    assert pack([gpt_run()])["micro_batches"][0] == 512 / 8  # 8 replicas
    assert pack([gpt_run(micro_batch=4)])["micro_batches"][0] == 16
    assert pack([gpt_run(global_batch=4, pp=1)])["micro_batch"][0] == 4 / 32  # fewer sequences than replicas


def test_ids_and_sources_are_not_read():
    one, other = pack([llama_run(id="x")])[0], pack([llama_run(id="y", source="another")])[0]
    assert all(one[name] == other[name] or math.isnan(one[name]) for name, _ in FIELDS)
