"""The rows of a table of published effects, and the change that a row publishes: condition over baseline, as a factor.

A factor above 1 is better (more throughput, less time) under the condition. Strings are read as they are printed:
`>95` and `up to 57` are bounds, `6-83` and `3x-6x` ranges, `near 0` is below a tenth.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from eastwest.errors import InputError
from eastwest.plan.designs.source import flaws_found, read_yaml
from eastwest.plan.designs.written import text_of
from eastwest.plan.validation.collectives_table import LONGEST_TEXT, collective_source
from eastwest.spec.document import Flaw
from eastwest.spec.mistakes import shown

PERCENT = 100.0
NEAR_ZERO = 0.1
LARGEST = 1e12
CLASS_BOUNDS = (1.05, 1.25, 2.0, 10.0)  # factors between the size classes
CLASSES = ("none", "small", "medium", "large", "huge")
_NUMBER = r"(\d[\d,_]*\.?\d*(?:[eE][-+]?\d{1,3})?|\.\d+)"
_RANGE = re.compile(rf"{_NUMBER}\s*x?\s*(?:-|–|to)\s*{_NUMBER}\s*[x×%]?")
_ONE = re.compile(rf"(?P<sign>>=?|<=?|≥|≤|up to|about|~|over|more than)?\s*{_NUMBER}\s*[x×%]?(?=\s|$|[,;()])", re.I)


class Untold(StrEnum):
    """Why an effect is not judged: a fixed list; the value is the code of its sentence."""

    flow_engine = "EW-VAL-300"
    packet_engine = "EW-VAL-301"
    condition_not_given = "EW-VAL-302"
    no_figure = "EW-VAL-303"
    training_table = "EW-VAL-304"
    outside = "EW-VAL-305"


@dataclass(frozen=True, slots=True)
class Span:
    """A value between two bounds, `low` <= `high`; equal when the source prints one figure."""

    low: float
    high: float

    def over(self, other: Span) -> Span:
        """This over another."""
        return Span(self.low / other.high if other.high else math.inf, self.high / other.low if other.low else math.inf)

    @property
    def middle(self) -> float:
        """One figure for people: the geometric mean, a bound where the other end is open."""
        if self.low <= 0 or math.isinf(self.high):
            return self.low if math.isinf(self.high) else self.high
        return math.sqrt(self.low * self.high)


@dataclass(frozen=True, slots=True)
class EffectRow:
    """One row as written: condition, baseline and effect are mappings, empty when missing."""

    id: str
    number: int
    line: int | None
    category: str
    condition: Mapping[str, Any]
    baseline: Mapping[str, Any]
    effect: Mapping[str, Any]
    source: str

    def words(self) -> str:
        """The texts of condition and baseline, to be searched."""
        parts = [*self.condition.items(), *self.baseline.items()]
        return " ".join(f"{key} {value}"[:LONGEST_TEXT] for key, value in parts)


def read_effects(text: str, source: str) -> tuple[EffectRow, ...]:
    """Every row of a table. Raises InputError, with lines, when the text is no such table."""
    document = read_yaml(text, source)
    rows = document.data.get("rows")
    if not isinstance(rows, list) or not rows:
        flaw = Flaw("EW-VAL-306", None if "rows" in document.data else 1, ("rows",), {"found": shown(rows)})
        raise InputError(flaws_found([flaw], source, document))
    flaws = [
        Flaw("EW-VAL-307", None, ("rows", index), {"number": index + 1, "found": shown(row)})
        for index, row in enumerate(rows)
        if not isinstance(row, dict)
    ]
    if flaws:
        raise InputError(flaws_found(flaws, source, document))
    return tuple(_row(index, row, document.line_numbers.get(("rows", index))) for index, row in enumerate(rows))


def _row(index: int, row: Mapping[str, Any], line: int | None) -> EffectRow:
    parts = {key: row[key] if isinstance(row.get(key), dict) else {} for key in ("condition", "baseline", "effect")}
    kept = {key: {str(k): v for k, v in part.items() if v is not None} for key, part in parts.items()}
    words = {key: "" if isinstance(row.get(key), dict | list) else text_of(row.get(key)) for key in _TEXTS}
    return EffectRow(
        id=words["id"] or f"row {index + 1}",
        number=index + 1,
        line=line,
        category=words["category"].lower() or "other",
        condition=kept["condition"],
        baseline=kept["baseline"],
        effect=kept["effect"],
        source=collective_source(words["source"]),
    )


_TEXTS = ("id", "category", "source")


def span_of(value: Any) -> Span | None:
    """The bounds that a value prints; None when it holds no number.

    >>> span_of("6-83"), span_of(">95"), span_of("up to 1.8x")
    (Span(low=6.0, high=83.0), Span(low=95.0, high=inf), Span(low=0.0, high=1.8))
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return Span(float(value), float(value)) if 0 <= value <= LARGEST else None
    text = str(value)[:LONGEST_TEXT].strip() if isinstance(value, str) else ""
    if re.search(r"near (?:0|zero)", text, re.I):
        return Span(0.0, NEAR_ZERO)
    between = _RANGE.fullmatch(text)
    if between:
        low, high = sorted((_float(between[1]), _float(between[2])))
        return Span(low, high) if high <= LARGEST else None
    one = _ONE.match(text)
    if not one or not 0 <= _float(one[2]) <= LARGEST:
        return None
    return _bounded((one["sign"] or "").lower(), _float(one[2]))


def _float(text: str) -> float:
    return float(re.sub(r"[,_]", "", text))


def _bounded(sign: str, value: float) -> Span:
    if sign in (">", ">=", "≥", "over", "more than"):
        return Span(value, math.inf)
    return Span(0.0, value) if sign in ("<", "<=", "≤", "up to") else Span(value, value)


# suffixes of two keys: the first is the condition, the second what it is compared with
_PAIRS = (("after", "before"), ("to", "from"), ("tcp", "rdma"), ("small", "large"), ("on", "off"), ("cold", "warm"))
_LESS_IS_BETTER = re.compile(r"time|latency|fct|_us\b|_us_|_ms\b|iter_|p99|overhead")


def published_factor(row: EffectRow) -> Span | None:
    """The change that a row publishes, as a factor; None when its effect holds no figure that compares."""
    for found in (_paired(row.effect), _against_baseline(row), _stated(row.effect)):
        if found is not None and math.isfinite(found.low):
            return found
    return None


def _paired(effect: Mapping[str, Any]) -> Span | None:
    """Two keys of one quantity under condition and baseline: `busbw_gbps_before`, `busbw_gbps_after`."""
    for one, other in _PAIRS:
        for key, value in effect.items():
            twin = re.sub(rf"(?<![a-z]){one}(?![a-z])", other, key)
            mine, theirs = span_of(value), span_of(effect.get(twin)) if twin != key else None
            if mine is not None and theirs is not None:
                return theirs.over(mine) if _LESS_IS_BETTER.search(key) else mine.over(theirs)
    numbered = [
        (int(m[1]), span_of(value)) for key, value in effect.items() if (m := re.search(r"_(\d{3,5})_pct$", key))
    ]
    known = [span for _, span in sorted(numbered, key=lambda item: -item[0]) if span is not None]
    return known[0].over(known[1]) if len(known) == 2 else None


def _against_baseline(row: EffectRow) -> Span | None:
    """A figure of the effect over the baseline's: `achieved_GBps` over `spec_GBps`, `busbw_GBps` over `expected_GBps`.

    Also one key on both sides.
    """
    for key, value in row.effect.items():
        unit = key.rsplit("_", 1)[-1]
        for other, printed in row.baseline.items():
            if other != key and other.endswith(f"_{unit}") and re.match(r"spec|expected|capacity|nominal", other):
                mine, theirs = span_of(value), span_of(printed)
                if mine and theirs and theirs.low > 0:
                    return mine.over(theirs)
        mine, theirs = span_of(value), span_of(row.baseline.get(key))
        if mine and theirs and theirs.low > 0 and mine.low > 0:
            return theirs.over(mine) if _LESS_IS_BETTER.search(key) else mine.over(theirs)
    return None


def _stated(effect: Mapping[str, Any]) -> Span | None:
    """A change stated outright: a gain, a loss, a share, a ratio."""
    return next(_stated_changes(effect), None)


def _stated_changes(effect: Mapping[str, Any]) -> Iterator[Span]:
    for key, value in effect.items():
        span = span_of(value)
        if span is None:
            continue
        if re.search(r"relative_throughput_pct|utilisation_pct|utilization_pct|goodput_pct", key):
            yield Span(span.low / PERCENT, min(1.0, span.high / PERCENT))
        elif re.search(r"goodput_(fraction|ratio)|goodput_gbps", key):
            yield Span(span.low, min(1.0, span.high))
        elif re.search(r"slowdown$", key):
            yield Span(1 / span.high if span.high else 0.0, 1 / span.low if span.low else math.inf)
        elif re.search(r"(gain|improvement)_pct", key):
            yield Span(1 + span.low / PERCENT, 1 + span.high / PERCENT)
        elif re.search(r"(degradation|below_ideal|loss)_pct", key):
            yield Span(max(0.0, 1 - span.high / PERCENT), max(0.0, 1 - span.low / PERCENT))
        elif re.search(r"overhead_pct$|increase_pct$", key):
            yield Span(1 / (1 + span.high / PERCENT), 1 / (1 + span.low / PERCENT))
        elif re.search(r"ratio$|speed_?up$", key):
            yield span


def size_class(factor: float) -> int:
    """Index into CLASSES of a change, whichever its direction.

    >>> [CLASSES[size_class(f)] for f in (1.01, 0.6, 59.4)]
    ['none', 'medium', 'huge']
    """
    change = math.inf if factor <= 0 else max(factor, 1 / factor)
    return sum(change >= bound for bound in CLASS_BOUNDS)


def direction(factor: float) -> int:
    """1 better, -1 worse, 0 no change to speak of."""
    if size_class(factor) == 0:
        return 0
    return 1 if factor > 1 else -1
