"""From a prepared scenario to the tables of a packet run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eastwest.errors import UsageError
from eastwest.simulate.flow.world import children_of
from eastwest.simulate.network import Ints, Place
from eastwest.simulate.packet.cc.control import CONTROL
from eastwest.simulate.packet.events import (
    CALM,
    CLOCK,
    DUE,
    INDEX_BITS,
    KIND_BITS,
    MAX_INDEX,
    OUTSIDE,
    START,
    STORM,
    WATCH,
)
from eastwest.simulate.packet.flows import FLOW, GO_BACK_N, SELECTIVE, UNORDERED, WAITING
from eastwest.simulate.packet.kernel import NONE, Records, table
from eastwest.simulate.packet.lb import BALANCES, Balance
from eastwest.simulate.packet.link import BITS_PER_BYTE, PS_PER_S
from eastwest.simulate.packet.memory import memory_of, queues_of
from eastwest.simulate.packet.params import (
    ANSWER_BYTES,
    PacketParams,
    table_of,
)
from eastwest.simulate.packet.pool import PACKET
from eastwest.simulate.packet.ports import PortRows, port_rows, set_devices
from eastwest.simulate.packet.queues import N_LANES, RDMA
from eastwest.simulate.packet.settings import planned_settings, set_settings, site_params
from eastwest.simulate.packet.transports import set_tcp, set_transports
from eastwest.simulate.packet.ways import Routes, routes_of
from eastwest.simulate.packet.wiring import links_of
from eastwest.simulate.packet.world import World
from eastwest.simulate.prepared import Prepared
from eastwest.spec.mistakes import shown

FIRST_PACKETS = 1 << 14
ALL = (1 << 31) - 1  # as many packets as are missing


def build_world(prepared: Prepared, params: PacketParams) -> tuple[World, Routes]:
    """The tables at time 0, with starts due of the flows that wait for no other, and the routes. Raises UsageError."""
    network, scenario = prepared.network, prepared.scenario
    n_flows, n_links = prepared.flows.n_flows, len(network.links)
    if max(n_flows, n_links * N_LANES) > MAX_INDEX:
        raise UsageError(
            f"{n_flows:,} flows on {n_links:,} links are too many for the packet engine", hint="use --engine flow"
        )
    packet_bytes = scenario.payload_bytes + scenario.overhead_bytes
    ports, params = _behaviour(prepared, params, packet_bytes)
    ingress, nodes = memory_of(network, ports, params, packet_bytes)
    routes = routes_of(prepared)
    offsets, children = children_of(prepared.flows.parent_offsets, prepared.flows.parents)
    flows, controls = _flows(prepared, params, routes)
    is_host = network.kinds[network.links["src"]] == Place.HOST
    host_bps = int(network.links["rate_bps"][is_host].max(initial=1))
    wishes = table_of(params, scenario.payload_bytes, scenario.overhead_bytes, host_bps)
    world = World(
        np.zeros(most_events(prepared), DUE),
        _clock(n_flows, scenario.seed),
        table(FIRST_PACKETS, PACKET),
        links_of(prepared, ports, params),
        queues_of(ports, params),
        ingress,
        nodes,
        flows,
        controls,
        wishes,
        routes.links,
        routes.ways,
        np.zeros(int(flows["n_packets"].sum()) if flows["recovery"].any() else 1, np.uint8),
        offsets.astype(np.int32),
        children.astype(np.int32),
    )
    set_tcp(wishes, scenario)
    _first_events(world, prepared)
    return world, routes


def _behaviour(prepared: Prepared, params: PacketParams, packet_bytes: int) -> tuple[PortRows, PacketParams]:
    """How every port behaves, and the parameters with what the site's hosts and watchdogs say."""
    network, scenario = prepared.network, prepared.scenario
    settings = planned_settings(scenario)
    params = params if settings is None else site_params(params, settings)
    ports = port_rows(network, scenario.transport, params, packet_bytes)
    if settings is not None:
        set_settings(ports, network, params, settings)
    set_devices(ports, network, scenario.transport, params)
    return ports, params


def most_events(prepared: Prepared) -> int:
    """Events that can be due at once: of a link its transmitter, its wire and the pause frames that it will obey; of a
    class of it the end of its pause and the refreshing of the one that it asks for, or the room that comes back and the
    lifetime at the head of its queue; of a flow its start, its pace and its timer; the changes from outside, the
    storms, and the watchdog.
    """
    n_links, n_storms = len(prepared.network.links), len(prepared.scenario.packet.storms)
    most_cards = int(prepared.network.down.shape[1])
    seldom = prepared.events.n_events + 2 * n_storms * most_cards + 1
    return 3 * n_links + 2 * n_links * N_LANES + 3 * prepared.flows.n_flows + seldom


def _clock(n_flows: int, seed: int) -> Records:
    """(1,) CLOCK at time 0, with a key for each purpose of the draws."""
    clock = np.zeros(1, CLOCK)
    clock[0]["free_packet"], clock[0]["n_free"], clock[0]["n_open"] = NONE, FIRST_PACKETS, n_flows
    keys = np.random.default_rng(seed).integers(0, 1 << 62, 4)
    for name, key in zip(("mark_key", "error_key", "way_key", "jitter_key"), keys, strict=True):
        clock[0][name] = key
    return clock


def _first_events(world: World, prepared: Prepared) -> None:
    """What is due already: changes from outside, and starts of the flows without parents; in order, so it is a heap."""
    ready = np.flatnonzero(world.flows["n_parents"] == 0)
    n_outside, storms = prepared.events.n_events, _storms(prepared)
    looks = [[0, WATCH, 0]] if world.params[0]["watchdog"] else []
    more = np.array([*storms, *looks], np.int64).reshape(-1, 3)
    at = np.r_[prepared.events.at_ps, more[:, 0], world.flows["ready_ps"][ready]]
    kind = np.r_[np.full(n_outside, OUTSIDE), more[:, 1], np.full(len(ready), START)]
    index = np.r_[np.arange(n_outside), more[:, 2], ready]
    order = np.argsort(at, kind="stable")
    n = len(order)
    world.heap["at_ps"][:n] = at[order]
    code = (np.arange(n, dtype=np.int64) << (INDEX_BITS + KIND_BITS)) | (kind << INDEX_BITS)[order] | index[order]
    world.heap["code"][:n] = code
    world.clock[0]["n_due"] = world.clock[0]["sequence"] = n


def _storms(prepared: Prepared) -> list[list[int]]:
    """Time, kind and ingress group of each storm's begin and end. Raises UsageError for an unknown host."""
    network, found = prepared.network, []
    for storm in prepared.scenario.packet.storms:
        host = network.host_index.get(storm.host, NONE)
        if host == NONE:
            raise UsageError(
                f"packet.storms: no host {shown(storm.host)}", hint=f"hosts: {network.names[network.hosts[0]]} …"
            )
        for link in np.unique(network.down[network.nic[host]]).tolist():
            if link >= 0:
                group = link * N_LANES + RDMA
                found += [[storm.at_ps, STORM, group], [storm.at_ps + storm.length_ps, CALM, group]]
    return found


def _flows(prepared: Prepared, params: PacketParams, routes: Routes) -> tuple[Records, Records]:
    """Rows of flows and of their controls."""
    wanted, scenario = prepared.flows, prepared.scenario
    rows, controls = np.zeros(wanted.n_flows, FLOW), np.zeros(wanted.n_flows, CONTROL)
    payload, overhead = scenario.payload_bytes, scenario.overhead_bytes
    size = payload_of(prepared)
    packets = -(-size // payload)
    rows["n_packets"] = packets
    rows["full_size"] = payload + overhead
    rows["last_size"] = size - (packets - 1) * payload + overhead
    request = wanted.path.astype(np.int64)
    rows["route"], rows["back_route"] = routes.first[request], routes.first_back[request]
    rows["first_way"], rows["n_ways"] = routes.first_way[request], routes.n_ways
    rows["balance"] = how = BALANCES[scenario.load_balancing]
    rows["last_sent_ps"] = -(1 << 62)
    rows["recovery"] = SELECTIVE if params.recovery == "selective_repeat" else GO_BACK_N
    if how in (Balance.SPRAY, Balance.ADAPTIVE):
        rows["recovery"] = UNORDERED
    rows["first_bit"] = np.cumsum(packets) - packets
    rows["window"], rows["n_resend"] = params.window_packets, ALL
    rows["state"], rows["end_ps"], rows["notice_ps"] = WAITING, -1, -1
    rows["start_ps"] = -1
    rows["ready_ps"], rows["parent_delay_ps"] = wanted.start_ps, wanted.parent_delay_ps
    rows["n_parents"] = np.diff(wanted.parent_offsets)
    nic = routes.links[rows["route"]]
    line = np.where(nic >= 0, prepared.network.links["rate_bps"][np.maximum(nic, 0)], 1)
    controls["line_bps"] = np.minimum(line, wanted.cap_bps)
    controls["rate_bps"] = controls["target_bps"] = controls["line_bps"]
    controls["base_rtt_ps"] = base_rtt_ps(prepared, routes, rows)
    set_transports(prepared, params, rows, controls)
    return rows, controls


def base_rtt_ps(prepared: Prepared, routes: Routes, flows: Records) -> Ints:
    """(n_flows,) round trip of a full packet and its answer through an empty network, stored and forwarded."""
    links, is_link = prepared.network.links, routes.links != NONE
    delay = _sums(is_link, links["delay_ps"][routes.links])
    line = _sums(is_link, BITS_PER_BYTE * PS_PER_S / np.maximum(links["rate_bps"], 1)[routes.links])
    ends = np.flatnonzero(~is_link)
    total = np.zeros(len(flows))
    for begin, size in ((flows["route"], flows["full_size"]), (flows["back_route"], ANSWER_BYTES)):
        end = ends[np.searchsorted(ends, begin)]
        total += delay[end] - delay[begin] + size * (line[end] - line[begin])
    return total.astype(np.int64)


def _sums(is_link: NDArray[np.bool_], each: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n + 1,) sums up to each row of the routes."""
    return np.concatenate([[0.0], np.cumsum(np.where(is_link, each, 0.0))])


def payload_of(prepared: Prepared) -> Ints:
    """(n_flows,) bytes of data: a message's, in equal parts over its queue pairs."""
    counts = np.diff(prepared.flow_first)
    message = prepared.message_of_flow
    turn = np.arange(len(message), dtype=np.int64) - prepared.flow_first[message]
    size, qps = prepared.messages.size_bytes[message], counts[message]
    found: Ints = (turn + 1) * size // qps - turn * size // qps
    return found
