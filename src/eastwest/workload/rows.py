"""One ledger row from one repeated collective: bytes, messages and sizes by the algorithm's closed form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from eastwest.workload.collectives import algorithm_of
from eastwest.workload.ledger import Collective, LedgerRow, Per

NARAYANAN = "Narayanan et al. 2021, section 3.2"
KORTHIKANTI = "Korthikanti et al. 2022, section 4"
ZERO = "Rajbhandari et al. 2020 (ZeRO), section 7"
RING_ATTENTION = "Liu et al. 2023 (Ring Attention), section 3"
GSHARD = "Lepikhin et al. 2020 (GShard), section 2"
DEEPSEEK = "DeepSeek-V3 technical report 2024, section 2.1.2"
MEGATRON_INFERENCE = "forward part of Narayanan et al. 2021, section 3.2"


FORWARD_SHARE, BACKWARD_SHARE = 1 / 3, 2 / 3  # of a step's computation: backward has two GEMMs for each forward GEMM


class Hiding(NamedTuple):
    """What computation hides an operation: its name, the share of the operation that can hide at most, and the share of
    the step's computation that it can hide behind.
    """

    behind: str
    overlap_ratio: float
    window_ratio: float


EXPOSED = Hiding("", 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Operation:
    """One collective of `size_bytes` (nccl-tests' S) on every group of `dimension`, repeated `times` in one `per`."""

    traffic: str
    dimension: str
    group_size: int
    collective: Collective
    size_bytes: float
    times: float
    per: Per
    formula: str
    inputs: Mapping[str, Any] = field(default_factory=dict)
    source: str = "derived"
    hiding: Hiding = EXPOSED


def row_of(job: str, operation: Operation) -> LedgerRow:
    """The ledger row of one repeated collective; bytes are what one GPU (the busiest one) sends in one `per`."""
    algorithm = algorithm_of(operation.collective)
    n = operation.group_size
    sent = algorithm.sent_bytes(n, round(operation.size_bytes * operation.times))
    messages = round(algorithm.n_messages(n) * operation.times)
    return LedgerRow(
        job=job,
        traffic=operation.traffic,
        dimension=operation.dimension,
        group=f"{operation.dimension}{n}",
        group_size=n,
        collective=operation.collective,
        bytes_per_gpu=sent,
        messages=messages,
        message_bytes=round(sent / messages) if messages else 0,
        per=operation.per,
        overlaps=operation.hiding.behind,
        overlap_ratio=operation.hiding.overlap_ratio,
        window_ratio=operation.hiding.window_ratio,
        formula=operation.formula,
        inputs=dict(operation.inputs),
        source=operation.source,
    )
