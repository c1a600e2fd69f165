"""What a run's transport came to: retransmissions, time-outs, slow start, limits; as details and as findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eastwest.finding import Finding
from eastwest.policy.nccl import ACK_TIMEOUT_UNIT_S
from eastwest.simulate.analytic.tcp_rate import policed_ratio
from eastwest.simulate.flow.tables import FlowOutcome
from eastwest.simulate.flow.transport_table import WindowTable
from eastwest.simulate.network import Ints, Network
from eastwest.simulate.prepared import Prepared
from eastwest.simulate.scenario_transport import LossWish
from eastwest.simulate.transport_tables import Transport, crossing_requests
from eastwest.units import BITS_PER_BYTE, PS_PER_S, format_percent, format_rate, format_size, format_time

Floats = NDArray[np.float64]
SLOW_RATIO = 0.05  # of the time of the flows in slow start: a word is due
LOW_GAIN = 0.99  # of what is sent that arrives for good: below, a word is due
NARROW_RATIO = 0.99  # of the path's rate that a window allows: below, it limits


def details_of(prepared: Prepared, transport: Transport, outcome: FlowOutcome) -> dict[str, Any]:
    """What the JSON document says of the transport."""
    found: dict[str, Any] = {"kind": prepared.scenario.transport}
    if outcome.windows is not None:
        found |= _window_details(prepared, transport, outcome)
    if outcome.carried_bytes is not None:
        found |= _loss_details(transport, outcome)
        found["policers"] = [_policer(prepared, transport, outcome, link) for link in _policed(prepared)]
    if outcome.path is not None:
        moved = outcome.path != prepared.flows.path
        found["flowlets_on_another_way"] = int(moved.sum())
    return {"transport": found}


def _table(transport: Transport) -> WindowTable:
    """The windows of a run that has some."""
    assert transport.table is not None
    assert transport.table.windows is not None
    return transport.table.windows


def _window_details(prepared: Prepared, transport: Transport, outcome: FlowOutcome) -> dict[str, Any]:
    windows = outcome.windows
    assert windows is not None
    limit, by_loss = _limited(prepared, transport)
    return {
        "connections": len(windows.slow_ps),
        "slow_start_s": float(windows.slow_ps.sum()) / PS_PER_S,
        "slow_start_ratio": _slow_ratio(prepared, transport, outcome),
        "restarts_after_idle": int(windows.n_restarts.sum()),
        "window_limited_connections": int(limit.sum()),
        "loss_limited_connections": int((by_loss & windows.is_lossy).sum()),
    }


def _slow_ratio(prepared: Prepared, transport: Transport, outcome: FlowOutcome) -> float:
    """Part of the flows' time in which their connection was in slow start with a full window."""
    assert outcome.windows is not None
    is_tcp = transport.connection[prepared.flows.path] >= 0
    ended = is_tcp & (outcome.end_ps >= 0)
    spent = float((outcome.end_ps - outcome.start_ps)[ended].sum())
    return min(1.0, float(outcome.windows.slow_ps.sum()) / spent) if spent else 0.0


def _loss_details(transport: Transport, outcome: FlowOutcome) -> dict[str, Any]:
    assert outcome.carried_bytes is not None
    carried, good = float(outcome.carried_bytes.sum()), float(outcome.sent_bytes.sum())
    again = max(0.0, carried - good)
    return {
        "goodput_ratio": good / carried if carried else None,
        "retransmitted_bytes": round(again),
        "retransmitted_packets": round(again / transport.wire_bytes),
        "timeouts": int(transport.n_timeouts.sum()),
        "timeout_s": float(transport.tail_ps.sum()) / PS_PER_S,
    }


def _policed(prepared: Prepared) -> list[int]:
    """Links with a policer that carry a flow."""
    if prepared.drops is None:
        return []
    used = np.unique(prepared.paths.links)
    policed: list[int] = prepared.drops.policed[np.isin(prepared.drops.policed, used)].tolist()
    return policed


def _link_name(network: Network, link: int) -> str:
    row = network.links[link]
    return f"{network.names[row['src']]} -> {network.names[row['dst']]}"


def _policer(prepared: Prepared, transport: Transport, outcome: FlowOutcome, link: int) -> dict[str, Any]:
    """One policer: what was sent into it and how much arrived; for TCP what the windows use of it."""
    assert prepared.drops is not None
    assert outcome.carried_bytes is not None
    flows = _flows_over(prepared, outcome, link)
    carried, good = float(outcome.carried_bytes[flows].sum()), float(outcome.sent_bytes[flows].sum())
    rate = float(prepared.drops.police_bps[link])
    found: dict[str, Any] = {
        "link": _link_name(prepared.network, link),
        "rate_bps": rate,
        "burst_bytes": float(prepared.drops.burst_bytes[link]),
        "flows": len(flows),
        "sent_bytes": round(carried),
        "goodput_ratio": good / carried if carried else None,
    }
    if prepared.scenario.transport == "tcp" and len(flows):
        rtt = float(transport.rtt_ps[prepared.flows.path[flows]].max()) / PS_PER_S
        in_flight = rate * rtt / BITS_PER_BYTE / transport.wire_bytes
        burst = float(prepared.drops.burst_bytes[link]) / transport.wire_bytes
        found["usable_ratio"] = policed_ratio(len(flows), in_flight, burst)
    return found


def _flows_over(prepared: Prepared, outcome: FlowOutcome, link: int) -> Ints:
    """(n,) flows whose first path has the link."""
    rows = np.searchsorted(prepared.paths.offsets, np.flatnonzero(prepared.paths.links == link), side="right") - 1
    path = prepared.flows.path if outcome.path is None else outcome.path
    return np.flatnonzero(np.isin(path, rows)).astype(np.int64)


def _limited(prepared: Prepared, transport: Transport) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(n_connections,) whether the greatest window, and whether the window under loss, allow less than the path."""
    windows = _table(transport)
    allowed = windows.most_bytes * BITS_PER_BYTE / (windows.rtt_ps / PS_PER_S)
    lossy = windows.loss_bytes * BITS_PER_BYTE / (windows.rtt_ps / PS_PER_S)
    rate = _path_rates(prepared, transport)
    return (allowed < NARROW_RATIO * rate) & (allowed <= lossy), (lossy < NARROW_RATIO * rate) & (lossy < allowed)


def _path_rates(prepared: Prepared, transport: Transport) -> Floats:
    """(n_connections,) the least rate on the first path of each, bit/s."""
    n = len(prepared.requests)
    end = int(prepared.paths.offsets[n])
    row = np.repeat(np.arange(n), np.diff(prepared.paths.offsets[: n + 1]))
    links, shares = prepared.paths.links[:end], prepared.paths.shares[:end]
    least = np.full(n, np.inf)
    np.minimum.at(least, row, prepared.links.rate_bps[links] / shares)
    found = np.full(int(transport.connection.max(initial=-1)) + 1, np.inf)
    mine = transport.connection >= 0
    np.minimum.at(found, transport.connection[mine], least[mine])
    return found


def findings_of(prepared: Prepared, transport: Transport, outcome: FlowOutcome) -> Iterator[Finding]:
    """What is worth a word about the transport."""
    if outcome.windows is not None:
        yield from _window_findings(prepared, transport, outcome)
    if outcome.carried_bytes is not None:
        yield from _loss_findings(prepared, transport, outcome)
    if prepared.scenario.transport == "tcp":
        yield Finding("EW-SIM-049", "info", "tcp", args={"idle": prepared.scenario.wish.tcp.idle})


def _window_findings(prepared: Prepared, transport: Transport, outcome: FlowOutcome) -> Iterator[Finding]:
    windows, ratio = outcome.windows, _slow_ratio(prepared, transport, outcome)
    assert windows is not None
    n_restarts, n = int(windows.n_restarts.sum()), len(windows.slow_ps)
    if ratio >= SLOW_RATIO:
        words = {
            "ratio": format_percent(ratio),
            "n": n,
            "restarts": n_restarts,
            "slow": format_time(float(windows.slow_ps.mean()) / PS_PER_S),
        }
        yield Finding("EW-SIM-040", "warning", "tcp", SLOW_RATIO, ratio, "", words)
    limited, lossy = _limited(prepared, transport)
    rates, table = _path_rates(prepared, transport), _table(transport)
    if limited.any():
        worst = int(np.argmin(np.where(limited, table.most_bytes / table.rtt_ps, np.inf)))
        rtt_s = float(table.rtt_ps[worst]) / PS_PER_S
        allowed = float(table.most_bytes[worst]) * BITS_PER_BYTE / rtt_s
        words = {
            "n": int(limited.sum()),
            "total": n,
            "window": format_size(prepared.scenario.wish.tcp.max_window_bytes),
            "rtt": format_time(rtt_s),
            "allowed": format_rate(allowed),
            "rate": format_rate(float(rates[worst])),
            "needed": format_size(float(rates[worst]) * rtt_s / BITS_PER_BYTE),
        }
        yield Finding("EW-SIM-042", "warning", "tcp", float(rates[worst]), allowed, "bit/s", words)
    lossy &= windows.is_lossy
    if lossy.any():
        yield _by_loss(prepared, transport, lossy, rates)


def _by_loss(prepared: Prepared, transport: Transport, lossy: NDArray[np.bool_], rates: Floats) -> Finding:
    table = _table(transport)
    worst = int(np.argmin(np.where(lossy, table.loss_bytes / table.rtt_ps, np.inf)))
    allowed = float(table.loss_bytes[worst]) * BITS_PER_BYTE / float(table.rtt_ps[worst]) * PS_PER_S
    request = int(np.flatnonzero(transport.connection == worst)[0])
    words = {
        "n": int(lossy.sum()),
        "total": len(lossy),
        "loss": f"{transport.loss_ratio[request]:.2g}",
        "rtt": format_time(float(table.rtt_ps[worst]) / PS_PER_S),
        "allowed": format_rate(allowed),
        "rate": format_rate(float(rates[worst])),
        "response": prepared.scenario.wish.tcp.response.upper(),
    }
    return Finding("EW-SIM-043", "warning", "tcp", float(rates[worst]), allowed, "bit/s", words)


def _loss_findings(prepared: Prepared, transport: Transport, outcome: FlowOutcome) -> Iterator[Finding]:
    found = _loss_details(transport, outcome)
    gain = found["goodput_ratio"]
    if gain is not None and gain < LOW_GAIN:
        words = {"gain": format_percent(gain), "again": format_size(found["retransmitted_bytes"])}
        words["packets"] = f"{found['retransmitted_packets']:,}"
        yield Finding("EW-SIM-044", "warning", prepared.scenario.transport, LOW_GAIN, gain, "", words)
    yield from _timeout_findings(prepared, transport, outcome)
    for link in _policed(prepared):
        item = _policer(prepared, transport, outcome, link)
        usable = item.get("usable_ratio", item["goodput_ratio"])
        if usable is not None and usable < LOW_GAIN:
            words = {
                "rate": format_rate(item["rate_bps"]),
                "n": item["flows"],
                "usable": format_percent(usable),
                "burst": format_size(item["burst_bytes"]),
            }
            code = "EW-SIM-047" if "usable_ratio" in item else "EW-SIM-048"
            yield Finding(code, "warning", item["link"], LOW_GAIN, usable, "", words)


def _timeout_findings(prepared: Prepared, transport: Transport, outcome: FlowOutcome) -> Iterator[Finding]:
    """Last packets that were lost, and connections that gave up."""
    loss = prepared.scenario.wish.loss or LossWish()
    is_waiting = (transport.n_timeouts > 0) & (outcome.end_ps >= 0)
    if is_waiting.any():
        words = {
            "n": int(is_waiting.sum()),
            "total": int(crossing_requests(prepared)[prepared.flows.path].sum()),
            "longest": format_time(float(transport.tail_ps[is_waiting].max()) / PS_PER_S),
        }
        yield Finding("EW-SIM-045", "warning", "timeout", 0, words["n"], "", words)
    if prepared.scenario.transport == "tcp":
        return
    broken = is_waiting & (transport.n_timeouts > loss.retries)
    if broken.any():
        words = {
            "n": int(broken.sum()),
            "retries": loss.retries,
            "timeout": format_time(ACK_TIMEOUT_UNIT_S * 2**loss.timeout),
        }
        yield Finding(
            "EW-SIM-046", "error", "retries", loss.retries, int(transport.n_timeouts[broken].max()), "", words
        )
