"""`Decision`: one chosen value that can defend itself: formula, inputs, source, and what was rejected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Alternative:
    """A value that was not chosen, and why."""

    value: Any
    rejected_because: str


@dataclass(frozen=True, slots=True)
class Decision:
    """One chosen value.

    `id` is dotted and stable (`fabric.leaf.uplinks`, `policy.ecn.kmax`), `because` one sentence, `formula` with names
    that `inputs` holds, `source` a document, a standard's section, the site file's line, or "derived".
    """

    id: str
    value: Any
    unit: str
    because: str
    formula: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    source: str = "derived"
    alternatives: tuple[Alternative, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The decision in the shape of the command line's contract."""
        return {
            "id": self.id,
            "value": self.value,
            "unit": self.unit,
            "because": self.because,
            "formula": self.formula,
            "inputs": dict(self.inputs),
            "source": self.source,
            "alternatives": [{"value": a.value, "rejected_because": a.rejected_because} for a in self.alternatives],
        }
