"""DCQCN, the sender's half: a cut for each notice, then fast recovery, additive and hyper increase.

Timers are not events: what they would have done is done when the flow next sends or hears, so a flow at line rate costs
nothing. Exact but for a pause between packets that is longer than the timer, where real hardware would shorten it.
Source: Zhu et al. 2015, section 3.2 and figure 7.
"""

from __future__ import annotations

from eastwest.simulate.packet.kernel import Records, kernel

NOTHING = 1e-12  # an alpha that no cut shows any more


@kernel
def begin(controls: Records, flow: int, now_ps: int) -> None:
    """Start at line rate with alpha 1."""
    state = controls[flow]
    state["rate_bps"] = state["target_bps"] = state["line_bps"]
    state["alpha"], state["is_cut"] = 1.0, 0


@kernel
def on_send(controls: Records, params: Records, flow: int, now_ps: int, size_bytes: int) -> None:
    """What the timer and the byte counter have done by now."""
    state, wish = controls[flow], params[0]
    if not state["is_cut"]:
        return
    while state["raise_ps"] + wish["raise_period_ps"] <= now_ps and state["is_cut"]:
        state["raise_ps"] += wish["raise_period_ps"]
        state["time_stage"] += 1
        rise(controls, params, flow)
    state["counted_bytes"] += size_bytes
    if state["counted_bytes"] >= wish["raise_bytes"] and state["is_cut"]:
        state["counted_bytes"] = 0
        state["byte_stage"] += 1
        rise(controls, params, flow)


@kernel
def rise(controls: Records, params: Records, flow: int) -> None:
    """One step up: half way to the target, which rises too once recovery is over."""
    state, wish = controls[flow], params[0]
    most, least = max(state["time_stage"], state["byte_stage"]), min(state["time_stage"], state["byte_stage"])
    if least > wish["recovery_stages"]:
        state["target_bps"] += (least - wish["recovery_stages"]) * wish["hyper_bps"]
    elif most >= wish["recovery_stages"]:
        state["target_bps"] += wish["additive_bps"]
    state["target_bps"] = min(state["target_bps"], state["line_bps"])
    state["rate_bps"] = min(state["line_bps"], (state["rate_bps"] + state["target_bps"] + 1) // 2)
    if state["rate_bps"] >= state["line_bps"]:
        state["is_cut"] = 0  # back at line rate: nothing rises any more, alpha decays when it is next needed


@kernel
def decay(controls: Records, params: Records, flow: int, now_ps: int) -> None:
    """Alpha after the periods without a notice."""
    state, wish = controls[flow], params[0]
    periods = (now_ps - state["alpha_ps"]) // wish["alpha_period_ps"]
    state["alpha_ps"] += periods * wish["alpha_period_ps"]
    left = 1.0 - wish["g"]
    while periods > 0 and state["alpha"] > NOTHING:
        if periods & 1:
            state["alpha"] *= left
        left *= left
        periods >>= 1


@kernel
def on_notice(controls: Records, params: Records, flow: int, now_ps: int) -> None:
    """A congestion notification: cut by half of alpha, at most once a period."""
    state, wish = controls[flow], params[0]
    on_send(controls, params, flow, now_ps, 0)
    if state["n_cuts"] > 0:
        decay(controls, params, flow, now_ps)
        if now_ps - state["cut_ps"] < wish["cut_period_ps"]:
            return
    state["target_bps"] = state["rate_bps"]
    cut = max(wish["least_bps"], int(state["rate_bps"] * (1.0 - state["alpha"] / 2)))
    state["rate_bps"] = min(state["rate_bps"], cut)
    state["alpha"] = (1.0 - wish["g"]) * state["alpha"] + wish["g"]
    state["alpha_ps"] = state["raise_ps"] = state["cut_ps"] = now_ps
    state["time_stage"] = state["byte_stage"] = 0
    state["counted_bytes"] = 0
    state["is_cut"] = 1
    state["n_cuts"] += 1
