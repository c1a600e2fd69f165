"""The naive model that a prediction has to beat: constant HFU, one for each GPU type and precision.

Hardware FLOPs of a step (with recompute, attention in full) over a rate that is the median of the rows with the same
GPU and precision. Fitted on the very rows that it then predicts it is the stronger of two: the other one, fitted
without the row's source as the targets ask of the step model, stands beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eastwest.plan.validation.conversions import peak_flops
from eastwest.simulate.analytic.training_run import TrainingRun
from eastwest.spec import catalogue
from eastwest.workload.model import training_flops_per_token

Values = NDArray[np.float64]
RULE = "constant HFU: the median hardware FLOP/s of the rows with the same GPU and precision"


def hardware_flops(run: TrainingRun) -> float:
    """FLOPs of one GPU in one optimiser step, recompute included (none when it is not said)."""
    flops = training_flops_per_token(run.model, run.sequence, run.recompute or "none")
    return flops.hardware * run.tokens / run.gpus


def naive_seconds(runs: Sequence[TrainingRun], measured: Values) -> Values:
    """Seconds of a step by constant HFU, fitted on these rows: (n,)."""
    flops = np.array([hardware_flops(run) for run in runs])
    keys = _keys(runs)
    rates = {key: float(np.median((flops / measured)[keys == key])) for key in set(keys.tolist())}
    seconds: Values = flops / np.array([rates[key] for key in keys.tolist()])
    return seconds


def naive_seconds_without_source(runs: Sequence[TrainingRun], measured: Values) -> Values:
    """Seconds of a step by constant HFU of the other sources: (n,). Where these have no such GPU and precision, the
    median share of the peak of all their rows; nan when there is no other source.
    """
    flops, keys = np.array([hardware_flops(run) for run in runs]), _keys(runs)
    peaks = np.array([_peak(run) for run in runs])
    sources = np.array([run.source for run in runs], dtype=object)
    found = np.full(len(runs), np.nan)
    for source in set(sources.tolist()):
        others = sources != source
        share = float(np.median((flops / measured / peaks)[others])) if others.any() else np.nan
        for index in np.flatnonzero(~others):
            alike = others & (keys == keys[index])
            rate = np.median((flops / measured)[alike]) if alike.any() else share * peaks[index]
            found[index] = flops[index] / rate
    return found


def _keys(runs: Sequence[TrainingRun]) -> NDArray[np.object_]:
    return np.array([f"{run.gpu} {run.precision}" for run in runs], dtype=object)


def _peak(run: TrainingRun) -> float:
    return peak_flops(catalogue.get("gpu", run.gpu), run.precision) or np.nan
