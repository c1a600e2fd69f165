"""The receiving half of a host: an answer to every data packet, in the row of the packet itself; congestion notices.

Go-back-N (the default of reliable connections): what is not expected is dropped, and one negative answer asks for what
is. Selective repeat keeps it and asks with every packet behind a gap (Mittal et al. 2018). A flow whose packets take
many ways takes them in any order and asks for nothing, so that only its timer finds a loss. A marked packet brings a
notice of its own class, at most one in a period for each flow.
"""

from __future__ import annotations

from eastwest.simulate.packet.flows import ACTIVE, GO_BACK_N, SELECTIVE, UNORDERED
from eastwest.simulate.packet.kernel import NONE, Bytes, Records, kernel
from eastwest.simulate.packet.pool import ACK, CNP, NAK, take_packet
from eastwest.simulate.packet.queues import CONTROL


@kernel
def answer(flows: Records, packets: Records, params: Records, clock: Records, bits: Bytes, packet: int) -> bool:
    """Turn a data packet that arrived into its answer; True when the flow is complete with it."""
    record = packets[packet]
    flow, seq = record["flow"], record["seq"]
    row = flows[flow]
    kind = ACK
    before = row["expected"]
    if seq == before:
        row["expected"] += 1
        row["has_nak"] = 0
        clock[0]["progress_ps"] = clock[0]["now_ps"]
    elif seq > before:
        row["n_out_of_order"] += 1
        if row["recovery"] != UNORDERED and asks(flows, params, clock, flow):
            kind = NAK
    if row["recovery"] != GO_BACK_N and seq >= before:
        bits[row["first_bit"] + seq] = 1
        while row["expected"] < row["n_packets"] and bits[row["first_bit"] + row["expected"]]:
            row["expected"] += 1
    record["kind"], record["seq"], record["echo"] = kind, row["expected"], seq
    record["size"] = params[0]["answer_bytes"]
    if not params[0]["answers_with_data"]:
        record["lane"] = CONTROL
    record["pos"], record["ingress"] = row["back_route"], NONE
    return row["expected"] == row["n_packets"] and before < row["n_packets"] and row["state"] == ACTIVE


@kernel
def asks(flows: Records, params: Records, clock: Records, flow: int) -> bool:
    """Whether a gap is worth a negative answer: every time with selective repeat, once for each gap with go-back-N."""
    row, now = flows[flow], clock[0]["now_ps"]
    if row["recovery"] == SELECTIVE:
        return True
    if row["has_nak"] and now - row["nak_ps"] < params[0]["nak_period_ps"]:
        return False
    row["has_nak"] = 1
    row["nak_ps"] = now
    return True


@kernel
def notice(flows: Records, packets: Records, params: Records, clock: Records, packet: int) -> int:
    """A congestion notice for the packet just arrived; -1 when none is due."""
    record = packets[packet]
    flow = record["flow"]
    row, now = flows[flow], clock[0]["now_ps"]
    row["n_marked"] += 1
    if row["notice_ps"] >= 0 and now - row["notice_ps"] < params[0]["notice_period_ps"]:
        return NONE
    row["notice_ps"] = now
    made = take_packet(packets, clock)
    fresh = packets[made]
    fresh["flow"], fresh["seq"], fresh["pos"] = flow, 0, row["back_route"]
    fresh["size"], fresh["kind"], fresh["lane"] = params[0]["answer_bytes"], CNP, CONTROL
    fresh["ce"], fresh["ingress"], fresh["stamp_ps"] = 0, NONE, now
    return made
