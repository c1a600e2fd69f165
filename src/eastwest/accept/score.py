"""`score_texts`: pasted benchmark output against derived ceilings, the most frequent question of the field.

Reads any number of texts, finds the runs in them, fills in what is missing from options, site, text and assumptions,
and judges each run; independent jobs are refused, a run that broke off is no measurement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from eastwest.accept.collective import judge_collective
from eastwest.accept.doubts import (
    given_for,
    unread_of,
    with_company,
    with_contradictions,
    with_several,
    with_unread,
)
from eastwest.accept.facts import Facts, facts_of_text
from eastwest.accept.instances import facts_of_name
from eastwest.accept.jobs import independent_jobs, is_repeated
from eastwest.accept.pair import judge_pair, judge_system
from eastwest.accept.results import Limits, Result, gigabytes, size_name, worst_verdict
from eastwest.accept.runs import Run, runs_of
from eastwest.accept.scaling import judge_scaling
from eastwest.dialects.bench.osu_units import as_nccl_rows
from eastwest.dialects.readings import Benchmark, Readings
from eastwest.dialects.sniff import read
from eastwest.finding import Finding, Verdict, sort_findings

SCHEMA = "eastwest.score/1"
NOT_MEASURED = tuple(f"EW-SCO-0{number}" for number in (48, 50, 52, 53, 56, 61, 63, 69))


@dataclass(frozen=True, slots=True)
class Score:
    """Every result with the findings, the assumptions in words, and the names that `--redact` replaces."""

    results: tuple[Result, ...]
    findings: tuple[Finding, ...]
    assumed: tuple[str, ...]
    verdict: Verdict
    hosts: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    @property
    def limiter(self) -> Finding | None:
        """The likely limiter of the worst result."""
        limited = [result for result in self.results if result.limiter]
        worst = min(limited, key=lambda result: result.of_ceiling_ratio or 0.0, default=None)
        return worst.limiter if worst else None

    def as_json(self, lang: str = "en") -> dict[str, Any]:
        """The answer in the shape of the command line's contract."""
        limiter = self.limiter
        return {
            "schema": SCHEMA,
            "verdict": self.verdict,
            "findings": [finding.as_json(lang) for finding in self.findings],
            "results": [result.as_json() for result in self.results],
            "assumed": list(self.assumed),
            "limiter": limiter.sentence(lang) if limiter else None,
        }


def score_texts(texts: Sequence[tuple[str, str]], facts: Facts, limits: Limits) -> Score:
    """Judge (source, text) pairs with what is known beforehand. Raises UsageError for an unknown GPU.

    >>> told = "8x100G RoCE per node; busbw 100 (2 nodes), 70 (3), 58 (4-5), 40 (6)"
    >>> score = score_texts([("-", told)], Facts(), Limits())
    >>> score.verdict, [round(result.of_ceiling_ratio or 0, 2) for result in score.results]
    ('fail', [0.58, 0.73, 0.6, 0.6, 0.42])
    """
    results: list[Result] = []
    findings: list[Finding] = []
    assumed: dict[str, None] = {}
    hosts: dict[str, None] = {}
    for source, text in texts:
        readings = read(text, source)
        hosts.update(dict.fromkeys(readings.hosts))
        for result, own, extra in _of_text(_Text(readings, facts, limits, source)):
            findings += extra
            if result:
                results.append(result)
                findings += _about_target(result, limits, own)
                assumed.update(dict.fromkeys(own.assumed()))
    judged, fall = judge_scaling(results)
    findings += [finding for result in judged for finding in result.findings]
    findings += [fall] if fall else []
    unique = tuple({_key(finding): finding for finding in findings}.values())
    verdict = _verdict(judged, unique)
    return Score(judged, sort_findings(unique), tuple(assumed), verdict, tuple(hosts), tuple(name for name, _ in texts))


def _key(finding: Finding) -> tuple[object, ...]:
    return finding.code, finding.subject, finding.observed, finding.evidence


@dataclass(frozen=True, slots=True)
class _Text:
    """One text as read, with what options and site `given` say of its system."""

    readings: Readings
    given: Facts
    limits: Limits
    source: str

    @property
    def told(self) -> Facts:
        """What the text itself states."""
        return facts_of_text(self.readings)

    def known(self, given: Facts) -> Facts:
        """All that is known, the given before the text."""
        return given.joined(self.told).joined(facts_of_name(self.source, self.readings))


def _of_text(text: _Text) -> Iterator[tuple[Result | None, Facts, list[Finding]]]:
    """The results of one text, each with its facts and further findings."""
    readings, source = text.readings, text.source
    alone = independent_jobs(readings.benchmarks, text.given)
    if alone:
        yield None, text.given, [alone]
        return
    if not readings.benchmarks:
        args = {"lines": len(readings.unknown)}
        yield None, text.given, [Finding("EW-SCO-050", "warning", source, args=args, evidence=readings.unknown[:2])]
    for benchmark in readings.benchmarks:
        yield None, text.given, list(_of_benchmark(benchmark, source))
        judged = [_of_run(text, benchmark, index) for index in range(len(_runs(text, benchmark, text.given)))]
        results = with_several([result for result, _ in judged], benchmark)
        for result, (_, own) in zip(results, judged, strict=True):
            result = with_company(result, benchmark, readings.benchmarks)
            yield with_unread(result, benchmark), own, []


def _runs(text: _Text, benchmark: Benchmark, given: Facts) -> list[Run]:
    """The runs of a benchmark by what is given; their number and order depend on its rows alone."""
    facts = text.known(given)
    return list(runs_of(as_nccl_rows(benchmark, _n_ranks(facts)), facts))


def _of_run(text: _Text, benchmark: Benchmark, index: int) -> tuple[Result, Facts]:
    """One run judged by what is given, and where the text contradicts that, by the text as well."""
    run = _runs(text, benchmark, text.given)[index]
    given, agreed = given_for(run, text.given, text.told)
    result, own = _judge(_runs(text, benchmark, given)[index], text.limits, text.source)
    if agreed is None:
        return result, own
    other, _ = _judge(_runs(text, benchmark, agreed)[index], text.limits, text.source)
    return with_contradictions(result, other, run, given, text.told), own


def _n_ranks(facts: Facts) -> int | None:
    """Ranks of a job as said, or as servers x GPUs."""
    nodes, each = facts.get("nodes"), facts.get("gpus_per_server")
    return facts.get("ranks") or (nodes * each if nodes and each else None)


def _judge(run: Run, limits: Limits, source: str) -> tuple[Result, Facts]:
    judges = {"collective": judge_collective, "pair": judge_pair, "system": judge_system}
    return judges[run.benchmark.kind](run, limits, source)


def _of_benchmark(benchmark: Benchmark, source: str) -> Iterator[Finding]:
    """What a benchmark says beside its numbers: wrong results, a break, no rows, missing parts."""
    subject = benchmark.test or benchmark.tool
    wrong = [row for row in benchmark.rows if (row.out.wrong or 0) + (row.in_place.wrong or 0 if row.in_place else 0)]
    if wrong or benchmark.out_of_bounds:
        lines = tuple(row.line for row in wrong[:3]) or benchmark.footer[:1]
        n_wrong = sum((row.out.wrong or 0) + ((row.in_place.wrong or 0) if row.in_place else 0) for row in wrong)
        args = {"n_wrong": n_wrong or benchmark.out_of_bounds}
        yield Finding("EW-SCO-051", "error", subject, 0, n_wrong or benchmark.out_of_bounds, "elements", args, lines)
    if benchmark.errors:
        yield from _broken(benchmark, subject)
    elif not benchmark.rows and benchmark.unread:
        yield from unread_of(benchmark)
    elif not benchmark.rows:
        if benchmark.average_bytes_per_s is not None:
            mean = gigabytes(benchmark.average_bytes_per_s)
            yield Finding("EW-SCO-052", "warning", subject, args={"average": mean}, evidence=benchmark.footer[-1:])
        else:
            lines = (*benchmark.banners, *(rank.line for rank in benchmark.ranks))[:2]
            yield Finding("EW-SCO-053", "warning", subject, args={"source": source}, evidence=lines)
    if benchmark.is_below_own_minimum:
        average = gigabytes(benchmark.average_bytes_per_s or 0.0)
        yield Finding("EW-SCO-054", "warning", subject, args={"average": average}, evidence=benchmark.footer[-1:])
    if benchmark.tool == "nccl-tests" and is_repeated(benchmark):
        yield Finding("EW-SCO-062", "info", subject, args={"n": len(benchmark.banners)}, evidence=benchmark.banners[:2])
    yield from _cut(benchmark, subject)


def _broken(benchmark: Benchmark, subject: str) -> Iterator[Finding]:
    """A run that broke off: with rows a failed run, without any no measurement."""
    sizes = [row.size_bytes for row in benchmark.rows if row.size_bytes is not None]
    if sizes:
        args = {"size": size_name(max(sizes))}
        yield Finding("EW-SCO-055", "error", subject, args=args, evidence=benchmark.errors[:3])
    else:
        code = "EW-SCO-048" if benchmark.tool == "gpcnet" else "EW-SCO-056"
        yield Finding(code, "warning", subject, evidence=benchmark.errors[:3])


def _cut(benchmark: Benchmark, subject: str) -> Iterator[Finding]:
    """What of the output is not in the text. A table without its head alone is how people paste: no word of it."""
    told = [part for part in benchmark.cut if part != "head"]
    if told and benchmark.rows and benchmark.tool == "nccl-tests":
        last = benchmark.rows[-1]
        args = {"kind": ", ".join(told), "size": size_name(last.size_bytes or 0)}
        yield Finding("EW-SCO-057", "info", subject, args=args, evidence=(last.line,))


def _about_target(result: Result, limits: Limits, facts: Facts) -> Iterator[Finding]:
    """The user's own target where it lies above what can be reached: an option's, or the one that a sentence names."""
    if result.ceiling is None:
        return
    ceiling = result.ceiling.bytes_per_s
    told = float(facts.get("target_bytes_per_s") or 0.0)
    by_ratio = limits.fail_ratio * ceiling if limits.fail_ratio > 1 else 0.0
    target = limits.target_bytes_per_s or by_ratio or told
    if target > ceiling:
        args = {"target": gigabytes(target), "ceiling": gigabytes(ceiling), "formula": result.ceiling.formula}
        yield Finding("EW-SCO-058", "info", result.collective, ceiling, target, "bytes_per_s", args)


def _verdict(results: Sequence[Result], findings: Sequence[Finding]) -> Verdict:
    """The worst of the results and of the findings; a run on one host beside fabric runs decides nothing."""
    crossing = [result for result in results if result.crosses_network and result.tool != "perftest"]
    verdicts: list[Verdict] = [
        result.verdict
        for result in results
        if not (crossing and not result.crosses_network and result.verdict == "unknown")
    ]
    if any(finding.severity == "error" for finding in findings):
        verdicts.append("fail")
    measured = [finding for finding in findings if finding.code in NOT_MEASURED]
    if measured:
        verdicts.append("unknown")
    worst = worst_verdict(verdicts)
    is_warned = any(finding.severity == "warning" for finding in findings)
    return "warn" if worst == "pass" and is_warned else worst
