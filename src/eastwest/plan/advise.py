"""`advise(case)`: every topic of advice in turn, as decisions and findings with formula, inputs and source."""

from __future__ import annotations

from eastwest.plan.advice import ADVICE, Advice, Case


def advise(case: Case) -> Advice:
    """The advice of all topics, in alphabetical order of the topics."""
    given = [advisor(case) for _, advisor in ADVICE]
    return Advice(
        tuple(decision for advice in given for decision in advice.decisions),
        tuple(finding for advice in given for finding in advice.findings),
    )
