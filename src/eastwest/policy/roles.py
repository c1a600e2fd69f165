"""One template per role of switches: memory, headroom of each kind of port, queues, watchdog, hash; with its decisions
and findings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eastwest.decision import Alternative, Decision
from eastwest.finding import Finding
from eastwest.policy import buffers, headroom
from eastwest.policy.classes import TrafficClass
from eastwest.policy.ecn import Thresholds
from eastwest.policy.faces import ROOM_LOSSY, Face, FaceUse
from eastwest.policy.headroom import Headroom
from eastwest.policy.settings import (
    BufferProfile,
    EcnSettings,
    QueuePlan,
    QueueSettings,
    SchedulerSettings,
)
from eastwest.spec.resolve import SwitchFacts
from eastwest.units import format_length, format_port_rate, format_size

EIGHT_LANES = 8
UNKNOWN_PACKING = 2  # limit of 2c/(1+c): the worst packing of cells up to 128 B, when nobody says how large a cell is


@dataclass(frozen=True, slots=True)
class RoleInputs:
    """What decides one role: its switch, its ports, MTU of the switch and of RDMA, logical ports of the largest
    member.
    """

    role: str
    facts: SwitchFacts
    uses: tuple[FaceUse, ...]
    mtu_bytes: int
    rdma_packet_bytes: int
    n_ports: int
    n_lossless: int


@dataclass(frozen=True, slots=True)
class RoleMemory:
    """The memory of one role: what the chip has, headroom by (face, rate), what is left, and whether it fits."""

    memory: buffers.Memory
    headrooms: Mapping[tuple[Face, int], Headroom]
    fit: buffers.Fit


def memory_for(inputs: RoleInputs) -> RoleMemory:
    """Headroom of every kind of port of a role, and whether all of it fits in the chip's memory."""
    facts = inputs.facts
    memory = buffers.memory_of(facts.buffer_total_bytes, facts.cell_bytes, facts.ports, facts.port_rate_bps)
    pausing = [use for use in inputs.uses if use.face != ROOM_LOSSY] if inputs.n_lossless else []
    rooms = {(use.face, use.rate_bps): headroom_for(inputs, use) for use in pausing}
    groups = [(use.n_most * inputs.n_lossless, rooms[use.face, use.rate_bps].size_bytes) for use in pausing]
    return RoleMemory(memory, rooms, buffers.fit(memory.total_bytes, groups))


def headroom_for(inputs: RoleInputs, use: FaceUse) -> Headroom:
    """Headroom of one kind of port: the SONiC model when the chip's cell is known, else the textbook's terms at twice
    their size.
    """
    cell = inputs.facts.cell_bytes
    if cell is None:
        least = headroom.textbook(use.rate_bps, use.planned_length_m, inputs.mtu_bytes)
        size = headroom.up_to_kib(least.xoff_bytes * UNKNOWN_PACKING)
        return Headroom("textbook-x2", size, 0, size, least.terms, least.inputs, least.source)
    return headroom.sonic(
        use.rate_bps,
        use.planned_length_m,
        cell,
        inputs.mtu_bytes,
        lossless_mtu_bytes=inputs.rdma_packet_bytes,
        eight_lanes=use.lanes == EIGHT_LANES,
    )


def profile_name(use: FaceUse) -> str:
    """The name of a lossless profile by speed and cable, at most 32 characters: SONiC's limit for names."""
    return f"lossless_{format_port_rate(use.rate_bps)}_{use.planned_length_m:.0f}m"


def profiles_for(inputs: RoleInputs, memory: RoleMemory, alpha: float) -> tuple[BufferProfile, ...]:
    """The buffer profiles of a role: one lossless per speed and cable, and one for queues that may drop."""
    found = {}
    for use in inputs.uses:
        room = memory.headrooms.get((use.face, use.rate_bps))
        if room is not None:
            name = profile_name(use)
            found[name] = BufferProfile(
                name,
                buffers.POOL_LOSSLESS,
                reserved_bytes=buffers.RESERVED_PG_BYTES,
                alpha=alpha,
                xoff_bytes=room.xoff_bytes,
                xon_bytes=room.xon_bytes,
                headroom_size_bytes=room.size_bytes,
            )
    return (*found.values(), buffers.lossy_profile())


def plan_name(rate_bps: int) -> str:
    """The name of the queue plan of ports of one rate."""
    return f"queues_{format_port_rate(rate_bps)}"


def queue_plans(
    classes: Sequence[TrafficClass], rates: Sequence[int], thresholds: Mapping[int, Thresholds]
) -> tuple[QueuePlan, ...]:
    """One queue plan per rate: the same queues, ECN by that rate; no ECN where the regime has none."""
    return tuple(QueuePlan(plan_name(rate), _queues(classes, thresholds.get(rate))) for rate in rates)


def _queues(classes: Sequence[TrafficClass], limits: Thresholds | None) -> tuple[QueueSettings, ...]:
    found: dict[int, QueueSettings] = {}
    for row in classes:
        marking = None
        if row.ecn and limits is not None:
            marking = EcnSettings(
                limits.kmin_bytes, limits.kmax_bytes, limits.pmax_ratio, marks=True, drops_non_ect=not row.lossless
            )
        scheduler = SchedulerSettings(row.scheduler, row.weight)
        profile = None if row.lossless else buffers.PROFILE_LOSSY
        found.setdefault(row.queue, QueueSettings(row.queue, marking, scheduler, profile))
    return tuple(found[queue] for queue in sorted(found))


def decisions_for(inputs: RoleInputs, memory: RoleMemory, alpha: float) -> list[Decision]:
    """Why the role's memory, headroom and watchdog are what they are."""
    fit = memory.fit
    if memory.memory.assumed and not memory.headrooms:
        return []
    rows = [
        Decision(
            f"policy.buffer.{inputs.role}.total",
            memory.memory.total_bytes,
            "bytes",
            "packet memory of the switch, which headroom and all queues share",
            source=memory.memory.source,
        )
    ]
    rows += [
        _headroom_decision(inputs, memory, use)
        for use in _first_of_face(inputs.uses)
        if (use.face, use.rate_bps) in memory.headrooms
    ]
    if memory.headrooms:
        rows.append(
            Decision(
                f"policy.buffer.{inputs.role}.shared",
                max(0, fit.shared_bytes),
                "bytes",
                f"what {fit.n_groups} lossless priority groups leave to share, each up to alpha x the free part",
                "shared = max(0, total - sum(headroom)); limit of n queues = alpha B / (1 + n alpha)",
                {"total_bytes": fit.total_bytes, "headroom_bytes": fit.headroom_bytes, "alpha": alpha},
                "Choudhury and Hahne 1998; SONiC dynamic_th -3 (alpha 1/8)",
            )
        )
    return rows


def _first_of_face(uses: Sequence[FaceUse]) -> list[FaceUse]:
    """The fastest use of each face: it carries the plain decision id, the other rates of a face have it in their
    inputs.
    """
    fastest: dict[str, FaceUse] = {}
    for use in uses:
        fastest[use.face] = max(fastest.get(use.face, use), use, key=lambda row: row.rate_bps)
    return list(fastest.values())


def _headroom_decision(inputs: RoleInputs, memory: RoleMemory, use: FaceUse) -> Decision:
    room = memory.headrooms[use.face, use.rate_bps]
    least = headroom.textbook(use.rate_bps, use.planned_length_m, inputs.mtu_bytes)
    if inputs.facts.cell_bytes is None:
        because = "the chip's cell is not known: the textbook's terms, doubled for the worst packing"
        other = "the SONiC model needs the chip's cell size"
        formula = "2 x (cable + own frame + peer frame + response)"
    else:
        because = f"worst case of 64 B packets in cells of {inputs.facts.cell_bytes} B, {room.model} model"
        other = "the least that physics allows; small packets fill cells badly, so it drops under bursts of them"
        formula = "xoff = up(own frame + (peer frame + cable + mac/phy + response + tile) x packing); size = xoff + xon"
    named = {f"{term.name.replace(' ', '_')}_bytes": round(term.size_bytes) for term in room.terms}
    return Decision(
        f"policy.headroom.{inputs.role}.{use.face}",
        room.size_bytes,
        "bytes",
        f"{format_port_rate(use.rate_bps)} over {format_length(use.planned_length_m)}: {because}",
        formula,
        {**named, "xoff_bytes": room.xoff_bytes, "xon_bytes": room.xon_bytes, "length_m": use.planned_length_m},
        room.source,
        (Alternative(least.xoff_bytes, f"textbook 802.1Qbb: {other}"),),
    )


def findings_for(inputs: RoleInputs, memory: RoleMemory) -> list[Finding]:
    """What is wrong or assumed about the role's memory."""
    fit, found, path = memory.fit, [], f"fabric.{inputs.role}"
    args = {"headroom": format_size(fit.headroom_bytes), "total": format_size(fit.total_bytes), "groups": fit.n_groups}
    if not fit.fits:
        found.append(
            Finding("EW-POL-009", "error", inputs.role, fit.total_bytes, fit.headroom_bytes, "bytes", args, path=path)
        )
    elif fit.tight:
        found.append(
            Finding("EW-POL-010", "warning", inputs.role, fit.total_bytes, fit.headroom_bytes, "bytes", args, path=path)
        )
    if memory.memory.assumed and memory.headrooms:
        size = {"total": format_size(memory.memory.total_bytes), "switch": inputs.facts.label}
        total = memory.memory.total_bytes
        found.append(Finding("EW-POL-011", "info", inputs.role, None, total, "bytes", size, path=path))
    if inputs.n_lossless and inputs.facts.watchdog is False:
        switch = {"switch": inputs.facts.label}
        found.append(Finding("EW-POL-012", "warning", inputs.role, True, False, "", switch, path=path))
    return found
