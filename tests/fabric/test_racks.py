"""Servers and switches in racks: by units, power and the user's limits."""

from typing import Any

import numpy as np

from eastwest.fabric.racks import RACK_PITCH_M, RACK_UNIT_M, ROW_PITCH_M, TRAY_ABOVE_RACK_M, route_lengths_m
from eastwest.fabric.tables import NODE_DTYPE, NodeKind, Rack
from tests.fabric.sites import codes, fabric_of


def _room(**rack: Any) -> dict[str, Any]:
    return {"rooms": [{"name": "hall", "racks": [rack]}]}


def test_power_limits_servers_in_a_default_rack() -> None:
    # 40 kW hold three servers of 10.2 kW
    fabric = fabric_of("leaf_spine", 9)
    racks = fabric.nodes["rack"][fabric.nodes_of(NodeKind.SERVER)]
    assert racks.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert (fabric.nodes["rack"] >= 0).all()


def test_servers_wish_of_a_rack() -> None:
    fabric = fabric_of("leaf_spine", 9, top=_room(count=5, power="80kW", servers=2, units=60))
    racks = fabric.nodes["rack"][fabric.nodes_of(NodeKind.SERVER)]
    assert np.bincount(racks).tolist() == [2, 2, 2, 2, 1]


def test_racks_that_do_not_suffice() -> None:
    fabric = fabric_of("leaf_spine", 9, top=_room(count=2))
    assert codes(fabric) == {"EW-FAB-015": "error"}
    assert fabric.findings[0].args["servers"] == 3


def test_patch_panel_short() -> None:
    fabric = fabric_of("leaf_spine", 9, top=_room(count=3, ports=8))
    assert codes(fabric)["EW-FAB-016"] == "error"


def test_no_two_devices_share_a_rack_unit() -> None:
    fabric = fabric_of("rail_optimized", 70)
    units = []
    for node in np.flatnonzero(fabric.nodes["rack"] >= 0):
        height = 8 if fabric.nodes["kind"][node] == NodeKind.SERVER else 1
        first = int(fabric.nodes["unit"][node])
        units += [(int(fabric.nodes["rack"][node]), unit) for unit in range(first, first + height)]
    assert len(set(units)) == len(units)
    assert max(unit for _, unit in units) <= 48


def test_route_between_racks_goes_over_the_tray() -> None:
    racks = (Rack("a", 0, 1, 1, 48, 1.0, None), Rack("b", 0, 3, 5, 48, 1.0, None))
    nodes = np.zeros(3, NODE_DTYPE)
    nodes["rack"], nodes["unit"] = [0, 1, 0], [1, 48, 11]
    got = route_lengths_m(racks, nodes, np.array([0, 0]), np.array([1, 2]))
    tray = 4 * RACK_PITCH_M + 2 * ROW_PITCH_M + 47 * RACK_UNIT_M + 2 * TRAY_ABOVE_RACK_M
    assert np.allclose(got, [tray, 10 * RACK_UNIT_M])
