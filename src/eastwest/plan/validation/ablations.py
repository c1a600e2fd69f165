"""What each part of the step model is worth: errors and ranks when it is left out, the constants unchanged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eastwest.plan.validation.judged import Judged
from eastwest.plan.validation.metrics import abs_errors, median, p90
from eastwest.plan.validation.ranking import rank, tables_of
from eastwest.simulate.analytic.training_run import TrainingRun

Values = NDArray[np.float64]
Ablate = Callable[[Sequence[TrainingRun], str], Values]
FIGURES = ("p90_abs_error_ratio", "spearman_inside_tables", "pair_order_ratio")  # one of them must get worse


def ablations_of(judged: Judged, terms: Sequence[str], ablate: Ablate) -> list[dict[str, Any]]:
    """Figures of the whole model (`without` None) and without each term; `worsens` whether p90 or a rank got worse.

    `ablate(runs, term)` yields seconds (n,) with the shipped constants and without the term.
    """
    if not judged.cases:
        return []
    runs = [case.run for case in judged.cases if case.run is not None]
    whole: dict[str, Any] = {"without": None, **_figures(judged, judged.predicted), "worsens": None}
    found = [whole]
    for term in terms:
        figures = _figures(judged, ablate(runs, term))
        found.append({"without": term, **figures, "worsens": _worsens(whole, figures)})
    return found


def _figures(judged: Judged, seconds: Values) -> dict[str, float | None]:
    errors = abs_errors(seconds, judged.measured)[judged.scored]
    ranked = rank(tables_of(judged.cases), seconds, judged.measured).as_json()
    return {
        "median_abs_error_ratio": median(errors),
        "p90_abs_error_ratio": p90(errors),
        "spearman_inside_tables": ranked["spearman_inside_tables"],
        "pair_order_ratio": ranked["pair_order_ratio"],
    }


def _worsens(whole: dict[str, Any], figures: dict[str, float | None]) -> bool:
    """Whether p90 rose, or a figure of the ranks fell or is gone."""
    for name in FIGURES:
        before, after = whole[name], figures[name]
        if before is None:
            continue
        if after is None or (after > before if name.startswith("p90") else after < before):
            return True
    return False
