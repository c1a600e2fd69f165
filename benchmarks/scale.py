"""CPU seconds and peak memory of `plan --out` (all cables, addresses, exports) against the number of links.

Three tiers of 64 x 400G switches, 8 GPUs and 8 NICs a server, one training job; `--write` adds the table to RESULTS.md.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from command_line import ROOT, measure, write_table

GPUS_PER_SERVER = 8
SIZES = (1_024, 4_096, 16_384, 131_072)  # GPUs; the last needs switches of more ports
LARGE_FROM = 65_536  # k^3/4 of 64 ports: above it 128 ports
SITE = """
name: scale-{gpus}
transport: roce
loss_regime: lossless
servers: [{{model: dgx-h100, count: {servers}}}]
fabric: {{family: three_tier, switch: {switch}}}
jobs:
  - name: pretrain
    model: llama3-70b
    parallel: {{tp: 8, pp: 4, zero: 1}}
    sequence: 8192
    global_batch: {batch}
"""


def site_text(gpus: int) -> str:
    """A site of that many GPUs with one job on all of them, two samples a replica and step."""
    switch = "128x400G" if gpus > LARGE_FROM else "64x400G"
    return SITE.format(gpus=gpus, servers=gpus // GPUS_PER_SERVER, switch=switch, batch=gpus // 32 * 2)


def n_links(path: Path) -> int:
    """Links of the plan of a site file."""
    command = [sys.executable, "-m", "eastwest", "plan", str(path), "--json"]
    document = json.loads(subprocess.run(command, cwd=ROOT, check=False, capture_output=True).stdout)
    return sum(document["fabric"]["links"].values())


def main() -> int:
    """Measure every size; print the table, and append it to RESULTS.md when asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--largest", type=int, default=max(SIZES), help="leave out larger sizes")
    parser.add_argument("--write", action="store_true", help="append the table to benchmarks/RESULTS.md")
    options = parser.parse_args()
    table = ["| GPUs | links | CPU s, median | peak MB | CPU µs a link |", "|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        for gpus in (size for size in SIZES if size <= options.largest):
            path = Path(folder) / f"{gpus}.yaml"
            path.write_text(site_text(gpus), encoding="utf-8")
            runs = [measure(["plan", str(path), "--out", "{out}"]) for _ in range(options.runs)]
            seconds, memory = (statistics.median(column) for column in zip(*runs, strict=True))
            links = n_links(path)
            table.append(f"| {gpus:,} | {links:,} | {seconds:.1f} | {memory:.0f} | {seconds / links * 1e6:.0f} |")
            print(table[-1], flush=True)
    if options.write:
        write_table("Scale of a plan", table, options.runs)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
