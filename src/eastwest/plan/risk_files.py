"""growth.csv and failures.csv: the phases' cables, and what each class of parts costs each job."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from operator import attrgetter
from typing import Any

from eastwest.plan.failure_report import FailureReport
from eastwest.plan.growth_cables import GrowthCable
from eastwest.plan.growth_report import GrowthReport
from eastwest.plan.write import csv_text

FAILURE_COLUMNS = (
    "kind",
    "subject",
    "alike",
    "population",
    "nics_lost",
    "gpus_lost",
    "servers_touched",
    "servers_cut_off",
    "remaining_ratio",
    "events_per_month",
    "source",
    "counted_in",
)
COST_COLUMNS = (
    "job",
    "outcome",
    "gpus_idle",
    "step_time_s",
    "ecmp_step_time_s",
    "adaptive_step_time_s",
    "step_time_ratio",
    "network_time_ratio",
    "lost_gpu_hours_per_event",
)


def risk_files(growth: GrowthReport, failures: FailureReport) -> dict[str, str]:
    """The files: growth.csv only when there are growth steps."""
    files = {"failures.csv": csv_text((*FAILURE_COLUMNS, *COST_COLUMNS), _failure_lines(failures))}
    if growth.growth is not None:
        header = tuple(field.name for field in fields(GrowthCable))
        files["growth.csv"] = csv_text(header, map(attrgetter(*header), growth.cables()))
    return files


def _failure_lines(failures: FailureReport) -> Iterator[list[Any]]:
    """One line a class and job; a class without jobs has one line."""
    for row in failures.as_json():
        own = [row[name] for name in FAILURE_COLUMNS]
        for cost in row["jobs"] or [dict.fromkeys(COST_COLUMNS)]:
            yield [*own, *(cost[name] for name in COST_COLUMNS)]
