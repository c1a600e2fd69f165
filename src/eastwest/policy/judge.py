"""What a site's own QoS wishes break: marks that clash, thresholds out of order, MTU above what a switch passes,
watchdog against BFD.
"""

from __future__ import annotations

from collections.abc import Mapping

from eastwest.finding import Finding
from eastwest.policy import ecn, mtu, watchdog
from eastwest.policy.classes import RESERVED_PRIORITIES, clashes, inference_priority, roce_marks
from eastwest.policy.ecn import Thresholds
from eastwest.policy.settings import Role
from eastwest.spec.qos import QosWish
from eastwest.spec.site import Site
from eastwest.units import format_port_rate, format_size, format_time

REGIMES_OF_TRANSPORT = {
    "roce": ("lossless", "ecn-only", "spray-trim"),
    "infiniband": ("infiniband",),
    "tcp": ("tcp", "ecn-only"),
}


def judge_regime(site: Site) -> list[Finding]:
    """The loss regime that was assumed where the transport leaves a choice, or that contradicts the transport."""
    allowed = REGIMES_OF_TRANSPORT[site.transport]
    if site.loss_regime is None and len(allowed) == 1:
        return []
    if site.loss_regime is None:
        return [Finding("EW-POL-001", "info", "loss_regime", None, allowed[0], "", {"transport": site.transport})]
    if site.loss_regime not in allowed:
        args = {"transport": site.transport, "allowed": ", ".join(allowed)}
        return [Finding("EW-POL-013", "error", "loss_regime", allowed[0], site.loss_regime, "", args)]
    return []


def judge_marks(wish: QosWish, separate_inference: bool) -> list[Finding]:
    """Marks and priorities that two classes would share, or that belong to network control."""
    found = [
        Finding("EW-POL-005", "error", "qos.dscp", None, None, "", {"clash": text})
        for text in clashes(wish, separate_inference)
    ]
    _, priority = roce_marks(wish)
    if priority in RESERVED_PRIORITIES:
        found.append(Finding("EW-POL-006", "error", "qos.priority", "1-5", priority))
    elif priority == 0:
        found.append(Finding("EW-POL-007", "error", "qos.priority", "1-5", 0))
    if separate_inference and priority == inference_priority(priority):
        found.append(Finding("EW-POL-006", "error", "qos.priority", "1-5", priority))
    return found


def judge_mtu(host_mtu_bytes: int, limits: Mapping[Role, int]) -> list[Finding]:
    """Host MTU above what a switch can pass, or too small for RoCE's largest path MTU; `limits` are switch maxima by
    role, bytes.
    """
    found = [
        Finding("EW-POL-008", "error", role, limit, host_mtu_bytes, "bytes", {"role": role})
        for role, limit in limits.items()
        if not mtu.passes(host_mtu_bytes, limit)
    ]
    best = mtu.ROCE_MTUS_BYTES[-1]
    allowed = mtu.roce_mtu(host_mtu_bytes)
    if allowed != best:
        args = {"mtu": host_mtu_bytes, "needed": best + mtu.ROCE_HEADERS_BYTES}
        found.append(Finding("EW-POL-014", "warning", "qos.mtu", best, allowed or 0, "bytes", args))
    return found


def judge_thresholds(limits: Mapping[int, Thresholds], alpha: float, shared_bytes: int, role: str) -> list[Finding]:
    """ECN against itself, against the BDP, and against PFC on one role's memory; shared memory at or below zero is
    judged elsewhere.
    """
    found = []
    for rate, row in limits.items():
        subject = f"{role} {format_port_rate(rate)}"
        words = {
            "kmin": format_size(row.kmin_bytes),
            "kmax": format_size(row.kmax_bytes),
            "bdp": format_size(row.bdp_bytes),
        }
        if row.kmin_bytes >= row.kmax_bytes:
            found.append(Finding("EW-POL-002", "error", subject, row.kmax_bytes, row.kmin_bytes, "bytes", words))
            continue
        depth = ecn.judge(row.kmin_bytes, row.kmax_bytes, row.bdp_bytes)
        if row.rule == "site" and depth != "plausible":
            code = "EW-POL-015" if depth == "shallow" else "EW-POL-016"
            found.append(Finding(code, "warning", subject, row.bdp_bytes, row.kmin_bytes, "bytes", words))
        if shared_bytes > 0:
            found += _against_pfc(row, alpha, shared_bytes, subject, words)
    return found


def _against_pfc(
    row: Thresholds, alpha: float, shared_bytes: int, subject: str, words: dict[str, str]
) -> list[Finding]:
    acts = ecn.order(row.kmin_bytes, row.kmax_bytes, alpha, shared_bytes)
    xoff = {**words, "xoff": format_size(acts.xoff_one_bytes), "queues": str(acts.queues_below_kmax)}
    if not acts.ecn_first:
        return [Finding("EW-POL-003", "error", subject, acts.xoff_one_bytes, row.kmin_bytes, "bytes", xoff)]
    if not acts.safe:
        least = ecn.SAFE_CONGESTED_QUEUES
        return [Finding("EW-POL-004", "warning", subject, least, acts.queues_below_kmax, "queues", xoff)]
    return []


def judge_watchdog(wish: QosWish, n_ports: int, role: str) -> list[Finding]:
    """Watchdog times against BFD and against what devices accept."""
    settings = watchdog.settings_for(n_ports, wish.watchdog_detect_s)
    found = [
        Finding("EW-POL-017", "warning", role, watchdog.BFD.detection_s, settings.detect_s, "s", {"relation": text})
        for text in watchdog.conflicts(settings, watchdog.BFD)
    ]
    low, high = watchdog.DETECT_RANGE_S
    if settings.detect_s is not None and not low <= settings.detect_s <= high:
        args = {"low": format_time(low), "high": format_time(high), "detect": format_time(settings.detect_s)}
        found.append(Finding("EW-POL-018", "warning", role, low, settings.detect_s, "s", args))
    return found
