"""A scenario ready to run: its network, messages as flows, their paths, and the timeline, in the engines' tables."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eastwest.errors import InputError, UsageError
from eastwest.simulate.choice import Requests
from eastwest.simulate.flow.tables import NO_CAP_BPS, EventKind, EventTable, FlowTable, LinkTable, PathTable
from eastwest.simulate.messages import Messages, Way
from eastwest.simulate.network import Ints, Network, Place
from eastwest.simulate.network_inline import build_inline
from eastwest.simulate.routes import ranges
from eastwest.simulate.routing_paths import Paths, cut_between
from eastwest.simulate.scenario import Scenario, settled
from eastwest.simulate.scenario_routes import router_of
from eastwest.simulate.scenario_traffic import MAX_QPS, StepWish
from eastwest.simulate.step_rows import StepRows
from eastwest.simulate.step_site import SiteJobs, site_jobs
from eastwest.simulate.timeline import Cut, timeline_of
from eastwest.simulate.traffic import Traffic, traffic_of
from eastwest.simulate.transport_drops import Drops, drops_of

MAX_SHOWN = 20  # destinations without a way that are named
MAX_PATH_LINKS = 100_000_000  # links of all paths together: 2 GB
_TRAFFIC_SHIFT, _WAY_SHIFT = 24, 48  # bits of a flow's label: queue pair and channel, number of traffic, flowlet's way
MOST_MARKS = 32_000_000  # range of values up to which marks are faster than sorting


@dataclass(frozen=True, eq=False)
class Prepared:
    """What every engine reads. `flow_first` (n_messages + 1,) are the flows of each message (its queue pairs),
    `requests` (n_paths,) what the first paths were asked for: those of the flows, before any event. With flowlets every
    `n_ways` requests in turn are the ways that the flowlets of one pair choose from, and flows name the first of them.
    """

    scenario: Scenario
    network: Network
    messages: Messages
    traffic: Ints
    flow_first: Ints
    requests: Requests
    links: LinkTable
    paths: PathTable
    flows: FlowTable
    events: EventTable
    cuts: tuple[Cut, ...]
    steps: tuple[StepRows, ...] = ()
    n_ways: int = 1
    drops: Drops | None = None

    @property
    def request_of_path(self) -> Ints:
        """(n_paths,) request that each path is a way of: those of now, and those that come with an event."""
        found = np.arange(self.paths.n_paths, dtype=np.int64)
        is_swap = self.events.kind == EventKind.PATH_SWAP
        found[self.events.value[is_swap]] = self.events.subject[is_swap]
        return found

    @property
    def message_of_flow(self) -> Ints:
        """(n_flows,) message that each flow is a part of."""
        n = len(self.messages)
        return np.repeat(np.arange(n, dtype=np.int64), np.diff(self.flow_first))


def network_of(scenario: Scenario) -> tuple[Scenario, Network, SiteJobs | None]:
    """A scenario with nothing left open, its network: inline, or of its site, and the site's jobs when a step of one is
    asked for. Raises InputError with the mistakes of the site.
    """
    if scenario.fabric is not None:
        return scenario, build_inline(scenario.fabric), None
    from eastwest.fabric.topology import build
    from eastwest.simulate.network_fabric import network_of_fabric
    from eastwest.spec.load import load_site
    from eastwest.spec.resolve import resolve_server

    site = load_site(scenario.folder / scenario.site).site
    fabric = build(site)
    errors = [finding for finding in fabric.findings if finding.severity == "error"]
    if any(finding.code == "EW-FAB-019" for finding in errors):
        raise InputError(errors)
    has_steps = any(isinstance(wish.what, StepWish) for wish in scenario.traffics)
    folder = (scenario.folder / scenario.site).parent
    jobs = site_jobs(site, fabric, folder) if has_steps else None
    return settled(scenario, site), network_of_fabric(fabric, resolve_server(site.servers[0])), jobs


def prepare(scenario: Scenario) -> Prepared:
    """The tables of a scenario. Raises InputError for every name, host and destination that does not fit."""
    scenario, network, jobs = network_of(scenario)
    drops = drops_of(scenario, network)
    traffic = traffic_of(scenario, network, jobs)
    router = router_of(scenario, network)
    flow_first, requests, path = _requests(scenario, network, traffic)
    paths = router.paths(requests)
    _refuse_unreachable(scenario, network, requests, paths)
    line = timeline_of(scenario, network, traffic, flow_first, requests, paths)
    flows = _flows(scenario, traffic, flow_first, path)
    rates, events = network.links["rate_bps"].copy(), line.events
    if drops is not None and len(drops.policed):
        rates[drops.policed] = np.where(rates[drops.policed] > 0, drops.police_bps[drops.policed], 0)
        events = _policed_events(events, drops, network)
    links = LinkTable(rates, network.links["delay_ps"].copy())
    return Prepared(
        scenario,
        network,
        traffic.messages,
        traffic.number,
        flow_first,
        requests,
        links,
        line.paths,
        flows,
        events,
        line.cuts,
        traffic.steps,
        _n_ways(scenario),
        drops,
    )


def _policed_events(events: EventTable, drops: Drops, network: Network) -> EventTable:
    """The events with rates of policed cables not above their policers; a box's limit is its policer's rate."""
    is_cable = (events.kind == EventKind.LINK_RATE) & (events.value > 0)
    subject = np.where(is_cable, events.subject, 0)
    is_cable &= np.isfinite(drops.police_bps[subject]) & (network.kinds[network.links["src"][subject]] != Place.BOX)
    value = events.value.copy()
    value[is_cable] = np.minimum(value[is_cable], drops.police_bps[subject[is_cable]].astype(np.int64))
    return replace(events, value=value)


def _requests(scenario: Scenario, network: Network, traffic: Traffic) -> tuple[Ints, Requests, Ints]:
    """(n_messages + 1,) first flow of each message, the different requests, and (n_flows,) the request of each flow."""
    messages = traffic.messages
    qps = np.array([wish.qps for wish in scenario.traffics], np.int64)[traffic.number]
    first = np.r_[0, np.cumsum(qps)].astype(np.int64)
    message = np.repeat(np.arange(len(messages), dtype=np.int64), qps)
    label = messages.channel[message] * MAX_QPS + np.arange(len(message)) - first[message]
    if scenario.transport == "tcp":
        label += traffic.number[message] << _TRAFFIC_SHIFT
    elif scenario.load_balancing not in ("ecmp", "flowlet") and network.up.shape[1] == 1:
        label = np.zeros_like(label)
    pair = (messages.src * network.n_hosts + messages.dst) * len(Way) + messages.way
    pairs, number = _distinct(pair)
    labels, of_label = _distinct(label)
    keys, path = _distinct(number[message] * len(labels) + of_label)
    pair, label = pairs[keys // len(labels)], labels[keys % len(labels)]
    n_ways = _n_ways(scenario)
    if n_ways > 1:  # the label of each way, so that every switch hashes it anew
        turn = np.tile(np.arange(n_ways, dtype=np.int64) << _WAY_SHIFT, len(pair))
        pair, label, path = np.repeat(pair, n_ways), np.repeat(label, n_ways) + turn, path * n_ways
    host, way = pair // len(Way), (pair % len(Way)).astype(np.int8)
    requests = Requests(host // network.n_hosts, host % network.n_hosts, label, way)
    return first, requests, path


def _n_ways(scenario: Scenario) -> int:
    """Ways that a flowlet chooses from."""
    return scenario.wish.flowlet.ways if scenario.load_balancing == "flowlet" else 1


def _distinct(values: Ints) -> tuple[Ints, Ints]:
    """The different values in order, and (n,) which of them each one is; by marks where their range is small."""
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    if high - low > MOST_MARKS:
        found, number = np.unique(values, return_inverse=True)
        return found, number.reshape(-1).astype(np.int64)
    marks = np.zeros(high - low + 1, np.bool_)
    marks[values - low] = True
    numbers = np.cumsum(marks, dtype=np.int64) - 1
    return np.flatnonzero(marks).astype(np.int64) + low, numbers[values - low]


def _refuse_unreachable(scenario: Scenario, network: Network, requests: Requests, paths: Paths) -> None:
    """Raises InputError that names destinations without a way, and the cut."""
    if len(paths.links) > MAX_PATH_LINKS:
        raise UsageError(
            f"{len(paths.links):,} links on all paths together do not fit memory",
            hint="use fewer flows, or ecmp instead of spray",
        )
    lost = np.flatnonzero(~paths.reached)
    for row in lost[:MAX_SHOWN].tolist():
        src, dst = int(requests.src[row]), int(requests.dst[row])
        words = {"src": network.names[network.hosts[src]], "dst": network.names[network.hosts[dst]]}
        cut = ", ".join(cut_between(network, src, dst)[:MAX_SHOWN]) or "-"
        scenario.mistakes.add("EW-SIM-022", ("traffic",), cut=cut, n_lost=len(lost), **words)
    scenario.mistakes.stop()


def _flows(scenario: Scenario, traffic: Traffic, first: Ints, path: Ints) -> FlowTable:
    """Flows of all messages, in wire bytes; a flow waits for all flows of the messages that its message waits for."""
    messages, n = traffic.messages, len(path)
    counts = np.diff(first)
    message = np.repeat(np.arange(len(messages), dtype=np.int64), counts)
    turn = np.arange(n, dtype=np.int64) - first[message]
    size, qps = messages.size_bytes[message], counts[message]
    part = (turn + 1) * size // qps - turn * size // qps
    parents = _parents(messages, first, counts, message)
    wishes = scenario.traffics

    return FlowTable(
        wire_bytes(part, scenario.payload_bytes, scenario.overhead_bytes),
        path.astype(np.int32),
        messages.start_ps[message].astype(np.int64),
        np.array([wish.weight for wish in wishes])[traffic.number[message]],
        np.array([wish.cap_bps or NO_CAP_BPS for wish in wishes], np.int64)[traffic.number[message]],
        np.array([wish.priority for wish in wishes], np.int8)[traffic.number[message]],
        *parents,
        messages.parent_delay_ps[message].astype(np.int64),
    )


def _parents(messages: Messages, first: Ints, counts: Ints, message: Ints) -> tuple[Ints, NDArray[np.int32]]:
    """(n_flows + 1,) first and (m,) parents of each flow."""
    if len(message) == len(messages):
        return messages.parent_first, messages.parents.astype(np.int32)
    n_waits = np.diff(messages.parent_first)[message]
    waits = messages.parents[ranges(messages.parent_first[:-1][message], n_waits)]
    n_each = counts[waits]
    flows = ranges(first[waits], n_each)
    ends = np.r_[0, np.cumsum(n_each)]
    begins = np.r_[0, np.cumsum(n_waits)]
    return ends[begins].astype(np.int64), flows.astype(np.int32)


def wire_bytes(size_bytes: Ints, payload_bytes: int, overhead_bytes: int) -> Ints:
    """(n,) int64 bytes on the wire: every packet of at most `payload_bytes` carries `overhead_bytes` more.

    >>> wire_bytes(np.array([10_000_000]), 4096, 64).tolist()
    [10156288]
    """
    packets = -(-size_bytes // payload_bytes)
    found: Ints = size_bytes + packets * overhead_bytes
    return found
