"""What is known of the links before a run."""

import numpy as np

from eastwest.simulate.packet.events import DUE
from eastwest.simulate.packet.wiring import backs_of, may_cut_through
from eastwest.simulate.prepared import prepare
from eastwest.simulate.scenario import parse_scenario
from tests.simulate.packet.runs import packet_run

PACKET, HOP_PS = 4160, 1_000_000
LEAF_SPINE = (
    "fabric: {family: leaf-spine, leaves: 2, spines: 1, hosts_per_leaf: 2, rate: 100G, uplink_rate: %s, delay: 1us}\n"
    "payload: 4096\noverhead: 64\ntraffic: {collective: send_recv, hosts: [h0, h3], size: 4096B}\n"
    "packet: {cut_through: 64B}\n"
)


def test_the_way_back_is_the_same_cable() -> None:
    network = prepare(parse_scenario(LEAF_SPINE % "400G", "synthetic.yaml")).network
    back, links = backs_of(network), network.links
    assert (links["cable"][back] == links["cable"]).all()
    assert (links["src"][back] == links["dst"]).all()
    assert (back[back] == np.arange(len(back))).all()


def test_a_packet_is_stored_where_it_would_leave_before_it_has_come() -> None:
    """100G to the first leaf, 400G from there: stored at that leaf, passed on by the spine and the last leaf."""
    network = prepare(parse_scenario(LEAF_SPINE % "400G", "synthetic.yaml")).network
    may = may_cut_through(network)
    assert not may[network.up[:, 0]].any()
    assert not may[network.down[:, 0]].any()
    assert may[network.links["rate_bps"] == 400 * 10**9].all()
    _, found = packet_run(LEAF_SPINE % "400G")
    assert found.end_ps.tolist() == [PACKET * 80 + 2 * 64 * 20 + PACKET * 80 + 4 * HOP_PS]
    _, equal = packet_run(LEAF_SPINE % "100G")
    assert equal.end_ps.tolist() == [3 * 64 * 80 + PACKET * 80 + 4 * HOP_PS]


def test_the_heap_has_room_for_every_event_that_can_be_due() -> None:
    """With pauses and their response times everywhere, which is when most is due."""
    _, found = packet_run(
        "fabric: {family: fat-tree, k: 4, rate: 400G, delay: 100ns}\ntransport: roce\n"
        "traffic: {pattern: all_to_all, size: 200kB}\npacket: {buffer: 4MB, ecn: false, reserved: 0B, alpha: 0.01}\n"
    )
    assert found.world.heap.dtype == DUE
    assert int(found.world.ingress["pfc_sent"].sum()) > 500
    assert int(found.world.clock[0]["n_due"]) < len(found.world.heap)


def test_a_switch_without_pfc_ignores_the_pauses_of_the_next_one() -> None:
    """The spine neither pauses nor obeys, so the leaf behind it pauses in vain and its headroom overflows."""
    text = (
        "fabric: {family: leaf-spine, leaves: 3, spines: 1, hosts_per_leaf: 4, rate: 100G, uplink_rate: 400G}\n"
        "transport: roce\ntraffic: {pattern: incast, receiver: h8, senders: [h0, h1, h2, h3], size: 20MB}\n"
        "packet: {buffer: 4MB, ecn: false, timeout: 8%s}\n"
    )
    prepared, found = packet_run(text % ", devices: {spine0: {pfc: false}}")
    lossless = found.world.ingress["dropped"] * found.world.ingress["is_lossless"]
    names = {prepared.network.names[found.world.ingress["node"][row]] for row in np.flatnonzero(lossless).tolist()}
    assert names == {"leaf2"}
    _, cured = packet_run(text % "")
    assert int(cured.world.ingress["dropped"].sum()) == 0
