"""From a benchmark as read to the runs that can be judged: which ranks on which hosts, how many servers, which GPU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eastwest.accept.facts import Fact, Facts
from eastwest.accept.gpus import gpu_of_name, product_of
from eastwest.dialects.bench.nccl_collective import ranks_of
from eastwest.dialects.readings import Benchmark, Rank, Row

USUAL_GPUS_PER_SERVER = 8  # HGX and DGX boards
USUAL_GPUS_PER_TRAY = {"gb200": 4, "gb300": 4}  # NVL72: 18 trays of 4


@dataclass(frozen=True, slots=True)
class Run:
    """Rows of one job on one number of servers, with what is known of it."""

    benchmark: Benchmark
    rows: tuple[Row, ...]
    facts: Facts


def runs_of(benchmark: Benchmark, facts: Facts) -> Iterator[Run]:
    """The runs of a benchmark: one, or one for each count of servers that its rows name."""
    own = facts_of_benchmark(benchmark).joined(facts) if facts.by_name else facts_of_benchmark(benchmark)
    by_nodes: dict[int | None, list[Row]] = {}
    for row in benchmark.rows:
        by_nodes.setdefault(row.nodes, []).append(row)
    for nodes, rows in by_nodes.items():
        known = own
        if nodes is not None:
            known = Facts({**own.by_name, "nodes": Fact(nodes, "text", f"line {rows[0].line.line}")})
        for part in _parts(benchmark, rows):
            yield Run(benchmark, part, _counted(benchmark, part, known))


def _parts(benchmark: Benchmark, rows: Sequence[Row]) -> Iterator[tuple[Row, ...]]:
    """The rows of a table, or of a sentence whose figures are of different sizes; else each figure of a sentence alone:
    "yesterday 370 GB/s, today 190 GB/s" is two results.
    """
    if benchmark.tool == "prose" and len({row.size_bytes for row in rows}) < len(rows):
        yield from ((row,) for row in rows)
    else:
        yield tuple(rows)


def facts_of_benchmark(benchmark: Benchmark) -> Facts:
    """What the banner and the ranks' lines say: ranks, servers, GPUs in a server, GPU.

    A list of ranks that does not begin at 0, has gaps, or is shorter than the numbers of the table imply is cut: it
    tells the GPU only.
    """
    facts = Facts()
    ranks = benchmark.ranks
    implied = ranks_of(benchmark.rows, benchmark.test) if not any(row.nodes for row in benchmark.rows) else None
    if ranks:
        lines = f"lines {ranks[0].line.line}-{ranks[-1].line.line}"
        numbers = {rank.number for rank in ranks}
        if numbers == set(range(len(numbers))) and implied in (None, len(numbers)):
            facts = facts.with_fact("ranks", len(numbers), "text", lines)
            facts = facts.with_fact("nodes", n_hosts(ranks), "text", lines)
        facts = _with_gpu(facts, ranks, lines)
    facts = facts.with_fact("ranks", implied, "text", "busbw over algbw")
    for name in ("ranks", "nodes"):
        if benchmark.settings.get(name, "").isdecimal():
            facts = facts.with_fact(name, int(benchmark.settings[name]), "text", "banner")
    return facts


def _with_gpu(facts: Facts, ranks: Sequence[Rank], lines: str) -> Facts:
    """The facts with the GPU of the ranks: as tools print it, its board is known."""
    printed = {rank.gpu for rank in ranks if rank.gpu}
    known = {gpu_of_name(name) for name in printed}
    gpus = known - {None}
    if len(gpus) == 1:
        return facts.with_fact("gpu", gpus.pop(), "text", lines).with_fact("board", "known", "text", lines)
    product = product_of(printed.pop()) if len(printed) == 1 else None
    return facts.with_fact("gpu_printed", product, "text", lines)


def n_hosts(ranks: Sequence[Rank]) -> int:
    """Hosts of a job. Two hosts of the same name show as the same device twice."""
    by_host: dict[str, Counter[tuple[int, str]]] = {}
    for rank in {rank.number: rank for rank in ranks}.values():
        by_host.setdefault(rank.host, Counter())[(rank.device, rank.bus)] += 1
    return sum(max(devices.values()) for devices in by_host.values())


def _counted(benchmark: Benchmark, rows: Sequence[Row], facts: Facts) -> Facts:
    """The facts with ranks, servers and GPUs per server completed from each other."""
    implied = ranks_of(rows, benchmark.test)
    facts = facts.with_fact("ranks", implied, "text", "busbw over algbw")
    facts = _one_process(benchmark, facts)
    nodes, ranks, each = (facts.get(name) for name in ("nodes", "ranks", "gpus_per_server"))
    if nodes and ranks and ranks % nodes == 0:
        return facts.with_fact("gpus_per_server", ranks // nodes, "text", f"{ranks} ranks on {nodes} servers")
    if ranks and each and ranks % each == 0:
        return facts.with_fact("nodes", ranks // each, "text", f"{ranks} ranks, {each} in a server")
    if nodes and each:
        return facts.with_fact("ranks", nodes * each, "text", f"{nodes} servers x {each} GPUs")
    return _assumed(facts, nodes, ranks)


def _one_process(benchmark: Benchmark, facts: Facts) -> Facts:
    """A job whose one process drives all its GPUs (`-g 8` without MPI) runs on one host."""
    threads, gpus = benchmark.settings.get("nThread", ""), benchmark.settings.get("nGpus", "")
    if not (threads.isdecimal() and gpus.isdecimal()) or len(benchmark.banners) != 1:
        return facts
    driven = int(threads) * int(gpus)
    if driven > 1 and facts.get("ranks") == driven:
        return facts.with_fact("nodes", 1, "text", f"one process drives all {driven} GPUs")
    return facts


def _assumed(facts: Facts, nodes: int | None, ranks: int | None) -> Facts:
    """Usual servers where more than one of them are full; ranks of one server or fewer may be anywhere."""
    each = _usual_each(facts)
    if not nodes and ranks and ranks > each and ranks % each == 0:
        facts = facts.with_fact("nodes", ranks // each, "assumed", f"{ranks} ranks in servers of {each} GPUs")
        return facts.with_fact("gpus_per_server", each, "assumed", "the usual board; --gpus-per-server says otherwise")
    return facts


def _usual_each(facts: Facts) -> int:
    """GPUs of the usual server with that GPU."""
    return USUAL_GPUS_PER_TRAY.get(str(facts.get("gpu")).partition("-")[0], USUAL_GPUS_PER_SERVER)


def with_usual_server(facts: Facts) -> Facts:
    """The facts with the usual GPUs of a server where nothing says how many, and the ranks that follow."""
    facts = facts.with_fact(
        "gpus_per_server", _usual_each(facts), "assumed", "the usual board; --gpus-per-server says otherwise"
    )
    nodes = facts.get("nodes")
    why = f"{nodes} servers of {facts.get('gpus_per_server')} GPUs"
    return facts.with_fact("ranks", nodes * facts.get("gpus_per_server"), "assumed", why) if nodes else facts
