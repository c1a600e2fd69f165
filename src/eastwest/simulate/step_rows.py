"""`StepRows`: what each message of a step stands for, beside the messages; and the draft that both grow in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.messages import Messages, Way
from eastwest.simulate.network import Ints

_NO_CELL = -1


class Part(IntEnum):
    """What a row is: a computation, a mark that others wait for, or the traffic of one parallel dimension."""

    COMPUTE = 0
    MARK = 1
    TP = 2
    CP = 3
    EP = 4
    PP = 5
    DP = 6


TRAFFICS = (Part.TP, Part.CP, Part.EP, Part.PP, Part.DP)


@dataclass(frozen=True, eq=False)
class StepRows:
    """(n,) columns beside the messages of one step: `part` (Part), `delay_ps` that a row waits after its parents (the
    computation itself), `cell` that computes (-1: none), `since` the row whose start is when the traffic of a row
    began.

    The rows stand from `first` on among all messages, those of traffic `number`; `facts` say what ran.
    """

    part: NDArray[np.int8]
    delay_ps: Ints
    cell: Ints
    since: Ints
    n_cells: int
    facts: Mapping[str, str | int]
    number: int = 0
    first: int = 0

    def __len__(self) -> int:
        return len(self.part)


class StepDraft:
    """A step's rows while they are made."""

    def __init__(self) -> None:
        self._columns: list[tuple[Ints, ...]] = []
        self._edges: list[tuple[Ints, Ints]] = []
        self._n = 0

    def __len__(self) -> int:
        return self._n

    def marks(
        self, hosts: Ints, part: Part, delay_ps: int = 0, cells: Ints | int = _NO_CELL, since: Ints | int | None = None
    ) -> Ints:
        """(n,) new rows of no bytes at hosts (n,)."""
        return self.flows(hosts, hosts, 0, part, delay_ps=delay_ps, cells=cells, since=since, way=Way.STAYS)

    def flows(
        self,
        src: Ints,
        dst: Ints,
        size_bytes: Ints | int,
        part: Part,
        *,
        channel: Ints | int = 0,
        delay_ps: int = 0,
        cells: Ints | int = _NO_CELL,
        since: Ints | int | None = None,
        way: Way = Way.THROUGH,
    ) -> Ints:
        """(n,) new rows between hosts (n,)."""
        n = len(src)
        rows = np.arange(self._n, self._n + n, dtype=np.int64)
        values = (src, dst, size_bytes, part, channel, delay_ps, cells, rows if since is None else since, way)
        self._columns.append(tuple(np.broadcast_to(np.asarray(value, np.int64), n) for value in values))
        self._n += n
        return rows

    def wait(self, children: Ints, parents: Ints) -> None:
        """Each child row waits for the parent beside it; one of either side stands for many."""
        pair = np.broadcast_arrays(children, parents)
        self._edges.append((pair[0].ravel(), pair[1].ravel()))

    def wait_all(self, child: Ints, parents: Ints) -> None:
        """Every child waits for all parents."""
        self.wait(np.repeat(child, len(parents)), np.tile(parents, len(child)))

    def made(self, n_cells: int, facts: Mapping[str, str | int]) -> tuple[Messages, StepRows]:
        """The messages with their parents; a row that waits for nothing starts after its own delay."""
        src, dst, size, part, channel, delay, cell, since, way = (
            np.concatenate(column) for column in zip(*self._columns, strict=True)
        )
        children, parents = (np.concatenate(side) for side in zip(*self._edges, strict=True))
        order = np.argsort(children, kind="stable")
        first = np.searchsorted(children[order], np.arange(self._n + 1)).astype(np.int64)
        start = np.where(np.diff(first) == 0, delay, 0)
        narrow = part.astype(np.int8)
        rows = StepRows(narrow, delay, cell, since, n_cells, facts)
        return Messages(src, dst, size, start, channel, way.astype(np.int8), first, parents[order], delay), rows
