"""Small sites for the account's tests: one server group, one switch, the jobs that a test wants."""

from __future__ import annotations

from typing import Any

from eastwest.finding import Finding
from eastwest.spec.site import Site
from eastwest.workload import JobLedger, LedgerRow, account


def site(*jobs: dict[str, Any], servers: int = 8, model: str = "dgx-h100") -> Site:
    wish = {
        "name": "test",
        "servers": [{"model": model, "count": servers}],
        "fabric": {"switch": "64x400G"},
        "jobs": list(jobs),
    }
    return Site.model_validate(wish)


def training(**changes: Any) -> dict[str, Any]:
    return {"name": "train", "model": "llama3-8b", "global_batch": 512, **changes}


def one(*jobs: dict[str, Any], servers: int = 8, model: str = "dgx-h100") -> JobLedger:
    ledger, _, _ = account(site(*jobs, servers=servers, model=model))
    return ledger.jobs[0]


def rows(job: JobLedger) -> dict[str, LedgerRow]:
    return {row.traffic: row for row in job.rows}


def found(*jobs: dict[str, Any], servers: int = 8) -> dict[str, Finding]:
    _, findings, _ = account(site(*jobs, servers=servers))
    return {finding.code: finding for finding in findings}
