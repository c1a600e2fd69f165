"""TCP: Reno, CUBIC (Linux's default) or DCTCP, with Linux's timer: at least 200 ms, doubled each time it runs out.

A window in packets; selective acknowledgements (the flow repeats what its receiver misses, from the first packet behind
the gap on, one packet for each answer); one cut for each window in which something was lost. What the receiver holds
behind a gap has left the network, so the window is wider by it. Every packet is answered (no delayed acknowledgements),
and a new flow is a new connection whose handshake is not simulated. Source: RFC 5681, 6298, 6675, 8985; RFC 9438
(CUBIC); RFC 8257 (DCTCP).
"""

from __future__ import annotations

import numpy as np

from eastwest.simulate.packet.kernel import Records, kernel

RENO, CUBIC, DCTCP = range(3)  # in the order of TCP_CONTROLS of the parameters
PS_PER_S = 1e12
HALF = 0.5
CUBIC_CUT, CUBIC_C = 0.7, 0.4  # RFC 9438, 4.6 and 4.1
FRIENDLY = 3 * (1 - CUBIC_CUT) / (1 + CUBIC_CUT)  # packets a round trip of a Reno flow that cuts like CUBIC, 4.3
CONVERGENCE = (1 + CUBIC_CUT) / 2  # 4.7
DCTCP_GAIN = 1 / 16  # RFC 8257, 4.2
RTT_GAIN, DEVIATION_GAIN, DEVIATIONS = 1 / 8, 1 / 4, 4  # RFC 6298
MOST_TIMEOUT_PS = 120_000_000_000_000  # Linux TCP_RTO_MAX
LEAST_THRESHOLD = 2.0  # packets
ENDLESS = 1e18


@kernel
def begin(flows: Records, controls: Records, params: Records, flow: int) -> None:
    """The initial window, in slow start."""
    state = controls[flow]
    state["window_packets"], state["threshold"] = params[0]["initial_packets"], ENDLESS
    state["recover_seq"] = state["mark_seq"] = 0
    state["alpha"] = 1.0
    use(flows, controls, params, flow)


@kernel
def use(flows: Records, controls: Records, params: Records, flow: int) -> None:
    """Give the window to the sender."""
    state, row = controls[flow], flows[flow]
    state["window_packets"] = min(state["window_packets"], params[0]["most_packets"])
    row["window"] = max(1, int(state["window_packets"])) + row["n_held"]


@kernel
def on_answer(flows: Records, controls: Records, params: Records, flow: int, now_ps: int) -> None:
    """An answer: time the round trip, and grow by what it acknowledges."""
    state, row, n_acked = controls[flow], flows[flow], controls[flow]["n_acked"]
    row["n_resend"] = 1
    if n_acked == 0:
        return
    measure(flows, controls, params, flow)
    row["n_held"] = max(0, row["n_held"] - (n_acked - 1))
    if state["control"] == DCTCP:
        weigh_marks(flows, controls, flow)
    if row["una"] >= state["recover_seq"]:
        row["n_held"] = 0
        if state["window_packets"] < state["threshold"]:
            state["window_packets"] = min(state["window_packets"] + n_acked, max(state["threshold"], 1.0))
        elif state["control"] == CUBIC:
            grow_cubic(controls, flow, now_ps)
        else:
            state["window_packets"] += n_acked / state["window_packets"]
    use(flows, controls, params, flow)


@kernel
def measure(flows: Records, controls: Records, params: Records, flow: int) -> None:
    """The smoothed round trip and the timer that follows from it (RFC 6298)."""
    state, rtt = controls[flow], controls[flow]["rtt_ps"]
    if state["smooth_ps"] == 0:
        state["smooth_ps"], state["deviation_ps"] = rtt, rtt // 2
    else:
        state["deviation_ps"] += int((abs(state["smooth_ps"] - rtt) - state["deviation_ps"]) * DEVIATION_GAIN)
        state["smooth_ps"] += int((rtt - state["smooth_ps"]) * RTT_GAIN)
    wanted = state["smooth_ps"] + DEVIATIONS * state["deviation_ps"]
    flows[flow]["timeout_ps"] = min(max(wanted, params[0]["least_timeout_ps"]), MOST_TIMEOUT_PS)


@kernel
def grow_cubic(controls: Records, flow: int, now_ps: int) -> None:
    """Towards the cubic of the time since the last cut, or as a Reno flow if that is more (RFC 9438, 4.2 to 4.5)."""
    state, window = controls[flow], controls[flow]["window_packets"]
    if state["epoch_ps"] == 0:
        state["epoch_ps"] = now_ps
        state["friendly"] = window
        state["top"] = max(state["top"], window)
        state["origin_s"] = np.cbrt((state["top"] - window) / CUBIC_C)
    after_s = (now_ps - state["epoch_ps"] + state["smooth_ps"]) / PS_PER_S
    target = min(max(CUBIC_C * (after_s - state["origin_s"]) ** 3 + state["top"], window), 1.5 * window)
    slope = FRIENDLY if state["friendly"] < state["top"] else 1.0
    state["friendly"] += slope * state["n_acked"] / window
    state["window_packets"] = max(window + state["n_acked"] * (target - window) / window, state["friendly"])


@kernel
def weigh_marks(flows: Records, controls: Records, flow: int) -> None:
    """The part of marked packets, once a window, and the cut in its proportion."""
    state, row = controls[flow], flows[flow]
    state["n_seen"] += state["n_acked"]
    state["n_marked"] += state["n_acked"] if state["is_marked"] else 0
    if row["una"] < state["mark_seq"]:
        return
    part = state["n_marked"] / max(1, state["n_seen"])
    state["alpha"] += DCTCP_GAIN * (part - state["alpha"])
    if state["n_marked"] > 0:
        state["window_packets"] = max(state["window_packets"] * (1 - state["alpha"] / 2), LEAST_THRESHOLD)
        state["threshold"] = state["window_packets"]
    state["n_seen"] = state["n_marked"] = 0
    state["mark_seq"] = row["next_seq"]


@kernel
def on_loss(flows: Records, controls: Records, params: Records, flow: int) -> None:
    """The receiver got a packet behind a gap: one more has left the network; the first of a window brings the cut."""
    state, row = controls[flow], flows[flow]
    row["n_held"] += 1
    if row["una"] >= state["recover_seq"]:
        cut(controls, flow)
        state["window_packets"] = state["threshold"]
        state["recover_seq"] = row["next_seq"]
    use(flows, controls, params, flow)


@kernel
def cut(controls: Records, flow: int) -> None:
    """The threshold after a loss."""
    state, window = controls[flow], controls[flow]["window_packets"]
    part = CUBIC_CUT if state["control"] == CUBIC else HALF
    state["top"] = window * CONVERGENCE if window < state["top"] else window
    state["threshold"] = max(window * part, LEAST_THRESHOLD)
    state["epoch_ps"] = 0
    state["n_cuts"] += 1


@kernel
def on_timeout(flows: Records, controls: Records, params: Records, flow: int) -> None:
    """The timer ran out: one packet, slow start again, and a timer of twice the length."""
    state, row = controls[flow], flows[flow]
    cut(controls, flow)
    state["window_packets"] = 1.0
    state["recover_seq"] = state["mark_seq"] = row["una"]
    row["n_held"] = 0
    row["timeout_ps"] = min(2 * row["timeout_ps"], MOST_TIMEOUT_PS)
    use(flows, controls, params, flow)
