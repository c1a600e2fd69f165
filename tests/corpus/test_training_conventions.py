"""The shared table of training runs: enough rows of every family become runs, and printed figures close."""

from collections import Counter
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from eastwest.plan.validation.architectures import Architecture, architecture_of, causal_flops
from eastwest.plan.validation.cases import cases_of
from eastwest.plan.validation.conversions import convention_of, flops_per_token
from eastwest.plan.validation.families import FAMILIES
from eastwest.plan.validation.ranking import tables_of
from eastwest.plan.validation.training_table import read_rows
from eastwest.units import TERA

TABLE = Path(__file__).resolve().parents[3] / "shared" / "data" / "validation" / "training.yaml"
CLOSES_RATIO = 0.006  # printed figures have three digits; norms, biases and positions differ by 0.1 %


@pytest.fixture(scope="module")
def text():
    if not TABLE.exists():
        pytest.skip("the shared validation data is not beside the project")
    return TABLE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def cases(text):
    return cases_of(read_rows(text, "training.yaml"))


@pytest.mark.parametrize("family", FAMILIES)
def test_four_of_five_complete_rows_of_each_family_become_runs(cases, family):
    complete = [case for case in cases if case.family == family and case.is_complete and not case.is_listed_only]
    judged = sum(case.run is not None for case in complete)
    assert judged >= 0.8 * len(complete)
    assert judged > 20


def test_every_row_that_gives_dimensions_layout_and_batch_on_a_known_gpu_becomes_a_run(cases):
    left = [
        case for case in cases if case.is_complete and case.row.arch and case.run is None and not case.is_listed_only
    ]
    assert [case.row.text("gpu") for case in left] == ["TPU v4"]


def test_no_key_of_the_table_is_unread(cases):
    assert Counter(key for case in cases for key in case.row.unread) == {}


def test_printed_flops_and_times_close_as_the_table_says(text, cases):
    """`derived` of a row is its compiler's arithmetic: convention, and printed over recomputed FLOP/s."""
    derived = {row["id"]: row.get("derived", {}) for row in YAML(typ="safe").load(text)["rows"]}
    n_closed = 0
    for case in cases:
        said = derived[case.row.id]
        key = next((key for key in ("tflops_per_gpu", "model_tflops_per_gpu") if key in case.row.measured), None)
        if case.run is None or key is None or "flops_convention" not in said:
            continue
        convention = convention_of(case.row, key)
        assert convention == said["flops_convention"], case.row.id
        recompute = case.row.text("activation_recompute")
        flops = flops_per_token(case.run.model, case.run.sequence, convention, recompute) * case.run.tokens
        recomputed = flops / case.measured.seconds / case.run.gpus
        ratio = case.row.measured[key] * TERA / recomputed
        assert ratio == pytest.approx(said["printed_over_recomputed"], rel=CLOSES_RATIO), case.row.id
        n_closed += 1
    assert n_closed > 250


def test_printed_flops_of_a_token_are_those_of_the_mixtures(cases):
    """FLOP/s over tokens/s of Megatron-Bridge at 4,096 tokens, where no window and no hybrid is counted otherwise."""
    n_closed = 0
    for case in cases:
        measured, model = case.row.measured, architecture_of(case.row)
        is_plain = case.row.arch and case.row.count("seq") == 4096 and "Bridge" in case.source and case.run is not None
        if not is_plain or "tokens_per_s_per_gpu" not in measured or not isinstance(model, Architecture):
            continue
        if model.window:
            continue
        printed = measured["tflops_per_gpu"] * TERA / measured["tokens_per_s_per_gpu"]
        assert printed == pytest.approx(causal_flops(model, 4096), rel=0.03), case.row.id
        n_closed += 1
    assert n_closed > 60


def test_the_layout_search_has_its_tables(cases):
    tables = tables_of([case for case in cases if case.run is not None])
    assert len(tables) > 10
    assert sum(len(table.rows) for table in tables) > 60
