"""`derive(site, fabric, ledger) -> Policy`: how every device must behave, each chosen value with its reason; wishes
override and are judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from eastwest.decision import Decision
from eastwest.errors import UsageError
from eastwest.fabric.tables import Fabric, LinkKind, NodeKind
from eastwest.finding import Finding, sort_findings
from eastwest.policy import buffers, classes, decide, ecn, hashing, infiniband, judge, mtu, nccl, watchdog
from eastwest.policy.classes import TrafficClass, classes_of, lossless_priorities, roce_marks
from eastwest.policy.ecn import Thresholds
from eastwest.policy.faces import FaceUse, face_uses, most_ports, roles_of
from eastwest.policy.host import host_for, nic_for
from eastwest.policy.noun import Policy, PortRule, RoleTemplate
from eastwest.policy.roles import (
    RoleInputs,
    RoleMemory,
    decisions_for,
    findings_for,
    memory_for,
    plan_name,
    profile_name,
    profiles_for,
    queue_plans,
)
from eastwest.policy.room_links import pfc_decisions, without_pfc
from eastwest.policy.rtt import RoundTrip, base_rtt
from eastwest.policy.settings import DeviceSettings, Role
from eastwest.policy.settings_host import EnvironmentVariable
from eastwest.policy.settings_subnet import SubnetSettings
from eastwest.policy.underlay import lldp
from eastwest.spec.qos import LoadBalancing, LossRegime, QosWish
from eastwest.spec.resolve import TierName, regime_of, switch_of_tier
from eastwest.spec.site import Site
from eastwest.workload.ledger import Ledger

IPOIB_MTU_BYTES = 4092  # IPoIB datagram mode on an InfiniBand MTU of 4096, RFC 4391
IB_MTU_BYTES = 4096
TIER_OF_ROLE: dict[Role, TierName] = {"leaf": "leaf", "spine": "spine", "core": "core"}


@dataclass(frozen=True, slots=True)
class _Mtus:
    host_bytes: int
    rdma_bytes: int
    switch_bytes: Mapping[Role, int]
    max_bytes: Mapping[Role, int]


@dataclass(frozen=True, eq=False)
class _Choice:
    """Everything that is chosen, before it is dressed as settings, decisions and findings."""

    site: Site
    fabric: Fabric
    regime: LossRegime
    separate: bool
    wish: QosWish
    rows: tuple[TrafficClass, ...]
    mtus: _Mtus
    how: LoadBalancing
    how_because: str
    inputs: Mapping[Role, RoleInputs]
    memories: Mapping[Role, RoleMemory]
    trip: RoundTrip
    limits: Mapping[int, Thresholds]
    env: tuple[EnvironmentVariable, ...]
    subnet: SubnetSettings | None


def derive(site: Site, fabric: Fabric, ledger: Ledger) -> Policy:
    """The policy of a site on its fabric: classes, MTU, buffers, ECN, watchdog, hash, hosts, NCCL environment.

    A wish that breaks a rule is carried out where that is possible and reported as a finding; marks that clash fall
    back to the defaults. Raises UsageError for an unknown switch model.
    """
    regime = regime_of(site)
    separate = separates_inference(site, ledger)
    findings = [*judge.judge_regime(site), *judge.judge_marks(site.qos, separate, regime)]
    chosen = _choose(site, fabric, regime, separate, _usable(site.qos, findings))
    mtus, rows = chosen.mtus, chosen.rows
    nic = nic_for(regime, chosen.wish, rows, mtus.host_bytes, fabric.nic_rate_bps)
    return Policy(
        loss_regime=regime,
        load_balancing=chosen.how,
        classes=rows,
        templates={role: _template(role, chosen) for role in chosen.inputs},
        host=host_for(regime, nic, max(1, fabric.nics_per_server), chosen.env),
        host_mtu_bytes=mtus.host_bytes,
        rdma_mtu_bytes=mtus.rdma_bytes,
        switch_mtu_bytes=min(mtus.switch_bytes.values(), default=None),
        rtt_s=chosen.trip.rtt_s,
        thresholds=chosen.limits,
        subnet=chosen.subnet,
        fabric=fabric,
        without_pfc=without_pfc(site, fabric) if regime == "lossless" else None,
        decisions=tuple(_decisions(chosen)),
        findings=sort_findings([*findings, *_findings(chosen)]),
    )


def _choose(site: Site, fabric: Fabric, regime: LossRegime, separate: bool, wish: QosWish) -> _Choice:
    rows = classes_of(regime, wish, separate)
    mtus = _mtus(site, fabric, regime)
    how, because = hashing.balancing(regime, site.qos.load_balancing)
    inputs = _role_inputs(site, fabric, rows, mtus, regime)
    memories = {role: memory_for(row) for role, row in inputs.items()}
    trip = base_rtt(fabric)
    limits = _thresholds(wish, regime, inputs, memories, trip.rtt_s, mtus.host_bytes)
    env = nccl.environment(regime, max(1, fabric.nics_per_server), _rails(fabric), how, roce_marks(wish)[0])
    subnet = _subnet(fabric, rows, how) if regime == "infiniband" else None
    return _Choice(
        site=site,
        fabric=fabric,
        regime=regime,
        separate=separate,
        wish=wish,
        rows=rows,
        mtus=mtus,
        how=how,
        how_because=because,
        inputs=inputs,
        memories=memories,
        trip=trip,
        limits=limits,
        env=env,
        subnet=subnet,
    )


def _rails(fabric: Fabric) -> str:
    """The family by which NCCL's rails are set: any fabric that keeps NIC indices apart counts as rail-optimised."""
    return "rail_optimized" if fabric.rail_optimized or fabric.plane_by == "nic" else fabric.family


def _decisions(c: _Choice) -> list[Decision]:
    """Every chosen value with its reason, in the order in which an engineer asks."""
    return [
        *decide.class_decisions(c.site, c.regime, c.wish, c.rows, c.separate),
        *decide.mtu_decisions(c.site, c.regime, c.mtus.host_bytes, c.mtus.rdma_bytes, c.mtus.switch_bytes),
        *(row for role in c.inputs for row in decisions_for(c.inputs[role], c.memories[role], buffers.DEFAULT_ALPHA)),
        *pfc_decisions(c.site, c.regime),
        *decide.ecn_decisions(c.limits, c.fabric.nic_rate_bps, c.trip, _port_limit(c.memories)),
        *_watchdog_decisions(c.wish, c.inputs, c.regime),
        *decide.hash_decisions(c.site.name, tuple(c.inputs), c.how, c.how_because, c.regime),
        *decide.underlay_decisions(c.regime),
        *decide.nccl_decisions(c.env),
        *(decide.subnet_decisions(c.subnet, c.fabric.family) if c.subnet else ()),
    ]


def separates_inference(site: Site, ledger: Ledger) -> bool:
    """Whether inference has its own class: the wish, else when training and inference share the cluster."""
    if site.qos.separate_inference is not None:
        return site.qos.separate_inference
    return {"training", "inference"} <= {job.kind for job in ledger.jobs}


def _usable(wish: QosWish, findings: list[Finding]) -> QosWish:
    """The wish without marks that findings refuse."""
    if not any(row.severity == "error" and row.code != "EW-POL-013" for row in findings):
        return wish
    return wish.model_copy(update={"dscp": None, "priority": None, "cnp_dscp": None, "inference_dscp": None})


def _mtus(site: Site, fabric: Fabric, regime: LossRegime) -> _Mtus:
    if regime == "infiniband":
        return _Mtus(IPOIB_MTU_BYTES, IB_MTU_BYTES, {}, {})
    host = site.qos.mtu_bytes or mtu.HOST_MTU_BYTES
    known = {}
    for role in roles_of(fabric):
        facts = switch_of_tier(site, TIER_OF_ROLE[role])
        known[role] = mtu.os_mtu(facts.os if facts else None)
    maxima = {role: row.max_bytes - row.includes_bytes for role, row in known.items()}
    switch = {
        role: maxima[role] if row.default_bytes - row.includes_bytes < host else row.default_bytes - row.includes_bytes
        for role, row in known.items()
    }
    return _Mtus(host, mtu.roce_mtu(host) or mtu.ROCE_MTUS_BYTES[0], switch, maxima)


def _role_inputs(
    site: Site, fabric: Fabric, rows: tuple[TrafficClass, ...], mtus: _Mtus, regime: LossRegime
) -> dict[Role, RoleInputs]:
    uses = face_uses(fabric, without_pfc(site, fabric) if regime == "lossless" else None)
    found: dict[Role, RoleInputs] = {}
    for role in roles_of(fabric):
        facts = switch_of_tier(site, TIER_OF_ROLE[role])
        if facts is None:
            raise UsageError(f"the fabric has a {role} tier but the site names no switch for it")
        mine: tuple[FaceUse, ...] = tuple(use for use in uses if use.role == role)
        found[role] = RoleInputs(
            role,
            facts,
            mine,
            mtus.switch_bytes.get(role, IB_MTU_BYTES),
            mtu.roce_packet_bytes(mtus.rdma_bytes),
            most_ports(fabric, role),
            len(lossless_priorities(rows)),
        )
    return found


def _port_limit(memories: Mapping[Role, RoleMemory]) -> float | None:
    """The dynamic limit of one congested queue on the tightest role; None without memory."""
    shared = [row.fit.shared_bytes for row in memories.values() if row.fit.shared_bytes > 0]
    return buffers.dynamic_limit(buffers.DEFAULT_ALPHA, min(shared), 1) if shared else None


def _thresholds(
    wish: QosWish,
    regime: LossRegime,
    inputs: Mapping[Role, RoleInputs],
    memories: Mapping[Role, RoleMemory],
    rtt_s: float,
    mtu_bytes: int,
) -> dict[int, Thresholds]:
    """ECN thresholds by rate, the same on every role, so that no hop marks earlier than another of its speed."""
    if regime in ("infiniband", "tcp"):
        return {}
    rates = sorted({use.rate_bps for row in inputs.values() for use in row.uses})
    shared = min((row.fit.shared_bytes for row in memories.values()), default=0)
    if shared <= 0:
        shared = min((row.memory.total_bytes for row in memories.values()), default=0)
    found = {}
    for rate in rates:
        try:
            rule = ecn.apply(rate, rtt_s, buffers.DEFAULT_ALPHA, shared, mtu_bytes)
        except UsageError:  # memory too small for any order of ECN and PFC: the plain rule, which `judge` then reports
            rule = ecn.unbounded(rate, rtt_s)
        found[rate] = ecn.override(rule, wish.kmin_bytes, wish.kmax_bytes, wish.pmax_ratio)
    return found


def _template(role: Role, c: _Choice) -> RoleTemplate:
    row, memory = c.inputs[role], c.memories[role]
    facts = row.facts
    plain = DeviceSettings(
        "",
        facts.os,
        role,
        model=facts.model or facts.label,
        buffer_total_bytes=facts.buffer_total_bytes or (memory.memory.total_bytes if row.n_lossless else None),
        cell_bytes=facts.cell_bytes,
        hash=hashing.settings_for(role, c.site.name, c.how),
        lldp=lldp(),
    )
    if c.regime == "infiniband":
        return RoleTemplate(role, plain, {})
    rates = sorted({use.rate_bps for use in row.uses})
    settings = replace(
        plain,
        mtu_bytes=row.mtu_bytes,
        qos_maps=(classes.map_of(c.rows),),
        queue_plans=queue_plans(c.rows, rates, c.limits),
        pools=buffers.pools(memory.memory, memory.fit.headroom_bytes, bool(row.n_lossless)),
        profiles=profiles_for(row, memory, buffers.DEFAULT_ALPHA),
        watchdog=watchdog.settings_for(row.n_ports, c.wish.watchdog_detect_s) if row.n_lossless else None,
        ecn_enabled=any(one.ecn for one in c.rows),
    )
    return RoleTemplate(role, settings, {(use.face, use.rate_bps): _rule(use, memory) for use in row.uses})


def _rule(use: FaceUse, memory: RoleMemory) -> PortRule:
    room = memory.headrooms.get((use.face, use.rate_bps))
    name = profile_name(use) if room else None
    sizes = (room.size_bytes, room.xoff_bytes) if room else (None, None)
    return PortRule(plan_name(use.rate_bps), name, use.planned_length_m, *sizes)


def _findings(c: _Choice) -> list[Finding]:
    found: list[Finding] = []
    for role, row in c.inputs.items():
        found += findings_for(row, c.memories[role])
        if row.n_lossless:
            mine = {use.rate_bps: c.limits[use.rate_bps] for use in row.uses}
            shared = c.memories[role].fit.shared_bytes
            found += judge.judge_thresholds(mine, buffers.DEFAULT_ALPHA, shared, role, c.wish)
            found += judge.judge_watchdog(c.wish, row.n_ports, role)
    if c.regime not in ("infiniband", "tcp"):
        found += judge.judge_mtu(c.mtus.host_bytes, c.mtus.max_bytes)
    return found


def _watchdog_decisions(wish: QosWish, inputs: Mapping[Role, RoleInputs], regime: LossRegime) -> list[Decision]:
    if regime != "lossless" or not inputs:
        return []
    ports = max(row.n_ports for row in inputs.values())
    return [decide.watchdog_decision(wish.watchdog_detect_s, ports)]


def _subnet(fabric: Fabric, rows: tuple[TrafficClass, ...], how: LoadBalancing) -> SubnetSettings:
    top = max(
        (kind for kind in (NodeKind.LEAF, NodeKind.SPINE, NodeKind.CORE) if fabric.nodes_of(kind).size), default=0
    )
    roots = tuple(fabric.names[i] for i in np.flatnonzero(fabric.nodes["kind"] == top).tolist())
    return infiniband.subnet_for(fabric.family, is_regular(fabric), roots, rows, how == "adaptive")


def is_regular(fabric: Fabric) -> bool:
    """Whether every leaf has the same number of uplinks, which ftree routing needs."""
    leaves = fabric.nodes_of(NodeKind.LEAF)
    uplinks = fabric.links["a"][fabric.links["kind"] == LinkKind.LEAF_SPINE]
    counts = np.bincount(uplinks, minlength=len(fabric.nodes))[leaves]
    return bool(counts.size == 0 or counts.min() == counts.max())
