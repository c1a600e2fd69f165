"""Rails that nothing joins at the top: which groups of GPUs still work, and how thin a path between rails may be."""

from __future__ import annotations

import re
from collections.abc import Iterator

from eastwest.finding import Finding, Severity
from eastwest.plan.checking.shape import Shape
from eastwest.plan.checking.sheet import Sheet

LEAST_SPINES = 2  # so that the path between rails outlives one switch
_ALIGNED = re.compile(r"rail[- ]aligned|same[- ](?:rail|index|local rank)|whole servers?|full nodes?|\bPXN\b", re.I)
_ARBITRARY = re.compile(r"arbitrary|\bany\b|mixed|random|unknown|general|任意", re.I)


def judge_rails(sheet: Sheet, shape: Shape) -> Iterator[Finding]:
    """A finding when a design has rails and says that it has no spines.

    With rails apart, NCCL can only set up a queue pair between NICs of the same rail. A group works when it lies inside
    one scale-up domain, holds GPUs of one rail only, or holds every GPU of each of its servers, so that the GPU beside
    the right NIC relays over NVLink (PXN). Source: NVIDIA/nccl issue 836 (maintainer: no guarantee never to cross
    rails); NCCL documentation, NCCL_PXN_DISABLE.
    """
    rails = sheet.whole("rails")
    if shape.spines != 0 or not rails or rails <= 1:
        return
    workload = sheet.text("workload")
    severity: Severity = "error"
    if _ALIGNED.search(workload) or not (_ARBITRARY.search(workload) or workload):
        severity = "warning"
    leaves = shape.leaves or rails
    down = shape.down
    args = {
        "rails": rails,
        "workload": workload or "?",
        "leaves": leaves,
        "spines": LEAST_SPINES,
        "ports": leaves,
        "thin": f"{down / LEAST_SPINES:g}:1" if down else f"n/{LEAST_SPINES}:1",
    }
    evidence = sheet.evidence("rails", "spines", "workload")
    yield Finding("EW-CHK-040", severity, "rails", args=args, evidence=evidence)
    per_rail = sheet.whole("leaves_per_rail") or (leaves // rails if leaves > rails else 1)
    if per_rail > 1:
        yield Finding("EW-CHK-041", "error", "leaves", args={"per_rail": per_rail}, evidence=evidence)
