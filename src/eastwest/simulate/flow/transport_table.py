"""What flows do beside sharing links: windows of connections, losses and their recovery, flowlets. All optional.

`windowed_paths` adds the connections' links to the tables of a run: link `first_link + c` is the window of connection
c, the last link of each of its paths.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eastwest.errors import UsageError
from eastwest.simulate.flow.records import (
    AMOUNT_PER_BYTE,
    CONNECTION,
    DROP,
    DUE,
    FATE,
    FLOWLET,
    OPEN_BPS,
    PACE,
    Records,
)
from eastwest.simulate.flow.tables import Float64, Int32, Int64, LinkTable, PathTable

NO_IDLE_PS = np.inf  # `WindowTable.idle_ps`: pauses do not close windows


@dataclass(frozen=True, slots=True, eq=False)
class WindowTable:
    """Windows of connections, all columns (n_connections,), bytes on the wire.

    `idle_ps` is the pause after which a window begins again (`NO_IDLE_PS`: never), `halves` Linux's way: half for each
    such pause. `loss_bytes` is the mean window under the loss of the path, `until_loss_bytes` what is sent before the
    first loss is expected, both infinite without loss; `weight` the greatest of a connection's flows.
    """

    first_link: int
    rtt_ps: Float64
    initial_bytes: Float64
    segment_bytes: Float64
    most_bytes: Float64
    loss_bytes: Float64
    until_loss_bytes: Float64
    idle_ps: Float64
    halves: bool
    weight: Float64

    @property
    def n_connections(self) -> int:
        """Number of connections."""
        return len(self.rtt_ps)


@dataclass(frozen=True, slots=True, eq=False)
class LossTable:
    """Packets lost: `link_ratio`, `police_bps` (infinite: no policer), `burst_bytes` (n_links,); `flow_ratio`,
    `tail_ps` (n_flows,), how much later a last packet comes that was lost.

    `goes_back`: a loss costs the packets in flight, of `packet_bytes`, over a round trip of twice the path's delay and
    `host_ps`. `is_answered`: senders slow down before a policer, (n_links,) `answer_rtt_ps` being their round trip.
    """

    link_ratio: Float64
    police_bps: Float64
    burst_bytes: Float64
    answer_rtt_ps: Float64
    flow_ratio: Float64
    tail_ps: Float64
    packet_bytes: float
    host_ps: float
    goes_back: bool
    is_answered: bool


@dataclass(frozen=True, slots=True, eq=False)
class FlowletTable:
    """`pair` (n_flows,) whose flowlets a flow belongs to, `ways` (n_pairs, n_choices) path rows to choose from."""

    pair: Int64
    ways: Int32
    gap_ps: float
    by_load: bool


@dataclass(frozen=True, slots=True, eq=False)
class TransportTable:
    """What a run follows beside fair shares; None: not."""

    windows: WindowTable | None = None
    losses: LossTable | None = None
    flowlets: FlowletTable | None = None


def windowed_links(links: LinkTable, windows: WindowTable) -> LinkTable:
    """The links, and after them those of the connections, at the rate of the first window."""
    rates = np.minimum(windows.initial_bytes * AMOUNT_PER_BYTE / windows.rtt_ps, OPEN_BPS)
    return LinkTable(
        np.concatenate([links.rate_bps, rates.astype(np.int64)]),
        np.concatenate([links.delay_ps, np.zeros(windows.n_connections, np.int64)]),
    )


def windowed_paths(paths: PathTable, connection: Int64, first_link: int) -> PathTable:
    """The paths, each with its connection's link at the end; `connection` (n_paths,), -1: none."""
    ends = paths.offsets[1:][connection >= 0]
    links = np.insert(paths.links, ends, (first_link + connection[connection >= 0]).astype(np.int32))
    shares = np.insert(paths.shares, ends, 1.0)
    shift = np.r_[0, np.cumsum(connection >= 0)]
    return PathTable((paths.offsets + shift).astype(np.int64), links, shares, paths.delay_ps)


def connection_records(windows: WindowTable | None) -> tuple[Records, Records]:
    """CONNECTION rows, nothing sent yet, and room for their ticks."""
    n = 0 if windows is None else windows.n_connections
    found = np.zeros(n, CONNECTION)
    if windows is not None:
        found["window"] = found["initial"] = np.minimum(windows.initial_bytes, windows.most_bytes)
        found["segment"], found["most"] = windows.segment_bytes, windows.most_bytes
        found["loss_window"], found["until_loss"] = windows.loss_bytes, windows.until_loss_bytes
        found["threshold"], found["weight"] = np.inf, windows.weight
        found["rtt_ps"], found["idle_ps"] = windows.rtt_ps, windows.idle_ps
        found["round_end_ps"], found["loss_at_ps"], found["heap_at"] = np.inf, np.inf, -1
    return found, np.zeros(n, DUE)


def drop_records(losses: LossTable | None, n_flows: int) -> tuple[Records, Records, Records]:
    """DROP of each link, PACE of each slot and FATE of each flow; empty when nothing is lost."""
    if losses is None:
        return np.zeros(0, DROP), np.zeros(0, PACE), np.zeros(0, FATE)
    drops = np.zeros(len(losses.link_ratio), DROP)
    drops["ratio"], drops["police_bps"] = losses.link_ratio, losses.police_bps
    drops["burst"], drops["rtt_ps"], drops["segment"] = losses.burst_bytes, losses.answer_rtt_ps, losses.packet_bytes
    fates = np.zeros(n_flows, FATE)
    fates["ratio"], fates["tail_ps"] = losses.flow_ratio, losses.tail_ps
    return drops, np.zeros(n_flows, PACE), fates


def flowlet_records(flowlets: FlowletTable | None) -> tuple[Records, Int64, Int32]:
    """FLOWLET of each pair, nothing chosen yet; the pair of each flow; the ways of the pairs."""
    if flowlets is None:
        return np.zeros(0, FLOWLET), np.zeros(0, np.int64), np.zeros(0, np.int32)
    records = np.zeros(len(flowlets.ways), FLOWLET)
    records["last_ps"] = -np.inf
    ways = np.ascontiguousarray(flowlets.ways.ravel(), np.int32)
    return records, np.ascontiguousarray(flowlets.pair, np.int64), ways


def check_transport(transport: TransportTable, n_links: int, n_flows: int, n_paths: int) -> None:
    """Raises UsageError when a transport's tables do not fit those of the run."""
    windows, losses, flowlets = transport.windows, transport.losses, transport.flowlets
    wrong: list[str] = []
    if windows is not None:
        if windows.first_link + windows.n_connections != n_links:
            wrong.append(f"links {windows.first_link} to {n_links} are not one for each connection")
        if not (windows.rtt_ps > 0).all() or not (windows.initial_bytes > 0).all():
            wrong.append("a connection's round trip or first window is not above 0")
    if losses is not None:
        ratios = np.concatenate([losses.link_ratio, losses.flow_ratio])
        if not ((ratios >= 0) & (ratios < 1)).all():
            wrong.append("a loss ratio is not from 0 to below 1")
        if len(losses.link_ratio) != n_links or len(losses.flow_ratio) != n_flows:
            wrong.append("losses do not have a row for each link and flow")
    if flowlets is not None:
        out = (flowlets.ways < 0) | (flowlets.ways >= n_paths)
        if out.any() or len(flowlets.pair) != n_flows:
            wrong.append("flowlets do not name paths, or not a pair for each flow")
    if wrong:
        raise UsageError("; ".join(wrong))
