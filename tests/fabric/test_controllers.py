"""Controllers take leaf ports: leaves are bought for them only where none is free, and the first leaves serve them."""

import numpy as np
import pytest

from eastwest.fabric.tables import LinkKind, NodeKind
from tests.fabric.sites import codes, fabric_of


def hosts(links, name="ufm"):
    return [{"name": name, "links": links}]


def leaves_of_controllers(fabric):
    """Leaf of each link of a controller, counted from 0."""
    up = fabric.links[fabric.links["kind"] == LinkKind.SERVER_LEAF]
    mine = up[fabric.nodes["kind"][up["a"]] == NodeKind.CONTROLLER]
    return (mine["b"] - fabric.nodes_of(NodeKind.LEAF)[0]).tolist()


@pytest.mark.parametrize(
    ("servers", "links", "leaves"),
    [
        (15, 2, 4),  # 4 leaves of 4 servers: 8 ports are free on the last
        (16, 0, 4),
        (16, 2, 5),  # all 4 x 32 ports down are taken
        (16, 33, 6),  # 32 on the fifth, one on the sixth
    ],
)
def test_ports_of_controllers_are_part_of_the_sizing(servers, links, leaves):
    fabric = fabric_of("leaf_spine", servers, controllers=hosts(links) if links else [])
    assert fabric.nodes_of(NodeKind.LEAF).size == leaves
    assert "error" not in codes(fabric).values()


def test_rails_get_a_further_group_when_their_leaves_are_full():
    """32 servers fill one group of 8 leaves with 32 ports down each."""
    assert fabric_of("rail_optimized", 31, controllers=hosts(2)).nodes_of(NodeKind.LEAF).size == 8
    fabric = fabric_of("rail_optimized", 32, controllers=hosts(2))
    assert fabric.nodes_of(NodeKind.LEAF).size == 16
    assert "error" not in codes(fabric).values()


def test_a_switch_without_a_port_for_the_controller_is_too_small():
    assert codes(fabric_of("single_switch", 8, controllers=hosts(1)))["EW-FAB-029"] == "error"
    assert "error" not in codes(fabric_of("single_switch", 7, controllers=hosts(1))).values()


def test_a_full_fabric_holds_fewer_servers_with_controllers():
    """64 leaves x 32 ports down = 2,048 NICs; two ports less are one server less."""
    assert fabric_of("leaf_spine", 16).max_gpus == 2048
    assert fabric_of("leaf_spine", 16, controllers=hosts(2)).max_gpus == 2048 - 8
    assert "error" not in codes(fabric_of("leaf_spine", 255, controllers=hosts(2))).values()
    assert "EW-FAB-002" in codes(fabric_of("leaf_spine", 256, controllers=hosts(2), tiers=2))


def test_the_first_leaves_with_room_beside_full_servers_serve_controllers():
    fabric = fabric_of("leaf_spine", 16, servers_per_leaf=3, controllers=hosts(2))
    assert leaves_of_controllers(fabric) == [0, 1]


def test_spare_ports_stay_free():
    """Three servers and 2 spare ports: 24 + 2 of 32; the spare ones are not given away while others are free."""
    fabric = fabric_of("leaf_spine", 6, servers_per_leaf=3, spare_ports=2, controllers=hosts(12))
    used = np.bincount(leaves_of_controllers(fabric))
    assert used.tolist() == [6, 6]


def test_leaves_that_only_controllers_need_are_said_with_what_avoids_them():
    found = next(f for f in fabric_of("rail_optimized", 32, controllers=hosts(2)).findings if f.code == "EW-FAB-051")
    assert (found.severity, found.observed) == ("warning", 8)
    assert found.args["fewer"] == 1
    assert "EW-FAB-051" not in codes(fabric_of("rail_optimized", 31, controllers=hosts(2)))
    assert "EW-FAB-051" not in codes(fabric_of("leaf_spine", 16))
