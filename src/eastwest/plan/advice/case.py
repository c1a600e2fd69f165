"""What an advice may read, and what it yields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from eastwest.decision import Decision
from eastwest.fabric.placement import Placement
from eastwest.fabric.tables import Fabric
from eastwest.finding import Finding
from eastwest.plan.bill_totals import BillTotals
from eastwest.plan.network_factors import bottlenecks
from eastwest.plan.own_constants.file import AS_SHIPPED, OwnConstants
from eastwest.plan.prediction import Prediction, RowTime
from eastwest.plan.training_model import Step, training_model
from eastwest.policy import Policy
from eastwest.spec.resolve import ServerFacts
from eastwest.spec.site import Site
from eastwest.workload.ledger import JobLedger, Ledger

SEED_CHOICE = "seed text 001, section 2.1; seed text 000, section 4.1"


@dataclass(frozen=True, eq=False)
class Case:
    """One plan before its advice: every noun to the left of it, the totals of its bill, and `own` constants where they
    were given.
    """

    site: Site
    server: ServerFacts
    ledger: Ledger
    fabric: Fabric
    placement: Placement
    policy: Policy
    predictions: tuple[Prediction, ...]
    bill: BillTotals
    own: OwnConstants = AS_SHIPPED

    @property
    def training(self) -> tuple[tuple[JobLedger, Prediction], ...]:
        """Training jobs that have a step time, with their predictions."""
        pairs = zip(self.ledger.jobs, self.predictions, strict=True)
        return tuple((job, row) for job, row in pairs if job.kind == "training" and row.step_time_s)

    def step_on(self, fabric: Fabric, job: JobLedger) -> tuple[Step, tuple[RowTime, ...]]:
        """The step of a training job on another fabric and its rows: a prediction without interval and curves."""
        found = bottlenecks(fabric, self.placement, job)
        model = training_model(self.site, self.server, job, found, self.own.step)
        step = model.step(found)
        return step, model.rows(found, step)

    @property
    def is_lossless(self) -> bool:
        """Whether PFC keeps loss away."""
        return self.policy.loss_regime == "lossless"


@dataclass(frozen=True, slots=True)
class Advice:
    """What one advice yields: values that it would choose, and what does not hold."""

    decisions: tuple[Decision, ...] = ()
    findings: tuple[Finding, ...] = ()


class Advisor(Protocol):
    """One topic of advice; it reads the case and touches nothing else."""

    def __call__(self, case: Case) -> Advice:
        """The advice of this topic."""
