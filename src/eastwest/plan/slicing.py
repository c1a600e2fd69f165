"""The trade of the seeds: a finer cut lowers the bytes of a message and raises their number, until latency wins.

Three cuts of one training job, each over the layouts that fit the GPUs' memory: tensor parallel, pipeline parallel, and
the gradient bucket. Network factors are those of the design as built; a degree that leaves the scale-up domain gets
those of the gradient exchange. The crossover is where the step is shortest.

Source: seed text 000, section 6.2 (the trade); the step model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from eastwest.fabric.bottleneck import Bottleneck
from eastwest.plan.network_factors import GRADIENTS, class_of, factors_of
from eastwest.plan.prediction import Curve, Slice
from eastwest.plan.run_of_job import table_of_run, wish_of
from eastwest.plan.step_on_fabric import CLASSES, StepOnFabric
from eastwest.plan.training_model import Step, TrainingModel
from eastwest.simulate.analytic.training_run import TrainingRun
from eastwest.spec.jobs import TrainingWish
from eastwest.spec.site import Site
from eastwest.units import MEBI
from eastwest.workload.ledger import LedgerRow
from eastwest.workload.memory import training_memory
from eastwest.workload.step import training_rows
from eastwest.workload.training import case_of

DEGREES = (1, 2, 4, 8, 16, 32, 64)
BUCKETS_BYTES = tuple(4**power * MEBI for power in range(7, -1, -1))  # 16 GiB to 1 MiB
LEAST_POINTS = 2  # of a curve


@dataclass(frozen=True, slots=True)
class _Cut:
    """One layout to judge: its degree, its run, the rows of its class."""

    value: float
    run: TrainingRun
    rows: tuple[LedgerRow, ...]


def curves(site: Site, part: TrainingModel, found: Mapping[str, Bottleneck], step: Step) -> tuple[Curve, ...]:
    """The curves of one training job; none for a compute that was measured, which holds for its own layout only."""
    wish = wish_of(site, part.job)
    if part.measured_s or not isinstance(wish, TrainingWish):
        return ()
    factors = _usable(factors_of(part.job, found, part.server))
    made = [_degrees(part, wish, cut, factors) for cut in ("tp", "pp")]
    return tuple(curve for curve in (*made, _buckets(part, found, step)) if curve and len(curve.points) >= LEAST_POINTS)


def _usable(factors: Mapping[str, float]) -> dict[str, float]:
    """Factors where a class that stays inside the domain as built would leave it."""
    gradients = factors[GRADIENTS] or 1.0
    return {name: factors[name] or gradients for name in CLASSES}


def _degrees(part: TrainingModel, wish: TrainingWish, cut: str, factors: Mapping[str, float]) -> Curve | None:
    """A curve over the degrees of one dimension that the layout and the memory allow."""
    cuts = [own for degree in DEGREES if (own := _cut(part, wish, cut, degree))]
    if not cuts:
        return None
    table = np.concatenate([table_of_run(own.run, part.bucket_bytes) for own in cuts])
    steps = part.steps(StepOnFabric(table, part.constants), factors)
    built = getattr(part.run, cut)
    points = []
    for own, step in zip(cuts, steps, strict=True):
        mine = [row for row in own.rows if class_of(row) == cut]
        message = max((row.message_bytes for row in mine), default=0)
        messages = sum(row.messages for row in mine)
        points.append(Slice(cut, own.value, message, messages, step.exposed_s, step.step_s, own.value == built))
    return Curve(cut, "ranks", _best(points), tuple(points))


def _cut(part: TrainingModel, wish: TrainingWish, cut: str, degree: int) -> _Cut | None:
    """The job with another degree; None when the layout or the memory does not allow it."""
    job = part.job
    if job.model is None:
        return None
    more = {"virtual_stages": 1, "schedule": "1f1b"} if cut == "pp" and degree == 1 else {}
    parallel = wish.parallel.model_copy(update={"dp": None, cut: degree, **more})
    case, flaws = case_of(wish.model_copy(update={"parallel": parallel}), job.model, job.gpus)
    if case is None or any(flaw.severity == "error" for flaw in flaws):
        return None
    capacity = job.memory.capacity_bytes
    is_built = getattr(job.grid, cut) == degree
    if not is_built and training_memory(case, capacity).total_bytes > capacity:
        return None
    run = replace(
        part.run,
        tp=case.layout.grid.tp,
        pp=case.layout.grid.pp,
        virtual_stages=case.layout.virtual_stages,
        shard=case.layout.grid.shard if case.layout.zero == 3 else None,
        sequence_parallel=case.layout.sp,
    )
    return _Cut(float(degree), run, training_rows(case))


def _buckets(part: TrainingModel, found: Mapping[str, Bottleneck], step: Step) -> Curve | None:
    """A curve over bucket sizes, the built one among them: many small ones pay latency, the last large one shows."""
    rows = [row for row in part.job.rows if row.dimension == "dp_cp" and row.collective != "all_gather"]
    base = part.on_fabric.table
    if not rows or float(base["zero"][0]) > 2 or float(base["overlap_dp"][0]) < 1:
        return None
    factors = factors_of(part.job, found, part.server)
    width = float(base["gradient_bytes"][0])
    whole = float(base["dense_params"][0]) * width
    built = float(rows[0].inputs["n_buckets"])
    sizes = sorted({whole / built, *(size for size in BUCKETS_BYTES if size < whole), whole}, reverse=True)
    table = np.repeat(base, len(sizes))
    table["bucket_params"] = np.array(sizes) / width
    # Megatron-Core's growing bucket is a special size of the step model: a hair beside it is an ordinary one.
    table["bucket_params"] *= 1 + 1e-9
    on_fabric = StepOnFabric(table, part.constants, part.ep_inside)
    steps, alone = part.steps(on_fabric, factors), on_fabric.alone(factors)["dp"]
    return _bucket_curve(rows[0], sizes, steps, alone.tolist(), built)


def _bucket_curve(
    row: LedgerRow, sizes: Sequence[float], steps: Sequence[Step], alone: Sequence[float], built: float
) -> Curve:
    """Each size with its last bucket, which has no computation beside it."""
    whole, passes = sizes[0], 2 if row.collective == "all_reduce" else 1
    points = []
    for size, step, transfer_s in zip(sizes, steps, alone, strict=True):
        pieces = max(1, ceil(whole / size - 1e-9))
        last_s = max(transfer_s / pieces - step.shown_s["dp"], 0.0)
        messages = pieces * passes * (row.group_size - 1)
        point = Slice("bucket", size, size / row.group_size, messages, step.exposed_s + last_s, step.step_s + last_s)
        points.append(replace(point, is_built=abs(size - whole / built) < 1))
    return Curve("bucket", "bytes", _best(points), tuple(points))


def _best(points: Sequence[Slice]) -> float:
    return min(points, key=lambda point: point.step_time_s).value
