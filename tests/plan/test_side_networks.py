"""Storage, out-of-band and monitoring networks against closed forms and the source texts' figures."""

import math

import pytest

from eastwest.plan import monitoring
from eastwest.plan.storage_network import checkpoint_s, needed_bps, shape
from eastwest.spec.resolve import resolve_switch
from eastwest.spec.switches import SwitchWish
from tests.plan.wishes import decision, finding, plan_of, rooms, site

GIGA = 10**9


def quantity(plan, description):
    return sum(row.quantity for row in plan.bom if row.description == description)


def test_a_checkpoint_of_50b_parameters_is_700_gb():
    plan = plan_of(site(more="storage: {bandwidth: 1.4T, nics_per_server: 2, checkpoint_within: 10s}\n"))
    row = decision(plan, "storage.train.checkpoint")
    assert row.inputs["bytes_per_param"] == 14
    assert row.inputs["size_bytes"] == pytest.approx(700e9, rel=0.01)  # 50B as laid out: 50.02B
    assert row.value == pytest.approx(row.inputs["size_bytes"] * 8 / 1.4e12)
    assert checkpoint_s(700e9, 1.4e12) == pytest.approx(4.0)
    assert decision(plan, "storage.train.bandwidth").value == pytest.approx(needed_bps(row.inputs["size_bytes"], 10.0))
    assert finding(plan, "EW-ADV-020") is None


def test_a_checkpoint_that_takes_longer_than_wished_is_an_error():
    found = finding(plan_of(site(more="storage: {bandwidth: 400G, checkpoint_within: 10s}\n")), "EW-ADV-020")
    assert found.severity == "error"
    assert found.observed == pytest.approx(14.0, rel=0.01)  # 700 GB at 50 GB/s
    assert "checkpoint_within" in found.evidence[0].text


def test_the_nics_bound_a_checkpoint_when_storage_is_faster():
    plan = plan_of(site(more="storage: {bandwidth: 100T, nic_rate: 100G}\n"))
    row = decision(plan, "storage.train.checkpoint")
    assert row.value == pytest.approx(row.inputs["size_bytes"] * 8 / (16 * 100e9))


def test_without_a_storage_wish_the_bandwidth_is_still_said_and_nothing_is_billed():
    plan = plan_of(site())
    assert decision(plan, "storage.train.bandwidth").value == pytest.approx(700e9 * 8 / 60, rel=0.01)
    assert {row.group for row in plan.bom} <= {"servers", "nics", "switches", "optics", "cables"}


def test_a_small_storage_network_is_two_leaves_without_a_spine():
    plan = plan_of(site(more="storage: {bandwidth: 400G, nics_per_server: 2}\n"))
    assert quantity(plan, "storage NIC") == 32
    assert (quantity(plan, "storage leaf"), quantity(plan, "storage spine")) == (2, 0)
    assert quantity(plan, "storage link") == 32 + 2  # 400G are two ports of 200G


def test_a_large_storage_network_is_leaves_and_spines_at_1_to_1():
    switch = resolve_switch(SwitchWish(ports=64, rate="200G"))
    built = shape(1000, switch, 200 * GIGA, 1)
    assert (built.leaves, built.uplinks, built.spines) == (math.ceil(1000 / 32), 32 * 32, 16)


def test_a_storage_nic_faster_than_its_switch_is_refused():
    more = "storage: {nic_rate: 800G, switch: 32x200G}\n"
    found = finding(plan_of(site(more=more)), "EW-ADV-023")
    assert (found.severity, found.observed) == ("error", 800 * GIGA)


def test_shared_storage_is_a_warning_with_its_incast_and_takes_leaf_ports():
    plan = plan_of(site(more="storage: {network: shared, bandwidth: 1.6T}\n"))
    found = finding(plan, "EW-ADV-021")
    assert (found.severity, found.args["fan_in"]) == ("warning", 16 * 8 // 4)
    assert finding(plan, "EW-ADV-022").observed == plan.fabric.tier_ports["leaf"].free
    assert decision(plan, "pfc.domain").inputs["storage_inside"] is True
    assert quantity(plan, "storage NIC") == 0


def test_out_of_band_ports_are_those_of_servers_and_switches_room_by_room():
    plan = plan_of(rooms("500m") + "out_of_band: {ports_per_server: 2}\n")
    row = decision(plan, "out_of_band.switches")
    switches = int((plan.fabric.nodes["kind"] > 0).sum())
    assert sum(row.inputs["ports_by_room"]) == 8 * 2 + switches == quantity(plan, "out-of-band port")
    assert row.value == sum(math.ceil(n / 48) for n in row.inputs["ports_by_room"]) == 2


def test_out_of_band_counts_the_switches_of_the_storage_network():
    with_storage = plan_of(site(more="storage: {bandwidth: 400G, nics_per_server: 2}\nout_of_band: {}\n"))
    without = plan_of(site(more="out_of_band: {}\n"))
    assert quantity(with_storage, "out-of-band port") == quantity(without, "out-of-band port") + 2


def test_collectors_follow_from_ports_counters_and_interval():
    plan = plan_of(site(more="monitoring: {interval: 1s, counters_per_port: 1000}\n"))
    row = decision(plan, "monitoring.collectors")
    ports = 2 * plan.fabric.links.size  # every cable has two ports
    assert row.inputs["samples_per_s"] == ports * 1000
    assert row.inputs["bytes_per_s"] == ports * 1000 * 100
    assert row.value == math.ceil(ports * 1000 / 200_000) == quantity(plan, "reads counters")


def test_the_default_counters_are_the_canonical_ones_of_a_port():
    assert 100 < monitoring.counters_per_port() < 400


def test_mirror_ports_need_free_leaf_ports():
    plan = plan_of(site(more="monitoring: {}\n"))
    assert finding(plan, "EW-ADV-025").args["leaves"] == plan.fabric.as_json()["leaves"]
    roomy = site(more="monitoring: {mirror_ports_per_leaf: 2}\n").replace("1:1}", "1:1, spare_ports: 2}")
    plan = plan_of(roomy)
    assert finding(plan, "EW-ADV-025") is None
    assert quantity(plan, "mirror port") == 2 * plan.fabric.as_json()["leaves"]


def test_power_meters_are_counted_by_room():
    plan = plan_of(rooms("500m") + "monitoring: {optical_power_meters: 2}\n")
    assert sum(row.quantity for row in plan.bom if row.part == "optical power meter") == 4


def test_without_a_wish_monitoring_is_sized_but_not_billed():
    plan = plan_of(site())
    assert "not in the bill" in decision(plan, "monitoring.collectors").because
    assert plan.bill.group("monitoring") is None


def test_shares_of_the_side_networks_are_of_the_whole_bill():
    plan = plan_of(site(more="out_of_band: {}\nmonitoring: {}\n"))
    for name in ("out_of_band", "monitoring"):
        row = decision(plan, f"bill.{name}.share")
        assert row.value == pytest.approx(row.inputs["power_w"] / row.inputs["total_power_w"])
    assert sum(group.power_share_ratio for group in plan.bill.groups) == pytest.approx(1.0)
