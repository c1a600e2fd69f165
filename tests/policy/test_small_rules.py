"""Small rules: traffic class byte, MTU, watchdog, NCCL environment, hash, routing engines; names that lead nowhere."""

import doctest
import importlib
import pkgutil
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import eastwest.policy
from eastwest.errors import UsageError
from eastwest.policy import class_path, dangling, hashing, infiniband, mtu, nccl, tc, watchdog
from eastwest.policy.settings import (
    SECTIONS,
    DeviceSettings,
    PfcSettings,
    PortSettings,
    PriorityGroup,
    QosMap,
    QueuePlan,
    QueueSettings,
    table_of,
)
from eastwest.policy.settings_host import HostSettings, NicSettings


@pytest.mark.parametrize("module", [row.name for row in pkgutil.iter_modules(eastwest.policy.__path__)])
def test_examples_in_docstrings_are_true(module: str) -> None:
    found = doctest.testmod(importlib.import_module(f"eastwest.policy.{module}"))
    assert found.failed == 0


@pytest.mark.parametrize(
    ("value", "dscp", "ecn", "priority"),
    [
        (106, 26, "ECT(0)", 3),
        (104, 26, "Not-ECT", 3),
        (98, 24, "ECT(0)", 3),
        (136, 34, "Not-ECT", 4),
        (160, 40, "Not-ECT", 5),
        (0, 0, "Not-ECT", 0),
    ],
)
def test_traffic_class_bytes(value: int, dscp: int, ecn: str, priority: int) -> None:
    byte = tc.decode(value)
    assert (byte.dscp, byte.ecn_name, byte.default_priority) == (dscp, ecn, priority)
    assert byte.as_json()["dscp"] == dscp


@given(st.integers(0, 255))
def test_decoding_and_encoding_are_inverse(value: int) -> None:
    byte = tc.decode(value)
    assert tc.encode(byte.dscp, byte.ecn) == value
    assert byte.markable is (byte.ecn in (1, 2))


@pytest.mark.parametrize(
    ("value", "words"), [(26, "DSCP 6"), (104, "no ECT"), (107, "CE at the sender"), (106, None), (0, None)]
)
def test_suspicious_bytes(value: int, words: str | None) -> None:
    found = tc.suspicions(value)
    assert (words in found[0]) if words else found == ()


@pytest.mark.parametrize("value", [-1, 256, 1000])
def test_no_byte_is_larger_than_255(value: int) -> None:
    with pytest.raises(UsageError, match="0-255"):
        tc.decode(value)


def test_a_dscp_is_at_most_63() -> None:
    with pytest.raises(UsageError, match="DSCP is 0-63"):
        tc.encode(106)


@pytest.mark.parametrize(
    ("netdev", "roce"), [(9000, 4096), (4200, 4096), (4192, 4096), (4191, 2048), (1500, 1024), (352, 256), (351, None)]
)
def test_roce_mtu(netdev: int, roce: int | None) -> None:
    assert mtu.roce_mtu(netdev) == roce


@pytest.mark.parametrize(("os", "written", "ip"), [("sonic", 9100, 9100), ("junos", 9216, 9202), (None, 9216, 9216)])
def test_what_an_mtu_number_counts(os: str | None, written: int, ip: int) -> None:
    assert mtu.ip_mtu(written, os) == ip


@pytest.mark.parametrize(
    ("ports", "detect", "poll"), [(1, 0.2, 0.2), (32, 0.2, 0.2), (33, 0.4, 0.4), (64, 0.4, 0.4), (512, 3.2, 1.0)]
)
def test_watchdog_scales_with_ports(ports: int, detect: float, poll: float) -> None:
    found = watchdog.timing(ports)
    assert (found.detect_s, found.poll_s) == pytest.approx((detect, poll))


def test_a_switch_of_512_ports_is_slower_than_bfd() -> None:
    assert watchdog.conflicts(watchdog.settings_for(512), watchdog.BFD)
    assert watchdog.conflicts(watchdog.settings_for(64), watchdog.BFD) == ()
    assert watchdog.settings_for(64, 0.1).poll_s == 0.1


@pytest.mark.parametrize(
    ("found", "variable", "words"),
    [
        ({"NCCL_IB_ENABLE": "1"}, "NCCL_IB_ENABLE", "NCCL_IB_DISABLE=0"),
        ({"NCCL_IB_TIME_OUT": "22"}, "NCCL_IB_TIME_OUT", "did you mean NCCL_IB_TIMEOUT?"),
        ({"NCCL_IB_HCA": "mlx5_1"}, "NCCL_IB_HCA", "write =mlx5_1"),
        ({"NCCL_IB_HCA": "=mlx5_0,mlx5_1"}, "NCCL_IB_HCA", "write =mlx5_0,mlx5_1,mlx5_10"),
        ({"NCCL_IB_TC": "104"}, "NCCL_IB_TC", "eastwest tc"),
        ({"NCCL_IB_TIMEOUT": "22", "NCCL_IB_RETRY_CNT": "7"}, "NCCL_IB_TIMEOUT", "30.06 s"),
    ],
)
def test_doubtful_environments(found: dict[str, str], variable: str, words: str) -> None:
    rows = nccl.doubts(found, ("mlx5_0", "mlx5_1", "mlx5_10"))
    assert any(row.variable == variable and words in row.remedy for row in rows)


@pytest.mark.parametrize("balancing", ["ecmp", "spray", "adaptive", "flowlet"])
@pytest.mark.parametrize("regime", ["lossless", "ecn-only", "infiniband", "tcp"])
def test_our_own_environment_raises_no_doubt(regime: str, balancing: str) -> None:
    env = nccl.environment(regime, 8, "leaf_spine", balancing, 26)  # type: ignore[arg-type]
    found = {row.name: row.value for row in env if row.value is not None}
    assert nccl.doubts(found, tuple(f"mlx5_{i}" for i in range(8))) == ()


def test_numbers_that_are_none_are_not_judged() -> None:
    assert nccl.doubts({"NCCL_IB_TC": "auto", "NCCL_IB_TIMEOUT": "x", "NCCL_IB_HCA": "^mlx5_9"}, ("mlx5_0",)) == ()


@given(st.text(max_size=40))
def test_seeds_differ_between_tiers(name: str) -> None:
    seeds = hashing.seeds(name)
    assert len(set(seeds.values())) == len(seeds) == 3
    assert all(0 <= seed < 2**16 for seed in seeds.values())


def test_each_tier_reads_its_own_bits_of_the_hash() -> None:
    """Ten bits each of 32: as many as tell the next hops of the largest switch apart."""
    found = [hashing.settings_for(tier, "x", "ecmp").offset for tier in hashing.TIERS]
    assert found == [0, 10, 20]
    assert found[-1] + hashing.OFFSET_BITS <= 32


def test_the_destination_qp_is_in_the_hash() -> None:
    assert "rdma_qp" in hashing.settings_for("leaf", "x", "ecmp").fields
    assert hashing.settings_for("leaf", "x", "flowlet").flowlet_gap_s


@pytest.mark.parametrize(
    ("family", "regular", "engine"),
    [
        ("leaf_spine", True, "ftree"),
        ("leaf_spine", False, "updn"),
        ("torus", True, "torus-2QoS"),
        ("other", True, "updn"),
    ],
)
def test_routing_engines(family: str, regular: bool, engine: str) -> None:
    assert infiniband.engine_for(family, regular)[0] == engine


def sample() -> DeviceSettings:
    maps = QosMap("M", "dscp", table_of(64, {26: 3}, 0), (), table_of(8, {3: 3}, 0), table_of(8, {3: 3}, 0))
    port = PortSettings(
        "p1",
        pfc=PfcSettings("on", frozenset({3}), frozenset({3})),
        qos_map="M",
        queue_plan="Q",
        priority_groups=(PriorityGroup(3, "P"),),
    )
    return DeviceSettings("d", qos_maps=(maps,), queue_plans=(QueuePlan("Q", (QueueSettings(3),)),), ports=(port,))


def test_a_mark_is_followed_through_every_table() -> None:
    device = sample()
    path = class_path(device, device.ports[0], 26)
    assert (path.tc, path.queue, path.pg, path.priority, path.pauses) == (3, 3, 3, 3, True)
    assert (path.ecn, path.headroom) == (None, None)


def test_a_name_that_leads_nowhere_is_listed() -> None:
    assert dangling(sample()) == (("p1", "buffer profile", "P"),)


def test_a_port_without_a_map_has_no_class() -> None:
    device = sample()
    path = class_path(device, replace(device.ports[0], qos_map=None), 26)
    assert (path.tc, path.priority, path.pauses) == (None, None, False)


def test_a_queue_that_two_priorities_pause_keeps_the_class_number() -> None:
    """With an ambiguous priority-to-queue table the traffic class itself is the priority."""
    device = sample()
    both = replace(device.qos_maps[0], pfc_priority_to_queue=table_of(8, {3: 3, 4: 3}))
    one = replace(device.qos_maps[0], pfc_priority_to_queue=table_of(8, {5: 3}))
    assert class_path(replace(device, qos_maps=(both,)), device.ports[0], 26).priority == 3
    assert class_path(replace(device, qos_maps=(one,)), device.ports[0], 26).priority == 5


def test_pfc_that_is_off_pauses_nothing() -> None:
    assert PfcSettings("off", frozenset({3}), frozenset({3})).priorities == frozenset()
    assert PfcSettings("on", frozenset({3, 4}), frozenset({3})).priorities == {3}


def test_not_seen_and_not_configured_differ() -> None:
    silent, empty = DeviceSettings("d", seen=frozenset({"ports"})), DeviceSettings("d")
    assert (silent.sees("pfc"), empty.sees("pfc")) == (False, True)
    assert empty.seen == SECTIONS
    assert silent != empty


def test_things_are_found_by_name() -> None:
    device = sample()
    assert device.port("p1") is device.ports[0]
    assert (device.port("p9"), device.profile("P"), device.pool(None)) == (None, None, None)
    assert device.ports[0].group(4) is None
    host = HostSettings("h", nics=(NicSettings("mlx5_0"),))
    assert host.nic("mlx5_0") is host.nics[0]
    assert (host.nic("mlx5_9"), host.variable("NCCL_IB_TC")) == (None, None)
