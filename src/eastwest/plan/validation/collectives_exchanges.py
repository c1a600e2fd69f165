"""perftest and expert exchanges of a collectives table: measured points and the closed form that predicts each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from eastwest.errors import UsageError
from eastwest.plan.validation.collectives_point import Point
from eastwest.plan.validation.collectives_reasons import Unscored
from eastwest.plan.validation.collectives_table import CollectiveRow, number
from eastwest.plan.validation.machines import gpu_of
from eastwest.simulate.analytic import expert_exchange, point_to_point
from eastwest.spec import catalogue
from eastwest.units import BITS_PER_BYTE, GIGA, MEBI, US_PER_S

LARGE_BYTES = 8 * MEBI  # perftest without a size: the largest it is run with
COUNTED_BYTES = float(GIGA)  # of a bandwidth without a size
ASSUMED_NIC_GBPS, SERVER_GPUS = 400.0, 8  # ConnectX-7 beside each Hopper or Blackwell GPU
ASSUMED_TOKENS, ASSUMED_HIDDEN, ASSUMED_TOP_K = 128.0, 7168.0, 8.0  # DeepSeek-V3 2024
_TOKENS, _HIDDEN, _TOP_K = (re.compile(p, re.I) for p in (r"(\d+) tokens", r"hidden (\d+)", r"top-(\d+)(?! groups)"))
_ARCHITECTURE = {"hopper": "h100", "blackwell": "b200"}

Read = tuple[tuple[Point, ...], Unscored | None, tuple[str, ...]]


def exchange_points(row: CollectiveRow, kind: str) -> Read:
    """Points, why it is not scored, and what was assumed, of a row of `perftest` or `expert_exchange`."""
    points, assumed = _perftest(row) if kind == "perftest" else _experts(row)
    if points is None:
        return (), Unscored.no_hardware, ()
    return points, None if points else Unscored.no_points, assumed


def _perftest(row: CollectiveRow) -> tuple[tuple[Point, ...] | None, tuple[str, ...]]:
    rate = row.number_of("nic_gbps")
    if not rate:
        return None, ()
    nic = rate * GIGA / BITS_PER_BYTE
    reads, name = "read" in row.text("collective"), row.text("collective")
    found = []
    for point in row.points:
        size = number(point.get("bytes")) or LARGE_BYTES
        label = f"{int(size)} B"
        gbps = number(point.get("avg_gbps")) or number(point.get("peak_gbps"))
        typical = next((number(point.get(key)) for key in _LATENCIES if number(point.get(key))), None)
        if gbps:
            closed = point_to_point.write_s(size, nic)
            found.append(Point(label, size, size * BITS_PER_BYTE / (gbps * GIGA), None, closed, size / nic))
        elif typical and "lat" in name:
            form = point_to_point.read_latency_s if reads else point_to_point.write_latency_s
            found.append(Point(label, size, typical / US_PER_S, None, form(size, nic), size / nic))
    return tuple(found), ("one queue pair",)


_LATENCIES = ("t_typical_us", "t_avg_us", "t_min_us")


def _experts(row: CollectiveRow) -> tuple[tuple[Point, ...] | None, tuple[str, ...]]:
    inner = _inner_bytes_per_s(row.text("gpu"))
    if inner is None:
        return None, ()
    per_domain = row.count("gpus_per_node") or SERVER_GPUS
    said = row.number_of("nic_gbps")
    assumed = () if said else (f"a {ASSUMED_NIC_GBPS:g}G NIC for each GPU",)
    nic = (said or ASSUMED_NIC_GBPS) * GIGA / BITS_PER_BYTE
    points = tuple(p for point in row.points for p in _expert_points(row, point, per_domain, nic, inner))
    return points, assumed


def _inner_bytes_per_s(printed: str) -> float | None:
    gpu = gpu_of(printed)
    name = next((model for word, model in _ARCHITECTURE.items() if word in printed.lower()), None)
    if gpu is None and name:
        try:
            gpu = catalogue.get("gpu", name)
        except UsageError:
            return None
    return float(gpu.scale_up_bytes_per_s) if gpu and gpu.scale_up_bytes_per_s else None


def _expert_points(
    row: CollectiveRow, point: Mapping[str, Any], per_domain: int, nic: float, inner: float
) -> Iterator[Point]:
    """Latency of a low-latency exchange, or the bandwidth that a normal one prints."""
    ranks = number(point.get("ep")) or row.count("ranks") or (row.count("nodes") or 0) * per_domain
    if not ranks or ranks < 2:
        return
    latency_us = number(point.get("latency_us"))
    if latency_us:
        size = _payload_bytes(row.text("workload"))
        closed = expert_exchange.low_latency_s(size, int(ranks), per_domain, nic, inner)
        yield Point(f"ep {int(ranks)}", size, latency_us / US_PER_S, None, closed, size / nic)
        return
    domains = max(1, -(-int(ranks) // per_domain))
    closed = COUNTED_BYTES / expert_exchange.counted_bytes_per_s(domains, nic, inner)
    for key in ("bottleneck_GBps", "dispatch_GBps", "combine_GBps"):
        value = number(point.get(key))
        if value:
            naive = COUNTED_BYTES / (nic if domains > 1 else inner)
            yield Point(
                f"ep {int(ranks)}, {key[:-5]}", COUNTED_BYTES, COUNTED_BYTES / (value * GIGA), None, closed, naive
            )


def _payload_bytes(workload: str) -> float:
    """Bytes that one GPU dispatches: tokens x experts x hidden, one byte each (FP8)."""
    pairs = ((_TOKENS, ASSUMED_TOKENS), (_TOP_K, ASSUMED_TOP_K), (_HIDDEN, ASSUMED_HIDDEN))
    size = 1.0
    for pattern, assumed in pairs:
        match = pattern.search(workload)
        size *= float(match[1]) if match and len(match[1]) < 9 else assumed
    return size
