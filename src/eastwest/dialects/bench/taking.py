"""Lines given one after the other to what reads them: which were understood, which were not, and whether the text ends
within a line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from eastwest.dialects.lines import Line, lines_of
from eastwest.dialects.readings import Benchmark, Readings
from eastwest.finding import Evidence


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a text's lines: `unknown` as evidence, numbers of those `understood`, `is_cut` whether the last
    one has no end.
    """

    unknown: tuple[Evidence, ...]
    understood: frozenset[int]
    is_cut: bool

    def readings(self, benchmarks: tuple[Benchmark, ...], hosts: tuple[str, ...] = ()) -> Readings:
        """The readings of one reader."""
        return Readings(benchmarks, hosts=hosts, unknown=self.unknown, understood=self.understood)


def take_lines(text: str, source: str, take: Callable[[Line], bool]) -> Taken:
    """Give every line that is not blank to `take`, which tells whether it understood it.

    >>> take_lines("# a table\\nsurprise", "-", lambda line: line.text.startswith("#")).understood
    frozenset({1})
    """
    lines = lines_of(text)
    unknown: list[Evidence] = []
    understood: set[int] = set()
    for line in lines:
        if not line.text.strip():
            continue
        if take(line):
            understood.add(line.number)
        else:
            unknown.append(line.evidence(source))
    return Taken(tuple(unknown), frozenset(understood), bool(lines) and not lines[-1].is_ended)
