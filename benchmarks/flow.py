"""CPU seconds and peak memory of the flow engine, each case in a process of its own; `--write` adds the tables.

Compiling the kernels is reported apart: every case first runs a tiny network, which loads them from the cache. Tables
of flows are made before the clock starts; checks of the tables are in. Peers' figures stand beside, measured on a
machine of the same kind (2 vCPU): SimGrid 3.32 (CM02, C++), ASTRA-sim analytical (ee852f4, congestion-aware).
Flow lists of the scenarios P8, I16 and P16 are read from `../shared/data/scenarios` where that folder is.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from command_line import ROOT, write_table
from flow_networks import fat_tree, fat_tree_paths, flow_list, ring

from eastwest.simulate.flow.build import flow_table, link_table, path_table
from eastwest.simulate.flow.engine import run_flows
from eastwest.simulate.flow.max_min import max_min_rates
from eastwest.simulate.flow.tables import RecordWish

SCENARIOS = ROOT.parent / "shared" / "data" / "scenarios"
RUNS, SEED = 3, 1
KIB = 1024
Result = dict[str, float]


def warm_up() -> None:
    """Load or compile every kernel: a run with records, and a solve."""
    links = link_table([10**9] * 2)
    paths = path_table([[0], [0, 1]], links)
    flows = flow_table([1, 1], [0, 1])
    run_flows(links, paths, flows, wish=RecordWish(link_load=True, bin_ps=1))
    max_min_rates(links, paths, flows)


def timed(work: Callable[[], float]) -> Result:
    """CPU seconds of the work, and what it yields."""
    begin = time.process_time()
    value = work()
    return {"seconds": time.process_time() - begin, "value": value}


def run_ring(n: int, k: int, *, repeats_once: bool) -> Result:
    """Ring all-reduce of n MB over n hosts of a fat-tree; yields the end in µs."""
    host = np.arange(n)
    paths = fat_tree_paths(k, host, (host + 1) % n, host % (k // 2) ** 2)
    links, flows = fat_tree(k), ring(n, n * 10**6)
    return timed(lambda: float(run_flows(links, paths, flows, repeats_once=repeats_once).end_ps.max() / 1e6))


def run_all_to_all(k: int, size_bytes: int) -> Result:
    """Every host to every other at once; yields the end in µs."""
    n = k**3 // 4
    src, dst = np.divmod(np.arange(n * n), n)
    src, dst = src[src != dst], dst[src != dst]
    half = k // 2
    paths = fat_tree_paths(k, src, dst, dst % half * half + dst // half % half)  # D-mod-k: no two meet on the way down
    links, flows = fat_tree(k), flow_table(np.full(len(src), size_bytes), np.arange(len(src)))
    return timed(lambda: float(run_flows(links, paths, flows).end_ps.max() / 1e6))


def run_random(n: int, *, k: int = 16, is_once: bool) -> Result:
    """n random flows at once on a fat-tree: rates found once (yields their sum in Tb/s), or run to the end (µs)."""
    random = np.random.default_rng(SEED)
    n_hosts = k**3 // 4
    src = random.integers(0, n_hosts, n)
    dst = (src + random.integers(1, n_hosts, n)) % n_hosts
    links, paths = fat_tree(k), fat_tree_paths(k, src, dst, random.integers(0, (k // 2) ** 2, n))
    flows = flow_table(random.integers(10**5, 10**7, n), np.arange(n))
    if is_once:
        return timed(lambda: float(max_min_rates(links, paths, flows).sum() / 1e12))
    return timed(lambda: float(run_flows(links, paths, flows).end_ps.max() / 1e6))


def run_list(name: str, k: int) -> Result:
    """A scenario's flow list, cores at random; yields the end in µs."""
    src, dst, size = flow_list(SCENARIOS / f"{name}.csv")
    choice = np.random.default_rng(SEED).integers(0, (k // 2) ** 2, len(src))
    links, paths, flows = fat_tree(k), fat_tree_paths(k, src, dst, choice), flow_table(size, np.arange(len(src)))
    return timed(lambda: float(run_flows(links, paths, flows).end_ps.max() / 1e6))


# name, work, flows, what the value is, peers' CPU s
CASES: dict[str, tuple[Callable[[], Result], int, str, str]] = {
    "ring, 128 hosts, 128 MB": (
        lambda: run_ring(128, 8, repeats_once=False),
        32_512,
        "µs",
        "SimGrid 0.27 (21,844 µs)",
    ),
    "ring, 1,024 hosts, 1,024 MB, every transfer": (
        lambda: run_ring(1024, 16, repeats_once=False),
        2_095_104,
        "µs",
        "SimGrid 32.3 (175,956 µs), ASTRA-sim 9.1",
    ),
    "the same, repeated steps once": (
        lambda: run_ring(1024, 16, repeats_once=True),
        2_095_104,
        "µs",
        "",
    ),
    "all-to-all at once, 128 hosts, 1 MB": (
        lambda: run_all_to_all(8, 10**6),
        16_256,
        "µs",
        "SimGrid 1.44",
    ),
    "10⁴ random sizes to the end": (lambda: run_random(10**4, is_once=False), 10**4, "µs", ""),
    "10³ random sizes to the end": (lambda: run_random(10**3, is_once=False), 10**3, "µs", ""),
    "10³ rates once": (lambda: run_random(10**3, is_once=True), 10**3, "Tb/s", ""),
    "10⁴ rates once": (lambda: run_random(10**4, is_once=True), 10**4, "Tb/s", ""),
    "10⁵ rates once": (lambda: run_random(10**5, is_once=True), 10**5, "Tb/s", ""),
    "10⁶ rates once": (lambda: run_random(10**6, is_once=True), 10**6, "Tb/s", ""),
    "I16": (lambda: run_list("I16", 8), 16, "µs", "SimGrid 0.03 (12,806 µs)"),
    "P8": (lambda: run_list("P8", 8), 128, "µs", "SimGrid 0.04"),
    "P16": (lambda: run_list("P16", 16), 1024, "µs", ""),
}


def measure_here(name: str) -> None:
    """Run one case in this process and print its figures."""
    warm_up()
    result = CASES[name][0]()
    result["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB / 1e6
    print(json.dumps(result))


def in_own_process(*arguments: str, **environment: str) -> tuple[str, float]:
    """What this program prints with these arguments, and the CPU seconds of the whole process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, __file__, *arguments]
    done = subprocess.run(command, env={**os.environ, **environment}, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rows(runs: int) -> list[str]:
    """One table row a case: medians over the runs."""
    found = []
    for name, (_, n_flows, unit, peers) in CASES.items():
        if name in ("I16", "P8", "P16") and not (SCENARIOS / f"{name}.csv").is_file():
            continue
        results = [json.loads(in_own_process("--case", name)[0]) for _ in range(runs)]
        seconds, value, megabytes = (
            statistics.median(result[key] for result in results) for key in ("seconds", "value", "megabytes")
        )
        found.append(
            f"| {name} | {n_flows:,} | {seconds:.3f} | {seconds / n_flows * 1e6:.2f} | {megabytes:.0f} "
            f"| {value:,.1f} {unit} | {peers} |"
        )
        print(found[-1], flush=True)
    return found


def compile_row() -> list[str]:
    """CPU seconds of a process that compiles all kernels, and of one that loads them."""
    with tempfile.TemporaryDirectory() as folder:
        seconds = [in_own_process("--warm", NUMBA_CACHE_DIR=str(Path(folder)))[1] for _ in range(2)]
    return [f"Kernels compiled once: {seconds[0]:.1f} CPU s; a process that loads them: {seconds[1]:.2f} CPU s."]


def main() -> int:
    """Measure every case; print the table, and append it to RESULTS.md when asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--write", action="store_true", help="append the table to benchmarks/RESULTS.md")
    parser.add_argument("--case", help="run this case only, in this process")
    parser.add_argument("--warm", action="store_true", help="compile or load the kernels only")
    options = parser.parse_args()
    if options.warm:
        warm_up()
        return 0
    if options.case:
        measure_here(options.case)
        return 0
    head = ["| case | flows | CPU s, median | CPU µs a flow | peak MB | result | peers, CPU s |", "|---" * 7 + "|"]
    table = [*head, *rows(options.runs), "", *compile_row()]
    print(table[-1])
    if options.write:
        write_table("Flow engine", table, options.runs)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
