"""Which transport each flow has, the class it is put into, and the timers and windows that follow."""

from __future__ import annotations

import numpy as np

from eastwest.errors import UsageError
from eastwest.simulate.packet.cc import Control
from eastwest.simulate.packet.flows import SELECTIVE
from eastwest.simulate.packet.kernel import Records
from eastwest.simulate.packet.params import TCP_CONTROLS, TCP_RETRIES, TIMEOUT_UNIT_PS, PacketParams
from eastwest.simulate.packet.queues import RDMA, TCP
from eastwest.simulate.prepared import Prepared
from eastwest.simulate.scenario import Scenario
from eastwest.spec.mistakes import shown

CONTROL_OF = {"dcqcn": Control.DCQCN, "swift": Control.DELAY, "tcp": Control.TCP}
LANE_OF = {"rdma": RDMA, "best_effort": TCP}


def set_transports(prepared: Prepared, params: PacketParams, flows: Records, controls: Records) -> None:
    """Transport, class and timers of every flow: the scenario's, and those of single traffics. Raises UsageError for a
    traffic that there is not.
    """
    scenario = prepared.scenario
    names = [wish.name for wish in scenario.traffics]
    of_flow = prepared.traffic[prepared.message_of_flow]
    _set(scenario, params, flows, controls, np.ones(len(flows), np.bool_), scenario.transport, "")
    for wish in params.transports:
        if wish.traffic not in names:
            words = f"packet.transports: no traffic {shown(wish.traffic)}"
            raise UsageError(words, hint=f"traffics: {', '.join(names)}")
        rows = of_flow == names.index(wish.traffic)
        _set(scenario, params, flows, controls, rows, wish.transport, wish.queue)


def _set(
    scenario: Scenario,
    params: PacketParams,
    flows: Records,
    controls: Records,
    rows: np.typing.NDArray[np.bool_],
    transport: str,
    queue: str,
) -> None:
    """One transport of some flows, in a class, or in the usual one ("")."""
    is_tcp = transport == "tcp"
    controls["kind"][rows] = CONTROL_OF.get(transport, Control.FIXED)
    controls["control"][rows] = TCP_CONTROLS.index(params.tcp)
    flows["lane"][rows] = LANE_OF[queue or ("best_effort" if is_tcp else "rdma")]
    flows["is_ect"][rows] = not is_tcp or params.tcp == "dctcp"
    flows["timeout_ps"][rows] = scenario.wish.tcp.min_rto_ps if is_tcp else TIMEOUT_UNIT_PS << params.timeout
    flows["retries"][rows] = TCP_RETRIES if is_tcp else params.retries
    if is_tcp:
        flows["recovery"][rows] = SELECTIVE


def set_tcp(wishes: Records, scenario: Scenario) -> None:
    """Windows and timers of TCP in the parameters of a run, as the scenario's `tcp:` says."""
    row, tcp = wishes[0], scenario.wish.tcp
    row["least_timeout_ps"] = tcp.min_rto_ps
    row["initial_packets"] = tcp.initial_segments if tcp.slow_start else tcp.max_window_bytes / scenario.payload_bytes
    row["most_packets"] = max(1.0, tcp.max_window_bytes / scenario.payload_bytes)
