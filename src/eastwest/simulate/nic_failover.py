"""NICs that went down: which pairs of hosts go over another port or NIC, and which wait."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from eastwest.finding import Finding
from eastwest.simulate.flow.tables import EventKind, FlowOutcome, FlowState
from eastwest.simulate.prepared import Prepared
from eastwest.simulate.timeline import device_hosts
from eastwest.units import PS_PER_S, format_time


def nic_findings(prepared: Prepared, outcome: FlowOutcome) -> Iterator[Finding]:
    """One finding for each NIC that goes down under traffic: an error when some of it waits."""
    scenario, network, events = prepared.scenario, prepared.network, prepared.events
    requests, path = prepared.requests, prepared.flows.path
    for event in scenario.events:
        if event.kind != "nic_down":
            continue
        hosts = device_hosts(event.names[0], network)
        hit = np.isin(requests.src, hosts) | np.isin(requests.dst, hosts)
        is_open = ((outcome.end_ps < 0) | (outcome.end_ps > event.at_ps)) & (outcome.state != FlowState.STOPPED)
        rows = np.flatnonzero(hit & np.isin(np.arange(len(requests)), path[is_open]))
        times = (event.at_ps, event.at_ps + scenario.reroute_ps)
        is_swap = (events.kind == EventKind.PATH_SWAP) & np.isin(events.at_ps, times)
        lost = [cut.requests for cut in prepared.cuts if cut.at_ps in times]
        waiting = int(np.isin(rows, np.concatenate(lost) if lost else []).sum())
        moved = int(np.isin(rows, events.subject[is_swap]).sum())
        if waiting or moved:
            words = {"at": format_time(event.at_ps / PS_PER_S), "moved": moved, "waiting": waiting}
            severity: Literal["error", "info"] = "error" if waiting else "info"
            yield Finding("EW-SIM-041", severity, event.names[0], 0, waiting, "", words)
