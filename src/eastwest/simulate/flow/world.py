"""The tables of a run, made from links, paths, flows and events."""

from __future__ import annotations

from typing import Any

import numpy as np

from eastwest.simulate.compiled import kernel_that_allocates
from eastwest.simulate.flow.records import (
    AMOUNT_PER_BYTE,
    BITS_PER_BYTE,
    DUE,
    ENTRY,
    EVENT,
    HOP,
    LINK,
    LOAD,
    OPEN_BPS,
    RUN,
    SLOT,
    STATE,
    WAY,
    Lists,
    Records,
    Wants,
    World,
)
from eastwest.simulate.flow.tables import (
    NO_CAP_BPS,
    EventTable,
    Float64,
    FlowTable,
    Int32,
    Int64,
    LinkTable,
    PathTable,
    RecordWish,
)
from eastwest.simulate.flow.transport_table import (
    LossTable,
    TransportTable,
    connection_records,
    drop_records,
    flowlet_records,
)

PRIORITIES = 256  # values of an int8
ROWS_PER_LINK = 4  # first length of the pool, for each link


@kernel_that_allocates
def children_of(parent_offsets: Int64, parents: Int32) -> tuple[Int64, Int32]:
    """Who waits for each flow, as compressed rows in the order of the flows that wait."""
    n_flows = len(parent_offsets) - 1
    offsets = np.zeros(n_flows + 1, np.int64)
    for parent in parents:
        offsets[parent + 1] += 1
    for flow in range(n_flows):
        offsets[flow + 1] += offsets[flow]
    children = np.empty(len(parents), np.int32)
    filled = offsets[:-1].copy()
    for flow in range(n_flows):
        for row in range(parent_offsets[flow], parent_offsets[flow + 1]):
            children[filled[parents[row]]] = flow
            filled[parents[row]] += 1
    return offsets, children


def wants_of(flows: FlowTable, child_offsets: Int64, children: Int32) -> Wants:
    """The columns of the flows that the kernels read."""
    return Wants(
        size_bytes=np.ascontiguousarray(flows.size_bytes, np.int64),
        path=np.ascontiguousarray(flows.path, np.int32),
        weight=np.ascontiguousarray(flows.weight, np.float64),
        cap_bps=np.where(flows.cap_bps == NO_CAP_BPS, np.inf, flows.cap_bps.astype(np.float64)),
        priority=np.ascontiguousarray(flows.priority, np.int8),
        parent_delay_ps=np.ascontiguousarray(flows.parent_delay_ps, np.int64),
        child_offsets=child_offsets,
        children=children,
    )


def _runs(flows: FlowTable) -> Records:
    runs = np.empty(flows.n_flows, RUN)
    runs["ready_ps"], runs["start_ps"], runs["end_ps"] = flows.start_ps, -1.0, -1.0
    runs["n_pending"], runs["slot"], runs["way"], runs["state"] = np.diff(flows.parent_offsets), -1, flows.path, 0
    return runs


def _lists(links: LinkTable, flows: FlowTable) -> Lists:
    first = np.flatnonzero(np.diff(flows.parent_offsets) == 0)
    starts = flows.start_ps[first]
    if len(starts) and (starts[1:] < starts[:-1]).any():
        first = first[np.argsort(starts, kind="stable")]
    per_slot = [np.empty(flows.n_flows, np.int64) for _ in range(4)]
    return Lists(
        firsts=first.astype(np.int64),
        free_slots=per_slot[0],
        touched=np.empty(links.n_links, np.int64),
        leaving=per_slot[1],
        fresh=per_slot[2],
        set_links=np.empty(links.n_links, np.int64),
        set_slots=per_slot[3],
        trail=np.empty(len(flows.parents) + 1, np.int64),
        present=np.zeros(PRIORITIES, np.int8),
    )


def _network(
    links: LinkTable, paths: PathTable, transport: TransportTable, connections: Records
) -> tuple[Records, Records, Records]:
    link_records = np.zeros(links.n_links, LINK)
    link_records["rate_bps"] = _policed(links, transport.losses)
    if transport.windows is not None:  # not in whole bit/s
        allowed = connections["window"] * AMOUNT_PER_BYTE / connections["rtt_ps"]
        link_records["rate_bps"][transport.windows.first_link :] = allowed
    hops = np.empty(len(paths.links), HOP)
    hops["link"], hops["share"] = paths.links, paths.shares
    ways = np.empty(paths.n_paths, WAY)
    ways["delay_ps"], ways["first"], ways["end"] = paths.delay_ps, paths.offsets[:-1], paths.offsets[1:]
    ways["now"] = np.arange(paths.n_paths)
    return link_records, hops, ways


def _events(events: EventTable) -> Records:
    records = np.empty(events.n_events, EVENT)
    order = np.argsort(events.at_ps, kind="stable")
    records["at_ps"], records["value"] = events.at_ps[order], events.value[order]
    records["kind"], records["subject"] = events.kind[order], events.subject[order]
    return records


def _policed(links: LinkTable, losses: LossTable | None) -> Float64:
    """(n_links,) rates with the policers'; those whose senders do not answer let everything in."""
    rates = links.rate_bps.astype(np.float64)
    if losses is None:
        return rates
    is_policed = np.isfinite(losses.police_bps) & (rates > 0)
    return np.where(is_policed, losses.police_bps if losses.is_answered else OPEN_BPS, rates)


def _state(n_links: int, flows: FlowTable, wish: RecordWish, transport: TransportTable) -> Records:
    """The state before the start: what a run follows and records."""
    state = np.zeros(1, STATE)
    state["has_priorities"] = flows.n_flows > 0 and int(flows.priority.min()) != int(flows.priority.max())
    state["has_loads"], state["bin_ps"] = wish.link_load or wish.bin_ps > 0, wish.bin_ps
    windows, losses = transport.windows, transport.losses
    state["first_window"] = n_links if windows is None else windows.first_link
    state["has_windows"] = windows is not None
    state["idle_halves"] = windows is not None and windows.halves
    state["has_loss"] = losses is not None
    if losses is not None:
        state["is_policed"], state["is_answered"] = np.isfinite(losses.police_bps).any(), losses.is_answered
        state["goes_back"], state["host_ps"] = losses.goes_back, losses.host_ps
        state["packet_bits"] = losses.packet_bytes * BITS_PER_BYTE
    flowlets = transport.flowlets
    state["has_flowlets"] = flowlets is not None
    state["has_transport"] = windows is not None or losses is not None or flowlets is not None
    if flowlets is not None:
        state["n_choices"], state["gap_ps"] = flowlets.ways.shape[1], flowlets.gap_ps
        state["by_load"] = flowlets.by_load
    return state


def _followed(transport: TransportTable, n_flows: int) -> dict[str, Any]:
    """The tables of windows, losses and flowlets by their names in `World`; empty where nothing is followed."""
    drops, paces, fates = drop_records(transport.losses, n_flows)
    connections, ticks = connection_records(transport.windows)
    flowlets, pairs, flowlet_ways = flowlet_records(transport.flowlets)
    policed = np.flatnonzero(np.isfinite(drops["police_bps"])).astype(np.int64)
    windows = {"connections": connections, "ticks": ticks}
    losses = {"drops": drops, "paces": paces, "fates": fates, "policed": policed}
    return {**windows, **losses, "flowlets": flowlets, "pairs": pairs, "flowlet_ways": flowlet_ways}


def build_world(
    links: LinkTable,
    paths: PathTable,
    flows: FlowTable,
    events: EventTable,
    wish: RecordWish,
    wants: Wants,
    transport: TransportTable,
) -> World:
    """All tables but the pool, nothing started. Room for every flow at once is reserved, not touched."""
    state = _state(links.n_links, flows, wish, transport)
    followed = _followed(transport, flows.n_flows)
    link_records, hops, ways = _network(links, paths, transport, followed["connections"])
    return World(
        state=state,
        links=link_records,
        sent_bytes=np.zeros(links.n_links),
        loads=np.zeros(links.n_links if state["has_loads"][0] else 0, LOAD),
        series=np.zeros((links.n_links, wish.n_bins) if wish.bin_ps else (0, 0)),
        hops=hops,
        ways=ways,
        slots=np.empty(flows.n_flows, SLOT),
        runs=_runs(flows),
        due=np.empty(flows.n_flows, DUE),
        starts=np.empty(flows.n_flows, DUE),
        filling=np.empty(flows.n_flows + links.n_links, DUE),
        events=_events(events),
        wants=wants,
        lists=_lists(links, flows),
        **followed,
    )


def first_pool(links: LinkTable) -> Records:
    """The pool before any flow started."""
    return np.empty(ROWS_PER_LINK * links.n_links, ENTRY)


def larger_pool(pool: Records) -> Records:
    """A pool twice as long with the same rows."""
    larger = np.empty(2 * len(pool), ENTRY)
    larger[: len(pool)] = pool
    return larger
