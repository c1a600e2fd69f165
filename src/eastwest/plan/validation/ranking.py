"""Whether the best layout is found: rank correlation, order of pairs and regret over tables of a layout search.

A table is the rows of one section of one source with the same model size, GPUs and batch, three rows at least. The
pooled Spearman is that of all times of all tables; the stricter one beside it pools ranks inside their own table, so
that knowing which table is slow is worth nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eastwest.plan.validation.cases import TrainingCase
from eastwest.plan.validation.metrics import correlation, order_of_pairs, ranks, regret, spearman

LEAST_ROWS = 3
TELLING_RATIO = 0.03  # pairs closer than this are within the noise of a run
REGRET_RATIO = 0.05
TARGETS = {"spearman": 0.85, "pair_order_ratio": 0.85, "low_regret_ratio": 0.80}


@dataclass(frozen=True, slots=True)
class Table:
    """One table: what its rows share, and their indices."""

    section: str
    params_b: float
    gpus: int
    global_batch: int
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Figures over all tables: Spearman of all times and of ranks inside tables; `regrets` one for each table (slower
    than the best by that share).
    """

    tables: tuple[Table, ...]
    spearman: float | None
    spearman_inside_tables: float | None
    pairs_right: int
    pairs: int
    regrets: tuple[float, ...]

    def as_json(self) -> dict[str, Any]:
        """The figures beside their targets."""
        low = sum(value <= REGRET_RATIO for value in self.regrets)
        return {
            "tables": len(self.tables),
            "rows": sum(len(table.rows) for table in self.tables),
            "spearman": self.spearman,
            "spearman_inside_tables": self.spearman_inside_tables,
            "pairs": self.pairs,
            "pair_order_ratio": self.pairs_right / self.pairs if self.pairs else None,
            "low_regret_ratio": low / len(self.regrets) if self.regrets else None,
            "regret_ratios": list(self.regrets),
            "targets": TARGETS,
        }


def tables_of(cases: Sequence[TrainingCase]) -> tuple[Table, ...]:
    """The tables of a layout search among the cases; indices are those of `cases`."""
    groups: dict[tuple[str, str, float, int, int], list[int]] = {}
    for index, case in enumerate(cases):
        section, size = case.row.text("section"), case.row.data.get("params_b")
        if section and size and case.run is not None and not case.is_suspect:
            key = (case.source, section, float(size), case.run.gpus, case.run.global_batch)
            groups.setdefault(key, []).append(index)
    return tuple(Table(*key[1:], tuple(rows)) for key, rows in groups.items() if len(rows) >= LEAST_ROWS)


def rank(tables: Sequence[Table], predicted: NDArray[np.float64], measured: NDArray[np.float64]) -> Ranking:
    """How the predicted order agrees with the measured one."""
    n_right = n_pairs = 0
    regrets, guessed, true = [], [np.empty(0)], [np.empty(0)]
    for table in tables:
        rows = list(table.rows)
        guess, truth = predicted[rows], measured[rows]
        right, pairs = order_of_pairs(guess, truth, TELLING_RATIO)
        n_right, n_pairs = n_right + right, n_pairs + pairs
        regrets.append(regret(guess, truth))
        guessed.append(_centred(guess))
        true.append(_centred(truth))
    every = [row for table in tables for row in table.rows]
    inside = correlation(np.concatenate(guessed), np.concatenate(true))
    pooled = spearman(predicted[every], measured[every])
    return Ranking(tuple(tables), pooled, inside, n_right, n_pairs, tuple(regrets))


def _centred(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks of a table's times, from -(n - 1) / 2 to (n - 1) / 2."""
    return ranks(times) - (len(times) + 1) / 2
