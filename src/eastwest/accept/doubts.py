"""What takes a verdict back: a largest row that cannot be read, several figures in one sentence, options that
contradict the text. A result in doubt keeps its numbers and its share; its verdict becomes unknown, and the finding
names the way out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from eastwest.accept.contradictions import contradictions, findings_of, said_of, without
from eastwest.accept.facts import Facts
from eastwest.accept.jobs import share_hosts
from eastwest.accept.results import Result, gigabytes, size_name
from eastwest.accept.runs import Run
from eastwest.dialects.readings import Benchmark, Unread
from eastwest.finding import Finding


def in_doubt(result: Result, *findings: Finding) -> Result:
    """The result without a verdict and without a limiter, for the reasons given."""
    kept = tuple(finding for finding in result.findings if finding is not result.limiter)
    return replace(result, verdict="unknown", limiter=None, findings=(*kept, *findings))


def with_unread(result: Result, benchmark: Benchmark) -> Result:
    """The result with the lines of its table that cannot be read: beyond the size that is judged they may say anything,
    so that only a FAIL stays.
    """
    for unread in benchmark.unread:
        if unread.size_bytes is None:
            result = in_doubt(result, open_figure(unread, result.collective))
            continue
        is_beyond = _is_beyond(unread.size_bytes, result)
        finding = unread_row(unread, result.collective, is_beyond or unread.is_nonsense)
        if is_beyond and result.verdict != "fail":
            result = in_doubt(result, finding)
        else:
            result = replace(result, findings=(*result.findings, finding))
    return result


def _is_beyond(size_bytes: int, result: Result) -> bool:
    """Whether a row would have been judged in place of the result: the largest, of a latency the smallest."""
    judged = result.size_bytes or 0
    return size_bytes < judged if result.measured_s is not None else size_bytes > judged


def unread_of(benchmark: Benchmark) -> Iterator[Finding]:
    """The lines that cannot be read of a benchmark that has no other."""
    subject = benchmark.test or benchmark.tool
    for unread in benchmark.unread[:3]:
        is_row = unread.size_bytes is not None and (unread.is_nonsense or benchmark.tool == "nccl-tests")
        yield unread_row(unread, subject, True) if is_row else open_figure(unread, subject)


def unread_row(unread: Unread, subject: str, is_warning: bool) -> Finding:
    """A row whose numbers are none, or contradict each other."""
    args = {"size": size_name(unread.size_bytes or 0)}
    severity = "warning" if is_warning else "info"
    return Finding("EW-SCO-059", severity, subject, args=args, evidence=(unread.line,))  # type: ignore[arg-type]


def open_figure(unread: Unread, subject: str) -> Finding:
    """A figure whose number, sign or unit is open."""
    return Finding("EW-SCO-069", "warning", subject, args={"line": unread.line.line}, evidence=(unread.line,))


def with_company(result: Result, benchmark: Benchmark, benchmarks: Sequence[Benchmark]) -> Result:
    """The result of a job that had the NICs of its hosts not for itself: only a PASS stays."""
    if not share_hosts(benchmark, benchmarks):
        return result
    lines = (result.line,) if result.line else ()
    finding = Finding("EW-SCO-073", "warning", result.collective, evidence=lines)
    if result.verdict == "pass":
        return replace(result, findings=(*result.findings, replace(finding, severity="info")))
    return in_doubt(result, finding)


def with_several(results: Sequence[Result], benchmark: Benchmark) -> tuple[Result, ...]:
    """The results of a sentence with several figures for one thing: in doubt unless all have one verdict."""
    if benchmark.tool != "prose":
        return tuple(results)
    found: list[Result] = []
    for result in results:
        alike = [other for other in results if other.nodes == result.nodes]
        if len({other.verdict for other in alike}) < 2:
            found.append(result)
            continue
        figures = ", ".join(gigabytes(other.measured_bytes_per_s or 0.0) for other in alike)
        lines = tuple({line.line: line for other in alike if (line := other.line)}.values())
        args = {"figures": figures}
        found.append(in_doubt(result, Finding("EW-SCO-060", "warning", result.collective, args=args, evidence=lines)))
    return tuple(found)


def with_contradictions(result: Result, other: Result | None, run: Run, given: Facts, text: Facts) -> Result:
    """The result with a finding for each option that the text contradicts; in doubt when `other`, judged by the text's
    own word, has another verdict.
    """
    found = contradictions(given, said_of(run, text))
    notes = tuple(findings_of(found, result.collective, result.line))
    if notes and other is not None and other.verdict != result.verdict:
        return in_doubt(result, *notes)
    return replace(result, findings=(*result.findings, *notes))


def given_for(run: Run, given: Facts, text: Facts) -> tuple[Facts, Facts | None]:
    """What options and site say of the run: without the GPUs of a server where the job took fewer; and the same without
    what the text contradicts, None when it contradicts nothing.
    """
    said = said_of(run, text)
    each, of_job = given.get("gpus_per_server"), said.get("gpus_per_server")
    if each and of_job and of_job < each and said.origin("gpus_per_server") == "text":
        given = given.without("gpus_per_server")
    found = contradictions(given, said)
    return given, without(given, found) if found else None
