"""Packet-hops per CPU second and peak memory of the packet engine, a process a case; `--write` adds the table.

The peers' own scenarios I16, P8 and P16 (flow lists in `../shared/data/scenarios`) with PFC, ECN and DCQCN on and every
mechanism compiled in, one acknowledgement for each data packet; then fat-trees of k = 4 … 32. A hop is one packet that
crosses one link, acknowledgements included. Compiling is reported apart: every case runs a small network first. Peers'
figures were measured on a machine of the same kind (2 vCPU).
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

from command_line import ROOT, write_table

from eastwest.simulate.packet.run import run_packets
from eastwest.simulate.prepared import Prepared, prepare
from eastwest.simulate.scenario import parse_scenario

SCENARIOS = ROOT.parent / "shared" / "data" / "scenarios"
RUNS, KIB = 5, 1024
HEAD = "fabric: {{family: fat-tree, k: {k}, rate: 100G, delay: 1us}}\npayload: 4096\noverhead: 64\n"
PEERS = {
    "I16": "htsim 1.84 M, HPCC ns-3 0.25 M (DCQCN 0.21 M)",
    "P8": "htsim 0.82 M, HPCC ns-3 0.15 M (DCQCN 0.14 M)",
    "P16": "htsim 0.24 M",
}
TARGETS = {"I16": "3.5 (aim 7)", "P8": "3 (aim 6)", "P16": "1.2 (aim 3)"}
# name: k, traffic, transport and load balancing
CASES = {
    "I16": (8, "{flows: I16.csv}", "dcqcn", "ecmp"),
    "P8": (8, "{flows: P8.csv}", "dcqcn", "ecmp"),
    "P16": (16, "{flows: P16.csv}", "dcqcn", "ecmp"),
    "I16, fixed rate": (8, "{flows: I16.csv}", "roce", "ecmp"),
    "P8, fixed rate": (8, "{flows: P8.csv}", "roce", "ecmp"),
    "P8, sprayed": (8, "{flows: P8.csv}", "dcqcn", "spray"),
    "P8, adaptive": (8, "{flows: P8.csv}", "dcqcn", "adaptive"),
    "permutation, k = 4": (4, "{pattern: permutation, size: 2MB}", "dcqcn", "ecmp"),
    "permutation, k = 8": (8, "{pattern: permutation, size: 2MB}", "dcqcn", "ecmp"),
    "permutation, k = 16": (16, "{pattern: permutation, size: 1MB}", "dcqcn", "ecmp"),
    "permutation, k = 32": (32, "{pattern: permutation, size: 200kB}", "dcqcn", "ecmp"),
}


def prepared(name: str) -> Prepared:
    """The tables of a case."""
    k, traffic, transport, balancing = CASES[name]
    text = HEAD.format(k=k) + f"traffic: {traffic}\ntransport: {transport}\nload_balancing: {balancing}\n"
    return prepare(parse_scenario(text, f"{name}.yaml", SCENARIOS))


def warm_up() -> None:
    """Compile or load every kernel."""
    text = HEAD.format(k=4) + "traffic: {pattern: permutation, size: 10kB}\ntransport: dcqcn\n"
    run_packets(prepare(parse_scenario(text, "warm.yaml")))


def measure_here(name: str) -> None:
    """Run one case in this process and print its figures."""
    warm_up()
    tables = prepared(name)
    begin = time.process_time()
    found = run_packets(tables)
    seconds = time.process_time() - begin
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB / 1e6
    end_us = float(found.end_ps.max()) / 1e6
    print(json.dumps([found.n_hops, found.n_events, seconds, megabytes, end_us]))


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
    for name in CASES:
        if "csv" in CASES[name][1] and not SCENARIOS.is_dir():
            continue
        results = [json.loads(in_own_process("--case", name)[0]) for _ in range(runs)]
        hops, events, seconds, megabytes, end_us = (statistics.median(column) for column in zip(*results, strict=True))
        rates = sorted(row[0] / row[2] / 1e6 for row in results)
        found.append(
            f"| {name} | {hops:,.0f} | {events / hops:.2f} | {seconds:.3f} | {statistics.median(rates):.2f} "
            f"| {rates[0]:.2f}–{rates[-1]:.2f} | {TARGETS.get(name, '')} | {megabytes:.0f} | {end_us:,.1f} "
            f"| {PEERS.get(name, '')} |"
        )
        print(found[-1], flush=True)
    return found


def compile_row() -> list[str]:
    """CPU seconds of a process that compiles all kernels, and of one that loads them."""
    with tempfile.TemporaryDirectory() as folder:
        seconds = [in_own_process("--warm", NUMBA_CACHE_DIR=folder)[1] for _ in range(2)]
    return [f"Kernels compiled once: {seconds[0]:.1f} CPU s; a process that loads them: {seconds[1]:.2f} CPU s."]


def main() -> int:
    """Measure every case; print the table, and append it to RESULTS.md when asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
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
    columns = "case | hops | events a hop | CPU s, median | M hops per CPU s, median | least–most | target"
    head = [f"| {columns} | peak MB | last byte, µs | peers, hops per CPU s |", "|---" * 10 + "|"]
    table = [*head, *rows(options.runs), "", *compile_row()]
    print(table[-1])
    if options.write:
        write_table("Packet engine", table, options.runs)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
