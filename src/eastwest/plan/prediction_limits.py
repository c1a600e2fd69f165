"""What a prediction rests on and where it does not hold, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from eastwest.fabric.bottleneck import Bottleneck
from eastwest.fabric.tables import Fabric
from eastwest.finding import Finding
from eastwest.plan.network_factors import nic_bps
from eastwest.plan.training_model import TrainingModel
from eastwest.simulate.analytic.assumptions import assume
from eastwest.simulate.analytic.programs import program_of
from eastwest.spec import catalogue
from eastwest.spec.resolve import ServerFacts
from eastwest.spec.site import Site
from eastwest.units import format_rate, format_time
from eastwest.workload.ledger import JobLedger

IDEAL = "ideal ECMP, no loss, no pauses, no other job on the network"
PREFIX = "assumed: "


def assumed_of_training(model: TrainingModel) -> tuple[str, ...]:
    """What the step model chose where the site file says nothing; nothing of computation that was measured."""
    texts = [text.removeprefix(PREFIX) for text in assume(model.run).texts]
    if model.measured_s:
        texts = [text for text in texts if " communication " in text]
    return (*_without_profile(model.job), *texts, *_slot(model.server), IDEAL)


def assumed_of_serving(job: JobLedger, server: ServerFacts) -> tuple[str, ...]:
    """What the prediction of a service assumes."""
    own = "attention kernels as in training, one decode round in flight, experts evenly loaded, weights read whole"
    return (*_without_profile(job), own, *_slot(server), IDEAL)


def _without_profile(job: JobLedger) -> tuple[str, ...]:
    """The account's assumptions but those of its own rough times, which the prediction replaces."""
    return tuple(text for text in job.assumed if "% of peak" not in text and "a decode round lasts" not in text)


def _slot(server: ServerFacts) -> tuple[str, ...]:
    carried = nic_bps(server)
    if carried >= server.nic_rate_bps:
        return ()
    return (f"each NIC carries {format_rate(carried)} of {format_rate(server.nic_rate_bps)}: its slot is slower",)


def invalid_of_network(
    site: Site, fabric: Fabric, job: JobLedger, found: Mapping[str, Bottleneck]
) -> Iterator[Finding]:
    """Where the analytic network does not hold."""
    if site.transport == "tcp":
        yield _limit("EW-PRD-060", job.name)
    if any(box.rate_limit_bps for link in fabric.room_links for box in link.boxes):
        yield _limit("EW-PRD-061", job.name)
    broken = sorted({finding.code for finding in fabric.findings if finding.severity == "error"})
    if broken:
        yield _limit("EW-PRD-062", job.name, codes=", ".join(broken))
    exchanges = [row for row in job.rows if row.collective == "all_to_all" and row.traffic in found]
    if any(found[row.traffic].link for row in exchanges):
        fan_in = max(row.group_size for row in exchanges) - 1
        yield _limit("EW-PRD-063", job.name, fan_in=fan_in)
    if len({(wish.model, wish.gpu) for wish in site.servers}) > 1:
        yield _limit("EW-PRD-064", job.name)


def _limit(code: str, job: str, **args: object) -> Finding:
    """One sentence on where a prediction does not hold."""
    return Finding(code, "info", job, args=args)


def _without_datatype(model: TrainingModel) -> Iterator[Finding]:
    """A datatype that the GPU's data sheet does not have: the rate of the next wider one stands in."""
    wanted, sheet = str(model.job.facts["precision"]), catalogue.get("gpu", model.run.gpu).peak_flops
    if wanted not in sheet:
        yield _limit("EW-PRD-066", model.job.name, gpu=model.run.gpu, precision=wanted)


def invalid_of_training(model: TrainingModel, mfu_ratio: float, step_s: float) -> Iterator[Finding]:
    """Where the step model does not hold for this job."""
    if mfu_ratio > 1:
        yield _limit("EW-PRD-065", model.job.name, time=format_time(step_s))
    if model.measured_s:
        return
    yield from model.reasons
    run = model.run
    yield from _without_datatype(model)
    name, _ = program_of(run.framework, "hopper")
    if not name or not run.release:
        yield _limit("EW-PRD-068" if name else "EW-PRD-067", model.job.name)


def invalid_of_serving(job: JobLedger) -> Finding:
    """No published serving run was judged."""
    return _limit("EW-PRD-071", job.name)
