"""One inference service on a fabric: time to the first token, time of a decode round, what it can answer.

Prefill is the forward pass of the step model over one prompt, all stages after each other. A decode round reads weights
and KV cache once, or computes, whichever is longer. Both wait for their rounds of communication in full, each at the
time of one NCCL collective of that size: small ones cost latency, not bandwidth. Not in it: queues of requests, mixed
prefill and decode in one round, speculative decoding, prefix caches. No published serving run was judged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from eastwest.fabric.bottleneck import Bottleneck
from eastwest.plan.network_factors import nic_bps, repeats_of, times_on
from eastwest.plan.prediction import RowTime
from eastwest.plan.run_of_job import PLAIN, rates_beside
from eastwest.simulate.analytic.assumptions import ARCHITECTURES
from eastwest.simulate.analytic.collective_constants import Constants
from eastwest.simulate.analytic.collective_constants import shipped_constants as shipped_collectives
from eastwest.simulate.analytic.collective_run import CollectiveRun
from eastwest.simulate.analytic.collective_time import time_of
from eastwest.simulate.analytic.compute import attention, elementwise, experts, feed_forward, projections, routing
from eastwest.simulate.analytic.step_constants import StepConstants, see
from eastwest.simulate.analytic.step_constants_file import shipped_constants
from eastwest.simulate.analytic.step_table import Table, pack
from eastwest.simulate.analytic.training_run import PRECISIONS, TrainingRun
from eastwest.spec.resolve import ServerFacts
from eastwest.spec.site import Site
from eastwest.units import BITS_PER_BYTE
from eastwest.workload.inference import kv_copies
from eastwest.workload.ledger import JobLedger, LedgerRow

REDUCING_SWITCHES = ("hopper", "blackwell")  # architectures whose scale-up switches reduce (NVLink SHARP)
LEAST_BYTES = 1.0  # a collective of nothing: its latency
UNVALIDATED_LOG = 0.3  # half width (log) of the interval: nothing measured behind it
Phase = str  # "request" (prefill) or "token" (one decode round)


@dataclass(frozen=True, slots=True)
class Serving:
    """Seconds of a prompt and of a decode round: computation, and every row of traffic."""

    prefill_s: float
    decode_s: float
    rows: tuple[tuple[LedgerRow, RowTime], ...]

    def exposed_s(self, per: Phase) -> float:
        """Seconds of communication that show, of a request or of a round."""
        return sum(time.exposed_s for row, time in self.rows if row.per == per)

    @property
    def first_token_s(self) -> float:
        """Seconds from a prompt to its first token, the hand-over of the KV cache included."""
        return self.prefill_s + self.exposed_s("request")

    @property
    def token_s(self) -> float:
        """Seconds of a decode round: one token of every sequence of the batch."""
        return self.decode_s + self.exposed_s("token")


@dataclass(frozen=True, eq=False)
class ServingModel:
    """A service, the record of the step table that holds its machine, and its communication."""

    job: JobLedger
    server: ServerFacts
    table: Table
    transport: str
    constants: StepConstants
    collectives: Constants

    def serve(self, found: Mapping[str, Bottleneck]) -> Serving:
        """The service where these are the bottlenecks of its rows."""
        computed = {"request": self.prefill_s, "token": self.decode_s}
        rows = []
        for row in self.job.rows:
            if row.per in computed and row.traffic in found:
                time_s = self._row_s(row, found[row.traffic])
                shown_s = max(time_s * (1 - row.overlap_ratio), time_s - computed[row.per] * row.window_ratio)
                rows.append((row, RowTime(row.traffic, time_s, shown_s, found[row.traffic].link or "scale_up")))
        return Serving(self.prefill_s, self.decode_s, tuple(rows))

    @cached_property
    def prefill_s(self) -> float:
        """Seconds of computation of one prompt."""
        table, seen = self.table, see(self.table, self.constants)
        shared = projections(table, seen).forward + attention(table, seen).forward
        dense = shared + feed_forward(table, seen).forward + elementwise(table, seen, False).forward
        moe = table["moe_layers"]
        seconds = dense * (table["layers"] - moe)
        if (moe > 0).any():
            sparse = shared + experts(table, seen).forward + routing(table, seen).forward
            seconds = seconds + moe * (sparse + elementwise(table, seen, True).forward)
        return float(seconds[0])

    @cached_property
    def decode_s(self) -> float:
        """Seconds of computation of one decode round, all stages after each other."""
        facts, grid, seen = self.job.facts, self.job.grid, see(self.table, self.constants)
        batch, context = float(facts["tokens_per_round"]), float(facts["prompt"]) + float(facts["output"]) / 2
        copies = kv_copies(self.job.model, grid.tp) if self.job.model else 1
        cache = batch * context * float(facts["kv_bytes_per_token"]) * copies / (grid.tp * grid.pp)
        read_s = (float(facts["weight_bytes_per_gpu"]) + cache) / float(seen.memory_rate[0])
        return max(read_s, self.job.flops_per_gpu / float(seen.layer_flops[0])) * grid.pp

    def _row_s(self, row: LedgerRow, found: Bottleneck) -> float:
        """Seconds of one row: latency of its collectives, and their bytes at the rate that this network leaves."""
        empty_s, full_s = self._collective(row, found)
        slot_ratio = self.server.nic_rate_bps / nic_bps(self.server)
        ideal_s = found.nics_s * slot_ratio
        factor = max(1.0, (times_on(found, slot_ratio) - found.wait_s) / ideal_s) if ideal_s else 1.0
        return repeats_of(row) * (empty_s + (full_s - empty_s) * factor) + found.wait_s

    def latency_s(self, row: LedgerRow, found: Bottleneck) -> float:
        """Seconds of one row that no bandwidth shortens."""
        return repeats_of(row) * self._collective(row, found)[0] + found.wait_s

    def _collective(self, row: LedgerRow, found: Bottleneck) -> tuple[float, float]:
        """Seconds of one empty and of one whole collective of a row, alone on an ideal network."""
        key = (row.traffic, found.scale_up_bytes > 0, found.nics_s > 0)
        if key not in self._known:
            size = size_of(row)
            times = time_of(self._run(row, found), [LEAST_BYTES, max(size, LEAST_BYTES)], self.collectives).time_s
            self._known[key] = float(times[0]), float(times[1])
        return self._known[key]

    @cached_property
    def _known(self) -> dict[tuple[str, bool, bool], tuple[float, float]]:
        return {}

    def _run(self, row: LedgerRow, found: Bottleneck) -> CollectiveRun:
        n = row.group_size
        inside = (
            n if not found.nics_s else max(1, round(1 + (n - 1) * found.scale_up_bytes / max(row.bytes_per_gpu, 1)))
        )
        if found.nics_s and row.collective in ("all_reduce", "all_gather", "reduce_scatter"):
            inside = max(1, min(n, self.server.scale_up_domain))
        domains = 1 if not found.nics_s else max(2, math.ceil(n / inside))
        architecture = ARCHITECTURES[int(self.table["architecture"][0])]
        reduces = architecture in REDUCING_SWITCHES and self.server.scale_up_domain > 2
        nics = max(1, round(n / domains * self.server.nics / self.server.gpus))
        return CollectiveRun(
            collective=row.collective,
            ranks=n,
            domains=domains,
            scale_up_bytes_per_s=float(self.table["scale_up_rate"][0]),
            generation=architecture,
            nics=nics,
            nic_bytes_per_s=float(self.table["nic_rate"][0]) * n / domains / nics,
            transport=self.transport,
            nvls=reduces and row.collective == "all_reduce",
        )

    def requests_per_s(self, serving: Serving) -> float:
        """Requests that the service can answer in a second: the slower of prefill and decode where replicas are split,
        else both after each other.
        """
        facts = self.job.facts
        batch, output = float(facts["tokens_per_round"]), float(facts["output"])
        decode_s = serving.token_s * output / batch
        split = int(facts["prefill_replicas"])
        if not split:
            return float(facts["replicas"]) / (serving.first_token_s + decode_s)
        return min(split / serving.first_token_s, float(facts["decode_replicas"]) / decode_s)

    def with_table(self, table: Table) -> ServingModel:
        """The same service on another machine."""
        return replace(self, table=table)


def size_of(row: LedgerRow) -> float:
    """Bytes of one collective of a row as nccl-tests counts them."""
    sent, n = row.bytes_per_gpu / max(repeats_of(row), 1), row.group_size
    if row.collective == "all_reduce":
        return sent * n / (2 * (n - 1))
    return sent * n / (n - 1) if row.collective in ("all_gather", "reduce_scatter", "all_to_all") else sent


def serving_model(
    site: Site,
    server: ServerFacts,
    job: JobLedger,
    constants: StepConstants | None = None,
    collectives: Constants | None = None,
) -> ServingModel:
    """The model of one inference service of a site. Raises ValueError for a job without a model."""
    if job.model is None:
        raise ValueError(f"{job.name}: no model")
    facts, grid, gpu = job.facts, job.grid, str(job.facts["gpu"])
    precision = str(facts["precision"])
    known = precision in PRECISIONS
    run = TrainingRun(
        id=job.name,
        source="site file",
        model=job.model,
        gpu=gpu,
        gpus=grid.tp * grid.pp * grid.ep,
        precision=precision if known else PLAIN,
        rates=None if known else rates_beside(gpu, precision),
        sequence=int(facts["prompt"]),
        global_batch=grid.ep,
        micro_batch=1,
        tp=grid.tp,
        pp=grid.pp,
        ep=grid.ep,
        virtual_stages=1,
        recompute="none",
        flash_attention=True,
        sequence_parallel=False,
        gpus_per_node=server.gpus,
        scale_up_domain=server.scale_up_domain,
        nic_bytes_per_s=nic_bps(server) * server.nics / server.gpus / BITS_PER_BYTE or None,
        network=site.transport,
    )
    table = pack([run])
    if np.any(table["nic_rate"] <= 0):
        raise ValueError(f"{job.name}: no NICs")
    known_s, known_c = constants or shipped_constants(), collectives or shipped_collectives()
    return ServingModel(job, server, table, site.transport, known_s, known_c)
