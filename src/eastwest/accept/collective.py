"""One collective's run judged: plateau against its ceiling, latency apart, and what the curve shows beside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from eastwest.accept.choice import Choice, choose, missing_options
from eastwest.accept.curve import LEAST_BANDWIDTH_BYTES, Curve, curve_of
from eastwest.accept.facts import Facts
from eastwest.accept.limiters import Case, limiter_of
from eastwest.accept.results import PASS_FROM_RATIO, Limits, Result, gigabytes, percent, size_name
from eastwest.accept.runs import Run
from eastwest.accept.shape import shape_findings
from eastwest.accept.unjudged import no_ceiling
from eastwest.dialects.bench.nccl_collective import factor_of
from eastwest.dialects.bench.prose import OF_NCCL
from eastwest.dialects.readings import Benchmark, Row
from eastwest.finding import Evidence, Finding, Verdict
from eastwest.units import US_PER_S

SAME_INSIDE = frozenset({"all_gather", "all_to_all", "gather", "scatter", "broadcast", "sendrecv"})
BEYOND_WIRE = ("EW-SCO-004", "EW-SCO-005")
SLOW_LATENCY_RATIO = 10.0  # over NCCL's own constants; EFA's healthy 160 us on two p4de is 6.4
LL_BASE_S, LL_INSIDE_S, LL_NETWORK_S = 6.8e-6, 0.6e-6, 5.0e-6  # tree, LL, NVIDIA/nccl tuning.cc


def judge_collective(run: Run, limits: Limits, source: str) -> tuple[Result, Facts]:
    """The result of one run, and the facts with what had to be assumed. Raises UsageError for an unknown GPU."""
    collective, facts = _named(run.benchmark, run.facts)
    curve = _as_far_as_shown(curve_of(run.rows), run.benchmark)
    point = curve.last
    row = point.row if point else _figure(run)
    measured = _measured(row, facts)
    facts = measured[1]
    blank = Result(
        collective=collective or "unknown",
        verdict="unknown",
        source=source,
        tool=run.benchmark.tool,
        nodes=facts.get("nodes"),
        gpus=facts.get("ranks"),
        size_bytes=row.size_bytes if row else None,
        measured_bytes_per_s=measured[0],
        latency_s=curve.latency_s,
        line=row.line if row else None,
        curve=curve,
        crosses_network=facts.get("nodes") != 1,
    )
    shape = (*shape_findings(blank.collective, curve, run.benchmark), *_without_largest(blank, curve, run.benchmark))
    candidates = run.benchmark.candidates
    if row is None or measured[0] is None:
        missing = missing_options(collective, facts, candidates)
        return replace(blank, findings=(*shape, _no_figure(blank, run)), missing=missing), facts
    choice = choose(collective, measured[0], facts, candidates)
    return _judged(replace(blank, findings=shape), curve, choice, limits), choice.facts


def _named(benchmark: Benchmark, facts: Facts) -> tuple[str, Facts]:
    """The collective: as flagged, as read, or one of those that the columns leave open and that have one ceiling."""
    flagged = facts.get("collective")
    if flagged:
        return flagged, facts
    if benchmark.test:
        return benchmark.test, facts
    if benchmark.tool == "prose":
        if benchmark.candidates or OF_NCCL not in benchmark.settings:
            return "", facts
        return "all_reduce", facts.with_fact("collective", "all_reduce", "assumed", "the usual one behind busbw")
    if benchmark.candidates[:1] == ("all_reduce",):
        # busbw is algbw for a reduce of any number of ranks, for an all-reduce of two
        is_reduce = len(benchmark.candidates) > 1 and (facts.get("ranks") or 2) > 2 and factor_of(benchmark.rows)
        return "reduce" if is_reduce else "all_reduce", facts
    if benchmark.candidates and facts.get("nodes") == 1 and set(benchmark.candidates) <= SAME_INSIDE:
        why = f"columns fit {', '.join(benchmark.candidates)}: one ceiling inside a server"
        return benchmark.candidates[0], facts.with_fact("collective", benchmark.candidates[0], "assumed", why)
    return "", facts


def _as_far_as_shown(curve: Curve, benchmark: Benchmark) -> Curve:
    """The curve, without its plateau when the text ends before the largest size that the banner names."""
    return replace(curve, is_flat=False) if _ends_early(curve, benchmark) else curve


def _ends_early(curve: Curve, benchmark: Benchmark) -> bool:
    """Whether one more step of the banner would not have passed its largest size."""
    largest, step = benchmark.settings.get("maxBytes", ""), benchmark.settings.get("step", "2(factor)")
    if not curve.last or not largest.isdecimal():
        return False
    number, _, unit = step.partition("(")
    count = int(number) if number.isdecimal() else 2
    last = curve.last.size_bytes
    return (last + count if unit.startswith("bytes") else last * max(2, count)) <= int(largest)


def _without_largest(result: Result, curve: Curve, benchmark: Benchmark) -> Iterator[Finding]:
    """The table has its end, but not the largest size of its banner: rows were taken out."""
    if benchmark.footer and curve.last and "rows" not in benchmark.cut and _ends_early(curve, benchmark):
        args = {"size": size_name(curve.last.size_bytes), "largest": size_name(int(benchmark.settings["maxBytes"]))}
        lines = _lines(curve.last.row.line)
        yield Finding("EW-SCO-070", "warning", result.collective, None, None, "bytes", args, lines)


def _no_figure(result: Result, run: Run) -> Finding:
    """Why nothing can be judged: the number of ranks is missing for a bus bandwidth, or there is no bandwidth."""
    has_time = any(row.out.time_s or row.out.algbw_bytes_per_s for row in run.rows)
    if has_time and not run.facts.get("ranks"):
        args = {"options": "--nodes N --gpus-per-server 8"}
        return Finding("EW-SCO-065", "warning", result.collective, args=args, evidence=_lines(run.rows[-1].line))
    return Finding("EW-SCO-071", "warning", result.collective, evidence=_lines(*(row.line for row in run.rows[-1:])))


def _figure(run: Run) -> Row | None:
    """The figure of a sentence without a size: the largest size when some are named, else the first."""
    rows = [row for row in run.rows if row.out.busbw_bytes_per_s or row.out.algbw_bytes_per_s]
    return max(rows, key=lambda row: row.size_bytes or 0, default=None) if run.benchmark.tool == "prose" else None


def _measured(row: Row | None, facts: Facts) -> tuple[float | None, Facts]:
    """busbw of a row; of an algbw alone with the all-reduce factor."""
    if row is None:
        return None, facts
    if row.out.busbw_bytes_per_s is not None:
        return row.out.busbw_bytes_per_s, facts
    ranks = facts.get("ranks")
    if row.out.algbw_bytes_per_s is None or not ranks:
        return None, facts
    value = row.out.algbw_bytes_per_s * 2 * (ranks - 1) / ranks
    return value, facts.with_fact("busbw", gigabytes(value), "assumed", f"algbw x 2(n-1)/n, n = {ranks}")


def _judged(result: Result, curve: Curve, choice: Choice, limits: Limits) -> Result:
    facts, measured = choice.facts, result.measured_bytes_per_s or 0.0
    result = replace(
        result,
        nodes=facts.get("nodes"),
        gpus=facts.get("ranks"),
        comparable=choice.comparable,
        crosses_network=not (facts.get("nodes") == 1 or facts.get("one_domain")),
        missing=choice.missing,
    )
    notes = [*result.findings, *_one_host(result), *_latency(result, facts)]
    if choice.ceiling is None:
        return replace(result, findings=(*notes, no_ceiling(result, choice)))
    ratio = measured / choice.ceiling.bytes_per_s
    result = replace(result, ceiling=choice.ceiling, of_ceiling_ratio=ratio, plateau_from_bytes=curve.start_bytes)
    if choice.is_beyond:
        return replace(result, findings=(*notes, _beyond(result)), verdict="unknown")
    verdict = _verdict(result, curve, choice, limits)
    ratio_below = facts.get("oversubscription_ratio") or 1.0
    if ratio_below > 1 and verdict in ("warn", "fail") and choice.ceiling.limit == "nic" and result.crosses_network:
        return _oversubscribed(replace(result, findings=tuple(notes)), curve, choice, limits)
    notes += _explained(result, choice, verdict)
    if verdict == "unknown":
        return replace(result, verdict=verdict, findings=(*notes, _rising(result)))
    if verdict == "pass":
        return replace(result, verdict=verdict, findings=tuple(notes))
    if verdict == "warn" and curve.points and not (curve.is_flat or curve.collapse):
        return replace(result, verdict=verdict, findings=(*notes, _rising(result)))
    if not choice.comparable and result.crosses_network:  # which algorithm ran is not known: no limiter is named
        notes = [replace(note, severity="warning") if note.code in BEYOND_WIRE else note for note in notes]
        return replace(result, verdict=verdict, findings=tuple(notes))
    case = Case(result.collective, measured, choice.ceiling, ratio, facts, curve, choice.ring)
    limiter = replace(limiter_of(case), evidence=_lines(result.line))
    return replace(result, verdict=verdict, findings=(*notes, limiter), limiter=limiter)


def _oversubscribed(result: Result, curve: Curve, choice: Choice, limits: Limits) -> Result:
    """Below the NICs' ceiling on a site whose uplinks carry less: held against what they leave, and never more than
    WARN from there on, since whether the job spans leaves is not in the text.
    """
    ceiling, share = choice.ceiling, choice.facts.get("oversubscription_ratio")
    if ceiling is None:
        return result
    below = replace(
        ceiling,
        bytes_per_s=ceiling.bytes_per_s / share,
        formula=f"{ceiling.formula} / {share:g} = {gigabytes(ceiling.bytes_per_s / share)} GB/s ({share:g}:1)",
        wire_bytes_per_s=ceiling.wire_bytes_per_s,
    )
    measured = result.measured_bytes_per_s or 0.0
    args = {"ratio": f"{share:g}", "full": gigabytes(ceiling.bytes_per_s), "below": gigabytes(below.bytes_per_s)}
    args |= {"measured": gigabytes(measured)}
    note = Finding(
        "EW-SCO-067",
        "warning",
        result.collective,
        below.bytes_per_s,
        measured,
        "bytes_per_s",
        args,
        _lines(result.line),
    )
    if measured >= PASS_FROM_RATIO * below.bytes_per_s:
        return replace(result, verdict="warn", findings=(*result.findings, note))
    inner = replace(choice, ceiling=below, facts=choice.facts.without("oversubscription_ratio"))
    judged = _judged(result, curve, inner, limits)
    return replace(judged, findings=(*judged.findings, replace(note, severity="info")))


def _verdict(result: Result, curve: Curve, choice: Choice, limits: Limits) -> Verdict:
    """The verdict of the ratio, and unknown where the curve still rises below the FAIL limit. A result beyond the wire
    that does not reach its tree is no FAIL: which algorithm ran is not known.
    """
    ratio, ceiling = result.of_ceiling_ratio or 0.0, choice.ceiling
    verdict = limits.verdict(ratio, ceiling.bytes_per_s if ceiling else 0.0)
    is_small = result.size_bytes is not None and result.size_bytes < LEAST_BANDWIDTH_BYTES
    if verdict == "fail" and curve.points and not (curve.is_flat or curve.collapse):
        return "unknown"
    if verdict == "warn" and is_small and not curve.is_flat:
        return "unknown"
    if verdict == "fail" and not choice.comparable and result.crosses_network:
        return "warn"
    return verdict


def _one_host(result: Result) -> Iterator[Finding]:
    """A run on one host, or in one scale-up domain, is no test of the fabric."""
    if not result.crosses_network:
        args = {"gpus": result.gpus or "?", "test": _test_command(result)}
        yield Finding("EW-SCO-003", "info", result.collective, None, 0, "bytes", args, _lines(result.line))


def _test_command(result: Result) -> str:
    """The command that would send the same collective over the network."""
    names = {"all_to_all": "alltoall", "sendrecv": "sendrecv"}
    each = result.gpus or 8
    test = names.get(result.collective, result.collective)
    return f"mpirun -np {2 * each} -N {each} ./build/{test}_perf -b 8 -e 8G -f 2 -g 1   (built with make MPI=1)"


def _explained(result: Result, choice: Choice, verdict: Verdict) -> Iterator[Finding]:
    """Why a number beyond the wire is no surprise, and what two servers cannot tell."""
    nodes, ceiling = result.nodes or 0, choice.ceiling
    if not result.crosses_network or ceiling is None:
        return
    wire = ceiling.wire_bytes_per_s or 0.0
    measured = result.measured_bytes_per_s or 0.0
    args = {"measured": gigabytes(measured), "nodes": nodes}
    if not choice.comparable and wire:
        carried = _carried(result, ceiling.name)
        args |= {"wire": gigabytes(wire), "carried": gigabytes(carried), "share": percent(carried / wire)}
        args |= {"name": ceiling.name}
        code = "EW-SCO-005" if ceiling.name == "in-network reduction" else "EW-SCO-004"
        yield Finding(code, "info", result.collective, wire, measured, "bytes_per_s", args, _lines(result.line))
    elif nodes == 2 and result.collective == "all_reduce" and verdict == "pass":
        yield Finding("EW-SCO-006", "info", result.collective, None, measured, "bytes_per_s", args, _lines(result.line))


def _carried(result: Result, name: str) -> float:
    """Bytes/s that a server's NICs carried each way: 2(k-1)/k of the message in a tree, the message once with SHARP."""
    n, k = result.gpus or 2, result.nodes or 2
    algbw = (result.measured_bytes_per_s or 0.0) * n / (2 * (n - 1))
    return algbw if name == "in-network reduction" else algbw * 2 * (k - 1) / k


def _beyond(result: Result) -> Finding:
    ceiling = result.ceiling
    args = {"measured": gigabytes(result.measured_bytes_per_s or 0.0), "formula": ceiling.formula if ceiling else ""}
    limit = ceiling.bytes_per_s if ceiling else None
    args |= {"ceiling": gigabytes(limit or 0.0), "name": ceiling.name if ceiling else ""}
    return Finding(
        "EW-SCO-007",
        "warning",
        result.collective,
        limit,
        result.measured_bytes_per_s,
        "bytes_per_s",
        args,
        _lines(result.line),
    )


def _rising(result: Result) -> Finding:
    size = result.size_bytes or 0
    args = {
        "size": size_name(size),
        "share": percent(result.of_ceiling_ratio or 0.0),
        "name": result.ceiling.name if result.ceiling else "",
    }
    return Finding("EW-SCO-008", "warning", result.collective, None, size, "bytes", args, _lines(result.line))


def _latency(result: Result, facts: Facts) -> Iterator[Finding]:
    """Small sizes, judged apart: against NCCL's own latency constants."""
    nodes, each = facts.get("nodes"), facts.get("gpus_per_server") or facts.get("ranks")
    if result.latency_s is None or not nodes or not each or result.collective != "all_reduce":
        return
    steps = max(1, (nodes - 1).bit_length()) if nodes > 1 else 0
    floor = LL_BASE_S + 2 * ((each - 1) * LL_INSIDE_S + steps * LL_NETWORK_S)
    ratio = result.latency_s / floor
    args = {
        "measured": f"{result.latency_s * US_PER_S:.0f}",
        "floor": f"{floor * US_PER_S:.0f}",
        "times": f"{ratio:.1f}",
    }
    severity, code = ("warning", "EW-SCO-016") if ratio > SLOW_LATENCY_RATIO else ("info", "EW-SCO-015")
    yield Finding(code, severity, result.collective, floor, result.latency_s, "s", args)  # type: ignore[arg-type]


def _lines(*lines: Evidence | None) -> tuple[Evidence, ...]:
    return tuple(line for line in lines if line is not None)
