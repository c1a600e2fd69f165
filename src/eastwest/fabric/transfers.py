"""From a ledger row to transfers between GPUs: ring neighbours, chain neighbours or all pairs of every group, as the
placed ranks make them.

A ring that spans servers is run as NCCL runs it: one ring a GPU of the server, so that each server hands over on all
its NICs, rail to rail.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric.routing import REMEMBERED, server_links
from eastwest.fabric.tables import Fabric, Tier
from eastwest.workload.ledger import Grid, LedgerRow

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
RINGS = ("all_reduce", "all_gather", "reduce_scatter")
CHAINS = ("send_recv", "broadcast")
STORAGE = "storage"  # tier of what leaves for the storage system


@dataclass(frozen=True, eq=False)
class Transfers:
    """(n,) source GPU, destination GPU and bytes of each transfer."""

    src: Ints
    dst: Ints
    size_bytes: Floats


def transfers_of(row: LedgerRow, grid: Grid, gpus: Ints, per_server: int) -> Transfers:
    """The transfers of one row in one `per`, over all groups; `gpus` (n_ranks,) is where the ranks sit, `per_server`
    GPUs of a server, or of a scale-up domain of several servers: rings hand over between those.

    Ring collectives: each rank sends `bytes_per_gpu` to its ring neighbours. Chains (`send_recv`, `broadcast`): each
    rank but the last sends them to the next; a pipeline's backward direction is the chain reversed, and an interleaved
    one wraps round. All-to-all: equal parts to all others. `write`: none here.
    """
    groups = grid.groups(row.dimension) if row.collective != "write" else np.zeros((0, 1), np.int64)
    members = gpus[groups]
    size = float(row.bytes_per_gpu)
    if members.size == 0 or members.shape[1] == 1:
        return _none()
    if row.collective in RINGS:
        return _rings(np.sort(members, axis=1), size, per_server)
    if row.collective in CHAINS:
        return _chains(members, size, row.inputs.get("direction") == "backward", bool(row.inputs.get("wraps")))
    return _pairs(members, size)


def _none() -> Transfers:
    return Transfers(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


def _chains(members: Ints, size: float, backward: bool, wraps: bool) -> Transfers:
    order = members[:, ::-1] if backward else members
    src, dst = (order, np.roll(order, -1, axis=1)) if wraps else (order[:, :-1], order[:, 1:])
    return Transfers(src.ravel(), dst.ravel(), np.full(src.size, size))


def _pairs(members: Ints, size: float) -> Transfers:
    n = members.shape[1]
    i, j = np.nonzero(~np.eye(n, dtype=bool))
    src, dst = members[:, i].ravel(), members[:, j].ravel()
    return Transfers(src, dst, np.full(src.size, size / (n - 1)))


def _rings(members: Ints, size: float, per_server: int) -> Transfers:
    """Ring neighbours of groups sorted by GPU: k rings when every server of a group holds k of its GPUs, else one
    plain ring.
    """
    n = members.shape[1]
    server = members // per_server
    n_servers = 1 + np.count_nonzero(server[:, 1:] != server[:, :-1], axis=1)
    found = []
    for count in np.unique(n_servers):
        mine = members[n_servers == count]
        k = n // int(count)
        even = n % int(count) == 0 and bool(
            (
                mine.reshape(len(mine), -1, k) // per_server == mine.reshape(len(mine), -1, k)[:, :, :1] // per_server
            ).all()
        )
        found.append(_multi_ring(mine.reshape(len(mine), int(count), k), size) if even else _plain_ring(mine, size))
    return Transfers(
        *(np.concatenate([getattr(part, name) for part in found]) for name in ("src", "dst", "size_bytes"))
    )


def _plain_ring(members: Ints, size: float) -> Transfers:
    return Transfers(members.ravel(), np.roll(members, -1, axis=1).ravel(), np.full(members.size, size))


def _multi_ring(blocks: Ints, size: float) -> Transfers:
    """`blocks` (n_groups, servers, k): each GPU sends (k-1)/k of its bytes to the next in its server, 1/k to its
    like in the next server.
    """
    _, servers, k = blocks.shape
    if servers == 1:
        return _plain_ring(blocks[:, 0, :], size)
    across = Transfers(blocks.ravel(), np.roll(blocks, -1, axis=1).ravel(), np.full(blocks.size, size / k))
    if k == 1:
        return across
    inside = Transfers(blocks.ravel(), np.roll(blocks, -1, axis=2).ravel(), np.full(blocks.size, size * (k - 1) / k))
    return Transfers(
        *(np.concatenate([getattr(inside, name), getattr(across, name)]) for name in ("src", "dst", "size_bytes"))
    )


@dataclass(frozen=True, eq=False)
class Where:
    """What decides the tier of a pair: server, scale-up domain, pod and room of GPUs, the leaf of each NIC, and whether
    rails are kept.

    `domain` GPUs of a scale-up domain, `domain_of`, `room`, `pod` (n_servers,) of each server, `leaf` (n_servers, nics)
    node of each NIC's first leaf.
    """

    per_server: int
    domain: int
    nics: int
    rail_aligned: bool
    is_direct: bool
    leaf: Ints
    room: Ints
    pod: Ints
    domain_of: Ints

    def nic_pair(self, src: Ints, dst: Ints) -> tuple[Ints, Ints]:
        """(n,), (n,) NICs that a pair of GPUs uses.

        With one NIC a GPU, or rails that do not meet, the data goes over the destination's rail (NCCL hands it to the
        GPU of that rail by NVLink first, PXN), so both NICs are equal.
        """
        into = self.nic_of(dst)
        return (into if self.rail_aligned else self.nic_of(src)), into

    def nic_of(self, gpu: Ints) -> Ints:
        """(n,) NIC index of GPUs: neighbours share one where there are fewer NICs than GPUs."""
        return gpu % self.per_server * self.nics // self.per_server


@lru_cache(maxsize=REMEMBERED)
def where(fabric: Fabric) -> Where:
    """The tables of one fabric, made once; leaves are those of the first port of each NIC, all ports being alike."""
    link = server_links(fabric)[:, :, 0]
    leaf = np.where(link >= 0, fabric.links["b"][link], -1).astype(np.int64) if len(fabric.links) else link
    servers = fabric.nodes[: fabric.n_servers]
    domain = max(fabric.scale_up_domain, fabric.gpus_per_server)
    nics, per_server = fabric.nics_per_server, fabric.gpus_per_server
    room = servers["room"].astype(np.int64)
    return Where(
        per_server,
        domain,
        nics,
        nics == per_server or has_lone_rails(fabric),
        fabric.tiers == 0,
        leaf,
        room,
        servers["pod"].astype(np.int64),
        _domains(room, max(1, domain // per_server)),
    )


def has_lone_rails(fabric: Fabric) -> bool:
    """Whether NICs of different index sit in planes that no switch joins."""
    return fabric.plane_by == "nic" and fabric.planes > 1


def _domains(room: Ints, servers_per_domain: int) -> Ints:
    """(n_servers,) int64 scale-up domain of each server, counted over all rooms; every room begins with a new one."""
    starts = np.searchsorted(room, room, side="left")
    inside = np.arange(len(room)) - starts
    fresh = inside % servers_per_domain == 0
    found: Ints = np.cumsum(fresh) - 1
    return found


def tiers_of(places: Where, moves: Transfers) -> Ints:
    """(n,) int64 `Tier` of each transfer: the highest part of the network that it crosses."""
    a, b = moves.src // places.per_server, moves.dst // places.per_server
    out, into = places.nic_pair(moves.src, moves.dst)
    if places.is_direct:
        tier = np.full(len(a), int(Tier.DIRECT))
    else:
        tier = tier_between(places, a, b, places.leaf[a, out] == places.leaf[b, into])
    tier = np.where(places.domain_of[a] == places.domain_of[b], Tier.SCALE_UP, tier)
    found: Ints = np.where(moves.src == moves.dst, Tier.LOCAL, tier).astype(np.int64)
    return found


def tier_between(places: Where, a: Ints, b: Ints, is_one_leaf: NDArray[np.bool_]) -> Ints:
    """(n,) int64 `Tier` of what goes from servers `a` to servers `b` over switches."""
    tier = np.where(is_one_leaf, Tier.LEAF, np.where(places.pod[a] == places.pod[b], Tier.SPINE, Tier.CORE))
    found: Ints = np.where(places.room[a] != places.room[b], Tier.ROOM, tier).astype(np.int64)
    return found
