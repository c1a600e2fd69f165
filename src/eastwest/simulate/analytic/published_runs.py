"""Published runs of nccl-tests that the package carries: figures only, each with its source.

They hold the constants where a table given to the fit shows nothing, and stand in for a source that is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from eastwest.simulate.analytic.collective_fit import MeasuredRun
from eastwest.simulate.analytic.collective_run import GENERATIONS, CollectiveRun
from eastwest.spec import catalogue
from eastwest.units import BITS_PER_BYTE, US_PER_S, parse_rate, parse_size

SWITCHED = ("hopper", "blackwell")  # NVSwitch reduces (NVLS) from Hopper on


@cache
def published_runs() -> tuple[MeasuredRun, ...]:
    """Every run of the package's own file."""
    from ruamel.yaml import YAML

    text = (files("eastwest.simulate.analytic") / "constants" / "collective_runs.yaml").read_text(encoding="utf-8")
    return tuple(_run(entry) for entry in YAML(typ="safe").load(text)["runs"])


def _run(entry: Mapping[str, Any]) -> MeasuredRun:
    gpu = catalogue.get("gpu", entry["gpu"])
    generation = gpu.architecture if gpu.architecture in GENERATIONS else "other"
    ranks, nodes = entry["ranks"], entry["nodes"]
    domains = entry.get("domains") or (1 if entry.get("domain", 0) >= ranks else nodes)
    run = CollectiveRun(
        collective=entry["collective"],
        ranks=ranks,
        domains=domains,
        scale_up_bytes_per_s=float(gpu.scale_up_bytes_per_s or 0.0),
        generation=generation,
        nics=entry["nics"] * nodes // domains,
        nic_bytes_per_s=parse_rate(entry["nic_rate"]) / BITS_PER_BYTE,
        transport=entry["transport"],
        algorithm=entry.get("algorithm"),
        protocol=entry.get("protocol"),
        nvls=generation in SWITCHED,
        tool=entry.get("tool", "nccl-tests"),
    )
    sizes = tuple(float(parse_size(size)) for size in entry["times_us"])
    return MeasuredRun(
        entry["id"], entry["source"], run, sizes, tuple(t / US_PER_S for t in entry["times_us"].values())
    )
