"""The decisions of a policy in words: value, formula, inputs, source, and what was rejected and why."""

from __future__ import annotations

from collections.abc import Mapping

from eastwest.decision import Alternative, Decision
from eastwest.fabric import addressing
from eastwest.policy import ecn, hashing, infiniband, mtu, nccl, tc, underlay, watchdog
from eastwest.policy.classes import (
    CNP_DSCP,
    CONTROL_PRIORITY,
    ROCE_DSCP,
    SEED_THREE_CLASSES,
    SEED_TWO_QUEUES,
    TrafficClass,
    cnp_dscp,
    lossless_priorities,
    roce_marks,
)
from eastwest.policy.ecn import Rule, Thresholds
from eastwest.policy.rtt import HOST_LATENCY_S, SWITCH_LATENCY_S, RoundTrip
from eastwest.policy.settings import Role
from eastwest.policy.settings_host import EnvironmentVariable
from eastwest.policy.settings_subnet import SubnetSettings
from eastwest.spec.qos import LoadBalancing, LossRegime, QosWish
from eastwest.spec.site import Site
from eastwest.units import format_port_rate, format_size

SITE = "site file"
WISHED = "wished in the site file"


def class_decisions(
    site: Site, regime: LossRegime, wish: QosWish, rows: tuple[TrafficClass, ...], separate: bool
) -> list[Decision]:
    """Loss regime, number of classes, marks and priorities."""
    regime_source = SITE if site.loss_regime else f"assumed from transport {site.transport}"
    found = [
        Decision("policy.regime", regime, "", _why_regime(regime), source=regime_source),
        Decision(
            "policy.classes",
            len(rows),
            "classes",
            _why_classes(regime, separate),
            source=f"{SEED_THREE_CLASSES}; {SEED_TWO_QUEUES}",
            alternatives=_other_classes(regime),
        ),
    ]
    if regime in ("infiniband", "tcp"):
        return found
    return [*found, *_mark_decisions(wish, rows)]


def _mark_decisions(wish: QosWish, rows: tuple[TrafficClass, ...]) -> list[Decision]:
    dscp, priority = roce_marks(wish)
    return [
        Decision(
            "policy.class.roce.dscp",
            dscp,
            "dscp",
            WISHED if wish.dscp is not None else "the default of NICs and RoCE modes; every hop maps exactly this mark",
            inputs={"traffic_class_byte": tc.encode(dscp)},
            source=SITE
            if wish.dscp is not None
            else "NVIDIA and Broadcom NIC defaults, Cumulus RoCE mode, Juniper AI JVD",
            alternatives=()
            if dscp != ROCE_DSCP
            else (Alternative(24, "Gaudi 3's data mark; maps to the same priority"),),
        ),
        Decision(
            "policy.class.roce.priority",
            priority,
            "priority",
            WISHED if wish.priority is not None else "DSCP >> 3, so that unconfigured defaults agree with it",
            "priority = dscp >> 3",
            {"dscp": dscp},
            SITE if wish.priority is not None else "mlx5 and Cumulus default maps",
            (Alternative(CONTROL_PRIORITY, "6 and 7 carry network control, which must never be paused"),),
        ),
        *_pause_decisions(wish, rows),
    ]


def _pause_decisions(wish: QosWish, rows: tuple[TrafficClass, ...]) -> list[Decision]:
    cnp = cnp_dscp(wish)
    shared = "; BGP and BFD have the same mark (CS6) and share its strict queue" if cnp == CNP_DSCP else ""
    return [
        Decision(
            "policy.class.lossless",
            sorted(lossless_priorities(rows)),
            "priorities",
            "only RDMA data pauses: the smaller the set, the smaller the reach of a storm",
            source="seed text 000, section 4.2; seed text 001, section 5.1",
            alternatives=(Alternative("all priorities", "one small burst then stops every class, control included"),),
        ),
        Decision(
            "policy.class.cnp.dscp",
            cnp,
            "dscp",
            f"CNPs go first in queue {CONTROL_PRIORITY} and are never paused{shared}",
            source=SITE
            if wish.cnp_dscp is not None
            else "mlx5 np_cnp_dscp 48, priority 6; Broadcom Thor uses priority 7",
            alternatives=(Alternative("in the RoCE queue", "a CNP behind the queue it reports arrives too late"),),
        ),
    ]


def _why_regime(regime: LossRegime) -> str:
    words = {
        "lossless": "RoCE recovers loss by going back N: PFC keeps drops at zero, ECN keeps PFC rare",
        "ecn-only": "no pauses, so no storms; senders must recover loss well (selective repeat)",
        "spray-trim": "packets take every path, overflow is trimmed instead of paused",
        "infiniband": "credits between neighbours make every link lossless",
        "tcp": "TCP recovers loss itself, at the price of timeouts",
    }
    return words[regime]


def _why_classes(regime: LossRegime, separate: bool) -> str:
    if regime == "infiniband":
        return "service levels on virtual lanes; credits, no marks"
    if regime == "tcp":
        return "best effort and control; nothing pauses"
    extra = "; inference apart from training, because its small flows cannot wait behind bursts" if separate else ""
    return f"RDMA data alone in its queue, control apart and strict, the rest best effort{extra}"


def _other_classes(regime: LossRegime) -> tuple[Alternative, ...]:
    if regime in ("infiniband", "tcp"):
        return ()
    why = (
        "CNP, BGP and BFD would wait behind bulk data; the control queue never pauses, so one domain of pauses remains"
    )
    return (Alternative("two queues (seed text 001)", why),)


def mtu_decisions(
    site: Site, regime: LossRegime, host_bytes: int, rdma_bytes: int, switch_bytes: Mapping[Role, int]
) -> list[Decision]:
    """MTU of hosts, of RDMA, and of each role of switches."""
    if regime == "infiniband":
        because = "the largest MTU of InfiniBand; IPoIB beside it has 4 bytes less"
        return [Decision("policy.mtu.rdma", rdma_bytes, "bytes", because, source="InfiniBand architecture; RFC 4391")]
    wished = site.qos.mtu_bytes is not None
    found = [
        Decision(
            "policy.mtu.host",
            host_bytes,
            "bytes",
            WISHED if wished else "jumbo frames end to end: fewer packets, and room for RoCE's largest path MTU",
            source=SITE if wished else "seed text 001, section 3.2 (9000 or 9216)",
            alternatives=(Alternative(1500, "RoCE falls to a path MTU of 1024: four times the packets"),),
        )
    ]
    if regime != "tcp":
        because = "the largest path MTU that fits the interface with all headers"
        inputs: dict[str, int] = {"mtu": host_bytes, "headers_bytes": mtu.ROCE_HEADERS_BYTES}
        source = "linux include/rdma/ib_addr.h, iboe_get_mtu"
        formula = "max(256 … 4096) <= mtu - 96"
        found.append(Decision("policy.mtu.rdma", rdma_bytes, "bytes", because, formula, inputs, source))
    if switch_bytes:
        because = "at least the host's on every hop; RoCE is not fragmented, an oversize frame vanishes"
        inputs = {str(role): size for role, size in switch_bytes.items()}
        source = mtu.DEFAULT_OS_MTU.source
        value = min(switch_bytes.values())
        found.append(Decision("policy.mtu.switch", value, "bytes", because, "switch >= host", inputs, source))
    return found


def ecn_decisions(
    limits: Mapping[int, Thresholds], nic_rate_bps: int, trip: RoundTrip, port_limit_bytes: float | None
) -> list[Decision]:
    """Kmin, Kmax and Pmax at the NIC's rate, and at every other rate under an id with that rate."""
    if not limits:
        return []
    first = nic_rate_bps if nic_rate_bps in limits else min(limits)
    found = [_rtt_decision(trip)]
    for rate in (first, *(rate for rate in limits if rate != first)):
        suffix = "" if rate == first else f".{format_port_rate(rate)}"
        found += _ecn_rows(limits[rate], rate, trip, ecn.rules(rate, trip.rtt_s, port_limit_bytes), suffix)
    return found


def _rtt_decision(trip: RoundTrip) -> Decision:
    inputs = {
        "cable_m": trip.cable_m,
        "n_switches": trip.n_switches,
        "switch_latency_s": SWITCH_LATENCY_S,
        "host_latency_s": HOST_LATENCY_S,
    }
    formula = "2 x (cable / v + n_switches x switch_latency + 2 host_latency)"
    because = "unloaded round trip of the longest path inside a room"
    return Decision(
        "policy.rtt", trip.rtt_s, "s", because, formula, inputs, "data sheets (0.5-1 us a switch), assumed for hosts"
    )


def _ecn_rows(row: Thresholds, rate: int, trip: RoundTrip, rules: tuple[Rule, ...], suffix: str) -> list[Decision]:
    inputs = {"rate_bps": rate, "rtt_s": trip.rtt_s, "bdp_bytes": row.bdp_bytes}
    source = SITE if row.rule == "site" else "derived; ramp of the HPCC artifact and SimAI"
    others = [rule for rule in rules if rule.name != "bdp"]
    return [
        Decision(
            f"policy.ecn.kmin{suffix}",
            row.kmin_bytes,
            "bytes",
            row.because,
            row.formula,
            inputs,
            source,
            tuple(Alternative(rule.kmin_bytes, _rejected(rule, row)) for rule in others),
        ),
        Decision(
            f"policy.ecn.kmax{suffix}",
            row.kmax_bytes,
            "bytes",
            row.because,
            row.formula,
            inputs,
            source,
            tuple(Alternative(rule.kmax_bytes, _rejected(rule, row)) for rule in others),
        ),
        Decision(
            f"policy.ecn.pmax{suffix}",
            row.pmax_ratio,
            "ratio",
            "on a 1:4 ramp marks rise gently; 100 % suits a narrow ramp, 5 % a wide one",
            source=source,
            alternatives=tuple(Alternative(r.pmax_ratio, r.source) for r in others if r.pmax_ratio is not None),
        ),
    ]


def _rejected(rule: Rule, row: Thresholds) -> str:
    if rule.kmin_bytes is None or rule.kmax_bytes is None:
        return f"{rule.source}: no bytes follow from it here ({rule.note})"
    depth = ecn.judge(rule.kmin_bytes, rule.kmax_bytes, row.bdp_bytes)
    note = f"; {rule.note}" if rule.note else ""
    return f"{rule.source}: {depth} against a BDP of {format_size(row.bdp_bytes)}{note}"


def watchdog_decision(wish_s: float | None, n_ports: int) -> Decision:
    """The detection time that the largest switch needs, or the wish."""
    timing = watchdog.timing(n_ports)
    return Decision(
        "policy.watchdog.detect",
        timing.detect_s if wish_s is None else wish_s,
        "s",
        WISHED if wish_s is not None else "scales with ports, since one poll visits them all; below BFD detection",
        "0.2 x ceil(ports / 32) < bfd_detection",
        {"ports": n_ports, "bfd_detection_s": watchdog.BFD.detection_s},
        SITE if wish_s is not None else watchdog.DETECT_SOURCE,
        (Alternative(0.05, "a normal pause of a slow receiver would count as a storm and be dropped"),),
    )


def hash_decisions(
    site_name: str, roles: tuple[str, ...], how: LoadBalancing, because: str, regime: LossRegime
) -> list[Decision]:
    """Load balancing, and one seed and offset per tier."""
    found = [Decision("policy.load_balancing", how, "", because, source="site file or loss regime")]
    if regime == "infiniband":
        return found
    seeds, offsets = hashing.seeds(site_name), hashing.offsets()
    fields = ", ".join(sorted(hashing.FIELDS))
    for role in roles:
        why = "differs from the other tiers', so that a spine does not repeat the leaf's choice (polarisation)"
        inputs = {"site": site_name, "tier": role, "fields": fields}
        found.append(Decision(f"policy.hash.seed.{role}", seeds[role], "", why, "sha256(site/tier), 16 bits", inputs))
        why = (
            "another seed only renames the choices of a linear hash (CRC) over 2^n next hops; other bits do not repeat"
        )
        found.append(Decision(f"policy.hash.offset.{role}", offsets[role], "bits", why, "10 bits x tier", inputs))
    return found


def underlay_decisions(regime: LossRegime) -> list[Decision]:
    """The AS number plan of the routed underlay; none on InfiniBand."""
    if regime == "infiniband":
        return []
    source = "RFC 7938 section 5.2.1; private numbers of RFC 6996"
    return [
        Decision(
            "policy.bgp.leaf_asn", addressing.LEAF_ASN, "asn", underlay.ASN_BECAUSE, "first + leaf", source=source
        ),
        Decision(
            "policy.bgp.spine_asn", addressing.SPINE_ASN, "asn", underlay.ASN_BECAUSE, "first + pod", source=source
        ),
    ]


def nccl_decisions(env: tuple[EnvironmentVariable, ...]) -> list[Decision]:
    """One decision per variable of the NCCL environment."""
    found = []
    for row in env:
        others: tuple[Alternative, ...] = ()
        if row.name == "NCCL_IB_TIMEOUT":
            wait_s = nccl.time_to_error_s(nccl.SEED_TIMEOUT)
            others = (
                Alternative(nccl.SEED_TIMEOUT, f"seed text 001: {wait_s:.0f} s to an error hides the cause"),
                Alternative(
                    nccl.OLD_TIMEOUT, f"{nccl.time_to_error_s(nccl.OLD_TIMEOUT):.2f} s is shorter than rerouting"
                ),
            )
        if row.name == "NCCL_IB_DISABLE":
            others = (Alternative("NCCL_IB_ENABLE=1", "seed text 001; no such variable exists, it does nothing"),)
        value = row.value if row.value is not None else "unset"
        found.append(
            Decision(f"policy.nccl.{row.name}", value, "", row.because, source="NCCL 2.30 source", alternatives=others)
        )
    return found


def subnet_decisions(subnet: SubnetSettings, family: str) -> list[Decision]:
    """Routing engine and adaptive routing of an InfiniBand subnet."""
    regular = subnet.routing_engine != "updn" or infiniband.ENGINE_OF_FAMILY.get(family) != "ftree"
    _, because = infiniband.engine_for(family, regular)
    return [
        Decision("policy.infiniband.routing_engine", subnet.routing_engine, "", because, source="OpenSM documentation"),
        Decision(
            "policy.infiniband.adaptive_routing",
            bool(subnet.adaptive_routing),
            "",
            "elephant flows of collectives collide on static routes; NICs of this generation take any order",
            source="NVIDIA Quantum documentation",
        ),
    ]
