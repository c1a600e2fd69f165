"""The machine of a row: GPU in the catalogue, GPUs of a server, scale-up domain, NIC bandwidth and kind of network,
from the texts that tables print.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from eastwest.errors import UsageError
from eastwest.plan.validation.families import power_w_of
from eastwest.plan.validation.reasons import Skip
from eastwest.plan.validation.training_table import TrainingRow
from eastwest.spec import catalogue
from eastwest.spec.catalogue import Gpu
from eastwest.units import BITS_PER_BYTE, GIGA

NVL72 = 72  # GPUs of a GB200 or GB300 rack that NVLink joins; NVIDIA GB200 NVL72 data sheet
TRAY_GPUS, SERVER_GPUS = 4, 8  # GPUs of a GB200 tray and of an HGX board
REFERENCE_BPS = {  # NIC rate of one GPU in NVIDIA's reference architectures (DGX user guides)
    "a100": 200 * GIGA,
    "h100": 400 * GIGA,
    "h200": 400 * GIGA,
    "b200": 400 * GIGA,
    "b300": 800 * GIGA,
    "gb200": 400 * GIGA,
    "gb300": 800 * GIGA,
    "v100": 100 * GIGA,
}
_COUNTED = re.compile(r"(\d{1,3})\s*[x×]\s*(?:HDR|NDR|XDR|EDR)?\s*(\d{2,4})\s*G(?!B)", re.I)
_PER_GPU = re.compile(r"(\d{2,4})\s*Gb(?:/s|ps)[^,;.]*\bper GPU", re.I)
_PER_NODE = re.compile(r"(\d{3,5})\s*Gb(?:/s|ps)[^,;.]*\b(?:per|/)\s*(?:node|server)", re.I)
_NETWORKS = (
    ("efa", r"\bEFA\b"),
    ("omni_path", r"omni[- ]?path|\bOPA\b"),
    ("roce", r"\bRoCE|ethernet|spectrum"),
    ("infiniband", r"infiniband|\bIB\b|\b[HNXE]DR\d*\b|quantum"),
    ("tcp", r"\bTCP\b"),
)
_SHORT = re.compile(r"\b(G[BH][23]00|[ABHV][1-9]\d{2}|H20|H800|A800|MI\d{3}X?|L40S?)\b", re.I)
_MEMORY = re.compile(r"(\d{2,3})\s*GB", re.I)


@dataclass(frozen=True, slots=True)
class Machine:
    """A GPU of the catalogue and what it is connected to; rates in bytes/s one way for each GPU, None when unknown."""

    gpu: Gpu
    power_w: float | None
    gpus_per_node: int
    scale_up_domain: int
    nic_bytes_per_s: float | None
    network: str | None
    assumed: tuple[str, ...]


def machine_of(row: TrainingRow, gpus: int) -> Machine | Skip:
    """The machine that a row ran on. `Skip.no_hardware` when the catalogue has no data sheet of its GPU."""
    printed, assumed = row.text("gpu"), []
    gpu = gpu_of(printed)
    if gpu is None:
        return Skip.no_hardware
    text = row.text("network")
    is_rack = gpu.id.startswith(("gb200", "gb300")) or bool(re.search(r"NVL72", text, re.I))
    per_node = row.count("gpus_per_node")
    if per_node is None:
        per_node = TRAY_GPUS if is_rack else SERVER_GPUS
        assumed.append(f"{per_node} GPUs a server")
    rate_bps = rate_bps_of(text, per_node)
    if rate_bps is None and gpus > per_node:
        rate_bps = REFERENCE_BPS.get(gpu.id.split("-")[0])
        assumed += [f"{rate_bps // GIGA}G NIC for each GPU (reference design)"] if rate_bps else []
    elif rate_bps is not None and re.search(r"reference|not stated|gives no fabric|from memory", text, re.I):
        assumed.append(f"{rate_bps // GIGA:g}G NIC for each GPU (the table's own guess)")
    power = power_w_of(printed)
    return Machine(
        gpu=gpu,
        power_w=power if power is not None and gpu.power_w is not None and power < gpu.power_w else None,
        gpus_per_node=per_node,
        scale_up_domain=NVL72 if is_rack else per_node,
        nic_bytes_per_s=rate_bps / BITS_PER_BYTE if rate_bps else None,
        network=network_of(text),
        assumed=tuple(assumed),
    )


def gpu_of(printed: str) -> Gpu | None:
    """The catalogue's GPU for a printed name; the memory size chooses among models of one name where it can.

    >>> gpu_of("A100-SXM4-40GB").id, gpu_of("B200 (row printed as H200)").id, gpu_of("TPU v4")
    ('a100-sxm4-40gb', 'b200-sxm-180gb', None)
    """
    plain = re.sub(r"\s*\(.*?\)", "", re.sub(r"^NVIDIA\s+", "", printed.strip(), flags=re.I))
    short = _SHORT.search(plain)
    memory = _MEMORY.search(plain)
    spellings = [plain]
    if short:
        spellings += [f"{short[1]}-{memory[1]}gb"] if memory else []
        spellings += [short[1], f"{short[1]}-sxm"]
    for spelling in spellings:
        try:
            return catalogue.get("gpu", spelling)
        except UsageError:
            continue
    names = [name for name in catalogue.names("gpu") if short and name.split("-")[0] == short[1].lower()]
    return catalogue.get("gpu", names[-1]) if names else None


def rate_bps_of(text: str, gpus_per_node: int) -> int | None:
    """Bit/s of NICs for each GPU that a text says; None when it says none.

    >>> rate_bps_of("Jean Zay: 4x100G Omni-Path per node", 8), rate_bps_of("single node", 8)
    (50000000000, None)
    """
    counted, per_gpu, per_node = _COUNTED.search(text), _PER_GPU.search(text), _PER_NODE.search(text)
    if per_gpu:
        return int(per_gpu[1]) * GIGA
    if counted:
        return int(counted[1]) * int(counted[2]) * GIGA // gpus_per_node
    return int(per_node[1]) * GIGA // gpus_per_node if per_node else None


def network_of(text: str) -> str | None:
    """The kind of network that a text names, in the words of `TrainingRun`; None when it names none."""
    return next((name for name, pattern in _NETWORKS if re.search(pattern, text, re.I)), None)
