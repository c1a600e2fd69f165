"""NetBox import files: documented columns, references that an earlier file gives, every port cabled once."""

import csv
import io
import json
import re
from collections import Counter
from ipaddress import ip_interface, ip_network

import pytest

from eastwest.fabric.cabling import cable_rows
from eastwest.plan.exports import netbox
from eastwest.plan.exports.netbox_choices import interface_type, slug
from eastwest.units import GIGA
from tests.plan.exports.plans import SITES, plan_of

# Fields of NetBox 4's import forms: those that a file must have, those that it may have. Source: NetBox documentation.
DOCUMENTED = {
    "manufacturers": ("name slug", "description tags"),
    "device-types": ("manufacturer model slug", "u_height is_full_depth part_number description"),
    "device-roles": ("name slug color", "vm_role description"),
    "sites": ("name slug status", "description"),
    "locations": ("site name slug status", "description"),
    "racks": ("site name status width", "location u_height description"),
    "devices": ("name role manufacturer device_type status site", "location rack position face description"),
    "interfaces": ("device name type", "speed enabled mtu description"),
    "cables": (
        "side_a_device side_a_type side_a_name side_b_device side_b_type side_b_name",
        "type status label length length_unit description",
    ),
    "rirs": ("name slug", "is_private description"),
    "asns": ("asn rir", "description"),
    "prefixes": ("prefix status", "description"),
    "ip-addresses": ("address status", "role device interface description"),
}
SLUG = re.compile(r"[-a-z0-9_]{1,100}")


def read(plan):
    """Table -> rows of the CSV file, in the order of import."""
    files = netbox.files(plan)
    order = files["netbox/import-order.txt"].split()
    return {name.removesuffix(".csv"): list(csv.DictReader(io.StringIO(files[f"netbox/{name}"]))) for name in order}


@pytest.mark.parametrize("name", SITES)
def test_columns_are_the_documented_ones(name):
    for table, rows in read(plan_of(name)).items():
        must, may = (set(words.split()) for words in DOCUMENTED[table])
        assert must <= set(rows[0]) <= must | may
        assert all(row[column] != "" for row in rows for column in must)


@pytest.mark.parametrize("name", SITES)
def test_references_are_in_earlier_files(name):
    tables = read(plan_of(name))
    order = list(tables)
    for table, column, target, key in (
        ("device-types", "manufacturer", "manufacturers", "name"),
        ("locations", "site", "sites", "name"),
        ("racks", "location", "locations", "name"),
        ("devices", "device_type", "device-types", "model"),
        ("devices", "role", "device-roles", "name"),
        ("devices", "location", "locations", "name"),
        ("interfaces", "device", "devices", "name"),
        ("asns", "rir", "rirs", "name"),
    ):
        if table == "asns" and table not in tables:  # a fabric without switches has no AS numbers
            continue
        assert order.index(target) < order.index(table)
        assert {row[column] for row in tables[table]} <= {row[key] for row in tables[target]}
    racks = {(row["location"], row["name"]) for row in tables["racks"]}
    assert {(row["location"], row["rack"]) for row in tables["devices"] if row["rack"]} <= racks
    for unique in ("manufacturers", "device-types", "device-roles", "sites", "locations"):
        slugs = [row["slug"] for row in tables[unique]]
        assert all(SLUG.fullmatch(text) for text in slugs)
        assert len(set(slugs)) == len(slugs)
    assert all(len(row["name"]) <= 64 for row in tables["devices"])


@pytest.mark.parametrize("name", SITES)
def test_cables_join_existing_interfaces_once(name):
    plan = plan_of(name)
    tables = read(plan)
    interfaces = Counter((row["device"], row["name"]) for row in tables["interfaces"])
    assert max(interfaces.values()) == 1
    ends = Counter((row[f"side_{s}_device"], row[f"side_{s}_name"]) for row in tables["cables"] for s in "ab")
    assert max(ends.values()) == 1
    assert set(ends) <= set(interfaces)
    assert sum(ends.values()) == 2 * len(plan.fabric.links)
    assert {row[f"side_{s}_type"] for row in tables["cables"] for s in "ab"} == {"dcim.interface"}
    enabled = {(row["device"], row["name"]) for row in tables["interfaces"] if row["enabled"] == "true"}
    virtual = {(row["device"], row["name"]) for row in tables["interfaces"] if row["type"] == "virtual"}
    assert enabled - virtual == set(ends)
    lengths = [cable.length_m for cable in cable_rows(plan.fabric)]
    assert [float(row["length"]) for row in tables["cables"]] == lengths


@pytest.mark.parametrize("name", SITES)
def test_devices_of_a_rack_do_not_overlap(name):
    tables = read(plan_of(name))
    units = {row["model"]: int(row["u_height"]) for row in tables["device-types"]}
    height = {(row["location"], row["name"]): int(row["u_height"]) for row in tables["racks"]}
    taken = Counter()
    for row in tables["devices"]:
        if not row["rack"]:
            assert (row["position"], row["face"]) == ("", "")
            continue
        rack, first = (row["location"], row["rack"]), int(row["position"])
        assert row["face"] == "front"
        assert 1 <= first <= first + units[row["device_type"]] - 1 <= height[rack]
        taken.update((rack, unit) for unit in range(first, first + units[row["device_type"]]))
    assert set(taken.values()) == {1}


@pytest.mark.parametrize("name", SITES)
def test_addresses_sit_on_existing_interfaces_inside_a_prefix(name):
    tables = read(plan_of(name))
    interfaces = {(row["device"], row["name"]) for row in tables["interfaces"]}
    prefixes = {ip_network(row["prefix"]) for row in tables["prefixes"]}
    assert len(prefixes) == len(tables["prefixes"])
    seen = set()
    for row in tables["ip-addresses"]:
        address = ip_interface(row["address"])
        assert (row["device"], row["interface"]) in interfaces
        assert address.ip not in seen
        seen.add(address.ip)
        assert address.network in prefixes or row["role"] == "loopback"


@pytest.mark.parametrize("name", ["hostile", "rails"])
def test_json_holds_the_same_rows(name):
    plan = plan_of(name)
    files = netbox.files(plan)
    for table, rows in read(plan).items():
        objects = json.loads(files[f"netbox/{table}.json"])
        words = {True: "true", False: "false"}
        assert [
            {key: str(words.get(value, value) if isinstance(value, bool) else value) for key, value in one.items()}
            for one in objects
        ] == [{key: value for key, value in row.items() if value} for row in rows]


def test_a_long_table_is_written_as_csv_only(monkeypatch):
    monkeypatch.setattr(netbox, "MAX_JSON_ROWS", 100)
    files = netbox.files(plan_of("rails"))
    assert "netbox/interfaces.csv" in files
    assert "netbox/interfaces.json" not in files
    assert "netbox/racks.json" in files


@pytest.mark.parametrize(
    ("gbps", "transport", "text"),
    [(400, "roce", "400gbase-x-osfp"), (400, "infiniband", "infiniband-ndr"), (1600, "roce", "other")],
)
def test_interface_types(gbps, transport, text):
    assert interface_type(gbps * GIGA, transport) == text


@pytest.mark.parametrize(
    ("text", "made"), [("NVIDIA HGX H100 server", "nvidia-hgx-h100-server"), ("64 × 400G", "64-400g")]
)
def test_slugs(text, made):
    assert slug(text) == made
    assert SLUG.fullmatch(slug("机柜"))
