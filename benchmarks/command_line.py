"""CPU seconds and peak memory of whole `eastwest` processes, median of several runs; `--write` adds them to RESULTS.md.

Each run is a process of its own, measured by the operating system's accounting (user + system seconds, maximum
resident set), so imports and output are in it. Quote medians: machines are noisy.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
RUNS, WARM_UPS = 5, 1
KIB = 1024
CASES = {
    "eastwest --help": ["--help"],
    "plan of 64 GPUs (examples/project-x.yaml)": ["plan", "examples/project-x.yaml"],
    "plan of 64 GPUs with --out": ["plan", "examples/project-x.yaml", "--out", "{out}"],
    "plan of 512 GPUs (examples/h100-512-rail.yaml)": ["plan", "examples/h100-512-rail.yaml"],
    "plan of 1,024 GPUs (examples/gpu-1024-1to1.yaml)": ["plan", "examples/gpu-1024-1to1.yaml"],
    "size of 2,048 GPUs": ["size", "--gpus", "2048"],
}


def measure(arguments: list[str]) -> tuple[float, float]:
    """CPU seconds and peak memory (MB) of one run. Raises CalledProcessError when the run fails."""
    command = [sys.executable, "-m", "eastwest", *arguments]
    with tempfile.TemporaryDirectory() as folder:
        filled = [argument.format(out=f"{folder}/out") for argument in command]
        environment = {**os.environ, "XDG_STATE_HOME": folder, "NO_COLOR": "1"}
        process = subprocess.Popen(filled, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            message = process.stderr.read().decode() if process.stderr else ""
            raise subprocess.CalledProcessError(os.waitstatus_to_exitcode(status), filled, stderr=message)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * KIB / 1e6


def rows(runs: int) -> list[str]:
    """One table row per case: median, least and most CPU seconds, and the median of peak memory."""
    found = []
    for name, arguments in CASES.items():
        for _ in range(WARM_UPS):
            measure(arguments)
        seconds, memory = zip(*(measure(arguments) for _ in range(runs)), strict=True)
        middle = statistics.median(seconds)
        found.append(
            f"| {name} | {middle:.2f} | {min(seconds):.2f}–{max(seconds):.2f} | {statistics.median(memory):.0f} |"
        )
        print(found[-1], flush=True)
    return found


def write_table(name: str, table: list[str], runs: int) -> None:
    """Append a table to RESULTS.md under its name, the date and the machine."""
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    title = f"## {name}, {datetime.now(UTC):%Y-%m-%d}, {machine}, {runs} runs"
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write("\n".join(["", title, "", *table, ""]))


def main() -> int:
    """Measure every case; print the table, and append it to RESULTS.md with date and machine when asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--write", action="store_true", help="append the table to benchmarks/RESULTS.md")
    options = parser.parse_args()
    head = ["| command | CPU s, median | least–most | peak MB |", "|---|---|---|---|"]
    table = [*head, *rows(options.runs)]
    if options.write:
        write_table("Command line", table, options.runs)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
