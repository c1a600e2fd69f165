"""The first prediction: step time, exposed communication and MFU of a job, right in its arithmetic, with its
assumptions listed.

compute = FLOPs / (peak x assumed GEMM efficiency), bubble = compute x (pp - 1) / (v m), each traffic class costs the
time of its most loaded link (equal ECMP split) plus a latency per message; what can hide behind computation is hidden,
the rest is exposed. It stops being true under incast, collisions of ECMP flows, loss and pauses: there it is a floor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eastwest.fabric.bottleneck import Bottleneck, bottleneck
from eastwest.fabric.placement import Placement
from eastwest.fabric.slots import nic_slot_payload_bps
from eastwest.fabric.tables import Fabric
from eastwest.spec import catalogue
from eastwest.spec.resolve import ServerFacts
from eastwest.spec.site import Site
from eastwest.units import BITS_PER_BYTE, KIBI, US_PER_S, format_time
from eastwest.workload.ledger import JobLedger, LedgerRow
from eastwest.workload.profile import ASSUMED_COMPUTE_RATIO

NETWORK_EFFICIENCY = 0.92  # busbw of large NCCL rings over NIC line rate; published runs of four nodes up: 0.90-0.96
SCALE_UP_EFFICIENCY = 0.80  # ring busbw inside one 8-GPU server over one-way link rate: 367 of 450 GB/s on H200
HBM_EFFICIENCY = 0.80  # share of memory bandwidth that decode kernels stream at
# NCCL's tuning table, ring, per step: Simple protocol for large messages, LL for small ones.
SCALE_UP_LATENCY_S, SCALE_UP_LL_LATENCY_S = 3.4e-6, 0.6e-6
NETWORK_LATENCY_S, NETWORK_LL_LATENCY_S = 14e-6, 2.7e-6
LL_MESSAGE_BYTES = 32 * KIBI  # below it LL's halved bandwidth costs less than Simple's fences


@dataclass(frozen=True, slots=True)
class RowTime:
    """Time of one traffic class in one `per`, and how much of it computation cannot hide."""

    traffic: str
    time_s: float
    exposed_s: float
    bottleneck: str


@dataclass(frozen=True, slots=True)
class Prediction:
    """What one job does in one step (training) or one token (inference); values that do not apply are None."""

    job: str
    step_time_s: float | None
    compute_s: float | None
    bubble_s: float | None
    exposed_communication_s: float | None
    mfu_ratio: float | None
    tokens_per_s_per_gpu: float | None
    time_to_first_token_s: float | None
    time_per_token_s: float | None
    rows: tuple[RowTime, ...]
    assumed: tuple[str, ...]
    invalid: tuple[str, ...]

    @property
    def communication_share_ratio(self) -> float | None:
        """Exposed communication over step time."""
        if not self.step_time_s or self.exposed_communication_s is None:
            return None
        return self.exposed_communication_s / self.step_time_s

    def as_json(self) -> dict[str, Any]:
        """The prediction in the shape of the command line's contract."""
        return {
            "step_time_s": self.step_time_s,
            "compute_s": self.compute_s,
            "bubble_s": self.bubble_s,
            "exposed_communication_s": self.exposed_communication_s,
            "communication_share_ratio": self.communication_share_ratio,
            "mfu_ratio": self.mfu_ratio,
            "tokens_per_s_per_gpu": self.tokens_per_s_per_gpu,
            "time_to_first_token_s": self.time_to_first_token_s,
            "time_per_token_s": self.time_per_token_s,
            "exposed_by_traffic_s": {row.traffic: row.exposed_s for row in self.rows},
            "time_by_traffic_s": {row.traffic: row.time_s for row in self.rows},
            "assumed": list(self.assumed),
            "invalid": list(self.invalid),
        }


@dataclass(frozen=True, slots=True)
class _Machine:
    """The rates that bound one GPU: bytes/s inside the scale-up domain, bytes/s of memory, FLOP/s reached."""

    scale_up_bytes_per_s: float
    memory_bytes_per_s: float
    flops_per_s: float
    peak_flops: float


def bottlenecks(fabric: Fabric, placement: Placement, job: JobLedger) -> dict[str, Bottleneck]:
    """Traffic class -> what bounds it on this fabric; checkpoints go to the storage system and are left out."""
    gpus = placement.gpus[job.name]
    return {row.traffic: bottleneck(fabric, job.grid, gpus, row) for row in job.rows if row.per != "checkpoint"}


def predict(
    site: Site,
    server: ServerFacts,
    fabric: Fabric,
    placement: Placement,
    job: JobLedger,
    found: Mapping[str, Bottleneck] | None = None,
) -> Prediction:
    """The first prediction of one job, alone on the network. Values that do not apply to its kind are None.

    `found` are the job's `bottlenecks` where they are known already, or those of the fabric after a fault.
    """
    gpu = catalogue.get("gpu", server.gpu)
    peak = float(job.facts["peak_flops"])
    machine = _Machine(
        scale_up_bytes_per_s=(gpu.scale_up_bytes_per_s or server.nic_rate_bps / BITS_PER_BYTE) * SCALE_UP_EFFICIENCY,
        memory_bytes_per_s=gpu.memory_bytes_per_s * HBM_EFFICIENCY,
        flops_per_s=peak * ASSUMED_COMPUTE_RATIO,
        peak_flops=peak,
    )
    assumed = (*job.assumed, *_assumed())
    invalid = _invalid(site, server, fabric)
    bounds = found if found is not None else bottlenecks(fabric, placement, job)
    timed = {row.traffic: _time_of(row, bounds[row.traffic], machine) for row in job.rows if row.traffic in bounds}
    if job.kind == "training":
        return _training(job, machine, timed, assumed, invalid)
    return _inference(job, machine, timed, assumed, invalid)


def _assumed() -> tuple[str, ...]:
    return (
        f"large collectives reach {NETWORK_EFFICIENCY:.0%} of line rate on the network",
        f"large collectives reach {SCALE_UP_EFFICIENCY:.0%} of line rate inside a server",
        f"{NETWORK_LATENCY_S * US_PER_S:g} µs a network message, {SCALE_UP_LATENCY_S * US_PER_S:g} µs in a server; "
        f"{NETWORK_LL_LATENCY_S * US_PER_S:g} and {SCALE_UP_LL_LATENCY_S * US_PER_S:g} µs below 32 KiB",
        "ideal ECMP, no loss, no pauses, no other job on the network",
    )


def _invalid(site: Site, server: ServerFacts, fabric: Fabric) -> tuple[str, ...]:
    """Where the model does not hold for this site."""
    reasons = []
    if site.transport == "tcp":
        reasons.append("TCP: loss, slow start and retransmission time-outs are not in it; the times are a floor")
    if any(box.rate_limit_bps for link in fabric.room_links for box in link.boxes):
        reasons.append("a rate-limited box drops or delays bursts; only its average rate is in it")
    slot_bps = nic_slot_payload_bps(server)
    if slot_bps is not None and slot_bps < server.nic_rate_bps:
        times = server.nic_rate_bps / slot_bps
        reasons.append(
            f"the NIC's slot is slower than its wire: what a NIC sends takes up to {times:.2f} times as long"
        )
    broken = sorted({finding.code for finding in fabric.findings if finding.severity == "error"})
    if broken:
        codes = ", ".join(broken)
        reasons.append(f"the fabric cannot be built as described ({codes}): missing links cost no time here")
    return tuple(reasons)


def _time_of(row: LedgerRow, found: Bottleneck, machine: _Machine) -> tuple[float, str]:
    """Seconds of one row in one `per`, and what bounds it: the most loaded link, or the scale-up domain, plus latency
    per message.
    """
    scale_up_s = found.scale_up_bytes / machine.scale_up_bytes_per_s
    network_s = found.network_s / NETWORK_EFFICIENCY
    latency_s = row_latency_s(row, bool(found.link))
    bound = found.link if network_s >= scale_up_s and found.link else "scale_up"
    return max(network_s, scale_up_s) + latency_s, bound


def row_latency_s(row: LedgerRow, on_network: bool) -> float:
    """Seconds of one row in one `per` that no bandwidth shortens: its messages that follow each other x latency."""
    return _rounds(row) * _latency_s(row, on_network)


def _rounds(row: LedgerRow) -> float:
    """Messages that follow each other; those of one all-to-all leave together."""
    return row.messages / max(1, row.group_size - 1) if row.collective == "all_to_all" else row.messages


def _latency_s(row: LedgerRow, on_network: bool) -> float:
    """Seconds of latency of one message, by what it crosses and by NCCL's protocol for its size."""
    small = row.message_bytes <= LL_MESSAGE_BYTES
    if on_network:
        return NETWORK_LL_LATENCY_S if small else NETWORK_LATENCY_S
    return SCALE_UP_LL_LATENCY_S if small else SCALE_UP_LATENCY_S


def _training(
    job: JobLedger,
    machine: _Machine,
    timed: Mapping[str, tuple[float, str]],
    assumed: tuple[str, ...],
    invalid: tuple[str, ...],
) -> Prediction:
    facts = job.facts
    measured = facts.get("compute_s")
    compute_s = float(measured) if measured else float(facts["hardware_flops_per_gpu"]) / machine.flops_per_s
    bubble_s = compute_s * float(facts["bubble_ratio"])
    rows = tuple(_exposed(row, *timed[row.traffic], compute_s) for row in job.rows if row.traffic in timed)
    exposed_s = sum(row.exposed_s for row in rows)
    step_s = compute_s + bubble_s + exposed_s
    mfu = job.flops_per_gpu / (step_s * machine.peak_flops)
    if mfu > 1:
        invalid = (*invalid, f"a step of {format_time(step_s)} is faster than the GPUs' peak allows: check compute")
    return Prediction(
        job=job.name,
        step_time_s=step_s,
        compute_s=compute_s,
        bubble_s=bubble_s,
        exposed_communication_s=exposed_s,
        mfu_ratio=mfu,
        tokens_per_s_per_gpu=float(facts["tokens_per_step"]) / step_s / job.gpus,
        time_to_first_token_s=None,
        time_per_token_s=None,
        rows=rows,
        assumed=assumed if not measured else tuple(text for text in assumed if "of peak" not in text),
        invalid=invalid,
    )


def _exposed(row: LedgerRow, time_s: float, bound: str, compute_s: float) -> RowTime:
    """What computation cannot hide: what has nothing to hide behind, or is longer than the computation beside it."""
    visible_s = max(time_s * (1 - row.overlap_ratio), time_s - compute_s * row.window_ratio)
    return RowTime(row.traffic, time_s, visible_s, bound)


def _inference(
    job: JobLedger,
    machine: _Machine,
    timed: Mapping[str, tuple[float, str]],
    assumed: tuple[str, ...],
    invalid: tuple[str, ...],
) -> Prediction:
    """Prefill is bound by FLOPs, a decode round by reading weights and KV cache; both pay their rounds in full."""
    facts, stages = job.facts, job.grid.pp
    batch, context = float(facts["tokens_per_round"]), float(facts["prompt"]) + float(facts["output"]) / 2
    cache_bytes = batch * context * float(facts["kv_bytes_per_token"]) / (job.grid.tp * stages)
    read_s = (float(facts["weight_bytes_per_gpu"]) + cache_bytes) / machine.memory_bytes_per_s
    round_s = max(read_s, job.flops_per_gpu / machine.flops_per_s) * stages
    prefill_s = float(facts["prefill_flops_per_gpu"]) * stages / machine.flops_per_s
    computed: dict[str, float] = {"request": prefill_s, "token": round_s}
    served = [row for row in job.rows if row.per in computed]
    rows = tuple(_exposed(row, *timed[row.traffic], computed[row.per]) for row in served)
    exposed = dict.fromkeys(computed, 0.0)
    for row, time in zip(served, rows, strict=True):
        exposed[row.per] += time.exposed_s
    first_s, token_s = prefill_s + exposed["request"], round_s + exposed["token"]
    return Prediction(
        job=job.name,
        step_time_s=None,
        compute_s=round_s,
        bubble_s=None,
        exposed_communication_s=exposed["token"],
        mfu_ratio=None,
        tokens_per_s_per_gpu=batch / token_s / (job.grid.tp * stages),
        time_to_first_token_s=first_s,
        time_per_token_s=token_s,
        rows=rows,
        assumed=(*assumed, f"decode streams memory at {HBM_EFFICIENCY:.0%} of its bandwidth, one round in flight"),
        invalid=invalid,
    )
