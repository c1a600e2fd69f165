"""The same test on more and more servers: a ring keeps its bandwidth, so a fall with the number of servers is a fault.

Two servers are left out: a tree carries half of what busbw says there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eastwest.accept.results import Result, gigabytes, percent
from eastwest.finding import Finding

FALL_RATIO = 0.9  # the largest count against the smallest: less is a fall
FIRST_NODES = 3
IN_DOUBT = ("EW-SCO-059", "EW-SCO-060", "EW-SCO-064")


def judge_scaling(results: Sequence[Result]) -> tuple[tuple[Result, ...], Finding | None]:
    """The results, a WARN of a falling series made FAIL, and the finding that the series falls."""
    series = _series(results)
    if len(series) < 2:
        return tuple(results), None
    first, last = series[0], series[-1]
    if (last.measured_bytes_per_s or 0.0) >= FALL_RATIO * (first.measured_bytes_per_s or 0.0) or last.verdict == "pass":
        return tuple(results), None
    figures = ", ".join(
        f"{gigabytes(result.measured_bytes_per_s or 0.0)} ({result.nodes}: {percent(result.of_ceiling_ratio or 0.0)} %)"
        for result in series
    )
    args = {"figures": figures, "first": first.nodes, "last": last.nodes}
    lines = tuple({result.line.line: result.line for result in series if result.line}.values())
    finding = Finding(
        "EW-SCO-030",
        "error",
        first.collective,
        first.measured_bytes_per_s,
        last.measured_bytes_per_s,
        "bytes_per_s",
        args,
        lines,
    )
    fallen = {id(result) for result in series if result.verdict != "pass"}
    return tuple(_fallen(result, finding) if id(result) in fallen else result for result in results), finding


def _fallen(result: Result, finding: Finding) -> Result:
    """The result failed by the series: its own ratio names no limiter any more."""
    others = tuple(note for note in result.findings if note is not result.limiter)
    return replace(result, verdict="fail", limiter=finding, findings=others)


def _series(results: Sequence[Result]) -> list[Result]:
    """Judged rings of one collective on three servers and more, by their number; () when figures mix collectives."""
    found = [
        result
        for result in results
        if result.comparable and result.crosses_network and result.of_ceiling_ratio is not None
        if not any(note.code in IN_DOUBT for note in result.findings)
        if (result.nodes or 0) >= FIRST_NODES and result.ceiling and result.ceiling.name in ("ring", "pcie")
    ]
    if len({result.collective for result in found}) != 1 or len({result.nodes for result in found}) < len(found):
        return []
    return sorted(found, key=lambda result: result.nodes or 0)
