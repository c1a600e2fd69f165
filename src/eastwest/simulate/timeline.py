"""Events as rows of the engines: rates of links, and the ways that flows take after each change.

Switches that see a dead link send around it after `reroute_after`; until then what they hashed onto it waits. A
destination that no way leads to any more is a finding, and its flows wait.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from eastwest.finding import Finding
from eastwest.simulate.choice import Requests
from eastwest.simulate.flow.tables import EventKind, EventTable, PathTable
from eastwest.simulate.network import Ints, Level, Network, Place
from eastwest.simulate.routes import ranges
from eastwest.simulate.routing_paths import Paths, cut_between
from eastwest.simulate.scenario import Scenario
from eastwest.simulate.scenario_events import DEVICE_KINDS, LINK_KINDS, NIC_KINDS, EventWish
from eastwest.simulate.scenario_routes import router_of
from eastwest.simulate.sections import Mistakes
from eastwest.simulate.traffic import Traffic, unknown_host
from eastwest.spec.mistakes import shown
from eastwest.units import PS_PER_S, format_time

MAX_SHOWN = 20  # destinations without a way that are named
SPLITS_BY_RATE = ("adaptive",)


@dataclass(frozen=True, eq=False)
class Timeline:
    """Rows of events, the paths with those that come later, and the destinations that an event cuts off."""

    events: EventTable
    paths: PathTable
    cuts: tuple[Cut, ...]


@dataclass(frozen=True, eq=False)
class Cut:
    """Requests (n,) that no way leads to from `at_ps` on, and the network as it is then."""

    at_ps: int
    requests: Ints
    network: Network


@dataclass(eq=False)
class _State:
    """What changes as the time goes on; it lives while the timeline is made. `now` (n_requests,) path of each."""

    rates: Ints
    how: str
    now: Ints
    parts: list[Paths]
    n_paths: int
    top: Ints  # rate of each link when it is up
    is_down: NDArray[np.bool_]
    rows: list[Ints] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)

    def add(self, at_ps: int, kind: EventKind, subject: Ints, value: Ints | int) -> None:
        """More rows of events: (n,) subjects and values."""
        rows = np.zeros((len(subject), 4), np.int64)
        rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3] = at_ps, kind, subject, value
        self.rows.append(rows)


def timeline_of(
    scenario: Scenario, network: Network, traffic: Traffic, flow_first: Ints, requests: Requests, paths: Paths
) -> Timeline:
    """The timeline of a scenario. Raises InputError for links, devices and traffics that are not there."""
    links_of = [_links_of(event, network, scenario.mistakes) for event in scenario.events]
    for event in scenario.events:
        _refuse_unknown_traffic(event, scenario)
    scenario.mistakes.stop()
    n, rates = len(requests), network.links["rate_bps"]
    is_down = np.zeros(len(rates), np.bool_)
    state = _State(rates.copy(), scenario.load_balancing, np.arange(n), [paths], n, rates.copy(), is_down)
    numbered = enumerate(scenario.events)
    for at_ps, batch in groupby(numbered, key=lambda item: item[1].at_ps):
        before, how = state.rates.copy(), state.how
        for number, event in batch:
            _apply(event, links_of[number], state, network)
            state.add(at_ps, EventKind.FLOW_STOP, _stopped(event, scenario, traffic, flow_first), 0)
        state.rates = np.where(state.is_down, 0, state.top)
        changed = np.flatnonzero(before != state.rates).astype(np.int64)
        state.add(at_ps, EventKind.LINK_RATE, changed, state.rates[changed])
        is_cut = ((before[changed] == 0) != (state.rates[changed] == 0)).any()
        if is_cut or how != state.how or (state.how in SPLITS_BY_RATE and len(changed)):
            wait_ps = 0 if how != state.how else scenario.reroute_ps
            _reroute(state, at_ps + wait_ps, scenario, network, requests)
    return Timeline(_table(state.rows), _all_paths(state.parts), tuple(state.cuts))


def _links_of(event: EventWish, network: Network, mistakes: Mistakes) -> Ints:
    """(n,) links that an event changes; a mistake when they are not there."""
    if event.kind in LINK_KINDS:
        return _cables(event, network, mistakes)
    if event.kind in (*DEVICE_KINDS, *NIC_KINDS):
        return _device_links(event, network, mistakes)
    return np.zeros(0, np.int64)


def _cables(event: EventWish, network: Network, mistakes: Mistakes) -> Ints:
    """Both directions of all cables between two nodes, or of the first `count` of them."""
    nodes = [
        network.names[network.hosts[network.aliases[name]]] if name in network.aliases else name for name in event.names
    ]
    found = network.links_between(nodes[0], nodes[1])
    path = (*event.path, event.kind)
    unknown = [name for name, node in zip(event.names, nodes, strict=True) if node not in network.index]
    if unknown:
        mistakes.add("EW-SIM-023", path, found=shown(unknown[0]), known=_switch_names(network))
    elif not len(found):
        mistakes.add("EW-SIM-029", path, found=f"{event.names[0]} - {event.names[1]}")
    cables = np.unique(network.links["cable"][found])
    if event.count > len(cables) > 0:
        mistakes.add("EW-SIM-025", (*event.path, "count"), found=f"{event.count:,}", limit=f"{len(cables):,}")
    wanted = cables[: event.count] if event.count else cables
    return found[np.isin(network.links["cable"][found], wanted)]


def _switch_names(network: Network) -> str:
    """The first and last name of each kind of switch."""
    found = []
    for place in (Place.LEAF, Place.SPINE, Place.CORE, Place.BOX):
        nodes = np.flatnonzero(network.kinds == place)
        if len(nodes):
            found.append(f"{network.names[nodes[0]]} … {network.names[nodes[-1]]}")
    return ", ".join(found)


def _device_links(event: EventWish, network: Network, mistakes: Mistakes) -> Ints:
    name, path = event.names[0], (*event.path, event.kind)
    if event.kind == "middlebox_rate":
        found = network.links_between(name, f"{name}:out")
        if not len(found):
            boxes = [network.names[node] for node in np.flatnonzero(network.kinds == Place.BOX)]
            known = ", ".join(box for box in boxes if not box.endswith(":out")) or "-"
            mistakes.add("EW-SIM-023", path, found=shown(name), known=known)
        return found
    host = network.host_index.get(name, -1)
    if host < 0:
        words = unknown_host(name, network)
        mistakes.add(words.pop("code"), path, **words)
        return np.zeros(0, np.int64)
    hosts = device_hosts(name, network)
    nics = np.unique(network.nic[hosts])
    if event.kind == "pcie_limit":
        node = network.hosts[hosts]
        touches = np.isin(network.links["src"], node) | np.isin(network.links["dst"], node)
        slots = np.flatnonzero((network.links["level"] == Level.PCIE) & touches)
        if len(slots):
            return slots.astype(np.int64)
    n_ports = network.up.shape[1]
    if event.count > n_ports:
        mistakes.add("EW-SIM-025", (*event.path, "count"), found=f"{event.count:,}", limit=f"{n_ports:,}")
    wanted = event.count or n_ports
    ports = np.concatenate([network.up[nics, :wanted].ravel(), network.down[nics, :wanted].ravel()])
    return ports[ports >= 0]


def device_hosts(name: str, network: Network) -> Ints:
    """(n,) hosts of a name: one, or all of a server."""
    host = network.host_index[name]
    if name not in network.aliases:
        return np.array([host], np.int64)
    return np.flatnonzero(network.server == network.server[host]).astype(np.int64)


def _refuse_unknown_traffic(event: EventWish, scenario: Scenario) -> None:
    names = [wish.name for wish in scenario.traffics]
    if event.kind in ("job_start", "job_stop") and event.names[0] not in names:
        words = {"found": shown(event.names[0]), "known": ", ".join(names)}
        scenario.mistakes.add("EW-SIM-023", (*event.path, event.kind), **words)


def _apply(event: EventWish, links: Ints, state: _State, network: Network) -> None:
    """What an event makes of the rates and of the settings; what is slowed while it is down comes up slow, and only
    `link_up` brings a link back, at its full rate.
    """
    full = network.links["rate_bps"][links]
    if event.kind in ("link_down", "link_up", *NIC_KINDS):
        state.is_down[links] = event.kind.endswith("_down")
    if event.kind in ("link_up", "nic_up"):
        state.top[links] = full
    elif event.kind in ("link_degraded", "nic_slow", "pcie_limit"):
        state.top[links] = np.minimum(full, event.rate_bps)
    elif event.kind == "middlebox_rate":
        state.top[links] = event.rate_bps
    elif event.kind == "config":
        state.how = event.config["load_balancing"]


def _stopped(event: EventWish, scenario: Scenario, traffic: Traffic, first: Ints) -> Ints:
    """(n,) flows of a traffic that is stopped."""
    if event.kind != "job_stop":
        return np.zeros(0, np.int64)
    number = [wish.name for wish in scenario.traffics].index(event.names[0])
    messages = np.flatnonzero(traffic.number == number)
    return ranges(first[messages], first[messages + 1] - first[messages])


def _reroute(state: _State, at_ps: int, scenario: Scenario, network: Network, requests: Requests) -> None:
    """New ways of all requests from `at_ps` on, where they differ from those of now."""
    changed = network.with_rates(state.rates)
    found = router_of(scenario, changed, state.how).paths(requests)
    whole = _all_paths(state.parts)
    differs = found.reached & ~_same(found, whole, state.now)
    rows = np.flatnonzero(differs).astype(np.int64)
    state.parts.append(_some(found, rows))
    state.now[rows] = state.n_paths + np.arange(len(rows))
    state.n_paths += len(rows)
    state.add(at_ps, EventKind.PATH_SWAP, rows, state.now[rows])
    lost = np.flatnonzero(~found.reached).astype(np.int64)
    if len(lost):
        state.cuts.append(Cut(at_ps, lost, changed))


def judge_cuts(cuts: tuple[Cut, ...], requests: Requests, path: Ints, end_ps: Ints) -> Iterator[Finding]:
    """Destinations that are cut off while flows still have something to send to them: `path` (n_flows,) request of
    each flow, `end_ps` (n_flows,) its end, below zero when it has none.
    """
    for cut in cuts:
        waits = (end_ps < 0) | (end_ps > cut.at_ps)
        lost = cut.requests[np.isin(cut.requests, path[waits])]
        names, hosts = cut.network.names, cut.network.hosts
        for row in lost[:MAX_SHOWN].tolist():
            src, dst = int(requests.src[row]), int(requests.dst[row])
            ends = {"src": names[hosts[src]], "dst": names[hosts[dst]]}
            missing = ", ".join(cut_between(cut.network, src, dst)[:MAX_SHOWN]) or "-"
            words = {"cut": missing, "n_lost": len(lost), "at": format_time(cut.at_ps / PS_PER_S)}
            yield Finding("EW-SIM-035", "error", f"{ends['src']} - {ends['dst']}", args=ends | words)


def _same(found: Paths, whole: PathTable, now: Ints) -> NDArray[np.bool_]:
    """(n,) whether each new way is the one of now."""
    lengths = np.diff(found.first)
    old_first = whole.offsets[:-1][now]
    same = lengths == whole.offsets[1:][now] - old_first
    row = np.repeat(np.arange(len(lengths)), lengths)
    turn = np.arange(len(found.links)) - found.first[:-1][row]
    usable = same[row]
    slot = np.where(usable, old_first[row] + turn, 0)
    equal = (whole.links[slot] == found.links) & (np.abs(whole.shares[slot] - found.shares) <= 1e-12)
    differs = np.bincount(row[usable & ~equal], minlength=len(lengths)) > 0
    result: NDArray[np.bool_] = same & ~differs
    return result


def _some(paths: Paths, rows: Ints) -> Paths:
    """Only these rows."""
    lengths = np.diff(paths.first)[rows]
    slot = ranges(paths.first[:-1][rows], lengths)
    first = np.r_[0, np.cumsum(lengths)].astype(np.int64)
    return Paths(first, paths.links[slot], paths.shares[slot], paths.delay_ps[rows], paths.reached[rows])


def _all_paths(parts: list[Paths]) -> PathTable:
    """All paths one after another."""
    shifts = np.cumsum([0, *(len(part.links) for part in parts)])
    first = [part.first[:-1] + shift for part, shift in zip(parts, shifts[:-1], strict=True)]
    return PathTable(
        np.concatenate([*first, shifts[-1:]]).astype(np.int64),
        np.concatenate([part.links for part in parts]).astype(np.int32),
        np.concatenate([part.shares for part in parts]).astype(np.float64),
        np.concatenate([part.delay_ps for part in parts]).astype(np.int64),
    )


def _table(rows: list[Ints]) -> EventTable:
    """The rows in the order of time; of the same time in the order in which they were found."""
    found = np.concatenate([np.zeros((0, 4), np.int64), *rows])
    at_ps, kind, subject, value = found[np.argsort(found[:, 0], kind="stable")].T.copy()
    return EventTable(at_ps, kind.astype(np.int8), subject, value)
