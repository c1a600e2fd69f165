"""From pasted nccl-tests output to the measured curves that a fit of the constants of collectives reads.

A curve needs its collective, ranks, servers, the GPU, and between servers the NICs, their rate and the transport. What
is missing is named as the option to add: a curve is left out before a class is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import PurePath
from typing import Any

from eastwest.accept.facts import Facts, facts_of_text
from eastwest.accept.gpus import RACK_SCALE_GPUS
from eastwest.accept.instances import facts_of_name
from eastwest.accept.jobs import independent_jobs
from eastwest.accept.runs import Run, runs_of
from eastwest.dialects.bench.osu_units import as_nccl_rows
from eastwest.dialects.nccl import job
from eastwest.dialects.nccl.debug_log import Choice, choices_of
from eastwest.dialects.readings import Benchmark, Readings, Row, Setting
from eastwest.dialects.sniff import read
from eastwest.simulate.analytic.collective_fit import MeasuredRun
from eastwest.simulate.analytic.collective_run import GENERATIONS, TRANSPORTS, CollectiveRun
from eastwest.simulate.analytic.nccl_cost import COLLECTIVES
from eastwest.spec import catalogue
from eastwest.units import BITS_PER_BYTE

# Settings of a log that describe the machine, and so hold for the tables of its folder; the rest is of its own job.
OF_MACHINE = frozenset({"adapters", "nic rate", "nics", "transport", "nvls", "local ranks"})
NAMED = {"sendrecv": "send_recv", **{name: name for name in COLLECTIVES}}
SPOKEN = {"ib": "infiniband", "infiniband": "infiniband", "roce": "roce", "socket": "tcp", "tcp": "tcp", "efa": "efa"}
FIRST_EFA = ("volta", "ampere")  # machines whose EFA is of the first generation
SWITCHED = ("hopper", "blackwell")
DEFAULT_CHANNELS = 16
ALGORITHMS = {"ring": "ring", "tree": "tree", "nvls": "nvls", "nvlstree": "nvls_tree", "nvls_tree": "nvls_tree"}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A text or curve that no fit can use: which, the code of the reason, and the words that fill its sentence."""

    subject: str
    code: str
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MeasuredTexts:
    """Curves of all texts, what was left out with its reason, assumptions in words, and source -> what its NCCL log
    says of the job, as (name, value) in the order of the log.
    """

    runs: tuple[MeasuredRun, ...]
    left_out: tuple[LeftOut, ...]
    assumed: tuple[str, ...]
    logs: Mapping[str, tuple[tuple[str, str], ...]]


def measured_texts(texts: Sequence[tuple[str, str]], facts: Facts) -> MeasuredTexts:
    """Every curve of (source, text) pairs with what is known beforehand; a log's machine holds for its folder."""
    readings = {source: read(text, source) for source, text in texts}
    logs = {source: readings[source].settings for source, text in texts if job.detect(text)}
    shared = _of_folders(logs)
    runs: list[MeasuredRun] = []
    left_out: list[LeftOut] = []
    assumed: dict[str, None] = {}
    for source, found in readings.items():
        known = facts.joined(facts_of_text(found)).joined(_opa(logs.get(source, ())))
        known = known.joined(facts_of_name(source, found))
        known = known.joined(shared.get(str(PurePath(source).parent), Facts()))
        for item, why in _of_text(source, found, known, logs.get(source)):
            if isinstance(item, LeftOut):
                left_out.append(item)
            else:
                runs.append(item)
                assumed.update(dict.fromkeys(why))
    return MeasuredTexts(tuple(runs), tuple(left_out), tuple(assumed), _logs(logs))


def _of_folders(logs: Mapping[str, tuple[Setting, ...]]) -> dict[str, Facts]:
    """Folder -> the machine that the logs in it describe; values that differ are left out."""
    folders: dict[str, list[Setting]] = {}
    for source, settings in logs.items():
        folders.setdefault(str(PurePath(source).parent), []).extend(settings)
    return {folder: _machine_of(found) for folder, found in folders.items()}


def _machine_of(settings: Sequence[Setting]) -> Facts:
    of_machine = tuple(setting for setting in settings if setting.name in OF_MACHINE)
    return _opa(settings).joined(facts_of_text(Readings(settings=of_machine)))


def _opa(settings: Sequence[Setting]) -> Facts:
    """Omni-Path, which NCCL calls IB: its adapters are named hfi1."""
    nics = [setting for setting in settings if setting.name == "nic"]
    if nics and all(setting.value.startswith("hfi1") for setting in nics):
        return Facts().with_fact("transport", "omni_path", "site", f"line {nics[0].line.line} names hfi1 adapters")
    return Facts()


def _logs(logs: Mapping[str, tuple[Setting, ...]]) -> dict[str, tuple[tuple[str, str], ...]]:
    said = {
        source: tuple(
            dict.fromkeys(
                (setting.name, setting.value) for setting in settings if setting.name not in ("target", "gpu direct")
            )
        )
        for source, settings in logs.items()
    }
    return {source: found for source, found in said.items() if found}


Item = tuple[MeasuredRun | LeftOut, tuple[str, ...]]


def _of_text(source: str, readings: Readings, facts: Facts, settings: Sequence[Setting] | None) -> Iterator[Item]:
    """The curves of one text; `settings` of its NCCL log, None when it holds none."""
    if independent_jobs(readings.benchmarks, facts):
        yield LeftOut(source, "EW-CAL-012", {}), ()
        return
    tables = [benchmark for benchmark in readings.benchmarks if benchmark.kind == "collective" and benchmark.rows]
    if not tables and settings is None:
        yield LeftOut(source, "EW-CAL-010", {}), ()
    choices = choices_of(settings or ())
    nodes, each = facts.get("nodes"), facts.get("gpus_per_server")
    ranks = facts.get("ranks") or (nodes * each if nodes and each else None)
    for benchmark in tables:
        for run in runs_of(as_nccl_rows(benchmark, ranks), facts):
            yield from _of_run(source, benchmark, run, choices)


def _of_run(source: str, benchmark: Benchmark, run: Run, choices: Mapping[tuple[str, int], Choice]) -> Iterator[Item]:
    """One curve, split where NCCL's log says that algorithm or protocol change."""
    collective = NAMED.get(run.facts.get("collective") or benchmark.test, "")
    rows = [row for row in run.rows if row.size_bytes and row.out.time_s and row.out.time_s > 0]
    nodes = run.facts.get("nodes")
    name = f"{source} {collective or benchmark.test or 'table'}" + (f" {nodes} nodes" if nodes else "")
    if benchmark.errors or any((row.out.wrong or 0) for row in run.rows):
        yield LeftOut(name, "EW-CAL-013", {}), ()
        return
    made = _machine(collective, run.facts)
    if isinstance(made, str):
        yield LeftOut(name, "EW-CAL-011", {"options": made}), ()
        return
    if not rows:
        yield LeftOut(name, "EW-CAL-014", {}), ()
        return
    said = _algorithm(run.facts, made)

    def chosen(row: Row) -> tuple[str, str]:
        choice = choices.get((collective, row.size_bytes or 0))
        return (choice.algorithm, choice.protocol) if choice else (said, "")

    for (algorithm, protocol), group in groupby(sorted(rows, key=lambda row: row.size_bytes or 0), key=chosen):
        points = list(group)
        machine = replace(made, algorithm=algorithm or None, protocol=protocol or None)
        sizes = tuple(float(row.size_bytes or 0) for row in points)
        times = tuple(float(row.out.time_s or 0.0) for row in points)
        yield MeasuredRun(name, source, machine, sizes, times), run.facts.assumed()


def _machine(collective: str, facts: Facts) -> CollectiveRun | str:
    """The machine of a curve, or the options that would tell what is missing. Raises UsageError for an unknown GPU."""
    nodes, ranks, name = facts.get("nodes"), facts.get("ranks"), facts.get("gpu")
    missing = [
        option
        for option, is_missing in (
            ("--collective all_reduce", not collective),
            ("--gpu h100", not name),
            ("--nodes N", not nodes and not ranks),
            ("--gpus-per-server 8", bool(nodes and not ranks)),
        )
        if is_missing
    ]
    if missing or not ranks or ranks < 2:
        return " ".join(missing) or "--gpus-per-server 8"
    gpu = catalogue.get("gpu", name)
    generation = gpu.architecture if gpu.architecture in GENERATIONS else "other"
    rack = RACK_SCALE_GPUS.get(gpu.id, 0)
    domains = -(-ranks // rack) if rack else (nodes or 1)
    if not gpu.scale_up_bytes_per_s:
        return "--gpu with scale-up links"
    if domains > 1 and ranks % domains:
        return "--gpus-per-server 8"
    run = CollectiveRun(
        collective=collective,
        ranks=ranks,
        domains=domains,
        scale_up_bytes_per_s=float(gpu.scale_up_bytes_per_s),
        generation=generation,
        nvls=generation in SWITCHED and facts.get("nvls") != "off",
    )
    return run if domains == 1 else _with_network(run, facts, nodes or domains)


def _with_network(run: CollectiveRun, facts: Facts, nodes: int) -> CollectiveRun | str:
    """The machine with its NICs, or the options that would tell them."""
    nics, rate, spoken = facts.get("nics_per_server"), facts.get("nic_rate_bps"), facts.get("transport")
    transport = spoken if spoken in TRANSPORTS else SPOKEN.get(str(spoken or "").lower())
    wanted = (("--nics-per-server 8", nics), ("--nic 400G", rate), ("--transport roce", transport))
    missing = [option for option, value in wanted if not value]
    if missing or transport is None:
        return " ".join(missing)
    if transport == "efa" and run.generation in FIRST_EFA:
        transport = "efa1"
    return replace(
        run,
        nics=max(1, nics * nodes // run.domains),
        nic_bytes_per_s=rate / BITS_PER_BYTE,
        transport=transport,
        channels=DEFAULT_CHANNELS,
    )


def _algorithm(facts: Facts, run: CollectiveRun) -> str:
    """The algorithm that a flag or the environment names, where the shape has it; "" for NCCL's choice."""
    named = ALGORITHMS.get(str(facts.get("algorithm") or "").lower(), "")
    if named in ("tree", "nvls_tree") and run.domains == 1:
        return ""
    return "" if named == "nvls" and run.domains > 1 else named
