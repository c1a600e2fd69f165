"""Published effects that the model of collectives predicts: size, servers, transport and reduction in the switch."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from eastwest.plan.validation.collectives_table import number
from eastwest.plan.validation.effects_closed import Foreseen
from eastwest.plan.validation.effects_table import EffectRow, Span, Untold
from eastwest.plan.validation.machines import gpu_of
from eastwest.simulate.analytic.collective_constants import shipped_constants
from eastwest.simulate.analytic.collective_run import GENERATIONS, TRANSPORTS, CollectiveRun
from eastwest.simulate.analytic.collective_time import time_of
from eastwest.simulate.analytic.nccl_cost import bus_factor
from eastwest.units import BITS_PER_BYTE, GIBI, GIGA, UnitError, parse_size

SERVER_GPUS = 8
ASSUMED_GPU = "A100"  # where a row names none: the slowest scale-up link that is common
PLATEAU_BYTES = 8 * GIBI
ASSUMED_NICS = (SERVER_GPUS, 25e9)  # 200G a GPU, where neither side prints NICs
UNSURE = 1.25  # factor either way of a ratio of two predicted times
_TRANSPORTS = (
    ("ipoib", r"ipoib"),
    ("tcp", r"\btcp\b"),
    ("roce", r"roce"),
    ("efa", r"\befa\b"),
    ("infiniband", r"rdma|\bib\b"),
)


def transport(row: EffectRow) -> Foreseen | Untold:
    """TCP against RDMA, by the time of an all-reduce."""
    if any(re.search(r"cpu_|p99|tail", key) for key in row.effect):
        return Untold.packet_engine if any("p99" in key for key in row.effect) else Untold.outside
    mine, theirs = _over(row.condition, row), _over(row.baseline, row)
    if mine is None or theirs is None:
        return Untold.condition_not_given
    return _compared(mine, theirs, _size(row.condition), "time of an all-reduce over each transport")


def _over(part: Mapping[str, Any], row: EffectRow) -> CollectiveRun | None:
    """The run of one side; NICs of the other side where this one prints none."""
    words = " ".join(f"{value}"[:200] for value in part.values())
    kind = next((name for name, pattern in _TRANSPORTS if re.search(pattern, words, re.I)), None)
    rates = _nics(words) or _nics(row.words()) or ASSUMED_NICS
    if kind is None:
        return None
    base = _machine(row.condition)
    nodes = int(number(row.condition.get("nodes")) or number(row.baseline.get("nodes")) or 4)
    ranks = int(number(row.condition.get("gpus")) or nodes * SERVER_GPUS)
    if not 1 < nodes <= ranks <= 10**6:
        return None
    return replace(base, ranks=ranks, domains=nodes, nics=rates[0], nic_bytes_per_s=rates[1], transport=kind)


def _nics(words: str) -> tuple[int, float] | None:
    many = re.search(r"(\d{1,2})\s*x\s*(\d{2,4})\s*G", words, re.I)
    one = re.search(r"(\d{2,4})\s*G(?:bE|E)?\b", words, re.I)
    if many:
        return max(1, int(many[1])), int(many[2]) * GIGA / BITS_PER_BYTE
    return (1, int(one[1]) * GIGA / BITS_PER_BYTE) if one else None


def _machine(part: Mapping[str, Any]) -> CollectiveRun:
    """One server of the GPUs that a side names."""
    named = gpu_of(re.sub(r"^\d+\s*x\s*", "", str(part.get("gpu", ASSUMED_GPU))[:80])) or gpu_of(ASSUMED_GPU)
    assert named is not None
    generation = named.architecture if named.architecture in GENERATIONS else "other"
    return CollectiveRun(
        collective="all_reduce",
        ranks=SERVER_GPUS,
        domains=1,
        scale_up_bytes_per_s=float(named.scale_up_bytes_per_s or GIGA),
        generation=generation,
        nvls=generation in ("hopper", "blackwell"),
    )


def _size(part: Mapping[str, Any]) -> float:
    return number(part.get("bytes")) or _payload(part.get("payload")) or PLATEAU_BYTES


def _payload(value: Any) -> float | None:
    """Bytes of `32KiB` or of each of `1000 x 4 MB`."""
    text = re.sub(r"^\s*[>~]?=?\s*(?:\d+\s*x\s*)?", "", str(value)[:40])
    try:
        return number(float(parse_size(text)))
    except (UnitError, OverflowError):
        return None


def _compared(
    mine: CollectiveRun, theirs: CollectiveRun, size: float, formula: str, other_size: float = 0.0
) -> Foreseen:
    """Bus bandwidth of one run over the other's."""
    speeds = []
    for run, n_bytes in ((mine, size), (theirs, other_size or size)):
        seconds = float(time_of(run, [n_bytes], shipped_constants()).time_s[0])
        speeds.append(n_bytes * float(bus_factor(run.collective, float(run.ranks))) / seconds)
    ratio = speeds[0] / speeds[1]
    said = () if mine.domains == 1 else (f"{mine.ranks} GPUs in {mine.domains} domains over {mine.transport}",)
    return Foreseen(Span(ratio / UNSURE, ratio * UNSURE), formula, said)


def hierarchy(row: EffectRow) -> Foreseen | Untold:
    """Several servers against one, at one size."""
    nodes, before = number(row.condition.get("nodes")), number(row.baseline.get("nodes")) or 1
    rates = _nics(str(row.condition.get("nic", "")))
    if not nodes or not 1 <= before < nodes <= 10**5 or not rates or "gpu" not in row.condition:
        return Untold.condition_not_given
    words = str(row.condition.get("nic", ""))
    kind = next((name for name, pattern in _TRANSPORTS if re.search(pattern, words, re.I)), "infiniband")
    one = replace(_machine(row.condition), nics=rates[0], nic_bytes_per_s=rates[1], transport=kind)
    runs = [replace(one, ranks=SERVER_GPUS * int(n), domains=int(n)) for n in (nodes, before)]
    return _compared(runs[0], runs[1], _size(row.condition), "busbw over several servers against one")


def message_size(row: EffectRow) -> Foreseen | Untold:
    """Many small messages against few large ones on one server."""
    mine, theirs = _payload(row.condition.get("payload")), _payload(row.baseline.get("payload"))
    if not mine or not theirs or "gpu" not in row.condition:
        return Untold.condition_not_given
    one = _machine(row.condition)
    return _compared(one, one, mine, "busbw at the smaller size against the larger", theirs)


def in_network(row: EffectRow) -> Foreseen | Untold:
    """NVLS against the ring on one server."""
    if "gpu" not in row.condition or "nvls" not in row.condition:
        return Untold.condition_not_given
    one = replace(_machine(row.condition), nvls=True)
    return _compared(one, replace(one, nvls=False), _size(row.condition), "NVLS against the ring")


def hardware(row: EffectRow) -> Foreseen | Untold:
    """Share of a link's rate that collectives reach."""
    words, values = row.words(), shipped_constants().values
    if re.search(r"xgmi|nvlink|scale-?up", words, re.I):
        share = float(values["ring_share"][0][GENERATIONS.index("other")])
        return Foreseen(Span(share / UNSURE, share * UNSURE), "ring busbw over the scale-up rate")
    kind = "omni_path" if re.search(r"omni-?path|\bopa\b", words, re.I) else None
    kind = kind or next((name for name, pattern in _TRANSPORTS if re.search(pattern, words, re.I)), None)
    if kind is None:
        return Untold.condition_not_given
    share = float(values["network_share"][0][TRANSPORTS.index(kind)])
    return Foreseen(Span(share / UNSURE, min(1.0, share * UNSURE)), "busbw over the line rate of the NICs")


BY_COLLECTIVE: Mapping[str, Callable[[EffectRow], Foreseen | Untold]] = {
    "hardware": hardware,
    "hierarchy": hierarchy,
    "in_network_reduction": in_network,
    "message_size": message_size,
    "tcp_vs_rdma": transport,
}
