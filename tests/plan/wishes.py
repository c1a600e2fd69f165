"""Synthetic sites with side networks, rooms and jobs, as text; and their plans."""

from typing import Any

import eastwest

SITE = """
name: synthetic
transport: {transport}
servers:
  - {{model: hgx-h100, count: {servers}}}
fabric: {{family: leaf_spine, switch: 64x400g-th4-100g, oversubscription: {oversubscription}}}
jobs:
  - {{name: train, model: {{params: 50B}}, parallel: {{tp: 8, zero: 1}}, sequence: 4096, global_batch: 1024}}
"""
TWO_ROOMS = """
name: synthetic-rooms
transport: {transport}
loss_regime: {regime}
rooms: [{{name: east}}, {{name: west}}]
room_links: [{{between: [east, west], distance: {distance}, count: 16, rate: 400G, oversubscription: 2:1}}]
servers:
  - {{name: e, model: hgx-h100, count: 4, room: east}}
  - {{name: w, model: hgx-h100, count: 4, room: west}}
fabric: {{family: leaf_spine, switch: 64x400g-th4-100g}}
jobs:
  - {{name: train, model: {{params: 34B}}, parallel: {{tp: 8, zero: 1}}, sequence: 4096, global_batch: 512}}
"""


def plan_of(text: str, prices: Any = None) -> Any:
    """The plan of a site text."""
    return eastwest.make_plan(eastwest.parse_site(text, "site.yaml"), prices)


def site(servers: int = 16, more: str = "", transport: str = "roce", oversubscription: str = "1:1") -> str:
    """One room, one job of 50B parameters, and further keys."""
    return SITE.format(servers=servers, transport=transport, oversubscription=oversubscription) + more


def rooms(distance: str, transport: str = "roce", regime: str = "lossless") -> str:
    """Two rooms of four servers with one data-parallel job over both."""
    return TWO_ROOMS.format(distance=distance, transport=transport, regime=regime)


def decision(plan: Any, name: str) -> Any:
    """The decision of that id."""
    return next(row for row in plan.decisions if row.id == name)


def finding(plan: Any, code: str) -> Any:
    """The only finding of that code, or None."""
    found = [row for row in plan.findings if row.code == code]
    assert len(found) <= 1, [row.sentence() for row in found]
    return found[0] if found else None
