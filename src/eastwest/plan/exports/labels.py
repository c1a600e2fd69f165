"""Labels to print for the cables: `labels.csv`, one row an end, so two a cable.

`label` is the text for the sleeve: cable number, end, where it is and where it goes. Left out: the layout of a
printer's own template, and pull order. Size: about 130 bytes a row.

Source: our own table; identifiers at both ends of a cable follow ANSI/TIA-606-C, class of administration not
modelled.
"""

from __future__ import annotations

from collections.abc import Iterator

from eastwest.fabric.cabling import cable_rows, full_port_names
from eastwest.plan.plan import Plan
from eastwest.plan.write import csv_text

HEADER = (
    "label",
    "cable_id",
    "end",
    "from",
    "from_rack",
    "from_unit",
    "to",
    "to_rack",
    "to_unit",
    "length_m",
    "medium",
)


def files(plan: Plan) -> dict[str, str]:
    """The files of the format."""
    return {"labels.csv": csv_text(HEADER, _rows(plan))}


def _rows(plan: Plan) -> Iterator[tuple[object, ...]]:
    fabric = plan.fabric
    racks = [rack.name for rack in fabric.racks] + [""]  # -1 finds the last: not in a rack
    places = [
        (racks[rack], unit if rack >= 0 else "")
        for rack, unit in zip(fabric.nodes["rack"].tolist(), fabric.nodes["unit"].tolist(), strict=True)
    ]
    names = full_port_names(fabric)
    columns = [fabric.links[name].tolist() for name in ("a", "a_port", "b", "b_port")]
    for cable, a, a_port, b, b_port in zip(cable_rows(fabric), *columns, strict=True):
        number, length_m, medium = cable.cable_id, cable.length_m, cable.medium
        one, other = (names[a_port], *places[a]), (names[b_port], *places[b])
        yield f"{number}-A {one[0]} > {other[0]}", number, "A", *one, *other, length_m, medium
        yield f"{number}-B {other[0]} > {one[0]}", number, "B", *other, *one, length_m, medium
