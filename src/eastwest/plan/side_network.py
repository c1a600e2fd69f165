"""What one side network yields: lines of the bill, decisions, findings, and the devices that want a management port."""

from __future__ import annotations

from dataclasses import dataclass

from eastwest.decision import Decision
from eastwest.finding import Finding
from eastwest.plan.bom import BomRow


@dataclass(frozen=True, slots=True)
class SideNetwork:
    """One network beside the east-west fabric; `managed` devices of it want a management port each."""

    bom: tuple[BomRow, ...] = ()
    decisions: tuple[Decision, ...] = ()
    findings: tuple[Finding, ...] = ()
    managed: int = 0
