"""One training job as the step model sees it on a fabric: `TrainingModel`, the one function behind `plan`, `predict`,
the cost of faults and the advice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from eastwest.fabric.bottleneck import Bottleneck
from eastwest.finding import Finding
from eastwest.plan.network_factors import class_of, factors_of, nic_bps, times_on
from eastwest.plan.prediction import Interval, RowTime
from eastwest.plan.run_of_job import run_of_job, table_of_run, wish_of
from eastwest.plan.step_on_fabric import CLASSES, IDLE_TERMS, TERM_OF, Factors, StepOnFabric
from eastwest.simulate.analytic.assumptions import ARCHITECTURES
from eastwest.simulate.analytic.step_constants import StepConstants
from eastwest.simulate.analytic.step_constants_file import shipped_constants
from eastwest.simulate.analytic.step_explain import EXTRAPOLATED, extrapolations, spread_log
from eastwest.simulate.analytic.step_priors import BY_ARCHITECTURE, SHARED
from eastwest.simulate.analytic.training_run import TrainingRun
from eastwest.spec.jobs import TrainingWish
from eastwest.spec.resolve import ServerFacts
from eastwest.spec.site import Site
from eastwest.workload.ledger import JobLedger

EIGHTY_PERCENT = 1.2816  # standard deviations either side that hold 80 % of a normal distribution
SIGMAS = {prior.name: prior.sigma for prior in (*SHARED, *BY_ARCHITECTURE)}
SHARDED = 3  # ZeRO stage with gathered weights


@dataclass(frozen=True, slots=True)
class Step:
    """Seconds of a step and of its parts, which add up; `shown_s` by class of traffic, `terms_s` by name."""

    step_s: float
    compute_s: float
    bubble_s: float
    shown_s: Mapping[str, float]
    terms_s: Mapping[str, float]

    @property
    def exposed_s(self) -> float:
        """Seconds of communication that computation does not hide."""
        return sum(self.shown_s.values())


@dataclass(frozen=True, eq=False)
class TrainingModel:
    """A job, its run, and its step on any network. `measured_s` is the user's own compute of a step."""

    job: JobLedger
    server: ServerFacts
    run: TrainingRun
    bucket_bytes: float | None
    measured_s: float | None
    bubble_ratio: float
    constants: StepConstants
    ep_inside: float | None = None

    @cached_property
    def on_fabric(self) -> StepOnFabric:
        """The run's step on fabrics."""
        return StepOnFabric(table_of_run(self.run, self.bucket_bytes), self.constants, self.ep_inside)

    def step(self, found: Mapping[str, Bottleneck]) -> Step:
        """The step where these are the bottlenecks of the job's rows."""
        return self.step_at(factors_of(self.job, found, self.server))

    def step_at(self, factors: Factors) -> Step:
        """The step at factors on the network time of each class."""
        return self.steps(self.on_fabric, factors)[0]

    def steps(self, on_fabric: StepOnFabric, factors: Factors) -> list[Step]:
        """The steps of a table of runs; a measured compute replaces all but communication."""
        times = on_fabric.step(factors)
        made = [
            _step({name: float(values[row]) for name, values in times.terms.items()})
            for row in range(len(times.step_s))
        ]
        if not self.measured_s:
            return made
        ratios = self.measured_s / np.array([step.compute_s for step in made])
        gradients = on_fabric.gradients_s(factors["dp"], ratios)
        return [self._with_measured(step, float(own)) for step, own in zip(made, gradients, strict=True)]

    def _with_measured(self, step: Step, gradients_s: float) -> Step:
        """The step with the user's own compute, and gradients that hide beside it."""
        measured_s = self.measured_s or step.compute_s
        shown = {**step.shown_s, "dp": gradients_s}
        bubble_s = measured_s * self.bubble_ratio
        terms = {"measured compute": measured_s, "pipeline bubble": bubble_s}
        terms |= {TERM_OF[name]: seconds for name, seconds in shown.items()}
        return Step(sum(terms.values()), measured_s, bubble_s, shown, {k: v for k, v in terms.items() if v})

    def rows(self, found: Mapping[str, Bottleneck], step: Step) -> tuple[RowTime, ...]:
        """Time and exposed time of every row: those of its class, split by what each row sends."""
        factors = factors_of(self.job, found, self.server)
        alone = {name: float(seconds[0]) for name, seconds in self.on_fabric.alone(factors).items()}
        slot_ratio = self.server.nic_rate_bps / nic_bps(self.server)
        rows = [row for row in self.job.rows if row.traffic in found]
        inside = float(self.on_fabric.seen.scale_up_rate[0])
        weights = {
            row.traffic: max(times_on(own, slot_ratio), own.scale_up_bytes / inside)
            for row in rows
            for own in (found[row.traffic],)
        }
        made = []
        for row in rows:
            alike = [other for other in rows if class_of(other) == class_of(row)]
            total = sum(weights[other.traffic] for other in alike)
            sent = sum(other.bytes_per_gpu for other in alike)
            share = weights[row.traffic] / total if total else row.bytes_per_gpu / max(sent, 1)
            shown_s = step.shown_s[class_of(row)] * share
            time_s = max(alone[class_of(row)] * share, shown_s)
            made.append(RowTime(row.traffic, time_s, shown_s, found[row.traffic].link or "scale_up"))
        return tuple(made)

    @cached_property
    def reasons(self) -> tuple[Finding, ...]:
        """What of the job no measurement shows."""
        odd = (Finding("EW-PRD-070", "info", self.run.id),) if self.run.rates is not None else ()
        return odd or extrapolations(self.run, self.constants)

    @cached_property
    def width_log(self) -> float:
        """Half width (log) of the step's 80 % interval; none of it for compute that the user measured."""
        width = spread_log(self.run, self.on_fabric.table, self.constants)
        return width * (EXTRAPOLATED if self.reasons else 1.0)

    def half_widths_s(self, factors: Factors, step: Step) -> dict[str, float]:
        """Half width (s) of what shows of each class: what it moves by when the constants of overlap, network and
        scale-up links each move by their spread; at most the step's own half width.
        """
        most_s = step.step_s * math.expm1(self.width_log)
        sums = dict.fromkeys(CLASSES, 0.0)
        for spread in self._spreads():
            constants = replace(self.constants, values={**self.constants.values, **spread})
            on_fabric = StepOnFabric(self.on_fabric.table, constants, self.ep_inside)
            other = self.steps(on_fabric, factors)[0]
            for name in CLASSES:
                sums[name] += (other.shown_s[name] - step.shown_s[name]) ** 2
        return {name: min(math.sqrt(total), most_s) for name, total in sums.items()}

    def _spreads(self) -> Iterator[dict[str, float]]:
        """Constants of communication, one at a time, moved by what holds 80 % of them."""
        run = self.run
        used = {
            "visible_tp": run.tp > 1,
            "visible_ep": run.ep > 1,
            "visible_pp": run.pp > 1,
            "visible_fsdp" if run.zero == SHARDED else "visible_dp": run.dp * run.cp > 1,
            f"network.{run.network}": True,
            f"scale_up.{ARCHITECTURES[int(self.on_fabric.table['architecture'][0])]}": True,
        }
        for name in (name for name, is_used in used.items() if is_used):
            yield {name: self.constants.value(name) * math.exp(EIGHTY_PERCENT * SIGMAS[name])}

    def interval(self, step: Step, shown_half_s: float) -> Interval:
        """The 80 % interval of the step; measured compute has none of its own, what shows of communication has."""
        if self.measured_s:
            return Interval(max(step.step_s - shown_half_s, step.compute_s), step.step_s + shown_half_s)
        return Interval(step.step_s * math.exp(-self.width_log), step.step_s * math.exp(self.width_log))


def _step(terms: Mapping[str, float]) -> Step:
    """The parts of a step from the terms of the step model."""
    shown = {name: terms.get(TERM_OF[name], 0.0) for name in CLASSES}
    bubble_s = sum(terms.get(name, 0.0) for name in IDLE_TERMS)
    total_s = sum(terms.values())
    compute_s = total_s - bubble_s - sum(shown.values())
    return Step(total_s, compute_s, bubble_s, shown, {name: seconds for name, seconds in terms.items() if seconds})


def training_model(
    site: Site,
    server: ServerFacts,
    job: JobLedger,
    found: Mapping[str, Bottleneck],
    constants: StepConstants | None = None,
) -> TrainingModel:
    """The model of one training job of a site; `found` are its bottlenecks as placed."""
    wish = wish_of(site, job)
    bucket = wish.bucket_bytes if isinstance(wish, TrainingWish) else None
    measured = job.facts.get("compute_s")
    return TrainingModel(
        job=job,
        server=server,
        run=run_of_job(site, server, nic_bps(server), job),
        bucket_bytes=float(bucket) if bucket else None,
        measured_s=float(measured) if measured else None,
        bubble_ratio=float(job.facts["bubble_ratio"]),
        constants=constants or shipped_constants(),
        ep_inside=_ep_inside(job, found, server),
    )


def _ep_inside(job: JobLedger, found: Mapping[str, Bottleneck], server: ServerFacts) -> float | None:
    """Ranks of an expert group in one scale-up domain as placed, where they are fewer than the domain holds."""
    rows = [row for row in job.rows if row.dimension == "ep" and row.traffic in found]
    if not rows:
        return None
    first, ep = rows[0], job.grid.ep
    share = found[first.traffic].scale_up_bytes / max(first.bytes_per_gpu, 1)
    inside = max(1.0, 1 + share * (ep - 1))
    return inside if inside < min(ep, server.scale_up_domain) - 0.5 else None
