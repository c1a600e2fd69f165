"""Whether a text shows one job or several: single-host jobs that ran without knowing of each other, two jobs whose
lines are mingled, one job that was pasted twice.

nccl-tests built without MPI runs once on each host: two banners, ranks 0 to 7 twice, the bandwidth of one server.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from eastwest.accept.facts import Facts
from eastwest.accept.runs import n_hosts
from eastwest.dialects.bench.nccl_collective import ranks_of
from eastwest.dialects.readings import Benchmark, Rank
from eastwest.finding import Evidence, Finding

NAMELESS = frozenset({"localhost", "hostname"})  # every host calls itself so
FAR_RATIO = 1.25  # two times of one size, at the largest sizes: two jobs, not one that was repeated
LEAST_REPEATED_SIZES = 4  # equal times at fewer sizes may be chance


def independent_jobs(benchmarks: Sequence[Benchmark], facts: Facts) -> Finding | None:
    """The finding that several jobs ran where one was meant, or that their lines cannot be told apart; None when there
    is no sign of it.
    """
    runs = [benchmark for benchmark in benchmarks if benchmark.tool == "nccl-tests"]
    wanted = facts.get("nodes") if facts.origin("nodes") == "flag" else None
    if wanted == 1:
        return None
    for run in runs:
        found = _in_one_stream(run)
        if found:
            return found
    return _side_by_side(runs) or _one_process_each(runs, wanted) or _alone(runs, wanted)


def is_repeated(run: Benchmark) -> bool:
    """Whether the lines of one job stand in the text twice: the same processes with the same times."""
    processes = _processes(run)
    if len(run.banners) < 2 or not _has_equal_rows(run, len(run.banners)):
        return False
    if processes:
        return len(run.ranks) > len(processes) == len({rank.number for rank in processes})
    return len({row.size_bytes for row in run.rows}) >= LEAST_REPEATED_SIZES


def share_hosts(run: Benchmark, runs: Sequence[Benchmark]) -> bool:
    """Whether another job of the text ran on a host of this one at the same time: its lines stand between."""
    hosts, spans = {rank.host for rank in run.ranks}, _lines_of(run)
    return bool(hosts) and any(
        hosts & {rank.host for rank in other.ranks} and spans and _overlap(spans, _lines_of(other))
        for other in runs
        if other is not run
    )


def _lines_of(run: Benchmark) -> tuple[int, int] | None:
    """First and last line of a job's rows."""
    numbers = [row.line.line for row in run.rows if row.line.line is not None]
    return (min(numbers), max(numbers)) if numbers else None


def _overlap(one: tuple[int, int], other: tuple[int, int] | None) -> bool:
    return other is not None and one[0] < other[1] and other[0] < one[1]


def _processes(run: Benchmark) -> tuple[Rank, ...]:
    """The ranks, each process once however often it is listed."""
    return tuple({(rank.number, rank.host, rank.process, rank.bus): rank for rank in run.ranks}.values())


def _has_equal_rows(run: Benchmark, copies: int) -> bool:
    by_size: dict[int | None, list[float | None]] = {}
    for row in run.rows:
        by_size.setdefault(row.size_bytes, []).append(row.out.time_s)
    return all(len(times) == copies and len(set(times)) == 1 for times in by_size.values())


def _in_one_stream(run: Benchmark) -> Finding | None:
    """Banners or rank numbers that repeat before the table is over. Single-host jobs when each host has the whole list
    of ranks, or each process drives as many GPUs as the table has ranks; else the jobs are mingled.
    """
    processes = _processes(run)
    numbers = Counter(rank.number for rank in processes)
    copies = max(len(run.banners), max(numbers.values(), default=1))
    if copies < 2 or is_repeated(run):
        return _mingled_rows(run)
    implied = ranks_of(run.rows, run.test)
    driven = _driven(run)
    again = [rank.line for rank in processes if rank.number == 0]
    lines = (*run.banners, *again)
    listed = len(numbers)
    is_whole = implied in (None, listed) and max(numbers.values(), default=1) > 1 and _is_on_each_host(processes)
    if is_whole:
        return _finding(copies, listed, lines)
    if driven > 1 and driven in (implied, listed) and implied in (None, driven):
        return _finding(copies, driven, lines)
    return _mingled(run, copies, lines)


def _is_on_each_host(processes: Sequence[Rank]) -> bool:
    """Whether every host has a rank 0: a job on several hosts has it on one."""
    return {rank.host for rank in processes} == {rank.host for rank in processes if rank.number == 0}


def _mingled_rows(run: Benchmark) -> Finding | None:
    """Two tables in one: each size in turn with two times far apart."""
    if is_repeated(run) or len(run.rows) < 2 * LEAST_REPEATED_SIZES or any(row.nodes for row in run.rows):
        return None
    sizes = [row.size_bytes for row in run.rows]
    pairs = [(one, other) for one, other in zip(run.rows[::2], run.rows[1::2], strict=False)]
    is_doubled = sizes[::2] == sizes[1::2] and len(set(sizes)) == len(pairs)
    large = [(one.out.busbw_bytes_per_s or 0.0, other.out.busbw_bytes_per_s or 0.0) for one, other in pairs[-4:]]
    if not is_doubled or not all(max(pair) > FAR_RATIO * min(pair) for pair in large):
        return None
    return _mingled(run, 2, (run.rows[-2].line, run.rows[-1].line))


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


def _one_process_each(runs: Sequence[Benchmark], wanted: int | None) -> Finding | None:
    """Equal jobs one after the other, each driven by one process and without a list of hosts: none crossed the network;
    whether two servers were meant is not told.
    """
    alike: dict[tuple[object, ...], list[Benchmark]] = {}
    for run in runs:
        if not run.ranks and len(run.banners) == 1 and _is_one_process(run):
            alike.setdefault((tuple(sorted(run.settings.items())), run.test), []).append(run)
    for group in alike.values():
        if len(group) < 2:
            continue
        lines = tuple(run.banners[0] for run in group)
        if wanted:
            return _finding(len(group), _driven(group[0]), lines)
        args = {"n_jobs": len(group), "n_ranks": _driven(group[0])}
        return Finding("EW-SCO-063", "warning", "nccl-tests", 1, len(group), "jobs", args, lines)
    return None


def _alone(runs: Sequence[Benchmark], wanted: int | None) -> Finding | None:
    """A job on one host where the user says that it ran on more."""
    if not wanted or wanted < 2:
        return None
    for run in runs:
        if run.ranks and n_hosts(run.ranks) == 1 and ranks_of(run.rows, run.test) in (None, len(_processes(run))):
            args = {"n_ranks": len(_processes(run)), "host": run.ranks[0].host, "wanted": wanted}
            return Finding("EW-SCO-002", "error", run.test or run.tool, wanted, 1, "servers", args, _two(run))
        if not run.ranks and _is_one_process(run):
            args = {"n_ranks": _driven(run), "wanted": wanted}
            lines = run.banners[:1]
            return Finding("EW-SCO-068", "error", run.test or run.tool, wanted, 1, "servers", args, lines)
    return None


def _two(run: Benchmark) -> tuple[Evidence, ...]:
    return (run.ranks[0].line, run.ranks[-1].line)


def _is_one_process(run: Benchmark) -> bool:
    """Whether one process drives as many GPUs as the table has ranks."""
    return _driven(run) > 1 and ranks_of(run.rows, run.test) == _driven(run)


def _driven(run: Benchmark) -> int:
    words = (run.settings.get("nThread", "1"), run.settings.get("nGpus", "1"))
    threads, gpus = (int(word) if word.isdecimal() else 1 for word in words)
    return threads * gpus


def _finding(copies: int, each: int, lines: tuple[Evidence, ...]) -> Finding:
    args = {"n_jobs": copies, "n_ranks": each, "total": copies * each}
    unique = tuple({line.line: line for line in lines}.values())
    return Finding("EW-SCO-001", "error", "nccl-tests", 1, copies, "jobs", args, unique)


def _mingled(run: Benchmark, copies: int, lines: tuple[Evidence, ...]) -> Finding:
    unique = tuple({line.line: line for line in lines}.values())
    args = {"n_jobs": copies}
    return Finding("EW-SCO-061", "warning", run.test or run.tool, 1, copies, "jobs", args, unique)
