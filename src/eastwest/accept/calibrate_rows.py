"""Which measurements a fit may use: none that the hardware cannot have reached, and each set of inputs once.

Repeats of one run say how much a time scatters, not whether another run is predicted: they are joined to one
measurement with their median time, so that they neither free more constants nor vouch for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from eastwest.accept.measured_runs import LeftOut
from eastwest.plan.own_constants.training import inputs_of
from eastwest.plan.validation.cases import TrainingCase
from eastwest.plan.validation.doubts import mfu_ratio
from eastwest.simulate.analytic.collective_fit import MeasuredRun
from eastwest.simulate.analytic.training_run import TrainingRun

LEAST_COLLECTIVE_S = 1e-6  # a kernel alone takes longer to start (CUDA launch latency, 2 to 5 us)
WIRE_RATIO = 1.05  # over the data sheet's rate: counters and clocks differ by less
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Repeated:
    """Measurements of the same inputs that were joined: the name of the one that is used, and all names."""

    subject: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UsableRuns:
    """Training runs that a fit may use with their seconds (n,), what was left out, and what was joined."""

    runs: tuple[TrainingRun, ...]
    seconds: tuple[float, ...]
    left_out: tuple[LeftOut, ...]
    repeated: tuple[Repeated, ...]


@dataclass(frozen=True, slots=True)
class UsableCurves:
    """Curves of collectives that a fit may use, what was left out, and what was joined."""

    runs: tuple[MeasuredRun, ...]
    left_out: tuple[LeftOut, ...]
    repeated: tuple[Repeated, ...]


def usable_runs(cases: Sequence[TrainingCase]) -> UsableRuns:
    """The training runs of judged cases, without those that compute faster than their GPUs can or are in doubt."""
    left_out, kept = [], []
    for case in cases:
        if case.run is None or case.measured is None or case.skip is not None or case.suspect:
            continue
        mfu = mfu_ratio(case.run, case.measured.seconds)
        if mfu > 1:
            left_out.append(LeftOut(case.run.id, "EW-CAL-015", {"mfu": f"{mfu:.0%}"}))
        elif case.doubt is not None:
            left_out.append(LeftOut(case.run.id, str(case.doubt), {}))
        else:
            kept.append((case.run, case.measured.seconds))
    groups = _alike(kept, lambda pair: inputs_of(pair[0]))
    return UsableRuns(
        tuple(group[0][0] for group in groups),
        tuple(float(np.median([seconds for _, seconds in group])) for group in groups),
        tuple(left_out),
        tuple(_repeated([run.id for run, _ in group] for group in groups)),
    )


def usable_curves(runs: Sequence[MeasuredRun]) -> UsableCurves:
    """The curves without those with a point that is faster than the links carry its bytes."""
    left_out, kept = [], []
    for run in runs:
        size = next((size for size, time in _points(run) if time < least_s(run, size)), None)
        if size is None:
            kept.append(run)
        else:
            times = dict(_points(run))
            words = {
                "size": f"{size:.0f}",
                "us": f"{times[size] * 1e6:.4g}",
                "least": f"{least_s(run, size) * 1e6:.4g}",
            }
            left_out.append(LeftOut(run.id, "EW-CAL-016", words))
    groups = _alike(kept, lambda run: (run.run, run.sizes_bytes))
    return UsableCurves(
        tuple(_joined(group) for group in groups),
        tuple(left_out),
        tuple(_repeated([_name(run) for run in group] for group in groups)),
    )


def least_s(run: MeasuredRun, size_bytes: float) -> float:
    """Seconds that a collective takes at the least: what every rank and every domain must receive, over its links."""
    machine = run.run
    inside_s = (machine.ranks - 1) / machine.ranks * size_bytes / machine.scale_up_bytes_per_s
    rate = machine.nics * machine.nic_bytes_per_s
    between_s = (machine.domains - 1) / machine.domains * size_bytes / rate if machine.domains > 1 and rate else 0.0
    wires_s = between_s if machine.domains > 1 else inside_s
    return max(LEAST_COLLECTIVE_S, wires_s / WIRE_RATIO)


def _points(run: MeasuredRun) -> Iterator[tuple[float, float]]:
    return zip(run.sizes_bytes, run.times_s, strict=True)


def _joined(group: Sequence[MeasuredRun]) -> MeasuredRun:
    """One curve of several with the same inputs: the median time of each size."""
    times = np.median([run.times_s for run in group], axis=0)
    return replace(group[0], times_s=tuple(times.tolist()))


def _name(run: MeasuredRun) -> str:
    return run.id if run.id.startswith(run.source) else f"{run.id} ({run.source})"


def _alike(items: Sequence[Item], key: Callable[[Item], Hashable]) -> list[list[Item]]:
    """Items in groups of the same key, in the order of the first of each."""
    groups: dict[Hashable, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())


def _repeated(groups: Iterable[list[str]]) -> Iterator[Repeated]:
    return (Repeated(names[0], tuple(names)) for names in groups if len(names) > 1)
