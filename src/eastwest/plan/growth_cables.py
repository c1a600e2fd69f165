"""What happens to cables between two phases: kept, moved, added, removed.

Devices of two phases of one design keep their names. Devices of two designs are the same device when they have the
same kind, room, plane and place in their order; spines are interchangeable, so the first ones stay the first ones. A
cable that ends at the same two devices at the same rate is kept, whatever its port; of the others, one that leaves the
same lower device is moved rather than replaced.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
    """Who stands still or runs with less while cables move: servers and controllers whose own cable moves, leaves whose
    uplinks move (with the servers behind them), and moved cables that must be bought again because length, medium or
    rate differ.
    """

    servers: int
    leaves: int
    servers_behind: int
    rebought: int
    controllers: int = 0


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


def diff_cables(before: Fabric, after: Fabric, is_one_design: bool = False) -> CableDiff:
    """What becomes of every cable of `before`, and what `after` adds; `is_one_design` when both are parts of one."""
    n = len(before.links)
    device = _devices_by_name(before, after) if is_one_design else _devices_by_place(before, after)
    ends = [(device[: len(before.nodes)], before.links), (device[len(before.nodes) :], after.links)]
    a, b = (np.concatenate([number[rows[side]] for number, rows in ends]) for side in "ab")
    kind = np.concatenate([rows["kind"] for _, rows in ends]).astype(np.int64)
    rate = number_values(np.concatenate([rows["rate_bps"] for _, rows in ends]))
    n_devices = int(device.max(initial=0)) + 1
    left = np.ones(len(a), bool)
    lower = kind * n_devices + a
    kept = _pair((kind * (int(rate.max(initial=0)) + 1) + rate) * n_devices**2 + a * n_devices + b, n, left)
    moved = _pair(lower, n, left)
    rest = np.flatnonzero(left)
    return CableDiff(kept, moved, rest[rest >= n] - n, rest[rest < n])


def _devices_by_name(before: Fabric, after: Fabric) -> Ints:
    """(n_nodes of both,) int64 number of the device of each node, one a name."""
    number = {name: i for i, name in enumerate(dict.fromkeys((*before.names, *after.names)))}
    return np.array([number[name] for name in (*before.names, *after.names)], np.int64)


def _devices_by_place(before: Fabric, after: Fabric) -> Ints:
    """(n_nodes of both,) int64 number of the device of each node, one a kind, room, plane and place."""
    keys = [np.concatenate(column) for column in zip(_node_keys(before), _node_keys(after), strict=True)]
    return number_values(*keys)


def _node_keys(fabric: Fabric) -> tuple[Ints, ...]:
    """(n_nodes,) each: kind, room, plane, and the place among the nodes that share them."""
    columns = [fabric.nodes[name].astype(np.int64) for name in ("kind", "room", "plane")]
    place = _rank(number_values(*columns))
    return (*columns, place)


def _rank(group: Ints) -> Ints:
    """(n,) int64 how many rows before each one are of its group."""
    order = np.argsort(group, kind="stable")
    starts = _starts(group[order])
    rank = np.empty(len(group), np.int64)
    rank[order] = np.arange(len(group)) - np.repeat(starts, np.diff(np.r_[starts, len(group)]))
    return rank


def _starts(ordered: Ints) -> Ints:
    """First index of each run of equal values."""
    return np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(ordered) else np.zeros(0, np.int64)


def _pair(key: Ints, n_before: int, left: NDArray[np.bool_]) -> Ints:
    """(n, 2) int64 rows before and after (the latter from 0) of those `left` that share a key, first with first, in the
    order of the keys; they are marked as no longer left.
    """
    rows = np.flatnonzero(left)
    old, new = rows[rows < n_before], rows[rows >= n_before]
    old, new = old[np.argsort(key[old], kind="stable")], new[np.argsort(key[new], kind="stable")]
    first, second = _runs(key[old]), _runs(key[new])
    _, i, j = np.intersect1d(first.keys, second.keys, assume_unique=True, return_indices=True)
    count = np.minimum(first.lengths[i], second.lengths[j])
    place = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    old, new = old[np.repeat(first.starts[i], count) + place], new[np.repeat(second.starts[j], count) + place]
    left[old] = left[new] = False
    return np.stack([old, new - n_before], axis=1).astype(np.int64)


@dataclass(frozen=True, eq=False, slots=True)
class _Runs:
    """Runs of equal keys in a sorted list: (n_runs,) int64 each."""

    keys: Ints
    starts: Ints
    lengths: Ints


def _runs(ordered: Ints) -> _Runs:
    starts = _starts(ordered)
    return _Runs(ordered[starts], starts, np.diff(np.r_[starts, len(ordered)]))


def outage_of(before: Fabric, after: Fabric, diff: CableDiff) -> Outage:
    """Who is hit while the cables of `diff` move."""
    old, new = before.links[diff.moved[:, 0]], after.links[diff.moved[:, 1]]
    kind = before.nodes["kind"][old["a"]]
    at_server, at_controller = kind == NodeKind.SERVER, kind == NodeKind.CONTROLLER
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
        controllers=len(np.unique(old["a"][at_controller])),
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
