"""What a prediction rests on and where it does not hold, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from eastwest.fabric.bottleneck import Bottleneck
from eastwest.fabric.tables import Fabric
from eastwest.plan.network_factors import nic_bps
from eastwest.plan.training_model import TrainingModel
from eastwest.simulate.analytic.assumptions import assume
from eastwest.simulate.analytic.programs import program_of
from eastwest.spec.resolve import ServerFacts
from eastwest.spec.site import Site
from eastwest.units import format_rate, format_time
from eastwest.workload.ledger import JobLedger

IDEAL = "ideal ECMP, no loss, no pauses, no other job on the network"
RELEASES = "identical layouts differ between releases by up to 10 % (dense) and 77 % (experts)"
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


def invalid_of_network(site: Site, fabric: Fabric, job: JobLedger, found: Mapping[str, Bottleneck]) -> Iterator[str]:
    """Where the analytic network does not hold."""
    if site.transport == "tcp":
        yield "TCP: loss, slow start and retransmission time-outs are not in it; the times are a floor"
    if any(box.rate_limit_bps for link in fabric.room_links for box in link.boxes):
        yield "a rate-limited box drops or delays bursts; only its average rate is in it"
    broken = sorted({finding.code for finding in fabric.findings if finding.severity == "error"})
    if broken:
        codes = ", ".join(broken)
        yield f"the fabric cannot be built as described ({codes}): missing links cost no time here"
    exchanges = [row for row in job.rows if row.collective == "all_to_all" and row.traffic in found]
    if any(found[row.traffic].link for row in exchanges):
        fan_in = max(row.group_size for row in exchanges) - 1
        yield f"incast: up to {fan_in} senders meet at one port in an all-to-all; queues and pauses are not in it"
    if len({(wish.model, wish.gpu) for wish in site.servers}) > 1:
        yield "mixed servers: all are taken to be like the first group, with the weakest GPU of the job"


def invalid_of_training(model: TrainingModel, mfu_ratio: float, step_s: float) -> Iterator[str]:
    """Where the step model does not hold for this job."""
    if mfu_ratio > 1:
        yield f"a step of {format_time(step_s)} is faster than the GPUs' peak allows: check compute"
    if model.measured_s:
        return
    yield from model.reasons
    run = model.run
    name, _ = program_of(run.framework, "hopper")
    if not name or not run.release:
        what = "framework and release are" if not name else "the release is"
        yield f"recipe unknown: {what} not given; {RELEASES}"
