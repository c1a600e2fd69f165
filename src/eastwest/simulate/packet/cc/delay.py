"""A delay-based control: a window that follows the round trip of every acknowledgement.

Below its target the window grows by some packets a round trip; above, it falls in proportion to the excess, at most
once a round trip. The target is the round trip of the empty path, an allowance for queues, and more for small windows
(flow scaling), so that many flows can share one queue. A window below one packet is paced out. Marks are not looked at.
Source: Kumar et al. 2020 (Swift), algorithm 1 and section 3.5; constants as in csg-htsim. RTTCC of NVIDIA's NICs is of
this kind, its constants are not public.
"""

from __future__ import annotations

import numpy as np

from eastwest.simulate.packet.kernel import Records, kernel

BITS_PER_BYTE, PS_PER_S = 8, 1e12
SCALE_RANGE = 5.0  # most that flow scaling adds, in allowances
LEAST_WINDOW, MOST_SCALED = 0.1, 100.0  # packets: scaling is greatest at the first and nothing from the second
BEND = 1 / np.sqrt(MOST_SCALED)
SLOPE = SCALE_RANGE / (1 / np.sqrt(LEAST_WINDOW) - BEND)


@kernel
def begin(flows: Records, controls: Records, params: Records, flow: int) -> None:
    """A window that fills the empty path (it counts whole packets, so one more), sent at line rate."""
    state = controls[flow]
    state["rate_bps"] = state["line_bps"]
    state["window_packets"] = packets_of(controls, flow, state["base_rtt_ps"], flows[flow]["full_size"]) + 1
    state["cut_ps"] = 0
    use(flows, controls, params, flow, state["base_rtt_ps"])


@kernel
def packets_of(controls: Records, flow: int, time_ps: float, size_bytes: int) -> float:
    """Packets that the flow's line carries in a time."""
    return time_ps * controls[flow]["line_bps"] / (BITS_PER_BYTE * PS_PER_S * size_bytes)


@kernel
def target(controls: Records, params: Records, flow: int) -> float:
    """Round trip, ps, that the flow wants to see."""
    state, allowance = controls[flow], params[0]["target_delay_ps"]
    scaled = SLOPE * (1 / np.sqrt(state["window_packets"]) - BEND)
    return state["base_rtt_ps"] + allowance * (1 + min(max(scaled, 0.0), SCALE_RANGE))


@kernel
def on_answer(flows: Records, controls: Records, params: Records, flow: int, now_ps: int) -> None:
    """An acknowledgement of some packets, with its round trip."""
    state, wish = controls[flow], params[0]
    rtt_ps, n_acked = state["rtt_ps"], state["n_acked"]
    wanted = target(controls, params, flow)
    if rtt_ps < wanted:
        state["window_packets"] += wish["additive_window"] * n_acked / max(1.0, state["window_packets"])
    elif now_ps - state["cut_ps"] >= rtt_ps:
        state["window_packets"] *= max(1 - wish["beta"] * (rtt_ps - wanted) / rtt_ps, 1 - wish["most_cut"])
        state["cut_ps"] = now_ps
    use(flows, controls, params, flow, rtt_ps)


@kernel
def on_loss(flows: Records, controls: Records, params: Records, flow: int, now_ps: int) -> None:
    """A packet was lost: the largest cut, at most once a round trip of the empty path."""
    state = controls[flow]
    if now_ps - state["cut_ps"] >= state["base_rtt_ps"]:
        state["window_packets"] *= 1 - params[0]["most_cut"]
        state["cut_ps"] = now_ps
        use(flows, controls, params, flow, state["base_rtt_ps"])


@kernel
def use(flows: Records, controls: Records, params: Records, flow: int, rtt_ps: int) -> None:
    """Bring the window into its bounds, and to the sender: whole packets in flight, or the pace of a part of one."""
    state, row = controls[flow], flows[flow]
    room_ps = state["base_rtt_ps"] + params[0]["target_delay_ps"] * (1 + SCALE_RANGE)
    most = max(1.0, packets_of(controls, flow, room_ps, row["full_size"]))
    state["window_packets"] = min(max(state["window_packets"], LEAST_WINDOW), most)
    row["window"] = max(1, int(state["window_packets"]))
    state["rate_bps"] = state["line_bps"]
    if state["window_packets"] < 1:
        part = state["window_packets"] * row["full_size"] * BITS_PER_BYTE * PS_PER_S / rtt_ps
        state["rate_bps"] = min(state["line_bps"], max(1, int(part)))
