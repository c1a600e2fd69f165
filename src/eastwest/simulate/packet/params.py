"""How devices and hosts behave in a packet run: what a scenario says, and what holds where it says nothing.

Every default has a source; rates and sizes that depend on the speed of a port are rules, not numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eastwest.simulate.packet.cc.control import PARAMS
from eastwest.simulate.packet.kernel import Records
from eastwest.units import GIGA, KILO, MEGA

QUANTUM_BITS = 512  # IEEE 802.3 annex 31B
MOST_QUANTA = 65_535
TIMEOUT_UNIT_PS = 4_096_000  # 4.096 us x 2^t, InfiniBand specification 12.7.34
NO_LIFETIME = 20  # from here on what stands at the head of a queue is never given up (14.2.5.6)
NO_LIFETIME_PS = 1 << 60
PS_PER_US = 1_000_000
WATCHDOG_ACTIONS = ("none", "drop", "forward")  # in the order of the watchdog's states
TCP_CONTROLS = ("reno", "cubic", "dctcp")  # in the order of the control's own numbers; Linux's default is cubic
TCP_RETRIES = 15  # Linux tcp_retries2
QUEUES = ("rdma", "best_effort")
PFC_CLASSES = ("off", "rdma", "all")
ANSWER_BYTES = 84  # the least Ethernet frame, 64, with preamble and gap, 20
# Response of a transmitter to a pause frame in quanta by speed: IEEE 802.3 tables 31B, as SONiC uses them.
RESPONSE_QUANTA = ((10, 67), (25, 80), (40, 118), (50, 147), (100, 394), (200, 453), (400, 905))


@dataclass(frozen=True, slots=True)
class DeviceWish:
    """How one switch differs from the others; None: as they are. `pfc` is `off`, `rdma` or `all` classes;
    `misclassified` keeps RDMA packets in the best-effort class there (a wrong DSCP map); `mtu_bytes` of all its ports.
    """

    name: str
    buffer_bytes: int | None = None
    alpha: float | None = None
    headroom_bytes: int | None = None
    xoff_bytes: int | None = None
    pfc: str | None = None
    ecn: bool | None = None
    kmin_bytes: int | None = None
    kmax_bytes: int | None = None
    misclassified: bool = False
    mtu_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class TransportOfTraffic:
    """A traffic whose transport is not the scenario's, and the class that it is put into: `rdma` or `best_effort`."""

    traffic: str
    transport: str
    queue: str


@dataclass(frozen=True, slots=True)
class StormWish:
    """A host whose NIC asks for pauses without end, from `at_ps` for `length_ps`."""

    host: str
    at_ps: int
    length_ps: int


@dataclass(frozen=True, slots=True)
class WatchdogWish:
    """PFC watchdog of all switches; SONiC's defaults (200 ms each) when only the action is given."""

    action: str = "drop"
    detect_ps: int = 200_000_000_000
    restore_ps: int = 200_000_000_000
    poll_ps: int = 200_000_000_000


@dataclass(frozen=True, slots=True)
class PacketParams:
    """Behaviour of switches, NICs and transports; sizes in bytes, times in ps.

    `kmin_bytes`, `kmax_bytes` 0: by the rate of the port, 4 and 16 KB for each Gb/s (the rule of the HPCC simulator,
    Li et al. 2019). `headroom_bytes` -1: two cable lengths, two packets and the response of the peer. `xoff_bytes` 0:
    dynamic, alpha times what is free.
    """

    buffer_bytes: int = 32 * MEGA  # of each switch: what published packet studies take for any switch
    cell_bytes: int = 1
    alpha: float = 1.0  # dynamic_th 0; 1/8 in SONiC's lossless profiles
    lossy_alpha: float = 1.0
    reserved_bytes: int = 4 * KILO
    xoff_bytes: int = 0
    xon_offset_bytes: int = 3 * KILO
    headroom_bytes: int = -1
    pfc: str = "rdma"  # classes that it holds for: off, rdma or all
    ecn: bool = True
    kmin_bytes: int = 0
    kmax_bytes: int = 0
    pmax: float = 0.2
    response: bool = True  # transmitters need their response time
    cut_through_bytes: int = 0
    nic_buffer_bytes: int = 2 * MEGA
    credit_bytes: int = 0  # InfiniBand: buffer of a virtual lane; 0: what a cable at line rate needs, and four packets
    head_of_queue: int = 18  # InfiniBand: lifetime 4.096 us x 2^n; OpenSM's head_of_queue_lifetime 0x12
    timeout: int = 20  # NCCL_IB_TIMEOUT since NCCL 2.23
    retries: int = 7
    recovery: str = "go_back_n"
    window_packets: int = 1 << 30
    answers_with_data: bool = True  # acknowledgements in the class of the data
    notice_period_ps: int = 50 * PS_PER_US  # between two notices of one flow (Zhu et al. 2015)
    flowlet_gap_ps: int = 50 * PS_PER_US
    tcp: str = "cubic"
    target_delay_ps: int = 10 * PS_PER_US  # of queues, for delay-based control
    jitter_ps: int = 0  # between packets of a sender; without it drop-tail queues may favour one sender for ever
    drops_non_ect: bool = False  # marking queues drop what cannot be marked
    transports: tuple[TransportOfTraffic, ...] = ()
    devices: tuple[DeviceWish, ...] = ()
    storms: tuple[StormWish, ...] = ()
    watchdog: WatchdogWish | None = None


AS_USUAL = PacketParams()


def ecn_limits(params: PacketParams, rate_bps: int) -> tuple[int, int]:
    """Kmin and Kmax of a queue in bytes, by the rate of its port."""
    gbps = rate_bps / GIGA
    return (
        params.kmin_bytes or round(4 * KILO * gbps),
        params.kmax_bytes or round(16 * KILO * gbps),
    )


def response_ps(rate_bps: int) -> int:
    """Longest time from a pause frame to the stop of a transmitter, ps: the table's row for that speed or above."""
    quanta = next((found for gbps, found in RESPONSE_QUANTA if rate_bps <= gbps * GIGA), RESPONSE_QUANTA[-1][1])
    return quanta * QUANTUM_BITS * 1_000_000_000_000 // max(1, rate_bps)


def headroom_of(params: PacketParams, rate_bps: int, delay_ps: int, packet_bytes: int) -> int:
    """Bytes that still arrive after the decision to pause, for one group of a port.

    The frame waits for the packet on the line, travels, is obeyed after the response time, when a packet may just have
    begun, and what is on the wire then still comes. With a dynamic threshold one packet more: the one that finds the
    threshold fallen since the last one.
    """
    if params.headroom_bytes >= 0:
        return params.headroom_bytes
    waits = response_ps(rate_bps) if params.response else 0
    on_the_way = (2 * delay_ps + waits) * rate_bps // (8 * 1_000_000_000_000) + 1
    n_packets = 2 if params.xoff_bytes else 3
    packets = n_packets * (packet_bytes + params.cell_bytes) + ANSWER_BYTES
    return on_the_way + packets + on_the_way * params.cell_bytes // max(1, packet_bytes)


def credits_of(params: PacketParams, rate_bps: int, delay_ps: int, packet_bytes: int) -> int:
    """Bytes of a virtual lane's buffer at the end of a link: what is on the cable both ways, and four packets."""
    on_the_way = 2 * delay_ps * rate_bps // (8 * 1_000_000_000_000) + 1
    return params.credit_bytes or on_the_way + 4 * packet_bytes


def table_of(params: PacketParams, payload_bytes: int, overhead_bytes: int, rate_bps: int) -> Records:
    """(1,) PARAMS of a run; `rate_bps` of the hosts scales the steps of DCQCN, published for 40 Gb/s."""
    table = np.zeros(1, PARAMS)
    row = table[0]
    scale = max(1.0, rate_bps / (40 * GIGA))
    row["g"] = 1 / 256
    row["alpha_period_ps"], row["raise_period_ps"] = 55 * PS_PER_US, 55 * PS_PER_US
    row["cut_period_ps"], row["notice_period_ps"] = 50 * PS_PER_US, params.notice_period_ps
    row["raise_bytes"], row["recovery_stages"] = 10 * MEGA, 5
    row["additive_bps"], row["hyper_bps"] = round(40 * MEGA * scale), round(200 * MEGA * scale)
    row["least_bps"] = round(rate_bps / 1000)
    row["target_delay_ps"], row["beta"], row["most_cut"] = params.target_delay_ps, 0.8, 0.5  # Swift, as in csg-htsim
    row["additive_window"] = 1.0
    row["payload_bytes"], row["overhead_bytes"] = payload_bytes, overhead_bytes
    row["answer_bytes"] = ANSWER_BYTES
    row["answers_with_data"] = params.answers_with_data
    has_end = params.head_of_queue < NO_LIFETIME
    row["head_of_queue_ps"] = TIMEOUT_UNIT_PS << params.head_of_queue if has_end else NO_LIFETIME_PS
    row["nak_period_ps"] = 500 * PS_PER_US
    row["flowlet_gap_ps"], row["jitter_ps"] = params.flowlet_gap_ps, params.jitter_ps
    if params.watchdog is not None:
        dog = params.watchdog
        row["watchdog"] = WATCHDOG_ACTIONS.index(dog.action)
        row["poll_ps"], row["detect_ps"], row["restore_ps"] = dog.poll_ps, dog.detect_ps, dog.restore_ps
    return table
