"""Rooms and distance against closed forms and the source texts' figures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.plan import distance
from eastwest.simulate.analytic.distance import rtt_s
from tests.plan.wishes import decision, finding, plan_of, rooms

GIGA = 10**9
RATE = 400 * GIGA


def test_headroom_of_400g_over_10_km_is_about_5_mb():
    # 2 x 10 km x 400 Gb/s / (8 x 1.98e8 m/s) = 5,050,505 B; two frames and the response add 76 kB
    room = distance.room_headroom(RATE, 10_000, 9216)
    assert room.xoff_bytes == pytest.approx(2 * 10_000 * RATE / 8 / 1.98e8 + 2 * 9216 + 905 * 64, abs=1)
    assert 5.0e6 < room.xoff_bytes < 5.2e6


def test_round_trip_of_10_km_is_100_us():
    assert distance.fibre_rtt_s(10_000) == pytest.approx(100e-6)


def test_one_channel_carries_its_buffer_in_a_round_trip():
    assert distance.nccl_bytes_per_s(1, 100e-6) == pytest.approx(4 * 2**20 / 100e-6)
    assert distance.NCCL_BUFFER_BYTES == 8 * distance.NCCL_CHUNK_BYTES
    # 50 GB/s x 1 ms = 50 MB in flight = 11.92 buffers of 4 MiB
    assert distance.channels_for(RATE, 1e-3) == 12


@given(st.floats(1.0, 1e5), st.integers(1, 64))
def test_the_channels_that_are_needed_fill_the_rate_and_one_less_does_not(length_m, gbps):
    rate, rtt = gbps * 10 * GIGA, distance.fibre_rtt_s(length_m)
    n = distance.channels_for(rate, rtt)
    assert distance.nccl_bytes_per_s(n, rtt) >= rate / 8 * (1 - 1e-6)
    assert n == 1 or distance.nccl_bytes_per_s(n - 1, rtt) < rate / 8


@given(st.floats(1e4, 1e8), st.floats(0, 1000), st.sampled_from([1.0, 2.0, 3.0]))
def test_headroom_at_the_reach_is_the_share(share, known_m, packing):
    reach = distance.pfc_reach_m(share, 5_000.0, known_m, RATE, packing)
    at_reach = 5_000.0 + (reach - known_m) * distance.cable_bytes(RATE, 1.0) * packing
    assert at_reach == pytest.approx(share, rel=1e-9) or reach == 0.0


def test_a_room_link_of_10_km_ends_pfc_and_says_where():
    plan = plan_of(rooms("10km"))
    row = decision(plan, "distance.east-west.pfc_ends_at")
    inputs = row.inputs
    share = (inputs["share_bytes"] - inputs["headroom_bytes"]) / (inputs["packing"] * distance.cable_bytes(RATE, 1.0))
    assert row.value == pytest.approx(max(0.0, inputs["L0_m"] + share), abs=1.0)
    found = finding(plan, "EW-ADV-001")
    assert (found.severity, found.observed) == ("warning", 10_000.0)
    assert found.expected == pytest.approx(row.value, abs=0.1)
    assert found.evidence[0].text.startswith("room_links:")
    assert "ECN" in found.hint()
    assert "ECN" in found.hint("zh")


def test_500_m_hold_on_the_chip_and_no_distance_shows():
    plan = plan_of(rooms("500m"))
    assert [finding(plan, f"EW-ADV-00{n}") for n in (1, 2, 3)] == [None] * 3
    assert finding(plan, "EW-ADV-012").observed == 2  # but the pause still reaches the other room


def test_without_pfc_no_headroom_is_asked_for():
    plan = plan_of(rooms("10km", regime="ecn-only"))
    assert not [row.id for row in plan.decisions if row.id.endswith((".headroom", ".pfc_ends_at"))]
    assert finding(plan, "EW-ADV-012") is None


def test_nccl_is_bounded_beyond_16_km_with_two_channels():
    near, far = plan_of(rooms("10km", regime="ecn-only")), plan_of(rooms("40km", regime="ecn-only"))
    assert decision(near, "distance.east-west.nccl").value == RATE / 8
    assert finding(near, "EW-ADV-002") is None
    row = decision(far, "distance.east-west.nccl")
    assert row.value == pytest.approx(2 * 4 * 2**20 / row.inputs["rtt_s"])
    assert row.inputs["fibre_rtt_s"] == pytest.approx(400e-6)
    found = finding(far, "EW-ADV-002")
    assert found.args["needed"] == row.inputs["channels_needed"] == 5  # 50 GB/s x 409 us = 20.5 MB = 4.9 buffers
    assert found.observed == pytest.approx(row.value, abs=1)


def test_exposed_seconds_with_and_without_overlap():
    plan = plan_of(rooms("100km", regime="ecn-only"))
    row = decision(plan, "distance.train.exposed")
    assert row.inputs["not_overlapped_s"] > row.inputs["overlapped_s"] > row.inputs["without_distance_s"]
    assert row.inputs["stretch"] == pytest.approx(RATE / 8 / (2 * 4 * 2**20 / rtt_s(100_000)))
    found = finding(plan, "EW-ADV-003")
    assert found.observed == row.value
    assert "100 km" in found.sentence()
    assert "100 km" in found.sentence("zh")
