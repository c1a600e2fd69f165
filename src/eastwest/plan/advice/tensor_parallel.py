"""What tensor parallelism costs where it leaves the scale-up domain."""

from __future__ import annotations

from eastwest.decision import Alternative, Decision
from eastwest.plan.advice.case import Advice, Case
from eastwest.plan.predict import RowTime
from eastwest.simulate.analytic.step_constants_file import shipped_constants
from eastwest.spec import catalogue
from eastwest.units import format_time
from eastwest.workload.ledger import JobLedger, LedgerRow

INSIDE = ("local", "scale_up", "storage")
SOURCE = "seed text 001, section 2.2: tensor parallel inside one machine, at most one rack"


def advise(case: Case) -> Advice:
    """Seconds of tensor parallel over the network against the same bytes inside the domain; the finding is
    EW-FAB-013.
    """
    placed = {(row.job, row.traffic): row.tier for row in case.placement.rows}
    found = []
    for job, prediction in zip(case.ledger.jobs, case.predictions, strict=True):
        times = {row.traffic: row for row in prediction.rows}
        outside = [
            (row, times[row.traffic])
            for row in job.rows
            if row.dimension == "tp" and row.traffic in times and placed[job.name, row.traffic] not in INSIDE
        ]
        if outside:
            found.append(_price(case, job, outside))
    return Advice(tuple(found))


def _price(case: Case, job: JobLedger, rows: list[tuple[LedgerRow, RowTime]]) -> Decision:
    gpu = catalogue.get("gpu", case.server.gpu)
    reached = (case.own.step or shipped_constants()).value(f"scale_up.{gpu.architecture}")
    inside_bytes_per_s = (gpu.scale_up_bytes_per_s or 0.0) * reached
    size = sum(row.bytes_per_gpu for row, _ in rows)
    network_s = sum(time.time_s for _, time in rows)
    inside_s = size / inside_bytes_per_s if inside_bytes_per_s else None
    inside = f", inside the scale-up domain {format_time(inside_s)}" if inside_s is not None else ""
    return Decision(
        f"tensor_parallel.{job.name}.on_network",
        network_s,
        "s",
        f"TP {job.grid.tp} crosses servers: {format_time(network_s)} a {rows[0][0].per} over the network{inside}",
        "sum of the times of TP rows; inside = bytes_per_gpu / (scale-up rate x fitted share)",
        {"bytes_per_gpu": size, "tp": job.grid.tp, "domain": case.fabric.scale_up_domain, "inside_s": inside_s},
        SOURCE,
        (Alternative(f"tp <= {case.fabric.scale_up_domain}", "keeps the exchange of every layer off the network"),),
    )
