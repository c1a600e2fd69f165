"""ECN thresholds: every rule that people publish, what it gives for this speed and RTT, the one we apply, and whether
ECN acts before PFC.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from eastwest.errors import UsageError
from eastwest.policy.buffers import congested_until, dynamic_limit
from eastwest.units import BITS_PER_BYTE, GIGA, KILO, MEBI, MEGA, US_PER_S

HPCC_KMIN_BYTES_PER_GBPS = 100 * KILO / 25  # HPCC artifact: 100 KB at 25G, in proportion
KMAX_OVER_KMIN = 4  # HPCC artifact and SimAI
APPLIED_PMAX_RATIO = 0.2  # HPCC artifact, and SimAI at 400G
HUAWEI_RTT_S = 20 / US_PER_S  # the RTT of its advice
PLAUSIBLE_BDP = (0.2, 15.0)  # outside, warn: the published rules below lie inside at their own speeds
SAFE_CONGESTED_QUEUES = 4  # fewer congested queues than this at which Xoff falls below Kmax is a warning
STEP_BYTES = 1024
MIN_KMIN_PACKETS = 4  # a burst of a few MTUs must pass unmarked
SEED_KMIN_BYTES, SEED_KMAX_BYTES = 50 * KILO, 100 * KILO  # seed text 001, section 4.2
SEED_SHARE_RATIO = (0.3, 0.5)  # seed text 001, section 3.2: of the port's buffer


@dataclass(frozen=True, slots=True)
class Rule:
    """One published rule: what it gives here, in bytes (None: it has no meaning on this chip), and what to know about
    it.
    """

    name: str
    kmin_bytes: int | None
    kmax_bytes: int | None
    pmax_ratio: float | None
    source: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The applied thresholds and how they came about."""

    kmin_bytes: int
    kmax_bytes: int
    pmax_ratio: float
    rule: str
    formula: str
    because: str
    bdp_bytes: int


Depth = Literal["shallow", "plausible", "deep"]


@dataclass(frozen=True, slots=True)
class Order:
    """Whether ECN acts before PFC: Xoff with one congested queue, and the number of queues at which Xoff falls below
    Kmin and Kmax.
    """

    xoff_one_bytes: int
    queues_below_kmax: int
    queues_below_kmin: int
    ecn_first: bool
    safe: bool


def bdp_bytes(rate_bps: int, rtt_s: float) -> int:
    """Bytes in flight that fill the path: rate x RTT / 8.

    >>> bdp_bytes(400 * GIGA, 20e-6)
    1000000
    """
    return round(rate_bps * rtt_s / BITS_PER_BYTE)


def rules(rate_bps: int, rtt_s: float, port_limit_bytes: float | None = None) -> tuple[Rule, ...]:
    """Every documented rule with its value for this speed and RTT.

    `port_limit_bytes` is the dynamic limit of one congested queue, the nearest thing to a port's buffer on a
    shared-memory chip. Source: named in each row; collected in the project's explanation of policy values.
    """
    gbps = rate_bps / GIGA
    scaled = round(HPCC_KMIN_BYTES_PER_GBPS * gbps)
    huawei = bdp_bytes(rate_bps, HUAWEI_RTT_S)
    return (
        Rule("bdp", *_bdp_pair(rate_bps, rtt_s), APPLIED_PMAX_RATIO, "derived", "Kmin = 1 BDP, Kmax = 4 Kmin"),
        Rule("dcqcn-paper", 5 * KILO, 200 * KILO, 0.01, "Zhu et al. 2015, SIGCOMM", "for 40G"),
        Rule("hpcc", scaled, 4 * scaled, 0.2, "HPCC artifact (ns-3)", "100/400 KB at 25G, in proportion to speed"),
        _simai(rate_bps),
        Rule("sonic-azure", MEBI, 2 * MEBI, 0.05, "SONiC qos_config.j2", "from an older chip family; any speed"),
        Rule("sonic-test-plan", 500 * KILO, 2 * MEGA, 0.05, "sonic-mgmt ECN test plan"),
        Rule("nvidia-roce", 150 * KILO, 1500 * KILO, 1.0, "Cumulus and Onyx RoCE mode", "absolute at any speed"),
        Rule("cisco-ai", 150 * KILO, 3 * MEGA, 0.07, "Cisco AI networking guide"),
        Rule("azure-local", 300 * KILO, 300 * KILO, 1.0, "Azure Local reference", "a step, for 10-25G servers"),
        Rule("arista-leaf", 256 * KILO, 512 * KILO, None, "Arista RoCE post", "leaf; spine 512/768 KB"),
        Rule("huawei", 7 * KILO, 3 * huawei, 0.3, "Huawei CloudEngine advice", "Kmax 2-3 BDP at 20 µs"),
        Rule("h3c", None, None, 0.4, "H3C sample", "6000/12000 cells: bytes only with the cell size"),
        Rule("juniper-jvd", None, None, 1.0, "Juniper AI JVD", "55/90 % of the queue's memory"),
        Rule("calculators", 150 * KILO, 450 * KILO, None, "web calculators", "for 400G"),
        _seed_share(port_limit_bytes),
        Rule(
            "seed-50-100",
            SEED_KMIN_BYTES,
            SEED_KMAX_BYTES,
            None,
            "seed text 001, section 4.2",
            judge_depth_note(rate_bps, rtt_s),
        ),
    )


def _bdp_pair(rate_bps: int, rtt_s: float) -> tuple[int, int]:
    kmin = _round_up(bdp_bytes(rate_bps, rtt_s))
    return kmin, KMAX_OVER_KMIN * kmin


def _round_up(size_bytes: float) -> int:
    return max(1, -(-round(size_bytes) // STEP_BYTES)) * STEP_BYTES


def _simai(rate_bps: int) -> Rule:
    table = {
        25: (100, 0.2),
        50: (200, 0.2),
        100: (400, 0.2),
        200: (300, 0.8),
        400: (800, 0.2),
        1600: (600, 0.2),
    }
    row = table.get(rate_bps // GIGA)
    note = "its table is not monotone in speed"
    if row is None:
        return Rule("simai", None, None, None, "SimAI.conf", "no row for this speed")
    return Rule("simai", row[0] * KILO, 4 * row[0] * KILO, row[1], "SimAI.conf", note)


def _seed_share(port_limit_bytes: float | None) -> Rule:
    note = "a shared-memory chip has no fixed port buffer; taken of the dynamic limit of one congested queue"
    source = "seed text 001, section 3.2"
    if port_limit_bytes is None:
        return Rule("seed-30-50-percent", None, None, None, source, note)
    low, high = SEED_SHARE_RATIO
    return Rule("seed-30-50-percent", round(low * port_limit_bytes), round(high * port_limit_bytes), None, source, note)


def judge_depth_note(rate_bps: int, rtt_s: float) -> str:
    """In words, what the seeds' 50/100 KB are at this speed: their share of the BDP."""
    bdp = bdp_bytes(rate_bps, rtt_s)
    shares = f"{SEED_KMIN_BYTES / bdp:.2g}-{SEED_KMAX_BYTES / bdp:.2g} BDP"
    return f"a 10-25G setting; here {shares}, {judge(SEED_KMIN_BYTES, SEED_KMAX_BYTES, bdp)}"


def judge(kmin_bytes: int, kmax_bytes: int, bdp: int) -> Depth:
    """Whether thresholds are shallow (marks at the first burst), plausible, or deep (acts late) against the BDP.

    >>> judge(50_000, 100_000, 1_000_000), judge(500_000, 2_000_000, 1_000_000)
    ('shallow', 'plausible')
    """
    low, high = PLAUSIBLE_BDP
    if kmin_bytes < low * bdp:
        return "shallow"
    return "deep" if kmax_bytes > high * bdp else "plausible"


def apply(rate_bps: int, rtt_s: float, alpha: float, shared_bytes: float, mtu_bytes: int) -> Thresholds:
    """The thresholds that we apply: Kmin one BDP, Kmax four times that, both lowered until PFC stays behind ECN with
    four congested queues.

    `rtt_s` is the unloaded round trip of the longest path inside a room, `shared_bytes` the pool beside all
    headroom. Raises UsageError when the chip cannot even hold a few packets before pausing. Source: derived; the
    ramp 1:4 at 20 % is that of the HPCC artifact and SimAI. It stops being right where incast is far above 4 per
    switch.
    """
    kmin, kmax = _bdp_pair(rate_bps, rtt_s)
    limit = dynamic_limit(alpha, shared_bytes, SAFE_CONGESTED_QUEUES)
    because = "one BDP keeps the link full while senders slow down; the 1:4 ramp at 20 % is that of HPCC and SimAI"
    formula = "kmin = up(rate x rtt / 8); kmax = 4 kmin"
    floor = _round_up(MIN_KMIN_PACKETS * mtu_bytes)
    if kmax > limit:
        kmax = int(limit) // STEP_BYTES * STEP_BYTES
        kmin = max(kmax // KMAX_OVER_KMIN // STEP_BYTES * STEP_BYTES, STEP_BYTES)
        because = f"lowered so that Kmax stays below Xoff with {SAFE_CONGESTED_QUEUES} congested queues on this memory"
        formula = f"kmax = down(alpha B / (1 + {SAFE_CONGESTED_QUEUES} alpha)); kmin = kmax / 4"
    elif kmin < floor:
        kmin, kmax = floor, KMAX_OVER_KMIN * floor
        because = f"the BDP is less than {MIN_KMIN_PACKETS} packets; a burst of that many must pass unmarked"
        formula = f"kmin = up({MIN_KMIN_PACKETS} mtu); kmax = 4 kmin"
    if kmax <= kmin:
        raise UsageError(
            f"{shared_bytes:,.0f} B of shared memory leave no room for marking before pausing",
            hint="shorter cables, fewer lossless ports, or a chip with more memory",
        )
    return Thresholds(kmin, kmax, APPLIED_PMAX_RATIO, "bdp", formula, because, bdp_bytes(rate_bps, rtt_s))


def unbounded(rate_bps: int, rtt_s: float) -> Thresholds:
    """The plain rule without regard to memory: Kmin one BDP, Kmax four times that."""
    kmin, kmax = _bdp_pair(rate_bps, rtt_s)
    because = "one BDP, without regard to memory, which is too small for any order of ECN and PFC"
    return Thresholds(
        kmin, kmax, APPLIED_PMAX_RATIO, "bdp", "kmin = up(rate x rtt / 8)", because, bdp_bytes(rate_bps, rtt_s)
    )


def override(rule: Thresholds, kmin_bytes: int | None, kmax_bytes: int | None, pmax_ratio: float | None) -> Thresholds:
    """The rule with the site's own values in place of its own; a Kmax that nobody gave follows a Kmin above it."""
    if kmin_bytes is None and kmax_bytes is None and pmax_ratio is None:
        return rule
    kmin = rule.kmin_bytes if kmin_bytes is None else kmin_bytes
    kmax = max(rule.kmax_bytes, KMAX_OVER_KMIN * kmin) if kmax_bytes is None else kmax_bytes
    if kmin_bytes is None and kmin >= kmax:
        kmin = kmax // KMAX_OVER_KMIN
    pmax = rule.pmax_ratio if pmax_ratio is None else pmax_ratio
    return Thresholds(kmin, kmax, pmax, "site", "as wished", "wished in the site file", rule.bdp_bytes)


def order(kmin_bytes: int, kmax_bytes: int, alpha: float, shared_bytes: float) -> Order:
    """Whether ECN acts before PFC under a dynamic threshold: Xoff(n) = alpha B / (1 + n alpha) falls as more queues
    congest.

    `ecn_first` is False when even one congested queue pauses below Kmin (an error); `safe` is False when fewer than
    four queues bring Xoff below Kmax (a warning). Source: Choudhury and Hahne 1998; case of one ingress per egress,
    the hardest.

    >>> order(500_000, 2_000_000, 1 / 8, 60e6).queues_below_kmax
    23
    """
    below_kmax, below_kmin = (congested_until(alpha, shared_bytes, depth) for depth in (kmax_bytes, kmin_bytes))
    xoff = int(dynamic_limit(alpha, shared_bytes, 1))
    return Order(xoff, below_kmax, below_kmin, kmin_bytes < xoff, below_kmax >= SAFE_CONGESTED_QUEUES)


def dcqcn_static_xoff_bytes(buffer_bytes: float, n_ports: int, headroom_bytes: float, priorities: int = 8) -> float:
    """The largest static Xoff that keeps all headroom: (B - p n h) / (p n), with p priorities. Source: Zhu et al.
    2015, section 4.
    """
    return (buffer_bytes - priorities * n_ports * headroom_bytes) / (priorities * n_ports)


def dcqcn_dynamic_kmin_bytes(
    buffer_bytes: float, n_ports: int, headroom_bytes: float, beta: float, priorities: int = 8
) -> float:
    """The largest Kmin that acts before PFC under Xoff = beta (B - p n h - s) / p: beta (B - p n h) / (p n (beta + 1)).

    Source: Zhu et al. 2015 (DCQCN), section 4, arithmetic redone.

    >>> round(dcqcn_dynamic_kmin_bytes(12e6, 32, 22.4e3, 8))
    21756
    """
    room = buffer_bytes - priorities * n_ports * headroom_bytes
    return beta * room / (priorities * n_ports * (beta + 1))


def as_json(rows: tuple[Rule, ...], applied: Thresholds, acts: Order | None) -> dict[str, Any]:
    """The working as the verb `ecn` prints it: every rule, the applied one, and the order of ECN and PFC."""
    return {
        "rules": [{name: getattr(row, name) for name in Rule.__dataclass_fields__} for row in rows],
        "applied": {name: getattr(applied, name) for name in Thresholds.__dataclass_fields__},
        "order": {name: getattr(acts, name) for name in Order.__dataclass_fields__} if acts else None,
    }
