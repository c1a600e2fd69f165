"""What happens to cables between two phases: kept, moved, added, removed.

Devices of two phases are the same device when they have the same kind, room, plane and place in their order; spines
are interchangeable, so the first ones stay the first ones. A cable that ends at the same two devices at the same rate
is kept, whatever its port; of the others, one that leaves the same lower device is moved rather than replaced.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from eastwest.fabric.cabling import Cable, cable_rows
from eastwest.fabric.routing import Ints
from eastwest.fabric.symmetry import number_values
from eastwest.fabric.tables import Fabric, LinkKind, NodeKind


@dataclass(frozen=True, eq=False)
class CableDiff:
    """Links of the phase before and after: `kept` and `moved` (n, 2) int64 pairs (before, after), `added` (n,) after,
    `removed` (n,) before.
    """

    kept: Ints
    moved: Ints
    added: Ints
    removed: Ints


@dataclass(frozen=True, slots=True)
class Outage:
    """Who stands still or runs with less while cables move: servers whose own cable moves, leaves whose uplinks move
    (with the servers behind them), and moved cables that must be bought again because length, medium or rate differ.
    """

    servers: int
    leaves: int
    servers_behind: int
    rebought: int


@dataclass(frozen=True, slots=True)
class GrowthCable:
    """One line of growth.csv; a moved cable says where its upper end was."""

    phase: str
    action: str
    cable_id: str
    a_device: str
    a_port: str
    b_device: str
    b_port: str
    from_device: str
    from_port: str
    kind: str
    rate_bps: int
    length_m: float
    medium: str
    part: str


def diff_cables(before: Fabric, after: Fabric) -> CableDiff:
    """What becomes of every cable of `before`, and what `after` adds."""
    n = len(before.links)
    keys = [np.concatenate(column) for column in zip(_node_keys(before), _node_keys(after), strict=True)]
    device = number_values(*keys)
    ends = [(device[: len(before.nodes)], before.links), (device[len(before.nodes) :], after.links)]
    a, b = (np.concatenate([number[rows[side]] for number, rows in ends]) for side in "ab")
    kind, rate = (np.concatenate([rows[name] for _, rows in ends]) for name in ("kind", "rate_bps"))
    kept = _pair(number_values(kind, rate, a, b), n, np.arange(len(a)))
    left = np.setdiff1d(np.arange(len(a)), np.r_[kept[:, 0], kept[:, 1] + n])
    moved = _pair(number_values(kind, a), n, left)
    rest = np.setdiff1d(left, np.r_[moved[:, 0], moved[:, 1] + n])
    return CableDiff(kept, moved, rest[rest >= n] - n, rest[rest < n])


def _node_keys(fabric: Fabric) -> tuple[Ints, ...]:
    """(n_nodes,) each: kind, room, plane, and the place among the nodes that share them."""
    columns = [fabric.nodes[name].astype(np.int64) for name in ("kind", "room", "plane")]
    place = _rank(number_values(*columns))
    return (*columns, place)


def _rank(group: Ints) -> Ints:
    """(n,) int64 how many rows before each one are of its group."""
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(group) else np.zeros(0, np.int64)
    rank = np.empty(len(group), np.int64)
    rank[order] = np.arange(len(group)) - np.repeat(starts, np.diff(np.r_[starts, len(group)]))
    return rank


def _pair(key: Ints, n_before: int, rows: Ints) -> Ints:
    """(n, 2) int64 rows before and after (the latter from 0) that share a key, first with first."""
    mine = key[rows]
    is_after = rows >= n_before
    order = _rank(number_values(mine, is_after))
    tag = number_values(mine, order)
    old, new = np.argsort(tag[~is_after], kind="stable"), np.argsort(tag[is_after], kind="stable")
    _, first, second = np.intersect1d(tag[~is_after][old], tag[is_after][new], return_indices=True)
    return np.stack([rows[~is_after][old[first]], rows[is_after][new[second]] - n_before], axis=1).astype(np.int64)


def outage_of(before: Fabric, after: Fabric, diff: CableDiff) -> Outage:
    """Who is hit while the cables of `diff` move."""
    old, new = before.links[diff.moved[:, 0]], after.links[diff.moved[:, 1]]
    at_server = before.nodes["kind"][old["a"]] == NodeKind.SERVER
    leaves = np.unique(old["a"][before.nodes["kind"][old["a"]] == NodeKind.LEAF])
    down = before.links[before.links["kind"] == LinkKind.SERVER_LEAF]
    differs = (
        (old["length_m"] != new["length_m"]) | (old["medium"] != new["medium"]) | (old["rate_bps"] != new["rate_bps"])
    )
    return Outage(
        servers=len(np.unique(old["a"][at_server])),
        leaves=len(leaves),
        servers_behind=len(np.unique(down["a"][np.isin(down["b"], leaves)])),
        rebought=int(np.count_nonzero(differs)),
    )


def cable_ids(phases: list[Fabric], diffs: list[CableDiff]) -> list[Ints]:
    """For each phase (n_links,) int64 the number of each cable: the first phase counts as cables.csv does, later
    phases keep the numbers of what stays or moves and count on.
    """
    numbers = [np.arange(1, len(phases[0].links) + 1, dtype=np.int64)]
    last = len(phases[0].links)
    for fabric, diff in zip(phases[1:], diffs, strict=True):
        number = np.zeros(len(fabric.links), np.int64)
        for pairs in (diff.kept, diff.moved):
            number[pairs[:, 1]] = numbers[-1][pairs[:, 0]]
        number[diff.added] = last + 1 + np.arange(len(diff.added))
        last += len(diff.added)
        numbers.append(number)
    return numbers


def growth_cables(names: list[str], phases: list[Fabric], diffs: list[CableDiff]) -> Iterator[GrowthCable]:
    """The lines of growth.csv: phase by phase what is pulled out, what moves, what is laid."""
    numbers = cable_ids(phases, diffs)
    width = max(4, len(str(len(phases[0].links))))
    for step, diff in enumerate(diffs):
        before, after = list(cable_rows(phases[step])), list(cable_rows(phases[step + 1]))
        old, new = ([f"C{number:0{width}d}" for number in numbers[i].tolist()] for i in (step, step + 1))
        name = names[step + 1]
        for i in diff.removed.tolist():
            yield _line(name, "removed", old[i], before[i], None)
        for i, j in diff.moved.tolist():
            yield _line(name, "moved", new[j], after[j], before[i])
        for j in diff.added.tolist():
            yield _line(name, "added", new[j], after[j], None)


def _line(phase: str, action: str, cable_id: str, cable: Cable, was: Cable | None) -> GrowthCable:
    return GrowthCable(
        phase,
        action,
        cable_id,
        cable.a_device,
        cable.a_port,
        cable.b_device,
        cable.b_port,
        was.b_device if was else "",
        was.b_port if was else "",
        cable.kind,
        cable.rate_bps,
        cable.length_m,
        cable.medium,
        cable.part,
    )
