"""Figures of a judged table: errors by family and by source beside their targets, coverage, skipped rows."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eastwest.finding import Finding
from eastwest.plan.validation.document import by_reason
from eastwest.plan.validation.families import ALL, TARGETS
from eastwest.plan.validation.intervals import TARGET as COVERAGE_TARGET
from eastwest.plan.validation.intervals import coverage
from eastwest.plan.validation.judged import Judged
from eastwest.plan.validation.metrics import abs_errors, groups_of, median, p90

KEYS_SHOWN = 20
Mask = NDArray[np.bool_]


def by_family(judged: Judged) -> dict[str, dict[str, Any]]:
    """`all` and every family that occurs -> counts, errors and the targets that apply."""
    every = (*judged.cases, *judged.skipped)
    predicted = groups_of([case.family for case in judged.cases])
    found: dict[str, dict[str, Any]] = {}
    for family in groups_of([case.family for case in every]):
        members = [case for case in every if family in (ALL, case.family)]
        complete = [case for case in members if case.is_complete and not case.is_listed_only]
        n_judged = sum(case.run is not None for case in complete)
        mask = predicted.get(family, np.zeros(len(judged.cases), np.bool_))
        found[family] = {
            "n": len(members),
            "judged": int(mask.sum()),
            "scored": int((mask & judged.scored).sum()),
            "complete": len(complete),
            "judged_of_complete_ratio": n_judged / len(complete) if complete else None,
            **_errors(judged, mask & judged.scored),
            "targets": _targets(family),
        }
    return found


def _errors(judged: Judged, mask: Mask) -> dict[str, float | None]:
    errors, left_out = judged.errors[mask], judged.left_out_errors[mask]
    naive, naive_left_out = (
        abs_errors(seconds[mask], judged.measured[mask]) for seconds in (judged.naive, judged.naive_left_out)
    )
    inside, has = coverage(judged.left_out[mask], judged.measured[mask], judged.widths[mask])
    return {
        "median_abs_error_ratio": median(errors),
        "p90_abs_error_ratio": p90(errors),
        "naive_median_abs_error_ratio": median(naive),
        "naive_p90_abs_error_ratio": p90(naive),
        "naive_loso_median_abs_error_ratio": median(naive_left_out),
        "loso_median_abs_error_ratio": median(left_out),
        "loso_p90_abs_error_ratio": p90(left_out),
        "interval_coverage_ratio": inside / has if has else None,
    }


def _targets(family: str) -> dict[str, float] | None:
    target = TARGETS.get(family)
    if target is None:
        return None
    return {"loso_median_abs_error_ratio": target.median_ratio, "loso_p90_abs_error_ratio": target.p90_ratio}


def by_source(judged: Judged) -> list[dict[str, Any]]:
    """Every source -> rows, the rule of its leave-one-out constants, signed and absolute residuals."""
    sources = np.array([case.source for case in judged.cases], dtype=object)
    found = []
    for source in dict.fromkeys(sources.tolist()):
        mask = (sources == source) & judged.scored
        families = Counter(case.family for case, own in zip(judged.cases, mask, strict=True) if own)
        signed = judged.left_out[mask] / judged.measured[mask] - 1.0
        found.append(
            {
                "source": source,
                "scored": int(mask.sum()),
                "families": dict(families),
                "constants": str(judged.rules[source]),
                "median_abs_error_ratio": median(judged.errors[mask]),
                "loso_median_error_ratio": median(signed),
                "loso_median_abs_error_ratio": median(np.abs(signed)),
                "loso_p90_abs_error_ratio": p90(np.abs(signed)),
            }
        )
    return found


def interval_summary(judged: Judged) -> dict[str, Any]:
    """How many scored rows lie inside the 80 % interval."""
    mask = judged.scored
    inside, has = coverage(judged.left_out[mask], judged.measured[mask], judged.widths[mask])
    return {
        "rows": has,
        "coverage_ratio": inside / has if has else None,
        "target": {"low_ratio": COVERAGE_TARGET[0], "high_ratio": COVERAGE_TARGET[1]},
    }


def skipped_by_reason(judged: Judged, lang: str) -> list[dict[str, Any]]:
    """Every reason that occurs -> its sentence, how many rows, which."""
    return by_reason([(str(case.skip), case.row.id) for case in judged.skipped], lang)


def notes_of(judged: Judged) -> tuple[Finding, ...]:
    """Information about suspect rows and about keys that nothing reads."""
    every = (*judged.cases, *judged.skipped)
    found = [
        Finding("EW-VAL-031", "info", case.row.id, args={"reason": case.suspect}) for case in every if case.suspect
    ]
    found += [Finding(str(case.doubt), "info", case.row.id) for case in every if case.doubt]
    unread = Counter(key for case in every for key in case.row.unread)
    if unread:
        keys = ", ".join(sorted(unread)[:KEYS_SHOWN]) + (" …" if len(unread) > KEYS_SHOWN else "")
        found.append(Finding("EW-VAL-030", "info", "rows", args={"count": len(unread), "keys": keys}))
    return tuple(found)
