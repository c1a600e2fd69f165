"""Traffic classes: which marks land in which priority, which priority is lossless, which is marked, and why there are
that many.

The two seed texts disagree. Text 001 (section 3.2) wants two queues only: RoCE and best effort. Text 000 (section
4.3) wants RoCE, best effort and the control plane apart. The rule applied here: *one lossless class, and control
apart*. CNPs that wait behind bulk data arrive late, and BGP or BFD packets lost in a burst take links down, so they
get a strict queue; it never pauses, so the point of text 001, a single domain of pauses, is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from eastwest.errors import UsageError
from eastwest.policy.settings import N_DSCP, N_PRIORITIES, QosMap, SchedulerKind, table_of
from eastwest.spec.qos import LossRegime, QosWish

ROCE_DSCP = 26  # AF31; default of NVIDIA and Broadcom NICs, of Cumulus and of the Juniper AI JVD
ROCE_PRIORITY = 3  # 26 >> 3, and the lossless priority of most vendors' RoCE defaults
CNP_DSCP = 48  # CS6; mlx5 np_cnp_dscp, Broadcom Thor 2
CONTROL_PRIORITY = 6  # mlx5 CNP_802P_PRIO; Cumulus strict traffic class
CONTROL_DSCPS = frozenset({48, 56})  # CS6 and CS7: routing protocols and BFD, RFC 4594
INFERENCE_DSCP, INFERENCE_PRIORITY = 34, 4  # AF41 (34 >> 3 = 4): our choice, no published default exists
SPARE_PRIORITY = 5
TRIMMED_DSCP, TRIMMED_PRIORITY = 40, 5  # CS5: our choice; a trimmed header must overtake data
RESERVED_PRIORITIES = frozenset({6, 7})  # network and internetwork control, IEEE 802.1Q annex I
WEIGHTS_ONE = (80, 20)  # RoCE, best effort
WEIGHTS_TWO = (50, 30, 20)  # training, inference, best effort
SEED_TWO_QUEUES = "seed text 001, section 3.2: only two queues, RoCE and best effort"
SEED_THREE_CLASSES = "seed text 000, section 4.3: RoCE, best effort and the control plane each in its own queue"


@dataclass(frozen=True, slots=True)
class TrafficClass:
    """One class, the same on every hop: its marks (`dscps`), wire `priority`, queue and priority group, lossless or
    not, ECN or not.

    `strict` queues go first, the others share by `weight`; `carries` says what runs in it. On InfiniBand
    `service_level` and `virtual_lane` count, and no DSCP does.
    """

    name: str
    dscps: frozenset[int]
    priority: int
    lossless: bool
    ecn: bool
    scheduler: SchedulerKind
    weight: int | None
    carries: tuple[str, ...]
    because: str
    service_level: int | None = None
    virtual_lane: int | None = None
    trims: bool = False

    @property
    def tc(self) -> int:
        """Traffic class number; the same as the priority everywhere."""
        return self.priority

    @property
    def queue(self) -> int:
        """Egress queue; the same as the priority, dialects renumber where their OS must."""
        return self.priority

    @property
    def pg(self) -> int:
        """Ingress priority group: its own when lossless, 0 otherwise."""
        return self.priority if self.lossless else 0

    def as_json(self) -> dict[str, Any]:
        """The class as a row of the plan."""
        return {
            "name": self.name,
            "carries": ", ".join(self.carries),
            "dscp": _ranges(self.dscps),
            "priority": self.priority,
            "queue": self.queue,
            "pg": self.pg,
            "lossless": self.lossless,
            "ecn": self.ecn,
            "scheduler": self.scheduler,
            "weight": self.weight,
            "service_level": self.service_level,
            "virtual_lane": self.virtual_lane,
            "because": self.because,
        }


def _ranges(numbers: frozenset[int]) -> str:
    """ "0-25, 27-47" of a set of numbers."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(f"{low}" if low == high else f"{low}-{high}" for low, high in parts)


def classes_of(regime: LossRegime, wish: QosWish, separate_inference: bool) -> tuple[TrafficClass, ...]:
    """The traffic classes of a loss regime, user's marks first; every DSCP is in exactly one class.

    Raises UsageError when two classes would share a DSCP or a priority: `clashes` says which, before.
    """
    if regime == "infiniband":
        return _infiniband(separate_inference)
    marked = [*_rdma(regime, wish, separate_inference), *_control(regime, wish)]
    if regime == "spray-trim":
        marked.append(_trimmed())
    taken: frozenset[int] = frozenset().union(*(row.dscps for row in marked))
    if sum(len(row.dscps) for row in marked) != len(taken):
        shared = (f"{row.one.name} and {row.other.name}" for row in clashes(wish, separate_inference, regime))
        raise UsageError("two traffic classes share a DSCP", hint="; ".join(shared))
    return (*marked, _best_effort(frozenset(range(N_DSCP)) - taken, marked))


def _rdma(regime: LossRegime, wish: QosWish, separate_inference: bool) -> list[TrafficClass]:
    """The RDMA classes of an Ethernet regime; none for TCP."""
    if regime == "tcp":
        return []
    lossless = regime == "lossless"
    weights = WEIGHTS_TWO if separate_inference else WEIGHTS_ONE
    dscp, priority = roce_marks(wish)
    because = (
        "one class holds all RDMA data, so that exactly one priority can pause" if lossless else _why_lossy(regime)
    )
    carries = ("RoCE data", "RoCE acknowledgements") if not separate_inference else ("RoCE data of training",)
    roce = TrafficClass("roce", frozenset({dscp}), priority, lossless, True, "dwrr", weights[0], carries, because)
    roce = replace(roce, trims=regime == "spray-trim")
    if not separate_inference:
        return [roce]
    inference = replace(
        roce,
        name="inference",
        dscps=frozenset({INFERENCE_DSCP if wish.inference_dscp is None else wish.inference_dscp}),
        priority=inference_priority(priority),
        weight=weights[1],
        carries=("RoCE data of inference",),
        because="small latency-bound flows must not queue behind training bursts; it pauses for itself only",
    )
    return [roce, inference]


def _why_lossy(regime: LossRegime) -> str:
    if regime == "ecn-only":
        return "ECN alone holds queues down; senders recover the rare loss, nothing pauses"
    return "packets are sprayed; an overflowing packet is cut to its header, which asks for it again at once"


def _control(regime: LossRegime, wish: QosWish) -> list[TrafficClass]:
    """CNPs and the control plane: one strict queue, never lossless."""
    cnp = cnp_dscp(wish)
    rows: list[tuple[str, frozenset[int], tuple[str, ...], str]]
    carries: tuple[str, ...] = ("BGP", "BFD", "LLDP by the CPU queue")
    because = "lost routing packets take links down, so control goes first and never pauses"
    if regime == "tcp":
        rows = [("control", CONTROL_DSCPS, carries, because)]
    else:
        shared = cnp in CONTROL_DSCPS
        whose: tuple[str, ...] = ("CNP", "BGP", "BFD") if shared else ("CNP",)
        why = "a late CNP is useless, so it goes first; not lossless, so that a pause cannot hold it"
        if shared:
            why += f"; DSCP {cnp} is both the CNP's and the control plane's mark, so BGP and BFD share its queue"
        rows = [
            ("cnp", frozenset({cnp}), whose, why),
            ("control", CONTROL_DSCPS - {cnp}, ("network control",) if shared else carries, because),
        ]
    return [
        TrafficClass(name, dscps, CONTROL_PRIORITY, False, False, "strict", None, who, why)
        for name, dscps, who, why in rows
    ]


def _trimmed() -> TrafficClass:
    return TrafficClass(
        "trimmed",
        frozenset({TRIMMED_DSCP}),
        TRIMMED_PRIORITY,
        False,
        False,
        "strict",
        None,
        ("headers of trimmed packets",),
        "the header must reach the receiver before the data behind it",
    )


def _best_effort(dscps: frozenset[int], marked: list[TrafficClass]) -> TrafficClass:
    weight = 100 - sum(row.weight or 0 for row in marked)
    because = "everything that nobody marked; it drops under congestion and can pause nobody"
    return TrafficClass(
        "best-effort", dscps, 0, False, False, "dwrr", weight, ("TCP", "storage", "management"), because
    )


def _infiniband(separate_inference: bool) -> tuple[TrafficClass, ...]:
    """Service levels and virtual lanes: credits make every lane lossless; VL 15 is the subnet manager's."""
    none: frozenset[int] = frozenset()
    weights: tuple[int, ...] = WEIGHTS_TWO if separate_inference else (100,)
    because = "link-level credits make every lane lossless; there is no PFC and no headroom to set"
    rows = [TrafficClass("rdma", none, 0, True, False, "dwrr", weights[0], ("RDMA data",), because, 0, 0)]
    if separate_inference:
        why = "its own lane, so that training bursts do not hold its credits"
        rows.append(
            TrafficClass("inference", none, 1, True, False, "dwrr", weights[1], ("RDMA of inference",), why, 1, 1)
        )
    management = "the subnet manager's packets have a lane of their own without credits (InfiniBand architecture)"
    rows.append(
        TrafficClass("management", none, 7, False, False, "strict", None, ("subnet management",), management, 15, 15)
    )
    return tuple(rows)


def roce_marks(wish: QosWish) -> tuple[int, int]:
    """DSCP and priority of RoCE data; a wished DSCP without a priority takes DSCP >> 3 when that priority is free for
    data.
    """
    dscp = ROCE_DSCP if wish.dscp is None else wish.dscp
    if wish.priority is not None:
        return dscp, wish.priority
    natural = dscp // N_PRIORITIES
    return dscp, natural if 0 < natural < CONTROL_PRIORITY else ROCE_PRIORITY


def cnp_dscp(wish: QosWish) -> int:
    """DSCP of CNPs."""
    return CNP_DSCP if wish.cnp_dscp is None else wish.cnp_dscp


def inference_priority(roce_priority: int) -> int:
    """The inference class's priority: 4, or 5 when RoCE data has 4."""
    return INFERENCE_PRIORITY if roce_priority != INFERENCE_PRIORITY else SPARE_PRIORITY


@dataclass(frozen=True, slots=True)
class Mark:
    """Who has a DSCP: `name` as people say it, `key` of the site file's `qos` that sets it ("" when none does)."""

    name: str
    dscp: int
    key: str


@dataclass(frozen=True, slots=True)
class Clash:
    """Two kinds of traffic with one DSCP."""

    one: Mark
    other: Mark


def clashes(wish: QosWish, separate_inference: bool, regime: LossRegime = "lossless") -> tuple[Clash, ...]:
    """Pairs of classes that would share a DSCP; CNPs may share that of the control plane. Empty when there is none.

    >>> [(row.one.name, row.other.name) for row in clashes(QosWish.model_validate({"dscp": 48}), False)]
    [('RoCE data', 'CNP'), ('RoCE data', 'routing protocols')]
    """
    roce, cnp = Mark("RoCE data", roce_marks(wish)[0], "dscp"), Mark("CNP", cnp_dscp(wish), "cnp_dscp")
    data = [roce]
    if separate_inference:
        dscp = INFERENCE_DSCP if wish.inference_dscp is None else wish.inference_dscp
        data.append(Mark("inference data", dscp, "inference_dscp"))
    control = [Mark("routing protocols", dscp, "") for dscp in sorted(CONTROL_DSCPS)]
    pairs = [*combinations(data, 2), *((one, other) for one in data for other in (cnp, *control))]
    if regime == "spray-trim":
        trimmed = Mark("trimmed packets", TRIMMED_DSCP, "")
        pairs += [(one, trimmed) for one in (*data, cnp)]
    return tuple(Clash(one, other) for one, other in pairs if one.dscp == other.dscp)


def lossless_priorities(classes: tuple[TrafficClass, ...]) -> frozenset[int]:
    """The wire priorities that pause; empty on InfiniBand, where credits do that work."""
    return frozenset(row.priority for row in classes if row.lossless and row.service_level is None)


def class_of_dscp(classes: tuple[TrafficClass, ...]) -> Mapping[int, TrafficClass]:
    """DSCP -> its class, for all 64."""
    return {dscp: row for row in classes for dscp in row.dscps}


def map_of(classes: tuple[TrafficClass, ...], name: str = "EASTWEST") -> QosMap:
    """The classification tables of every port of every switch: the same on every hop.

    Priorities that no class uses go to traffic class 0 on arrival; queue and priority maps are the identity.
    """
    tcs = {dscp: row.tc for dscp, row in class_of_dscp(classes).items()}
    used = {row.priority: row.tc for row in classes}
    identity = {key: key for key in range(N_PRIORITIES)}
    pgs = {row.tc: row.pg for row in classes}
    return QosMap(
        name,
        trust="dscp",
        dscp_to_tc=table_of(N_DSCP, tcs, 0),
        pcp_to_tc=table_of(N_PRIORITIES, used, 0),
        tc_to_queue=table_of(N_PRIORITIES, identity),
        tc_to_pg=table_of(N_PRIORITIES, pgs, 0),
        tc_to_priority=table_of(N_PRIORITIES, identity),
        pfc_priority_to_queue=table_of(N_PRIORITIES, identity),
        pfc_priority_to_pg=table_of(N_PRIORITIES, pgs, 0),
    )
