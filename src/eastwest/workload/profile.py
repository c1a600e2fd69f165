"""A job's traffic in the seeds' words: who is the main communication pattern, how high does the burst go, does the
business tolerate jitter.

Rows that stay inside the scale-up domain (ranks placed in order) are left out: the profile speaks of the fabric. Times
come from the GPU's peak and an assumed efficiency until the prediction of the plan replaces them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from eastwest.spec.jobs import InferenceWish, TrainingWish
from eastwest.units import format_size
from eastwest.workload.features import feature_row
from eastwest.workload.ledger import Grid, Jitter, JobLedger, LedgerRow, Memory, Profile, ProfileRow
from eastwest.workload.machines import Machines

ASSUMED_COMPUTE_RATIO = 0.5  # share of peak FLOP/s while computing: between 0.40 and 0.60 in published dense bf16 runs
TOLERANCE: dict[str, Jitter] = {"training": "medium", "inference": "low"}  # seed text 001, section 1.2
SMALL_MESSAGE_BYTES = 1_000_000  # below it a transfer is bound by latency: about 20 us at 400 Gb/s


def leaves_scale_up(row: LedgerRow, grid: Grid, domain: int) -> bool:
    """Whether some group of the row spans scale-up domains of `domain` GPUs, ranks being placed in order."""
    if row.dimension == "all":
        return True
    homes = grid.groups(row.dimension) // domain
    return bool(np.any(homes != homes[:, :1]))


def training_profile(
    job: TrainingWish, grid: Grid, rows: Sequence[LedgerRow], machines: Machines, flops_per_gpu: float
) -> tuple[Profile, tuple[str, ...]]:
    """The profile of a training job over one step, and what was assumed for its times."""
    outside = [row for row in rows if row.per == "step" and leaves_scale_up(row, grid, machines.scale_up_domain)]
    compute_s = job.compute_s or flops_per_gpu / (machines.peak_flops * ASSUMED_COMPUTE_RATIO)
    assumed = () if job.compute_s else (f"{job.name}: profile computes at {ASSUMED_COMPUTE_RATIO:.0%} of peak",)
    busy_s = sum(row.bytes_per_gpu for row in outside) / machines.nic_bytes_per_s
    exposed_s = sum(row.bytes_per_gpu * (1 - row.overlap_ratio) for row in outside) / machines.nic_bytes_per_s
    period_s = compute_s + exposed_s
    profile = _profile(job.name, "training", job.jitter_tolerance, outside, period_s, busy_s)
    storage = [row for row in rows if row.traffic == "checkpoint"]
    return replace(profile, rows=tuple(_training_features(profile, outside, storage))), assumed


def inference_profile(
    job: InferenceWish, grid: Grid, rows: Sequence[LedgerRow], machines: Machines, memory: Memory
) -> tuple[Profile, tuple[str, ...]]:
    """The profile of an inference service over one decode round, and what was assumed for its times."""
    outside = [row for row in rows if leaves_scale_up(row, grid, machines.scale_up_domain)]
    held = {term.name: term.size_bytes for term in memory.terms}
    read_s = (held["weights"] + held["KV cache"]) / machines.memory_bytes_per_s
    rounds = [row for row in outside if row.per == "token"]
    busy_s = sum(row.bytes_per_gpu for row in rounds) / machines.nic_bytes_per_s
    period_s = read_s + busy_s
    profile = _profile(job.name, "inference", job.jitter_tolerance, outside, period_s, busy_s)
    assumed = (f"{job.name}: a decode round lasts as long as reading weights and KV cache once",)
    return replace(profile, rows=tuple(_inference_features(rows, outside))), assumed


def _profile(
    job: str, kind: str, tolerance: Jitter | None, outside: Sequence[LedgerRow], period_s: float, busy_s: float
) -> Profile:
    total = sum(row.bytes_per_gpu for row in outside)
    main = max(outside, key=lambda row: row.bytes_per_gpu, default=None)
    duty = min(1.0, busy_s / period_s) if busy_s else None
    return Profile(
        job=job,
        main_pattern=f"{main.traffic} ({main.collective})"
        if main
        else "none: all of it stays inside the scale-up domain",
        main_share_ratio=main.bytes_per_gpu / total if main else 0.0,
        period_s=period_s,
        duty_ratio=duty,
        peak_to_average_ratio=1 / duty if duty else None,
        fan_in=max(
            (row.group_size - 1 for row in outside if row.collective == "all_to_all"), default=1 if outside else 0
        ),
        jitter_tolerance=tolerance or TOLERANCE[kind],
    )


def _training_features(
    profile: Profile, outside: Sequence[LedgerRow], storage: Iterable[LedgerRow]
) -> Iterable[ProfileRow]:
    main = max(outside, key=lambda row: row.bytes_per_gpu, default=None)
    if main:
        args = {"traffic": main.traffic, "bytes_text": format_size(main.bytes_per_gpu), "group_size": main.group_size}
        yield feature_row("elephants", args)
        yield feature_row("bursts", {"peak_text": f"{profile.peak_to_average_ratio:.1f}"})
        largest = max(row.group_size for row in outside)
        yield feature_row("lockstep", {"group_size": largest, "tolerance": profile.jitter_tolerance})
    yield from _incast(outside)
    for row in storage:
        yield feature_row(
            "storage_writes", {"bytes_text": format_size(row.bytes_per_gpu), "group_size": row.group_size}
        )


def _inference_features(rounds: Sequence[LedgerRow], outside: Sequence[LedgerRow]) -> Iterable[ProfileRow]:
    small = [row for row in rounds if row.message_bytes < SMALL_MESSAGE_BYTES]
    if small:
        main = max(small, key=lambda row: row.messages)
        yield feature_row("small_messages", {"messages": main.messages, "bytes_text": format_size(main.message_bytes)})
    yield from _incast(outside)
    for row in outside:
        if row.traffic == "kv_transfer":
            yield feature_row("kv_transfer", {"bytes_text": format_size(row.bytes_per_gpu)})


def _incast(outside: Iterable[LedgerRow]) -> Iterable[ProfileRow]:
    fans = [row for row in outside if row.collective == "all_to_all"]
    if fans:
        main = max(fans, key=lambda row: (row.group_size, row.bytes_per_gpu))
        yield feature_row("incast", {"fan_in": main.group_size - 1, "bytes_text": format_size(main.message_bytes)})


def with_neighbours(jobs: Sequence[JobLedger]) -> tuple[JobLedger, ...]:
    """The same jobs; where training and inference share the cluster, each profile gains the row about mixing them."""
    names = {kind: ", ".join(job.name for job in jobs if job.kind == kind) for kind in ("training", "inference")}
    if not all(names.values()):
        return tuple(jobs)
    row = feature_row("mixed", names)
    return tuple(replace(job, profile=replace(job.profile, rows=(*job.profile.rows, row))) for job in jobs)
