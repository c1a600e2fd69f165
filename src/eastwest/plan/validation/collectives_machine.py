"""The machine of a collectives row: GPUs, scale-up domain, NICs and transport from its texts, as `CollectiveRun`.

Texts are read by keywords of the field; what no text says is assumed and said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eastwest.plan.validation.collectives_reasons import Unscored
from eastwest.plan.validation.collectives_table import MOST_RANKS, CollectiveRow, number
from eastwest.plan.validation.machines import gpu_of
from eastwest.simulate.analytic.collective_run import GENERATIONS, CollectiveRun
from eastwest.simulate.analytic.nccl_cost import ALGORITHMS
from eastwest.spec import catalogue
from eastwest.units import BITS_PER_BYTE, GIGA

SERVER_GPUS, RACK_GPUS, MANY_NODES = 8, 72, 4  # where a text names no number
PCIE_BYTES_PER_S = {3: 15.75 * GIGA, 4: 31.5 * GIGA, 5: 63.0 * GIGA, 6: 121.0 * GIGA}  # x16 one way, PCI-SIG
SWITCHED = ("hopper", "blackwell")  # NVSwitch reduces (NVLS) from Hopper on
_GPU = re.compile(r"\b(G[BH][123]00|[ABHV][1-9]\d{2}|H20|MI\d{3}X?|Ascend \w+|Gaudi ?\d)\b", re.I)
_ARCHITECTURE = {"hopper": "h100", "blackwell": "b200", "ampere": "a100", "volta": "v100"}
_TRANSPORTS = (
    ("ipoib", r"ipoib|ip over ib|ip-over-ib"),
    ("tcpxo", r"tcpx|fastrak"),
    ("tcp", r"\btcp\b|\bsockets?\b"),
    ("efa", r"\befa\b"),
    ("omni_path", r"omni-?path|\bopa\b"),
    ("roce", r"\broce|ethernet|spectrum"),
    ("infiniband", r"infiniband|\bib\b|\b[hnxe]dr\d*\b|quantum"),
)
_ALGORITHMS = (
    ("nvls_tree", r"nvls[_ -]?tree"),
    ("nvls", r"^\W*nvls\W*$"),
    ("collnet", r"(?<!nvlink )(?<!nvl )sharp|collnet"),
    ("tree", r"(?<![a-z])tree(?![a-z])"),
    ("ring", r"(?<![a-z])ring(?![a-z])"),
    ("pat", r"(?<![a-z])pat(?![a-z])"),
)
_NICS = re.compile(r"(\d{1,2})\s*[x×]\s*(\d{2,4})\s*G", re.I)
_ONE_NIC = re.compile(r"\b(?:one|a|single|1)\s+(\d{2,4})\s*G\w*\s*NIC|\b(\d{2,4})\s*G(?:bE|E)\b", re.I)
_GPUS = re.compile(r"\b(\d{1,5})\s*GPUs?\b", re.I)


@dataclass(frozen=True, slots=True)
class Machine:
    """What the runs of a row share, and what was assumed; `run` has the row's own ranks and domains.

    `domain` GPUs of a full scale-up domain, `per_node` GPUs of a server.
    """

    run: CollectiveRun
    domain: int
    per_node: int
    nodes_known: bool
    assumed: tuple[str, ...]


def machine_of(row: CollectiveRow, collective: str, point: Mapping[str, Any] | None = None) -> Machine | Unscored:
    """The machine of a row, or of one point that counts GPUs or servers itself."""
    point = point or {}
    assumed: list[str] = []
    scale_up = _scale_up(row, assumed)
    nics, nic_bps = _nics(row)
    if scale_up is None:
        if not nic_bps:
            return Unscored.no_hardware
        scale_up = ("other", max(_OTHER_BYTES_PER_S, 2 * nics * nic_bps / BITS_PER_BYTE), False)
        assumed.append("GPUs that are no bottleneck: the row names NICs only")
    generation, bytes_per_s, is_rack = scale_up
    sizes = _sizes(row, point, is_rack, generation, assumed)
    if sizes is None:
        return Unscored.no_ranks
    ranks, per_node, domain, nodes_known = sizes
    domains = max(1, -(-ranks // domain))
    transport = _transport(row, generation, assumed) if domains > 1 else "infiniband"
    algorithm = _algorithm(row, assumed)
    run = CollectiveRun(
        collective=collective,
        ranks=ranks,
        domains=domains,
        scale_up_bytes_per_s=bytes_per_s,
        generation=generation,
        nics=max(1, round(nics * min(domain, ranks) / per_node)) if nics else 0,
        nic_bytes_per_s=nic_bps / BITS_PER_BYTE,
        transport=transport,
        algorithm=algorithm if _fits(algorithm, domains, ranks) else None,
        nvls=generation in SWITCHED
        and not re.search(r"nvls (?:off|disabled)|no nvls", row.text("algorithm", "network"), re.I),
        in_network=algorithm == "collnet",
        tool=_tool(row),
    )
    if run.domains > 1 and not run.nics:
        return Unscored.no_hardware
    return Machine(run, domain, per_node, nodes_known, tuple(assumed))


_OTHER_BYTES_PER_S = 450.0 * GIGA


def _fits(algorithm: str | None, domains: int, ranks: int) -> bool:
    """Whether an algorithm that a row names exists for its shape."""
    if algorithm is None:
        return False
    across = algorithm in ("tree", "nvls_tree", "collnet", "pat")
    return algorithm in ALGORITHMS and (domains > 1) == across if algorithm != "ring" else ranks > 1


def _scale_up(row: CollectiveRow, assumed: list[str]) -> tuple[str, float, bool] | None:
    """Generation, bytes/s one way of one GPU, and whether its scale-up domain is a rack of 72."""
    texts = row.text("gpu", "network", "intra")
    pcie = re.search(r"pcie ?(?:gen ?)?(\d)", row.text("network", "intra"), re.I)
    if pcie and int(pcie[1]) in PCIE_BYTES_PER_S:
        return "pcie", PCIE_BYTES_PER_S[int(pcie[1])], False
    named = _GPU.search(row.text("gpu")) or _GPU.search(texts)
    gpu = gpu_of(named[1]) if named else None
    if gpu is None:
        word = next((name for name in _ARCHITECTURE if re.search(rf"\b{name}\b", texts, re.I)), None)
        if word is None:
            return None
        gpu = catalogue.get("gpu", _ARCHITECTURE[word])
        assumed.append(f"{gpu.id}: the row names the architecture only")
    if not gpu.scale_up_bytes_per_s:
        return None
    generation = gpu.architecture if gpu.architecture in GENERATIONS else "other"
    return generation, float(gpu.scale_up_bytes_per_s), gpu.id.startswith(("gb200", "gb300"))


def _nics(row: CollectiveRow) -> tuple[float, float]:
    """NICs of a server and bit/s of one; (0, 0) when the row names none."""
    nics, rate = row.number_of("nics_per_node"), row.number_of("nic_gbps")
    node = row.number_of("node_gbps")
    if rate and (nics or node):
        return nics or (node or 0.0) / (rate or 1.0), rate * GIGA
    if node:
        return 1.0, node * GIGA
    many, one = _NICS.search(row.text("network", "nic")), _ONE_NIC.search(row.text("network", "nic"))
    if many:
        return float(many[1]), float(many[2]) * GIGA
    if one:
        return 1.0, float(one[1] or one[2]) * GIGA
    return (1.0, rate * GIGA) if rate else (0.0, 0.0)


def _sizes(
    row: CollectiveRow, point: Mapping[str, Any], is_rack: bool, generation: str, assumed: list[str]
) -> tuple[int, int, int, bool] | None:
    """Ranks, GPUs of a server, GPUs of a full scale-up domain, and whether the row says how many servers."""
    said = number(point.get("gpus")) or row.count("ranks")
    counted = _GPUS.search(row.text("network"))
    nodes = number(point.get("nodes")) or row.count("nodes")
    per_node = row.count("gpus_per_node")
    whole_rack = re.search(r"NVL ?72", row.text("network", "intra"), re.I) or is_rack
    if per_node is None:
        per_node = int(said) if said and nodes == 1 else SERVER_GPUS
        if not said or nodes != 1:
            assumed.append(f"{per_node} GPUs a server")
    domain = row.count("nvlink_domain_gpus") or (RACK_GPUS if whole_rack else per_node)
    ranks = said or (nodes * per_node if nodes else None) or (float(counted[1]) if counted else None)
    nodes_known = bool(nodes or said)
    if ranks is None:
        ranks = _assumed_ranks(row, bool(whole_rack), per_node, generation, assumed)
    if not 1 < ranks <= MOST_RANKS:
        return None
    return int(ranks), per_node, max(1, domain), nodes_known


def _assumed_ranks(row: CollectiveRow, whole_rack: bool, per_node: int, generation: str, assumed: list[str]) -> float:
    """Ranks of a row that does not count them: a rack, one server, or as many servers as make a ring."""
    if whole_rack:
        return float(RACK_GPUS)
    across = re.search(r"multi-?node|\bnodes\b|NIC\b|RDMA|TCP|\d+GbE", row.text("network"), re.I)
    nodes = MANY_NODES if across and generation != "pcie" else 1
    assumed.append(f"{nodes} servers of {per_node} GPUs" if nodes > 1 else f"one server of {per_node} GPUs")
    return float(nodes * per_node)


def _transport(row: CollectiveRow, generation: str, assumed: list[str]) -> str:
    """The transport that the row's texts name; EFA of the generation of its machine."""
    text = row.text("network", "nic", "algorithm")
    found = next((name for name, pattern in _TRANSPORTS if re.search(pattern, text, re.I)), None)
    if found == "efa":
        first = re.search(r"efa ?v?1\b", text, re.I) or generation in ("volta", "ampere")
        return "efa1" if first else "efa"
    if found is None:
        assumed.append("RDMA over InfiniBand: the row names no transport")
    return found or "infiniband"


def _algorithm(row: CollectiveRow, assumed: list[str]) -> str | None:
    """The algorithm that the row names; None when NCCL chose it or the row itself doubts it."""
    text = row.text("algorithm")
    if not text or row.text("suspect"):
        if text:
            assumed.append(f"the algorithm of least time: the row doubts {text!r}")
        return None
    found = next((name for name, pattern in _ALGORITHMS if re.search(pattern, text, re.I)), None)
    return None if re.search(r"tree.*nvls|nvls.*large", text, re.I) else found


def _tool(row: CollectiveRow) -> str:
    """What timed the row: nccl-tests prints a time for every size, a framework's script does not."""
    if re.search(r"script|torch", row.text("dtype", "tool"), re.I):
        return "script"
    timed = any("time_us" in point for point in row.points)
    return "script" if row.data.get("complete_curve") is True and not timed else "nccl-tests"
