"""Room links: PFC headroom by distance and where PFC must end, what NCCL lets through, what a step shows of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from eastwest.decision import Alternative, Decision
from eastwest.fabric.rooms import link_name
from eastwest.fabric.tables import RoomLink
from eastwest.finding import Finding
from eastwest.plan import distance
from eastwest.plan.advice.buffers import headroom_of
from eastwest.plan.advice.case import Advice, Case
from eastwest.plan.network_factors import bottlenecks, longest_link, repeats_of
from eastwest.plan.prediction import Prediction
from eastwest.policy.buffers import MAX_HEADROOM_SHARE_RATIO
from eastwest.policy.faces import FaceUse, face_uses
from eastwest.spec.hosts import RoomLinkWish
from eastwest.units import (
    BITS_PER_BYTE,
    format_bandwidth,
    format_length,
    format_percent,
    format_port_rate,
    format_size,
    format_time,
)
from eastwest.workload.ledger import JobLedger, LedgerRow

WORTH_A_WARNING = 0.05  # of the step
FIBRE = "fibre 5 ns/m"
NCCL = "NCCL source: NCCL_BUFFSIZE 4 MiB in 8 steps of 512 KiB; channels per NIC assumed"


def advise(case: Case) -> Advice:
    """Decisions for each room link and for each training job that crosses rooms, with what does not hold."""
    decisions: list[Decision] = []
    findings: list[Finding] = []
    for index, wish in enumerate(case.site.room_links):
        for advice in (_headroom(case, wish, index), _nccl(case, wish, index)):
            decisions += advice.decisions
            findings += advice.findings
    for job, prediction in case.training:
        advice = _exposed(case, job, prediction)
        decisions += advice.decisions
        findings += advice.findings
    return Advice(tuple(decisions), tuple(findings))


def _id(case: Case, wish: RoomLinkWish, index: int) -> str:
    """`distance.east-west`; with its number when the same two rooms have several links."""
    name = "-".join(wish.between)
    repeated = sum(set(other.between) == set(wish.between) for other in case.site.room_links) > 1
    return f"distance.{name}" + (f".{index + 1}" if repeated else "")


@dataclass(frozen=True, slots=True)
class _Room:
    """Ports to other rooms of one role of switches, against its memory."""

    role: str
    use: FaceUse
    headroom_bytes: int
    share_bytes: float
    total_bytes: int
    packing: float

    @property
    def reach_m(self) -> float:
        """Metres at which one port and priority fills its share of the memory."""
        known_m = self.use.planned_length_m
        return distance.pfc_reach_m(self.share_bytes, self.headroom_bytes, known_m, self.use.rate_bps, self.packing)


def _room_ports(case: Case) -> list[_Room]:
    """Every kind of port that faces another room: its headroom and its share of half of the memory."""
    uses = face_uses(case.fabric, case.policy.without_pfc)
    n_lossless = len(case.policy.lossless_priorities)
    found = []
    for use in uses:
        template = case.policy.templates.get(use.role)
        total = template.settings.buffer_total_bytes if template else None
        if use.face != "room" or template is None or not total or not n_lossless:
            continue
        others = [other for other in uses if other.role == use.role and other is not use]
        taken = sum(other.n_most * n_lossless * headroom_of(template, other) for other in others)
        share = (MAX_HEADROOM_SHARE_RATIO * total - taken) / (use.n_most * n_lossless)
        packing = distance.packing_of(template.settings.cell_bytes)
        found.append(_Room(use.role, use, headroom_of(template, use), share, total, packing))
    return found


def _headroom(case: Case, wish: RoomLinkWish, index: int) -> Advice:
    """Headroom of one port and priority at this distance, and the distance at which PFC must end."""
    if not case.is_lossless:
        return Advice()
    name = _id(case, wish, index)
    mtu = case.policy.switch_mtu_bytes or case.policy.host_mtu_bytes
    least = distance.room_headroom(wish.rate_bps, wish.distance_m, mtu)
    ports = [row for row in _room_ports(case) if row.use.rate_bps == wish.rate_bps]
    inputs: dict[str, Any] = {f"{term.name.replace(' ', '_')}_bytes": round(term.size_bytes) for term in least.terms}
    because = (
        f"{format_port_rate(wish.rate_bps)} over {format_length(wish.distance_m)}, one port and priority, before "
        "cells: what the fibre still delivers after the pause is sent"
    )
    if ports:
        set_aside, packing = ports[0].headroom_bytes, ports[0].packing
        inputs |= {"set_aside_bytes": set_aside, "packing": packing}
        because += (
            f"; a switch sets aside {format_size(set_aside)} for it, since small packets fill its memory cells only in "
            f"part (x {packing:.4g} at worst), and whole cells count"
        )
    formula = "2 L C / (8 v) + 2 MTU + response"
    decisions = [Decision(f"{name}.headroom", least.xoff_bytes, "bytes", because, formula, inputs, least.source)]
    if not ports or wish.pfc is False:
        return Advice(tuple(decisions))
    tightest = min(ports, key=lambda row: row.reach_m)
    decisions.append(_end_of_pfc(name, wish, tightest))
    if wish.distance_m <= tightest.reach_m:
        return Advice(tuple(decisions))
    args = {
        "distance": format_length(wish.distance_m),
        "reach": format_length(tightest.reach_m),
        "headroom": format_size(tightest.headroom_bytes),
        "share": format_size(max(0.0, tightest.share_bytes)),
        "role": tightest.role,
    }
    reach, path = round(tightest.reach_m, 1), f"room_links[{index}].distance"
    finding = Finding("EW-ADV-001", "warning", link_name(wish), reach, wish.distance_m, "m", args, path=path)
    return Advice(tuple(decisions), (finding,))


def _end_of_pfc(name: str, wish: RoomLinkWish, row: _Room) -> Decision:
    fits = wish.distance_m <= row.reach_m
    verdict = "PFC may cross" if fits else "PFC must end before this link"
    return Decision(
        f"{name}.pfc_ends_at",
        row.reach_m,
        "m",
        f"{verdict}: {format_size(row.headroom_bytes)} a port and priority of a share of "
        f"{format_size(max(0.0, row.share_bytes))} on the {row.role}",
        "L0 + (share - headroom(L0)) / (packing x 2 C / 8 v); share = (0.5 x memory - other headroom) / room ports",
        {
            "memory_bytes": row.total_bytes,
            "share_bytes": round(row.share_bytes),
            "headroom_bytes": row.headroom_bytes,
            "L0_m": row.use.planned_length_m,
            "packing": row.packing,
            "room_ports": row.use.n_most,
            "rate_bps": row.use.rate_bps,
        },
        "derived; the half of the memory that headroom may take at most",
        (
            Alternative("ECN and DCQCN alone", "beyond that distance: loss on this hop is met by selective repeat"),
            Alternative("long-haul systems without credits", "deep buffers of their own at both ends; another device"),
        ),
    )


def _nccl(case: Case, wish: RoomLinkWish, index: int) -> Advice:
    """What NCCL's buffers let through over this round trip."""
    rate = case.fabric.nic_rate_bps
    rtt_s = distance.fibre_rtt_s(wish.distance_m) + case.policy.rtt_s
    channels = distance.CHANNELS_PER_NIC
    bound, wire = distance.nccl_bytes_per_s(channels, rtt_s), rate / BITS_PER_BYTE
    needed = distance.channels_for(rate, rtt_s)
    reach_m = distance.nccl_reach_m(rate, channels, case.policy.rtt_s)
    decision = Decision(
        f"{_id(case, wish, index)}.nccl",
        min(bound, wire),
        "bytes/s",
        f"{channels} channels a NIC keep {format_bandwidth(bound)} in flight over {format_time(rtt_s)}; {needed} fill "
        f"{format_port_rate(rate)}, {channels} do up to {format_length(reach_m)}",
        "min(channels x buffer / RTT, NIC rate / 8); RTT = 2 L x 5 ns/m + RTT inside a room",
        {
            "channels": channels,
            "buffer_bytes": distance.NCCL_BUFFER_BYTES,
            "chunk_bytes": distance.NCCL_CHUNK_BYTES,
            "rtt_s": rtt_s,
            "fibre_rtt_s": distance.fibre_rtt_s(wish.distance_m),
            "channels_needed": needed,
            "bound_bytes_per_s": bound,
        },
        f"{NCCL}; {FIBRE}",
    )
    if bound >= wire or not case.site.jobs:
        return Advice((decision,))
    args = {
        "distance": format_length(wish.distance_m),
        "rtt": format_time(rtt_s),
        "bound": format_bandwidth(bound),
        "wire": format_bandwidth(wire),
        "channels": channels,
        "needed": needed,
    }
    path = f"room_links[{index}].distance"
    subject = link_name(wish)
    finding = Finding("EW-ADV-002", "warning", subject, round(wire), round(bound), "bytes/s", args, path=path)
    return Advice((decision,), (finding,))


def _exposed(case: Case, job: JobLedger, prediction: Prediction) -> Advice:
    """Seconds of one step between rooms, with and without overlap."""
    link = longest_link(case.fabric, case.placement, job)
    crossing = {row.traffic for row in case.placement.rows if row.job == job.name and row.tier == "room"}
    times = {row.traffic: row for row in prediction.rows}
    rows = [row for row in job.rows if row.traffic in crossing and row.traffic in times]
    if link is None or not rows:
        return Advice()
    near = replace(case.fabric, room_links=tuple(replace(one, distance_m=0.0) for one in case.fabric.room_links))
    without = {row.traffic: row for row in case.step_on(near, job)[1]}
    seen = _Seen(
        shown_s=sum(times[row.traffic].exposed_s for row in rows),
        bare_s=sum(times[row.traffic].time_s for row in rows),
        before_s=sum(without[row.traffic].exposed_s for row in rows),
        step_s=prediction.step_time_s or 0.0,
    )
    found = bottlenecks(case.fabric, case.placement, job)
    stretch = max(found[row.traffic].stretch for row in rows)
    decision = _exposed_decision(job, rows, link, stretch, seen)
    more_s = seen.shown_s - seen.before_s
    if more_s <= WORTH_A_WARNING * seen.step_s:
        return Advice((decision,))
    args = {
        "distance": format_length(link.distance_m),
        "more": format_time(more_s),
        "share": format_percent(more_s / seen.step_s),
        "bare": format_time(seen.bare_s),
    }
    finding = Finding("EW-ADV-003", "warning", job.name, seen.before_s, seen.shown_s, "s", args, path=link.path)
    return Advice((decision,), (finding,))


@dataclass(frozen=True, slots=True)
class _Seen:
    """Seconds of a step that show: with overlap, without any, with overlap but without the distance; and the step."""

    shown_s: float
    bare_s: float
    before_s: float
    step_s: float


def _exposed_decision(job: JobLedger, rows: list[LedgerRow], link: RoomLink, stretch: float, seen: _Seen) -> Decision:
    traffic = ", ".join(row.traffic for row in rows)
    return Decision(
        f"distance.{job.name}.exposed",
        seen.shown_s,
        "s",
        f"{traffic} over {format_length(link.distance_m)}: {format_time(seen.shown_s)} of a step show with overlap, "
        f"{format_time(seen.bare_s)} without; {format_time(seen.before_s)} of it without the distance",
        "what the step model shows of t; t = time x stretch + collectives x crossings x RTT / 2",
        {
            "overlapped_s": seen.shown_s,
            "not_overlapped_s": seen.bare_s,
            "without_distance_s": seen.before_s,
            "distance_m": link.distance_m,
            "stretch": stretch,
            "collectives": round(sum(repeats_of(row) for row in rows)),
            "step_s": seen.step_s,
        },
        f"derived; {FIBRE}; buckets follow each other",
        (Alternative("no overlap", f"{format_time(seen.bare_s)} a step: overlap the gradient exchange between rooms"),),
    )
