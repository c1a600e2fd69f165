"""The family of a training run, by a fixed order, and the errors that the product promises for each.

Order (first that holds): `moe` when ep > 1 or the model has experts; `blackwell` for B200, B300, GB200 and GB300;
`dense-h100` for H100 SXM at 700 W; `dense-a100`; else `other`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

FAMILIES = ("dense-a100", "dense-h100", "blackwell", "moe", "other")
ALL = "all"  # of a summary: every family together
ORDER = (
    "moe when ep > 1 or the model has experts; blackwell for B200, B300, GB200, GB300; dense-h100 for H100 SXM at "
    "700 W; dense-a100; else other"
)
H100_POWER_W = 700  # NVIDIA H100 SXM5 data sheet
_BLACKWELL = re.compile(r"(?<![A-Z])G?B[23]00\b", re.I)
_H100 = re.compile(r"\bH100\b", re.I)
_A100 = re.compile(r"\bA100\b", re.I)
_NO_SXM = re.compile(r"pcie|nvl\b", re.I)
_WATTS = re.compile(r"(\d{3,4})\s*W\b")


@dataclass(frozen=True, slots=True)
class Target:
    """Errors of iteration time, with the constants fitted without the row's source: median and 90th percentile."""

    median_ratio: float
    p90_ratio: float


TARGETS: Mapping[str, Target] = {
    "dense-a100": Target(0.06, 0.15),
    "dense-h100": Target(0.08, 0.20),
    "blackwell": Target(0.10, 0.22),
    "moe": Target(0.20, 0.45),
}


def family_of(gpu: str, ep: int | None, has_experts: bool) -> str:
    """The family of a run by its GPU's printed name, its expert parallelism and its model.

    >>> family_of("GB200", 8, False), family_of("GB200", 1, False), family_of("H100-96GB-HBM2e (500 W)", None, False)
    ('moe', 'blackwell', 'other')
    """
    if (ep or 1) > 1 or has_experts:
        return "moe"
    if _BLACKWELL.search(gpu):
        return "blackwell"
    if _H100.search(gpu) and not _NO_SXM.search(gpu) and power_w_of(gpu) in (None, H100_POWER_W):
        return "dense-h100"
    return "dense-a100" if _A100.search(gpu) else "other"


def power_w_of(gpu: str) -> int | None:
    """The power cap that a GPU's printed name says (W); None when it says none.

    >>> power_w_of("H100-96GB-HBM2e (500 W)")
    500
    """
    match = _WATTS.search(gpu)
    return int(match[1]) if match else None
