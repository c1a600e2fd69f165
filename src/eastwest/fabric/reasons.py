"""Why a two-tier fabric is as it is: its `Decision`s, and the findings that follow from its shape."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import TYPE_CHECKING, Any

from eastwest.decision import Alternative, Decision
from eastwest.fabric import capacity
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.rooms import link_name, rate_through
from eastwest.finding import Finding
from eastwest.units import format_port_rate, format_ratio

if TYPE_CHECKING:
    from eastwest.fabric.two_tier import TwoTierShape

RATIO_TOLERANCE = 1e-9  # of comparing an oversubscription with its wish


def explain(inputs: FabricInputs, shape: TwoTierShape, ratio: dict[str, float]) -> tuple[Decision, ...]:
    """The decisions of the shape, in the order in which they follow from one another."""
    return (*_leaf_decisions(inputs, shape), *_spine_decisions(inputs, shape), *_limits(inputs, shape, ratio))


def _inputs(inputs: FabricInputs, shape: TwoTierShape) -> dict[str, Any]:
    """The names that the formulas use."""
    split, spread = shape.split, _largest(shape)
    return {
        "leaf_ports": inputs.leaf.ports,
        "spine_ports": inputs.spine.ports,
        "spine_parts": capacity.parts_at(inputs.spine, split.up_rate_bps),
        "down_parts": split.down_parts,
        "down_rate_bps": split.down_rate_bps,
        "up_parts": split.up_parts,
        "up_rate_bps": split.up_rate_bps,
        "uplinks": spread.uplinks,
        "spines": spread.spines,
        "links_per_server": ceil(inputs.server.nics / shape.leaves_per_group),
        "leaves_per_group": shape.leaves_per_group,
        "servers_per_group": split.servers,
        "servers": inputs.n_servers,
        "gpus_per_server": inputs.server.gpus,
        "wish": inputs.leaf_oversubscription,
        "spare_ports": inputs.spare_ports,
        "rooms": len(inputs.rooms),
        "planes": inputs.planes,
    }


def _largest(shape: TwoTierShape) -> capacity.Spread:
    """The spread of the room with the most leaves."""
    return shape.spreads[max(range(len(shape.leaves)), key=shape.leaves.__getitem__)]


def _leaf_decisions(inputs: FabricInputs, shape: TwoTierShape) -> Iterator[Decision]:
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
    yield Decision("fabric.leaf.down_ports", split.down_ports, f"ports of {down}", because, formula, values)
    ports = ceil(values["uplinks"] / split.up_parts)
    because = f"{ports} ports carry what a full leaf's servers send at {wish}, also on leaves that are not full yet"
    formula = (
        "ceil((servers_per_group * links_per_server + spare_ports) * down_rate_bps / (wish * up_rate_bps)), "
        "raised where that spreads over fewer spines"
    )
    fewer = Alternative("fewer, for the servers of today", "the last leaf would need new cables when it fills")
    unit = f"links of {up}"
    yield Decision("fabric.leaf.uplinks", values["uplinks"], unit, because, formula, values, alternatives=(fewer,))
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


def _packed_rails(inputs: FabricInputs, shape: TwoTierShape) -> tuple[Alternative, ...]:
    """What packing several rails on one leaf would save in a small rail-optimised fabric."""
    largest = max(shape.servers)
    rails = min(inputs.server.nics, shape.split.down_ports // max(1, largest)) if shape.leaves_per_group > 1 else 1
    if rails <= 1:
        return ()
    offer = f"{ceil(inputs.server.nics / rails)} leaves a room and plane, {rails} rails on each"
    return (Alternative(offer, "a full group needs one leaf a rail; rails would have to be moved to grow"),)


def _spine_decisions(inputs: FabricInputs, shape: TwoTierShape) -> Iterator[Decision]:
    """The rate of leaf-spine links, the spines, and how uplinks spread over them."""
    spread, values = _largest(shape), _inputs(inputs, shape)
    yield _link_rate(inputs, shape, values)
    n = sum(room.spines for room in shape.spreads) * inputs.planes
    because = f"{inputs.spine.label}; the fewest over which the uplinks of a leaf divide evenly"
    formula = "smallest s with uplinks mod s = 0 and leaves * uplinks / s <= spine_ports * spine_parts"
    others = _other_spines(shape, values)
    yield Decision("fabric.spines", n, "switches", because, formula, values, alternatives=others)
    because = "equal between every leaf and spine"
    yield Decision("fabric.links_per_pair", spread.per_pair, "links", because, "uplinks / spines", values)
    because = "equal-cost links of a leaf towards another leaf"
    yield Decision("fabric.ecmp.group", spread.uplinks, "next hops", because, "spines * links_per_pair", values)


def _link_rate(inputs: FabricInputs, shape: TwoTierShape, values: dict[str, Any]) -> Decision:
    chosen, leaf_bps, spine_bps = shape.split.up_rate_bps, inputs.leaf.port_rate_bps, inputs.spine.port_rate_bps
    rates = capacity.uplink_rates(inputs.leaf, inputs.spine, inputs.nic_port_rate_bps)
    others = tuple(Alternative(format_port_rate(r), _rate_reason(r, chosen)) for r in rates if r != chosen)
    because = "the fastest rate that both ports have and at which every leaf reaches every spine evenly"
    formula = "min(leaf_port_rate_bps, spine_port_rate_bps), broken out when leaves outnumber spine ports"
    values = values | {"leaf_port_rate_bps": leaf_bps, "spine_port_rate_bps": spine_bps}
    return Decision("fabric.link_rate", chosen, "bit/s", because, formula, values, alternatives=others)


def _other_spines(shape: TwoTierShape, values: dict[str, Any]) -> tuple[Alternative, ...]:
    """Fewer spines with uneven links, or a second one for the failure of the first."""
    spread = _largest(shape)
    fewest = ceil(max(shape.leaves) * spread.uplinks / max(1, values["spine_ports"] * values["spine_parts"]))
    if fewest < spread.spines:
        why = f"{spread.uplinks} uplinks do not divide by {fewest}: some spines would get more links than others"
        return (Alternative(fewest, why),)
    if spread.spines == 1:
        return (Alternative(2, "one more switch; with one spine its failure cuts every path between leaves"),)
    return ()


def _limits(inputs: FabricInputs, shape: TwoTierShape, ratio: dict[str, float]) -> Iterator[Decision]:
    """The ratio as built, and where the fabric ends."""
    values = _inputs(inputs, shape)
    built = round(ratio["leaf"], 6)
    because = "bandwidth of a full leaf's servers against its uplinks"
    formula = "servers_per_group * links_per_server * down_rate_bps / (uplinks * up_rate_bps)"
    yield Decision("fabric.oversubscription.leaf", built, "down:up", because, formula, values)
    because = "where two tiers of these switches end: one link between each leaf and each spine, all spine ports used"
    formula = "rooms * floor(spine_ports * spine_parts / leaves_per_group) * servers_per_group * gpus_per_server"
    most = shape.max_servers * inputs.server.gpus
    yield Decision("fabric.max_gpus", most, "GPUs", because, formula, values)


def _rate_reason(rate_bps: int, chosen_bps: int) -> str:
    if rate_bps > chosen_bps:
        return "too few spine ports for one link from every leaf (now, or at the last growth step)"
    return "more cables for the same bandwidth; needed only when leaves outnumber spine ports"


def judge(inputs: FabricInputs, shape: TwoTierShape, ratio: dict[str, float]) -> list[Finding]:
    """Findings that follow from the shape: too many leaves, ratio above the wish, servers that do not fit a leaf,
    growth, one switch would do.
    """
    gpus, most = inputs.server.gpus, shape.max_servers
    found = []
    if not shape.fits:
        args = {
            "leaf": inputs.leaf.label,
            "spine": inputs.spine.label,
            "wish": format_ratio(inputs.leaf_oversubscription),
        }
        wanted = inputs.n_servers * gpus
        found.append(Finding("EW-FAB-002", "error", "fabric", most * gpus, wanted, "GPUs", args, path="fabric.spine"))
    elif inputs.growth_servers > most:
        steps = {"servers": inputs.growth_servers, "max_servers": most}
        wanted = inputs.growth_servers * gpus
        path = "growth.steps"
        found.append(Finding("EW-FAB-017", "warning", "growth", most * gpus, wanted, "GPUs", steps, path=path))
    found += _judge_ratio(inputs, shape, ratio)
    links = ceil(inputs.server.nics / shape.leaves_per_group)
    if links + inputs.spare_ports > shape.split.down_ports:
        spare, down = {"spare": inputs.spare_ports}, shape.split.down_ports
        found.append(Finding("EW-FAB-025", "error", "leaf", down, links, "ports", spare, path="fabric.leaf"))
    parts = max(1, capacity.parts_at(inputs.leaf, shape.split.down_rate_bps))
    ends = inputs.n_servers * inputs.server.nics + sum(n for _, n in inputs.controllers)
    if len(inputs.rooms) == 1 and inputs.planes == 1 and ends <= inputs.leaf.ports * parts:
        args, there = {"switch": inputs.leaf.label}, inputs.leaf.ports * parts
        found.append(Finding("EW-FAB-018", "info", "fabric", there, ends, "ports", args, path="fabric.leaf"))
    return found


def _judge_ratio(inputs: FabricInputs, shape: TwoTierShape, ratio: dict[str, float]) -> list[Finding]:
    """Findings about tiers that carry less than was wished."""
    found = []
    wish = inputs.leaf_oversubscription
    if shape.fits and ratio["leaf"] > wish * (1 + RATIO_TOLERANCE):
        found.append(_above_wish("leaf", "leaf", wish, ratio["leaf"], "fabric.oversubscription.leaf"))
    nic_bps = inputs.server.nics * inputs.server.nic_rate_bps
    for number, link in enumerate(inputs.room_links):
        if link.oversubscription_ratio is None:
            continue
        rooms = [inputs.rooms.index(name) for name in link.between]
        built = min(shape.servers[room] for room in rooms) * nic_bps / rate_through(link)
        if built > link.oversubscription_ratio * (1 + RATIO_TOLERANCE):
            subject, path = link_name(link), f"room_links[{number}].oversubscription"
            found.append(_above_wish(subject, "room link", link.oversubscription_ratio, built, path))
    return found


def _above_wish(subject: str, tier: str, wish: float, built: float, path: str) -> Finding:
    args = {"tier": tier, "wish": format_ratio(wish), "built": format_ratio(built)}
    return Finding("EW-FAB-003", "error", subject, wish, round(built, 4), "down:up", args, path=path)
