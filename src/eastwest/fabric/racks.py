"""Racks: where servers and switches stand, by units, power and the user's own limits; and where a rack stands on the
floor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.tables import NodeKind, Rack
from eastwest.finding import Finding
from eastwest.spec.hosts import RackWish
from eastwest.spec.resolve import SwitchFacts

RACK_PITCH_M = 0.6  # width of a rack, EIA-310 19-inch rack in a 600 mm frame
ROW_PITCH_M = (
    2.4  # from one row to the next: 1.2 m rack depth + 1.2 m aisle (cold-aisle practice, TIA-942 class layouts)
)
RACK_UNIT_M = 0.04445  # 1.75 inch, EIA-310
TRAY_ABOVE_RACK_M = 0.5  # overhead tray above the top of a rack
RACKS_IN_A_ROW = 20  # of a generated room


@dataclass(slots=True)
class _Space:
    """What is left of one rack while it is being filled."""

    rack: Rack
    most_servers: int | None
    next_unit: int = 1
    power_w: float = 0.0
    servers: int = 0
    names: list[str] = field(default_factory=list)

    def fits(self, units: int, power_w: float, is_server: bool) -> bool:
        """Whether a device still fits by units, power and the most servers that the user allows."""
        if is_server and self.most_servers is not None and self.servers >= self.most_servers:
            return False
        return self.next_unit + units - 1 <= self.rack.units and self.power_w + power_w <= self.rack.power_w

    def put(self, units: int, power_w: float, is_server: bool) -> int:
        """The lowest unit of the device, which is now taken."""
        unit, self.next_unit = self.next_unit, self.next_unit + units
        self.power_w += power_w
        self.servers += is_server
        return unit


@dataclass(frozen=True, slots=True)
class RackPlan:
    """Racks of all rooms, and the findings about those that do not suffice."""

    racks: tuple[Rack, ...]
    findings: tuple[Finding, ...]


def place_in_racks(
    inputs: FabricInputs,
    nodes: NDArray[np.void],
    links: NDArray[np.void],
    switch_of: NDArray[np.int64],
    switches: list[SwitchFacts],
) -> RackPlan:
    """Racks for all servers and switches; writes `rack` and `unit` into `nodes`. A device without a place keeps -1.

    Servers fill racks in order. A leaf stands in the rack of the middle one of its servers, or the nearest with space,
    a spine in the middle of its room. A room without racks in the site file gets as many racks of the default size as
    it needs.
    """
    racks: list[Rack] = []
    findings: list[Finding] = []
    anchors = _anchors(nodes, links)
    for room, wishes in enumerate(inputs.racks):
        spaces = [_Space(rack, most) for rack, most in _expand(wishes, room)]
        grow = not wishes
        unplaced = _fill_servers(inputs, room, nodes, spaces, grow)
        mine = np.flatnonzero((nodes["room"] == room) & (switch_of >= 0))
        homeless = _fill_switches(
            inputs if grow else None, mine, anchors, nodes, spaces, [switches[i] for i in switch_of[mine]]
        )
        if unplaced + homeless:
            found = _short(inputs.rooms[room], spaces, unplaced, homeless)
            findings.append(replace(found, path=f"rooms[{room}].racks"))
        first = len(racks)
        placed = (nodes["room"] == room) & (nodes["rack"] >= 0)
        nodes["rack"][placed] += first
        racks += [space.rack for space in spaces]
    findings += _patch_panels(tuple(racks), nodes, links)
    return RackPlan(tuple(racks), tuple(findings))


def _expand(wishes: Iterable[RackWish], room: int) -> Iterator[tuple[Rack, int | None]]:
    """Every rack of a room with the most servers that it may hold, in row and position order."""
    for wish in sorted(wishes, key=lambda wish: (wish.row, wish.position)):
        for i in range(wish.count):
            name = wish.name if wish.count == 1 else f"{wish.name}-{i + 1:02d}"
            yield Rack(name, room, wish.row, wish.position + i, wish.units, wish.power_w, wish.ports), wish.servers


def _generated(inputs: FabricInputs, room: int, number: int) -> _Space:
    """The next rack of a generated room: the default, or one that holds a scale-up domain of several servers."""
    wish, most = RackWish(), inputs.servers_per_rack
    row, position = divmod(number, RACKS_IN_A_ROW)
    units, power_w = wish.units, wish.power_w
    if most:
        units = max(units, most * inputs.server.rack_units)
        power_w = max(power_w, most * inputs.server.power_w)
    return _Space(Rack(f"rack-{number + 1:03d}", room, row + 1, position + 1, units, power_w, None), most)


def _fill_servers(inputs: FabricInputs, room: int, nodes: NDArray[np.void], spaces: list[_Space], grow: bool) -> int:
    """Servers of the room that found no rack; the others are placed in order."""
    at = 0
    unplaced = 0
    for i in np.flatnonzero(inputs.server_rooms == room):
        facts = inputs.server_facts[inputs.server_groups[i]]
        while at < len(spaces) and not spaces[at].fits(facts.rack_units, facts.power_w, True):
            at += 1
        if at == len(spaces):
            if not grow:
                unplaced, at = unplaced + 1, 0 if len(inputs.server_facts) > 1 else at
                continue
            spaces.append(_generated(inputs, room, at))
            if not spaces[at].fits(facts.rack_units, facts.power_w, True):
                spaces[at].power_w = -facts.power_w  # one server that draws more than a default rack still gets a rack
        nodes["unit"][i] = spaces[at].put(facts.rack_units, facts.power_w, True)
        nodes["rack"][i] = at
    return unplaced


def _anchors(nodes: NDArray[np.void], links: NDArray[np.void]) -> NDArray[np.int64]:
    """(n_nodes,) int64 the middle server under each leaf; -1 for other nodes."""
    anchors = np.full(len(nodes), -1, np.int64)
    down = links[nodes["kind"][links["a"]] == NodeKind.SERVER]
    order = np.lexsort((down["a"], down["b"]))
    leaf, server = down["b"][order], down["a"][order]
    first = np.flatnonzero(np.r_[True, leaf[1:] != leaf[:-1]]) if len(leaf) else np.zeros(0, np.int64)
    middle = (first + np.r_[first[1:], len(leaf)] - 1) // 2 if len(leaf) else first
    anchors[leaf[first]] = server[middle]
    return anchors


def _fill_switches(
    grow: FabricInputs | None,
    mine: NDArray[np.int64],
    anchors: NDArray[np.int64],
    nodes: NDArray[np.void],
    spaces: list[_Space],
    facts: list[SwitchFacts],
) -> int:
    """Switches that found no rack; the others stand as near as possible to where they belong. Racks are added while
    `grow` says what for.
    """
    homeless = 0
    middle = max(0, (len(spaces) - 1) // 2)
    nearest: dict[tuple[int, float], _Nearest] = {}
    for node, switch in zip(mine.tolist(), facts, strict=True):
        anchor = anchors[node]
        wanted = int(nodes["rack"][anchor]) if anchor >= 0 and nodes["rack"][anchor] >= 0 else middle
        size = switch.rack_units, switch.power_w
        at = nearest.setdefault(size, _Nearest(spaces, *size)).to(wanted)
        if at < 0 and grow is not None:
            at = len(spaces)
            spaces.append(_generated(grow, int(nodes["room"][node]), at))
        if at < 0:
            homeless += 1
            continue
        nodes["unit"][node] = spaces[at].put(*size, False)
        nodes["rack"][node] = at
    return homeless


class _Nearest:
    """The nearest rack that still holds one size of switch. Racks only fill up, so one that is too full for a size
    stays so and is skipped from then on.
    """

    def __init__(self, spaces: list[_Space], units: int, power_w: float) -> None:
        self.spaces, self.units, self.power_w = spaces, units, power_w
        self.below: dict[int, int] = {}  # a full rack -> the next one to try, downward
        self.above: dict[int, int] = {}

    def to(self, wanted: int) -> int:
        """The nearest rack to `wanted`, the lower one of two; -1 when none fits."""
        low, high = self._next(wanted, -1, self.below), self._next(wanted + 1, 1, self.above)
        is_low, is_high = low >= 0, high < len(self.spaces)
        if is_low and is_high:
            return low if wanted - low <= high - wanted else high
        return low if is_low else high if is_high else -1

    def _next(self, start: int, step: int, skip: dict[int, int]) -> int:
        """The first rack from `start` on in that direction that fits, or the first number outside."""
        at, passed = start, []
        while 0 <= at < len(self.spaces) and not self.spaces[at].fits(self.units, self.power_w, False):
            passed.append(at)
            at = skip.get(at, at + step)
        for full in passed:
            skip[full] = at
        return at


def _short(room: str, spaces: list[_Space], servers: int, switches: int) -> Finding:
    """The finding about a room whose racks do not hold everything."""
    units = sum(space.rack.units - space.next_unit + 1 for space in spaces)
    power_kw = sum(space.rack.power_w - space.power_w for space in spaces) / 1000
    args = {
        "servers": servers,
        "switches": switches,
        "racks": len(spaces),
        "units": units,
        "power_kw": round(power_kw, 1),
    }
    return Finding("EW-FAB-015", "error", room, 0, servers + switches, "devices", args)


def _patch_panels(racks: tuple[Rack, ...], nodes: NDArray[np.void], links: NDArray[np.void]) -> list[Finding]:
    """Findings about racks from which more cables leave than the patch panel has ports."""
    if not racks or all(rack.ports is None for rack in racks):
        return []
    a, b = nodes["rack"][links["a"]], nodes["rack"][links["b"]]
    leaving = a != b
    ends = np.concatenate([a[leaving], b[leaving]])
    cables = np.bincount(ends[ends >= 0], minlength=len(racks))
    found = []
    for rack, n in zip(racks, cables, strict=True):
        if rack.ports is not None and n > rack.ports:
            args, path = {"short": int(n) - rack.ports}, f"rooms[{rack.room}].racks"
            found.append(Finding("EW-FAB-016", "error", rack.name, rack.ports, int(n), "ports", args, path=path))
    return found


def route_lengths_m(
    racks: tuple[Rack, ...], nodes: NDArray[np.void], a: NDArray[np.int64], b: NDArray[np.int64]
) -> NDArray[np.float64]:
    """(n,) m of cable route between nodes of one room: inside the rack, or up to the tray, along the rows and down
    again; NaN without a place.
    """
    table = np.array([(rack.row, rack.position, rack.units) for rack in racks] or [(0, 0, 0)], np.float64)
    rack_a, rack_b = nodes["rack"][a], nodes["rack"][b]
    unit_a, unit_b = nodes["unit"][a].astype(np.float64), nodes["unit"][b].astype(np.float64)
    along = (
        np.abs(table[rack_a, 0] - table[rack_b, 0]) * ROW_PITCH_M
        + np.abs(table[rack_a, 1] - table[rack_b, 1]) * RACK_PITCH_M
    )
    up = (table[rack_a, 2] - unit_a + table[rack_b, 2] - unit_b) * RACK_UNIT_M + 2 * TRAY_ABOVE_RACK_M
    inside = np.abs(unit_a - unit_b) * RACK_UNIT_M
    length: NDArray[np.float64] = np.where(rack_a == rack_b, inside, along + up)
    length[(rack_a < 0) | (rack_b < 0)] = np.nan
    return length
