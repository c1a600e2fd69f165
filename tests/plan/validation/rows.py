"""Synthetic rows of training tables: a small GPT on A100 servers that everything else is a change of."""

import json
from typing import Any

import numpy as np

from eastwest.plan.validation.cases import TrainingCase, cases_of
from eastwest.plan.validation.leave_one_out import StepModel
from eastwest.plan.validation.naive import hardware_flops
from eastwest.plan.validation.training_table import TrainingRow, read_rows

ARCH = {"hidden": 1024, "layers": 8, "heads": 8, "kv_heads": 8, "ffn": 4096, "vocab": 32000}
ROW: dict[str, Any] = {
    "id": "synthetic",
    "model": "GPT synthetic",
    "arch": ARCH,
    "gpu": "A100-SXM4-80GB",
    "gpus": 16,
    "gpus_per_node": 8,
    "network": "8x200G HDR IB per node",
    "precision": "bf16",
    "seq": 2048,
    "global_batch": 64,
    "micro_batch": 2,
    "tp": 2,
    "pp": 2,
    "activation_recompute": "full",
    "measured": {"iter_time_s": 1.5},
    "kind": "measured",
    "source": "github:example/one@abc:README.md line 5",
}


def changed(**changes: Any) -> dict[str, Any]:
    """The synthetic row with keys replaced; a key that becomes None is left out."""
    return {key: value for key, value in {**ROW, **changes}.items() if value is not None}


def table(*rows: dict[str, Any]) -> str:
    """Rows as the text of a table (JSON is YAML)."""
    return "rows:\n" + "".join(f"- {json.dumps(row)}\n" for row in rows)


def one_row(**changes: Any) -> TrainingRow:
    return read_rows(table(changed(**changes)), "synthetic.yaml")[0]


def one_case(**changes: Any) -> TrainingCase:
    return cases_of([one_row(**changes)])[0]


def toy_fit(runs, measured_s):
    """A toy step model: FLOPs over one rate for all runs, the median of what it was shown."""
    return float(np.median([hardware_flops(run) / seconds for run, seconds in zip(runs, measured_s, strict=True)]))


def toy_seconds(runs, rate):
    return np.array([hardware_flops(run) / rate for run in runs])


def toy(shipped: float, sources=(), without=None) -> StepModel[float]:
    return StepModel(toy_seconds, toy_fit, shipped, frozenset(sources), without or {})


def nothing_assumed(run):
    return ()
