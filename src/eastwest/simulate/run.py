"""`run_scenario`: one entry for every engine; the same scenario, the same tables, the same result noun."""

from __future__ import annotations

import resource
import sys
import time
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from eastwest.errors import UsageError
from eastwest.finding import Finding, sort_findings
from eastwest.simulate.flow.tables import EventKind, FlowState, Progress, RecordWish, RunStatus
from eastwest.simulate.judged import judge, link_name, path_rows
from eastwest.simulate.network import TIER_OF_LEVEL, TIERS, Ints, Level
from eastwest.simulate.nic_failover import nic_findings
from eastwest.simulate.prepared import Prepared, prepare
from eastwest.simulate.result import NOT_YET_PS, EngineFacts, FlowRows, LinkRows, SimResult, Status
from eastwest.simulate.scenario import Scenario
from eastwest.simulate.step_result import with_steps
from eastwest.simulate.timeline import judge_cuts
from eastwest.simulate.transport_facts import details_of, findings_of
from eastwest.simulate.transport_tables import of_real_links, transport_of
from eastwest.units import KIBI, PS_PER_S

Engine = Literal["analytic", "flow", "packet"]
MOST_FLOWS_WITH_LOADS = 500_000  # up to here peaks and busy times are recorded unasked
PROGRESS_EVENTS = 20_000  # about ten reports a second
ENGINES: tuple[str, ...] = get_args(Engine)
_STATUS: dict[RunStatus, Status] = {
    RunStatus.COMPLETE: "complete",
    RunStatus.STALLED: "stalled",
    RunStatus.INTERRUPTED: "interrupted",
}
_TIER_NUMBER = np.array([TIERS.index(TIER_OF_LEVEL[level]) for level in Level], np.int8)


def run_scenario(scenario: Scenario, engine: str = "flow", progress: Progress | None = None) -> SimResult:
    """What one engine says of a scenario: `flow` shares links by max-min, `analytic` gives lower bounds.

    Raises InputError when hosts, links or destinations do not fit the network, UsageError for an engine that there is
    not. A KeyboardInterrupt while the flow engine runs gives the result so far.
    """
    if engine not in ENGINES:
        raise UsageError(f"no engine {engine!r}", hint=f"engines: {', '.join(ENGINES)}")
    begin = time.process_time()
    prepared = prepare(scenario)
    if engine == "analytic":
        result = _analytic(prepared)
    elif engine == "packet":
        result = _packet(prepared, progress)
    else:
        prepared, result = _flow(prepared, progress)
    result = with_steps(prepared, result)
    findings = sort_findings((*result.findings, *judge(prepared, result)))
    facts = replace(result.facts, cpu_s=time.process_time() - begin, peak_memory_bytes=_peak_memory_bytes())
    return replace(result, findings=findings, facts=facts)


def _flow(prepared: Prepared, progress: Progress | None) -> tuple[Prepared, SimResult]:
    """The result, and the tables with the ways that flows took last."""
    from eastwest.simulate.flow.engine import run_flows

    record = prepared.scenario.record
    loads = prepared.flows.n_flows <= MOST_FLOWS_WITH_LOADS if record.loads is None else record.loads
    wish = RecordWish(link_load=loads, bin_ps=record.bin_ps, progress_every=PROGRESS_EVENTS)
    transport = transport_of(prepared)
    outcome = run_flows(
        transport.links, transport.paths, prepared.flows, prepared.events, wish, progress, transport=transport.table
    )
    notes = (*findings_of(prepared, transport, outcome), *nic_findings(prepared, outcome))
    details = details_of(prepared, transport, outcome) if transport.table is not None else {}
    outcome = of_real_links(outcome, prepared.links.n_links)
    if outcome.path is not None:
        prepared = replace(prepared, flows=replace(prepared.flows, path=outcome.path))
    flows = _flow_rows(prepared, outcome.start_ps, outcome.end_ps, outcome.sent_bytes)
    links = LinkRows(
        outcome.link_bytes,
        _top_rates(prepared),
        outcome.link_busy_ps,
        outcome.link_peak_bps,
        outcome.series_bytes,
        outcome.series_bin_ps,
    )
    last = int(flows.end_ps.max(initial=0)) if outcome.status == RunStatus.COMPLETE else outcome.time_ps
    result = _result(prepared, "flow", _STATUS[outcome.status], last, flows, links, outcome.sent_bytes)
    has_ended = np.where(outcome.state == FlowState.STOPPED, 0, outcome.end_ps)
    cuts = judge_cuts(prepared.cuts, prepared.requests, prepared.flows.path.astype(np.int64), has_ended)
    facts = replace(result.facts, events=outcome.n_events)
    return prepared, replace(result, findings=(*cuts, *notes), facts=facts, details=details)


def _packet(prepared: Prepared, progress: Progress | None) -> SimResult:
    from eastwest.simulate.packet.outcome import findings_of as packet_findings
    from eastwest.simulate.packet.outcome import link_rows, queue_rows, sent_again
    from eastwest.simulate.packet.run import run_packets

    outcome = run_packets(prepared, prepared.scenario.packet, progress)
    flows = _flow_rows(prepared, outcome.start_ps, outcome.end_ps, outcome.sent_bytes)
    flows = replace(flows, sent_again=sent_again(prepared, outcome))
    links, status = link_rows(outcome.world, _top_rates(prepared)), _STATUS[outcome.status]
    result = _result(prepared, "packet", status, outcome.time_ps, flows, links, outcome.sent_bytes)
    facts = replace(result.facts, packet_hops=outcome.n_hops, events=outcome.n_events)
    findings = tuple(packet_findings(prepared, outcome))
    return replace(result, facts=facts, queues=queue_rows(outcome.world), findings=findings)


def _top_rates(prepared: Prepared) -> Ints:
    """(n_links,) the highest rate that each link has in the run."""
    events, top = prepared.events, prepared.links.rate_bps.copy()
    rates = events.kind == EventKind.LINK_RATE
    np.maximum.at(top, events.subject[rates], events.value[rates])
    return top


def _analytic(prepared: Prepared) -> SimResult:
    from eastwest.simulate.analytic.bound import bound_of

    bound = bound_of(prepared.links, prepared.paths, prepared.flows)
    flows = _flow_rows(prepared, bound.start_ps, bound.end_ps, prepared.flows.size_bytes)
    links = LinkRows(bound.link_bytes, prepared.links.rate_bps, bound.link_ps)
    result = _result(prepared, "analytic", "complete", bound.time_ps, flows, links, prepared.flows.size_bytes)
    worst = {
        "link": link_name(prepared.network, bound.worst_link),
        "bytes": int(bound.link_bytes[bound.worst_link]),
        "time_s": int(bound.link_ps[bound.worst_link]) / PS_PER_S,
    }
    n_events = prepared.events.n_events
    left_out = [Finding("EW-SIM-039", "warning", "events", 0, n_events, "events")] if n_events else []
    return replace(result, findings=tuple(left_out), details={"most_loaded_link": worst})


def _result(
    prepared: Prepared, engine: str, status: Status, time_ps: int, flows: FlowRows, links: LinkRows, sent_bytes: Ints
) -> SimResult:
    facts = EngineFacts(_packet_hops(prepared, sent_bytes), 0, 0.0, 0)
    names = tuple(wish.name for wish in prepared.scenario.traffics)
    return SimResult(prepared.scenario.name, engine, status, time_ps, prepared.network, names, flows, links, facts, ())


def _flow_rows(prepared: Prepared, start_ps: Ints, end_ps: Ints, sent_bytes: Ints) -> FlowRows:
    """Messages from their flows: a message starts with its first flow and ends with its last."""
    messages, first = prepared.messages, prepared.flow_first[:-1]
    if len(messages):
        begins = np.minimum.reduceat(np.where(start_ps >= 0, start_ps, np.iinfo(np.int64).max), first)
        start = np.where(begins == np.iinfo(np.int64).max, NOT_YET_PS, begins)
        is_open = np.add.reduceat((end_ps < 0).astype(np.int64), first) > 0
        end = np.where(is_open, NOT_YET_PS, np.maximum.reduceat(end_ps, first))
        wire = np.add.reduceat(prepared.flows.size_bytes, first)
        sent = np.add.reduceat(sent_bytes, first)
    else:
        start = end = wire = sent = np.zeros(0, np.int64)
    tier = _tier_of_requests(prepared)[prepared.flows.path[first]]
    return FlowRows(messages.src, messages.dst, messages.size_bytes, wire, sent, start, end, prepared.traffic, tier)


def _tier_of_requests(prepared: Prepared) -> np.typing.NDArray[np.int8]:
    """(n_requests,) int8 index into TIERS of the highest tier on each first path."""
    request, link = path_rows(prepared)
    found = np.zeros(len(prepared.requests), np.int8)
    np.maximum.at(found, request, _TIER_NUMBER[prepared.network.links["level"][link]])
    return found


def _packet_hops(prepared: Prepared, sent_bytes: Ints) -> int:
    """Packets times links of what was sent, on the first paths, sprayed packets by their share; (n_flows,) wire bytes
    sent.
    """
    messages, scenario = prepared.messages, prepared.scenario
    counts = np.diff(prepared.flow_first)
    message = prepared.message_of_flow
    turn = np.arange(len(message)) - prepared.flow_first[message]
    size, qps = messages.size_bytes[message], counts[message]
    part = (turn + 1) * size // qps - turn * size // qps
    n = len(prepared.requests)
    lengths = np.diff(prepared.paths.offsets)[:n]
    row = np.repeat(np.arange(n), lengths)
    hops = np.bincount(row, prepared.paths.shares[: len(row)], minlength=n)
    packets = -(-part // scenario.payload_bytes)
    done = np.where(sent_bytes >= prepared.flows.size_bytes, packets, packets * sent_bytes / np.maximum(part, 1))
    return round(float((np.minimum(done, packets) * hops[prepared.flows.path]).sum()))


def _peak_memory_bytes() -> int:
    found = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found if sys.platform == "darwin" else found * KIBI
