"""Mistakes in the tables of a run, found before it starts and named by index."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from eastwest.errors import UsageError
from eastwest.simulate.compiled import kernel_that_allocates
from eastwest.simulate.flow.tables import (
    EventKind,
    EventTable,
    FlowTable,
    Int32,
    Int64,
    LinkTable,
    PathTable,
)

LONGEST_CYCLE_SHOWN = 8  # flows of a cycle that the message names


@kernel_that_allocates
def unreached(parent_offsets: Int64, child_offsets: Int64, children: Int32) -> NDArray[np.bool_]:
    """Which flows can never start because they wait in a circle or behind one, (n_flows,)."""
    n_flows = len(parent_offsets) - 1
    n_pending = parent_offsets[1:] - parent_offsets[:-1]
    ready = np.empty(n_flows, np.int64)
    n_ready = 0
    for flow in range(n_flows):
        if n_pending[flow] == 0:
            ready[n_ready] = flow
            n_ready += 1
    done = 0
    while done < n_ready:
        for row in range(child_offsets[ready[done]], child_offsets[ready[done] + 1]):
            child = children[row]
            n_pending[child] -= 1
            if n_pending[child] == 0:
                ready[n_ready] = child
                n_ready += 1
        done += 1
    return n_pending > 0


def circle(flows: FlowTable, is_stuck: NDArray[np.bool_]) -> list[int]:
    """Flows that wait for each other, each for the next and the last for the first; one circle of those stuck."""
    flow, seen = int(np.flatnonzero(is_stuck)[0]), dict[int, int]()
    while flow not in seen:
        seen[flow] = len(seen)
        parents = flows.parents[flows.parent_offsets[flow] : flows.parent_offsets[flow + 1]]
        flow = int(parents[is_stuck[parents]][0])
    return list(seen)[seen[flow] :]


def check_order(flows: FlowTable, child_offsets: Int64, children: Int32) -> None:
    """Raises UsageError when flows wait in a circle: it names one circle by flow index."""
    own = np.repeat(np.arange(flows.n_flows), np.diff(flows.parent_offsets))
    if (flows.parents < own).all():  # everyone waits for earlier rows only
        return
    is_stuck = unreached(flows.parent_offsets, child_offsets, children)
    if is_stuck.any():
        found = circle(flows, is_stuck)
        shown = " → ".join(str(flow) for flow in [*found[:LONGEST_CYCLE_SHOWN], *(["…"] if len(found) > 8 else [])])
        raise UsageError(
            f"flows wait for each other in a circle of {len(found)}: {shown} → {found[0]}; "
            f"{int(is_stuck.sum())} flows would never start",
            hint="remove one of these dependencies",
        )


def check_tables(links: LinkTable, paths: PathTable, flows: FlowTable, events: EventTable) -> None:
    """Raises UsageError with every kind of mistake in the tables, each with the first index that has it."""
    found = [
        *_link_mistakes(links, paths),
        *_flow_mistakes(paths, flows),
        *_event_mistakes(links, paths, flows, events),
    ]
    if found:
        raise UsageError("; ".join(found))


def _first(what: str, is_wrong: NDArray[np.bool_], must: str) -> Iterator[str]:
    if is_wrong.any():
        yield f"{what} {int(np.argmax(is_wrong))}: {must} ({int(is_wrong.sum())} such)"


def _outside(indices: NDArray[np.integer], n: int) -> NDArray[np.bool_]:
    return np.asarray((indices < 0) | (indices >= n))


def _rows(offsets: Int64, n_rows: int, n_entries: int, what: str) -> Iterator[str]:
    if len(offsets) != n_rows + 1 or offsets[0] != 0 or offsets[-1] != n_entries or (np.diff(offsets) < 0).any():
        yield f"{what}: offsets must rise from 0 to {n_entries} in {n_rows} rows"


def _link_mistakes(links: LinkTable, paths: PathTable) -> Iterator[str]:
    yield from _first("link", links.rate_bps < 0, "its rate is negative")
    yield from _first("link", links.delay_ps < 0, "its delay is negative")
    yield from _rows(paths.offsets, paths.n_paths, len(paths.links), "paths")
    yield from _first(
        "entry of paths", _outside(paths.links, links.n_links), f"no such link; there are {links.n_links}"
    )
    yield from _first("entry of paths", ~((paths.shares > 0) & np.isfinite(paths.shares)), "its share is not above 0")
    yield from _first("path", paths.delay_ps < 0, "its delay is negative")


def _flow_mistakes(paths: PathTable, flows: FlowTable) -> Iterator[str]:
    n = flows.n_flows
    columns = ("path", "start_ps", "weight", "cap_bps", "priority", "parent_delay_ps")
    lengths = [name for name in columns if len(getattr(flows, name)) != n]
    if lengths:
        yield f"columns {', '.join(lengths)} of the flows do not have {n} rows"
        return
    yield from _first("flow", flows.size_bytes < 0, "its size is negative")
    yield from _first("flow", _outside(flows.path, paths.n_paths), f"no such path; there are {paths.n_paths}")
    yield from _first("flow", ~((flows.weight > 0) & np.isfinite(flows.weight)), "its weight is not above 0")
    yield from _first("flow", flows.cap_bps <= 0, "its cap is not above 0 bit/s")
    yield from _first("flow", (flows.start_ps < 0) | (flows.parent_delay_ps < 0), "its start or delay is negative")
    yield from _rows(flows.parent_offsets, n, len(flows.parents), "parents")
    yield from _first("entry of parents", _outside(flows.parents, n), f"no such flow; there are {n}")


def _event_mistakes(links: LinkTable, paths: PathTable, flows: FlowTable, events: EventTable) -> Iterator[str]:
    kind, subject, value = events.kind, events.subject, events.value
    yield from _first("event", events.at_ps < 0, "its time is negative")
    yield from _first("event", _outside(kind, len(EventKind)), "no such kind")
    is_link, is_swap = kind == EventKind.LINK_RATE, kind == EventKind.PATH_SWAP
    bound = np.where(is_link, links.n_links, np.where(is_swap, paths.n_paths, flows.n_flows))
    yield from _first("event", (subject < 0) | (subject >= bound), "no such link, path or flow")
    is_path = is_swap | (kind == EventKind.FLOW_PATH)
    yield from _first("event", is_path & _outside(value, paths.n_paths), f"no such path; there are {paths.n_paths}")
    yield from _first("event", is_link & (value < 0), "the link's rate is negative")
    yield from _first("event", (kind == EventKind.FLOW_CAP) & (value <= 0), "the cap is not above 0 bit/s")
