"""What a scenario says of its transport beside the name: TCP's windows, losses and their recovery, policers, flowlets.

Read from `tcp:`, `loss:`, `policers:` and `flowlet:`; every key has a default with a source.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eastwest.policy.hashing import FLOWLET_GAP_S
from eastwest.policy.nccl import RETRY_CNT, TIMEOUT
from eastwest.simulate.network import Level
from eastwest.simulate.sections import Mistakes, Section
from eastwest.spec.document import Path
from eastwest.spec.mistakes import shown
from eastwest.units import MEBI, PS_PER_S

INITIAL_SEGMENTS = 10  # RFC 6928
MAX_WINDOW_BYTES = 4 * MEBI  # Linux: greatest send buffer by default (tcp_wmem)
MIN_RTO_PS = 200_000_000_000  # Linux: TCP_RTO_MIN, 200 ms
SEGMENTS_PER_ACK = 2  # delayed acknowledgements, RFC 5681 section 4.2
IDLE_RULES = ("rfc5681", "linux", "off")
RESPONSES = ("pftk", "mathis")
RECOVERIES = ("go_back_n", "selective_repeat")
TAILS = ("drawn", "ignored")
LEVELS = tuple(level.name.lower() for level in Level)
MAX_TIMEOUT = 31  # five bits of a queue pair's context, InfiniBand architecture
MAX_RETRIES = 7  # three bits
FLOWLET_WAYS = 16
MAX_FLOWLET_WAYS = 256
FLOWLET_CHOICES = ("drawn", "least_loaded")
FAILOVERS = ("port", "rail")


@dataclass(frozen=True, slots=True)
class TcpWish:
    """Windows of TCP: payload bytes, `idle` one of IDLE_RULES, `response` the closed form for loss."""

    initial_segments: int = INITIAL_SEGMENTS
    max_window_bytes: int = MAX_WINDOW_BYTES
    idle: str = "rfc5681"
    min_rto_ps: int = MIN_RTO_PS
    host_delay_ps: int = 0
    slow_start: bool = True
    has_tail_probe: bool = True
    segments_per_ack: int = SEGMENTS_PER_ACK
    response: str = "pftk"


@dataclass(frozen=True, slots=True)
class LinkLoss:
    """A part of the packets lost on the cables between two nodes, or in a box (one name)."""

    names: tuple[str, ...]
    ratio: float
    path: Path


@dataclass(frozen=True, slots=True)
class LossWish:
    """Losses: of every flow end to end, by level of links, of single links and boxes; and how flows recover (`recovery`
    empty: as the transport does).
    """

    flow_ratio: float = 0.0
    levels: tuple[tuple[str, float], ...] = ()
    links: tuple[LinkLoss, ...] = ()
    recovery: str = ""
    timeout: int = TIMEOUT
    retries: int = RETRY_CNT
    tail: str = "drawn"


@dataclass(frozen=True, slots=True)
class PolicerWish:
    """A rate above which packets are dropped, of cables between two nodes or of a box (`rate_bps` 0: its limit)."""

    names: tuple[str, ...]
    rate_bps: int
    burst_bytes: int
    path: Path


@dataclass(frozen=True, slots=True)
class FlowletWish:
    """When and how flowlets choose another way, and out of how many."""

    gap_ps: int = round(FLOWLET_GAP_S * PS_PER_S)
    choice: str = "drawn"
    ways: int = FLOWLET_WAYS


@dataclass(frozen=True, slots=True)
class TransportWish:
    """All of it; `loss` None: nothing is lost."""

    tcp: TcpWish = TcpWish()
    loss: LossWish | None = None
    policers: tuple[PolicerWish, ...] = ()
    flowlet: FlowletWish = FlowletWish()
    failover: str = "port"


FAIR_SHARES = TransportWish()  # of a scenario that says nothing of its transport but the name


def read_transport(top: Section, transport: str, mistakes: Mistakes) -> TransportWish:
    """The sections about transport; `tcp` beside another transport is a mistake."""
    if "tcp" in top and transport not in ("tcp", ""):
        words = {"found": shown(transport), "expected": "tcp, as `tcp` is given"}
        mistakes.add("EW-SIM-004", ("transport",), **words)
    return TransportWish(
        _tcp(Section(top.raw("tcp"), ("tcp",), mistakes)) if "tcp" in top else _taken(top, "tcp", TcpWish()),
        _loss(top, mistakes) if "loss" in top else _taken(top, "loss", None),
        _policers(top.raw("policers"), mistakes) if "policers" in top else _taken(top, "policers", ()),
        _flowlet(Section(top.raw("flowlet"), ("flowlet",), mistakes))
        if "flowlet" in top
        else _taken(top, "flowlet", FlowletWish()),
        top.choice("nic_failover", FAILOVERS, "port"),
    )


def _taken(top: Section, key: str, usual: Any) -> Any:
    """The default of a key that is not given, which is known all the same."""
    top.raw(key)
    return usual


def _tcp(section: Section) -> TcpWish:
    found = TcpWish(
        section.whole("initial_window", INITIAL_SEGMENTS, most=100_000),
        section.size("max_window", MAX_WINDOW_BYTES),
        _idle_rule(section),
        section.time_ps("min_rto", MIN_RTO_PS),
        section.time_ps("host_delay", 0),
        section.flag("slow_start", default=True),
        section.flag("tail_loss_probe", default=True),
        section.whole("segments_per_ack", SEGMENTS_PER_ACK, most=1000),
        section.choice("response", RESPONSES, "pftk"),
    )
    section.close()
    return found


def _idle_rule(section: Section) -> str:
    """`rfc5681`, `linux` or `off`; the numbers of Linux's tcp_slow_start_after_idle stand for the last two."""
    value = section.raw("slow_start_after_idle", "rfc5681")
    if value in (0, 1):  # false and true as well
        return "linux" if value else "off"
    return section.choice("slow_start_after_idle", IDLE_RULES, "rfc5681")


def ratio_of(section: Section, key: str, value: Any) -> float:
    """A part of all packets, from 0 to below 1; a percentage with its sign."""
    text = value.strip() if isinstance(value, str) else value
    try:
        if isinstance(text, bool) or text is None:
            raise ValueError
        found = float(text[:-1]) / 100 if isinstance(text, str) and text.endswith("%") else float(text)
        if not 0 <= found < 1:
            raise ValueError
    except (TypeError, ValueError):
        expected = "a part of all packets from 0 to below 1, such as 1e-5 or 0.1%"
        section.mistakes.add("EW-SIM-004", section.at(key), found=shown(value), expected=expected)
        return 0.0
    return found


def _loss(top: Section, mistakes: Mistakes) -> LossWish:
    value = top.raw("loss")
    if not isinstance(value, dict):
        return LossWish(ratio_of(top, "loss", value))
    section = Section(value, ("loss",), mistakes)
    recovery = section.choice("recovery", RECOVERIES, RECOVERIES[0]) if "recovery" in section else ""
    section.raw("recovery")
    found = LossWish(
        ratio_of(section, "flow", section.raw("flow", 0)),
        _levels(section, mistakes),
        (*_link_losses(section, "links"), *_link_losses(section, "boxes")),
        recovery,
        section.whole("timeout", TIMEOUT, most=MAX_TIMEOUT),
        section.whole("retries", RETRY_CNT, least=0, most=MAX_RETRIES),
        section.choice("tail", TAILS, "drawn"),
    )
    section.close()
    return found


def _levels(section: Section, mistakes: Mistakes) -> tuple[tuple[str, float], ...]:
    if "levels" not in section:
        section.raw("levels")
        return ()
    inner = Section(section.raw("levels"), section.at("levels"), mistakes)
    found = tuple((level, ratio_of(inner, level, inner.raw(level, 0))) for level in LEVELS)
    inner.close()
    return tuple((level, ratio) for level, ratio in found if ratio)


def _link_losses(section: Section, key: str) -> tuple[LinkLoss, ...]:
    """`links`: a list of `{link: [a, b], ratio: …}`; `boxes`: names with their ratios."""
    value = section.raw(key)
    if value is None:
        return ()
    if key == "boxes" and isinstance(value, dict):
        inner = Section(value, section.at(key), section.mistakes)
        boxes = [str(name) for name in value]
        return tuple(LinkLoss((name,), ratio_of(inner, name, inner.raw(name)), inner.at(name)) for name in boxes)
    if key == "links" and isinstance(value, list):
        found = []
        for number, item in enumerate(value):
            inner = Section(item, (*section.at(key), number), section.mistakes)
            names, ratio = inner.names("link"), ratio_of(inner, "ratio", inner.raw("ratio"))
            inner.close()
            found.append(LinkLoss(_two(inner, names), ratio, inner.path))
        return tuple(found)
    expected = "a list of {link: [leaf1, spine2], ratio: 1e-5}" if key == "links" else "names of boxes with their ratio"
    section.mistakes.add("EW-SIM-004", section.at(key), found=shown(value), expected=expected)
    return ()


def _two(section: Section, names: tuple[str, ...]) -> tuple[str, ...]:
    """The two ends of a link; a mistake when there are not two."""
    if len(names) != 2:
        words = {"found": shown(list(names)), "expected": "the two ends of the link, [leaf1, spine2]"}
        section.mistakes.add("EW-SIM-004", section.at("link"), **words)
    return names


def _policers(value: Any, mistakes: Mistakes) -> tuple[PolicerWish, ...]:
    if not isinstance(value, list):
        expected = "a list of {box: …} or {link: [leaf1, spine2], rate: …}"
        mistakes.add("EW-SIM-004", ("policers",), found=shown(value), expected=expected)
        return ()
    return tuple(_policer(Section(item, ("policers", number), mistakes)) for number, item in enumerate(value))


def _policer(section: Section) -> PolicerWish:
    has_link = "link" in section
    if has_link == ("box" in section):
        section.mistakes.add("EW-SIM-015", section.path, found="both" if has_link else "none", choices="box, link")
    names = _two(section, section.names("link")) if has_link else (section.text("box"),)
    section.raw("box" if has_link else "link")
    found = PolicerWish(
        names,
        section.rate("rate", None if has_link else 0),
        section.size("burst", 0, least=0),
        section.path,
    )
    section.close()
    return found


def _flowlet(section: Section) -> FlowletWish:
    usual = FlowletWish()
    found = FlowletWish(
        section.time_ps("gap", usual.gap_ps),
        section.choice("choice", FLOWLET_CHOICES, usual.choice),
        section.whole("ways", FLOWLET_WAYS, most=MAX_FLOWLET_WAYS),
    )
    section.close()
    return found
