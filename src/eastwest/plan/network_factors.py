"""How much longer each class of a job's traffic takes on a fabric than the servers' NICs alone would need.

factor = sum of max(most loaded link, busiest server's NICs x stretch) + waits / sum of the ideal, over the rows of the
class. 1 on a network that blocks nothing; 0 where nothing of a class leaves the scale-up domains. It is a floor: ideal
ECMP, no loss, no pauses, no other job on the network.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from eastwest.fabric.bottleneck import Bottleneck, bottleneck
from eastwest.fabric.placement import Placement
from eastwest.fabric.slots import nic_slot_payload_bps
from eastwest.fabric.tables import Fabric, RoomLink
from eastwest.plan.distance import CHANNELS_PER_NIC, CROSSINGS, nccl_bytes_per_s
from eastwest.simulate.analytic.distance import rtt_s
from eastwest.spec.resolve import ServerFacts
from eastwest.units import BITS_PER_BYTE
from eastwest.workload.collectives import algorithm_of
from eastwest.workload.ledger import JobLedger, LedgerRow

CLASS_OF_DIMENSION = {"tp": "tp", "cp": "cp", "ep": "ep", "pp": "pp"}  # every other dimension: gradients and weights
GRADIENTS = "dp"
WHOLE_RINGS = ("dp_cp", "shard")  # of whose ranks the step model expects a domain's worth to share their NICs
STORAGE = "checkpoint"


def class_of(row: LedgerRow) -> str:
    """The class of traffic of one row: tp, cp, ep, pp, or dp for gradients and weights."""
    return CLASS_OF_DIMENSION.get(row.dimension, GRADIENTS)


def bottlenecks(fabric: Fabric, placement: Placement, job: JobLedger) -> dict[str, Bottleneck]:
    """Traffic class -> what bounds it on this fabric, distance between rooms included; checkpoints go to the storage
    system and are left out.
    """
    gpus = placement.gpus[job.name]
    rows = [row for row in job.rows if row.per != STORAGE]
    found = {row.traffic: bottleneck(fabric, job.grid, gpus, row) for row in rows}
    link = longest_link(fabric, placement, job)
    if link is None:
        return found
    far = {row.traffic for row in placement.rows if row.job == job.name and row.tier == "room"}
    return {
        row.traffic: _over(found[row.traffic], row, link, fabric) if row.traffic in far else found[row.traffic]
        for row in rows
    }


def longest_link(fabric: Fabric, placement: Placement, job: JobLedger) -> RoomLink | None:
    """The longest room link between rooms that the job uses."""
    if not fabric.room_links:
        return None
    rooms = set(np.unique(fabric.nodes["room"][placement.gpus[job.name] // fabric.gpus_per_server]).tolist())
    used = [link for link in fabric.room_links if set(link.rooms) <= rooms]
    return max(used, key=lambda link: link.distance_m, default=None)


def _over(found: Bottleneck, row: LedgerRow, link: RoomLink, fabric: Fabric) -> Bottleneck:
    """A row whose groups span rooms: NCCL's buffers bound what is in flight, each turn of a collective waits for the
    fibre.
    """
    round_trip_s = rtt_s(link.distance_m)
    window_bytes_per_s = nccl_bytes_per_s(CHANNELS_PER_NIC, round_trip_s)
    stretch = max(1.0, fabric.nic_rate_bps / BITS_PER_BYTE / window_bytes_per_s)
    wait_s = repeats_of(row) * CROSSINGS.get(row.collective, 1) * round_trip_s / 2
    return replace(found, stretch=stretch, wait_s=wait_s)


def repeats_of(row: LedgerRow) -> float:
    """Collectives of one row in one `per`: its messages over those that one collective takes."""
    return row.messages / max(1, algorithm_of(row.collective).n_messages(row.group_size))


def nic_bps(server: ServerFacts) -> float:
    """Bit/s that one NIC carries: the slower of its wire and its slot."""
    slot_bps = nic_slot_payload_bps(server)
    return min(float(server.nic_rate_bps), slot_bps) if slot_bps else float(server.nic_rate_bps)


def times_on(found: Bottleneck, slot_ratio: float) -> float:
    """Seconds of one row on the network; `slot_ratio` is a NIC's wire rate over what its slot lets it carry."""
    return max(found.network_s, found.nics_s * slot_ratio * found.stretch) + found.wait_s


def factors_of(job: JobLedger, found: Mapping[str, Bottleneck], server: ServerFacts) -> dict[str, float]:
    """Class of traffic -> time on the network over the time that NICs alone would need."""
    slot_ratio = server.nic_rate_bps / nic_bps(server)
    sums: dict[str, list[float]] = {name: [0.0, 0.0] for name in (*CLASS_OF_DIMENSION.values(), GRADIENTS)}
    present = set()
    for row in job.rows:
        if row.traffic in found:
            own, name = found[row.traffic], class_of(row)
            present.add(name)
            sums[name][0] += times_on(own, slot_ratio)
            sums[name][1] += _ideal_s(row, own, job, server, slot_ratio)
    return {name: _ratio(*sums[name]) if name in present else 1.0 for name in sums}


def _ratio(actual_s: float, ideal_s: float) -> float:
    if not actual_s:
        return 0.0
    return actual_s / ideal_s if ideal_s else 1.0


def _ideal_s(row: LedgerRow, own: Bottleneck, job: JobLedger, server: ServerFacts, slot_ratio: float) -> float:
    """Seconds that the row's bytes need over the NICs of its ranks, with ranks in the usual order."""
    if row.dimension not in WHOLE_RINGS:
        return own.nics_s * slot_ratio
    inside = min(max(server.scale_up_domain / job.grid.tp, 1.0), row.group_size)
    if row.group_size <= inside:
        return own.nics_s * slot_ratio
    per_gpu = nic_bps(server) * server.nics / server.gpus / BITS_PER_BYTE
    return min(row.bytes_per_gpu / (per_gpu * inside), own.nics_s * slot_ratio)
