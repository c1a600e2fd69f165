"""Scaling efficiency: throughput of a GPU relative to the smallest run of the same job, predicted against measured.

A series is the rows of one source with the same model, hardware, precision, layout and micro-batch at several GPU
counts, either with the batch of a step kept (strong scaling) or with the batch of a GPU kept (weak scaling).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eastwest.plan.validation.cases import TrainingCase
from eastwest.simulate.analytic.training_run import TrainingRun

TARGETS = {"median": 0.05, "max": 0.10}


@dataclass(frozen=True, slots=True)
class Point:
    """One run against the smallest of its series: GPU counts, efficiency predicted and measured."""

    id: str
    kind: str
    gpus: int
    base_gpus: int
    predicted: float
    measured: float

    @property
    def error(self) -> float:
        """|predicted - measured| efficiency."""
        return abs(self.predicted - self.measured)

    def as_json(self) -> dict[str, Any]:
        """The point in JSON's types."""
        return {
            "id": self.id,
            "scaling": self.kind,
            "gpus": self.gpus,
            "base_gpus": self.base_gpus,
            "predicted_efficiency_ratio": self.predicted,
            "measured_efficiency_ratio": self.measured,
            "abs_error_ratio": self.error,
        }


def points_of(
    cases: Sequence[TrainingCase], predicted: NDArray[np.float64], measured: NDArray[np.float64]
) -> tuple[Point, ...]:
    """Every run that has a smaller one of its series among the cases."""
    series: dict[tuple[Any, ...], list[int]] = {}
    for index, case in enumerate(cases):
        if case.run is None or case.is_suspect or case.row.text("selection"):  # a selected maximum is no series
            continue
        run = case.run
        series.setdefault(("strong", *_key(run), run.global_batch), []).append(index)
        series.setdefault(("weak", *_key(run), run.global_batch / run.gpus), []).append(index)
    found = []
    for key, members in series.items():
        found += _points(str(key[0]), members, cases, predicted, measured)
    return tuple(found)


def _points(
    kind: str,
    members: list[int],
    cases: Sequence[TrainingCase],
    predicted: NDArray[np.float64],
    measured: NDArray[np.float64],
) -> list[Point]:
    runs = {index: cases[index].run for index in members}
    sizes = {index: run.gpus for index, run in runs.items() if run is not None}
    base = min(sizes.values())
    at_base = [index for index in members if sizes[index] == base]
    found = []
    for index in members:
        if sizes[index] == base:
            continue
        guess, truth = (
            _throughput(runs[index], times[index]) / float(np.mean([_throughput(runs[i], times[i]) for i in at_base]))
            for times in (predicted, measured)
        )
        found.append(Point(cases[index].row.id, kind, sizes[index], base, guess, truth))
    return found


def _throughput(run: TrainingRun | None, seconds: float) -> float:
    """Tokens/s of one GPU."""
    return run.tokens / seconds / run.gpus if run is not None else float("nan")


def _key(run: TrainingRun) -> tuple[Any, ...]:
    """What runs of one series share."""
    model = run.model
    shape = (model.name, model.layers, model.hidden, model.ffn)
    place = (run.source, run.framework, run.release, run.gpu, run.power_w, run.precision, run.nic_bytes_per_s)
    layout = (run.tp, run.pp, run.cp, run.ep, run.virtual_stages, run.zero, run.reshard, run.recompute)
    return (*shape, *place, *layout, run.sequence, run.micro_batch, run.overlap_tp, run.compiled, run.gradient_bytes)


def summary(points: Sequence[Point]) -> dict[str, Any]:
    """Median and largest error beside their targets."""
    errors = np.array([point.error for point in points])
    return {
        "points": len(points),
        "median_abs_error_ratio": float(np.median(errors)) if len(errors) else None,
        "max_abs_error_ratio": float(errors.max()) if len(errors) else None,
        "targets": {"median_abs_error_ratio": TARGETS["median"], "max_abs_error_ratio": TARGETS["max"]},
    }
