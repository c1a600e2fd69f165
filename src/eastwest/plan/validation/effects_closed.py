"""Closed forms that predict published effects: what a condition does against its baseline, as a factor with bounds.

Each predictor reads condition and baseline by key and answers with a span, the formula in words and what it assumed, or
with the reason why an analytic engine cannot tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from eastwest.plan.goals import payload_ratio
from eastwest.plan.validation.collectives_table import number
from eastwest.plan.validation.effects_table import EffectRow, Span, Untold, span_of
from eastwest.simulate.analytic import distance, loss, odds
from eastwest.units import GIGA, M_PER_KM, MEGA

MOST_LINKS = 512
MANY_FLOWS = 64  # flows and links of a fabric whose size a row does not print
MTU_BYTES = 1024  # RoCE v2 default of the years that loss was published in
SHORT_RTT_S, LONG_RTT_S = 10e-6, 500e-6  # a quiet rack; full buffers of a switch at 40G
FASTEST_STEP_S, SLOWEST_STEP_S = 2.0, 30.0  # optimiser steps of models that are trained across sites
FEWEST_TRIPS, MOST_TRIPS = 4, 64  # waits for the far site in a step: a pipeline's start and end, a bucketed all-reduce
MOST_EXPOSED = 0.30  # share of a step that communication takes where nothing hides it
TCP_10G_SHARE, TCP_FAST_SHARE = 0.94, 0.80  # of line rate: frames of 1500 B; one host's copies
PCIE_ROOT = Span(0.5, 0.8)  # of the NIC: peer-to-peer through a CPU's root port, across or beside its memory traffic
ACS_RATIO = Span(0.35, 0.5)  # every transfer climbs to the root port and back: at most half of the slot
_BALANCED = re.compile(r"c4p|balanc|spray|adaptive|rebalanc|pack", re.I)
_HASHED = re.compile(r"ecmp|bond|hash|static|default", re.I)


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What a closed form expects: a factor with bounds, the formula, and what was assumed."""

    factor: Span
    formula: str
    assumed: tuple[str, ...] = ()


Predictor = Callable[[EffectRow], Foreseen | Untold]


def ecmp(row: EffectRow) -> Foreseen | Untold:
    """Balls in bins: a balanced scheme against hashing, or what hashing leaves of a fabric."""
    words = row.words()
    if "utilisation_pct" in row.effect or "throughput_tbps" in row.effect:
        full = odds.used_links_ratio(MANY_FLOWS, MANY_FLOWS)
        return Foreseen(Span(full, full), "1 - (1 - 1/m)^m links carry a flow", ("as many flows as links",))
    accumulation = re.search(r"accumulation (\d{1,4})", words)
    if accumulation:
        hidden = MOST_EXPOSED / max(1, int(accumulation[1]))
        return Foreseen(Span(1.0, 1 + hidden), "exposed share / accumulation steps", (f"{MOST_EXPOSED:.0%} exposed",))
    ports = re.search(r"(\d)\s*x\s*\d+G", words)
    if ports and _BALANCED.search(str(row.condition)):
        n = int(ports[1])
        return Foreseen(Span(n / 2 + 0.5, float(n)), "a bond's flows meet on one port", (f"{n} flows a NIC",))
    return Untold.condition_not_given


def oversubscription(row: EffectRow) -> Foreseen | Untold:
    """Jobs whose flows share fewer uplinks: balanced against hashed, between one flow's odds and the slowest's."""
    down_up = re.search(r"(\d{1,3}(?:\.\d+)?):(\d{1,3}(?:\.\d+)?)", str(row.condition.get("oversubscription", "")))
    jobs = number(row.condition.get("jobs"))
    if not down_up or not jobs or jobs > MOST_LINKS or not _BALANCED.search(str(row.condition)):
        return Untold.no_figure if not down_up else Untold.condition_not_given
    links = max(1, int(jobs))
    flows = min(2 * MOST_LINKS, max(1, round(links * float(down_up[1]) / max(1e-3, float(down_up[2])))))
    if flows > 4 * links:
        return Untold.condition_not_given
    slowest = odds.slowest_flow_ratio(flows, links)
    others = (flows - 1) / links
    own = max(1.0, flows / links) / (1 + others)
    span = Span(1 / min(1.0, own), 1 / slowest)
    return Foreseen(span, "fair share / fullest of m bins", (f"{flows} flows over {links} uplinks",))


def link_failure(row: EffectRow) -> Foreseen | Untold:
    """One of m links lost: spread over the others, or its flows put on one of them."""
    failed = re.search(r"(\d{1,3})\s*of\s*(\d{1,4})", str(row.condition.get("failed_links", "")))
    lost = span_of(row.condition.get("lost_nic_bandwidth_pct"))
    if failed and 0 < int(failed[1]) < int(failed[2]):
        left = 1 - int(failed[1]) / int(failed[2])
        if _BALANCED.search(str(row.condition.get("scheme", ""))):
            return Foreseen(Span(2 * left, 2 * left), "(m - f)/m against 1/2 on the doubled link")
        return Foreseen(Span(0.5, left), "1/2 on the doubled link to (m - f)/m")
    if lost and lost.high < 100:
        return Foreseen(
            Span(1 - lost.high / 100, 1.0), "1 - lost share where the NIC bounds, nothing where it does not"
        )
    return Untold.no_figure if "result" in row.effect else Untold.condition_not_given


def packet_loss(row: EffectRow) -> Foreseen | Untold:
    """Goodput of go-back-0, go-back-N or selective repeat at a loss rate; without one nobody can tell."""
    rate = span_of(row.condition.get("loss_rate"))
    recovery = f"{row.condition.get('recovery', '')} {row.condition.get('scheme', '')}".lower()
    if re.search(r"irn|sack|rosr|selective", f"{recovery} {row.condition.get('nic', '')}", re.I):
        return Untold.packet_engine
    if rate is None or not 0 < rate.low < 1:
        return Untold.condition_not_given
    if re.search(r"go-?back-?0", recovery):
        size = number(row.condition.get("message_mb")) or number(row.condition.get("message_bytes"))
        if not size:
            return Untold.condition_not_given
        packets = min(1e9, size * (MEGA if "message_mb" in row.condition else 1) / MTU_BYTES)
        ratio = loss.go_back_0_ratio(rate.low, packets)
        return Foreseen(Span(0.0, ratio), "(1-p)^k k p / (1-(1-p)^k)", (f"{MTU_BYTES} B packets",))
    if not re.search(r"go-?back-?n", recovery):
        return Untold.no_figure if "claim" in row.effect else Untold.condition_not_given
    speed = re.search(r"(\d{1,4})\s*G", recovery, re.I)
    bps = (float(speed[1]) if speed else 40.0) * GIGA
    ends = [
        loss.go_back_n_ratio(rate.low, loss.window_packets(bps, rtt, MTU_BYTES)) for rtt in (LONG_RTT_S, SHORT_RTT_S)
    ]
    return Foreseen(
        Span(0.0 if rate.high > rate.low else ends[0], ends[1]), "(1-p) / (1-p + w p)", ("RTT 10 to 500 us",)
    )


def far(row: EffectRow) -> Foreseen | Untold:
    """A step that waits for the far site: t / (t + trips x RTT)."""
    km = number(row.condition.get("distance_km"))
    if not km or km > 1e5:
        return Untold.condition_not_given
    metres = km * M_PER_KM
    low = distance.step_ratio(metres, FASTEST_STEP_S, MOST_TRIPS)
    high = distance.step_ratio(metres, SLOWEST_STEP_S, FEWEST_TRIPS)
    said = (f"{FEWEST_TRIPS} to {MOST_TRIPS} waits in a step of {FASTEST_STEP_S:g} to {SLOWEST_STEP_S:g} s",)
    return Foreseen(Span(low, high), "t / (t + trips x RTT), tensor parallelism inside a site", said)


def bandwidth(row: EffectRow) -> Foreseen | Untold:
    """Faster Ethernet under TCP: line rates times what one host's sockets reach of them."""
    mine, theirs = (_gbps(part.get("nic")) for part in (row.condition, row.baseline))
    if not mine or not theirs:
        return Untold.condition_not_given
    reached = [rate * (TCP_10G_SHARE if rate <= 25 else TCP_FAST_SHARE) for rate in (mine, theirs)]
    ratio = reached[0] / reached[1]
    return Foreseen(Span(ratio * TCP_FAST_SHARE, ratio), "line rate x share that sockets reach", ("TCP",))


def _gbps(value: Any) -> float | None:
    match = re.search(r"(\d{1,4}(?:\.\d+)?)\s*G", str(value)[:80], re.I)
    return float(match[1]) if match and float(match[1]) > 0 else None


def mtu(row: EffectRow) -> Foreseen | Untold:
    """Payload over wire bytes at two RDMA MTUs."""
    mine, theirs = (number(part.get("rdma_mtu")) for part in (row.condition, row.baseline))
    if not mine or not theirs or max(mine, theirs) > 65536:
        return Untold.condition_not_given
    ratio = payload_ratio("roce", int(mine)) / payload_ratio("roce", int(theirs))
    return Foreseen(Span(ratio, ratio), "mtu / (mtu + 82 B)")


def pcie(row: EffectRow) -> Foreseen | Untold:
    """NIC below the wrong port, or transfers that access control sends up to the root."""
    words = row.words()
    if re.search(r"acs\W+'?(?:on|enabled|true)", words, re.I):
        return Foreseen(ACS_RATIO, "each transfer crosses the root port twice")
    if re.search(r"cpu root port|root complex|other socket|across (?:the )?(?:cpu|socket|numa)", words, re.I):
        return Foreseen(PCIE_ROOT, "peer-to-peer through a CPU's root port")
    return Untold.condition_not_given


NEEDS_ANOTHER: Mapping[str, Untold] = {
    "adaptive_routing": Untold.flow_engine,
    "congestion_control": Untold.packet_engine,
    "ecn": Untold.packet_engine,
    "incast": Untold.packet_engine,
    "pfc": Untold.packet_engine,
    "scale": Untold.training_table,
    "measurement": Untold.outside,
    "model_accuracy": Untold.outside,
    "fabric": Untold.condition_not_given,
}
CLOSED: Mapping[str, Predictor] = {
    "bandwidth": bandwidth,
    "distance": far,
    "ecmp": ecmp,
    "link_failure": link_failure,
    "misconfiguration": pcie,
    "mtu": mtu,
    "oversubscription": oversubscription,
    "packet_loss": packet_loss,
    "topology": pcie,
}
