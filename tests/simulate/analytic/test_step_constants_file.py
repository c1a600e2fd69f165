"""Constants written and read again, and the shipped ones."""

import io

import pytest
from ruamel.yaml import YAML

from eastwest.simulate.analytic.step_constants import PRIOR_VALUES, Residual, StepConstants
from eastwest.simulate.analytic.step_constants_file import (
    ConstantsError,
    constants_text,
    parse_constants,
    parse_without,
    shipped_constants,
    shipped_without,
    without_text,
)
from eastwest.simulate.analytic.step_priors import BY_ARCHITECTURE, SHARED

FITTED = StepConstants(
    values={**PRIOR_VALUES, "gemm_depth": 321.0, "gemm.hopper": 0.9, "gemm.h100-sxm5-80gb.fp8": 1.05},
    at_bound=("gemm_depth",),
    sources=("github:someone/synthetic", "arXiv:0000.00000"),
    rows=("one", "2-two"),
    residuals={"h100-sxm5-80gb fp8": Residual(3, 0.02, 0.05, -0.01, 0.04), "hopper": Residual(9, 0.03, 0.1, 0.0, 0.07)},
)


def _load(text: str) -> object:
    return YAML(typ="safe").load(io.StringIO(text))


def test_written_constants_are_read_back():
    assert parse_constants(_load(constants_text(FITTED))) == FITTED


def test_written_constants_without_sources_are_read_back():
    found = parse_without(_load(without_text({"github:someone/synthetic": FITTED})))
    assert found["github:someone/synthetic"].values == FITTED.values


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("schema: other", "schema"),
        ("[]", "schema"),
        ("schema: eastwest.step_constants/1\nshared: {gemm_depth: {value: -1}}", "gemm_depth"),
        ("schema: eastwest.step_constants/1\nshared: {gemm_depth: {value: fast}}", "gemm_depth"),
        ("schema: eastwest.step_constants/1\ngpus: {x: {int8: {gemm: 1}}}", "gpus.x.int8"),
    ],
)
def test_a_file_that_cannot_be_used_says_where(text, where):
    with pytest.raises(ConstantsError, match=where):
        parse_constants(_load(text))


def test_a_missing_constant_has_its_priors_value():
    found = parse_constants(_load("schema: eastwest.step_constants/1"))
    assert found.value("gemm_depth") == PRIOR_VALUES["gemm_depth"]
    assert found.value("gemm.gpu-of-next-year.16") == 1.0


def test_shipped_constants_are_inside_their_bounds_and_name_their_rows():
    shipped = shipped_constants()
    for prior in (*SHARED, *BY_ARCHITECTURE):
        low, high = prior.bounds
        assert low * 0.999 <= shipped.value(prior.name) <= high * 1.001, prior.name
    assert len(shipped.rows) == len(set(shipped.rows)) > 400
    assert set(shipped_without()) == set(shipped.sources)


def test_every_prior_has_a_unit_and_a_meaning():
    for prior in (*SHARED, *BY_ARCHITECTURE):
        assert prior.unit
        assert prior.meaning
        assert prior.bounds[0] < prior.value < prior.bounds[1]
