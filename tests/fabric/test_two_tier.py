"""Counts of two-tier fabrics against published reference architectures and the arithmetic of the seed texts."""

import pytest

from eastwest.fabric.tables import LinkKind, NodeKind
from eastwest.fabric.topology import build
from tests.fabric.sites import codes, fabric_of, site, two_rooms

UFM = [{"name": "ufm", "links": 4}]

# NVIDIA DGX SuperPOD reference architectures (H100, B200), compute fabric tables:
# servers, UFM, leaves, spines, server and UFM cables, leaf-spine cables.
SUPERPODS = [
    (31, UFM, 8, 4, 252, 256),
    (63, UFM, 16, 8, 508, 512),
    (95, UFM, 24, 16, 764, 768),
    (127, UFM, 32, 16, 1020, 1024),
    (64, [], 16, 8, 512, 512),
    (128, [], 32, 16, 1024, 1024),
]


@pytest.mark.parametrize(("servers", "controllers", "leaves", "spines", "cables", "uplinks"), SUPERPODS)
def test_superpod_counts(
    servers: int, controllers: list[dict[str, object]], leaves: int, spines: int, cables: int, uplinks: int
) -> None:
    fabric = fabric_of("rail_optimized", servers, controllers=controllers)
    counts = fabric.as_json()
    assert (counts["leaves"], counts["spines"]) == (leaves, spines)
    assert (counts["links"]["server_leaf"], counts["links"]["leaf_spine"]) == (cables, uplinks)
    assert not fabric.findings


def test_leaf_arithmetic_of_the_seeds() -> None:
    # 8 servers x 8 x 200G = 12.8T on a 64 x 400G leaf: 32 ports down as 2 x 200G, 32 up, 1:1
    # at its end 64 leaves and 32 spines
    fabric = fabric_of("leaf_spine", 8, nic="200G")
    decisions = {decision.id: decision.value for decision in fabric.decisions}
    assert decisions["fabric.leaf.down_ports"] == 64
    assert decisions["fabric.leaf.servers"] == 8
    assert decisions["fabric.leaf.uplinks"] == 32
    assert fabric.oversubscription["leaf"] == 1.0
    assert (fabric.max_leaves, fabric.max_spines, fabric.max_gpus) == (64, 32, 4096)
    down = fabric.links[fabric.links_of(LinkKind.SERVER_LEAF)]
    assert int(down["rate_bps"].sum()) == 12_800_000_000_000


def test_the_seeds_leaf_grown_to_its_end() -> None:
    counts = fabric_of("leaf_spine", 512, nic="200G").as_json()
    assert (counts["leaves"], counts["spines"], counts["gpus"], counts["max_gpus"]) == (64, 32, 4096, 4096)
    assert counts["ports"]["spine"]["free"] == 0


@pytest.mark.parametrize(("switch", "servers"), [("64x400G", 32), ("64x800G", 64)])
def test_servers_of_one_stripe_at_one_to_one(switch: str, servers: int) -> None:
    # vendor validated design: 8 leaves a stripe, half the ports down; an 800G port is two 400G ports
    fabric = fabric_of("rail_optimized", servers, switch=switch)
    assert fabric.facts["servers_per_leaf_group"] == servers
    assert fabric.as_json()["leaves"] == 8
    assert fabric.oversubscription["leaf"] == 1.0
    assert fabric_of("rail_optimized", servers + 1, switch=switch).as_json()["leaves"] == 16


def test_two_planes_of_a_twin_port_nic() -> None:
    # NVIDIA DGX SuperPOD B300 (Ethernet), one and eight scalable units: 800G NICs as 2 x 400G in two planes
    for servers, leaves, spines in ((64, 16, 8), (512, 128, 64)):
        counts = fabric_of("rail_optimized", servers, switch="64x800G", nic="800G", planes=2).as_json()
        assert (counts["leaves"], counts["spines"]) == (leaves, spines)
        assert counts["links"]["server_leaf"] == servers * 8 * 2


def test_uplinks_break_out_when_leaves_outnumber_spine_ports() -> None:
    fabric = fabric_of("leaf_spine", 1024, switch="64x800G")
    assert fabric.facts["leaf_up_rate_bps"] == 400_000_000_000
    assert (fabric.as_json()["leaves"], fabric.as_json()["spines"], fabric.max_gpus) == (128, 64, 8192)


def test_growth_decides_the_link_rate() -> None:
    growth = {"growth": {"steps": [{"name": "later", "servers": 1024}]}}
    fabric = fabric_of("leaf_spine", 64, switch="64x800G", top=growth)
    assert fabric.facts["leaf_up_rate_bps"] == 400_000_000_000
    assert fabric.max_gpus == 8192
    beyond = {"growth": {"steps": [{"name": "later", "servers": 1025}]}}
    assert codes(fabric_of("leaf_spine", 64, switch="64x800G", top=beyond)) == {"EW-FAB-017": "warning"}


def test_oversubscription_wish_is_kept_and_saves_switches() -> None:
    one, two = fabric_of("leaf_spine", 128), fabric_of("leaf_spine", 128, oversubscription="2:1")
    assert one.oversubscription["leaf"] == 1.0
    assert 1.0 < two.oversubscription["leaf"] <= 2.0
    total = [f.as_json()["leaves"] + f.as_json()["spines"] for f in (one, two)]
    assert total == [48, 36]


def test_a_leaf_gives_up_servers_to_spread_its_uplinks() -> None:
    # 38 down and 26 up of 64 ports would need 13 spines for 8 leaves; 36 down and 24 up need 3
    counts = fabric_of("rail_optimized", 32, oversubscription="1.5:1").as_json()
    assert (counts["leaves"], counts["spines"]) == (8, 3)


def test_more_than_two_tiers_hold_is_said_with_the_limit() -> None:
    fabric = fabric_of("leaf_spine", 300)
    assert codes(fabric) == {"EW-FAB-001": "error", "EW-FAB-002": "error"}
    beyond = next(finding for finding in fabric.findings if finding.code == "EW-FAB-002")
    assert (beyond.expected, beyond.observed) == (2048, 2400)
    short = next(finding for finding in fabric.findings if finding.code == "EW-FAB-001")
    assert short.observed - short.expected == short.args["short"] == (75 - 64) * 32


def test_no_port_left_for_a_controller_is_a_further_group_of_leaves() -> None:
    assert fabric_of("rail_optimized", 127, controllers=UFM).as_json()["leaves"] == 32
    fabric = fabric_of("rail_optimized", 128, controllers=UFM)
    assert fabric.as_json()["leaves"] == 40
    assert codes(fabric)["EW-FAB-051"] == "warning"


def test_one_switch_would_do_is_said() -> None:
    assert codes(fabric_of("leaf_spine", 8, switch="64x400G", nic="200G")) == {"EW-FAB-018": "info"}
    assert codes(fabric_of("leaf_spine", 9)) == {}


def test_a_server_that_does_not_fit_a_leaf() -> None:
    fabric = fabric_of("leaf_spine", 2, switch="8x400G")
    assert codes(fabric)["EW-FAB-025"] == "error"


def test_spare_ports_stay_free_on_every_leaf() -> None:
    fabric = fabric_of("rail_optimized", 32, spare_ports=2)
    assert fabric.facts["servers_per_leaf_group"] == 30
    assert fabric.as_json()["leaves"] == 16


def test_rooms_have_their_own_leaves_and_spines() -> None:
    fabric = two_rooms(servers=8)
    rooms = fabric.nodes["room"]
    for kind, each in ((NodeKind.SERVER, 4), (NodeKind.LEAF, 1), (NodeKind.SPINE, 1)):
        nodes = fabric.nodes_of(kind)
        assert [int((rooms[nodes] == room).sum()) for room in (0, 1)] == [each, each]
    links = fabric.links[fabric.links_of(LinkKind.ROOM)]
    assert len(links) == 8
    assert set(links["length_m"]) == {2000.0}
    assert fabric.room_links[0].rate_bps == 8 * 400_000_000_000
    # 4 servers x 8 x 400G = 12.8T in a room against 3.2T between the rooms
    assert fabric.oversubscription["room"] == 4.0
    assert not fabric.findings


def test_boxes_stand_in_the_path_and_limit_it() -> None:
    boxes = ({"name": "fw", "kind": "firewall", "rate_limit": "10G"}, {"name": "wan", "kind": "wan"})
    fabric = two_rooms(boxes=boxes)
    assert len(fabric.links_of(LinkKind.ROOM)) == 8 * 3
    assert fabric.room_links[0].rate_bps == 10_000_000_000
    assert [box.name for box in fabric.room_links[0].boxes] == ["fw", "wan"]
    assert codes(fabric) == {"EW-FAB-027": "warning"}


def test_room_link_ratio_above_its_wish() -> None:
    link = {"between": ["a", "b"], "distance": "30m", "count": 2, "rate": "400G", "oversubscription": "4:1"}
    top = {"rooms": [{"name": "a"}, {"name": "b"}], "room_links": [link]}
    fabric = fabric_of("leaf_spine", 8, top=top)
    assert codes(fabric) == {"EW-FAB-003": "error"}


def test_rooms_without_a_link_do_not_reach_each_other() -> None:
    fabric = fabric_of("leaf_spine", 8, top={"rooms": [{"name": "a"}, {"name": "b"}]})
    assert codes(fabric) == {"EW-FAB-019": "error"}
    assert fabric.findings[0].observed == 4


def test_the_same_site_gives_the_same_fabric() -> None:
    wish = site("rail_optimized", 63, controllers=UFM)
    one, two = build(wish), build(wish)
    assert one.names == two.names
    assert all((getattr(one, table) == getattr(two, table)).all() for table in ("nodes", "ports", "links"))


def test_bisection_is_half_of_the_server_bandwidth_at_one_to_one() -> None:
    fabric = fabric_of("leaf_spine", 128)
    assert fabric.facts["bisection_bps"] == 128 * 8 * 400_000_000_000 // 2


def test_leaves_that_lost_every_uplink_got_a_ratio_of_trillions() -> None:
    fabric = fabric_of("leaf_spine", 8, switch="2x400G")
    assert any(finding.code == "EW-FAB-001" for finding in fabric.findings)
    assert fabric.as_json()["oversubscription_ratio"]["leaf"] is None
