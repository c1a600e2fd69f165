"""Ports behave as the settings of their devices say: planned by a site's policy, or parsed from a configuration."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from eastwest.policy.settings import (
    BufferProfile,
    DeviceSettings,
    EcnSettings,
    PfcSettings,
    PortSettings,
    PriorityGroup,
    QosMap,
    QueuePlan,
    QueueSettings,
    SchedulerSettings,
    table_of,
)
from eastwest.simulate.packet.build import build_world
from eastwest.simulate.packet.params import PacketParams
from eastwest.simulate.packet.ports import NO_MTU, port_rows
from eastwest.simulate.packet.queues import RDMA, TCP
from eastwest.simulate.packet.settings import SiteSettings, planned_settings, set_settings, site_params
from eastwest.simulate.prepared import prepare
from eastwest.simulate.scenario import parse_scenario

EXAMPLES = Path(__file__).parents[3] / "examples"
TEXT = (
    "fabric: {family: leaf-spine, leaves: 2, spines: 1, hosts_per_leaf: 2, rate: 100G}\ntransport: roce\n"
    "traffic: {pattern: incast, receiver: h0, senders: [h3], size: 1MB}\n"
)
MAP = QosMap(
    "synthetic",
    "dscp",
    dscp_to_tc=table_of(64, {26: 3, 48: 6}, 0),
    tc_to_queue=tuple(range(8)),
    tc_to_pg=table_of(8, {3: 3}, 0),
    tc_to_priority=tuple(range(8)),
)
PLAN = QueuePlan(
    "synthetic",
    (
        QueueSettings(0, None, SchedulerSettings("dwrr", 25)),
        QueueSettings(3, EcnSettings(50_000, 200_000, 0.5), SchedulerSettings("dwrr", 75)),
    ),
)
PROFILE = BufferProfile("synthetic", None, 2_000, 0.25, None, 90_000, 10_000, 4_000, 100_000)
PORT = PortSettings(
    "synthetic1",
    100 * 10**9,
    9216,
    pfc=PfcSettings("on", frozenset({3}), frozenset({3})),
    qos_map="synthetic",
    queue_plan="synthetic",
    priority_groups=(PriorityGroup(3, "synthetic"),),
    peer="h0",
)
LEAF = DeviceSettings(
    "leaf0",
    qos_maps=(MAP,),
    queue_plans=(PLAN,),
    profiles=(PROFILE,),
    buffer_total_bytes=64_000_000,
    cell_bytes=254,
    ports=(PORT,),
)


def rows_of(device: DeviceSettings, **wishes):
    """Rows of all ports, and the links to and from the host behind the port."""
    network = prepare(parse_scenario(TEXT, "synthetic.yaml")).network
    params = PacketParams(**wishes)
    rows = port_rows(network, "roce", params, 4178)
    set_settings(rows, network, params, SiteSettings({device.name: device}))
    return rows, int(network.down[0, 0]), int(network.up[0, 0]), network.index["leaf0"]


def test_a_port_takes_its_thresholds_weights_and_memory_from_its_device() -> None:
    rows, down, up, leaf = rows_of(LEAF)
    assert (rows.marks[down], rows.kmin_bytes[down], rows.kmax_bytes[down]) == (True, 50_000, 200_000)
    assert (rows.pmax[down], rows.mtu_bytes[down]) == (0.5, 9216 + 38)
    assert rows.quantum_bytes[down].tolist() == [0, 12_288, 4_096]
    assert rows.lossless[up].tolist() == rows.obeys[down].tolist() == [False, True, False]
    assert (rows.headroom_bytes[up], rows.reserved_bytes[up, RDMA], rows.alpha[up]) == (90_000, 10_000, 0.25)
    assert (rows.xon_offset_bytes[up], rows.lane_of_rdma[up]) == (4_000, RDMA)
    assert (rows.buffer_bytes[leaf], rows.cell_bytes[leaf]) == (64_000_000, 254)


def test_the_other_end_and_other_ports_stay_as_they_are() -> None:
    rows, down, up, _ = rows_of(LEAF)
    others = np.delete(np.arange(len(rows.marks)), [down, up])
    assert (rows.mtu_bytes[others] == NO_MTU).all()
    assert (rows.alpha[others] == 1.0).all()
    assert rows.mtu_bytes[up] == NO_MTU


def test_what_the_scenario_says_goes_before_the_device() -> None:
    rows, down, up, leaf = rows_of(LEAF, kmin_bytes=1_000, kmax_bytes=2_000, alpha=8.0, pfc="off", buffer_bytes=10**7)
    assert (rows.kmin_bytes[down], rows.kmax_bytes[down], rows.alpha[up]) == (1_000, 2_000, 8.0)
    assert not rows.lossless[up].any()
    assert rows.buffer_bytes[leaf] == 10**7


@pytest.mark.parametrize(
    ("change", "column", "expected"),
    [
        ({"ports": (replace(PORT, pfc=PfcSettings("off")),)}, "lossless", [False] * 3),
        ({"ports": (replace(PORT, pfc=PfcSettings("on", frozenset({3}), frozenset({4}))),)}, "lossless", [False] * 3),
        ({"ports": (replace(PORT, pfc=None),), "seen": LEAF.seen - {"pfc"}}, "lossless", [False, True, False]),
        ({"qos_maps": (replace(MAP, dscp_to_tc=table_of(64, {46: 3}, 0)),)}, "lane_of_rdma", TCP),
        ({"qos_maps": (replace(MAP, trust="none"),)}, "lane_of_rdma", TCP),
        ({"qos_maps": ()}, "lane_of_rdma", RDMA),
    ],
    ids=["pfc off", "another priority", "pfc not seen", "dscp not mapped", "not trusted", "no map"],
)
def test_a_mistake_in_the_settings_is_one_in_the_run(change, column: str, expected) -> None:
    rows, _, up, _ = rows_of(replace(LEAF, **change))
    assert getattr(rows, column)[up].tolist() == expected


def test_a_port_that_is_set_to_send_pauses_only_obeys_none() -> None:
    port = replace(PORT, pfc=PfcSettings("on", frozenset(), frozenset({3})))
    rows, down, up, _ = rows_of(replace(LEAF, ports=(port,)))
    assert (rows.obeys[down].any(), bool(rows.lossless[up, RDMA])) == (False, True)


@pytest.mark.parametrize(
    ("change", "marks"),
    [
        ({}, True),
        ({"queue_plans": (QueuePlan("synthetic", PLAN.queues[:1]),)}, False),
        ({"ecn_enabled": False}, False),
        ({"queue_plans": (QueuePlan("synthetic", PLAN.queues[:1]),), "seen": LEAF.seen - {"ecn"}}, True),
    ],
    ids=["ramp", "no ramp", "off", "not seen"],
)
def test_a_queue_marks_as_its_device_says(change, marks: bool) -> None:
    rows, down, _, _ = rows_of(replace(LEAF, **change))
    assert rows.marks[down] == marks


def test_every_link_between_switches_of_a_planned_site_has_the_policys_values() -> None:
    text = f"site: {EXAMPLES / 'project-x.yaml'}\ntraffic: {{pattern: incast, fan_in: 15, size: 1MB}}\n"
    prepared = prepare(parse_scenario(text, "synthetic.yaml"))
    settings = planned_settings(prepared.scenario)
    assert settings is not None
    assert settings.dscp == 26
    params = site_params(prepared.scenario.packet, settings)
    assert (params.notice_period_ps, params.watchdog.detect_ps) == (4_000_000, 400_000_000_000)
    world, _ = build_world(prepared, prepared.scenario.packet)
    network = prepared.network
    ends = [settings.devices.get(network.names[node]) for node in network.links["src"]]
    switches = np.flatnonzero([device is not None for device in ends])
    assert len(switches) > 100
    ramp = ends[switches[0]].queue_plans[0].get(3).ecn
    rows = world.queues.reshape(-1, 3)[switches, RDMA]
    assert set(rows["kmin_bytes"].tolist()) == {ramp.kmin_bytes}
    assert set(world.nodes["cell_bytes"][network.links["src"][switches]].tolist()) == {254}
    assert (world.links["mtu_bytes"][switches] == 9216 + 38).all()


def test_an_inline_fabric_has_no_policy() -> None:
    assert planned_settings(parse_scenario(TEXT, "synthetic.yaml")) is None
