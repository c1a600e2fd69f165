"""What a text says about a network: numbers by name, lines of parts, and the line of the user's text behind each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from eastwest.finding import Evidence
from eastwest.units import M_PER_KM

ROUNDING = 0.01  # relative: a printed ratio such as 1.67:1 against 5:3
MOST_DIGITS = 12  # characters of a length that are read; an endless number is no length
_LENGTH = re.compile(r"(\d+(?:\.\d+)?)\s*(km|m|米)(?![A-Za-z\d])")
_CODED = re.compile(r"\bM[CF][APS]\d[A-Z]\d\d-[A-Z](\d\d)([\dA])\b")  # NVIDIA order numbers: -N002 is 2 m, -N01A 1.5 m
HALF_M = 0.5


def length_in_m(text: str) -> float | None:
    """Metres of the first length that a text names; None when it names none.

    >>> length_in_m("MPO-12 fibre 1.5 km, OS2"), length_in_m("DAC")
    (1500.0, None)
    >>> length_in_m("MCP7Y00-N002"), length_in_m("MCP4Y10-N01A")
    (2.0, 1.5)
    """
    coded = _CODED.search(text)
    if coded:
        return float(coded[1]) + HALF_M if coded[2] == "A" else float(coded[1] + coded[2])
    match = _LENGTH.search(text)
    return float(match[1][:MOST_DIGITS]) * (M_PER_KM if match[2] == "km" else 1.0) if match else None


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
    is_end: bool = False  # one end of a link that its line describes with both
    ends: tuple[tuple[str, str], ...] = ()  # device and port at each end of a cable
    others: tuple[str, ...] = ()  # quantities of further columns that differ from the first


@dataclass(frozen=True, slots=True)
class Unused:
    """A number of the text that counts nothing known, and its line."""

    text: str
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Clash:
    """One quantity with two values: neither can be used."""

    name: str
    first: Fact
    other: Fact


@dataclass(frozen=True)
class Sheet:
    """Everything read from one text. A number that has two values is in `clashes`, not in `facts`.

    Names are those of `plan.checking.phrases`: `leaves`, `leaf_down` (ports of a leaf), `leaf_down_bps` (of a port).
    """

    source: str
    facts: Mapping[str, Fact] = field(default_factory=dict)
    parts: tuple[PartLine, ...] = ()
    unknown: tuple[Evidence, ...] = ()
    unused: tuple[Unused, ...] = ()
    clashes: tuple[Clash, ...] = ()

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
        return tuple(sorted(dict.fromkeys(lines), key=lambda line: line.line or 0))


@dataclass(slots=True)
class Reading:
    """A sheet in the making: facts as they come, line by line."""

    source: str
    facts: dict[str, Fact] = field(default_factory=dict)
    parts: list[PartLine] = field(default_factory=list)
    unknown: list[Evidence] = field(default_factory=list)
    unused: list[Unused] = field(default_factory=list)
    clashes: dict[str, Clash] = field(default_factory=dict)

    def add(self, name: str, value: Any, evidence: Evidence) -> None:
        """One more number; of words and rates the first counts, a second value of a count is a clash."""
        fact = Fact(name, value, evidence)
        known = self.facts.setdefault(name, fact)
        is_count = isinstance(value, int | float) and not name.endswith(("_bps", "_bytes", "_per_s"))
        if is_count and known.value != value and not _is_rounded(known.value, value):
            self.clashes.setdefault(name, Clash(name, known, fact))

    def break_out(self, tier: str) -> None:
        """The ports of a tier's switch as what they are broken out into, where the text says so beside them."""
        split, ports, rate = (self.facts.get(name) for name in (f"{tier}_split", f"{tier}_ports", f"{tier}_ports_bps"))
        if split is None or ports is None or rate is None:
            return
        del self.facts[split.name]
        self.facts[ports.name] = replace(ports, value=ports.value * split.value)
        self.facts[rate.name] = replace(rate, value=rate.value // split.value)

    def sheet(self) -> Sheet:
        """All that was read, without the numbers that have two values."""
        facts = {name: fact for name, fact in self.facts.items() if name not in self.clashes}
        parts, unknown, unused = tuple(self.parts), tuple(self.unknown), tuple(self.unused)
        return Sheet(self.source, facts, parts, unknown, unused, tuple(self.clashes.values()))


def _is_rounded(one: Any, other: Any) -> bool:
    """Whether two ratios are one, written with different digits."""
    return isinstance(one, float) and abs(one - other) <= ROUNDING * one
