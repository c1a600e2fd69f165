"""Whether an inference service answers the requests that the site expects of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from eastwest.decision import Decision
from eastwest.finding import Finding, Severity
from eastwest.plan.advice.case import Advice, Case
from eastwest.plan.prediction import Prediction
from eastwest.plan.serving_model import UNVALIDATED_LOG
from eastwest.units import format_count, format_percent
from eastwest.workload.ledger import JobLedger, Ledger

SURE = math.exp(UNVALIDATED_LOG)  # above the prediction's interval it is a warning, inside it a note
SPLIT = "min(prefill_replicas / first_token, decode_replicas x batch / (token x output))"
JOINED = "replicas / (first_token + token x output / batch)"


def advise(case: Case) -> Advice:
    """One decision for each service: requests a second that it answers; a warning where the site asks for more."""
    pairs = zip(case.ledger.jobs, case.predictions, strict=True)
    decisions = tuple(_decision(job, found) for job, found in pairs if found.requests_per_s)
    return Advice(decisions, tuple(capacity_findings(case.ledger, case.predictions)))


def capacity_findings(ledger: Ledger, predictions: Sequence[Prediction]) -> Iterator[Finding]:
    """A finding for each service that is asked for more requests than it can answer."""
    for job, found in zip(ledger.jobs, predictions, strict=True):
        asked = float(job.facts.get("requests_per_s") or 0.0)
        if found.requests_per_s and asked > found.requests_per_s:
            args = {
                "asked": format_count(asked),
                "most": format_count(found.requests_per_s),
                "replicas": int(job.facts["replicas"]),
                "share": format_percent(asked / found.requests_per_s),
            }
            path, most = f"{job.path}.requests_per_s", found.requests_per_s
            severity: Severity = "warning" if asked > most * SURE else "info"
            yield Finding("EW-ADV-026", severity, job.name, most, asked, "requests/s", args, path=path)


def _decision(job: JobLedger, found: Prediction) -> Decision:
    facts, most = job.facts, found.requests_per_s or 0.0
    asked = float(facts["requests_per_s"])
    inputs = {
        "replicas": facts["replicas"],
        "prefill_replicas": facts["prefill_replicas"],
        "decode_replicas": facts["decode_replicas"],
        "batch": facts["tokens_per_round"],
        "output": facts["output"],
        "first_token_s": found.time_to_first_token_s,
        "token_s": found.time_per_token_s,
        "asked_per_s": asked,
    }
    because = f"full batches without queues; the site expects {format_count(asked)} a second"
    formula = SPLIT if facts["prefill_replicas"] else JOINED
    return Decision(f"serving.{job.name}.requests", most, "requests/s", because, formula, inputs)
