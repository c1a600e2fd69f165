"""What came of a packet run, in the rows of the result noun."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from eastwest.finding import Finding
from eastwest.simulate.flow.tables import RunStatus
from eastwest.simulate.judged import link_name
from eastwest.simulate.network import Ints
from eastwest.simulate.packet.balance import imbalances
from eastwest.simulate.packet.flows import ACTIVE, FAILED
from eastwest.simulate.packet.kernel import NONE
from eastwest.simulate.packet.queues import N_LANES, RDMA
from eastwest.simulate.packet.run import PacketOutcome
from eastwest.simulate.packet.watch import paused_queues
from eastwest.simulate.packet.world import World
from eastwest.simulate.prepared import Prepared
from eastwest.simulate.result import LinkRows, QueueRows
from eastwest.units import PS_PER_S, format_time


def link_rows(world: World, rate_bps: Ints) -> LinkRows:
    """Bytes that each link carried, beside the highest rate that it had."""
    return LinkRows(world.links["carried_bytes"].copy(), rate_bps)


def queue_rows(world: World) -> QueueRows:
    """The queues that were used or paused, each with the pauses that its device sent for the stream beside it."""
    queues, ingress, links = world.queues, world.ingress, world.links
    now = int(world.clock[0]["now_ps"])
    link = np.repeat(np.arange(len(links)), N_LANES)
    lane = np.tile(np.arange(N_LANES), len(links))
    sent = ingress["pfc_sent"][links["back"].astype(np.int64)[link] * N_LANES + lane]
    is_paused = (links["paused"].astype(np.int64)[link] >> lane) & 1
    paused: Ints = queues["paused_ps"] + is_paused * (now - queues["paused_since_ps"])
    causes = {
        "overflow": queues["dropped"],
        "early": queues["early_drops"],
        "line": np.where(lane == RDMA, links["lost"][link], 0),
        "watchdog": queues["storm_drops"],
        "lifetime": queues["discarded"],
    }
    dropped = np.sum(list(causes.values()), axis=0)
    used = np.flatnonzero((queues["tx_packets"] > 0) | (dropped > 0) | (sent > 0) | (queues["pfc_received"] > 0))
    return QueueRows(
        link[used].astype(np.int64),
        queues["priority"][used].astype(np.int64),
        queues["tx_bytes"][used],
        queues["tx_packets"][used],
        queues["marked"][used],
        queues["pfc_received"][used],
        sent[used],
        paused[used],
        dropped[used],
        queues["peak_bytes"][used],
        {cause: column[used] for cause, column in causes.items()},
    )


def sent_again(prepared: Prepared, outcome: PacketOutcome) -> Ints:
    """(n_messages,) packets that the flows of each message sent more than once."""
    found = np.zeros(len(prepared.messages), np.int64)
    np.add.at(found, prepared.message_of_flow, outcome.world.flows["n_sent_again"].astype(np.int64))
    return found


def findings_of(prepared: Prepared, outcome: PacketOutcome) -> Iterator[Finding]:
    """What a run must say beside its numbers: a deadlock with its cycle, failed flows, loss in a lossless class."""
    network, world = prepared.network, outcome.world
    words: dict[str, object]
    if outcome.cycle:
        nodes = [network.names[network.links["src"][link]] for link in outcome.cycle]
        words = {
            "cycle": " -> ".join([*nodes, nodes[0]]),
            "at": format_time(outcome.stuck_ps / PS_PER_S),
        }
        yield Finding("EW-SIM-070", "error", link_name(network, outcome.cycle[0]), 0, len(nodes), "queues", words)
    failed = np.flatnonzero(world.flows["state"] == FAILED)
    if len(failed):
        message = int(prepared.message_of_flow[failed[0]])
        hosts, names = network.hosts, network.names
        src, dst = (names[hosts[end[message]]] for end in (prepared.messages.src, prepared.messages.dst))
        words = {"n": len(failed), "src": src, "dst": dst, "retries": int(world.flows["retries"][failed[0]])}
        yield Finding("EW-SIM-071", "error", f"{src} -> {dst}", 0, len(failed), "flows", words)
    lost = world.ingress["dropped"] * world.ingress["is_lossless"]
    if lost.any():
        worst = int(lost.argmax())
        link = worst // N_LANES
        words = {"n": int(lost.sum()), "most": int(lost[worst])}
        yield Finding("EW-SIM-072", "error", link_name(network, link), 0, int(lost.sum()), "packets", words)
    yield from _books(prepared, outcome)


def _books(prepared: Prepared, outcome: PacketOutcome) -> Iterator[Finding]:
    """A mistake of the engine itself, named by its place; and flows that stand still although nothing is to come."""
    network, world = prepared.network, outcome.world
    for wrong in islice(imbalances(world), 1):
        subject = link_name(network, wrong.link) if wrong.link != NONE else prepared.scenario.name
        yield Finding("EW-SIM-073", "error", subject, wrong.expected, wrong.booked, "", {"what": wrong.what})
    still = np.flatnonzero(world.flows["state"] == ACTIVE)
    if outcome.status != RunStatus.STALLED or outcome.cycle or not len(still):
        return
    message = int(prepared.message_of_flow[still[0]])
    hosts, names = network.hosts, network.names
    src, dst = (names[hosts[end[message]]] for end in (prepared.messages.src, prepared.messages.dst))
    queue = next((index for index in paused_queues(world)), NONE)
    link = queue // N_LANES if queue != NONE else int(world.routes[int(world.flows["route"][still[0]])])
    words = {"n": len(still), "link": link_name(network, link), "at": format_time(outcome.time_ps / PS_PER_S)}
    yield Finding("EW-SIM-074", "error", f"{src} -> {dst}", 0, len(still), "flows", words)
