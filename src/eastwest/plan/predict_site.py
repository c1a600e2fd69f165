"""`predict`: every job of a site on the fabric that the plan would build, without bill, growth and failures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import eastwest
from eastwest.errors import CannotTell, InputError
from eastwest.fabric.placement import place
from eastwest.fabric.topology import build
from eastwest.finding import Finding, Verdict, sort_findings, verdict_of
from eastwest.plan.advice.serving import capacity_findings
from eastwest.plan.own_constants.file import AS_SHIPPED, OwnConstants
from eastwest.plan.plan import UNREADABLE, quote
from eastwest.plan.predict import Prediction, predict
from eastwest.spec.load import LoadedSite
from eastwest.spec.resolve import resolve_server
from eastwest.workload import account
from eastwest.workload.ledger import JobLedger

NO_JOBS = "the site has no job: there is nothing to predict"


@dataclass(frozen=True, eq=False)
class SitePrediction:
    """The predictions of a site's jobs, in the order of the site file, with what does not hold."""

    name: str
    source: str
    jobs: tuple[JobLedger, ...]
    predictions: tuple[Prediction, ...]
    findings: tuple[Finding, ...]
    constants: OwnConstants = AS_SHIPPED

    @property
    def verdict(self) -> Verdict:
        """`fail` with an error, `warn` with a warning or where a model does not hold, else `pass`."""
        found = verdict_of(self.findings)
        return "warn" if found == "pass" and any(row.invalid for row in self.predictions) else found

    @property
    def first(self) -> int | None:
        """Number of the job that the document's own keys are about: the first that trains, else the first."""
        training = [index for index, job in enumerate(self.jobs) if job.kind == "training"]
        return next(iter(training or range(len(self.jobs))), None)

    def as_json(self, lang: str = "en") -> dict[str, Any]:
        """The document of the command line's contract: the first job's prediction, then every job."""
        own = self.predictions[self.first].as_json(lang) if self.first is not None else {}
        return {
            "schema": "eastwest.predict/1",
            "verdict": self.verdict,
            "findings": [finding.as_json(lang) for finding in self.findings],
            "version": eastwest.__version__,
            "site": {"name": self.name, "source": self.source},
            "constants": self.constants.as_json(),
            **own,
            "jobs": [
                {"name": job.name, "kind": job.kind, "gpus": job.gpus, "prediction": found.as_json(lang)}
                for job, found in zip(self.jobs, self.predictions, strict=True)
            ],
        }


def predict_site(loaded: LoadedSite, own: OwnConstants | None = None) -> SitePrediction:
    """Every job of a site predicted, with `own` constants where they are given.

    Raises InputError for wishes that contradict each other and files that cannot be read, CannotTell for a site without
    jobs.
    """
    site = loaded.site
    if not site.jobs:
        raise CannotTell(NO_JOBS, needs=("jobs",), hint="add jobs to the site file, or --megatron-args FILE")
    server = resolve_server(site.servers[0])
    ledger, findings, _ = account(site, folder=Path(loaded.source).parent)
    unread = [quote(finding, loaded) for finding in findings if finding.code in UNREADABLE]
    if unread:
        raise InputError(unread)
    fabric = build(site)
    placement = place(fabric, ledger)
    made = tuple(predict(site, server, fabric, placement, job, own) for job in ledger.jobs)
    found = (*findings, *fabric.findings, *placement.findings, *capacity_findings(ledger, made))
    return SitePrediction(
        name=site.name,
        source=loaded.source,
        jobs=ledger.jobs,
        predictions=made,
        findings=sort_findings([quote(finding, loaded) for finding in found]),
        constants=own or AS_SHIPPED,
    )
