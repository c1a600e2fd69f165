"""Prediction of a job on a fabric: seconds of a step or a token, their interval, what moves them most, their limits.

Training: the step model on data sheets and fitted constants, its communication stretched by what the fabric's most
loaded links, slots, distance and faults leave (training_model). Inference: prefill and decode rounds that pay every
collective in full (serving_model). It stops being true under incast, collisions of ECMP flows, loss and pauses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from eastwest.fabric.bottleneck import Bottleneck
from eastwest.fabric.placement import Placement
from eastwest.fabric.tables import Fabric
from eastwest.plan.network_factors import bottlenecks, factors_of
from eastwest.plan.own_constants.file import AS_SHIPPED, OwnConstants
from eastwest.plan.prediction import Interval, Prediction, RowTime
from eastwest.plan.prediction_limits import (
    assumed_of_serving,
    assumed_of_training,
    invalid_of_network,
    invalid_of_serving,
    invalid_of_training,
)
from eastwest.plan.sensitivities import serving_sensitivities, training_sensitivities
from eastwest.plan.serving_model import UNVALIDATED_LOG, ServingModel, serving_model
from eastwest.plan.slicing import curves
from eastwest.plan.training_model import Step, TrainingModel, training_model
from eastwest.spec.resolve import ServerFacts
from eastwest.spec.site import Site
from eastwest.workload.ledger import JobLedger

__all__ = ["JobModel", "Prediction", "RowTime", "bottlenecks", "duration_s", "model_of", "predict"]


@dataclass(frozen=True, eq=False)
class JobModel:
    """One job of a site, ready to be timed on any state of its network; `found` are its bottlenecks as built."""

    site: Site
    server: ServerFacts
    fabric: Fabric
    job: JobLedger
    found: Mapping[str, Bottleneck]
    part: TrainingModel | ServingModel
    own: OwnConstants = AS_SHIPPED


def model_of(
    site: Site,
    server: ServerFacts,
    fabric: Fabric,
    placement: Placement,
    job: JobLedger,
    own: OwnConstants | None = None,
) -> JobModel:
    """The model of one job where it is placed; `own` constants replace those of the package."""
    found, own = bottlenecks(fabric, placement, job), own or AS_SHIPPED
    if job.kind == "training":
        return JobModel(site, server, fabric, job, found, training_model(site, server, job, found, own.step), own)
    serving = serving_model(site, server, job, own.step, own.collectives)
    return JobModel(site, server, fabric, job, found, serving, own)


def predict(
    site: Site,
    server: ServerFacts,
    fabric: Fabric,
    placement: Placement,
    job: JobLedger,
    own: OwnConstants | None = None,
) -> Prediction:
    """The prediction of one job, alone on the network. Values that do not apply to its kind are None."""
    return predicted(model_of(site, server, fabric, placement, job, own))


def duration_s(model: JobModel, found: Mapping[str, Bottleneck]) -> float:
    """Seconds of a training step, or of a token of inference, where these are the bottlenecks: after a fault, say."""
    if isinstance(model.part, TrainingModel):
        return model.part.step(found).step_s
    return model.part.serve(found).token_s


def predicted(model: JobModel) -> Prediction:
    """The prediction of a job as placed."""
    if isinstance(model.part, TrainingModel):
        return _training(model, model.part)
    return _serving(model, model.part)


def _training(model: JobModel, part: TrainingModel) -> Prediction:
    job, found = model.job, model.found
    step = part.step(found)
    half_widths_s = part.half_widths_s(factors_of(job, found, part.server), step)
    peak, facts = float(job.facts["peak_flops"]), job.facts
    mfu = job.flops_per_gpu / (step.step_s * peak)
    tokens = float(facts["tokens_per_step"]) / job.gpus
    return Prediction(
        job=job.name,
        step_time_s=step.step_s,
        compute_s=step.compute_s,
        bubble_s=step.bubble_s,
        exposed_communication_s=step.exposed_s,
        mfu_ratio=mfu,
        hfu_ratio=float(facts["hardware_flops_per_gpu"]) / (step.step_s * peak),
        tokens_per_s_per_gpu=tokens / step.step_s,
        time_to_first_token_s=None,
        time_per_token_s=None,
        rows=part.rows(found, step),
        assumed=(*model.own.words, *assumed_of_training(part)),
        invalid=(
            *invalid_of_network(model.site, model.fabric, job, found),
            *invalid_of_training(part, mfu, step.step_s),
        ),
        terms_s=step.terms_s,
        interval=_intervals(part, step, half_widths_s, job.flops_per_gpu / peak, tokens),
        sensitivities=training_sensitivities(part, found, step, half_widths_s),
        slicing=curves(model.site, part, found, step),
    )


def _intervals(
    part: TrainingModel, step: Step, half_widths_s: Mapping[str, float], flops_s: float, tokens: float
) -> dict[str, Interval]:
    """Intervals by key: the step's, what follows from it, and what shows of communication."""
    half_s = math.hypot(*half_widths_s.values())
    whole = part.interval(step, half_s)
    shown = Interval(max(step.exposed_s - half_s, 0.0), step.exposed_s + half_s)
    return {
        "step_time_s": whole,
        "exposed_communication_s": shown,
        "mfu_ratio": Interval(flops_s / whole.high, flops_s / whole.low),
        "tokens_per_s_per_gpu": Interval(tokens / whole.high, tokens / whole.low),
    }


def _serving(model: JobModel, part: ServingModel) -> Prediction:
    job, facts = model.job, model.job.facts
    serving = part.serve(model.found)
    first_s, token_s = serving.first_token_s, serving.token_s
    replicas = float(facts["decode_replicas"])
    tokens = replicas * float(facts["tokens_per_round"]) / job.gpus  # of all GPUs, those that prefill too
    low, high = math.exp(-UNVALIDATED_LOG), math.exp(UNVALIDATED_LOG)
    return Prediction(
        job=job.name,
        step_time_s=None,
        compute_s=serving.decode_s,
        bubble_s=None,
        exposed_communication_s=serving.exposed_s("token"),
        mfu_ratio=None,
        tokens_per_s_per_gpu=tokens / token_s,
        time_to_first_token_s=first_s,
        time_per_token_s=token_s,
        rows=tuple(time for _, time in serving.rows),
        assumed=(*model.own.words, *assumed_of_serving(job, model.server)),
        invalid=(*invalid_of_network(model.site, model.fabric, job, model.found), invalid_of_serving(job)),
        terms_s={
            "prefill": serving.prefill_s,
            "prefill communication": serving.exposed_s("request"),
            "decode": serving.decode_s,
            "decode communication": serving.exposed_s("token"),
        },
        interval={
            "time_to_first_token_s": Interval(first_s * low, first_s * high),
            "time_per_token_s": Interval(token_s * low, token_s * high),
            "tokens_per_s_per_gpu": Interval(tokens / token_s * low, tokens / token_s * high),
        },
        sensitivities=serving_sensitivities(part, model.found, serving),
        requests_per_s=part.requests_per_s(serving),
    )
