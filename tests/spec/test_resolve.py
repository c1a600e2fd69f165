"""Switches that no data sheet describes: power and size grow with the ports, and both are said to be assumed."""

import pytest

from eastwest.spec.hosts import ServerWish
from eastwest.spec.resolve import default_power_w, default_units, resolve_server, resolve_switch
from eastwest.spec.switches import SwitchWish

GIGA = 10**9


@pytest.mark.parametrize(
    ("ports", "rate", "power_w", "units"),
    [
        (32, 400, 1_000, 1),
        (64, 400, 1_000, 1),  # 25.6 Tb/s, one chip
        (128, 400, 1_500, 1),  # 51.2 Tb/s, one chip
        (128, 800, 3_000, 1),  # 102.4 Tb/s, one chip
        (576, 400, 18_000, 32),  # a chassis of 16 cards of 36 ports: published ones draw about 20 kW
        (1_152, 400, 36_000, 64),
    ],
)
def test_power_and_size_of_a_switch_known_by_its_ports(ports: int, rate: int, power_w: float, units: int) -> None:
    switch = resolve_switch(SwitchWish.model_validate({"ports": ports, "rate": f"{rate}G"}))
    assert (switch.power_w, switch.rack_units) == (power_w, units)
    assert (default_power_w(ports, rate * GIGA), default_units(ports, rate * GIGA)) == (power_w, units)
    assert f"{switch.label}: power {power_w:g} W" in switch.assumed
    assert (f"{switch.label}: {units} rack units" in switch.assumed) == (units > 1)


def test_a_data_sheet_wins() -> None:
    switch = resolve_switch(SwitchWish.model_validate({"model": "qm9700"}))
    assert (switch.power_w, switch.assumed) == (747.0, ())


def test_nics_share_cages_on_servers_whose_data_sheet_says_so() -> None:
    def shared(**wish: object) -> int:
        return resolve_server(ServerWish.model_validate({"count": 1, **wish})).nics_per_cage

    assert shared(model="dgx-h100") == 2
    assert shared(model="hgx-h100") == 1
    assert shared(model="dgx-h100", nic={"model": "bluefield-3"}) == 1
