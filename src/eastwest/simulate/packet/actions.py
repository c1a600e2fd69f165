"""What an event brings about where several mechanisms meet: a packet arrives, a transmitter is free, a flow starts."""

from __future__ import annotations

from eastwest.simulate.packet import ecn
from eastwest.simulate.packet.buffer import admit, release
from eastwest.simulate.packet.cc import hooks
from eastwest.simulate.packet.credit import give, has_expired, spend
from eastwest.simulate.packet.flows import ACTIVE, DONE, FAILED, abandon, end_flow
from eastwest.simulate.packet.kernel import NONE, kernel
from eastwest.simulate.packet.lb import Balance, adaptive, flowlet, spray
from eastwest.simulate.packet.link import land, put_on_wire, wake_transmitter
from eastwest.simulate.packet.pfc import hear, watch_drain, watch_fill
from eastwest.simulate.packet.pool import CNP, DATA, NAK, PAUSE, give_back
from eastwest.simulate.packet.queues import N_LANES, RDMA, dequeue, enqueue, next_lane
from eastwest.simulate.packet.receiver import answer, notice
from eastwest.simulate.packet.sender import (
    ask_again,
    leave_ring,
    make_packet,
    may_send,
    next_flow,
    offer_flow,
    pace,
    time_out,
)
from eastwest.simulate.packet.watchdog import DROP
from eastwest.simulate.packet.world import World

SPRAY, ADAPTIVE = int(Balance.SPRAY), int(Balance.ADAPTIVE)
SALT = 1 << 32  # a packet that is sent again draws another way


@kernel
def arrive(world: World, link: int) -> None:
    """The first packet on a wire reaches the node at its end."""
    links, packets, heap, clock = world.links, world.packets, world.heap, world.clock
    packet = land(links, packets, heap, clock, link)
    record = packets[packet]
    if record["kind"] == PAUSE:
        hear(links, world.queues, packets, heap, clock, packet, link)
        return
    record["pos"] += 1
    onward = world.routes[record["pos"]]
    if onward == NONE:
        leave(world, link * N_LANES + record["lane"], record["size"])
        if record["kind"] == DATA:
            receive(world, packet)
        else:
            hear_answer(world, packet)
        return
    send_on(world, packet, link, onward)


@kernel
def emit(world: World, link: int, lane: int, packet: int) -> None:
    """A packet of a class leaves by a transmitter that is free."""
    links, queues, packets, heap, clock = world.links, world.queues, world.packets, world.heap, world.clock
    index, size = link * N_LANES + lane, packets[packet]["size"]
    queue = queues[index]
    queue["tx_bytes"] += size
    queue["tx_packets"] += 1
    if put_on_wire(links, packets, heap, clock, link, packet) and queue["is_credited"]:
        spend(links, queues, packets, world.params, heap, clock, index, size)


@kernel
def leave(world: World, group: int, size: int) -> None:
    """A packet is out of the buffer at the end of its link."""
    if world.queues[group]["is_credited"]:
        give(world.links, world.queues, world.packets, world.heap, world.clock, group, size)


@kernel
def drop(world: World, group: int, packet: int) -> None:
    """A packet that came in by a group is not taken."""
    size = world.packets[packet]["size"]
    give_back(world.packets, world.clock, packet)
    leave(world, group, size)


@kernel
def discard(world: World, index: int) -> None:
    """What stands at the head of a blocked lane for too long is given up."""
    links, queues, packets = world.links, world.queues, world.packets
    if not has_expired(links, queues, world.params, world.heap, world.clock, index):
        return
    packet = dequeue(links, queues, packets, index // N_LANES, index % N_LANES)
    group, size = packets[packet]["ingress"], packets[packet]["size"]
    queues[index]["discarded"] += 1
    give_back(packets, world.clock, packet)
    if group != NONE:
        release(world.nodes, world.ingress, group, size)
        leave(world, group, size)


@kernel
def send_on(world: World, packet: int, link: int, onward: int) -> None:
    """Forward a packet: at once when nothing is in its way, else into its queue if there is memory for it."""
    links, packets, queues, heap, clock = world.links, world.packets, world.queues, world.heap, world.clock
    port, record = links[onward], packets[packet]
    lane = links[link]["lane_of_rdma"] if record["lane"] == RDMA else record["lane"]
    queue = onward * N_LANES + lane
    idle = port["free_ps"] <= clock[0]["now_ps"] and not port["has_free"] and not port["paused"] >> lane & 1
    if idle and port["waiting"] == 0:
        emit(world, onward, lane, packet)
        leave(world, link * N_LANES + lane, record["size"])
        return
    group = link * N_LANES + lane
    is_hit = record["kind"] == DATA and ecn.is_hit(queues, packets, clock, queue, packet)
    if queues[queue]["storm"] == DROP:
        queues[queue]["storm_drops"] += 1
        drop(world, group, packet)
        return
    if is_hit and not record["is_ect"] and queues[queue]["drops_non_ect"]:
        queues[queue]["early_drops"] += 1
        drop(world, group, packet)
        return
    if not admit(world.nodes, world.ingress, queues, group, queue, record["size"]):
        queues[queue]["dropped"] += 1
        drop(world, group, packet)
        return
    if is_hit:
        ecn.mark(queues, packets, queue, packet)
    record["ingress"] = group
    enqueue(links, queues, packets, onward, lane, packet)
    if not port["paused"] >> lane & 1:
        wake_transmitter(links, heap, clock, onward)
    if world.ingress[group]["is_lossless"]:
        watch_fill(world.nodes, world.ingress, links, packets, heap, clock, group)


@kernel
def serve(world: World, link: int) -> None:
    """A free transmitter sends what is next: control frames, queues, then the flows of its host."""
    links, packets, queues, heap, clock = world.links, world.packets, world.queues, world.heap, world.clock
    port = links[link]
    if port["free_ps"] > clock[0]["now_ps"]:
        wake_transmitter(links, heap, clock, link)
        return
    packet = port["mac_first"]
    if packet != NONE:
        port["mac_first"] = packets[packet]["next"]
        put_on_wire(links, packets, heap, clock, link, packet)
    else:
        lane = next_lane(links, queues, packets, link)
        if lane != NONE:
            send_waiting(world, link, lane)
        elif port["ring"] != NONE:
            send_flow(world, link)
    if port["mac_first"] != NONE or port["waiting"] & ~port["paused"] or has_turn(world, link):
        wake_transmitter(links, heap, clock, link)


@kernel
def has_turn(world: World, link: int) -> bool:
    """Whether a flow of the ring is not paused."""
    return world.links[link]["ring"] != NONE and next_flow(world.flows, world.links, link) != NONE


@kernel
def send_waiting(world: World, link: int, lane: int) -> None:
    """The first packet of a queue leaves; its memory is free."""
    links, packets, queues, heap, clock = world.links, world.packets, world.queues, world.heap, world.clock
    packet = dequeue(links, queues, packets, link, lane)
    record = packets[packet]
    group, size = record["ingress"], record["size"]
    record["ingress"] = NONE
    emit(world, link, lane, packet)
    if group != NONE:
        release(world.nodes, world.ingress, group, size)
        watch_drain(world.nodes, world.ingress, links, packets, heap, clock, group)
        leave(world, group, size)


@kernel
def send_flow(world: World, link: int) -> None:
    """The next flow of a host's ring sends one packet."""
    links, flows, packets, heap, clock = world.links, world.flows, world.packets, world.heap, world.clock
    before = next_flow(flows, links, link)
    if before == NONE:
        return
    flow = flows[before]["ring"]
    packet = make_packet(flows, packets, clock, world.bits, flow)
    if packet == NONE:
        leave_ring(flows, links, link, before, flow)
        return
    record = packets[packet]
    if flows[flow]["n_ways"] > 1:
        record["pos"] = choose_way(world, flow, record["seq"])
    size = record["size"]
    emit(world, link, record["lane"], packet)
    pace(flows, links, world.controls, world.params, heap, clock, flow, size)
    row = flows[flow]
    if not may_send(flows, flow) or row["next_ps"] > links[link]["free_ps"]:
        leave_ring(flows, links, link, before, flow)
        offer_flow(flows, links, heap, clock, world.routes, flow)
    else:
        links[link]["ring"] = flow


@kernel
def choose_way(world: World, flow: int, seq: int) -> int:
    """Row of the routes that a packet of a flow with many ways takes."""
    row, clock = world.flows[flow], world.clock[0]
    first, n = row["first_way"], row["n_ways"]
    if row["balance"] == SPRAY:
        way = spray.choose(clock["way_key"], flow, int(seq) + int(row["n_sent_again"]) * SALT, n)
    elif row["balance"] == ADAPTIVE:
        at = clock["n_data_hops"]
        way = adaptive.choose(clock["way_key"], world.links, world.queues, world.routes, world.ways, first, n, at)
    else:
        way = flowlet.choose(clock["way_key"], world.flows, flow, clock["now_ps"], world.params[0]["flowlet_gap_ps"])
        row["last_sent_ps"] = clock["now_ps"]
    return world.ways[first + way]


@kernel
def receive(world: World, packet: int) -> None:
    """Data at its host: a notice when it was marked, and the answer."""
    packets, flows, clock = world.packets, world.flows, world.clock
    record = packets[packet]
    flow = record["flow"]
    if record["ce"] and hooks.wants_notice(world.controls, flow):
        made = notice(flows, packets, world.params, clock, packet)
        if made != NONE:
            send_own(world, made)
    is_complete = answer(flows, packets, world.params, clock, world.bits, packet)
    send_own(world, packet)
    if is_complete:
        end_flow(flows, world.heap, clock, world.child_offsets, world.children, flow, DONE)


@kernel
def send_own(world: World, packet: int) -> None:
    """A host's own answer goes out by its NIC, before the host's flows."""
    links, packets, clock = world.links, world.packets, world.clock
    record = packets[packet]
    link = world.routes[record["pos"]]
    port, lane = links[link], record["lane"]
    idle = port["free_ps"] <= clock[0]["now_ps"] and not port["has_free"] and not port["paused"] >> lane & 1
    if idle and port["waiting"] == 0:
        emit(world, link, lane, packet)
        return
    enqueue(links, world.queues, packets, link, lane, packet)
    if not port["paused"] >> lane & 1:
        wake_transmitter(links, world.heap, clock, link)


@kernel
def hear_answer(world: World, packet: int) -> None:
    """An answer at the sender: what is acknowledged, what was lost, how fast to go on."""
    flows, packets, clock, links = world.flows, world.packets, world.clock, world.links
    record = packets[packet]
    flow, kind, seq, echo = record["flow"], record["kind"], record["seq"], record["echo"]
    now = clock[0]["now_ps"]
    row, state = flows[flow], world.controls[flow]
    state["rtt_ps"], state["is_marked"] = now - record["stamp_ps"], record["ce"]
    give_back(packets, clock, packet)
    if kind == CNP:
        hooks.on_notice(world.controls, world.params, flow, now)
        return
    state["n_acked"] = max(0, seq - row["una"])
    if seq > row["una"]:
        row["una"] = seq
        row["progress_ps"] = row["una_sent_ps"] = now
        row["n_retries"] = 0
        row["next_seq"] = max(row["next_seq"], seq)
    hooks.on_answer(flows, world.controls, world.params, flow, now)
    if kind == NAK:
        ask_again(flows, flow, seq, echo, now - state["rtt_ps"])
        hooks.on_loss(flows, world.controls, world.params, flow, now)
    offer_flow(flows, links, world.heap, clock, world.routes, flow)


@kernel
def expire(world: World, flow: int) -> None:
    """The timer of a flow; a control hears of it when it was a loss."""
    before = world.flows[flow]["n_retries"]
    time_out(world.flows, world.links, world.heap, world.clock, world.routes, flow)
    if world.flows[flow]["state"] == FAILED:
        abandon(world.flows, world.clock, world.child_offsets, world.children, flow)
    elif world.flows[flow]["n_retries"] > before:
        hooks.on_timeout(world.flows, world.controls, world.params, flow, world.clock[0]["now_ps"])


@kernel
def start_flow(world: World, flow: int) -> None:
    """A flow begins; one without bytes or without a way ends at once."""
    row, clock = world.flows[flow], world.clock
    now = clock[0]["now_ps"]
    row["state"], row["start_ps"], row["next_ps"], row["progress_ps"] = ACTIVE, now, now, now
    clock[0]["n_live"] += 1
    if row["n_packets"] == 0 or world.routes[row["route"]] == NONE:
        end_flow(world.flows, world.heap, clock, world.child_offsets, world.children, flow, DONE)
        return
    hooks.begin(world.flows, world.controls, world.params, flow, now)
    offer_flow(world.flows, world.links, world.heap, clock, world.routes, flow)
