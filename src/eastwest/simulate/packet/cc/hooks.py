"""Where the host meets the congestion control of a flow: one branch for each hook, and nothing else.

To add a control: a member of `Control`, a file beside this one with the hooks that it needs, and its lines here. What
an answer says (its round trip, how many packets it acknowledges for the first time, a mark) is in the flow's row of
CONTROL.
"""

from __future__ import annotations

from eastwest.simulate.packet.cc import Control, dcqcn, delay, tcp
from eastwest.simulate.packet.kernel import Records, kernel

DCQCN, DELAY, TCP = int(Control.DCQCN), int(Control.DELAY), int(Control.TCP)


@kernel
def begin(flows: Records, controls: Records, params: Records, flow: int, now_ps: int) -> None:
    """The flow starts."""
    kind = controls[flow]["kind"]
    if kind == DCQCN:
        dcqcn.begin(controls, flow, now_ps)
    elif kind == DELAY:
        delay.begin(flows, controls, params, flow)
    elif kind == TCP:
        tcp.begin(flows, controls, params, flow)


@kernel
def on_send(controls: Records, params: Records, flow: int, now_ps: int, size_bytes: int) -> None:
    """A packet left."""
    if controls[flow]["kind"] == DCQCN:
        dcqcn.on_send(controls, params, flow, now_ps, size_bytes)


@kernel
def wants_notice(controls: Records, flow: int) -> bool:
    """Whether the receiver tells of marked packets."""
    return controls[flow]["kind"] == DCQCN


@kernel
def on_notice(controls: Records, params: Records, flow: int, now_ps: int) -> None:
    """A congestion notification packet came."""
    if controls[flow]["kind"] == DCQCN:
        dcqcn.on_notice(controls, params, flow, now_ps)


@kernel
def on_answer(flows: Records, controls: Records, params: Records, flow: int, now_ps: int) -> None:
    """An answer came."""
    kind = controls[flow]["kind"]
    if kind == DELAY:
        delay.on_answer(flows, controls, params, flow, now_ps)
    elif kind == TCP:
        tcp.on_answer(flows, controls, params, flow, now_ps)


@kernel
def on_loss(flows: Records, controls: Records, params: Records, flow: int, now_ps: int) -> None:
    """The receiver asked for a packet again."""
    kind = controls[flow]["kind"]
    if kind == DELAY:
        delay.on_loss(flows, controls, params, flow, now_ps)
    elif kind == TCP:
        tcp.on_loss(flows, controls, params, flow)


@kernel
def on_timeout(flows: Records, controls: Records, params: Records, flow: int, now_ps: int) -> None:
    """The timer ran out."""
    kind = controls[flow]["kind"]
    if kind == DELAY:
        delay.on_loss(flows, controls, params, flow, now_ps)
    elif kind == TCP:
        tcp.on_timeout(flows, controls, params, flow)
