"""What the flow engine reads and yields: tables of links, paths, flows and events, and the outcome of a run.

Everything is an index: a link is a row of `LinkTable`, a path a row of `PathTable` (links and the share of the flow
that each carries), a flow a row of `FlowTable` that names its path. Flows that take the same way name the same path,
so an event can move all of them, started or not, by one row (`EventKind.PATH_SWAP`).

Times int64 picoseconds, rates int64 bit/s, sizes int64 bytes on the wire. No numba here: the engine is imported late.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
Int8 = NDArray[np.int8]
Float64 = NDArray[np.float64]

NO_CAP_BPS = int(np.iinfo(np.int64).max)  # a flow that only its links limit
NOT_YET_PS = -1  # a start or an end that has not happened
DEFAULT_BINS = 1024  # bins of a time series; the bin width doubles whenever they are full
DEFAULT_PROGRESS_EVENTS = 100_000


class EventKind(IntEnum):
    """What an event changes; `subject` and `value` of its row say which and to what."""

    LINK_RATE = 0  # link `subject` has `value` bit/s from now on; 0 is down
    PATH_SWAP = 1  # every flow of path `subject`, now or later, takes path `value` (itself: back to its own)
    FLOW_PATH = 2  # flow `subject` takes path `value`; what it has sent stays sent
    FLOW_CAP = 3  # flow `subject` sends at most `value` bit/s
    FLOW_STOP = 4  # flow `subject` and all that wait for it are given up


class FlowState(IntEnum):
    """How far a flow came."""

    WAITING = 0  # its start or one of its parents is still to come
    ACTIVE = 1  # sends, or is held at rate 0
    DONE = 2
    STOPPED = 3


class RunStatus(IntEnum):
    """Why a run ended."""

    COMPLETE = 0  # every flow is done or stopped
    STALLED = 1  # flows are left at rate 0 and no event is to come: `FlowOutcome.stalled` names them
    INTERRUPTED = 2  # partial result, valid up to `FlowOutcome.time_ps`


@dataclass(frozen=True, slots=True, eq=False)
class LinkTable:
    """Directed links: `rate_bps (n_links,)` and one-way propagation `delay_ps (n_links,)`."""

    rate_bps: Int64
    delay_ps: Int64

    @property
    def n_links(self) -> int:
        """Number of directed links."""
        return len(self.rate_bps)


@dataclass(frozen=True, slots=True, eq=False)
class PathTable:
    """Ways through the links, compressed rows: path p takes `links[offsets[p]:offsets[p + 1]]`, each once.

    `shares` is the part of the flow's rate that the link carries: 1 on a single path, 1/n on each of n sprayed ways.
    `delay_ps (n_paths,)` is what the last byte needs after it left: the sum of the links' delays on a single path.
    """

    offsets: Int64
    links: Int32
    shares: Float64
    delay_ps: Int64

    @property
    def n_paths(self) -> int:
        """Number of paths."""
        return len(self.delay_ps)


@dataclass(frozen=True, slots=True, eq=False)
class FlowTable:
    """Transfers, one row each: all columns `(n_flows,)`, parents as compressed rows.

    A flow starts at `start_ps`, and not before `parent_delay_ps` after the last of its parents ended (last byte
    received). `weight` is its part of a shared link, `cap_bps` its greatest rate (`NO_CAP_BPS`: none), `priority` the
    strict class: higher is served first. A flow on an empty path is limited by its cap alone; one of 0 bytes ends as
    it starts, so a computation of d picoseconds is a flow of 0 bytes with `parent_delay_ps` d.
    """

    size_bytes: Int64
    path: Int32
    start_ps: Int64
    weight: Float64
    cap_bps: Int64
    priority: Int8
    parent_offsets: Int64  # (n_flows + 1,)
    parents: Int32
    parent_delay_ps: Int64

    @property
    def n_flows(self) -> int:
        """Number of flows."""
        return len(self.size_bytes)


@dataclass(frozen=True, slots=True, eq=False)
class EventTable:
    """What happens from outside, any order; rows of the same time are applied in the order of the table."""

    at_ps: Int64
    kind: Int8  # EventKind
    subject: Int64
    value: Int64

    @property
    def n_events(self) -> int:
        """Number of events."""
        return len(self.at_ps)


@dataclass(frozen=True, slots=True)
class RecordWish:
    """What to record beside completion times and bytes of each link; it costs time, so it is asked for.

    `link_load`: peak rate and busy time of every link. `bin_ps` > 0: bytes of every link in each bin of time as well;
    when a run outlasts `n_bins` bins (even), pairs of bins are merged and the width doubles.
    """

    link_load: bool = False
    bin_ps: int = 0
    n_bins: int = DEFAULT_BINS
    progress_every: int = DEFAULT_PROGRESS_EVENTS  # engine events between two progress reports


@dataclass(frozen=True, slots=True)
class ProgressReport:
    """Where a run is."""

    time_ps: int
    n_events: int
    n_live: int  # flows that send now
    n_ended: int
    n_flows: int


Progress = Callable[[ProgressReport], None]  # may raise KeyboardInterrupt to end the run with what there is


def _no_indices() -> Int64:
    return np.empty(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class WindowFacts:
    """What came of the windows of connections, (n_connections,): bytes at the end, time in slow start, restarts after
    idleness, and whether the mean window under loss was reached.
    """

    window_bytes: Float64
    slow_ps: Float64
    n_restarts: Int64
    is_lossy: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class FlowOutcome:
    """What came of a run. `NOT_YET_PS` marks starts and ends that did not happen."""

    status: RunStatus
    time_ps: int  # last event
    start_ps: Int64  # (n_flows,)
    end_ps: Int64  # (n_flows,) last byte received: under max-min plus the path's propagation delay
    state: Int8  # (n_flows,) FlowState
    sent_bytes: Int64  # (n_flows,) of an unfinished flow: up to `time_ps`, of a stopped one until then
    link_bytes: Int64  # (n_links,)
    link_peak_bps: Float64 | None  # (n_links,) with RecordWish.link_load
    link_busy_ps: Int64 | None  # (n_links,) time with at least one flow sending
    series_bytes: Float64 | None  # (n_links, n_bins) with RecordWish.bin_ps
    series_bin_ps: int
    n_events: int  # starts, completions and outside events; simultaneous ones counted one by one
    n_solves: int  # connected sets of flows whose rates were found anew
    n_rates: int  # rates found, over all solves
    n_skipped: int = 0  # flows whose times follow from an identical earlier step
    stalled: Int64 = field(default_factory=_no_indices)  # indices of flows that are left at rate 0
    path: Int32 | None = None  # (n_flows,) path row that each flow took last, with flowlets
    carried_bytes: Float64 | None = None  # (n_flows,) sent, with what was sent again, where packets are lost
    windows: WindowFacts | None = None

    @property
    def fct_ps(self) -> Int64:
        """Completion time of every flow, (n_flows,) int64; `NOT_YET_PS` when it did not end."""
        return np.where(self.end_ps >= 0, self.end_ps - self.start_ps, NOT_YET_PS).astype(np.int64)
