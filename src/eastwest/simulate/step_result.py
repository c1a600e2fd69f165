"""Steps in a result: their reports, and the rows of computations taken out of its flows."""

from __future__ import annotations

from dataclasses import replace

from eastwest.simulate.messages import Way
from eastwest.simulate.prepared import Prepared
from eastwest.simulate.result import SimResult
from eastwest.simulate.step_report import step_report


def with_steps(prepared: Prepared, result: SimResult) -> SimResult:
    """The result with `steps` in its details, one of each step that ended, and only what was sent in its flows."""
    if not prepared.steps:
        return result
    messages, flows = prepared.messages, result.flows
    sent = messages.way != Way.STAYS
    reports = []
    for rows in prepared.steps:
        if (flows.end_ps[rows.first : rows.first + len(rows)] >= 0).all():
            report = step_report(rows, messages, flows.start_ps, flows.end_ps)
            reports.append({"traffic": result.traffics[rows.number], **report.as_json()})
    return replace(result, flows=flows.only(sent), details={**result.details, "steps": reports})
