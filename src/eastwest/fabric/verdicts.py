"""Findings that follow from the shape of a Clos: too many servers for its tiers, ratios above the wish, servers that do
not fit a leaf, growth, rooms, one switch that would do.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from eastwest.fabric import capacity
from eastwest.fabric.controllers import controller_links, servers_given_up
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.rooms import link_name, rate_between
from eastwest.fabric.shape import ONE_TIER, THREE_TIERS, TWO_TIERS, ClosShape
from eastwest.finding import Finding
from eastwest.units import format_port_rate, format_ratio

RATIO_TOLERANCE = 1e-9  # of comparing an oversubscription with its wish
TOO_SMALL = {ONE_TIER: "EW-FAB-029", TWO_TIERS: "EW-FAB-002", THREE_TIERS: "EW-FAB-028"}
LEAST_POD_SHARE = 0.5  # of a full pod's servers, below which its switches and core cables mostly wait
NARROW_CORE = 1.5  # down:up of spines from which pods are called narrow towards one another


def judge(inputs: FabricInputs, shape: ClosShape, ratio: dict[str, float]) -> list[Finding]:
    """All findings of the shape."""
    return [
        *_judge_size(inputs, shape),
        *_judge_ratio(inputs, shape, ratio),
        *_judge_pods(inputs, shape, ratio),
        *_judge_leaf(inputs, shape),
        *_judge_controllers(inputs, shape),
        *_judge_rooms(inputs, shape),
    ]


def _judge_size(inputs: FabricInputs, shape: ClosShape) -> Iterator[Finding]:
    """More servers than the tiers hold, now or after growth."""
    gpus, most = inputs.server.gpus, shape.port_servers
    if not shape.fits:
        spine, core = inputs.switches.get("spine"), inputs.switches.get("core")
        args = {
            "leaf": inputs.leaf.label,
            "spine": spine.label if spine else "",
            "core": core.label if core else "",
            "wish": format_ratio(inputs.leaf_oversubscription),
            "pod": shape.full_pod_servers(shape.largest),
        }
        wanted, path = inputs.n_servers * gpus, "fabric.leaf" if shape.tiers == ONE_TIER else "fabric.spine"
        yield Finding(TOO_SMALL[shape.tiers], "error", "fabric", most * gpus, wanted, "GPUs", args, path=path)
    elif inputs.growth_servers > most:
        steps = {"servers": inputs.growth_servers, "max_servers": most}
        wanted = inputs.growth_servers * gpus
        yield Finding("EW-FAB-017", "warning", "growth", most * gpus, wanted, "GPUs", steps, path="growth.steps")


def _judge_leaf(inputs: FabricInputs, shape: ClosShape) -> Iterator[Finding]:
    """A server that does not fit a leaf; one switch that would do."""
    links, down = shape.links_per_server, shape.split.down_ports
    if links + inputs.spare_ports > down:
        spare = {"spare": inputs.spare_ports}
        yield Finding("EW-FAB-025", "error", "leaf", down, links, "ports", spare, path="fabric.leaf")
    parts = max(1, capacity.parts_at(inputs.leaf, shape.split.down_rate_bps))
    ends = inputs.n_servers * inputs.server.nics + sum(n for _, n in inputs.controllers)
    there = inputs.leaf.ports * parts
    is_plain = len(inputs.rooms) == 1 and inputs.planes == 1 and inputs.links_per_nic == 1 and shape.tiers > ONE_TIER
    if is_plain and ends <= there:
        args = {"switch": inputs.leaf.label}
        yield Finding("EW-FAB-018", "info", "fabric", there, ends, "ports", args, path="fabric.leaf")


def _judge_controllers(inputs: FabricInputs, shape: ClosShape) -> Iterator[Finding]:
    """Leaves that are there for controllers alone, and how many servers fewer would leave them ports."""
    needed = [ceil(room.servers / shape.split.servers) for room in shape.rooms]
    added = (sum(room.n_groups for room in shape.rooms) - sum(needed)) * shape.leaves_per_group
    if added > 0:
        fewer = servers_given_up(inputs, shape.split, sum(needed) * shape.leaves_per_group, inputs.n_servers)
        args = {"links": controller_links(inputs), "fewer": fewer}
        leaves, path = added * inputs.planes, "fabric.controllers"
        yield Finding("EW-FAB-051", "warning", "controllers", 0, leaves, "leaves", args, path=path)


def _judge_pods(inputs: FabricInputs, shape: ClosShape, ratio: dict[str, float]) -> Iterator[Finding]:
    """What crosses pods is narrower than what stays inside: meant, so it is told, not refused."""
    if shape.core_rate_bps and shape.fits and ratio.get("spine", 0.0) >= NARROW_CORE:
        pod = shape.full_pod_servers(shape.largest)
        pod_gpus = min(pod, inputs.n_servers) * inputs.server.gpus
        args = {"pod_gpus": pod_gpus, "built": format_ratio(ratio["spine"])}
        built, path = round(ratio["spine"], 4), "fabric.oversubscription.spine"
        yield Finding("EW-FAB-037", "info", "pods", 1.0, built, "down:up", args, path=path)
    if shape.core_rate_bps and shape.fits:
        yield from _judge_last_pods(inputs, shape)


def _judge_last_pods(inputs: FabricInputs, shape: ClosShape) -> Iterator[Finding]:
    """A last pod that is less than half full and is cabled to the cores as a full one."""
    for number, room in enumerate(shape.rooms):
        full = max(room.groups, default=0) * shape.split.servers
        last = max(0, room.servers - sum(room.groups[:-1]) * shape.split.servers)
        if room.core and len(room.groups) > 1 and last < full * LEAST_POD_SHARE:
            cables = room.spread.spines * room.core.uplinks * inputs.planes
            args = {
                "room": inputs.rooms[number],
                "spines": room.spread.spines * inputs.planes,
                "cables": cables,
                "idle": cables - ceil(cables * last / full),
            }
            yield Finding("EW-FAB-050", "warning", "pods", full, last, "servers", args, path="fabric.servers_per_pod")


def _judge_rooms(inputs: FabricInputs, shape: ClosShape) -> Iterator[Finding]:
    """Rooms that one tier cannot join; a wished link rate that the two ports do not have."""
    if shape.tiers == ONE_TIER:
        if len(inputs.rooms) > 1:
            args = {"family": inputs.family}
            yield Finding("EW-FAB-033", "error", "fabric", 1, len(inputs.rooms), "rooms", args, path="fabric.family")
        return
    wish = inputs.link_rate_bps
    if wish is not None and wish != shape.split.up_rate_bps:
        rates = capacity.uplink_rates(inputs.leaf, inputs.spine, inputs.nic_port_rate_bps)
        args = {"rates": ", ".join(format_port_rate(rate) for rate in rates), "wish": format_port_rate(wish)}
        built = shape.split.up_rate_bps
        yield Finding("EW-FAB-038", "error", "leaf - spine", wish, built, "bit/s", args, path="fabric.link_rate")


def _judge_ratio(inputs: FabricInputs, shape: ClosShape, ratio: dict[str, float]) -> list[Finding]:
    """Findings about tiers that carry less than was wished."""
    found = []
    wish = inputs.leaf_oversubscription
    if shape.fits and ratio.get("leaf", 0.0) > wish * (1 + RATIO_TOLERANCE):
        found.append(_above_wish("leaf", "leaf", wish, ratio["leaf"], "fabric.oversubscription.leaf"))
    wish = inputs.spine_oversubscription
    if shape.fits and shape.core_rate_bps and ratio.get("spine", 0.0) > wish * (1 + RATIO_TOLERANCE):
        found.append(_above_wish("spine", "spine", wish, ratio["spine"], "fabric.oversubscription.spine"))
    nic_bps = inputs.server.nics * inputs.server.nic_rate_bps
    judged: set[tuple[frozenset[str], float]] = set()
    for number, link in enumerate(inputs.room_links):
        if link.oversubscription_ratio is None:
            continue
        rooms = [inputs.rooms.index(name) for name in link.between]
        built = min(shape.servers[room] for room in rooms) * nic_bps / rate_between(inputs.room_links, link)
        key = frozenset(link.between), link.oversubscription_ratio
        if built > link.oversubscription_ratio * (1 + RATIO_TOLERANCE) and key not in judged:
            judged.add(key)
            subject, path = link_name(link), f"room_links[{number}].oversubscription"
            found.append(_above_wish(subject, "room link", link.oversubscription_ratio, built, path))
    return found


def _above_wish(subject: str, tier: str, wish: float, built: float, path: str) -> Finding:
    args = {"tier": tier, "wish": format_ratio(wish), "built": format_ratio(built)}
    return Finding("EW-FAB-003", "error", subject, wish, round(built, 4), "down:up", args, path=path)
