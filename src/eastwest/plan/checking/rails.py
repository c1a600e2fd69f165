"""Rails that nothing joins at the top: which groups of GPUs still work, and how thin a path between rails may be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from eastwest.finding import Finding, Severity
from eastwest.plan.checking.shape import Shape
from eastwest.plan.checking.sheet import Sheet
from eastwest.plan.designs.design import USUAL_GPUS

Fate = Literal["works", "fails", "open"]
USED = frozenset(
    [
        "rails",
        "spines",
        "servers",
        "gpus",
        "leaves",
        "leaves_per_rail",
        "nics_per_server",
        "gpus_per_server",
        "leaf_down",
    ]
)
LEAST_SPINES = 2  # so that the path between rails outlives one switch
_ALIGNED = re.compile(
    r"rail[- ]?aligned|(?:same|one|single)[- ](?:rail|index|local[- ]rank|gpu index)|whole servers?"
    r"|full (?:servers?|nodes?)|"
    r"\bPXN\b|\ball (?:the )?gpus\b|\bdata[- ]parallel|\bdp\b|\bfsdp\b|\bzero\b|\bpipeline|\bpp\b|"
    r"(?:inside|within) (?:one |a |each )?(?:server|node)|同轨|整机|数据并行|流水线",
    re.I,
)
_ARBITRARY = re.compile(r"arbitrary|\bany\b|mixed|random|unknown|general|不规则|任意|随机", re.I)
_NOT = re.compile(r"\b(?:no|not|never|without)\s+(?:any\s+)?(?:arbitrary|mixed|random)|不是任意", re.I)
_SIZES = re.compile(
    r"\b(?:ep|tp|cp|groups?(?: of)?|size)\s*(?:=|:|of)?\s*(\d{1,6})\b|\b(\d{1,6})[- ]?(?:GPUs?|ranks?)\b"
    r"|(\d{1,6})\s*卡",
    re.I,
)
_CROSSING = re.compile(r"disjoint|across rails|cross[- ]rail|different rails|跨轨", re.I)


def judge_rails(sheet: Sheet, shape: Shape) -> Iterator[Finding]:
    """A finding when a design has rails and says that it has no spines.

    With rails apart, NCCL can only set up a queue pair between NICs of the same rail. A group works when it lies inside
    one scale-up domain, holds GPUs of one rail only, or holds every GPU of each of its servers, so that the GPU beside
    the right NIC relays over NVLink (PXN). Source: NVIDIA/nccl issue 836 (maintainer: no guarantee never to cross
    rails); NCCL documentation, NCCL_PXN_DISABLE.
    """
    rails = sheet.whole("rails") or _rails_of_leaves(sheet, shape)
    if shape.spines == 0 and not rails and (shape.leaves or 0) > 1:
        yield _islands(sheet, shape)
    if shape.spines != 0 or not rails or rails <= 1:
        return
    workload = sheet.text("workload")
    fate = fate_of(workload, sheet.whole("gpus_per_server") or USUAL_GPUS)
    leaves, down = shape.leaves or rails, shape.down
    args = {
        "rails": rails,
        "workload": workload or "?",
        "leaves": leaves,
        "spines": LEAST_SPINES,
        "ports": leaves,
        "thin": f"{down / LEAST_SPINES:g}:1" if down else f"n/{LEAST_SPINES}:1",
    }
    evidence = sheet.evidence("rails", "spines", "workload")
    code = {"fails": "EW-CHK-040", "open": "EW-CHK-040", "works": "EW-CHK-087"}[fate]
    severity: Severity = "error" if fate == "fails" else "warning"
    yield Finding(code, severity, "rails", LEAST_SPINES, 0, "spines", args, evidence)
    per_rail = sheet.whole("leaves_per_rail") or (leaves // rails if leaves > rails else 1)
    if per_rail > 1:
        yield Finding("EW-CHK-041", "error", "leaves", 1, per_rail, "leaves", {"per_rail": per_rail}, evidence)


def _islands(sheet: Sheet, shape: Shape) -> Finding:
    """Leaves that nothing joins, and that are no rails either."""
    evidence = sheet.evidence("leaves", "spines", "nics_per_server")
    args = {"leaves": shape.leaves, "nics": sheet.whole("nics_per_server") or "?"}
    return Finding("EW-CHK-068", "warning", "spines", 1, 0, "spines", args, evidence)


def _rails_of_leaves(sheet: Sheet, shape: Shape) -> int | None:
    """A leaf a NIC of the server and nothing above: the leaves are rails, whatever the text calls them."""
    nics = sheet.whole("nics_per_server")
    return shape.leaves if shape.spines == 0 and nics and shape.leaves == nics else None


def fate_of(workload: str, gpus_per_server: int) -> Fate:
    """Whether the groups of a workload in words live on rails that nothing joins; open where the words do not say.

    Groups of whole servers work, smaller ones inside a server too; 9 GPUs over two servers of 8 do not.

    >>> fate_of("EP 64 over all GPUs", 8), fate_of("groups of 12", 8), fate_of("", 8)
    ('works', 'fails', 'open')
    """
    if (_ARBITRARY.search(workload) and not _NOT.search(workload)) or _CROSSING.search(workload):
        return "fails"
    sizes = [int(next(text for text in found if text)) for found in _SIZES.findall(workload)]
    is_aligned = bool(_ALIGNED.search(workload))
    broken = [n for n in sizes if n > gpus_per_server and n % gpus_per_server]
    if broken and not re.search(r"same|one|single|同", workload, re.I):
        return "fails"
    return "works" if is_aligned or sizes else "open"
