"""`DeviceSettings`, the keystone: how one switch behaves or must behave, without any vendor's words.

`config` renders it, `dialects` parse text into it, `audit` compares two of it, `simulate` runs it. Three states are
never merged:

- *set*: the field holds a value;
- *not configured*: the section is in `DeviceSettings.seen` and the field is None (or empty): the device does what
  its OS does by default;
- *not seen*: the section is not in `seen`: the text at hand did not show it, so nothing can be said about it.

Names of maps, queue plans and buffer profiles are references: a port may name one that does not exist, which
`dangling` lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from eastwest.policy.settings_routing import BgpSettings, LldpSettings, TunnelSettings
from eastwest.spec.qos import LoadBalancing

Role = Literal["leaf", "spine", "core", "box", "unknown"]
Trust = Literal["dscp", "pcp", "both", "none"]
Mode = Literal["on", "off", "auto"]
Fec = Literal["rs", "fc", "none", "auto"]
SchedulerKind = Literal["strict", "dwrr", "wrr"]
PoolDirection = Literal["ingress", "egress", "both"]
WatchdogAction = Literal["drop", "forward", "alert", "errdisable"]
Section = Literal[
    "ports",
    "mtu",
    "maps",
    "rewrite",
    "pfc",
    "ecn",
    "scheduler",
    "buffers",
    "watchdog",
    "hash",
    "addresses",
    "bgp",
    "lldp",
    "tunnels",
]

N_DSCP = 64  # RFC 2474, six bits
N_PRIORITIES = 8  # IEEE 802.1Q, three bits
SECTIONS: frozenset[Section] = frozenset(get_args(Section))
ClassTable = tuple[int | None, ...]


def table_of(size: int, rows: Mapping[int, int], default: int | None = None) -> ClassTable:
    """A class table of `size` rows: `rows` where given, else `default`; None is a row that no text configures.

    >>> table_of(8, {3: 3}, 0)
    (0, 0, 0, 3, 0, 0, 0, 0)
    """
    return tuple(rows.get(key, default) for key in range(size))


@dataclass(frozen=True, slots=True)
class QosMap:
    """A named set of classification tables, as a port attaches it.

    `dscp_to_tc` (64,), `pcp_to_tc`, `tc_to_queue`, `tc_to_pg`, `pfc_priority_to_queue`, `pfc_priority_to_pg`,
    `tc_to_priority` (8,); a row is None when nothing is configured for it. `tc_to_priority` is the wire priority
    that pauses and 802.1p marks carry; `tc_to_dscp` and `tc_to_pcp` rewrite on egress (None: the packet keeps its
    mark). An empty table () means that the text does not configure it at all.
    """

    name: str
    trust: Trust | None = None
    dscp_to_tc: ClassTable = ()
    pcp_to_tc: ClassTable = ()
    tc_to_queue: ClassTable = ()
    tc_to_pg: ClassTable = ()
    tc_to_priority: ClassTable = ()
    pfc_priority_to_queue: ClassTable = ()
    pfc_priority_to_pg: ClassTable = ()
    tc_to_dscp: ClassTable = ()
    tc_to_pcp: ClassTable = ()


@dataclass(frozen=True, slots=True)
class WrittenThresholds:
    """ECN thresholds in the text's own unit when that is not bytes: cells, ratio (of the queue's memory), s, segments,
    packets.
    """

    kmin: float
    kmax: float
    unit: Literal["cells", "ratio", "s", "segments", "packets"]


@dataclass(frozen=True, slots=True)
class EcnSettings:
    """Marking of one queue: below `kmin_bytes` never, up to `pmax_ratio` at `kmax_bytes`, always above.

    `marks` False is WRED that drops although somebody may believe that it marks; `drops_non_ect` says whether
    packets without ECT are dropped by the same ramp (None: the text does not say). `kmin_bytes`/`kmax_bytes` are
    None when `written` cannot be turned into bytes without the chip.
    """

    kmin_bytes: int | None
    kmax_bytes: int | None
    pmax_ratio: float | None = None
    marks: bool | None = True
    drops_non_ect: bool | None = None
    written: WrittenThresholds | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class SchedulerSettings:
    """How a queue is served: strict before all others, or its weight; `min_rate_bps` guaranteed, `max_rate_bps`
    shaped.
    """

    kind: SchedulerKind
    weight: int | None = None
    min_rate_bps: int | None = None
    max_rate_bps: int | None = None
    min_ratio: float | None = None
    max_ratio: float | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """One egress queue: marking, service, and the buffer profile that limits it (its name)."""

    queue: int
    ecn: EcnSettings | None = None
    scheduler: SchedulerSettings | None = None
    buffer_profile: str | None = None


@dataclass(frozen=True, slots=True)
class QueuePlan:
    """A named set of egress queues, as a port attaches it; a queue that is not listed is not configured."""

    name: str
    queues: tuple[QueueSettings, ...] = ()

    def get(self, queue: int) -> QueueSettings | None:
        """The settings of that queue, or None when it is not configured."""
        return next((row for row in self.queues if row.queue == queue), None)


@dataclass(frozen=True, slots=True)
class BufferPool:
    """A part of the chip's packet memory; `shared_headroom_bytes` is the shared headroom pool beside it (SONiC
    `xoff`); None: chip default.
    """

    name: str
    direction: PoolDirection
    dynamic: bool
    size_bytes: int | None = None
    shared_headroom_bytes: int | None = None
    size_ratio: float | None = None


@dataclass(frozen=True, slots=True)
class BufferProfile:
    """What one priority group or queue may use of a pool.

    Either `alpha` (dynamic: may use alpha x the pool's free bytes; SONiC's `dynamic_th` n is 2**n) or
    `static_limit_bytes`. `reserved_bytes` is its own. A lossless profile has `xoff_bytes` (headroom: room for what
    arrives after the pause), `xon_bytes` and `xon_offset_bytes`; `headroom_size_bytes` is all that is set aside for
    it outside the shared part (`size`).
    """

    name: str
    pool: str | None
    reserved_bytes: int | None = None
    alpha: float | None = None
    static_limit_bytes: int | None = None
    xoff_bytes: int | None = None
    xon_bytes: int | None = None
    xon_offset_bytes: int | None = None
    headroom_size_bytes: int | None = None
    on_overflow: Literal["drop", "trim"] = "drop"

    @property
    def lossless(self) -> bool:
        """Whether it holds headroom, so that a pause can be in time."""
        return bool(self.xoff_bytes or self.headroom_size_bytes)


@dataclass(frozen=True, slots=True)
class PriorityGroup:
    """One ingress priority group of a port: `profile` by name; "" means computed by the device, None means no profile
    at all.
    """

    pg: int
    profile: str | None = None


@dataclass(frozen=True, slots=True)
class PfcSettings:
    """Priority flow control of one port: `rx` are the priorities whose pauses it obeys, `tx` those that it pauses.

    `operational` is what a show command reports (None: not shown); `auto` that is operationally off is the
    commonest live failure.
    """

    mode: Mode
    rx: frozenset[int] = frozenset()
    tx: frozenset[int] = frozenset()
    operational: bool | None = None
    operational_priorities: frozenset[int] | None = None

    @property
    def priorities(self) -> frozenset[int]:
        """Priorities that are lossless both ways when it is on; nothing when it is off."""
        return self.rx & self.tx if self.mode != "off" else frozenset()


@dataclass(frozen=True, slots=True)
class WatchdogSettings:
    """PFC watchdog: a priority that is paused for `detect_s` without progress is dropped or forwarded until it is
    quiet for `restore_s`.
    """

    enabled: bool
    detect_s: float | None = None
    restore_s: float | None = None
    poll_s: float | None = None
    action: WatchdogAction | None = None
    robustness: int | None = None


@dataclass(frozen=True, slots=True)
class HashSettings:
    """How a flow chooses its uplink: the fields, the seed and the function that make the hash; `rdma_qp` is the
    destination QP of the BTH.

    `offset` rotates or selects bits of the hash (per tier, against polarisation); `flowlet_gap_s` for flowlet, None
    elsewhere.
    """

    fields: frozenset[str] = frozenset()
    seed: int | None = None
    algorithm: str | None = None
    offset: int | None = None
    load_balancing: LoadBalancing | None = None
    flowlet_gap_s: float | None = None


@dataclass(frozen=True, slots=True)
class PortSettings:
    """One logical port.

    `mtu_bytes` is the largest IP packet that passes (dialects convert what their OS counts), `lanes` and
    `breakout_parts` how a cage is split, `cable_length_m` what the headroom is set for, `peer` and `peer_port` who
    should be at the other end, `addresses` in CIDR form. `watched` are the priorities under the watchdog (None: not
    configured); `watchdog` overrides the device's own.
    """

    name: str
    rate_bps: int | None = None
    mtu_bytes: int | None = None
    fec: Fec | None = None
    enabled: bool | None = None
    breakout_parts: int | None = None
    lanes: tuple[int, ...] = ()
    alias: str | None = None
    pfc: PfcSettings | None = None
    link_pause_rx: bool | None = None
    link_pause_tx: bool | None = None
    watched: frozenset[int] | None = None
    watchdog: WatchdogSettings | None = None
    qos_map: str | None = None
    queue_plan: str | None = None
    priority_groups: tuple[PriorityGroup, ...] = ()
    cable_length_m: float | None = None
    addresses: tuple[str, ...] = ()
    vlans: tuple[int, ...] = ()
    vrf: str | None = None
    description: str | None = None
    peer: str | None = None
    peer_port: str | None = None
    faces: Literal["server", "uplink", "downlink", "room", "unknown"] = "unknown"

    def group(self, pg: int) -> PriorityGroup | None:
        """The priority group's row, or None when it is not configured."""
        return next((row for row in self.priority_groups if row.pg == pg), None)


@dataclass(frozen=True, slots=True)
class DeviceSettings:
    """One switch: maps, queue plans, buffers, ports, watchdog, hash, routing; `seen` names the sections that the text
    showed.
    """

    name: str
    os: str | None = None
    role: Role = "unknown"
    asic: str | None = None
    model: str | None = None
    mtu_bytes: int | None = None
    qos_maps: tuple[QosMap, ...] = ()
    queue_plans: tuple[QueuePlan, ...] = ()
    pools: tuple[BufferPool, ...] = ()
    profiles: tuple[BufferProfile, ...] = ()
    watchdog: WatchdogSettings | None = None
    hash: HashSettings | None = None
    ecn_enabled: bool | None = None
    buffer_total_bytes: int | None = None
    cell_bytes: int | None = None
    ports: tuple[PortSettings, ...] = ()
    bgp: BgpSettings | None = None
    lldp: LldpSettings | None = None
    tunnels: TunnelSettings | None = None
    extra: Mapping[str, str] = field(default_factory=dict)
    seen: frozenset[Section] = SECTIONS

    def port(self, name: str) -> PortSettings | None:
        """The port of that name, or None."""
        return next((port for port in self.ports if port.name == name), None)

    def qos_map(self, name: str | None) -> QosMap | None:
        """The classification tables of that name, or None."""
        return next((row for row in self.qos_maps if row.name == name), None)

    def queue_plan(self, name: str | None) -> QueuePlan | None:
        """The queue plan of that name, or None."""
        return next((row for row in self.queue_plans if row.name == name), None)

    def profile(self, name: str | None) -> BufferProfile | None:
        """The buffer profile of that name, or None."""
        return next((row for row in self.profiles if row.name == name), None)

    def pool(self, name: str | None) -> BufferPool | None:
        """The buffer pool of that name, or None."""
        return next((row for row in self.pools if row.name == name), None)

    def sees(self, section: Section) -> bool:
        """Whether the text showed that section: False means that nothing can be said about it."""
        return section in self.seen
