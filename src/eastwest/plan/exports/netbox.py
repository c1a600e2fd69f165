"""NetBox bulk import: `netbox/<objects>.csv`, the same rows as `netbox/<objects>.json`, and
`netbox/import-order.txt`.

The order of import matters: an object names others that must exist. Names of columns are the fields of NetBox's
import forms; references are by name (a device type by its model). Everything has the status `planned`. NetBox's
import form takes one object type a file, as CSV with a header or as a JSON list. A loopback and a leaf's server
gateway are virtual interfaces; a port without a cable is there and disabled. Left out: power, module types, MAC
addresses, VLANs, the platform, prices, cable colours and the BGP sessions (a plug-in's business); the form factor of
a port is assumed from its rate. Size: about 100 bytes a row of CSV and 250 of JSON; JSON is written up to 20,000 rows
a table, CSV always.

Source: NetBox documentation, "Bulk Import" and the model pages; import forms of NetBox 4.0 and later.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eastwest.fabric.addressing import AddressRow, all_addresses, asn_plan
from eastwest.fabric.cabling import cable_rows, port_names
from eastwest.fabric.inputs import lay_servers
from eastwest.fabric.tables import TIER_OF_KIND, NodeKind
from eastwest.plan.exports.names import host_names
from eastwest.plan.exports.netbox_choices import CABLE_TYPES, interface_type, slug
from eastwest.plan.plan import Plan
from eastwest.plan.write import csv_text
from eastwest.spec.resolve import resolve_server, switch_of_tier
from eastwest.units import M_PER_KM

MAX_JSON_ROWS = 20_000  # rows of one JSON file: about 5 MB, what a browser form still takes
MAX_NAME = 64  # characters of a device's name in NetBox
MAX_LENGTH_M = 999_999  # a cable's length has six digits before the point
MANUFACTURER = "unspecified"  # a site file names models, not makers
RIR = "RFC 6996"
PLANNED = "planned"
VIRTUAL = ("loopback", "gateway")  # purposes of addresses on interfaces without a cage
RACK_WIDTH_INCH = 19  # EIA-310
DEFAULT_UNITS = 1  # of a device that stands in no rack
BPS_PER_KBPS = 1000  # NetBox counts an interface's speed in kbit/s
ROLES = {  # role -> colour in NetBox's lists, RGB
    NodeKind.SERVER: ("gpu-server", "2196f3"),
    NodeKind.LEAF: ("leaf", "4caf50"),
    NodeKind.SPINE: ("spine", "ffc107"),
    NodeKind.CORE: ("core", "ff5722"),
    NodeKind.BOX: ("box", "9e9e9e"),
    NodeKind.CONTROLLER: ("controller", "607d8b"),
}

Row = Sequence[Any]


@dataclass(frozen=True, eq=False)
class Inventory:
    """A plan with what several tables need: names as NetBox takes them, by the plan's names, ports and addresses."""

    plan: Plan
    names: Mapping[str, str]
    ports: tuple[str, ...]
    addresses: tuple[AddressRow, ...]


Table = tuple[tuple[str, ...], Callable[[Inventory], Iterable[Row]]]


def files(plan: Plan) -> dict[str, str]:
    """The files of the format."""
    fabric = plan.fabric
    names = dict(zip(fabric.names, device_names(plan), strict=True))
    stock = Inventory(plan, names, port_names(fabric), all_addresses(fabric))
    made: dict[str, str] = {}
    order: list[str] = []
    for name, (header, rows_of) in TABLES.items():
        rows = list(rows_of(stock))
        if not rows:
            continue
        order.append(f"{name}.csv")
        made[f"netbox/{name}.csv"] = csv_text(header, rows)
        if len(rows) <= MAX_JSON_ROWS:
            made[f"netbox/{name}.json"] = _json(header, rows)
    made["netbox/import-order.txt"] = "\n".join(order) + "\n"
    return made


def _json(header: tuple[str, ...], rows: list[Row]) -> str:
    """A JSON list, an object a line, fields without a value left out."""
    truth = {"true": True, "false": False}
    objects = (
        {key: truth.get(value, value) for key, value in zip(header, row, strict=True) if value != ""} for row in rows
    )
    return "[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in objects) + "\n]\n"


def device_names(plan: Plan) -> list[str]:
    """(n_nodes,) names as NetBox takes them: the plan's own, or host names when one is too long."""
    fabric = plan.fabric
    fits = all(len(name) <= MAX_NAME for name in fabric.names)
    return list(fabric.names) if fits else host_names(fabric)


def _manufacturers(_: Inventory) -> Iterator[Row]:
    yield MANUFACTURER, slug(MANUFACTURER)


def _device_types(stock: Inventory) -> Iterator[Row]:
    models = set(_models(stock.plan))
    units = dict.fromkeys(models, DEFAULT_UNITS)
    units |= {label: height for label, height in _units(stock.plan) if label in models}
    for model in sorted(units):
        yield MANUFACTURER, model, slug(model), units[model], "true"


def _units(plan: Plan) -> Iterator[tuple[str, int]]:
    """Label and rack units of every switch and server that the site file names."""
    for tier in TIER_OF_KIND.values():
        if switch := switch_of_tier(plan.site, tier):
            yield switch.label, switch.rack_units
    for wish in plan.site.servers:
        server = resolve_server(wish)
        yield server.label, server.rack_units


def _models(plan: Plan) -> list[str]:
    """(n_nodes,) model of each node: label of its server group or tier, else its role."""
    fabric = plan.fabric
    facts = tuple(resolve_server(wish) for wish in plan.site.servers)
    names, _, groups = lay_servers(facts, fabric.rooms)
    server = {name: facts[group].label for name, group in zip(names, groups.tolist(), strict=True)}
    tier = {
        kind: switch.label
        for kind, name in TIER_OF_KIND.items()
        if (switch := switch_of_tier(plan.site, name)) is not None
    }
    kinds = [NodeKind(kind) for kind in fabric.nodes["kind"].tolist()]
    return [
        server.get(name, facts[0].label) if kind == NodeKind.SERVER else tier.get(kind, ROLES[kind][0])
        for name, kind in zip(fabric.names, kinds, strict=True)
    ]


def _roles(stock: Inventory) -> Iterator[Row]:
    present = set(stock.plan.fabric.nodes["kind"].tolist())
    for kind, (role, colour) in ROLES.items():
        if kind in present:
            yield role, slug(role), colour


def _sites(stock: Inventory) -> Iterator[Row]:
    yield stock.plan.site.name, slug(stock.plan.site.name), PLANNED


def _locations(stock: Inventory) -> Iterator[Row]:
    for room in stock.plan.fabric.rooms:
        yield stock.plan.site.name, room, slug(room), PLANNED


def _racks(stock: Inventory) -> Iterator[Row]:
    fabric = stock.plan.fabric
    for rack in fabric.racks:
        yield stock.plan.site.name, fabric.rooms[rack.room], rack.name, PLANNED, RACK_WIDTH_INCH, rack.units


def _devices(stock: Inventory) -> Iterator[Row]:
    fabric, site = stock.plan.fabric, stock.plan.site.name
    columns = [fabric.nodes[name].tolist() for name in ("kind", "room", "rack", "unit")]
    for name, model, kind, room, rack, unit in zip(stock.names.values(), _models(stock.plan), *columns, strict=True):
        place = (fabric.racks[rack].name, unit, "front") if rack >= 0 else ("", "", "")
        yield name, ROLES[NodeKind(kind)][0], MANUFACTURER, model, PLANNED, site, fabric.rooms[room], *place


def _interfaces(stock: Inventory) -> Iterator[Row]:
    fabric = stock.plan.fabric
    rates = np.unique(fabric.ports["rate_bps"]).tolist()
    types = {rate: interface_type(rate, stock.plan.site.transport) for rate in rates}
    names = list(stock.names.values())
    columns = [fabric.ports[name].tolist() for name in ("node", "rate_bps", "link")]
    for port, node, rate, link in zip(stock.ports, *columns, strict=True):
        yield names[node], port, types[rate], rate // BPS_PER_KBPS, "true" if link >= 0 else "false"
    for row in stock.addresses:
        if row.purpose in VIRTUAL:
            yield stock.names[row.device], row.port, "virtual", "", "true"


def _cables(stock: Inventory) -> Iterator[Row]:
    names, interface = stock.names, "dcim.interface"
    for cable in cable_rows(stock.plan.fabric):
        long = cable.length_m > MAX_LENGTH_M
        length = (round(cable.length_m / M_PER_KM, 2), "km") if long else (round(cable.length_m, 2), "m")
        ends = names[cable.a_device], interface, cable.a_port, names[cable.b_device], interface, cable.b_port
        yield *ends, CABLE_TYPES.get(cable.medium, ""), PLANNED, cable.cable_id, *length


def _prefixes(stock: Inventory) -> Iterator[Row]:
    seen: dict[str, str] = {}
    for row in stock.addresses:
        if row.subnet and row.subnet not in seen:
            what = "servers" if row.purpose == "gateway" else "link"
            seen[row.subnet] = f"{what} of {stock.names[row.device]}"
    for subnet, text in seen.items():
        yield subnet, "reserved", text


def _ip_addresses(stock: Inventory) -> Iterator[Row]:
    for row in stock.addresses:
        role = "loopback" if row.purpose == "loopback" else ""
        yield f"{row.address}/{row.prefix}", "reserved", role, stock.names[row.device], row.port


def _rirs(stock: Inventory) -> Iterator[Row]:
    if asn_plan(stock.plan.fabric).any():
        yield RIR, slug(RIR), "true"


def _asns(stock: Inventory) -> Iterator[Row]:
    devices: dict[int, list[str]] = {}
    for name, asn in zip(stock.names.values(), asn_plan(stock.plan.fabric).tolist(), strict=True):
        if asn:
            devices.setdefault(asn, []).append(name)
    for asn, names in sorted(devices.items()):
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield asn, RIR, f"{names[0]}{more}"


CABLE_END = ("device", "type", "name")
TABLES: dict[str, Table] = {
    "manufacturers": (("name", "slug"), _manufacturers),
    "device-types": (("manufacturer", "model", "slug", "u_height", "is_full_depth"), _device_types),
    "device-roles": (("name", "slug", "color"), _roles),
    "sites": (("name", "slug", "status"), _sites),
    "locations": (("site", "name", "slug", "status"), _locations),
    "racks": (("site", "location", "name", "status", "width", "u_height"), _racks),
    "devices": (
        (
            "name",
            "role",
            "manufacturer",
            "device_type",
            "status",
            "site",
            "location",
            "rack",
            "position",
            "face",
        ),
        _devices,
    ),
    "interfaces": (("device", "name", "type", "speed", "enabled"), _interfaces),
    "cables": (
        (
            *(f"side_a_{part}" for part in CABLE_END),
            *(f"side_b_{part}" for part in CABLE_END),
            "type",
            "status",
            "label",
            "length",
            "length_unit",
        ),
        _cables,
    ),
    "rirs": (("name", "slug", "is_private"), _rirs),
    "asns": (("asn", "rir", "description"), _asns),
    "prefixes": (("prefix", "status", "description"), _prefixes),
    "ip-addresses": (("address", "status", "role", "device", "interface"), _ip_addresses),
}
