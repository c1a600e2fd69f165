"""Synthetic plans for the tests of the export files, one a shape of fabric."""

from dataclasses import replace
from functools import cache
from typing import Any

from eastwest.fabric.families import FAMILIES
from eastwest.plan.plan import Plan, make_plan
from eastwest.spec.site import Site

JOB = {
    "name": "pretrain",
    "model": "llama3-8b",
    "parallel": {"tp": 8, "zero": 1},
    "sequence": 8192,
    "global_batch": 11520,  # divisible by the data-parallel width of every site below
}
BOX = {"name": "MACsec_box.1", "kind": "encryptor"}
ROOMS = [{"name": "Room.A"}, {"name": "room_b"}]
LINK = {"between": ["Room.A", "room_b"], "distance": "2km", "count": 8, "rate": "400G", "boxes": [BOX]}


def _site(family: str, servers: int, **more: Any) -> dict[str, Any]:
    fabric = {"family": family, "switch": "64x400G", **more.pop("fabric", {})}
    nic = {"count": 8, "rate": "400G"}
    group = {"name": "gpu", "count": servers, "gpus": 8, "nic": nic, **more.pop("server", {})}
    return {"name": "synthetic", "servers": [group], "fabric": fabric, "jobs": [JOB], **more}


SITES: dict[str, dict[str, Any]] = {
    "leaf_spine": _site("leaf_spine", 16),
    "rails": _site("rail_optimized", 40, transport="infiniband"),
    "large": _site("rail_optimized", 256),
    "planes": _site("rail_optimized", 8, fabric={"planes": 2}),
    "domains": _site("rail_optimized", 36, server={"gpus": 4, "nic": {"count": 4, "rate": "400G"}}),
    "rooms": _site("leaf_spine", 48, rooms=ROOMS, room_links=[LINK]),
    # names that no host may have, twice nearly the same, and a long one
    "hostile": _site(
        "leaf_spine",
        6,
        name="Site_of.Tests",
        rooms=ROOMS,
        room_links=[LINK],
        server={"name": "GPU_node.v2"},
        fabric={"controllers": [{"name": "gpu-node-v2-01", "links": 2}]},
    ),
    "long": _site("leaf_spine", 4, server={"name": "n" * 63}),
}

FAMILY_SITES = {  # one a family beyond the two above, as far as they are built
    "direct": _site("direct", 2),
    "dual_plane": _site("dual_plane", 8),
    "dual_tor": _site("dual_tor", 8),
    "multi_plane": _site("multi_plane", 8),
    "rail_only": _site("rail_only", 16),
    "single_switch": _site("single_switch", 4),
    "three_tier": _site("three_tier", 24, fabric={"switch": "16x400G"}),
}
SITES |= {family: site for family, site in FAMILY_SITES.items() if family in FAMILIES}


@cache
def plan_of(name: str) -> Plan:
    """The plan of one synthetic site; the servers of "domains" share scale-up domains of 72 GPUs."""
    plan = make_plan(Site.model_validate(SITES[name]))
    return replace(plan, fabric=replace(plan.fabric, scale_up_domain=72)) if name == "domains" else plan


def cabling(plan: Plan) -> set[frozenset[tuple[str, int]]]:
    """Every cable as its two ends: device name of the plan and logical port from 1."""
    fabric = plan.fabric
    number = fabric.ports["number"]
    return {
        frozenset((fabric.names[int(link[side])], int(number[link[f"{side}_port"]]) + 1) for side in ("a", "b"))
        for link in fabric.links
    }
