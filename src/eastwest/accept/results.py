"""`Result`: one judged measurement; `Limits`: where PASS and FAIL begin."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from eastwest.accept.ceilings import Ceiling
from eastwest.accept.curve import Curve
from eastwest.finding import Evidence, Finding, Verdict
from eastwest.units import GIBI, GIGA, KIBI, MEBI

FAIL_BELOW_RATIO = 0.7  # the floor of the field's acceptance rules
PASS_FROM_RATIO = 0.9
ABOVE_RATIO = 1.06  # over the largest ceiling: the inputs are wrong, not the result good
ROUNDING_RATIO = 1e-9
_WORST = {"fail": 3, "unknown": 2, "warn": 1, "pass": 0}


@dataclass(frozen=True, slots=True)
class Limits:
    """Shares of the ceiling: below `fail_ratio` FAIL, from `pass_ratio` PASS; `target_bytes_per_s` the user's own."""

    fail_ratio: float = FAIL_BELOW_RATIO
    pass_ratio: float = PASS_FROM_RATIO
    target_bytes_per_s: float | None = None

    def verdict(self, ratio: float, ceiling_bytes_per_s: float) -> Verdict:
        """PASS, WARN or FAIL of a share; a target of the user's that can be reached moves the FAIL limit."""
        fail = self.fail_ratio
        if self.target_bytes_per_s is not None and self.target_bytes_per_s <= ceiling_bytes_per_s:
            fail = self.target_bytes_per_s / ceiling_bytes_per_s
        if ratio < fail - ROUNDING_RATIO:
            return "fail"
        return "pass" if ratio >= max(self.pass_ratio, fail) - ROUNDING_RATIO else "warn"


@dataclass(frozen=True, slots=True)
class Result:
    """One measurement and its verdict.

    `collective` or test, `nodes` and `gpus` of the run (None: not known), `size_bytes` where it was measured,
    `measured_bytes_per_s` busbw or average; `measured_s` for a latency test; `ceiling` and `of_ceiling_ratio` None
    where no ceiling is known; `missing` the options that would tell; `crosses_network` False for one host.
    """

    collective: str
    verdict: Verdict
    source: str
    tool: str = ""
    nodes: int | None = None
    gpus: int | None = None
    size_bytes: int | None = None
    measured_bytes_per_s: float | None = None
    measured_s: float | None = None
    ceiling: Ceiling | None = None
    of_ceiling_ratio: float | None = None
    latency_s: float | None = None
    plateau_from_bytes: int | None = None
    crosses_network: bool = True
    comparable: bool = True
    missing: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    limiter: Finding | None = None
    line: Evidence | None = None
    curve: Curve | None = field(default=None, repr=False)

    def as_json(self) -> dict[str, Any]:
        """The result in the shape of the command line's contract."""
        ceiling = self.ceiling
        return {
            "collective": self.collective,
            "nodes": self.nodes,
            "gpus": self.gpus,
            "size_bytes": self.size_bytes,
            "measured_bytes_per_s": self.measured_bytes_per_s,
            "measured_s": self.measured_s,
            "ceiling": ceiling
            and {
                "name": ceiling.name,
                "bytes_per_s": ceiling.bytes_per_s,
                "formula": ceiling.formula,
                "limit": ceiling.limit,
                "source": ceiling.source,
                "wire_bytes_per_s": ceiling.wire_bytes_per_s,
            },
            "of_ceiling_ratio": self.of_ceiling_ratio,
            "verdict": self.verdict,
            "comparable": self.comparable,
            "crosses_network": self.crosses_network,
            "latency_s": self.latency_s,
            "plateau_from_bytes": self.plateau_from_bytes,
            "missing": list(self.missing),
            "source": self.source,
            "line": self.line.line if self.line else None,
        }


def worst_verdict(verdicts: Iterable[Verdict]) -> Verdict:
    """FAIL before unknown before WARN before PASS; unknown when there is none."""
    return max(verdicts, key=_WORST.__getitem__, default="unknown")


def gigabytes(bytes_per_s: float) -> str:
    """ "95.97": GB/s in at most two decimals."""
    return f"{bytes_per_s / GIGA:.2f}".rstrip("0").rstrip(".")


def size_name(size_bytes: int) -> str:
    """ "8 GiB", "64 KiB", "1000 B": sizes of benchmarks are powers of two."""
    for factor, name in ((GIBI, "GiB"), (MEBI, "MiB"), (KIBI, "KiB")):
        if size_bytes >= factor and size_bytes % (factor // 4) == 0:
            return f"{size_bytes / factor:g} {name}"
    return f"{size_bytes:,} B"


def percent(ratio: float, limits: Iterable[float] = (FAIL_BELOW_RATIO, PASS_FROM_RATIO)) -> str:
    """ "73": whole percent, with a decimal where rounding would cross a limit."""
    near = any(abs(ratio - limit) < 0.01 for limit in limits)
    return f"{ratio * 100:.1f}" if near else f"{ratio * 100:.0f}" if ratio >= 0.02 else f"{ratio * 100:.1f}"
