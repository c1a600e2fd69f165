"""`Targets`: what this design must reach when it is accepted, each limit with the reason it follows from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["at_least", "at_most", "equal", "zero", "bounded", "ignored", "window"]


@dataclass(frozen=True, slots=True)
class Target:
    """One limit.

    `id` is dotted and stable (`busbw.all_reduce.all`), `kind` says how `value` limits (`window` uses `value` and
    `upper`), `unit` is a base unit, `test` the command or counter that measures it, `formula` and `source` where it
    comes from.
    """

    id: str
    kind: Kind
    value: float | int | None
    unit: str
    test: str
    because: str
    formula: str = ""
    source: str = "derived"
    upper: float | None = None

    def as_json(self) -> dict[str, Any]:
        """The target in the shape of the command line's contract."""
        return {
            "id": self.id,
            "kind": self.kind,
            "value": self.value,
            "upper": self.upper,
            "unit": self.unit,
            "test": self.test,
            "because": self.because,
            "formula": self.formula,
            "source": self.source,
        }


@dataclass(frozen=True, slots=True)
class Targets:
    """Every limit of a design, in the order in which an acceptance engineer meets them."""

    rows: tuple[Target, ...] = ()

    def get(self, target_id: str) -> Target | None:
        """The target of that id, or None."""
        return next((row for row in self.rows if row.id == target_id), None)

    def as_json(self) -> list[dict[str, Any]]:
        """Every target, in order."""
        return [row.as_json() for row in self.rows]
