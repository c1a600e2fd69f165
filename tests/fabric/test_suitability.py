"""Findings from data sheets and wishes: slots, lanes, switches, transport, mixed servers."""

from typing import Any

import pytest

from eastwest.fabric.slots import slot_payload_bps, slot_raw_bps
from eastwest.fabric.topology import build
from eastwest.spec.site import Site
from tests.fabric.sites import codes, fabric_of, site

TRAINING = {"name": "train", "model": "llama3-70b", "global_batch": 64}


# PCI Express 4.0 x16: 16 GT/s x 16 x 128/130 = 252 Gb/s; payload at 128, 256, 512 bytes with 24 bytes of overhead
@pytest.mark.parametrize(("payload", "gbps"), [(128, 212), (256, 230), (512, 241)])
def test_payload_of_a_gen4_slot(payload: int, gbps: int) -> None:
    assert round(slot_raw_bps(4, 16) / 1e9) == 252
    assert round(slot_payload_bps(4, 16, payload) / 1e9) == gbps


@pytest.mark.parametrize(
    ("rate", "generation", "found"), [("400G", 4, True), ("200G", 4, False), ("400G", 5, False), ("800G", 6, False)]
)
def test_nic_against_its_slot(rate: str, generation: int, found: bool) -> None:
    server = {"count": 8, "gpus": 8, "nic": {"count": 8, "rate": rate}, "pcie": {"generation": generation}}
    fabric = {"family": "leaf_spine", "switch": "64x800G"}
    built = build(Site.model_validate({"name": "t", "servers": [server], "fabric": fabric}))
    assert ("EW-FAB-007" in codes(built)) is found


def test_nic_faster_than_the_leaf_port_runs_at_the_port() -> None:
    fabric = fabric_of("leaf_spine", 9, nic="800G")
    assert codes(fabric) == {"EW-FAB-005": "error"}
    assert set(fabric.links["rate_bps"]) == {400_000_000_000}


def test_lane_rates_of_data_sheets_must_match() -> None:
    # ConnectX-6 200G runs 4 lanes of 50G, a QM9700 port lanes of 100G
    nic = {"count": 8, "model": "connectx-6"}
    server = {"count": 9, "gpus": 8, "nic": nic}
    fabric = {"family": "leaf_spine", "switch": "qm9700"}
    top = {"name": "t", "transport": "infiniband", "servers": [server], "fabric": fabric}
    assert codes(build(Site.model_validate(top)))["EW-FAB-006"] == "error"
    assert "EW-FAB-006" not in codes(build(Site.model_validate({**top, "fabric": {**fabric, "switch": "64x400G"}})))


def test_switch_without_pfc_or_ecn() -> None:
    switch = {"ports": 64, "rate": "400G", "pfc": False}
    assert codes(fabric_of("leaf_spine", 9, switch=switch)) == {"EW-FAB-008": "error"}
    assert codes(fabric_of("leaf_spine", 9, switch=switch, top={"loss_regime": "ecn-only"})) == {}
    assert codes(fabric_of("leaf_spine", 9, switch=switch, top={"transport": "tcp"})) == {}


def test_training_on_tcp() -> None:
    assert codes(fabric_of("leaf_spine", 9, top={"transport": "tcp", "jobs": [TRAINING]})) == {"EW-FAB-010": "error"}


def test_mixed_servers() -> None:
    wish = site("leaf_spine", 9)
    other: dict[str, Any] = {"name": "old", "count": 1, "gpus": 4, "nic": {"count": 4, "rate": "200G"}}
    mixed = wish.model_dump(by_alias=True)
    mixed["servers"] = [{"count": 9, "gpus": 8, "nic": {"count": 8, "rate": "400G"}}, other]
    fabric = Site.model_validate({"name": "t", "servers": mixed["servers"], "fabric": {"switch": "64x400G"}})
    assert codes(build(fabric)) == {"EW-FAB-004": "error"}


def test_every_sentence_can_be_said_in_both_languages() -> None:
    fabric = fabric_of("leaf_spine", 300, nic="800G", top={"transport": "tcp", "jobs": [TRAINING]})
    for finding in fabric.findings:
        for lang in ("en", "zh"):
            assert "{" not in finding.sentence(lang) + finding.hint(lang)


@pytest.mark.parametrize(("domain", "found"), [(1, True), (4, True), (8, False), (72, False)])
def test_a_scale_up_domain_inside_the_server_was_taken_for_the_server_in_silence(domain: int, found: bool) -> None:
    server = {"count": 9, "gpus": 8, "nic": {"count": 8, "rate": "400G"}, "scale_up_domain": domain}
    fabric = {"family": "leaf_spine", "switch": "64x400G"}
    built = build(Site.model_validate({"name": "t", "servers": [server], "fabric": fabric}))
    assert ("EW-FAB-040" in codes(built)) is found


def test_raw_and_payload_are_both_of_all_functions() -> None:
    """Two functions of Gen5 x4: 2 x 126 Gb/s raw and 2 x 115 of payload."""
    pcie = {"generation": 5, "lanes": 4, "functions": 2}
    server = {"count": 8, "gpus": 8, "nic": {"count": 8, "rate": "400G"}, "pcie": pcie}
    built = build(Site.model_validate({"name": "t", "servers": [server], "fabric": {"switch": "64x400G"}}))
    args = next(f.args for f in built.findings if f.code == "EW-FAB-007")
    assert (args["slot"], args["raw_gbps"], args["payload_gbps"]) == ("2 x Gen5 x4", 252, 230)
