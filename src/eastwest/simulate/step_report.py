"""What a simulated step says: its time, the communication that computation does not hide by class, and the idle share
of the GPUs.

Every cell's time is computation, waiting while a transfer that it waits for is on its way (exposed, by the class of
what came last), or waiting for others that still compute (bubble); the three add up to the step. Figures are means over
all GPUs. What a gradient exchange shows counts from the first bucket of its stage on, waiting for slower replicas
included.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass

import numpy as np

from eastwest.simulate.messages import Messages
from eastwest.simulate.network import Ints
from eastwest.simulate.routes import ranges
from eastwest.simulate.step_rows import TRAFFICS, Part, StepRows
from eastwest.units import PS_PER_S

MOST_CELLS = 16  # of the timeline, spread over all


@dataclass(frozen=True, slots=True)
class Stretch:
    """What a cell does, seconds from the step's begin: `compute`, a class of traffic that shows, `bubble`."""

    cell: int
    part: str
    begin_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class StepReport:
    """Seconds of one step; `exposed_s` by class of traffic (tp, cp, ep, pp, dp), means over the GPUs."""

    step_s: float
    compute_s: float
    bubble_s: float
    exposed_s: Mapping[str, float]
    facts: Mapping[str, str | int]
    timeline: tuple[Stretch, ...] = ()

    @property
    def idle_ratio(self) -> float:
        """Share of the step in which a GPU does not compute."""
        return 1 - self.compute_s / self.step_s if self.step_s else 0.0

    def as_json(self) -> dict[str, object]:
        """The report in JSON's types."""
        return {
            **self.facts,
            "step_s": self.step_s,
            "compute_s": self.compute_s,
            "bubble_s": self.bubble_s,
            "exposed_s": dict(self.exposed_s),
            "idle_ratio": self.idle_ratio,
            "timeline": [asdict(stretch) for stretch in self.timeline],
        }


def step_report(rows: StepRows, messages: Messages, start_ps: Ints, end_ps: Ints) -> StepReport:
    """The report of a step whose messages (of one scenario, all traffics) started and ended at these times."""
    mine = slice(rows.first, rows.first + len(rows))
    start, end = start_ps[mine], end_ps[mine]
    compute = np.flatnonzero(rows.part == Part.COMPUTE).astype(np.int64)
    compute = compute[np.lexsort((compute, start[compute], rows.cell[compute]))]
    begin, cell = start[compute] - rows.delay_ps[compute], rows.cell[compute]
    opening = _opening_ps(rows, messages, start)
    is_first = np.r_[True, cell[1:] != cell[:-1]]
    before = np.where(is_first, opening, np.r_[opening, end[compute][:-1]])
    last = _last_parent(messages, rows.first, compute + rows.first, end_ps)
    since = np.where(last >= 0, start[rows.since[last]], begin)
    waited = np.maximum(begin - before, 0)
    shown = np.minimum(np.maximum(begin - np.maximum(before, since), 0), waited)
    part = np.where(last >= 0, rows.part[last], Part.MARK)
    step, computed = int(end.max()) - opening, int(rows.delay_ps[compute].sum())
    exposed = {one.name.lower(): int(shown[part == one].sum()) for one in TRAFFICS}
    bubble = step * rows.n_cells - computed - sum(exposed.values())
    unit = rows.n_cells * PS_PER_S
    mean = {name: total / unit for name, total in exposed.items()}
    chosen = np.linspace(0, rows.n_cells - 1, min(rows.n_cells, MOST_CELLS)).astype(np.int64)
    seen = np.flatnonzero(np.isin(cell, chosen))
    columns = (cell, before, begin, end[compute], shown, part)
    timeline = tuple(_stretches(opening, *(column[seen].tolist() for column in columns)))
    return StepReport(step / PS_PER_S, computed / unit, bubble / unit, mean, rows.facts, timeline)


def _stretches(opening: int, *columns: list[int]) -> Iterator[Stretch]:
    """For each computation the wait before it, of which the last part shows its traffic, and itself."""
    for cell, before, begin, end, shown, part in zip(*columns, strict=True):
        middle = begin - shown
        pieces = (("bubble", before, middle), (Part(part).name.lower(), middle, begin), ("compute", begin, end))
        for name, first, last in pieces:
            if last > first:
                yield Stretch(cell, name, (first - opening) / PS_PER_S, (last - opening) / PS_PER_S)


def _opening_ps(rows: StepRows, messages: Messages, start_ps: Ints) -> int:
    """When the step begins: the first row that waits for nothing, before its own delay."""
    n_parents = np.diff(messages.parent_first[rows.first : rows.first + len(rows) + 1])
    free = n_parents == 0
    return int((start_ps[free] - rows.delay_ps[free]).min())


def _last_parent(messages: Messages, first: int, wanted: Ints, end_ps: Ints) -> Ints:
    """(n,) the parent of each message that ended last, counted from `first`; -1 without any."""
    begins = messages.parent_first[wanted]
    counts = messages.parent_first[wanted + 1] - begins
    parents = messages.parents[ranges(begins, counts)]
    child = np.repeat(np.arange(len(wanted), dtype=np.int64), counts)
    order = np.lexsort((end_ps[parents], child))
    has_any = counts > 0
    found = np.full(len(wanted), -1, np.int64)
    found[has_any] = parents[order[np.cumsum(counts)[has_any] - 1]] - first
    return found
