"""The account of the source texts comes out as printed there, and then corrected."""

from __future__ import annotations

import pytest

from eastwest.decision import Decision
from eastwest.workload.seed_figures import seed_figures

FIGURES = {figure.id.removeprefix("seeds."): figure for figure in seed_figures()}


@pytest.mark.parametrize(
    ("name", "value", "unit"),
    [
        ("as_printed.replica", 200e9, "bytes"),  # 50B x 4 B = 200 GB
        ("as_printed.sent_once", 4.0, "s"),  # 400 Gb/s = 50 GB/s
        ("as_printed.doubled", 8.0, "s"),
        ("corrected.no_gpu_holds_it", 2.5, "GPUs"),
        ("corrected.shard", 25e9, "bytes"),  # TP8
        ("corrected.sent_once", 0.5, "s"),
        ("corrected.ring", 1.0, "s"),
        ("corrected.ring_bf16", 0.5, "s"),
        ("memory.training_state", 1.6e12, "bytes"),  # 100B x 16 B
        ("memory.gpus_at_least", 20, "GPUs"),
        ("memory.checkpoint", 700e9, "bytes"),  # 50B x 14 B
    ],
)
def test_figure(name: str, value: float, unit: str) -> None:
    assert (FIGURES[name].value, FIGURES[name].unit) == (value, unit)


@pytest.mark.parametrize("figure", FIGURES.values(), ids=list(FIGURES))
def test_the_formula_yields_the_value_from_the_inputs(figure: Decision) -> None:
    from math import ceil

    names = {"ceil": ceil, **figure.inputs}
    assert eval(figure.formula, {"__builtins__": {}}, names) == pytest.approx(figure.value)
