"""Factors on the network time of each class against closed forms."""

from dataclasses import replace

import pytest

from eastwest.fabric.bottleneck import Bottleneck
from eastwest.plan.distance import CHANNELS_PER_NIC, NCCL_BUFFER_BYTES
from eastwest.plan.network_factors import class_of, factors_of, nic_bps, repeats_of, times_on
from eastwest.simulate.analytic.distance import rtt_s
from eastwest.workload.ledger import LedgerRow
from tests.plan.sites import pretrain_site
from tests.plan.test_predict import model_of, plan_of
from tests.plan.wishes import rooms

OWN = Bottleneck(2.0, "leaf_spine", 0.0, nics_s=1.0)


def test_a_row_takes_its_slowest_part_and_its_waits():
    assert times_on(OWN, 1.0) == 2.0
    assert times_on(OWN, 3.0) == 3.0  # a slot at a third of the wire
    assert times_on(replace(OWN, stretch=4.0, wait_s=0.5), 1.0) == 4.5


def test_classes_follow_the_dimension():
    names = {"tp": "tp", "cp": "cp", "ep": "ep", "pp": "pp", "dp_cp": "dp", "expert_dp": "dp", "pp_ends": "dp"}
    for dimension, name in names.items():
        row = LedgerRow("j", "t", dimension, "g", 2, "all_reduce", 1, 1, 1, "step")
        assert class_of(row) == name


def test_repeats_are_messages_over_those_of_one_collective():
    row = LedgerRow("j", "t", "dp_cp", "dp8", 8, "all_reduce", 1, 14 * 5, 1, "step")
    assert repeats_of(row) == 5
    assert repeats_of(replace(row, collective="send_recv", group_size=2, messages=6)) == 6


def test_a_class_that_stays_inside_has_no_factor_and_an_absent_one_is_even():
    plan = plan_of(pretrain_site(16))
    factors = factors_of(plan.ledger.jobs[0], model_of(plan).found, plan.server)
    assert factors == {"tp": 0.0, "cp": 1.0, "ep": 1.0, "pp": 1.0, "dp": pytest.approx(1.0)}


def test_a_slot_moves_the_nic_and_not_the_factor():
    plan = plan_of(pretrain_site(16).replace("model: dgx-h100", "model: dgx-h100, pcie: {generation: 4}"))
    assert nic_bps(plan.server) == pytest.approx(16e9 * 16 * 128 / 130 * 256 / 280)
    assert factors_of(plan.ledger.jobs[0], model_of(plan).found, plan.server)["dp"] == pytest.approx(1.0)


def test_a_long_link_stretches_by_what_is_in_flight_and_waits_for_the_fibre():
    plan = plan_of(rooms("100km", regime="ecn-only"))
    model = model_of(plan)
    row = next(row for row in plan.ledger.rows if row.traffic == "dp_gradients")
    own, trip_s = model.found["dp_gradients"], rtt_s(100_000)
    assert own.stretch == pytest.approx(50e9 * trip_s / (CHANNELS_PER_NIC * NCCL_BUFFER_BYTES))
    assert own.wait_s == pytest.approx(repeats_of(row) * trip_s)  # a ring crosses there and back once
    assert model.found["tp_gather"].stretch == 1.0
