"""Cables: every link once, lengths from racks, medium by reach and lane rate, one module a cage."""

from collections import Counter

import numpy as np

from eastwest.fabric.assemblies import cage_numbers
from eastwest.fabric.cabling import cable_rows, port_names
from eastwest.fabric.media import order_lengths_m
from eastwest.fabric.parts import parts
from eastwest.fabric.tables import LinkKind
from tests.fabric.sites import codes, fabric_of, two_rooms

FIXED = {"cabling": {"server_leaf": "30m", "leaf_spine": "400m"}}


def test_every_link_is_one_cable_with_two_named_ends() -> None:
    fabric = fabric_of("rail_optimized", 31)
    rows = list(cable_rows(fabric))
    assert len(rows) == len(fabric.links) == 31 * 8 + 256
    ends = Counter((row.a_device, row.a_port) for row in rows) + Counter((row.b_device, row.b_port) for row in rows)
    assert set(ends.values()) == {1}
    assert rows[0].label == "C0001 server-01:nic0 - su01-leaf-r1:port1"
    assert [row.rail for row in rows[:9]] == [0, 1, 2, 3, 4, 5, 6, 7, 0]


def test_broken_out_ports_name_their_part() -> None:
    rows = list(cable_rows(fabric_of("leaf_spine", 8, nic="200G")))
    assert [row.b_port for row in rows[:3]] == ["port1/1", "port1/2", "port2/1"]
    assert rows[64].a_port == "port33"


def test_length_of_the_site_file_wins_and_decides_the_medium() -> None:
    fabric = fabric_of("leaf_spine", 9, top=FIXED)
    by_kind = {row.kind: (row.length_m, row.medium) for row in cable_rows(fabric)}
    assert by_kind == {"server_leaf": (30.0, "sr"), "leaf_spine": (400.0, "dr")}


def test_fibre_of_one_length_is_not_mixed_between_modes() -> None:
    """SR and DR both end in MPO-12, over multimode and single-mode fibre: 30 m of one does not replace the other."""
    cables = {"server_leaf": {"length": "30m", "medium": "sr"}, "leaf_spine": {"length": "30m", "medium": "dr"}}
    fabric = fabric_of("leaf_spine", 8, top={"cabling": cables})
    count = {part.part: part.count for part in parts(fabric)}
    assert count["MPO-12 OM4 fibre 30 m"] == 64
    assert count["MPO-12 OS2 fibre 30 m"] == len(fabric.links_of(LinkKind.LEAF_SPINE))


def test_a_twin_port_module_carries_two_links() -> None:
    # QM9700: 32 twin-port cages of 2 x 400G; 36 servers x 8 = 288 links, 9 leaves
    top = {**FIXED, "transport": "infiniband"}
    fabric = fabric_of("leaf_spine", 36, switch="qm9700", top=top)
    count = {part.part: part.count for part in parts(fabric)}
    up = len(fabric.links_of(LinkKind.LEAF_SPINE))
    assert count["SR 400G single-port"] == 288
    assert count["2x400G SR module (2 ports a cage)"] == 288 // 2
    assert count["2x400G DR module (2 ports a cage)"] == 2 * up // 2
    assert count["MPO-12 OM4 fibre 30 m"] == 288
    assert count["MPO-12 OS2 fibre 400 m"] == up


def test_links_of_one_cage_share_a_medium() -> None:
    fabric = fabric_of("rail_optimized", 64, switch="qm9700", top={"transport": "infiniband"})
    cage = cage_numbers(fabric.ports)
    used = fabric.ports["link"] >= 0
    medium = fabric.links["medium"][fabric.ports["link"][used]]
    low, high = np.full(cage.max() + 1, 99), np.full(cage.max() + 1, -1)
    np.minimum.at(low, cage[used], medium)
    np.maximum.at(high, cage[used], medium)
    assert (low[high >= 0] == high[high >= 0]).all()


def test_copper_beyond_its_reach_is_an_error() -> None:
    wish = {"cabling": {"leaf_spine": {"length": "5m", "medium": "dac"}}}
    fabric = fabric_of("leaf_spine", 9, top=wish)
    assert codes(fabric) == {"EW-FAB-024": "error"}
    assert (fabric.findings[0].expected, fabric.findings[0].observed) == (2.0, 5.0)


def test_room_links_take_long_reach_optics() -> None:
    fabric = two_rooms()
    rooms = fabric.links[fabric.links_of(LinkKind.ROOM)]
    assert {fabric.media[medium] for medium in rooms["medium"]} == {"fr"}


def test_lengths_are_rounded_up_to_what_is_sold() -> None:
    got = order_lengths_m(np.array([0.3, 2.1, 30.0, 30.1, 101.0]))
    assert got.tolist() == [0.5, 2.5, 30.0, 40.0, 150.0]


def test_port_names_are_unique_on_a_device() -> None:
    fabric = fabric_of("rail_optimized", 64, switch="64x800G", nic="800G", planes=2)
    names = Counter(zip(fabric.ports["node"].tolist(), port_names(fabric), strict=True))
    assert set(names.values()) == {1}


def test_a_length_beyond_reach_is_written_in_its_unit() -> None:
    wish = {"cabling": {"leaf_spine": {"length": "10000km", "medium": "sr"}}}
    finding = next(f for f in fabric_of("leaf_spine", 9, top=wish).findings if f.code == "EW-FAB-024")
    assert "the longest is 10,000 km, the reach is 50 m" in finding.sentence()
