"""`account`: the communication account of a site, with every mistake of its jobs at once and the decisions behind
it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from eastwest.decision import Decision
from eastwest.finding import Finding, sort_findings
from eastwest.spec.jobs import TrainingWish
from eastwest.spec.resolve import gpus_of_servers, servers_of
from eastwest.spec.site import Site
from eastwest.workload.inference import inference_ledger
from eastwest.workload.ledger import JobLedger, Ledger
from eastwest.workload.machines import machines_of, share_gpus
from eastwest.workload.profile import with_neighbours
from eastwest.workload.training import training_ledger

Account = tuple[Ledger, tuple[Finding, ...], tuple[Decision, ...]]


def account(site: Site, *, folder: Path | None = None) -> Account:
    """The communication account of every job of a site between logical ranks, its findings and its decisions.

    A job that cannot be laid out has a finding of severity error and no entry in the ledger; one that does not fit
    memory has both. `folder` is where a relative path of a model's config.json starts. Raises UsageError for an unknown
    server or GPU model.
    """
    groups = servers_of(site)
    total = gpus_of_servers(groups)
    shares, shortages, decided = share_gpus(site.jobs, total)
    findings, decisions = list(shortages), list(decided)
    jobs: list[JobLedger] = []
    first = 0
    for index, (job, gpus) in enumerate(zip(site.jobs, shares, strict=True)):
        if gpus:
            machines = machines_of(groups, first, gpus, job.precision)
            if isinstance(job, TrainingWish):
                entry, more_findings, more_decisions = training_ledger(job, machines, folder)
            else:
                entry, more_findings, more_decisions = inference_ledger(job, machines, folder)
            path = f"jobs[{index}]"
            jobs += [replace(entry, path=path)] if entry else []
            findings += [replace(found, path=f"{path}.{found.path}".rstrip(".")) for found in more_findings]
            decisions += more_decisions
        first += gpus
    return Ledger(with_neighbours(jobs)), sort_findings(findings), tuple(decisions)
