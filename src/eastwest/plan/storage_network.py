"""The storage network: how long a checkpoint takes, the bandwidth that it needs, and the NICs, switches and cables that
carry it, or what sharing the east-west fabric means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from eastwest.decision import Alternative, Decision
from eastwest.fabric.capacity import parts_at
from eastwest.fabric.tables import Fabric
from eastwest.finding import Finding
from eastwest.plan.bom import BomRow
from eastwest.plan.side_network import SideNetwork
from eastwest.spec.resolve import SwitchFacts, resolve_switch, switch_of_tier
from eastwest.spec.site import Site, StorageWish
from eastwest.units import BITS_PER_BYTE, GIGA, MINUTE_S, format_port_rate, format_rate, format_size, format_time
from eastwest.workload.ledger import JobLedger, Ledger

DEFAULT_NIC_RATE_BPS = 200 * GIGA  # one storage NIC when the site file says nothing; assumed
DEFAULT_WITHIN_S = 1.0 * MINUTE_S  # a checkpoint when the site file says nothing; assumed
SERVER_CABLE_M, SWITCH_CABLE_M = 20.0, 30.0  # storage cables to servers and between switches; assumed, not measured
REDUNDANT_LEAVES = 2
SOURCE_BYTES = "weight 2 + fp32 master 4 + Adam moments 8 bytes a parameter in mixed precision"


@dataclass(frozen=True, slots=True)
class StorageShape:
    """Leaves, spines and cables of a storage network of its own."""

    ends: int
    leaves: int
    spines: int
    uplinks: int
    capacity: int


def checkpoint_bytes(job: JobLedger) -> int:
    """Bytes of one checkpoint: parameters x bytes of each (50B x 14 B = 700 GB); 0 when the job writes none."""
    for row in job.rows:
        if row.collective == "write":
            return int(row.inputs["params"]) * int(row.inputs["bytes_per_param"])
    return 0


def checkpoint_s(size_bytes: float, bandwidth_bps: float) -> float:
    """Seconds to write a checkpoint.

    >>> checkpoint_s(700e9, 1.4e12)
    4.0
    """
    return size_bytes * BITS_PER_BYTE / bandwidth_bps


def needed_bps(size_bytes: float, within_s: float) -> float:
    """Bit/s that write a checkpoint in time.

    >>> needed_bps(700e9, 60) / 1e9
    93.33333333333333
    """
    return size_bytes * BITS_PER_BYTE / within_s


def shape(ends: int, switch: SwitchFacts, nic_rate_bps: int, nics_per_server: int) -> StorageShape:
    """One layer while all ends fit on as many leaves as a server has NICs (two at most), else leaves with half of their
    bandwidth up and spines.
    """
    capacity = switch.ports * max(1, parts_at(switch, nic_rate_bps))
    redundant = min(REDUNDANT_LEAVES, nics_per_server)
    if ends <= capacity * redundant:
        return StorageShape(ends, redundant, 0, 0, capacity)
    leaves = math.ceil(ends / (capacity // 2))
    uplinks = leaves * (switch.ports // 2)
    return StorageShape(ends, leaves, math.ceil(uplinks / switch.ports), uplinks, capacity)


def storage_network(site: Site, fabric: Fabric, ledger: Ledger) -> SideNetwork:
    """The storage network that the site file asks for; without one, the time and bandwidth of a checkpoint only."""
    wish = site.storage or StorageWish()
    decisions, findings = [], []
    needed = 0.0
    for job in ledger.jobs:
        size = checkpoint_bytes(job)
        if size:
            needed = max(needed, needed_bps(size, wish.checkpoint_within_s or DEFAULT_WITHIN_S))
            decisions += _checkpoint(site, fabric, job, size)
            findings += _too_slow(site, fabric, job, size)
    if site.storage is None:
        return SideNetwork((), tuple(decisions), tuple(findings))
    taken_bps = wish.bandwidth_bps or max(needed, 1.0)
    if wish.network == "shared":
        return SideNetwork((), tuple(decisions), (*findings, *_shared(site, fabric, taken_bps)))
    return _separate(site, wish, fabric, taken_bps, decisions, findings)


def _path_bps(site: Site, fabric: Fabric, job: JobLedger) -> tuple[float | None, float]:
    """What the storage system takes (None: not given) and what the job's NICs give, bit/s."""
    wish = site.storage or StorageWish()
    servers = math.ceil(job.gpus / fabric.gpus_per_server)
    if wish.network == "shared":
        nics_bps = servers * fabric.nics_per_server * fabric.nic_rate_bps
    else:
        nics_bps = servers * wish.nics_per_server * (wish.nic_rate_bps or DEFAULT_NIC_RATE_BPS)
    own = next((row.inputs.get("bandwidth_bps") for row in job.rows if row.collective == "write"), None)
    limits = [bps for bps in (wish.bandwidth_bps, own) if bps]
    return (min(limits) if limits else None), float(nics_bps)


def _checkpoint(site: Site, fabric: Fabric, job: JobLedger, size: int) -> list[Decision]:
    """How long a checkpoint takes, or the bandwidth that it needs when nobody says what storage takes."""
    wish = site.storage or StorageWish()
    taken, nics = _path_bps(site, fabric, job)
    within = wish.checkpoint_within_s or DEFAULT_WITHIN_S
    assumed = "" if wish.checkpoint_within_s else " (assumed)"
    row = next(row for row in job.rows if row.collective == "write")
    inputs = {
        "params": row.inputs["params"],
        "bytes_per_param": row.inputs["bytes_per_param"],
        "size_bytes": size,
        "within_s": within,
        "nics_bps": nics,
    }
    needed = Decision(
        f"storage.{job.name}.bandwidth",
        round(needed_bps(size, within)),
        "bit/s",
        f"a checkpoint of {format_size(size)} in {format_time(within)}{assumed}, all GPUs writing equal parts",
        "params x bytes_per_param x 8 / within",
        inputs,
        SOURCE_BYTES,
    )
    if taken is None:
        return [needed]
    time_s = checkpoint_s(size, min(taken, nics))
    because = f"{format_size(size)} at {format_rate(min(taken, nics))}, the lesser of storage and NICs"
    formula = "params x bytes_per_param x 8 / min(storage, nics)"
    given = {**inputs, "storage_bps": taken}
    return [needed, Decision(f"storage.{job.name}.checkpoint", time_s, "s", because, formula, given, SOURCE_BYTES)]


def _too_slow(site: Site, fabric: Fabric, job: JobLedger, size: int) -> list[Finding]:
    """A wished checkpoint time that storage or NICs do not reach."""
    if site.storage is None or site.storage.checkpoint_within_s is None:
        return []
    taken, nics = _path_bps(site, fabric, job)
    bound = min(taken or nics, nics)
    time_s, within = checkpoint_s(size, bound), site.storage.checkpoint_within_s
    if time_s <= within:
        return []
    args = {
        "size": format_size(size),
        "rate": format_rate(bound),
        "time": format_time(time_s),
        "within": format_time(within),
        "needed": format_rate(needed_bps(size, within)),
    }
    return [Finding("EW-ADV-020", "error", job.name, within, time_s, "s", args, path="storage.checkpoint_within")]


def _shared(site: Site, fabric: Fabric, taken_bps: float) -> list[Finding]:
    """Storage on the east-west fabric: incast at its ports, no isolation, and ports that it takes from the leaves."""
    port_bps = fabric.nic_rate_bps
    ports = math.ceil(taken_bps / port_bps)
    senders = fabric.n_servers * fabric.nics_per_server
    args = {
        "ports": ports,
        "rate": format_port_rate(port_bps),
        "senders": senders,
        "fan_in": math.ceil(senders / ports),
    }
    path = "storage.network"
    found = [
        Finding("EW-ADV-021", "warning", "storage", 1, round(senders / ports, 1), "senders a port", args, path=path)
    ]
    leaf = fabric.tier_ports.get("leaf")
    if leaf is not None and leaf.free < ports:
        found.append(Finding("EW-ADV-022", "error", "storage", ports, leaf.free, "ports", args, path=path))
    return found


def _separate(
    site: Site,
    wish: StorageWish,
    fabric: Fabric,
    taken_bps: float,
    decisions: list[Decision],
    findings: list[Finding],
) -> SideNetwork:
    """Own NICs, leaves, spines and cables."""
    switch = resolve_switch(wish.switch) if wish.switch else switch_of_tier(site, "leaf")
    rate = wish.nic_rate_bps or DEFAULT_NIC_RATE_BPS
    if switch is None or rate > switch.port_rate_bps:
        label = switch.label if switch else "-"
        args = {"nic": format_port_rate(rate), "switch": label}
        given = switch.port_rate_bps if switch else None
        short = Finding("EW-ADV-023", "error", "storage", given, rate, "bit/s", args, path="storage.nic_rate")
        return SideNetwork((), tuple(decisions), (*findings, short))
    storage_ports = math.ceil(taken_bps / rate)
    nics = fabric.n_servers * wish.nics_per_server
    built = shape(nics + storage_ports, switch, rate, wish.nics_per_server)
    decisions.append(_shape_decision(built, switch, rate, nics, storage_ports))
    rows = _bill(built, switch, rate, nics)
    return SideNetwork(rows, tuple(decisions), tuple(findings), built.leaves + built.spines)


def _shape_decision(built: StorageShape, switch: SwitchFacts, rate: int, nics: int, storage_ports: int) -> Decision:
    inputs = {
        "server_nics": nics,
        "storage_ports": storage_ports,
        "nic_rate_bps": rate,
        "ports_per_switch": built.capacity,
        "leaves": built.leaves,
        "spines": built.spines,
        "uplinks": built.uplinks,
    }
    return Decision(
        "storage.switches",
        built.leaves + built.spines,
        "switches",
        f"{nics} NICs and {storage_ports} storage ports of {format_port_rate(rate)} on {switch.label}",
        "one layer while ends <= leaves x ports, else leaves = ceil(ends / (ports/2)), spines = ceil(uplinks / ports)",
        inputs,
        alternatives=(Alternative("shared", "storage on the east-west fabric: its incast pauses the training class"),),
    )


def _bill(built: StorageShape, switch: SwitchFacts, rate: int, nics: int) -> tuple[BomRow, ...]:
    """NICs, switches and cables; lengths are assumed."""
    text, note = format_port_rate(rate), "length assumed"
    rows = [
        BomRow(f"{text} NIC", "storage NIC", nics, "NIC", "in the servers", group="storage"),
        BomRow(
            switch.label,
            "storage leaf",
            built.leaves,
            "switch",
            "storage",
            switch.power_w * built.leaves,
            "",
            "storage",
        ),
    ]
    if built.spines:
        power_w = switch.power_w * built.spines
        rows.append(BomRow(switch.label, "storage spine", built.spines, "switch", "storage", power_w, "", "storage"))
    part = f"AOC {text} {SERVER_CABLE_M:g} m"
    rows.append(BomRow(part, "storage link", built.ends, "link", "storage", None, note, "storage"))
    if built.uplinks:
        up = f"AOC {format_port_rate(switch.port_rate_bps)} {SWITCH_CABLE_M:g} m"
        rows.append(BomRow(up, "storage uplink", built.uplinks, "link", "storage", None, note, "storage"))
    return tuple(rows)
