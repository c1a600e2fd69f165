"""Inference beside training: the class of its own that keeps small flows from waiting behind bursts."""

from __future__ import annotations

from eastwest.decision import Alternative, Decision
from eastwest.finding import Finding
from eastwest.plan.advice.case import Advice, Case
from eastwest.policy.derive import separates_inference
from eastwest.units import BITS_PER_BYTE, format_size, format_time

SOURCE = "seed text 001, section 1.2: inference mixed with training bursts becomes their victim"


def advise(case: Case) -> Advice:
    """The longest wait of a decode round behind one training burst, and a finding when nothing keeps them apart."""
    kinds = {job.kind for job in case.ledger.jobs}
    if not {"training", "inference"} <= kinds:
        return Advice()
    steps = [row for job in case.ledger.jobs if job.kind == "training" for row in job.rows if row.per == "step"]
    burst = max((row.message_bytes for row in steps), default=0)
    wait_s = burst * BITS_PER_BYTE / case.fabric.nic_rate_bps
    separate = separates_inference(case.site, case.ledger) and case.policy.loss_regime not in ("tcp", "infiniband")
    decision = Decision(
        "isolation.inference",
        "its own class" if separate else "one class",
        "",
        f"a round behind one training message of {format_size(burst)} waits {format_time(wait_s)}",
        "message x 8 / port rate",
        {"message_bytes": burst, "rate_bps": case.fabric.nic_rate_bps, "wait_s": wait_s},
        SOURCE,
        (Alternative("one class", "cheaper to run; the latency of tokens then follows the training's bursts"),)
        if separate
        else (Alternative("its own class", "qos.separate_inference: true gives it a queue and a share"),),
    )
    if separate:
        return Advice((decision,))
    args = {"message": format_size(burst), "wait": format_time(wait_s)}
    finding = Finding("EW-ADV-014", "warning", "qos", True, False, "", args, path="qos.separate_inference")
    return Advice((decision,), (finding,))
