"""A row of a training table as a case: its family and source, the run, the measured step, or the reason why not."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from eastwest.plan.validation.architectures import Architecture, architecture_of
from eastwest.plan.validation.conversions import Measured, measured_of, peak_flops
from eastwest.plan.validation.doubts import doubt_of
from eastwest.plan.validation.families import family_of
from eastwest.plan.validation.layouts import Layout, layout_of
from eastwest.plan.validation.machines import Machine, machine_of
from eastwest.plan.validation.programs import (
    DEFAULT_PRECISION,
    features_of,
    framework_of,
    precision_of,
    recompute_of,
    schedule_of,
    sharding_of,
)
from eastwest.plan.validation.reasons import Doubt, Skip
from eastwest.plan.validation.sources import source_key
from eastwest.plan.validation.training_table import TrainingRow
from eastwest.simulate.analytic.training_run import TrainingRun

CAPACITY_FACTOR = 1.0  # of runs that drop tokens and do not say beyond what: DeepSeek and Qwen recipes of 25.09
LISTED_ONLY = frozenset({Skip.other_task, Skip.calibration_table, Skip.not_measured, Skip.unhealthy})
_OTHER_TASK = re.compile(r"\bSFT\b|\bPEFT\b|fine-?tun|\bDPO\b|\bRL(?:HF)?\b", re.I)
_ADAPTERS = re.compile(r"LoRA|(?i:(?<![a-z])[qd]?lora(?![a-z])|peft|(?<![a-z])sft(?![a-z])|fine[-_ ]?tun)")
_NOT_MEASURED = {"simulation", "simulated", "spec", "derived"}


@dataclass(frozen=True, slots=True)
class TrainingCase:
    """One row read: `run` and `measured` where it can be judged, else `skip`; `suspect` is the table's own doubt and
    `doubt` the reader's.
    """

    row: TrainingRow
    family: str
    source: str
    run: TrainingRun | None
    measured: Measured | None
    skip: Skip | None
    suspect: str
    assumed: tuple[str, ...]
    doubt: Doubt | None = None

    @property
    def is_suspect(self) -> bool:
        """Whether the row is predicted and listed, but neither scored nor fitted on."""
        return bool(self.suspect) or self.doubt is not None

    @property
    def is_complete(self) -> bool:
        """Whether the row gives model, layout and batch: of these at least 80 % must be judged."""
        gives_model = bool(self.row.arch) or bool(self.row.text("model"))
        return gives_model and isinstance(layout_of(self.row), Layout)

    @property
    def is_listed_only(self) -> bool:
        """Whether the row is of a kind that is listed and never scored (another task, a calibration table, ...)."""
        return self.skip in LISTED_ONLY


def cases_of(rows: Sequence[TrainingRow]) -> tuple[TrainingCase, ...]:
    """Every row as a case; a variant `+x` of a source holds the variants of the rows before it as well."""
    variants: dict[str, list[str]] = {}
    runs: set[TrainingRun | None] = set()  # a run holds the id of its row
    cases = []
    for row in rows:
        source = source_key(row.text("source"), row.text("release") or None)
        variant = row.text("variant")
        if variant and not variant.startswith("+"):
            variants[source] = []
        if variant:
            variants.setdefault(source, []).append(variant)
        case = case_of(row, source, tuple(variants.get(source, ())) if variant else ())
        if case.run is not None and case.run in runs:
            case = replace(case, doubt=Doubt.repeated_id)
        runs.add(case.run)
        cases.append(case)
    return tuple(cases)


def case_of(row: TrainingRow, source: str, variants: tuple[str, ...] = ()) -> TrainingCase:
    """One row as a case."""
    architecture = architecture_of(row)
    has_experts = isinstance(architecture, Architecture) and architecture.model.moe is not None
    family = family_of(row.text("gpu"), row.count("ep"), has_experts)
    blank = TrainingCase(row, family, source, None, None, None, row.text("suspect"), ())
    skip = _not_scored(row)
    layout = layout_of(row)
    if skip is not None:
        return replace(blank, skip=skip)
    if isinstance(layout, Skip):
        return replace(blank, skip=layout)
    if isinstance(architecture, Skip):
        return replace(blank, skip=architecture)
    machine = machine_of(row, row.data["gpus"])
    if isinstance(machine, Skip):
        return replace(blank, skip=machine)
    precision = precision_of(row.text("precision"))
    if precision is None or peak_flops(machine.gpu, precision) is None:
        return replace(blank, skip=Skip.no_precision)
    measured = measured_of(row, layout, architecture.model, machine.gpu, precision)
    if measured is None or not 0 < measured.seconds < math.inf:
        return replace(blank, skip=Skip.no_measurement)
    run, assumed = _run(row, source, variants, architecture, layout, machine, precision)
    doubt = doubt_of(run, measured.seconds, row.arch.get("kv_heads"))
    return replace(blank, run=run, measured=measured, assumed=assumed, doubt=doubt)


def _not_scored(row: TrainingRow) -> Skip | None:
    """Why a row is listed and never scored, whatever it gives."""
    kind = row.text("kind").lower()
    if kind == "calibration_table":
        return Skip.calibration_table
    if kind in _NOT_MEASURED:
        return Skip.not_measured
    named = " ".join(row.text(key) for key in ("task", "model", "id", "variant"))
    if _OTHER_TASK.search(row.text("task")) or _ADAPTERS.search(named):
        return Skip.other_task
    if row.data.get("unhealthy") or re.search(r"unhealthy|defect", f"{row.text('status')} {kind}", re.I):
        return Skip.unhealthy
    return None


def _run(
    row: TrainingRow,
    source: str,
    variants: tuple[str, ...],
    architecture: Architecture,
    layout: Layout,
    machine: Machine,
    precision: str,
) -> tuple[TrainingRun, tuple[str, ...]]:
    """The run of a row and what was assumed to make it."""
    said, assumed = _said(row, variants, architecture, layout)
    framework = framework_of(row, variants)
    if framework and framework.by:
        assumed.append(f"framework {framework.name} (by the row's {framework.by})")
    return TrainingRun(
        id=row.id,
        source=source,
        model=architecture.model,
        gpu=machine.gpu.id,
        gpus=row.data["gpus"],
        precision=precision,
        sequence=layout.sequence,
        global_batch=layout.global_batch,
        micro_batch=layout.micro_batch,
        tp=layout.tp,
        pp=layout.pp,
        cp=layout.cp,
        ep=layout.ep,
        expert_tp=layout.expert_tp,
        recompute=recompute_of(row.text("activation_recompute")),
        gpus_per_node=machine.gpus_per_node,
        scale_up_domain=machine.scale_up_domain,
        nic_bytes_per_s=machine.nic_bytes_per_s,
        network=machine.network,
        power_w=machine.power_w,
        framework=framework.name if framework else None,
        release=row.text("release") or None,
        mtp_layers=architecture.mtp_layers,
        **said,
    ), (*architecture.assumed, *machine.assumed, *layout.assumed, *assumed)


def _said(
    row: TrainingRow, variants: tuple[str, ...], architecture: Architecture, layout: Layout
) -> tuple[dict[str, Any], list[str]]:
    """Fields of a run that the row's texts decide, and what was assumed for them."""
    assumed = [] if row.text("precision") else [f"precision {DEFAULT_PRECISION}"]
    said: dict[str, Any] = {
        **sharding_of(row),
        **schedule_of(row, layout.pp),
        "window": architecture.window,
        "window_layers_ratio": architecture.window_layers_ratio,
        **features_of(row, variants),
    }
    if architecture.window is None and said["window"]:
        assumed.append(f"window of {said['window']} tokens (half the sequence)")
    if row.data.get("capacity_factor"):
        said["capacity_factor"] = float(row.data["capacity_factor"])
    elif re.search(r"token-?drop", f"{row.text('model')} {row.text('variant')}", re.I):
        said["capacity_factor"] = CAPACITY_FACTOR
        assumed.append(f"capacity factor {CAPACITY_FACTOR:g} (tokens are dropped)")
    return said, assumed
