"""The GPU behind a printed name, and what NCCL gets out of its scale-up links.

NCCL counts a link of Volta and Ampere as 20.0 of 25 GB/s, of Hopper as 20.6 of 25, of Blackwell as 40.1 of 50; a ring
inside a server reaches that sum (H200: 367 of 370.8 GB/s measured). NVLS lets the switch reduce: a GPU sends S + S/n
and receives as much, of which NCCL counts 85 % (Hopper) and 74 % (Blackwell).
Source: NVIDIA/nccl, src/graph/topo.h (link constants), tuning.cc (NVLS efficiency); S. Bekman, ml-engineering, network
(744d01e) for the measured figures. Unknown GPUs, PCIe cards and those of other vendors have no entry: no ceiling.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

NCCL_LINK_RATIO = {"volta": 20.0 / 25.0, "ampere": 20.0 / 25.0, "hopper": 20.6 / 25.0, "blackwell": 40.1 / 50.0}
NVLS_RATIO = {"hopper": 0.85, "blackwell": 0.74}
# A published run in one NVL72 set (72 GPUs) reaches 839 GB/s, no more than 8 GPUs do: the law is not followed further.
MOST_NVLS_RANKS = 8
RACK_SCALE_GPUS = {"gb200-186gb": 72, "gb300-288gb": 72}  # GPUs of one scale-up domain across servers

_NAMES = (
    (r"GB300", "gb300"),
    (r"GB200", "gb200"),
    (r"B300", "b300"),
    (r"B200", "b200"),
    (r"GH200", "gh200"),
    (r"H200", "h200"),
    (r"H800", "h800"),
    (r"H100", "h100"),
    (r"\bH20\b|H20-", "h20"),
    (r"A800", "a800"),
    (r"A100[\w-]*40", "a100-40gb"),
    (r"A100", "a100"),
    (r"V100[\w-]*SXM|\bV100\b", "v100"),
    (r"MI355X", "mi355x"),
    (r"MI325X", "mi325x"),
    (r"MI300X", "mi300x"),
)
_PCIE_CARD = re.compile(r"PCI-?e|\bNVL\b", re.IGNORECASE)
_PRODUCT = re.compile(
    r"(?<![A-Za-z\d])(?:(?:RTX|GTX|TITAN)\s?(?:PRO\s)?[A-Z]{0,2}\d{3,4}(?:\s?Ti)?|[ABHLTPV]\d{1,3}S?|G[BH]\d{3}"
    r"|MI\d{2,3}[AX]?)(?:[- ](?:SXM\d?|PCI-?e|NVL\d{0,2}|\d{2,3}\s?GB))*(?![A-Za-z\d])"
)
_BOARD = re.compile(r"SXM|DGX|HGX|HBM", re.IGNORECASE)
ALSO_CARDS = frozenset({"a100", "a100-40gb", "a800", "h100", "h200", "h800", "v100"})  # sold as PCIe cards too
CARD_BYTES_PER_S = 64e9  # a ring through PCIe 5.0 x16, raw (PCI-SIG): more than that needs NVLink
MOST_BRIDGED = 4  # cards that NVLink bridges join (NVIDIA, H200 NVL product brief)


@dataclass(frozen=True, slots=True)
class ScaleUp:
    """What one GPU moves over its scale-up links, one way: `ring_bytes_per_s` as NCCL counts it, `nvls_ratio` the part
    of it that NVLS reaches (None: no NVLS), `domain` GPUs of a domain that spans servers (0: one server).
    """

    label: str
    ring_bytes_per_s: float
    nvls_ratio: float | None
    domain: int = 0


def gpu_of_name(printed: str) -> str | None:
    """The catalogue's name of a GPU as tools print it; None for PCIe cards and unknown names.

    >>> gpu_of_name("NVIDIA H100 80GB HBM3"), gpu_of_name("A100-SXM4-40GB"), gpu_of_name("NVIDIA H100 PCIe")
    ('h100', 'a100-40gb', None)
    """
    if _PCIE_CARD.search(printed):
        return None
    return next((name for pattern, name in _NAMES if re.search(pattern, printed, re.IGNORECASE)), None)


def product_of(printed: str) -> str | None:
    """The model in a printed name, which may hold anything else; None where it has none.

    >>> product_of("NVIDIA H100 PCIe"), product_of("NVIDIA GeForce RTX 4090 of ours"), product_of("a GPU")
    ('H100 PCIe', 'RTX 4090', None)
    """
    found = _PRODUCT.search(printed)
    return found[0] if found else None


def is_board_open(told: str) -> bool:
    """Whether a name as people write it leaves open that these are PCIe cards, without NVLink switches.

    >>> is_board_open("H100"), is_board_open("DGX H100"), is_board_open("B200")
    (True, False, False)
    """
    return gpu_of_name(told) in ALSO_CARDS and not _BOARD.search(told)


def scale_up_of(gpu: str) -> ScaleUp | None:
    """What that GPU's scale-up links give. None where no published figure tells how much of them a ring reaches.

    Raises UsageError for a name that is no model of the catalogue.
    """
    from eastwest.spec import catalogue

    entry = catalogue.get("gpu", gpu)
    ratio = NCCL_LINK_RATIO.get(entry.architecture)
    if ratio is None or not entry.scale_up_bytes_per_s:
        return None
    return ScaleUp(
        label=entry.name,
        ring_bytes_per_s=entry.scale_up_bytes_per_s * ratio,
        nvls_ratio=NVLS_RATIO.get(entry.architecture),
        domain=RACK_SCALE_GPUS.get(entry.id, 0),
    )


def nvls_bytes_per_s(scale_up: ScaleUp, n_ranks: int) -> float | None:
    """busbw of an NVLS all-reduce of n ranks: 2(n-1)/n x S over (S + S/n) / (link x efficiency); None without NVLS."""
    if scale_up.nvls_ratio is None or n_ranks < 2:
        return None
    n = nvls_ranks(n_ranks)
    return 2 * (n - 1) / (n + 1) * scale_up.ring_bytes_per_s * scale_up.nvls_ratio


def nvls_ranks(n_ranks: int) -> int:
    """The n that the law of NVLS is followed to."""
    return min(n_ranks, MOST_NVLS_RANKS)
