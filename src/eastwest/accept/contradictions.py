"""Where an option or the site file says one thing of the run and the text another: told, and never judged by one alone.

The text lists the ranks with their hosts, names the GPU, or prints a setting; an option that differs belongs to another
run, or the text does. A job on part of a server's GPUs is no contradiction.

>>> given, said = Facts().with_fact("nodes", 7, "flag", "flag"), Facts().with_fact("nodes", 4, "text", "lines 1-32")
>>> [(item.option, item.given, item.said) for item in contradictions(given, said)]
[('--nodes', 7, 4)]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from eastwest.accept.facts import Fact, Facts
from eastwest.accept.runs import Run, facts_of_benchmark
from eastwest.finding import Evidence, Finding
from eastwest.units import format_port_rate

OPTIONS = {
    "nodes": "--nodes",
    "gpus_per_server": "--gpus-per-server",
    "nics_per_server": "--nics-per-server",
    "nic_rate_bps": "--nic",
    "gpu": "--gpu",
    "collective": "--collective",
    "algorithm": "--algorithm",
}
OF_A_SERVER = frozenset({"nics_per_server", "nic_rate_bps", "gpu"})  # one of them wrong: the site is another system


@dataclass(frozen=True, slots=True)
class Contradiction:
    """One name with the value `given` by `option` (or by the site file) and the one that the text `said`, `where`."""

    name: str
    option: str
    given: Any
    said: Any
    where: str
    is_site: bool


def said_of(run: Run, text: Facts) -> Facts:
    """What the text itself states of a run: settings, banner, list of ranks, columns."""
    said = facts_of_benchmark(run.benchmark).joined(text)
    counts = {row.nodes for row in run.rows}
    if len(counts) == 1 and None not in counts:
        line = run.rows[0].line.line
        said = Facts({**said.by_name, "nodes": Fact(counts.pop(), "text", f"line {line}")})
    nodes, ranks = said.get("nodes"), said.get("ranks")
    if nodes and ranks and ranks % nodes == 0:
        where = said.by_name["nodes"].why
        said = said.with_fact("gpus_per_server", ranks // nodes, "text", where)
    said = said.with_fact("gpu", said.get("gpu_printed"), "text", "the GPU's name")
    test, candidates = run.benchmark.test, run.benchmark.candidates
    return said.with_fact("collective", test or candidates or None, "text", "columns")


def contradictions(given: Facts, said: Facts) -> tuple[Contradiction, ...]:
    """Where the two differ; `said` counts as far as it is no assumption."""
    return tuple(
        Contradiction(
            name, OPTIONS[name], fact.value, said.get(name), said.by_name[name].why, given.origin(name) == "site"
        )
        for name, fact in given.by_name.items()
        if name in OPTIONS and said.origin(name) == "text" and not _agree(name, fact.value, said.get(name))
    ) or tuple(_of_counts(given, said))


def without(given: Facts, found: Sequence[Contradiction]) -> Facts:
    """The given facts without those that the text contradicts: all of a site that is another system."""
    names = {item.name for item in found}
    is_other_site = any(item.is_site and item.name in OF_A_SERVER for item in found)
    return Facts(
        {
            name: fact
            for name, fact in given.by_name.items()
            if name not in names and not (is_other_site and fact.origin == "site")
        }
    )


def findings_of(found: Sequence[Contradiction], subject: str, line: Evidence | None) -> Iterator[Finding]:
    """One finding for each, with the line that was judged."""
    for item in found:
        option = f"--site ({item.name})" if item.is_site else item.option
        args = {"option": option, "given": _shown(item.name, item.given), "said": _shown(item.name, item.said)}
        args |= {"where": item.where, "drop": "--site" if item.is_site else item.option}
        lines = () if line is None else (line,)
        yield Finding("EW-SCO-064", "warning", subject, args["said"], args["given"], "", args, lines)


def _agree(name: str, given: Any, said: Any) -> bool:
    if name == "gpus_per_server":
        return bool(given >= said)
    if name == "gpu":
        return _family(given) == _family(said)
    if name == "collective":
        return given == said or (isinstance(said, tuple) and given in said)
    if name == "algorithm":
        return str(given).lower().replace("_", "") in str(said).lower().replace("_", "").split(",")
    return bool(given == said)


def _family(gpu: str) -> str:
    """`a100` of `a100-40gb`: printed names do not always tell the memory."""
    return gpu.partition("-")[0]


def _of_counts(given: Facts, said: Facts) -> Iterator[Contradiction]:
    """Servers that do not divide the ranks of the table, or that leave too many ranks to each."""
    nodes, ranks, each = given.get("nodes"), said.get("ranks"), given.get("gpus_per_server")
    if not nodes or not ranks or said.origin("ranks") != "text":
        return
    if ranks % nodes or (each and ranks // nodes > each):
        where = said.by_name["ranks"].why
        yield Contradiction("nodes", OPTIONS["nodes"], nodes, f"{ranks} ranks", where, given.origin("nodes") == "site")


def _shown(name: str, value: Any) -> str:
    if name == "nic_rate_bps":
        return format_port_rate(value)
    return " or ".join(value) if isinstance(value, tuple) else str(value)
