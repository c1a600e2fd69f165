"""A row of a collectives table as a case: its class, its measured points as times, and the run that predicts each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from eastwest.plan.validation.collectives_exchanges import exchange_points
from eastwest.plan.validation.collectives_machine import Machine, machine_of
from eastwest.plan.validation.collectives_point import Point
from eastwest.plan.validation.collectives_reasons import Unscored
from eastwest.plan.validation.collectives_table import CollectiveRow, number
from eastwest.simulate.analytic.nccl_cost import bus_factor
from eastwest.units import GIBI, GIGA, KIBI, US_PER_S

CLASSES = (
    "one_node", "two_nodes", "three_nodes", "four_or_more_nodes", "one_nvl72_set", "several_nvl72_sets",
    "nodes_not_said", "perftest", "p2p", "expert_exchange", "other",
)  # fmt: skip
PLATEAU_BYTES = 8 * GIBI  # a size at which every curve is flat: where a row prints a plateau only
SMALL_BYTES = 8  # of a "small latency"
FULL_NODE = 8  # GPUs of the servers that the promise of four or more nodes is for
_COLLECTIVES = (
    ("all_reduce", r"all.?reduce"),
    ("all_gather", r"all.?gather"),
    ("reduce_scatter", r"reduce.?scatter"),
    ("all_to_all", r"all.?to.?all|a2a"),
    ("broadcast", r"broadcast|bcast"),
    ("send_recv", r"send.?rec|p2p copy|p2pBandwidth"),
)
_EXCHANGES = (("perftest", r"perftest|ib_(?:write|read|send)"), ("expert_exchange", r"dispatch|combine"))
_DEFECT = re.compile(r"misconfig|broken|defect|unhealthy|\bacs enabled|collapse", re.I)
_NOT_MEASURED = {"simulation", "simulated", "spec", "derived", "published_claim"}


@dataclass(frozen=True, slots=True)
class CollectiveCase:
    """One row read: `points` to predict, `family` its class, `unscored` why it does not count, `assumed` in words.

    A row may have points and still be unscored: it is predicted, listed and left out of every median.
    """

    row: CollectiveRow
    family: str
    points: tuple[Point, ...]
    unscored: Unscored | None
    assumed: tuple[str, ...]


def case_of(row: CollectiveRow) -> CollectiveCase:
    """One row as a case."""
    blank = CollectiveCase(row, "other", (), _not_scored(row), ())
    kind = row.text("collective").lower()
    exchange = next((name for name, pattern in _EXCHANGES if re.search(pattern, kind)), None)
    if exchange:
        points, unscored, assumed = exchange_points(row, exchange)
        return replace(blank, family=exchange, points=points, unscored=blank.unscored or unscored, assumed=assumed)
    collectives = _collectives(row, kind)
    if not collectives:
        return replace(blank, unscored=blank.unscored or Unscored.unknown_collective)
    read = list(_points(row, collectives[0]))
    machines = [machine for machine, _ in read if isinstance(machine, Machine)]
    reasons = [machine for machine, _ in read if isinstance(machine, Unscored)]
    points = tuple(point for _, point in read if point is not None)
    if not points:
        return replace(blank, unscored=blank.unscored or (reasons[0] if reasons else Unscored.no_points))
    family = "p2p" if collectives[0] == "send_recv" and not _across(points) else class_of(machines[0])
    return replace(blank, family=family, points=points, assumed=machines[0].assumed)


def class_of(machine: Machine) -> str:
    """The class of a run by its scale-up domains and servers."""
    run = machine.run
    if machine.domain > FULL_NODE or run.ranks > run.domains * FULL_NODE:
        return "one_nvl72_set" if run.domains == 1 else "several_nvl72_sets"
    if not machine.nodes_known and run.domains > 1:
        return "nodes_not_said"
    if run.domains <= 3:
        return ("one_node", "two_nodes", "three_nodes")[run.domains - 1]
    return "four_or_more_nodes" if run.ranks == run.domains * FULL_NODE else "other"


def _across(points: tuple[Point, ...]) -> bool:
    return any(point.run is not None and point.run.domains > 1 for point in points)


def _not_scored(row: CollectiveRow) -> Unscored | None:
    """Why a row is listed and never scored, whatever it gives."""
    kind, source = row.text("kind").lower(), row.text("source")
    if kind == "calibration_table":
        return Unscored.calibration_table
    if kind in _NOT_MEASURED:
        return Unscored.not_measured
    if _DEFECT.search(row.text("network", "note", "status")) or row.data.get("unhealthy"):
        return Unscored.defect
    if re.search(r"\bissue ?#?\d|/issues/\d", source, re.I):
        return Unscored.issue_tracker
    return Unscored.no_address if re.search(r"incomplete", row.text("citation"), re.I) else None


def _collectives(row: CollectiveRow, kind: str) -> list[str]:
    """The collective of a row; of its points when the row says `several`."""
    found = [name for name, pattern in _COLLECTIVES if re.search(pattern, kind)]
    if found:
        return found[:1]
    operations = " ".join(str(point.get("op", ""))[:40] for point in row.points)
    return [name for name, pattern in _COLLECTIVES if re.search(pattern, operations)][:1]


def _points(row: CollectiveRow, collective: str) -> Iterator[tuple[Machine | Unscored | None, Point | None]]:
    """Machine and measurement of every point that can be read."""
    shared = machine_of(row, collective)
    for point in row.points:
        machine = machine_of(row, collective, point) if {"gpus", "nodes"} & set(point) else shared
        operation = str(point.get("op", ""))[:40]
        named = next((name for name, pattern in _COLLECTIVES if re.search(pattern, operation)), None)
        if named and isinstance(machine, Machine):
            machine = replace(machine, run=replace(machine.run, collective=named))
        if isinstance(machine, Unscored):
            yield machine, None
            continue
        for label, size_bytes, time_s, algorithm in _measured(row, point, machine):
            run = replace(machine.run, algorithm=algorithm) if algorithm else machine.run
            if collective == "send_recv" and run.domains == 1:
                run = replace(run, ranks=2)
            yield machine, Point(label, size_bytes, time_s, run, None, _naive_s(run, size_bytes))


def _measured(
    row: CollectiveRow, point: Mapping[str, Any], machine: Machine
) -> Iterator[tuple[str, float, float, str | None]]:
    """(label, bytes, seconds, algorithm named by the key) of one point: a time, a bandwidth or a plateau."""
    size_bytes = number(point.get("bytes")) or row.number_of("bytes")
    where = f"{int(size_bytes)} B" if size_bytes else "plateau"
    for key in ("gpus", "nodes"):
        where = f"{point[key]} {key}, {where}" if number(point.get(key)) else where
    time_us = number(point.get("time_us"))
    if time_us and size_bytes:
        yield where, size_bytes, time_us / US_PER_S, None
        return
    factor = float(bus_factor(machine.run.collective, float(machine.run.ranks)))
    size = size_bytes or PLATEAU_BYTES
    found = False
    for key, scale, algorithm in _BANDWIDTHS:
        value = number(point.get(key))
        if value and not found:
            yield (
                f"{where}{f', {algorithm}' if algorithm else ''}",
                size,
                size * (factor if scale else 1.0) / (value * GIGA),
                algorithm,
            )
            found = algorithm is None
    if number(point.get("small_latency_us")):
        yield f"{where}, small", SMALL_BYTES, float(point["small_latency_us"]) / US_PER_S, None
    small = number(point.get("busbw_32KiB"))
    if small:
        yield f"{where}, 32 KiB", 32 * KIBI, 32 * KIBI * factor / (small * GIGA), None


# key, whether it is bus bandwidth, algorithm that the key names
_BANDWIDTHS: tuple[tuple[str, bool, str | None], ...] = (
    ("busbw_nvls_GBps", True, "nvls"),
    ("busbw_ring_GBps", True, "ring"),
    ("busbw_GBps", True, None),
    ("algbw_GBps", False, None),
    ("peak_busbw_GBps", True, None),
    ("GBps", False, None),
)


def _naive_s(run: Any, size_bytes: float) -> float:
    """Seconds when bus bandwidth is the wire rate, whatever the size: the naive model."""
    per_domain = run.nics * run.nic_bytes_per_s
    direct = run.collective in ("all_to_all", "send_recv")
    wire = run.scale_up_bytes_per_s if run.domains == 1 else (run.nic_bytes_per_s if direct else per_domain)
    return float(size_bytes * bus_factor(run.collective, float(run.ranks)) / max(wire, 1.0))
