"""What the product promises of its predictions, held against a judged table: a warning for each promise that is missed.

Promises are about predictions without the row's own source; a figure that could not be computed is no miss.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from eastwest.finding import Finding
from eastwest.plan.validation.families import ALL
from eastwest.plan.validation.intervals import TARGET as COVERAGE_TARGET
from eastwest.plan.validation.ranking import TARGETS as RANKING_TARGETS
from eastwest.plan.validation.scaling import TARGETS as SCALING_TARGETS

JUDGED_RATIO = 0.80  # of the rows of a family that give model, layout and batch
Figures = Mapping[str, Any]
_NAMES = {
    "loso_median_abs_error_ratio": "median",
    "loso_p90_abs_error_ratio": "p90",
    "spearman": "Spearman",
    "pair_order_ratio": "pair order",
    "low_regret_ratio": "low regret",
    "median_abs_error_ratio": "median",
    "max_abs_error_ratio": "max",
}


def missed(
    families: Mapping[str, Figures], ranking: Figures, scaling: Figures, intervals: Figures
) -> tuple[Finding, ...]:
    """Findings of severity warning: families first, then ranking, scaling efficiency and intervals."""
    found = [*_families(families)]
    found += [
        _miss("ranking", key, ranking[key], limit)
        for key, limit in RANKING_TARGETS.items()
        if _below(ranking[key], limit)
    ]
    limits = {f"{name}_abs_error_ratio": limit for name, limit in SCALING_TARGETS.items()}
    found += [
        _miss("scaling", key, scaling[key], limit) for key, limit in limits.items() if _above(scaling[key], limit)
    ]
    low, high = COVERAGE_TARGET
    held = intervals["coverage_ratio"]
    if held is not None and not low <= held <= high:
        args = {"figure": "coverage"}
        expected = f"{_percent(low)} - {_percent(high)}"
        found.append(Finding("EW-VAL-032", "warning", "intervals", expected, _percent(held), "", args))
    return tuple(found)


def _families(families: Mapping[str, Figures]) -> Iterator[Finding]:
    for family, figures in families.items():
        for key, limit in (figures["targets"] or {}).items():
            if _above(figures[key], limit):
                yield _miss(family, key, figures[key], limit)
        share = figures["judged_of_complete_ratio"]
        if family != ALL and share is not None and share < JUDGED_RATIO:
            yield Finding("EW-VAL-033", "warning", family, _percent(JUDGED_RATIO), _percent(share))
    mixture = families.get("moe")
    naive = mixture["naive_loso_median_abs_error_ratio"] if mixture else None
    if mixture and naive is not None and _above(mixture["loso_median_abs_error_ratio"], naive):
        args = {"figure": "median (constant HFU)"}
        value = _percent(mixture["loso_median_abs_error_ratio"])
        yield Finding("EW-VAL-032", "warning", "moe", _percent(naive), value, "", args)


def _miss(subject: str, key: str, value: float, limit: float) -> Finding:
    return Finding("EW-VAL-032", "warning", subject, _percent(limit), _percent(value), "", {"figure": _NAMES[key]})


def _above(value: float | None, limit: float) -> bool:
    return value is not None and value > limit


def _below(value: float | None, limit: float) -> bool:
    return value is not None and value < limit


def _percent(ratio: float) -> str:
    return f"{100 * ratio:.1f} %"
