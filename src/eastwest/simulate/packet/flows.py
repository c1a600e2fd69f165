"""Flows of a run: one row for each queue pair and message, sender's and receiver's half; and who waits for whom."""

from __future__ import annotations

import numpy as np

from eastwest.simulate.packet.events import START, push
from eastwest.simulate.packet.kernel import NONE, Int32s, Records, kernel

WAITING, ACTIVE, DONE, STOPPED, FAILED = range(5)  # states
GO_BACK_N, SELECTIVE, UNORDERED = range(3)  # loss recovery; the last takes packets in any order

FLOW = np.dtype(
    [
        ("route", np.int32),  # row of the routes where its links begin
        ("back_route", np.int32),  # of its answers
        ("ring", np.int32),  # next flow that sends into the same link
        ("n_packets", np.int32),
        ("next_seq", np.int32),  # to be sent next
        ("una", np.int32),  # first that is not acknowledged
        ("high", np.int32),  # one above the highest that was ever sent
        ("window", np.int32),  # packets in flight, at most
        ("last_size", np.int32),  # bytes on the wire of its last packet
        ("full_size", np.int32),
        ("expected", np.int32),  # by the receiver
        ("is_in_ring", np.int8),
        ("has_wake", np.int8),  # its event is to come
        ("has_timeout", np.int8),
        ("lane", np.int8),
        ("recovery", np.int8),
        ("state", np.int8),
        ("has_nak", np.int8),  # the receiver asked for what is missing
        ("n_retries", np.int8),
        ("retries", np.int8),  # most of them
        ("is_ect", np.int8),  # its packets may be marked
        ("next_ps", np.int64),  # pacing: not before
        ("timeout_ps", np.int64),  # length of its timer
        ("una_sent_ps", np.int64),  # when the first packet that is not acknowledged was last sent, or became the first
        ("n_resend", np.int32),  # packets that may be sent again now
        ("n_held", np.int32),  # packets that its receiver holds behind a gap, as far as TCP knows
        ("progress_ps", np.int64),  # last answer that moved `una`, or last start
        ("notice_ps", np.int64),  # last congestion notice
        ("nak_ps", np.int64),
        ("start_ps", np.int64),
        ("end_ps", np.int64),  # last byte received; -1 before
        ("ready_ps", np.int64),  # not before
        ("parent_delay_ps", np.int64),
        ("n_parents", np.int32),  # that have not ended
        ("n_sent_again", np.int32),
        ("n_out_of_order", np.int32),
        ("n_marked", np.int32),
        ("first_bit", np.int64),  # of the receiver's bitmap, when it keeps what comes out of order
        ("look_from", np.int32),  # missing packets from here ...
        ("look_to", np.int32),  # ... to here are sent again
        ("first_way", np.int32),  # row of the ways
        ("n_ways", np.int32),
        ("way", np.int32),  # of the present flowlet
        ("balance", np.int8),
        ("last_sent_ps", np.int64),
    ],
    align=True,
)


@kernel
def end_flow(
    flows: Records, heap: Records, clock: Records, child_offsets: Int32s, children: Int32s, flow: int, state: int
) -> None:
    """The receiver has everything (or the flow is given up): those that waited for it start."""
    now = clock[0]["now_ps"]
    flows[flow]["end_ps"] = now
    flows[flow]["state"] = state
    clock[0]["n_open"] -= 1
    clock[0]["n_live"] -= 1
    for at in range(child_offsets[flow], child_offsets[flow + 1]):
        child = children[at]
        row = flows[child]
        row["n_parents"] -= 1
        row["ready_ps"] = max(row["ready_ps"], now + row["parent_delay_ps"])
        if row["n_parents"] == 0 and row["state"] == WAITING:
            push(heap, clock, row["ready_ps"], START, child)


@kernel
def abandon(flows: Records, clock: Records, child_offsets: Int32s, children: Int32s, flow: int) -> None:
    """A flow failed: all that wait for it, and for those, never start. They are in no ring; its field links them."""
    here, last = flow, NONE
    while True:
        for at in range(child_offsets[here], child_offsets[here + 1]):
            child = children[at]
            if flows[child]["state"] == WAITING:
                flows[child]["state"] = STOPPED
                flows[child]["ring"] = last
                last = child
                clock[0]["n_open"] -= 1
        if last == NONE:
            return
        here = last
        last = flows[here]["ring"]
