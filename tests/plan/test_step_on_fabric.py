"""The step on a fabric against the step model: equal where nothing blocks, exact limits, one run equal to many."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eastwest.plan.step_on_fabric import CLASSES, TERM_OF, StepOnFabric
from eastwest.simulate.analytic.step import step_times
from eastwest.simulate.analytic.step_constants import StepConstants
from eastwest.simulate.analytic.step_table import pack
from tests.simulate.analytic.training_runs import gpt_run, llama_run, sparse_run

PRIORS = StepConstants({})
NO_LATENCY = StepConstants({"network_step": 1e-30, "scale_up_step": 1e-30})
RUNS = (gpt_run(), llama_run(), sparse_run(), sparse_run(pp=2, virtual_stages=4))
EVEN = dict.fromkeys(CLASSES, 1.0)


@pytest.mark.parametrize("run", RUNS)
def test_factors_of_one_are_the_step_model(run):
    table = pack([run])
    found, alone = StepOnFabric(table, PRIORS).step(EVEN), step_times(table, PRIORS)
    assert found.step_s == pytest.approx(alone.step_s, rel=1e-12)


@pytest.mark.parametrize("run", RUNS)
def test_terms_add_up_at_any_factor(run):
    found = StepOnFabric(pack([run]), PRIORS).step({**EVEN, "dp": 3.0, "ep": 2.0, "pp": 5.0})
    assert np.sum(list(found.terms.values())) == pytest.approx(found.step_s[0], rel=1e-12)


@pytest.mark.parametrize("run", RUNS)
def test_an_infinite_network_shows_nothing(run):
    """Rates without end and steps without latency: no term of communication is left."""
    table = pack([run])
    table["nic_rate"], table["scale_up_rate"] = 1e30, 1e30
    terms = StepOnFabric(table, NO_LATENCY).step(EVEN).terms
    assert sum(float(terms[name][0]) for name in TERM_OF.values() if name in terms) < 1e-9


def test_a_slower_nic_and_the_same_factor_are_one_thing_where_all_crosses():
    """Gradients at a factor of 2 take what a NIC of half the rate gives them, window for window."""
    run = gpt_run(pp=1, gpus=64, overlap_dp=False)
    slow = replace(run, nic_bytes_per_s=12.5e9)
    fast = replace(run, nic_bytes_per_s=25e9)
    found = StepOnFabric(pack([fast]), PRIORS).step({**EVEN, "dp": 2.0})
    assert found.step_s == pytest.approx(step_times([slow], PRIORS).step_s, rel=1e-9)


@given(name=st.sampled_from(CLASSES), low=st.floats(1.0, 5.0), more=st.floats(1.0, 5.0))
@settings(max_examples=25, deadline=None)
def test_a_larger_factor_is_never_faster(name, low, more):
    table = pack(list(RUNS))
    on_fabric = StepOnFabric(table, PRIORS)
    first, second = (on_fabric.step({**EVEN, name: factor}).step_s for factor in (low, low * more))
    assert (second >= first * (1 - 1e-12)).all()


def test_one_run_is_equal_to_many():
    factors = {**EVEN, "dp": 1.7, "ep": 2.5, "pp": 1.3}
    many = StepOnFabric(pack(list(RUNS)), PRIORS).step(factors).step_s
    alone = [float(StepOnFabric(pack([run]), PRIORS).step(factors).step_s[0]) for run in RUNS]
    assert many == pytest.approx(np.array(alone), rel=1e-9)


@pytest.mark.parametrize("run", RUNS)
def test_what_shows_is_at_most_what_it_takes_alone(run):
    on_fabric = StepOnFabric(pack([run]), PRIORS)
    alone, terms = on_fabric.alone(EVEN), on_fabric.step(EVEN).terms
    for name, term in TERM_OF.items():
        assert float(terms.get(term, np.zeros(1))[0]) <= float(alone[name][0]) * (1 + 1e-2)


def test_expert_groups_that_sit_apart_pay_the_network():
    table = pack([sparse_run()])
    together = StepOnFabric(table, PRIORS).step(EVEN).terms["expert exchange"][0]
    apart = StepOnFabric(table, PRIORS, ep_inside=1.0).step(EVEN).terms["expert exchange"][0]
    assert apart > together
