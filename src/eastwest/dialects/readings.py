"""`Readings`: what one text says in the product's own nouns, whatever tool or device wrote it.

A reader (`dialects/<speaker>/<format>.py`) has `detect(text) -> bool` and `read(text, source) -> Readings`; readings of
several readers of one text are joined by `dialects.sniff`. Every value keeps the line that it was read from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, Protocol

from eastwest.counters import Event, Observation
from eastwest.finding import Evidence

BenchmarkKind = Literal["collective", "pair", "system"]


class Reader(Protocol):
    """One text format: whether a text has it, and what it says."""

    @property
    def detect(self) -> _Detect:
        """Whether the text holds this format."""

    @property
    def read(self) -> _Read:
        """The readings of the text."""


class _Detect(Protocol):
    def __call__(self, text: str) -> bool: ...


class _Read(Protocol):
    def __call__(self, text: str, source: str = "-") -> Readings: ...


@dataclass(frozen=True, slots=True)
class Side:
    """One block of a row: out of place or in place.

    `time_s` seconds of one operation, `algbw_bytes_per_s` size over time, `busbw_bytes_per_s` the bus bandwidth
    (nccl-tests) or the average bandwidth (perftest, OSU), `wrong` elements that came out wrong; None where the text
    has none.
    """

    time_s: float | None = None
    algbw_bytes_per_s: float | None = None
    busbw_bytes_per_s: float | None = None
    wrong: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One measured row of a table.

    `size_bytes` message size (None when a sentence gives none), `count` elements that each rank holds (nccl-tests),
    `element_bytes` size of one, `nodes` a count of servers printed beside the row, `in_place` the second block,
    `statistics` further printed columns by name (seconds, bytes per second or a ratio), `line` the row as found.
    """

    size_bytes: int | None
    out: Side
    line: Evidence
    in_place: Side | None = None
    count: int | None = None
    element_bytes: int | None = None
    nodes: int | None = None
    name: str = ""
    statistics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unread:
    """A line that holds a row or a figure that cannot be read: `size_bytes` of the row (None for a sentence),
    `is_nonsense` whether its columns are whole and hold what no run prints (nan, a negative time).
    """

    size_bytes: int | None
    line: Evidence
    is_nonsense: bool = True


@dataclass(frozen=True, slots=True)
class Rank:
    """One process of a job: `device` number on its host, `bus` its PCI address, `gpu` the name as printed."""

    number: int
    host: str
    device: int
    gpu: str
    line: Evidence
    process: int | None = None
    bus: str = ""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One run of a benchmark tool as far as the text shows it.

    `tool` nccl-tests, perftest, osu, gpcnet or prose; `test` the collective or test ("" when the text does not say),
    `candidates` the collectives that the columns leave open; `banners` the lines that open a job (two of them: two
    jobs), `settings` what the banner says, by name; `out_of_bounds` and `average_bytes_per_s` from the footer; `errors`
    lines that say that it broke off; `cut` what of it is missing (head, tail, rows, columns); `unread` rows and figures
    that cannot be read.
    """

    tool: str
    test: str
    kind: BenchmarkKind
    rows: tuple[Row, ...] = ()
    ranks: tuple[Rank, ...] = ()
    banners: tuple[Evidence, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    candidates: tuple[str, ...] = ()
    out_of_bounds: int | None = None
    average_bytes_per_s: float | None = None
    is_below_own_minimum: bool = False
    errors: tuple[Evidence, ...] = ()
    cut: tuple[str, ...] = ()
    footer: tuple[Evidence, ...] = ()
    unread: tuple[Unread, ...] = ()


@dataclass(frozen=True, slots=True)
class Setting:
    """One value that a text states about the system: `name` as in `accept.facts`, `value` in base units."""

    name: str
    value: str
    line: Evidence


@dataclass(frozen=True, slots=True)
class Readings:
    """Everything that one text says: benchmarks, settings, observations, events, the hosts it names, and the lines
    that no reader understood.
    """

    benchmarks: tuple[Benchmark, ...] = ()
    settings: tuple[Setting, ...] = ()
    observations: tuple[Observation, ...] = ()
    events: tuple[Event, ...] = ()
    hosts: tuple[str, ...] = ()
    unknown: tuple[Evidence, ...] = ()
    understood: frozenset[int] = frozenset()  # numbers of the lines that were understood

    def joined(self, other: Readings) -> Readings:
        """Readings of the same text by two readers: a line is unknown when neither understood it."""
        understood = self.understood | other.understood
        unknown = {line.line: line for line in (*self.unknown, *other.unknown) if line.line not in understood}
        both = {
            item.name: (*getattr(self, item.name), *getattr(other, item.name))
            for item in fields(self)
            if item.name not in ("unknown", "understood")
        }
        return Readings(
            **both, unknown=tuple(sorted(unknown.values(), key=lambda line: line.line or 0)), understood=understood
        )
