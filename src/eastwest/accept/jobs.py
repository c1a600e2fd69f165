"""Whether a text shows one job or several that ran at the same time without knowing of each other.

nccl-tests built without MPI runs once on each host: two banners, ranks 0 to 7 twice, the bandwidth of one server.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from eastwest.accept.facts import Facts
from eastwest.accept.runs import n_hosts
from eastwest.dialects.readings import Benchmark
from eastwest.finding import Evidence, Finding

NAMELESS = frozenset({"localhost", "hostname"})  # every host calls itself so


def independent_jobs(benchmarks: Sequence[Benchmark], facts: Facts) -> Finding | None:
    """The finding that several single-host jobs ran where one was meant; None when there is no sign of it."""
    runs = [benchmark for benchmark in benchmarks if benchmark.tool == "nccl-tests"]
    wanted = facts.get("nodes") if facts.origin("nodes") == "flag" else None
    if wanted == 1:
        return None
    for run in runs:
        found = _in_one_stream(run)
        if found:
            return found
    return _side_by_side(runs) or _alone(runs, wanted)


def _in_one_stream(run: Benchmark) -> Finding | None:
    """Banners or rank numbers that repeat before the table is over."""
    numbers = Counter(rank.number for rank in run.ranks)
    copies = max(len(run.banners), max(numbers.values(), default=1))
    if copies < 2:
        return None
    each = max(len(numbers), _driven(run))  # the list of ranks may be cut
    again = [rank.line for rank in run.ranks if rank.number == 0]
    return _finding(copies, each, (*run.banners, *again))


def _side_by_side(runs: Sequence[Benchmark]) -> Finding | None:
    """Equal jobs one after the other, each on another single host."""
    alike: dict[tuple[object, ...], list[Benchmark]] = {}
    for run in runs:
        if run.ranks and run.banners and n_hosts(run.ranks) == 1:
            settings = tuple(sorted(run.settings.items()))
            alike.setdefault((settings, run.test, len(run.ranks)), []).append(run)
    for group in alike.values():
        named = [run.ranks[0].host for run in group]
        hosts = {f"{name} {index}" if name in NAMELESS else name for index, name in enumerate(named)}
        if len(hosts) > 1:
            lines = tuple(line for run in group for line in (run.banners[0], run.ranks[0].line))
            return _finding(len(hosts), len(group[0].ranks), lines)
    return None


def _alone(runs: Sequence[Benchmark], wanted: int | None) -> Finding | None:
    """A job on one host where the user says that it ran on more."""
    if not wanted or wanted < 2:
        return None
    for run in runs:
        if run.ranks and n_hosts(run.ranks) == 1:
            args = {"n_ranks": len(run.ranks), "host": run.ranks[0].host, "wanted": wanted}
            return Finding("EW-SCO-002", "error", run.test or run.tool, wanted, 1, "servers", args, _two(run))
    return None


def _two(run: Benchmark) -> tuple[Evidence, ...]:
    return (run.ranks[0].line, run.ranks[-1].line)


def _driven(run: Benchmark) -> int:
    words = (run.settings.get("nThread", "1"), run.settings.get("nGpus", "1"))
    threads, gpus = (int(word) if word.isdecimal() else 1 for word in words)
    return threads * gpus


def _finding(copies: int, each: int, lines: tuple[Evidence, ...]) -> Finding:
    args = {"n_jobs": copies, "n_ranks": each, "total": copies * each}
    unique = tuple({line.line: line for line in lines}.values())
    return Finding("EW-SCO-001", "error", "nccl-tests", 1, copies, "jobs", args, unique)
