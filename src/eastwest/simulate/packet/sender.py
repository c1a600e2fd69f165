"""The sending half of a host: flows take turns on the link of their NIC, each paced at the rate of its control.

A flow stands in the ring of its link while it has something to send, may send it and its time has come; otherwise an
answer or its own timer brings it back. One timer for each flow watches for lost tails.
"""

from __future__ import annotations

from eastwest.simulate.packet.cc import hooks
from eastwest.simulate.packet.events import TIMEOUT, WAKE, draw, push
from eastwest.simulate.packet.flows import ACTIVE, FAILED, GO_BACK_N
from eastwest.simulate.packet.kernel import NONE, Bytes, Int32s, Records, kernel
from eastwest.simulate.packet.link import serial_ps, wake_transmitter
from eastwest.simulate.packet.pool import DATA, take_packet


@kernel
def join_ring(flows: Records, links: Records, link: int, flow: int) -> None:
    """Let the flow take turns on its link, last."""
    port, row = links[link], flows[flow]
    if row["is_in_ring"]:
        return
    row["is_in_ring"] = 1
    last = port["ring"]
    if last == NONE:
        row["ring"] = flow
    else:
        row["ring"] = flows[last]["ring"]
        flows[last]["ring"] = flow
    port["ring"] = flow


@kernel
def leave_ring(flows: Records, links: Records, link: int, before: int, flow: int) -> None:
    """Take the flow behind `before` out of the ring."""
    port = links[link]
    flows[flow]["is_in_ring"] = 0
    if before == flow:
        port["ring"] = NONE
        return
    flows[before]["ring"] = flows[flow]["ring"]
    port["ring"] = before


@kernel
def may_send(flows: Records, flow: int) -> bool:
    """Whether the flow has a packet, one to send again or a new one in its window."""
    row = flows[flow]
    if row["state"] != ACTIVE:
        return False
    if row["look_from"] < row["look_to"] and row["n_resend"] > 0:
        return True
    return row["next_seq"] < row["n_packets"] and row["next_seq"] - row["una"] < row["window"]


@kernel
def offer_flow(flows: Records, links: Records, heap: Records, clock: Records, routes: Int32s, flow: int) -> None:
    """Put the flow to its link if it may send now, or set its timer to when it may."""
    row = flows[flow]
    if row["is_in_ring"] or row["has_wake"] or not may_send(flows, flow):
        return
    if row["next_ps"] > clock[0]["now_ps"]:
        row["has_wake"] = 1
        push(heap, clock, row["next_ps"], WAKE, flow)
        return
    link = routes[row["route"]]
    join_ring(flows, links, link, flow)
    wake_transmitter(links, heap, clock, link)


@kernel
def next_flow(flows: Records, links: Records, link: int) -> int:
    """The flow in front of the one to be served; -1 when all of the ring belong to a paused class."""
    port = links[link]
    before = port["ring"]
    if port["paused"] == 0:
        return before
    first = before
    while port["paused"] >> flows[flows[before]["ring"]]["lane"] & 1:
        before = flows[before]["ring"]
        if before == first:
            return NONE
    return before


@kernel
def next_missing(flows: Records, bits: Bytes, flow: int) -> int:
    """The next packet to send again, out of those that the receiver said it has not; -1 when all have come by now."""
    row = flows[flow]
    at = max(row["look_from"], row["una"])
    while at < row["look_to"] and bits[row["first_bit"] + at]:
        at += 1
    row["look_from"] = at + 1
    return at if at < row["look_to"] else NONE


@kernel
def next_unheld(flows: Records, bits: Bytes, flow: int) -> int:
    """The next packet, without those that the receiver holds already when the flow has gone back. The first that is not
    acknowledged is sent in any case: it may be its answer that was lost.
    """
    row = flows[flow]
    if row["recovery"] != GO_BACK_N:
        while row["una"] < row["next_seq"] < row["high"] and bits[row["first_bit"] + row["next_seq"]]:
            row["next_seq"] += 1
    return row["next_seq"]


@kernel
def make_packet(flows: Records, packets: Records, clock: Records, bits: Bytes, flow: int) -> int:
    """The flow's next packet, a row of the pool; -1 when what was missing has come and nothing else is to send."""
    row = flows[flow]
    seq = NONE
    if row["look_from"] < row["look_to"] and row["n_resend"] > 0:
        seq = next_missing(flows, bits, flow)
    if seq == NONE:
        seq = next_unheld(flows, bits, flow)
        if seq >= row["n_packets"] or seq - row["una"] >= row["window"]:
            return NONE
        row["next_seq"] = seq + 1
    packet = take_packet(packets, clock)
    record = packets[packet]
    record["flow"], record["seq"], record["pos"] = flow, seq, row["route"]
    record["size"] = row["full_size"] if seq + 1 < row["n_packets"] else row["last_size"]
    record["kind"], record["lane"], record["ce"], record["ingress"] = DATA, row["lane"], 0, NONE
    record["stamp_ps"] = clock[0]["now_ps"]
    record["is_ect"] = row["is_ect"]
    if seq >= row["high"]:
        row["high"] = seq + 1
    else:
        row["n_sent_again"] += 1
        row["n_resend"] -= 1
    if seq == row["una"]:
        row["una_sent_ps"] = clock[0]["now_ps"]
    return packet


@kernel
def ask_again(flows: Records, flow: int, seq: int, echo: int, sent_ps: int) -> None:
    """A negative answer: what is missing up to the packet that it answers, or everything from there (go-back-N). When
    that packet left after the first missing one was last sent, that one is lost again.
    """
    row = flows[flow]
    if row["recovery"] == GO_BACK_N:
        back_up(flows, flow, seq)
        return
    if row["look_to"] <= seq or (seq == row["una"] and sent_ps > row["una_sent_ps"]):
        row["look_from"] = seq
    row["look_to"] = max(row["look_to"], echo)


@kernel
def pace(
    flows: Records,
    links: Records,
    controls: Records,
    params: Records,
    heap: Records,
    clock: Records,
    flow: int,
    size: int,
) -> None:
    """After a packet: when the next one may follow. The flow stays in the ring (as its last) when that is at once."""
    row, now = flows[flow], clock[0]["now_ps"]
    hooks.on_send(controls, params, flow, now, size)
    row["next_ps"] = max(row["next_ps"] + serial_ps(size, controls[flow]["rate_bps"]), now)
    if params[0]["jitter_ps"] > 0:
        row["next_ps"] += int(draw(clock[0]["jitter_key"] ^ now, flow, row["next_seq"]) * params[0]["jitter_ps"])
    if row["next_seq"] - row["una"] == 1:
        row["progress_ps"] = now  # the first packet in flight starts the timer
    if not row["has_timeout"]:
        row["has_timeout"] = 1
        push(heap, clock, now + row["timeout_ps"], TIMEOUT, flow)


@kernel
def back_up(flows: Records, flow: int, seq: int) -> None:
    """Go back to a packet that was lost: it and all behind it are sent again (go-back-N)."""
    row = flows[flow]
    row["una"] = max(row["una"], seq)
    row["next_seq"] = row["una"]


@kernel
def time_out(flows: Records, links: Records, heap: Records, clock: Records, routes: Int32s, flow: int) -> None:
    """The timer of a flow: send again when nothing moved for its whole time; the flow fails when its retries are used
    up (completion status 12, transport retry counter exceeded).
    """
    row, now = flows[flow], clock[0]["now_ps"]
    row["has_timeout"] = 0
    if row["state"] != ACTIVE or row["una"] >= row["n_packets"]:
        return
    due = row["progress_ps"] + row["timeout_ps"]
    if row["next_seq"] == row["una"]:
        due = now + row["timeout_ps"]  # nothing is in flight: its NIC is paused, or its pace lets it wait
    if due > now:
        row["has_timeout"] = 1
        push(heap, clock, due, TIMEOUT, flow)
        return
    if row["n_retries"] >= row["retries"]:
        row["state"] = FAILED
        clock[0]["n_open"] -= 1
        clock[0]["n_live"] -= 1
        return
    row["n_retries"] += 1
    back_up(flows, flow, row["una"])
    row["look_from"] = row["look_to"] = 0
    row["progress_ps"] = now
    row["has_timeout"] = 1
    push(heap, clock, now + row["timeout_ps"], TIMEOUT, flow)
    offer_flow(flows, links, heap, clock, routes, flow)
