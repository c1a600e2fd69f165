"""Reach of media: one number for the plan and the check, and it is the catalogue's."""

from __future__ import annotations

import pytest

from eastwest.errors import UsageError
from eastwest.fabric.media import AUTO_OPTICS, DAC_REACH_M, MEDIA, reach_m
from eastwest.spec import catalogue
from eastwest.spec.reach import USUAL_CABLES, USUAL_OLD_SR, USUAL_OPTICS, reach_of_medium_m, reach_of_optic_m
from eastwest.units import GIGA


def test_every_medium_of_a_plan_has_a_usual_part_of_that_medium() -> None:
    assert set(MEDIA) == set(USUAL_CABLES) | set(USUAL_OPTICS)
    assert all(catalogue.get("cable", model).medium == medium for medium, model in USUAL_CABLES.items())
    assert all(catalogue.get("optic", model).medium == medium for medium, model in USUAL_OPTICS.items())


def test_reach_is_the_data_sheets() -> None:
    found = {medium: reach_of_medium_m(medium) for medium in MEDIA}
    assert found == {
        "dac": 3.0,
        "acc": 5.0,
        "aoc": 100.0,
        "sr": 50.0,
        "dr": 500.0,
        "fr": 2_000.0,
        "lr": 10_000.0,
        "zr": 80_000.0,
    }
    assert reach_of_optic_m(USUAL_OLD_SR) == 100.0


def test_optics_are_tried_from_the_shortest_reach() -> None:
    reaches = [reach_of_medium_m(medium) for medium in AUTO_OPTICS]
    assert reaches == sorted(reaches)


def test_copper_of_a_plan_keeps_to_the_standard_of_its_lanes() -> None:
    assert reach_m("dac", 100 * GIGA) == DAC_REACH_M[100 * GIGA] <= reach_of_medium_m("dac")
    assert reach_m("dac", 40 * GIGA) == DAC_REACH_M[100 * GIGA]
    assert reach_m("aoc", 100 * GIGA) == reach_of_medium_m("aoc")


def test_an_unknown_medium_is_refused() -> None:
    with pytest.raises(UsageError):
        reach_of_medium_m("string")
