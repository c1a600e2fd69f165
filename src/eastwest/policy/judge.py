"""What a site's own QoS wishes break: marks that clash, thresholds out of order, MTU above what a switch passes,
watchdog against BFD.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from eastwest.finding import Finding
from eastwest.policy import ecn, mtu, watchdog
from eastwest.policy.classes import RESERVED_PRIORITIES, Clash, clashes, roce_marks
from eastwest.policy.ecn import Thresholds
from eastwest.policy.settings import Role
from eastwest.spec.qos import REGIMES_OF_TRANSPORT, LossRegime, QosWish
from eastwest.spec.site import Site
from eastwest.units import format_port_rate, format_size, format_time


def judge_regime(site: Site) -> list[Finding]:
    """The loss regime that was assumed where the transport leaves a choice, or that contradicts the transport."""
    allowed = REGIMES_OF_TRANSPORT[site.transport]
    if site.loss_regime is None and len(allowed) == 1:
        return []
    if site.loss_regime is None:
        args = {"transport": site.transport}
        return [Finding("EW-POL-001", "info", "loss_regime", None, allowed[0], "", args, path="loss_regime")]
    if site.loss_regime not in allowed:
        words, path = {"transport": site.transport, "allowed": ", ".join(allowed)}, "loss_regime"
        return [Finding("EW-POL-013", "error", path, allowed[0], site.loss_regime, "", words, path=path)]
    return []


def judge_marks(wish: QosWish, separate_inference: bool, regime: LossRegime = "lossless") -> list[Finding]:
    """Marks and priorities that two classes would share, or that belong to network control."""
    found = [_shared_mark(clash, wish) for clash in clashes(wish, separate_inference, regime)]
    _, priority = roce_marks(wish)
    code = "EW-POL-006" if priority in RESERVED_PRIORITIES else "EW-POL-007" if priority == 0 else ""
    if code:
        path = "qos.priority" if wish.priority is not None else "qos.dscp"
        found.append(Finding(code, "error", path, "1-5", priority, path=path))
    return found


def _shared_mark(clash: Clash, wish: QosWish) -> Finding:
    keys = [key for key in (clash.one.key, clash.other.key) if key and getattr(wish, key) is not None]
    args = {"one": clash.one.name, "other": clash.other.name}
    path = f"qos.{keys[-1]}" if keys else "qos"
    return Finding("EW-POL-005", "error", path, None, clash.one.dscp, "dscp", args, path=path)


def judge_mtu(host_mtu_bytes: int, limits: Mapping[Role, int]) -> list[Finding]:
    """Host MTU above what a switch can pass, or too small for RoCE's largest path MTU; `limits` are switch maxima by
    role, bytes.
    """
    found = [
        Finding("EW-POL-008", "error", role, limit, host_mtu_bytes, "bytes", {"role": role}, path="qos.mtu")
        for role, limit in limits.items()
        if not mtu.passes(host_mtu_bytes, limit)
    ]
    best = mtu.ROCE_MTUS_BYTES[-1]
    allowed = mtu.roce_mtu(host_mtu_bytes)
    if allowed != best:
        args = {"mtu": host_mtu_bytes, "needed": best + mtu.ROCE_HEADERS_BYTES}
        found.append(Finding("EW-POL-014", "warning", "qos.mtu", best, allowed or 0, "bytes", args, path="qos.mtu"))
    return found


def judge_thresholds(
    limits: Mapping[int, Thresholds], alpha: float, shared_bytes: int, role: str, wish: QosWish
) -> list[Finding]:
    """ECN against itself, against the BDP, and against PFC on one role's memory; shared memory at or below zero is
    judged elsewhere.

    `limits` are thresholds by rate in bit/s; `wish` says which of them the user gave.
    """
    found = []
    wished = [key for key in ("kmin", "kmax") if getattr(wish, f"{key}_bytes") is not None]
    path = f"qos.{wished[0]}" if wished else f"fabric.{role}"
    for rate, row in limits.items():
        subject = f"{role} {format_port_rate(rate)}"
        words = {
            "kmin": format_size(row.kmin_bytes),
            "kmax": format_size(row.kmax_bytes),
            "bdp": format_size(row.bdp_bytes),
        }
        if row.kmin_bytes >= row.kmax_bytes:
            kmin, kmax = row.kmin_bytes, row.kmax_bytes
            found.append(Finding("EW-POL-002", "error", subject, kmax, kmin, "bytes", words, path=path))
            continue
        depth = ecn.judge(row.kmin_bytes, row.kmax_bytes, row.bdp_bytes)
        if row.rule == "site" and depth != "plausible":
            code = "EW-POL-015" if depth == "shallow" else "EW-POL-016"
            at = path if depth == "shallow" or wish.kmax_bytes is None else "qos.kmax"
            found.append(Finding(code, "warning", subject, row.bdp_bytes, row.kmin_bytes, "bytes", words, path=at))
        if shared_bytes > 0:
            acts = ecn.order(row.kmin_bytes, row.kmax_bytes, alpha, shared_bytes)
            found += [replace(one, path=path) for one in _against_pfc(row, acts, subject, words)]
    return found


def _against_pfc(row: Thresholds, acts: ecn.Order, subject: str, words: dict[str, str]) -> list[Finding]:
    xoff = {**words, "xoff": format_size(acts.xoff_one_bytes), "queues": str(acts.queues_below_kmax)}
    if not acts.ecn_first:
        return [Finding("EW-POL-003", "error", subject, acts.xoff_one_bytes, row.kmin_bytes, "bytes", xoff)]
    if not acts.safe:
        least = ecn.SAFE_CONGESTED_QUEUES
        return [Finding("EW-POL-004", "warning", subject, least, acts.queues_below_kmax, "queues", xoff)]
    return []


def judge_watchdog(wish: QosWish, n_ports: int, role: str) -> list[Finding]:
    """Watchdog times against BFD and against what devices accept."""
    wished_s, bfd_s = wish.watchdog_detect_s, watchdog.BFD.detection_s
    detect_s = watchdog.timing(n_ports).detect_s if wished_s is None else wished_s
    path = f"fabric.{role}" if wished_s is None else "qos.watchdog_detect"
    found = []
    if detect_s >= bfd_s:
        words = {"detect": format_time(detect_s), "bfd": format_time(bfd_s)}
        found.append(Finding("EW-POL-017", "warning", role, bfd_s, detect_s, "s", words, path=path))
    low, high = watchdog.DETECT_RANGE_S
    if not low <= detect_s <= high:
        args = {"low": format_time(low), "high": format_time(high), "detect": format_time(detect_s)}
        found.append(Finding("EW-POL-018", "warning", role, low, detect_s, "s", args, path=path))
    return found
