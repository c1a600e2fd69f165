"""Why a Clos fabric is as it is: its `Decision`s about planes, tiers, leaves, spines and where it ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from typing import Any

from eastwest.decision import Alternative, Decision
from eastwest.fabric import capacity
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.reasons_core import core_decisions
from eastwest.fabric.rooms import links_at_rooms
from eastwest.fabric.shape import ONE_TIER, THREE_TIERS, TWO_TIERS, ClosShape, shape_of
from eastwest.units import format_port_rate, format_ratio


def explain(inputs: FabricInputs, shape: ClosShape, ratio: dict[str, float]) -> tuple[Decision, ...]:
    """The decisions of the shape, in the order in which they follow from one another."""
    spines = _spine_decisions(inputs, shape) if shape.tiers > ONE_TIER else ()
    cores = core_decisions(inputs, shape, ratio) if shape.tiers == THREE_TIERS else ()
    return (
        *_plane_decisions(inputs),
        *_tier_decisions(inputs, shape),
        *_leaf_decisions(inputs, shape),
        *spines,
        *cores,
        *_limits(inputs, shape, ratio),
    )


def _plane_decisions(inputs: FabricInputs) -> Iterator[Decision]:
    """How many disjoint fabrics there are, and what each holds."""
    if inputs.planes == 1:
        return
    server = inputs.server
    values = {"nics": server.nics, "nic_rate_bps": server.nic_rate_bps, "links_per_nic": inputs.links_per_nic}
    if inputs.plane_by == "nic":
        because = "NIC i of every server is in plane i mod planes; data changes planes inside a server only (NVLink)"
        other = Alternative(1, "one fabric for all NICs: any NIC reaches any other, at more tiers or larger switches")
        formula = "planes divides nics"
    else:
        rate = format_port_rate(inputs.nic_port_rate_bps)
        because = f"port p of every NIC is in plane p at {rate}: a plane's failure takes 1/planes of every NIC's rate"
        other = Alternative(1, "fewer, fatter links: a leaf's failure then takes whole NICs, and radix counts once")
        formula = "nic_rate_bps / planes = rate of a NIC port"
    yield Decision("fabric.planes", inputs.planes, "planes", because, formula, values, alternatives=(other,))


def _tier_decisions(inputs: FabricInputs, shape: ClosShape) -> Iterator[Decision]:
    """How many tiers there are, and what the next fewer would hold."""
    gpus, tiers = inputs.server.gpus, shape.tiers
    values = {"servers": inputs.n_servers, "gpus_per_server": gpus, "planes": inputs.planes}
    others: tuple[Alternative, ...] = ()
    if tiers == THREE_TIERS:
        most = shape_of(inputs, replace(shape.wish, tiers=TWO_TIERS)).max_servers * gpus
        others = (Alternative(TWO_TIERS, f"no cores and two hops less, but it ends at {most:,} GPUs"),)
    because = {
        ONE_TIER: "all servers of a plane fit on one leaf group",
        TWO_TIERS: "every leaf reaches every spine; one hop up and one down between leaves",
        THREE_TIERS: "pods of leaves and spines, joined by cores",
    }
    formula = "the family's, or the fewest of those it allows that hold servers and growth"
    yield Decision("fabric.tiers", tiers, "tiers", because[tiers], formula, values, alternatives=others)


def _inputs(inputs: FabricInputs, shape: ClosShape) -> dict[str, Any]:
    """The names that the formulas use."""
    split, spread, spine = shape.split, shape.largest.spread, inputs.switches.get("spine")
    has_spines = spine is not None and shape.tiers > ONE_TIER
    return {
        "leaf_ports": inputs.leaf.ports,
        "spine_ports": spine.ports if spine and has_spines else 0,
        "spine_parts": capacity.parts_at(spine, split.up_rate_bps) if spine and has_spines else 0,
        "down_parts": split.down_parts,
        "down_rate_bps": split.down_rate_bps,
        "up_parts": split.up_parts,
        "up_rate_bps": split.up_rate_bps,
        "uplinks": spread.uplinks,
        "spines": spread.spines,
        "links_per_server": shape.links_per_server,
        "leaves_per_group": shape.leaves_per_group,
        "servers_per_group": split.servers,
        "servers": inputs.n_servers,
        "gpus_per_server": inputs.server.gpus,
        "wish": inputs.leaf_oversubscription,
        "spare_ports": inputs.spare_ports,
        "rooms": len(inputs.rooms),
        "planes": inputs.planes,
    }


def _leaf_decisions(inputs: FabricInputs, shape: ClosShape) -> Iterator[Decision]:
    """How a leaf is split, and how many leaves there are."""
    split, values = shape.split, _inputs(inputs, shape)
    down, up = format_port_rate(split.down_rate_bps), format_port_rate(split.up_rate_bps)
    wish, whole = format_ratio(inputs.leaf_oversubscription), split.down_ports // split.down_parts
    broken = f", {whole} ports broken out {split.down_parts} x {down}" if split.down_parts > 1 else ""
    because = f"the most that face servers at {wish}: {whole} of {inputs.leaf.ports} ports{broken}"
    formula = (
        "floor(leaf_ports * wish * up_parts * up_rate_bps / "
        "(down_parts * down_rate_bps + wish * up_parts * up_rate_bps)) * down_parts"
    )
    if shape.tiers == ONE_TIER:
        because = f"nothing stands above a leaf, so all {inputs.leaf.ports} ports face servers{broken}"
        formula = "leaf_ports * down_parts"
    yield Decision("fabric.leaf.down_ports", split.down_ports, f"ports of {down}", because, formula, values)
    if shape.tiers > ONE_TIER:
        yield _uplinks(split, values, wish, up)
    yield from _servers_and_leaves(inputs, shape, values)


def _uplinks(split: capacity.LeafSplit, values: dict[str, Any], wish: str, up: str) -> Decision:
    ports = ceil(values["uplinks"] / split.up_parts)
    because = f"{ports} ports carry what a full leaf's servers send at {wish}, also on leaves that are not full yet"
    formula = (
        "ceil((servers_per_group * links_per_server + spare_ports) * down_rate_bps / (wish * up_rate_bps)), "
        "raised where that spreads over fewer spines"
    )
    fewer = Alternative("fewer, for the servers of today", "the last leaf would need new cables when it fills")
    unit = f"links of {up}"
    return Decision("fabric.leaf.uplinks", values["uplinks"], unit, because, formula, values, alternatives=(fewer,))


def _servers_and_leaves(inputs: FabricInputs, shape: ClosShape, values: dict[str, Any]) -> Iterator[Decision]:
    """Servers of a leaf group, and leaves."""
    split = shape.split
    because = "whole servers under one leaf or the leaves of one rail group; a few less where that saves switches"
    formula = "floor((down_ports - spare_ports) / links_per_server), at most the site's servers_per_leaf"
    values = values | {"down_ports": split.down_ports}
    source = f"{inputs.source}: servers_per_leaf" if inputs.servers_per_leaf == split.servers else "derived"
    yield Decision("fabric.leaf.servers", split.servers, "servers", because, formula, values, source)
    n = sum(shape.leaves) * inputs.planes
    because = f"{inputs.leaf.label}; by room {list(shape.leaves)} in each plane"
    formula = "planes * sum over rooms of ceil(servers_of_room / servers_per_group) * leaves_per_group"
    packed = _packed_rails(inputs, shape)
    yield Decision("fabric.leaves", n, "switches", because, formula, values, alternatives=packed)
    stripe = stripe_of(inputs, shape)
    if stripe is not None and shape.tiers > ONE_TIER:
        yield _stripe(stripe, values)


def stripe_of(inputs: FabricInputs, shape: ClosShape) -> dict[str, int] | None:
    """One stripe (scalable unit) of a rail-optimised plane when it is full: its leaves, servers and GPUs, leaf ports
    down and up in links of the NIC's rate, and what it would hold standing alone, without uplinks; None without rails.
    """
    split, gpus = shape.split, inputs.server.gpus
    if shape.leaves_per_group < max(2, inputs.links_per_plane):
        return None
    alone = (inputs.leaf.ports * split.down_parts - inputs.spare_ports) // shape.links_per_server
    return {
        "leaves": shape.leaves_per_group,
        "servers": split.servers,
        "gpus": split.servers * gpus,
        "leaf_ports_down": split.reserved,
        "leaf_ports_up": shape.largest.spread.uplinks * split.up_rate_bps // split.down_rate_bps,
        "alone_servers": alone,
        "alone_gpus": alone * gpus,
        "alone_leaf_ports_down": inputs.leaf.ports * split.down_parts,
    }


def _stripe(stripe: dict[str, int], values: dict[str, Any]) -> Decision:
    """Servers of one stripe."""
    because = (
        f"{stripe['leaves']} leaves, one a rail, leaf ports down/up {stripe['leaf_ports_down']}/"
        f"{stripe['leaf_ports_up']}: {stripe['servers']} servers, {stripe['gpus']} GPUs; alone without uplinks "
        f"{stripe['alone_servers']} servers, {stripe['alone_gpus']} GPUs"
    )
    why = "no uplinks, all leaf ports face servers; joining it to others later moves half of its cables"
    alone = Alternative(stripe["alone_servers"], f"the stripe stands alone: {why}")
    formula = "down_ports / links_per_server; alone: leaf_ports * down_parts / links_per_server"
    return Decision("fabric.stripe", stripe["servers"], "servers", because, formula, values, alternatives=(alone,))


def _packed_rails(inputs: FabricInputs, shape: ClosShape) -> tuple[Alternative, ...]:
    """What packing several rails on one leaf would save in a small rail-optimised fabric."""
    largest = max(shape.servers)
    rails = min(inputs.server.nics, shape.split.down_ports // max(1, largest)) if shape.leaves_per_group > 1 else 1
    if rails <= 1:
        return ()
    offer = f"{ceil(inputs.server.nics / rails)} leaves a room and plane, {rails} rails on each"
    return (Alternative(offer, "a full group needs one leaf a rail; rails would have to be moved to grow"),)


def _spine_decisions(inputs: FabricInputs, shape: ClosShape) -> Iterator[Decision]:
    """The rate of leaf-spine links, the spines, and how uplinks spread over them."""
    spread, values = shape.largest.spread, _inputs(inputs, shape)
    yield _link_rate(inputs, shape, values)
    n = sum(room.spines for room in shape.rooms) * inputs.planes
    because = f"{inputs.spine.label}; the fewest over which the uplinks of a leaf divide evenly"
    formula = "smallest s with uplinks mod s = 0 and leaves * uplinks / s <= spine_ports * spine_parts"
    if shape.tiers == THREE_TIERS:
        because += " in a pod, beside the spine's own links to cores"
        formula += " - ports for cores; times the pods"
    others = _other_spines(shape, values)
    yield Decision("fabric.spines", n, "switches", because, formula, values, alternatives=others)
    because = "equal between every leaf and spine"
    yield Decision("fabric.links_per_pair", spread.per_pair, "links", because, "uplinks / spines", values)
    because = "equal-cost links of a leaf towards another leaf"
    yield Decision("fabric.ecmp.group", spread.uplinks, "next hops", because, "spines * links_per_pair", values)


def _link_rate(inputs: FabricInputs, shape: ClosShape, values: dict[str, Any]) -> Decision:
    chosen, leaf_bps, spine_bps = shape.split.up_rate_bps, inputs.leaf.port_rate_bps, inputs.spine.port_rate_bps
    rates = capacity.uplink_rates(inputs.leaf, inputs.spine, inputs.nic_port_rate_bps)
    others = tuple(Alternative(format_port_rate(r), _rate_reason(r, chosen)) for r in rates if r != chosen)
    because = "the fastest rate that both ports have and at which every leaf reaches every spine evenly"
    formula = "min(leaf_port_rate_bps, spine_port_rate_bps), broken out when leaves outnumber spine ports"
    values = values | {"leaf_port_rate_bps": leaf_bps, "spine_port_rate_bps": spine_bps}
    return Decision("fabric.link_rate", chosen, "bit/s", because, formula, values, alternatives=others)


def _other_spines(shape: ClosShape, values: dict[str, Any]) -> tuple[Alternative, ...]:
    """Fewer spines with uneven links, or a second one for the failure of the first."""
    spread = shape.largest.spread
    leaves = max(shape.largest.groups, default=0) * shape.leaves_per_group
    fewest = ceil(leaves * spread.uplinks / max(1, values["spine_ports"] * values["spine_parts"]))
    if fewest < spread.spines:
        why = f"{spread.uplinks} uplinks do not divide by {fewest}: some spines would get more links than others"
        return (Alternative(fewest, why),)
    if spread.spines == 1:
        return (Alternative(2, "one more switch; with one spine its failure cuts every path between leaves"),)
    return ()


def _limits(inputs: FabricInputs, shape: ClosShape, ratio: dict[str, float]) -> Iterator[Decision]:
    """The ratio as built, and where the fabric ends."""
    values = _inputs(inputs, shape)
    built = round(ratio["leaf"], 6) if "leaf" in ratio else None
    because = "bandwidth of a full leaf's servers against its uplinks"
    formula = "servers_per_group * links_per_server * down_rate_bps / (uplinks * up_rate_bps)"
    yield Decision("fabric.oversubscription.leaf", built, "down:up", because, formula, values)
    yield _where_it_ends(inputs, shape, values)


def _where_it_ends(inputs: FabricInputs, shape: ClosShape, values: dict[str, Any]) -> Decision:
    """The most GPUs of these switches in these tiers."""
    most = shape.max_servers * inputs.server.gpus
    because = "where two tiers of these switches end: one link between each leaf and each spine, all spine ports used"
    formula = (
        "sum over rooms of floor((spine_ports - kept_ports) * spine_parts / leaves_per_group) * servers_per_group * "
        "gpus_per_server"
    )
    more: tuple[Alternative, ...] = (
        Alternative("three tiers", "pods joined by cores: more switches a GPU, more hops"),
    )
    if shape.tiers == ONE_TIER:
        because = "one leaf (one a rail) has no uplinks, so nothing can be added beside it"
        formula = "rooms * servers_per_group * gpus_per_server"
        more = (
            Alternative("two tiers", "half of the ports face spines; the fabric can grow and is joined at the top"),
        )
    elif shape.tiers == THREE_TIERS:
        because = "where three tiers of these switches end: one link between each spine and each core of its set"
        formula = "sum over rooms of (core_ports - kept_ports) * core_parts * servers_of_a_full_pod * gpus_per_server"
        full = shape.full_pod_servers(shape.largest)
        values, more = values | {"core_ports": inputs.core.ports, "servers_of_a_full_pod": full}, ()
    if shape.tiers > ONE_TIER:
        values = values | {"kept_ports": _kept_ports(inputs, shape)}
    if any(limit is not None for limit in shape.room_limits):
        because += "; no more servers in a room than its room links carry at the wished ratio"
        formula += ", at most wish * rate of the room link / NIC rate of a server in its smaller room"
        named = {f"most_servers_{inputs.rooms[i]}": n for i, n in enumerate(shape.room_limits) if n is not None}
        values = values | named
    return Decision("fabric.max_gpus", most, "GPUs", because, formula, values, alternatives=more)


def _kept_ports(inputs: FabricInputs, shape: ClosShape) -> int:
    """Ports of a topmost switch that no link from below may take, in the room that keeps most: spares, room links."""
    tier = "core" if shape.tiers == THREE_TIERS else "spine"
    crossing, parts = links_at_rooms(inputs, tier)
    spares, uplinks = inputs.spares.get(tier, 0), shape.split.uplinks
    tops = [max(1, room.spread.spines * room.spread.up if tier == "core" else uplinks) for room in shape.rooms]
    kept = [capacity.Kept(spares, n, parts).ports(top) for n, top in zip(crossing, tops, strict=True)]
    return max(kept, default=spares)


def _rate_reason(rate_bps: int, chosen_bps: int) -> str:
    if rate_bps > chosen_bps:
        return "too few spine ports for one link from every leaf (now, or at the last growth step)"
    return "more cables for the same bandwidth; needed only when leaves outnumber spine ports"
