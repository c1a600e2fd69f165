"""Record tables of the flow engine, one dtype a mechanism, one field a line with its unit.

Amounts are kept in bit·ps/s (bits times 1e12): divided by a rate in bit/s they give picoseconds, and round sizes at
round rates come out exact. A *level* is a rate divided by the flow's weight: what progressive filling raises.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.flow.tables import Float64, Int8, Int32, Int64

Records = NDArray[np.void]

PS_PER_S = 1e12
BITS_PER_BYTE = 8
AMOUNT_PER_BYTE = BITS_PER_BYTE * PS_PER_S  # bit·ps/s in a byte
TIE_RATIO = 1e-12  # times, levels and rates nearer than this are the same: rounding, not physics

LINK = np.dtype(
    [
        ("rate_bps", np.float64),  # now; 0 is down
        ("free_bps", np.float64),  # not yet given away; valid during a solve
        ("open_weight", np.float64),  # weight times share of the flows whose level still rises
        ("touched_level", np.float64),  # lowest level of the flows that leave it in this batch
        ("full_level", np.float64),  # level at which it filled in this solve; infinite when it did not
        ("first", np.int64),  # first row in the pool
        ("count", np.int32),  # flows on the link
        ("room", np.int32),  # rows it owns in the pool
        ("n_open", np.int32),
        ("mark", np.int32),  # batch in which a solve reached it
        ("dirty", np.int32),  # batch in which a flow came or left
        ("is_changed", np.int32),  # batch in which its rate changed
        ("is_joined", np.int32),  # batch in which a flow came
    ],
    align=True,
)
SLOT = np.dtype(
    [
        ("weight", np.float64),
        ("cap_level", np.float64),  # cap divided by weight, bit/s; infinite when there is none
        ("level", np.float64),  # bit/s; infinite until first solved
        ("rate_bps", np.float64),
        ("left", np.float64),  # bit·ps/s not yet sent at `at_ps`
        ("booked", np.float64),  # what was left when it took its present path
        ("at_ps", np.float64),
        ("hop_first", np.int32),
        ("hop_end", np.int32),
        ("flow", np.int64),
        ("neck", np.int32),  # the full link that holds it; -1 when its cap does
        ("mark", np.int32),  # batch in which a solve reached it
        ("heap_at", np.int64),  # row in the heap of completions; -1 when it has none
        ("priority", np.int8),
        ("is_open", np.int8),
        ("is_leaving", np.int8),
    ],
    align=True,
)
ENTRY = np.dtype([("share", np.float64), ("slot", np.int64)], align=True)  # a flow on a link
HOP = np.dtype([("share", np.float64), ("link", np.int64)], align=True)  # a link on a path
WAY = np.dtype([("delay_ps", np.float64), ("first", np.int32), ("end", np.int32), ("now", np.int32)], align=True)
DUE = np.dtype([("key", np.float64), ("item", np.int64)], align=True)  # an entry of a heap
RUN = np.dtype(
    [
        ("ready_ps", np.float64),  # earliest start known so far
        ("start_ps", np.float64),
        ("end_ps", np.float64),
        ("n_pending", np.int32),  # parents that have not ended
        ("slot", np.int64),  # of an active flow
        ("way", np.int32),  # path row that it takes
        ("state", np.int8),
    ],
    align=True,
)
EVENT = np.dtype(
    [("at_ps", np.float64), ("value", np.float64), ("subject", np.int64), ("kind", np.int64)],
    align=True,
)
LOAD = np.dtype(
    [("load_bps", np.float64), ("since_ps", np.float64), ("peak_bps", np.float64), ("busy_ps", np.float64)],
    align=True,
)
STATE = np.dtype(
    [
        ("now_ps", np.float64),
        ("bin_ps", np.float64),
        ("n_events", np.int64),
        ("n_solves", np.int64),
        ("n_rates", np.int64),
        ("pool_used", np.int64),
        ("n_live", np.int64),
        ("n_ended", np.int64),
        ("n_due", np.int64),  # length of the heap of completions
        ("n_starts", np.int64),  # length of the heap of starts
        ("next_first", np.int64),
        ("next_event", np.int64),
        ("n_slots", np.int64),  # slots ever used
        ("n_free", np.int64),
        ("stamp", np.int64),  # number of the batch
        ("n_touched", np.int64),
        ("n_leaving", np.int64),
        ("n_settled", np.int64),  # of the leaving flows
        ("limit_ps", np.float64),  # what is due until then belongs to the batch
        ("in_batch", np.int64),
        ("n_fresh", np.int64),
        ("n_set_links", np.int64),
        ("n_set_slots", np.int64),
        ("has_priorities", np.int64),
        ("has_loads", np.int64),
    ],
    align=True,
)


class Wants(NamedTuple):
    """What the flows want: the columns of `FlowTable` that a start reads, and who waits for whom."""

    size_bytes: Int64
    path: Int32
    weight: Float64
    cap_bps: Float64
    priority: Int8
    parent_delay_ps: Int64
    child_offsets: Int64
    children: Int32


class Lists(NamedTuple):
    """Working lists of indices; their lengths are in the state."""

    firsts: Int64  # flows without parents, by start
    free_slots: Int64
    touched: Int64  # links that a flow came to or left
    leaving: Int64  # slots that leave their links
    fresh: Int64  # slots whose rate must be found
    set_links: Int64
    set_slots: Int64
    trail: Int64  # flows, while a stop is followed to all that wait
    present: Int8  # (256,) priorities that occur in a set


class World(NamedTuple):
    """All tables of a run but the pool, which is replaced by a larger one when it is full."""

    state: Records  # (1,) STATE
    links: Records  # (n_links,) LINK
    sent_bytes: Float64  # (n_links,)
    loads: Records  # (n_links,) LOAD, or (0,)
    series: NDArray[np.float64]  # (n_links, n_bins) bytes, or (0, 0)
    hops: Records  # HOP
    ways: Records  # (n_paths,) WAY
    slots: Records  # SLOT
    runs: Records  # (n_flows,) RUN
    due: Records  # DUE: completions, items are slots
    starts: Records  # DUE: starts, items are flows
    filling: Records  # DUE: levels at which links fill or caps hold
    events: Records  # EVENT, by time
    wants: Wants
    lists: Lists
