"""Labels to print for the cables: `labels.csv`, one row an end, so two a cable.

`label` is the text for the sleeve: cable number, end, where it is and where it goes. Left out: the layout of a
printer's own template, and pull order. Size: about 130 bytes a row.

Source: our own table; identifiers at both ends of a cable follow ANSI/TIA-606-C, class of administration not
modelled.
"""

from __future__ import annotations

from collections.abc import Iterator

from eastwest.fabric.cabling import cable_rows
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
    nodes = zip(fabric.links["a"].tolist(), fabric.links["b"].tolist(), strict=True)
    for cable, (a, b) in zip(cable_rows(fabric), nodes, strict=True):
        ends = f"{cable.a_device}:{cable.a_port}", f"{cable.b_device}:{cable.b_port}"
        for end, own, far, here, there in (
            ("A", ends[0], ends[1], places[a], places[b]),
            ("B", ends[1], ends[0], places[b], places[a]),
        ):
            text = f"{cable.cable_id}-{end} {own} > {far}"
            yield text, cable.cable_id, end, own, *here, far, *there, cable.length_m, cable.medium
