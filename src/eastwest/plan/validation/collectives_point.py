"""`Point`: one measured time and what predicts it."""

from __future__ import annotations

from dataclasses import dataclass

from eastwest.simulate.analytic.collective_run import CollectiveRun


@dataclass(frozen=True, slots=True)
class Point:
    """One measurement: seconds at a size. `run` is what the collective model reads, `closed_s` the time of a closed
    form where no collective runs, `naive_s` the time at the wire rate.
    """

    label: str
    size_bytes: float
    measured_s: float
    run: CollectiveRun | None
    closed_s: float | None
    naive_s: float
