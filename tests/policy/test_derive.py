"""The whole policy on fabrics of our own: the same classes at every hop, wishes judged, one device at a time."""

from dataclasses import replace
from typing import Any

import pytest

from eastwest.errors import UsageError
from eastwest.policy import class_path, dangling
from eastwest.policy.derive import separates_inference
from eastwest.policy.faces import FaceUse
from eastwest.policy.nccl import RAIL_FAMILIES
from eastwest.policy.roles import RoleInputs, findings_for, memory_for
from eastwest.spec.resolve import resolve_switch
from eastwest.spec.switches import SwitchWish
from eastwest.units import GIGA
from eastwest.workload.ledger import Ledger
from tests.policy.sites import policy_of, site_of


def codes(**changes: Any) -> set[str]:
    return {row.code for row in policy_of(**changes).findings}


FAMILIES = [("leaf_spine", "sn5600"), ("rail_optimized", "sn5600"), ("leaf_spine", "64x400G"), ("leaf_spine", "sn4700")]


@pytest.mark.parametrize(("family", "switch"), FAMILIES)
def test_the_same_mark_pauses_at_every_hop(family: str, switch: str) -> None:
    """All 64 marks land in the same priority, lossless or not, on every linked port of every switch and on the host."""
    policy = policy_of(fabric={"family": family, "switch": switch})
    nic = policy.host.nics[0]
    hops = [(device, port) for device in policy.devices() for port in device.ports if port.enabled]
    assert hops
    for dscp in range(64):
        seen = {(path.priority, path.pauses) for path in (class_path(*hop, dscp) for hop in hops)}
        assert len(seen) == 1
        priority, pauses = seen.pop()
        assert nic.dscp_to_priority[dscp] == priority
        assert nic.pfc is not None
        assert (priority in nic.pfc.priorities) is pauses is (dscp == 26)


@pytest.mark.parametrize(("family", "switch"), FAMILIES)
def test_every_paused_priority_has_headroom_ecn_and_watchdog(family: str, switch: str) -> None:
    policy = policy_of(fabric={"family": family, "switch": switch})
    for device in policy.devices():
        assert dangling(device) == ()
        for port in device.ports:
            path = class_path(device, port, 26)
            if not port.enabled:
                continue
            assert path.headroom is not None
            assert path.headroom.lossless
            assert path.ecn is not None
            assert path.ecn.kmin_bytes is not None
            assert path.ecn.kmin_bytes < (path.ecn.kmax_bytes or 0)
            assert port.watched == {3}
            assert device.watchdog is not None
            assert class_path(device, port, 48).pauses is False


def test_links_agree_on_both_ends() -> None:
    policy = policy_of()
    ports = {(device.name, port.name): port for device in policy.devices() for port in device.ports}
    for (name, port_name), port in ports.items():
        if port.peer is None or port.faces == "server":
            continue
        other = ports[port.peer, port.peer_port or ""]
        assert (other.peer, other.peer_port) == (name, port_name)
        assert (other.rate_bps, other.mtu_bytes, other.pfc) == (port.rate_bps, port.mtu_bytes, port.pfc)


def test_sessions_are_pairs_and_no_route_comes_back() -> None:
    """Both ends know each other's AS; leaves have AS numbers of their own, spines of a room share one."""
    policy = policy_of()
    devices = {device.name: device for device in policy.devices()}
    for device in devices.values():
        assert device.bgp is not None
        for session in device.bgp.neighbours:
            peer = devices[session.description or ""].bgp
            assert peer is not None
            assert peer.asn == session.remote_asn
            assert device.name in {back.description for back in peer.neighbours}
    leaf_asns = [d.bgp.asn for d in devices.values() if d.role == "leaf" and d.bgp]
    spine_asns = {d.bgp.asn for d in devices.values() if d.role == "spine" and d.bgp}
    assert len(set(leaf_asns)) == len(leaf_asns)
    assert len(spine_asns) == 1


def test_the_known_chip_uses_its_cells_and_the_unknown_one_twice_the_textbook() -> None:
    known = {row.id: row for row in policy_of().decisions}["policy.headroom.leaf.server"]
    unknown = {row.id: row for row in policy_of(fabric={"family": "leaf_spine", "switch": "64x400G"}).decisions}
    assert "cells of 192 B" in known.because
    row = unknown["policy.headroom.leaf.server"]
    assert row.value == pytest.approx(2 * row.alternatives[0].value, abs=1024)


def test_the_environment_of_jobs() -> None:
    policy = policy_of()
    found = {row.name: row.value for row in policy.host.nccl}
    assert found["NCCL_IB_TC"] == "106"
    assert found["NCCL_IB_HCA"] == "=" + ",".join(f"mlx5_{i}" for i in range(8))
    assert found["NCCL_IB_GID_INDEX"] is None
    assert (found["NCCL_IB_DISABLE"], found["NCCL_DEBUG"], found["NCCL_CROSS_NIC"]) == ("0", "INFO", "2")
    assert all(row.because for row in policy.host.nccl)
    rail = policy_of(fabric={"family": RAIL_FAMILIES[0], "switch": "sn5600"})
    assert {row.name: row.value for row in rail.host.nccl}["NCCL_CROSS_NIC"] == "0"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, "EW-POL-001"),
        ({"loss_regime": "infiniband"}, "EW-POL-013"),
        ({"qos": {"kmin": "200KB", "kmax": "100KB"}}, "EW-POL-002"),
        ({"qos": {"kmin": "60MB", "kmax": "90MB"}}, "EW-POL-003"),
        ({"qos": {"kmax": "12MB"}}, "EW-POL-004"),
        ({"qos": {"dscp": 48}}, "EW-POL-005"),
        ({"qos": {"priority": 6}}, "EW-POL-006"),
        ({"qos": {"priority": 0}}, "EW-POL-007"),
        ({"qos": {"mtu": 9400}}, "EW-POL-008"),
        ({"qos": {"mtu": 1500}}, "EW-POL-014"),
        ({"qos": {"kmin": "50KB", "kmax": "100KB"}}, "EW-POL-015"),
        ({"qos": {"kmin": "500KB", "kmax": "14MB"}}, "EW-POL-016"),
        ({"qos": {"watchdog_detect": "4s"}}, "EW-POL-017"),
        ({"qos": {"watchdog_detect": "10ms"}}, "EW-POL-018"),
        ({"fabric": {"family": "leaf_spine", "switch": "64x400G"}}, "EW-POL-011"),
        (
            {"fabric": {"family": "leaf_spine", "switch": {"ports": 64, "rate": "400G", "buffer": "4MB"}}},
            "EW-POL-009",
        ),
        (
            {"fabric": {"family": "leaf_spine", "switch": {"ports": 64, "rate": "400G", "buffer": "18MB"}}},
            "EW-POL-010",
        ),
    ],
)
def test_each_broken_rule_has_its_finding(changes: dict[str, Any], code: str) -> None:
    policy = policy_of(**changes)
    found = [row for row in policy.findings if row.code == code]
    assert found
    assert all(row.sentence(lang) and row.hint(lang) for row in found for lang in ("en", "zh"))


def test_a_switch_without_watchdog_is_noticed_where_something_pauses() -> None:
    facts = replace(resolve_switch(SwitchWish.model_validate({"model": "sn5600"})), watchdog=False)
    use = FaceUse("leaf", "server", 400 * GIGA, 10.0, 32, 4)
    for n_lossless, expected in ((1, ["EW-POL-012"]), (0, [])):
        inputs = RoleInputs("leaf", facts, (use,), 9216, 4192, 64, n_lossless)
        assert [row.code for row in findings_for(inputs, memory_for(inputs))] == expected


def test_a_sound_site_has_no_finding() -> None:
    assert codes(loss_regime="lossless") == set()


def test_host_9000_under_switch_9216_is_no_finding() -> None:
    policy = policy_of(loss_regime="lossless")
    assert (policy.host_mtu_bytes, policy.rdma_mtu_bytes, policy.switch_mtu_bytes) == (9000, 4096, 9216)


def test_sonic_passes_9100_unless_more_is_wanted() -> None:
    fabric = {"family": "leaf_spine", "switch": {"model": "sn5600", "os": "sonic"}}
    assert policy_of(fabric=fabric).switch_mtu_bytes == 9100
    assert policy_of(fabric=fabric, qos={"mtu": 9150}).switch_mtu_bytes == 9216


def test_refused_marks_fall_back_to_the_defaults() -> None:
    assert policy_of(qos={"dscp": 48}).host.nics[0].traffic_class == 106


def test_wished_marks_reach_every_place() -> None:
    policy = policy_of(qos={"dscp": 34, "priority": 4})
    device = policy.device(policy.switch_names()[0])
    nic = policy.host.nics[0]
    assert class_path(device, device.ports[0], 34).priority == 4
    assert (nic.traffic_class, nic.cma_tos, nic.dscp_to_priority[34]) == (138, 138, 4)
    assert nic.pfc is not None
    assert nic.pfc.priorities == {4}


def test_infiniband_has_a_subnet_manager_and_no_pfc() -> None:
    policy = policy_of(
        transport="infiniband",
        servers=[{"name": "s", "model": "dgx-h100", "count": 32}],
        fabric={"family": "rail_optimized", "switch": "qm9700"},
    )
    assert policy.subnet is not None
    assert policy.subnet.routing_engine in ("ftree", "updn")
    assert policy.subnet.root_nodes
    assert len(policy.subnet.sl_to_vl) == 16
    device = policy.device(policy.switch_names()[0])
    assert device.bgp is None
    assert all(port.pfc is None for port in device.ports)
    assert policy.thresholds == {}
    assert policy.findings == ()


@pytest.mark.parametrize("regime", ["ecn-only", "spray-trim"])
def test_regimes_without_pauses_have_no_headroom_and_no_watchdog(regime: str) -> None:
    policy = policy_of(loss_regime=regime)
    device = policy.device(policy.switch_names()[0])
    assert device.watchdog is None
    assert all(port.pfc is not None and port.pfc.priorities == frozenset() for port in device.ports if port.enabled)
    assert not any(profile.lossless for profile in device.profiles)
    assert class_path(device, device.ports[0], 26).ecn is not None


def test_tcp_sets_no_rdma() -> None:
    policy = policy_of(transport="tcp")
    assert {row.name: row.value for row in policy.host.nccl}["NCCL_IB_DISABLE"] == "1"
    assert policy.thresholds == {}
    assert policy.host.nics[0].pfc is None


def test_a_long_link_between_rooms_has_headroom_of_its_own() -> None:
    policy = policy_of(
        rooms=[{"name": "a"}, {"name": "b"}],
        room_links=[{"between": ["a", "b"], "distance": "10km", "count": 8, "rate": "400G"}],
        fabric={"family": "leaf_spine", "switch": "64x400G"},
    )
    ids = {row.id: row for row in policy.decisions}
    rooms = [row for name, row in ids.items() if name.endswith(".room")]
    assert rooms
    assert rooms[0].value > 2 * 505 * 10_000  # 505 B/m of 400G round trip, doubled for packing
    asns = {device.name: device.bgp.asn for device in policy.devices() if device.role == "spine" and device.bgp}
    assert len(set(asns.values())) == 2  # one AS a room: otherwise a room would refuse the other's routes


def test_decisions_are_complete_and_unique() -> None:
    policy = policy_of()
    ids = [row.id for row in policy.decisions]
    assert len(set(ids)) == len(ids)
    wanted = {
        "policy.class.roce.dscp",
        "policy.headroom.leaf.server",
        "policy.headroom.leaf.uplink",
        "policy.ecn.kmin",
        "policy.ecn.kmax",
        "policy.ecn.pmax",
        "policy.mtu.host",
        "policy.mtu.switch",
        "policy.watchdog.detect",
        "policy.hash.seed.leaf",
        "policy.nccl.NCCL_IB_TC",
    }
    assert wanted <= set(ids)
    assert all(row.because and row.source for row in policy.decisions)


def test_the_document_is_plain_data() -> None:
    import json

    shown = json.loads(json.dumps(policy_of().as_json()))
    assert shown["loss_regime"] == "lossless"
    assert shown["lossless_priorities"] == [3]
    assert {row["name"] for row in shown["classes"]} == {"roce", "cnp", "control", "best-effort"}


def test_unknown_names_are_refused() -> None:
    policy = policy_of()
    with pytest.raises(UsageError, match="no switch 'nowhere'"):
        policy.device("nowhere")
    with pytest.raises(UsageError, match="no server"):
        policy.host_of(policy.switch_names()[0])
    assert policy.host_of(policy.server_names()[0]).name == policy.server_names()[0]


def test_inference_is_separated_when_it_shares_the_cluster() -> None:
    assert separates_inference(site_of(), Ledger()) is False
    assert separates_inference(site_of(qos={"separate_inference": True}), Ledger()) is True


def test_the_policy_is_the_same_at_every_run() -> None:
    one, other = policy_of(), policy_of()
    assert one.as_json() == other.as_json()
    assert [one.device(name) for name in one.switch_names()] == [other.device(name) for name in other.switch_names()]
