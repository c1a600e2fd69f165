"""Sizing without a site file, and its counter-offers."""

import pytest

from eastwest.errors import UsageError
from eastwest.fabric.sizing import size
from eastwest.spec.resolve import SwitchFacts, resolve_switch
from eastwest.spec.switches import SwitchWish

NIC_BPS = 400_000_000_000


def _switch(ports: int, rate: str) -> SwitchFacts:
    return resolve_switch(SwitchWish.model_validate({"ports": ports, "rate": rate}))


def test_a_cluster_of_1024_gpus_at_one_to_one() -> None:
    # published: 32 leaves and 16 spines of 64 x 400G, 48 switches
    counts = size(1024, 8, NIC_BPS, _switch(64, "400G"), rail_optimized=True).as_json()["fabric"]
    assert (counts["leaves"], counts["spines"], counts["links"]["leaf_spine"]) == (32, 16, 1024)


def test_four_nics_on_800g_switches() -> None:
    # published configuration guide: 256 GPUs in 64 servers of 4, 64 x 800G: 4 leaves, 2 spines
    counts = size(256, 4, NIC_BPS, _switch(64, "800G"), gpus_per_server=4).as_json()["fabric"]
    assert (counts["leaves"], counts["spines"]) == (4, 2)


def test_offers_can_be_built_and_say_what_changes() -> None:
    sizing = size(1000, 8, NIC_BPS, _switch(64, "400G"))
    offers = {offer.change: offer.fabric for offer in sizing.offers}
    assert sizing.verdict == "pass"
    assert offers["1,024 GPUs"]["leaves"] == sizing.fabric.as_json()["leaves"]
    assert offers["switch 64x800G"]["leaves"] == 16
    assert "oversubscription 1.5:1" in offers
    assert all(offer.because for offer in sizing.offers)


def test_three_tiers_are_the_answer_when_two_do_not_hold() -> None:
    # NVIDIA DGX SuperPOD B200, 16 scalable units: 128 leaves, 128 spines, 64 cores
    sizing = size(4096, 8, NIC_BPS, _switch(64, "400G"), rail_optimized=True)
    counts = sizing.as_json()["fabric"]
    assert sizing.verdict == "pass"
    assert (counts["tiers"], counts["leaves"], counts["spines"], counts["cores"]) == (3, 128, 128, 64)
    offers = {offer.change: offer.fabric for offer in sizing.offers}
    assert (offers["2,048 GPUs"]["tiers"], offers["2,048 GPUs"]["gpus"]) == (2, 2048)
    assert (offers["switch 64x800G"]["tiers"], offers["switch 64x800G"]["gpus"]) == (2, 4096)
    assert all(offer.fabric["max_gpus"] >= offer.fabric["gpus"] for offer in sizing.offers)


def test_more_than_three_tiers_hold_is_said_with_offers_that_fit() -> None:
    sizing = size(3000, 8, NIC_BPS, _switch(16, "400G"))
    assert sizing.verdict == "fail"
    assert "EW-FAB-028" in {finding.code for finding in sizing.findings}
    offers = {offer.change: offer.fabric for offer in sizing.offers}
    assert offers["1,024 GPUs"]["gpus"] == 1024 == 16**3 // 4
    assert offers["switch 64x800G"]["gpus"] == 3000


@pytest.mark.parametrize(("switch", "down", "servers"), [("400G", 32, 32), ("800G", 64, 64)])
def test_one_stripe_and_what_changes_when_it_stands_alone(switch: str, down: int, servers: int) -> None:
    # vendor validated design, one leaf a rail at 1:1: half the ports face servers; 64 servers alone on 64 x 400G
    sizing = size(servers * 8, 8, NIC_BPS, _switch(64, switch), rail_optimized=True)
    stripe = sizing.as_json()["stripe"]
    assert (stripe["leaves"], stripe["servers"], stripe["gpus"]) == (8, servers, servers * 8)
    assert (stripe["leaf_ports_down"], stripe["leaf_ports_up"]) == (down, down)
    assert (stripe["alone_servers"], stripe["alone_leaf_ports_down"]) == (2 * servers, 2 * down)
    alone = next(offer for offer in sizing.offers if offer.change.startswith("family rail_only"))
    assert (alone.fabric["leaves"], alone.fabric["spines"], alone.fabric["max_gpus"]) == (8, 0, 2 * servers * 8)


def test_one_plane_is_offered_instead_of_two() -> None:
    sizing = size(512, 8, 2 * NIC_BPS, _switch(64, "800G"), rail_optimized=True, planes=2)
    assert (sizing.fabric.as_json()["leaves"], sizing.fabric.as_json()["spines"]) == (16, 8)
    assert "1 plane" in {offer.change for offer in sizing.offers}


def test_gpus_are_rounded_up_to_whole_servers() -> None:
    assert size(9, 8, NIC_BPS, _switch(64, "400G")).fabric.n_gpus == 16


def test_counts_below_one_are_refused() -> None:
    with pytest.raises(UsageError, match="gpus"):
        size(0, 8, NIC_BPS, _switch(64, "400G"))
    with pytest.raises(UsageError, match="planes"):
        size(8, 8, NIC_BPS, _switch(64, "400G"), planes=3)
