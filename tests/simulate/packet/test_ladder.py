"""Runs as a whole: interpreted and compiled, conserved, repeated, renumbered, and beside the flow engine."""

import hashlib
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from eastwest.simulate.packet.run import run_packets
from eastwest.simulate.prepared import prepare
from eastwest.simulate.run import run_scenario
from eastwest.simulate.scenario import parse_scenario
from tests.simulate.packet.runs import packet_run

MIXED = (
    "fabric: {family: fat-tree, k: 4, rate: 100G, delay: 1us}\ntransport: %s\nload_balancing: %s\nseed: 5\n"
    "traffic:\n  - {pattern: permutation, size: 200kB}\n  - {pattern: incast, fan_in: 6, size: 60kB, start: 3us}\n"
    "  - {collective: all_reduce, algorithm: ring, ranks: 8, size: 100kB, qps: 2}\n"
    "events:\n  - {at: 30us, link_down: [leaf0, spine0]}\n  - {at: 60us, link_up: [leaf0, spine0]}\n"
    "packet: {buffer: 700kB, alpha: 0.5, kmin: 20kB, kmax: 80kB, timeout: 5%s}\n"
)
CASES = [
    ("dcqcn", "ecmp", ""),
    ("roce", "spray", ""),
    ("dcqcn", "adaptive", ""),
    ("roce", "flowlet", ", pfc: false"),
    ("roce", "ecmp", ", pfc: false, recovery: selective_repeat"),
]
MORE = [("infiniband", "ecmp", ""), ("tcp", "ecmp", ""), ("swift", "ecmp", "")]
PROGRAM = """
import sys
from tests.simulate.packet.test_ladder import MIXED, digest
from tests.simulate.packet.runs import packet_run
print(digest(packet_run(MIXED % ({case!r}))[1]))
"""


def digest(found) -> str:
    """A fingerprint of all counters and times."""
    made = hashlib.sha256()
    for table in (found.world.flows, found.world.queues, found.world.ingress, found.world.links):
        for name in table.dtype.names:
            made.update(np.ascontiguousarray(table[name]).tobytes())
    return made.hexdigest()


def digest_of_a_process(case: tuple[str, str, str], **environment: str) -> str:
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM.replace("{case!r}", repr(case))]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("case", [*CASES, *MORE], ids=lambda case: "-".join(case[:2]))
def test_interpreted_and_compiled_runs_are_identical_to_the_bit(case: tuple[str, str, str]) -> None:
    assert digest_of_a_process(case, NUMBA_DISABLE_JIT="1") == digest(packet_run(MIXED % case)[1])


@pytest.mark.slow
def test_no_kernel_reaches_outside_its_tables(tmp_path) -> None:
    """Compiled with checks of every index; an access outside raises IndexError."""
    case = CASES[0]
    checked = digest_of_a_process(case, NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path))
    assert checked == digest(packet_run(MIXED % case)[1])


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(case[:2]))
def test_packets_and_memory_are_conserved(case: tuple[str, str, str]) -> None:
    """What is in the pool is on a wire or in a queue; memory in use is that of waiting packets, by switch and group."""
    prepared, found = packet_run(MIXED % case)
    world = found.world
    packets, clock = world.packets, world.clock[0]
    seen, held = set(), {}
    for link in world.links:
        row = int(link["wire_first"])
        while row >= 0:
            seen.add(row)
            row = int(packets[row]["next"])
        row = int(link["mac_first"])
        while row >= 0:
            seen.add(row)
            row = int(packets[row]["next"])
    for queue in world.queues:
        row, total = int(queue["first"]), 0
        while row >= 0:
            assert row not in seen
            seen.add(row)
            total += int(packets[row]["size"])
            group = int(packets[row]["ingress"])
            if group >= 0:
                held[group] = held.get(group, 0) + int(packets[row]["size"])
            row = int(packets[row]["next"])
        assert total == int(queue["bytes"])
    obeying = len(packets) - int(clock["n_free"]) - len(seen)
    assert 0 <= obeying <= int(world.ingress["pfc_sent"].sum())  # frames within the response time of a transmitter
    for group, row in enumerate(world.ingress):
        assert int(row["bytes"]) + int(row["headroom_used_bytes"]) == held.get(group, 0)
    by_node = np.zeros(len(world.nodes), np.int64)
    shared = np.maximum(0, world.ingress["bytes"] - world.ingress["reserved_bytes"])
    np.add.at(by_node, world.ingress["node"], shared)
    assert by_node.tolist() == world.nodes["used_bytes"].tolist()
    assert (world.flows["end_ps"] >= 0).all()
    assert prepared.flows.n_flows == len(world.flows)


def test_without_loss_every_packet_crosses_every_link_of_its_path_once() -> None:
    prepared, found = packet_run(
        "fabric: {family: fat-tree, k: 4, rate: 100G}\ntraffic: {pattern: permutation, size: 1MB}\n"
    )
    hops = np.diff(prepared.paths.offsets)[prepared.flows.path]
    assert int(found.world.clock[0]["n_data_hops"]) == int((found.world.flows["n_packets"] * hops).sum())
    assert found.sent_bytes.tolist() == prepared.flows.size_bytes.tolist()


@pytest.mark.parametrize("case", CASES[:2], ids=lambda case: "-".join(case[:2]))
def test_the_same_seed_gives_the_same_run_and_another_seed_another(case: tuple[str, str, str]) -> None:
    text = MIXED % case
    first, again = digest(packet_run(text)[1]), digest(packet_run(text)[1])
    assert first == again != digest(packet_run(text.replace("seed: 5", "seed: 6"))[1])


def test_the_run_does_not_depend_on_the_order_of_links() -> None:
    """The same network with its links numbered backwards: the same times (one spine, so that no hash chooses by it)."""
    text = (
        "fabric: {family: leaf-spine, leaves: 4, spines: 1, hosts_per_leaf: 4, rate: 100G, uplink_rate: 200G}\n"
        "transport: dcqcn\npacket: {buffer: 700kB, alpha: 0.5, kmin: 20kB, kmax: 80kB}\n"
        "traffic:\n  - {pattern: permutation, size: 400kB}\n  - {pattern: incast, fan_in: 6, size: 60kB, start: 3us}\n"
    )
    prepared = prepare(parse_scenario(text, "synthetic.yaml"))
    network, n = prepared.network, len(prepared.network.links)
    turned = n - 1 - np.arange(n)
    other = replace(
        network,
        links=network.links[::-1].copy(),
        up=np.where(network.up >= 0, n - 1 - network.up, -1),
        down=np.where(network.down >= 0, n - 1 - network.down, -1),
    )
    paths = replace(prepared.paths, links=turned[prepared.paths.links].astype(np.int32))
    links = replace(
        prepared.links, rate_bps=prepared.links.rate_bps[::-1].copy(), delay_ps=prepared.links.delay_ps[::-1].copy()
    )
    one = run_packets(prepared, prepared.scenario.packet)
    two = run_packets(replace(prepared, network=other, paths=paths, links=links), prepared.scenario.packet)
    assert one.end_ps.tolist() == two.end_ps.tolist()


@pytest.mark.parametrize(
    "traffic",
    [
        "{pattern: incast, receiver: h0, senders: [h8, h9, h10, h11], size: 4MB}",
        "{pattern: stride, stride: 4, size: 2MB}",
        "{collective: all_reduce, algorithm: ring, ranks: 16, size: 16MB}",
    ],
    ids=["incast", "stride", "ring"],
)
def test_packets_take_as_long_as_the_fluid_where_queues_do_not_matter(traffic: str) -> None:
    """Up to the packet that each hop stores and forwards, for each step of a collective."""
    text = "fabric: {family: fat-tree, k: 4, rate: 100G, delay: 1us}\ntransport: roce\npacket: {ecn: false}\n"
    text += f"load_balancing: pinned\ntraffic: {traffic}\n"
    scenario = parse_scenario(text, "a.yaml")
    fluid, packets = run_scenario(scenario, "flow"), run_scenario(parse_scenario(text, "a.yaml"), "packet")
    assert packets.status == "complete"
    steps = 30 if "ring" in traffic else 1
    assert fluid.time_ps <= packets.time_ps <= fluid.time_ps * 1.03 + steps * 6 * 4178 * 80
    assert fluid.tier_bytes == packets.tier_bytes
    assert packets.facts.packet_hops > fluid.facts.packet_hops
