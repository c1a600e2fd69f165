"""What a curve and its footer show beside the plateau: a collapse, dips, a cold first call, the average line."""

from __future__ import annotations

from collections.abc import Iterator

from eastwest.accept.curve import Curve, Point
from eastwest.accept.results import gigabytes, size_name
from eastwest.dialects.readings import Benchmark
from eastwest.finding import Finding, Severity


def shape_findings(subject: str, curve: Curve, benchmark: Benchmark) -> Iterator[Finding]:
    """Findings that need no ceiling: only the collapse is an error."""
    if curve.collapse and curve.last:
        yield _collapse(subject, curve.collapse, curve.last)
    for dip in curve.dips:
        args = {"size": size_name(dip.size_bytes), "measured": gigabytes(dip.bandwidth_bytes_per_s)}
        yield _finding("EW-SCO-012", "warning", subject, None, dip, args)
    for point in curve.cold[:1]:
        in_place = point.in_place_bytes_per_s or 0.0
        args = {"size": size_name(point.size_bytes), "out": gigabytes(point.bandwidth_bytes_per_s)}
        args["in_place"] = gigabytes(in_place)
        yield _finding("EW-SCO-017", "info", subject, in_place, point, args)
    average = benchmark.average_bytes_per_s
    if average is not None:
        args = {"average": gigabytes(average)}
        lines = benchmark.footer[-1:]
        yield Finding("EW-SCO-018", "info", subject, None, average, "bytes_per_s", args, lines)


def _collapse(subject: str, peak: Point, last: Point) -> Finding:
    """The fall from the peak to the largest size, with both lines."""
    levels = peak.bandwidth_bytes_per_s, last.bandwidth_bytes_per_s
    args = {
        "peak": gigabytes(levels[0]),
        "after": size_name(peak.size_bytes),
        "last": gigabytes(levels[1]),
        "size": size_name(last.size_bytes),
    }
    return Finding("EW-SCO-011", "error", subject, *levels, "bytes_per_s", args, (peak.row.line, last.row.line))


def _finding(
    code: str, severity: Severity, subject: str, expected: float | None, point: Point, args: dict[str, str]
) -> Finding:
    observed = point.bandwidth_bytes_per_s
    return Finding(code, severity, subject, expected, observed, "bytes_per_s", args, (point.row.line,))
