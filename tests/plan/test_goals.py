"""Targets against closed forms and against what users and maintainers accept."""

import pytest

import eastwest
from eastwest.counters import CANONICAL
from eastwest.plan.goals import nic_payload_bytes_per_s, payload_ratio
from eastwest.spec.resolve import resolve_server
from tests.plan.sites import pretrain_site


def plan_of(text):
    return eastwest.make_plan(eastwest.parse_site(text, "site.yaml"))


@pytest.mark.parametrize(
    ("transport", "mtu_bytes", "ratio"),
    [
        ("roce", 4096, 4096 / 4178),  # 14+4+8+12 Ethernet, 20 IPv4, 8 UDP, 12 BTH, 4 ICRC
        ("roce", 1024, 1024 / 1106),
        ("infiniband", 4096, 4096 / 4122),
        ("tcp", 9000, 8948 / 9038),  # 20 IPv4, 20 TCP, 12 time stamps inside the MTU
    ],
)
def test_payload_ratio(transport, mtu_bytes, ratio):
    assert payload_ratio(transport, mtu_bytes) == pytest.approx(ratio, rel=1e-12)


def test_a_400g_nic_must_reach_the_accepted_48_gb_per_s():
    target = plan_of(pretrain_site(4)).targets.get("bandwidth.nic")
    assert target is not None
    assert target.value == pytest.approx(
        48e9, rel=0.005
    )  # 12, 24, 48 GB/s for 100, 200, 400G: users' and maintainers' figure


def test_all_servers_reduce_at_nics_times_payload():
    plan = plan_of(pretrain_site(32, family="rail_optimized"))
    nic = plan.targets.get("bandwidth.nic").value
    assert plan.targets.get("busbw.all_reduce.all").value == pytest.approx(
        8 * nic * 0.9, rel=1e-9
    )  # rates are whole bytes/s


def test_oversubscription_lowers_all_to_all_but_not_an_ordered_ring():
    """A ring in server order leaves each leaf once, so one server's share crosses: 2:1 does not touch it; all-to-all
    does.
    """
    even, halved = (plan_of(pretrain_site(32, oversubscription=ratio)).targets for ratio in ("1:1", "2:1"))
    assert halved.get("busbw.all_reduce.all").value == pytest.approx(even.get("busbw.all_reduce.all").value)
    plan = plan_of(pretrain_site(32, oversubscription="2:1"))
    under_one_leaf = 5  # 42 of 64 ports down, 8 a server
    slowdown = plan.fabric.oversubscription["leaf"] * (32 - under_one_leaf) / 31
    ratio = even.get("busbw.all_to_all.all").value / halved.get("busbw.all_to_all.all").value
    assert ratio == pytest.approx(slowdown, rel=1e-9)


def test_a_narrow_slot_lowers_the_target():
    text = pretrain_site(4).replace("count: 4}", "count: 4, pcie: {generation: 4, lanes: 16, max_payload: 256}}")
    plan = plan_of(text)
    raw_bps = 16e9 * 16 * 128 / 130  # 252 Gb/s, PCI Express 4.0 x16
    slot_bytes_per_s = raw_bps * 256 / (256 + 24) / 8
    assert plan.targets.get("bandwidth.nic").value == pytest.approx(slot_bytes_per_s * 0.98, rel=1e-9)
    server = resolve_server(plan.site.servers[0])
    wire = nic_payload_bytes_per_s(server.nic_rate_bps, payload_ratio("roce", 4096), None)
    assert wire == pytest.approx(50e9 * 4096 / 4178)


def test_the_mtu_target_is_the_seeds_ping():
    target = plan_of(pretrain_site(4) + "qos: {mtu: 9000}\n").targets.get("mtu.path")
    assert target.value == 8972
    assert "ping -M do -s 8972" in target.test


@pytest.mark.parametrize(("transport", "kind"), [("roce", "zero"), ("infiniband", "zero"), ("tcp", "bounded")])
def test_drops_are_zero_only_where_the_class_is_lossless(transport, kind):
    assert plan_of(pretrain_site(4, transport=transport)).targets.get("counter.drops").kind == kind


@pytest.mark.parametrize("transport", ["roce", "infiniband", "tcp"])
def test_counters_have_canonical_names(transport):
    names = [
        row.test for row in plan_of(pretrain_site(4, transport=transport)).targets.rows if row.id.startswith("counter.")
    ]
    assert names
    assert set(names) <= set(CANONICAL.names())


def test_all_to_all_between_rooms_is_held_to_the_room_link():
    text = pretrain_site(8).replace("fabric:", ROOMS + "fabric:")
    plan = plan_of(text)
    own = plan.targets.get("bandwidth.nic").value * 63 / 56  # (n - 1)/(n - g): 64 GPUs, 8 in a server
    crossing = 4 / 7  # of the other servers, in the other room
    slowdown = plan.fabric.oversubscription["room"] * crossing
    assert slowdown > 1
    assert plan.targets.get("busbw.all_to_all.all").value == pytest.approx(own / slowdown * 0.9, rel=1e-9)


ROOMS = """rooms: [{name: a}, {name: b}]
room_links: [{between: [a, b], distance: 1km, count: 4, rate: 400G, oversubscription: 8:1}]
"""
