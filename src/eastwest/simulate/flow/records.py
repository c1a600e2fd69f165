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
OPEN_BPS = 1e18  # rate of a link whose policer drops instead of holding back: above any real link
TIE_RATIO = 1e-12  # times, levels and rates nearer than this are the same: rounding, not physics

LINK = np.dtype(  # what every flow that comes and leaves reads stands first: one cache line
    [
        ("rate_bps", np.float64),  # now; 0 is down
        ("touched_level", np.float64),  # lowest level of the flows that leave it in this batch
        ("load_bps", np.float64),  # rates times shares of its flows, as last solved
        ("first", np.int64),  # first row in the pool
        ("count", np.int32),  # flows on the link
        ("room", np.int32),  # rows it owns in the pool
        ("n_held", np.int32),  # flows whose neck it is; during a solve those outside the set
        ("dirty", np.int32),  # batch in which a flow came or left
        ("is_joined", np.int32),  # batch in which a flow came
        ("is_changed", np.int32),  # batch in which its rate changed
        ("mark", np.int32),  # batch in which a solve reached it
        ("n_open", np.int32),
        ("free_bps", np.float64),  # not yet given away; valid during a solve
        ("open_weight", np.float64),  # weight times share of the flows whose level still rises
        ("full_level", np.float64),  # level at which it filled in this solve; infinite when it did not
        ("set_bps", np.float64),  # the part of the load that belongs to flows of the set
        ("n_set", np.int32),  # flows of the set on it
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
        ("slot", np.int64),  # of an active flow; -2 minus that of a stopped one, which keeps it; else -1
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
        ("has_swaps", np.int64),  # paths were swapped in this batch
        ("first_window", np.int64),  # links from here on are windows of connections; above all links without any
        ("n_ticks", np.int64),  # length of the heap of ticks
        ("has_transport", np.int64),  # windows, losses or flowlets are followed
        ("has_windows", np.int64),
        ("idle_halves", np.int64),  # a window is halved for each idle time-out; else it begins again
        ("has_loss", np.int64),
        ("is_policed", np.int64),  # some links drop what is above a rate
        ("is_answered", np.int64),  # senders slow down at a policer (TCP); else they go on and lose
        ("goes_back", np.int64),  # a loss costs the packets in flight; else only itself
        ("host_ps", np.float64),  # what the hosts add to a round trip
        ("packet_bits", np.float64),  # on the wire
        ("has_flowlets", np.int64),
        ("n_choices", np.int64),  # ways that a flowlet can take
        ("gap_ps", np.float64),
        ("by_load", np.int64),  # flowlets take the least loaded way; else a drawn one
    ],
    align=True,
)
CONNECTION = np.dtype(  # the window of a TCP connection; its link carries the rate that it allows
    [
        ("window", np.float64),  # wire bytes
        ("threshold", np.float64),  # slow start until here; infinite at first
        ("initial", np.float64),
        ("segment", np.float64),  # wire bytes
        ("most", np.float64),  # greatest window
        ("loss_window", np.float64),  # mean window under the loss of the path; infinite without loss
        ("until_loss", np.float64),  # bytes until the first loss is expected; infinite without loss
        ("weight", np.float64),  # greatest of its flows
        ("rtt_ps", np.float64),
        ("idle_ps", np.float64),  # idle for longer: restart; infinite: never
        ("last_ps", np.float64),  # when it last stopped sending
        ("sent", np.float64),  # bytes up to `since_ps`
        ("rate_bps", np.float64),  # of all its flows together
        ("since_ps", np.float64),
        ("round_sent", np.float64),  # `sent` when the present round trip began
        ("round_ps", np.float64),
        ("slow_ps", np.float64),  # time in slow start while the window held the flow
        ("n_restarts", np.int64),
        ("n_live", np.int64),
        ("round_end_ps", np.float64),  # end of the present round trip; infinite: not looked at
        ("loss_at_ps", np.float64),  # when the first loss is expected at the rate of now
        ("heap_at", np.int64),  # row in the heap of ticks; -1 when it has none
        ("is_lossy", np.int8),  # had its first loss
        ("is_used", np.int8),
    ],
    align=True,
)
DROP = np.dtype(  # what a link loses
    [
        ("ratio", np.float64),  # of all packets, at random
        ("police_bps", np.float64),  # what is above is dropped; infinite: no policer
        ("burst", np.float64),  # bytes that a policer lets through at once
        ("segment", np.float64),  # bytes of a packet, of senders that answer
        ("rtt_ps", np.float64),  # of senders that answer
        ("excess", np.float64),  # part of the packets that the policer drops now
    ],
    align=True,
)
PACE = np.dtype(  # a flow that loses packets, by slot
    [
        ("gain", np.float64),  # what arrives for good over what is sent
        ("carried", np.float64),  # bit·ps/s sent on the present path and not booked yet
    ],
    align=True,
)
FATE = np.dtype(  # how a flow loses and recovers
    [
        ("ratio", np.float64),  # part of its packets lost beside what links lose
        ("carried", np.float64),  # bytes sent, with what is sent again
        ("tail_ps", np.float64),  # how much later its last byte comes, its packet having been lost
    ],
    align=True,
)
FLOWLET = np.dtype(  # the flowlets of one pair of queue pairs or ports
    [("last_ps", np.float64), ("n_live", np.int64), ("choice", np.int64), ("n_chosen", np.int64)], align=True
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
    connections: Records  # CONNECTION, of the links from `first_window` on
    ticks: Records  # DUE: items are connections
    drops: Records  # (n_links,) DROP, or (0,)
    paces: Records  # (n_flows,) PACE by slot, or (0,)
    fates: Records  # (n_flows,) FATE, or (0,)
    policed: Int64  # links with a policer
    flowlets: Records  # (n_pairs,) FLOWLET, or (0,)
    pairs: Int64  # (n_flows,) whose flowlets each flow belongs to, or (0,)
    flowlet_ways: Int32  # (n_pairs * n_choices,) path rows, or (0,)
