"""Windows, losses, time-outs and flowlets of a scenario as tables of the flow engine."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eastwest.policy.nccl import ACK_TIMEOUT_UNIT_S
from eastwest.simulate.analytic.tcp_rate import mathis_window, pftk_window
from eastwest.simulate.flow.tables import FlowOutcome, FlowTable, LinkTable, PathTable
from eastwest.simulate.flow.transport_table import (
    NO_IDLE_PS,
    FlowletTable,
    LossTable,
    TransportTable,
    WindowTable,
    windowed_links,
    windowed_paths,
)
from eastwest.simulate.network import Ints, Level
from eastwest.simulate.prepared import Prepared
from eastwest.simulate.scenario_transport import LossWish, TcpWish
from eastwest.units import PS_PER_S

Floats = NDArray[np.float64]
SELECTIVE = ("spray", "tcp")  # transports that send only what was lost again: SACK, and packets in any order
TAIL_SEED = 0x7A11  # beside the scenario's: which last packets are lost
LEAST_RTT_PS = 1.0  # of a path without delay


@dataclass(frozen=True, eq=False)
class Transport:
    """What the flow engine runs with, and what was found on the way.

    `connection` (n_requests,) of each request, -1 without one; `loss_ratio`, `rtt_ps` (n_requests,) of the first paths;
    `n_timeouts` (n_flows,) time-outs of the last packet, drawn; `tail_ps` (n_flows,) what they cost.
    """

    links: LinkTable
    paths: PathTable
    flows: FlowTable
    table: TransportTable | None
    connection: Ints
    loss_ratio: Floats
    rtt_ps: Floats
    n_timeouts: Ints
    tail_ps: Floats
    wire_bytes: int  # of a full packet


def transport_of(prepared: Prepared) -> Transport:
    """The tables of a scenario's transport; `table` is None when nothing but fair shares is asked for."""
    scenario, n = prepared.scenario, len(prepared.requests)
    tcp, is_tcp = scenario.wish.tcp, scenario.transport == "tcp"
    host_ps = tcp.host_delay_ps if is_tcp else 0
    rtt_ps = np.maximum(2.0 * prepared.paths.delay_ps[:n] + host_ps, LEAST_RTT_PS)
    crosses = crossing_requests(prepared)
    loss = scenario.wish.loss or LossWish()
    loss_ratio = _path_loss(prepared, crosses, loss.flow_ratio)
    connection = _connections(prepared, crosses) if is_tcp else np.full(n, -1, np.int64)
    wire = scenario.payload_bytes + scenario.overhead_bytes
    timeouts, tail_ps = _tails(prepared, loss, loss_ratio, rtt_ps)
    links, paths = prepared.links, prepared.paths
    windows = None
    if is_tcp and connection.max(initial=-1) >= 0:
        windows = _windows(prepared, connection, loss_ratio, rtt_ps, wire)
        links = windowed_links(links, windows)
        paths = windowed_paths(paths, connection[prepared.request_of_path], prepared.links.n_links)
    losses = None
    if prepared.drops is not None:
        losses = _losses(prepared, links.n_links, crosses, tail_ps, rtt_ps, float(wire), host_ps)
    flowlets = _flowlets(prepared) if prepared.n_ways > 1 else None
    has_any = windows is not None or losses is not None or flowlets is not None
    table = TransportTable(windows, losses, flowlets) if has_any else None
    return Transport(links, paths, prepared.flows, table, connection, loss_ratio, rtt_ps, timeouts, tail_ps, wire)


def of_real_links(outcome: FlowOutcome, n_links: int) -> FlowOutcome:
    """The outcome without the links that stand for windows."""
    if len(outcome.link_bytes) == n_links:
        return outcome
    return replace(
        outcome,
        link_bytes=outcome.link_bytes[:n_links],
        link_peak_bps=None if outcome.link_peak_bps is None else outcome.link_peak_bps[:n_links],
        link_busy_ps=None if outcome.link_busy_ps is None else outcome.link_busy_ps[:n_links],
        series_bytes=None if outcome.series_bytes is None else outcome.series_bytes[:n_links],
    )


def crossing_requests(prepared: Prepared) -> NDArray[np.bool_]:
    """(n_requests,) whether the first path leaves the scale-up domain: only there are packets, windows and losses."""
    n = len(prepared.requests)
    end = int(prepared.paths.offsets[n])
    row = np.repeat(np.arange(n), np.diff(prepared.paths.offsets[: n + 1]))
    is_network = prepared.network.links["level"][prepared.paths.links[:end]] >= Level.NIC
    found = np.zeros(n, np.bool_)
    found[row[is_network]] = True
    return found


def _path_loss(prepared: Prepared, crosses: NDArray[np.bool_], flow_ratio: float) -> Floats:
    """(n_requests,) part of the packets that the first path loses, policers aside."""
    found = np.where(crosses, flow_ratio, 0.0)
    if prepared.drops is None:
        return found
    n = len(crosses)
    end = int(prepared.paths.offsets[n])
    row = np.repeat(np.arange(n), np.diff(prepared.paths.offsets[: n + 1]))
    share, lost = prepared.paths.shares[:end], prepared.drops.ratio[prepared.paths.links[:end]]
    in_line = share == 1.0
    kept = np.bincount(row, np.where(in_line, np.log1p(-lost), 0.0), minlength=n)
    beside = np.minimum(np.bincount(row, np.where(in_line, 0.0, share * lost), minlength=n), 1 - 1e-12)
    result: Floats = -np.expm1(kept + np.log1p(-found) + np.log1p(-beside))
    return result


def _connections(prepared: Prepared, crosses: NDArray[np.bool_]) -> Ints:
    """(n_requests,) connection of each request: one for every queue pair or socket that crosses the network."""
    pair = np.arange(len(crosses), dtype=np.int64) // prepared.n_ways
    number = np.unique(pair[crosses], return_inverse=True)[1]
    found = np.full(len(crosses), -1, np.int64)
    found[crosses] = number.reshape(-1)
    return found


def _windows(prepared: Prepared, connection: Ints, loss_ratio: Floats, rtt_ps: Floats, wire: int) -> WindowTable:
    """The windows of all connections, in bytes on the wire."""
    tcp, payload = prepared.scenario.wish.tcp, prepared.scenario.payload_bytes
    n = int(connection.max()) + 1
    first = np.searchsorted(connection[connection >= 0], np.arange(n))
    request = np.flatnonzero(connection >= 0)[first]
    rtt, lost = rtt_ps[request], loss_ratio[request]
    most = np.full(n, float(max(tcp.max_window_bytes, payload)) * wire / payload)
    initial = np.minimum(float(tcp.initial_segments * wire), most) if tcp.slow_start else most
    weight = np.zeros(n)
    flows = _crossing_flows(prepared, connection)
    np.maximum.at(weight, connection[prepared.flows.path[flows]], prepared.flows.weight[flows])
    return WindowTable(
        first_link=prepared.links.n_links,
        rtt_ps=rtt,
        initial_bytes=initial,
        segment_bytes=np.full(n, float(wire)),
        most_bytes=most,
        loss_bytes=wire * loss_windows(tcp, lost, rtt),
        until_loss_bytes=np.divide(float(wire), lost, out=np.full(n, np.inf), where=lost > 0),
        idle_ps=np.full(n, NO_IDLE_PS) if tcp.idle == "off" else rto_ps(tcp, rtt),
        halves=tcp.idle == "linux",
        weight=np.maximum(weight, np.finfo(float).tiny),
    )


def _crossing_flows(prepared: Prepared, connection: Ints) -> Ints:
    return np.flatnonzero(connection[prepared.flows.path] >= 0).astype(np.int64)


def rto_ps(tcp: TcpWish, rtt_ps: Floats) -> Floats:
    """(n,) retransmission time-out: the round trip and, as Linux does, at least `min_rto` above it.

    Source: RFC 6298, section 2; Linux, tcp_set_rto (SRTT + RTTVAR, RTTVAR not below TCP_RTO_MIN).
    """
    return rtt_ps + tcp.min_rto_ps


def loss_windows(tcp: TcpWish, lost: Floats, rtt_ps: Floats) -> Floats:
    """(n,) mean window in segments under random loss; infinite without."""
    rto = rto_ps(tcp, rtt_ps) / PS_PER_S
    ways, number = np.unique(np.stack([lost, rtt_ps, rto]), axis=1, return_inverse=True)
    each = [
        mathis_window(p, tcp.segments_per_ack)
        if tcp.response == "mathis"
        else pftk_window(p, rtt / PS_PER_S, wait, tcp.segments_per_ack)
        for p, rtt, wait in ways.T.tolist()
    ]
    found: Floats = np.maximum(np.array(each), 1.0)[number.reshape(-1)]
    return found


def _tails(prepared: Prepared, loss: LossWish, loss_ratio: Floats, rtt_ps: Floats) -> tuple[Ints, Floats]:
    """(n_flows,) how often the last packet of each flow is lost in a row, and the time that costs, ps.

    Nothing that comes later can tell of the loss of a last packet: RoCE waits for its time-out of 4.096 us x 2^t, TCP
    for its tail probe (2 RTT, RFC 8985 section 7.2) and then for its time-out, twice as long each time.
    """
    path = prepared.flows.path
    lost, n = loss_ratio[path], len(path)
    if loss.tail == "ignored" or not lost.any():
        return np.zeros(n, np.int64), np.zeros(n)
    draw = np.random.default_rng([prepared.scenario.seed, TAIL_SEED]).random(n)
    with np.errstate(divide="ignore"):
        times = np.where(lost > 0, np.floor(np.log(draw) / np.log(lost)), 0.0)
    retries = loss.retries if prepared.scenario.transport != "tcp" else np.inf
    counted = np.minimum(times, retries + 1)
    if prepared.scenario.transport != "tcp":
        return counted.astype(np.int64), counted * ACK_TIMEOUT_UNIT_S * 2**loss.timeout * PS_PER_S
    tcp, rtt = prepared.scenario.wish.tcp, rtt_ps[path]
    rto = rto_ps(tcp, rtt)
    is_probed = tcp.has_tail_probe & (prepared.flows.size_bytes > _wire(prepared))  # a lone segment: the time-out
    probe = np.where((times > 0) & is_probed, 2 * rtt, 0.0)
    waits = np.where(is_probed, np.maximum(times - 1, 0), times)
    return times.astype(np.int64), probe + rto * (2.0**waits - 1)


def _wire(prepared: Prepared) -> int:
    return prepared.scenario.payload_bytes + prepared.scenario.overhead_bytes


def _losses(
    prepared: Prepared,
    n_links: int,
    crosses: NDArray[np.bool_],
    tail_ps: Floats,
    rtt_ps: Floats,
    wire: float,
    host_ps: int,
) -> LossTable:
    """Losses of links and flows; the links of windows lose nothing."""
    drops, loss = prepared.drops, prepared.scenario.wish.loss or LossWish()
    assert drops is not None
    is_tcp = prepared.scenario.transport == "tcp"
    recovery = loss.recovery or ("selective_repeat" if prepared.scenario.transport in SELECTIVE else "go_back_n")
    more = n_links - len(drops.ratio)
    return LossTable(
        link_ratio=np.r_[drops.ratio, np.zeros(more)],
        police_bps=np.r_[drops.police_bps, np.full(more, np.inf)],
        burst_bytes=np.r_[drops.burst_bytes, np.zeros(more)],
        answer_rtt_ps=np.r_[_longest_rtt(prepared, rtt_ps), np.zeros(more)],
        flow_ratio=np.where(crosses, loss.flow_ratio, 0.0)[prepared.flows.path],
        tail_ps=tail_ps,
        packet_bytes=wire,
        host_ps=float(host_ps),
        goes_back=recovery == "go_back_n" and not is_tcp,
        is_answered=is_tcp,
    )


def _longest_rtt(prepared: Prepared, rtt_ps: Floats) -> Floats:
    """(n_links,) the longest round trip of the first paths over each link."""
    n = len(rtt_ps)
    end = int(prepared.paths.offsets[n])
    row = np.repeat(np.arange(n), np.diff(prepared.paths.offsets[: n + 1]))
    found = np.zeros(prepared.links.n_links)
    np.maximum.at(found, prepared.paths.links[:end], rtt_ps[row])
    return found


def _flowlets(prepared: Prepared) -> FlowletTable:
    """The ways of each pair, and how one is chosen."""
    wish, n_ways = prepared.scenario.wish.flowlet, prepared.n_ways
    ways = np.arange(len(prepared.requests), dtype=np.int32).reshape(-1, n_ways)
    pair = (prepared.flows.path // n_ways).astype(np.int64)
    return FlowletTable(pair, ways, float(wish.gap_ps), wish.choice == "least_loaded")
