"""The shared table of training runs with frameworks and sources taken out of it: what is inferred is nearly as good.

Rows keep what they say of numbers, layout and recompute. Each is predicted with the constants that never saw the source
that it had. Harder still: without releases, dates and every word that only one framework uses.
"""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ruamel.yaml import YAML

from eastwest.plan.validation.analytic_model import assumptions_of, shipped_model
from eastwest.plan.validation.cases import cases_of
from eastwest.plan.validation.judged import judge
from eastwest.plan.validation.ranking import rank, tables_of
from eastwest.plan.validation.summaries import by_family
from eastwest.plan.validation.training_table import read_rows

TABLE = Path(__file__).resolve().parents[3] / "shared" / "data" / "validation" / "training.yaml"
LIMITS = {"dense-a100": (0.09, 0.22), "dense-h100": (0.09, 0.22), "blackwell": (0.10, 0.22), "moe": (0.20, 0.45)}
SPEARMAN = 0.85
WORDS = ("mixed_precision_mode", "async_tp", "kernels", "variant", "optimisations", "overlap", "release", "date")
MODELS = re.compile(r"bloom|mpt|opt|pythia", re.I)

pytestmark = pytest.mark.skipif(not TABLE.exists(), reason="the shared validation data is not beside the project")


@pytest.fixture(scope="module")
def named():
    text = TABLE.read_text(encoding="utf-8")
    return YAML(typ="safe").load(text)["rows"], cases_of(read_rows(text, "training.yaml"))


def _without_names(row, number):
    return {**row, "id": f"row-{number}", "source": "a paper", "framework": None}


def _without_words(row, number):
    plain = {key: value for key, value in _without_names(row, number).items() if key not in WORDS}
    sharding = re.search(r"FSDP|zero-\d", str(row.get("sharding")), re.I)
    return {
        **plain,
        "model": MODELS.sub("GPT", str(row.get("model"))),
        "sharding": sharding[0] if sharding else row.get("sharding"),
    }


@pytest.mark.parametrize("strip", [_without_names, _without_words])
def test_errors_without_any_name(named, strip):
    rows, cases = named
    text = json.dumps({"rows": [strip(row, number) for number, row in enumerate(rows)]}, default=str)
    stripped = cases_of(read_rows(text, "stripped.yaml"))
    assert {case.run.framework for case in stripped if case.run}.isdisjoint({"megatron-bridge", "nanotron"})
    judged = judge([_of_source(case, own) for case, own in zip(stripped, cases, strict=True)], shipped_model(), _said)
    figures = by_family(judged)
    for family, (middle, tail) in LIMITS.items():
        assert figures[family]["loso_median_abs_error_ratio"] <= middle, family
        assert figures[family]["loso_p90_abs_error_ratio"] <= tail, family
    assert np.isfinite(judged.left_out).all()
    assert rank(tables_of(judged.cases), judged.left_out, judged.measured).as_json()["spearman"] >= SPEARMAN


def _of_source(case, own):
    """The case under its real source, so that its constants never saw it."""
    return replace(case, source=own.source, run=replace(case.run, source=own.source) if case.run else None)


def _said(run):
    return assumptions_of(run)
