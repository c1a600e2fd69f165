"""The first prediction: step time, exposed communication and MFU of a job, right in its arithmetic, with its assumptions listed.

compute = FLOPs / (peak x assumed GEMM efficiency), bubble = compute x (pp - 1) / (v m), each traffic class costs the time of its most loaded
link (equal ECMP split) plus a latency per message; what can hide behind computation is hidden, the rest is exposed. It stops being true
under incast, collisions of ECMP flows, loss and pauses: there it is a floor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eastwest.fabric.placement import Placement
from eastwest.fabric.tables import Fabric
from eastwest.spec import catalogue
from eastwest.spec.resolve import ServerFacts
from eastwest.spec.site import Site
from eastwest.units import BITS_PER_BYTE
from eastwest.workload.ledger import JobLedger, LedgerRow

GEMM_EFFICIENCY = 0.55  # share of dense peak that training kernels reach together; A100 and H100 runs of Megatron-LM lie at 0.5-0.6
NETWORK_EFFICIENCY = 0.92  # busbw of large NCCL rings over NIC line rate; published four-node and larger runs lie at 0.90-0.96
SCALE_UP_EFFICIENCY = 0.80  # ring busbw inside one 8-GPU server over one-way link rate: 367 of 450 GB/s on H200
HBM_EFFICIENCY = 0.80  # share of memory bandwidth that decode kernels stream at
SCALE_UP_LATENCY_S = 3.4e-6  # NCCL tuning table, ring, Simple protocol, NVLink, per step
NETWORK_LATENCY_S = 14e-6  # NCCL tuning table, ring, Simple protocol, network, per step
BACKWARD_SHARE = 2 / 3  # backward computes two GEMMs for each forward GEMM
NETWORK_TIERS = ("leaf", "spine", "core", "room")


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
