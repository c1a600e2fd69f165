"""What a text says about a network: numbers by name, lines of parts, and the line of the user's text behind each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eastwest.finding import Evidence


@dataclass(frozen=True, slots=True)
class Fact:
    """One number or word that the text gives, with the line that gives it."""

    name: str
    value: Any
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class PartLine:
    """One line of a bill or optics list: its text, pieces (None when not said), metres (None when not said)."""

    label: str
    text: str
    quantity: int | None
    length_m: float | None
    evidence: Evidence
    is_spare: bool = False


@dataclass(frozen=True)
class Sheet:
    """Everything read from one text; of a number that is given twice the first counts.

    Names are those of `plan.checking.words`: `leaves`, `leaf_down` (ports of one leaf), `leaf_down_bps` (of one port).
    """

    source: str
    facts: Mapping[str, Fact] = field(default_factory=dict)
    parts: tuple[PartLine, ...] = ()
    unknown: tuple[Evidence, ...] = ()

    def whole(self, name: str) -> int | None:
        """A count or rate by name; None when the text does not give it."""
        fact = self.facts.get(name)
        return fact.value if fact is not None and isinstance(fact.value, int) else None

    def ratio(self, name: str) -> float | None:
        """Down:up by name."""
        fact = self.facts.get(name)
        return float(fact.value) if fact is not None and isinstance(fact.value, int | float) else None

    def text(self, name: str) -> str:
        """Words by name; "" when the text does not give them."""
        fact = self.facts.get(name)
        return str(fact.value) if fact is not None else ""

    def evidence(self, *names: str) -> tuple[Evidence, ...]:
        """The user's lines behind some numbers, each line once."""
        lines = [self.facts[name].evidence for name in names if name in self.facts]
        return tuple(dict.fromkeys(lines))


def merge(first: Mapping[str, Fact], more: Mapping[str, Fact]) -> dict[str, Fact]:
    """Facts of two readings; of a number that both give the first counts."""
    return {**more, **first}
