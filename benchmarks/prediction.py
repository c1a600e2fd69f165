"""CPU seconds of training-step predictions (vectorised, packing excluded and included), and of whole `score` and
`predict` processes: median of several runs. `--write` adds the tables to RESULTS.md.

One thread of one process predicts runs that differ in GPUs, batch, layout, precision and model, with the shipped
constants; rates are predictions per CPU second of all its threads, so that another load on the machine costs little.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import islice, product
from pathlib import Path

from command_line import measure, write_table

from eastwest.simulate.analytic.step import step_seconds
from eastwest.simulate.analytic.step_constants_file import shipped_constants
from eastwest.simulate.analytic.step_table import pack
from eastwest.simulate.analytic.training_run import TrainingRun
from eastwest.workload.model import Moe, Transformer

RUNS, N_PREDICTIONS = 7, 20_000
WANTED_PER_S = 10_000
DENSE = Transformer("dense-synthetic", 80, 8192, 64, 8, 128, 28672, 128256)
SPARSE = Transformer("moe-synthetic", 48, 4096, 64, 4, 128, 12288, 151936, moe=Moe(128, 8, 1536))
GPUS = (("a100-sxm4-80gb", ("fp16", "bf16"), 25e9), ("h100-sxm5-80gb", ("bf16", "fp8"), 50e9))
SWEEP = ((DENSE, SPARSE), (256, 512, 1024, 2048, 4096), (1, 2, 4, 8), (1, 2, 4, 8), (1, 2, 4), range(1, 65))
SIZES = tuple(2**power for power in range(10, 34))


def runs_of(n: int) -> list[TrainingRun]:
    """The first n different runs of a sweep over machines, layouts and batches; synthetic."""
    machines = [(gpu, precision, rate) for gpu, precisions, rate in GPUS for precision in precisions]
    sweep = product(*reversed(SWEEP), machines)
    return [
        TrainingRun(
            id=f"run-{index}",
            source="synthetic",
            model=model,
            gpu=gpu,
            gpus=gpus,
            precision=precision,
            sequence=4096,
            global_batch=gpus * batches,
            micro_batch=micro,
            tp=tp,
            pp=pp,
            ep=8 if model.moe else 1,
            gpus_per_node=8,
            nic_bytes_per_s=rate,
            network="infiniband",
            framework="megatron-lm",
        )
        for index, (batches, micro, pp, tp, gpus, model, (gpu, precision, rate)) in enumerate(islice(sweep, n))
    ]


def all_reduce_text() -> str:
    """nccl-tests output of an all-reduce over 4 servers, synthetic: 190 GB/s of bus bandwidth, 40 us of latency."""
    lines = ["# nThread 1 nGpus 1 minBytes 1024 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20"]
    for rank in range(32):
        lines.append(f"#  Rank {rank:2} Group  0 Pid {100 + rank} on node-{rank // 8} device  {rank % 8} NVIDIA A100")
    lines.append("#       size         count      type   redop    root     time   algbw   busbw #wrong")
    lines.append("#        (B)    (elements)                               (us)  (GB/s)  (GB/s)")
    factor = 2 * 31 / 32
    for size in SIZES:
        micros = 40 + size * factor / 190e3
        algbw = size / micros / 1e3
        lines.append(f"{size} {size // 4} float sum -1 {micros:.2f} {algbw:.2f} {algbw * factor:.2f} 0")
    return "\n".join([*lines, "# Out of bounds values : 0 OK", ""])


def per_s(work: Callable[[], object], n: int, runs: int) -> tuple[float, float, float]:
    """Median, least and most predictions per CPU second of this process, after one warm-up."""
    work()
    rates = []
    for _ in range(runs):
        begun = time.process_time()
        work()
        rates.append(n / (time.process_time() - begun))
    return statistics.median(rates), min(rates), max(rates)


def prediction_rows(n: int, runs: int) -> list[str]:
    """A row each: vectorised step times of a packed table, and of runs that are packed first."""
    made, constants = runs_of(n), shipped_constants()
    table = pack(made)
    cases: dict[str, Callable[[], object]] = {
        "table packed before": lambda: step_seconds(table, constants),
        "packing included": lambda: step_seconds(pack(made), constants),
    }
    found = []
    for name, work in cases.items():
        middle, low, high = per_s(work, n, runs)
        verdict = "yes" if middle >= WANTED_PER_S else "no"
        found.append(f"| {name} | {n:,} | {middle:,.0f} | {low:,.0f}–{high:,.0f} | {verdict} |")
        print(found[-1], flush=True)
    return found


def process_rows(runs: int) -> list[str]:
    """A row each: whole processes of `score` and `predict`."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "all_reduce.txt"
        path.write_text(all_reduce_text(), encoding="utf-8")
        cases = {
            "score of an nccl-tests table, 4 servers": ["score", str(path), "--nics", "8x200G"],
            "predict of 64 GPUs (examples/project-x.yaml)": ["predict", "examples/project-x.yaml"],
        }
        for name, arguments in cases.items():
            measure(arguments)
            seconds, memory = zip(*(measure(arguments) for _ in range(runs)), strict=True)
            middle, spread = statistics.median(seconds), f"{min(seconds):.2f}–{max(seconds):.2f}"
            found.append(f"| {name} | {middle:.2f} | {spread} | {statistics.median(memory):.0f} |")
            print(found[-1], flush=True)
    return found


def main() -> int:
    """Measure; print both tables, and append them to RESULTS.md with date and machine when asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--predictions", type=int, default=N_PREDICTIONS)
    parser.add_argument("--note", default="", help="a sentence about the machine for RESULTS.md")
    parser.add_argument("--write", action="store_true", help="append the tables to benchmarks/RESULTS.md")
    options = parser.parse_args()
    wanted = f"{WANTED_PER_S:,} or more"
    steps = [
        f"| step times | predictions | per CPU s and core, median | least–most | {wanted} |",
        "|---|---|---|---|---|",
    ]
    steps += prediction_rows(options.predictions, options.runs)
    whole = ["| command | CPU s, median | least–most | peak MB |", "|---|---|---|---|", *process_rows(options.runs)]
    if options.write:
        note = [options.note, ""] if options.note else []
        write_table("Predictions", [*note, *steps, "", *whole], options.runs)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
