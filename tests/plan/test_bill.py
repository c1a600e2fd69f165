"""The bill: groups, twin-port modules, labels, spares, totals and power of racks."""

import pytest

from eastwest.plan.bom import part_power
from eastwest.plan.part_names import PartName, read_part
from tests.plan.sites import pretrain_site
from tests.plan.wishes import plan_of, site

GIGA = 10**9
KEYS = {"part", "description", "quantity", "unit", "where", "power_w", "note"}


def test_rows_keep_their_keys_and_gain_price_and_currency():
    row = plan_of(site()).bom[0].as_json()
    assert set(row) >= KEYS | {"group", "unit_price", "price", "currency"}
    assert row["price"] is None
    assert row["currency"] is None


def test_a_twin_port_module_serves_two_links():
    text = pretrain_site(32, switch="sn5600") + "cabling: {server_leaf: {medium: sr, length: 30m}, leaf_spine: 30m}\n"
    plan = plan_of(text)
    links = plan.fabric.links
    down, up = (int((links["kind"] == kind).sum()) for kind in (0, 1))
    assert set(links["rate_bps"][links["kind"] == 1]) == {800 * GIGA}
    modules = {row.part: row.quantity for row in plan.bom if row.unit == "module"}
    # two NICs of a DGX share a cage, a leaf cage takes two NICs, an uplink of 800G fills a cage at both ends
    assert modules == {"2x400G SR module (2 ports a cage)": down // 2 + down // 2 + 2 * up}


def test_every_cable_has_two_labels():
    plan = plan_of(site())
    assert next(row.quantity for row in plan.bom if row.part == "cable label") == 2 * plan.fabric.links.size


def test_spares_are_a_share_of_each_part_rounded_up():
    plan = plan_of(site(more="cabling: {spare_ratio: 0.1}\n"))
    used = {row.part: row.quantity for row in plan.bom if row.description == "east-west link"}
    spare = {row.part: row.quantity for row in plan.bom if row.group == "spares"}
    assert spare == {part: -(-n // 10) for part, n in used.items()}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("SR 400G single-port", PartName("module", "sr", 400 * GIGA)),
        ("2x400G DR module (2 ports a cage)", PartName("module", "dr", 400 * GIGA, 2)),
        ("SR 200G single-port (2 lanes)", PartName("module", "sr", 200 * GIGA, lanes=2)),
        ("DAC 800G 1.5 m (1:2 splitter)", PartName("cable", "dac", 800 * GIGA, 1, 1.5)),
        ("MPO-12 OM4 1:2 splitter fibre 30 m", PartName("fibre", "mpo-12", 0, 1, 30.0, "OM4")),
        ("MPO-16 OM4 fibre 30 m", PartName("fibre", "mpo-16", 0, 1, 30.0, "OM4")),
        ("MPO-12 coupler", PartName("other")),
        ("DAC 400G 1.5 m", PartName("cable", "dac", 400 * GIGA, 1, 1.5)),
        ("LC duplex fibre 10 km", PartName("fibre", "lc duplex", 0, 1, 10_000.0)),
        ("LC duplex OS2 fibre 10 km", PartName("fibre", "lc duplex", 0, 1, 10_000.0, "OS2")),
        ("64x400G", PartName("device", "", 400 * GIGA)),
        ("optical power meter", PartName("other")),
        ("garden hose", None),
    ],
)
def test_part_names_are_read_back(name, expected):
    assert read_part(name) == expected


def test_every_part_of_a_plan_is_known_by_catalogue_or_pattern():
    more = "storage: {bandwidth: 400G}\nout_of_band: {}\nmonitoring: {}\n"
    plan = plan_of(site(more=more))
    catalogue = {"servers", "switches", "nics"}
    unknown = [row.part for row in plan.bom if row.group not in catalogue and read_part(row.part) is None]
    assert all("switch" in part or "Generic" in part for part in unknown), unknown


def test_modules_draw_what_their_data_sheet_says():
    power_w, note = part_power("2x400G SR module (2 ports a cage)", 10)
    assert power_w == 150.0  # 15 W each, NVIDIA optics guide
    assert "mma4z00-ns" in note
    assert part_power("DAC 400G 1.5 m", 10) == (None, "")


def test_power_of_the_bill_is_the_sum_of_its_lines_and_racks_hold_the_devices():
    plan = plan_of(site())
    assert plan.bill.power_w == pytest.approx(sum(row.power_w or 0 for row in plan.bom))
    servers_and_switches = sum(row.power_w for row in plan.bom if row.group in ("servers", "switches"))
    assert plan.bill.racks.mean_w * plan.bill.racks.racks == pytest.approx(servers_and_switches)


def test_modules_without_a_data_sheet_are_named_not_counted_as_nothing():
    text = (
        pretrain_site(32, switch="64x400g-th4") + "cabling: {server_leaf: {medium: sr, length: 30m}, leaf_spine: 30m}\n"
    )
    plan = plan_of(text)
    silent = {row.part: row.quantity for row in plan.bom if row.unit == "module" and row.power_w is None}
    assert silent
    assert plan.bill.as_json()["unpowered_parts"] == [f"{n:,} x {part}" for part, n in silent.items()]


def test_passive_cables_and_fibres_are_not_missing_power():
    assert not plan_of(site()).bill.unpowered
