"""All flows and ports of a result as CSV text: every row, where the JSON document stops at some thousands."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from eastwest.simulate.result import SimResult
from eastwest.units import PS_PER_S

FLOW_COLUMNS = ("id", "traffic", "src", "dst", "bytes", "wire_bytes", "start_s", "fct_s", "retransmitted_packets")
PORT_COLUMNS = ("device", "port", "rate_bps", "tx_bytes")
QUEUE_COLUMNS = (
    "device",
    "port",
    "priority",
    "tx_bytes",
    "tx_packets",
    "ecn_marked_packets",
    "pfc_rx_frames",
    "pfc_tx_frames",
    "paused_s",
    "drops",
    "peak_queue_bytes",
)


def flows_csv(result: SimResult) -> str:
    """One line for each message; a time that there is not is empty."""
    flows, names, hosts = result.flows, result.network.names, result.network.hosts
    again = flows.sent_again.tolist() if flows.sent_again is not None else [""] * len(flows)
    columns = zip(
        flows.traffic.tolist(),
        flows.src.tolist(),
        flows.dst.tolist(),
        flows.size_bytes.tolist(),
        flows.wire_bytes.tolist(),
        flows.start_ps.tolist(),
        flows.fct_ps.tolist(),
        again,
        strict=True,
    )
    rows = (
        (
            number,
            result.traffics[traffic],
            names[hosts[src]],
            names[hosts[dst]],
            size,
            wire,
            start / PS_PER_S if start >= 0 else "",
            fct / PS_PER_S if fct >= 0 else "",
            more,
        )
        for number, (traffic, src, dst, size, wire, start, fct, more) in enumerate(columns)
    )
    return _text(FLOW_COLUMNS, rows)


def ports_csv(result: SimResult) -> str:
    """One line for each link that carried something, with queues one for each class."""
    network = result.network

    def ends(link: int) -> tuple[str, str]:
        return network.names[network.links["src"][link]], network.names[network.links["dst"][link]]

    if result.queues is None:
        used = np.flatnonzero(result.links.carried_bytes).tolist()
        rate, carried = result.links.rate_bps, result.links.carried_bytes
        return _text(PORT_COLUMNS, ((*ends(link), int(rate[link]), int(carried[link])) for link in used))
    queues = result.queues
    counted = (
        queues.priority,
        queues.tx_bytes,
        queues.tx_packets,
        queues.marked,
        queues.pfc_rx,
        queues.pfc_tx,
        queues.paused_ps / PS_PER_S,
        queues.dropped,
        queues.peak_bytes,
    )
    columns = zip(queues.link.tolist(), *(column.tolist() for column in counted), strict=True)
    return _text(QUEUE_COLUMNS, ((*ends(link), *values) for link, *values in columns))


def _text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return out.getvalue()
