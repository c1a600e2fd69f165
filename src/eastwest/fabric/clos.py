"""A Clos fabric of one, two or three tiers, any number of rooms and planes: what all families of switches share."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric import capacity
from eastwest.fabric.assembly import assemble
from eastwest.fabric.draft import Draft
from eastwest.fabric.drawing import draw
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.lanes import agree_lanes
from eastwest.fabric.reasons import explain, stripe_of
from eastwest.fabric.shape import ONE_TIER, ClosShape, ClosWish, shape_of
from eastwest.fabric.tables import Fabric, LinkKind, RoomLink
from eastwest.fabric.verdicts import judge


def build_clos(inputs: FabricInputs, is_railed: bool, tiers: tuple[int, ...], servers_step: int = 1) -> Fabric:
    """The Clos of a family: one leaf a rail (`is_railed`) or one for all NICs of a server, of the first number of
    `tiers` that holds the servers and their growth; `servers_step` servers come under a leaf together where it takes as
    many.
    """
    inputs = agree_lanes(inputs)
    shape = clos_shape(inputs, is_railed, tiers, servers_step)
    draft = Draft()
    room_links = draw(draft, inputs, shape)
    return _finish(inputs, shape, is_railed, draft, room_links)


def open_tiers(inputs: FabricInputs, *usual: int) -> tuple[int, ...]:
    """The tiers that the site asks for, else those that a family tries in turn."""
    return (inputs.tiers,) if inputs.tiers else usual


def clos_shape(inputs: FabricInputs, is_railed: bool, tiers: tuple[int, ...], servers_step: int = 1) -> ClosShape:
    """The closed form of `build_clos`, without drawing it."""
    twins = inputs.links_per_nic if inputs.planes == 1 else 1
    leaves_per_group = inputs.links_per_plane if is_railed else twins
    shapes: list[ClosShape] = []
    for number in tiers:
        if number == ONE_TIER and len(inputs.rooms) > 1 and number != tiers[-1]:
            continue  # rooms are joined above the leaves
        if shapes and any(tier not in inputs.switches for tier in tiers_of(number)):
            break  # the site names no switch for one tier more
        shapes.append(shape_of(inputs, ClosWish(number, leaves_per_group, servers_step)))
        if shapes[-1].fits and shapes[-1].goal_fits:
            break
    return min(shapes, key=lambda shape: (not shape.fits, not shape.goal_fits))


def _finish(
    inputs: FabricInputs, shape: ClosShape, is_railed: bool, draft: Draft, room_links: tuple[RoomLink, ...]
) -> Fabric:
    """The drawn Clos assembled, with its ratios, limits, decisions and findings."""
    fabric = assemble(inputs, draft)
    ratio = oversubscription(inputs, shape, fabric.links, room_links)
    planes = inputs.planes
    return replace(
        fabric,
        tiers=shape.tiers,
        planes=planes,
        plane_by=inputs.plane_by,
        rail_optimized=is_railed,
        pods=shape.n_pods if shape.core_rate_bps else 0,
        oversubscription=ratio,
        switches={tier: inputs.switches[tier].label for tier in tiers_of(shape.tiers)},
        max_gpus=shape.max_servers * inputs.server.gpus,
        max_leaves=sum(room.most_leaves * room.most_pods for room in shape.rooms) * planes,
        max_spines=shape.split.uplinks * sum(room.most_pods for room in shape.rooms) * planes,
        max_cores=sum(room.spread.spines * room.spread.up for room in shape.rooms) * planes,
        room_links=room_links,
        decisions=explain(inputs, shape, ratio),
        findings=(*fabric.findings, *judge(inputs, shape, ratio)),
        facts=_facts(inputs, shape, fabric.links),
    )


def tiers_of(n_tiers: int) -> tuple[str, ...]:
    """Names of so many tiers, from the leaf up."""
    return ("leaf", "spine", "core")[:n_tiers]


def oversubscription(
    inputs: FabricInputs, shape: ClosShape, links: NDArray[np.void], room_links: tuple[RoomLink, ...]
) -> dict[str, float]:
    """Down:up bandwidth as built: `leaf` for full leaves, `spine` for the fullest pod (1 without cores), `room` the
    smaller room's server bandwidth against all links to the other. A tier that lost all its links upward has none.
    """
    split, kind, rate = shape.split, links["kind"], links["rate_bps"]
    down = split.servers * shape.links_per_server * split.down_rate_bps
    up, high = (int(rate[kind == tier].sum()) for tier in (LinkKind.LEAF_SPINE, LinkKind.SPINE_CORE))
    n_leaves = sum(shape.leaves) * inputs.planes
    one_tier = shape.tiers == ONE_TIER
    ratios = {"leaf": 1.0 if one_tier else n_leaves * down / up} if up or one_tier else {}
    ratios["spine"] = 1.0
    if shape.core_rate_bps:
        full = sum(max(room.groups, default=0) * len(room.groups) for room in shape.rooms) * shape.leaves_per_group
        pods_up = full / max(1, sum(shape.leaves)) * up
        if high:
            ratios["spine"] = pods_up / high
        else:
            del ratios["spine"]
    if room_links:
        nic_bps = inputs.server.nics * inputs.server.nic_rate_bps
        between: Counter[tuple[int, ...]] = Counter()
        for link in room_links:
            between[tuple(sorted(link.rooms))] += link.rate_bps
        ratios["room"] = max(
            min(shape.servers[room] for room in rooms) * nic_bps / rate_bps for rooms, rate_bps in between.items()
        )
    return ratios


def _facts(inputs: FabricInputs, shape: ClosShape, links: NDArray[np.void]) -> dict[str, Any]:
    """Numbers of the shape that reports show beside the counts."""
    split, most = shape.split, shape.largest
    assumed = dict.fromkeys(text for tier in tiers_of(shape.tiers) for text in inputs.switches[tier].assumed)
    facts: dict[str, Any] = {
        "servers_per_leaf_group": split.servers,
        "leaves_per_group": shape.leaves_per_group,
        "leaf_down_ports": split.down_ports,
        "leaf_down_rate_bps": split.down_rate_bps,
        "leaf_uplinks": max(spread.uplinks for spread in shape.spreads),
        "leaf_up_rate_bps": split.up_rate_bps,
        "links_per_leaf_spine_pair": max(spread.per_pair for spread in shape.spreads),
        "bisection_bps": capacity.bisection_bps(links),
        "leaves_by_room": list(shape.leaves),
        "spines_by_room": [room.spines for room in shape.rooms],
        "assumed": list(assumed),
    }
    stripe = stripe_of(inputs, shape)
    if stripe is not None:
        facts["stripe"] = stripe
    if most.core is not None:
        facts |= {
            "pods_by_room": [len(room.groups) for room in shape.rooms],
            "leaves_per_pod": max(most.groups, default=0) * shape.leaves_per_group,
            "spines_per_pod": most.spread.spines,
            "servers_per_full_pod": shape.full_pod_servers(most),
            "servers_per_pod": max(most.groups, default=0) * split.servers,
            "spine_uplinks": most.core.uplinks,
            "spine_up_rate_bps": most.core.rate_bps,
            "links_per_spine_core_pair": most.core.per_pair,
            "cores_by_room": [room.cores for room in shape.rooms],
        }
    return facts
