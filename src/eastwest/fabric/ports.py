"""The port ledger: every cable takes one logical port at each of its two ends, or it is not built and the fabric says
how many ports are short.

A switch has `ports` ports of `port_rate_bps` in cages of `ports_per_cage`. A slower link breaks a port out: the whole
port is then used up in equal parts. One 800G cage is two 400G ports, whether the data sheet counts 64 ports of 400G
(two a cage) or 32 of 800G (each broken out 2 x 400G).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric.capacity import parts_at
from eastwest.fabric.draft import NO_SWITCH, Draft, Ints
from eastwest.fabric.tables import PORT_DTYPE, TIER_OF_KIND, NodeKind, TierPorts
from eastwest.finding import Finding
from eastwest.spec.resolve import SwitchFacts


@dataclass(frozen=True, eq=False)
class PortPlan:
    """Nodes with their port ranges, ports, the links that found two ports, ports by tier, and what was short."""

    nodes: NDArray[np.void]
    ports: NDArray[np.void]
    links: NDArray[np.void]
    tier_ports: dict[str, TierPorts]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, eq=False)
class _Ends:
    """Link ends sorted by node, then by link: `link`, `side` (0 a, 1 b), `node`, `rate_bps`, `whole` (port of the
    data sheet), `part` of it, `parts`.
    """

    link: Ints
    side: Ints
    node: Ints
    rate_bps: Ints
    whole: Ints
    part: Ints
    parts: Ints


def allot(draft: Draft, nic_lane_rate_bps: int, nics_per_cage: int = 1) -> PortPlan:
    """Ports for every link of a draft, in the order of its links; links without a port at both ends are dropped and
    reported; so many NICs of a server share a cage.
    """
    nodes, links, switch_of = draft.nodes(), draft.links(), draft.switch_of()
    ends = _ends(links, switch_of, draft.switches)
    limits = np.array([switch.ports for switch in draft.switches] or [0])[switch_of]
    over = (switch_of[ends.node] != NO_SWITCH) & ((ends.whole >= limits[ends.node]) | (ends.parts == 0))
    findings = _shortages(nodes, ends, switch_of, limits)
    if over.any():
        keep = np.ones(len(links), bool)
        keep[ends.link[over]] = False
        links = links[keep]
        ends = _ends(links, switch_of, draft.switches)
    hosts = _host_rows(nodes, np.flatnonzero(switch_of == NO_SWITCH), ends, nic_lane_rate_bps, nics_per_cage)
    ports = _port_rows(nodes, links, ends, switch_of, draft.switches, hosts)
    return PortPlan(nodes, ports, links, _by_tier(nodes, ports), findings)


def _ends(links: NDArray[np.void], switch_of: Ints, switches: list[SwitchFacts]) -> _Ends:
    """Every link end with the port that it takes: runs of one rate on a node fill ports of equal parts one after the
    other.
    """
    n = len(links)
    node = np.concatenate([links["a"], links["b"]]).astype(np.int64)
    link = np.tile(np.arange(n, dtype=np.int64), 2)
    order = np.lexsort((link, node))
    node, link, side = node[order], link[order], np.repeat(np.arange(2), n)[order].astype(np.int64)
    rate = links["rate_bps"][link].astype(np.int64)
    parts = _parts_of(switch_of[node], rate, switches)
    if n == 0:
        return _Ends(link, side, node, rate, link, link, parts)
    starts = np.flatnonzero(np.r_[True, (node[1:] != node[:-1]) | (rate[1:] != rate[:-1])])
    lengths = np.diff(np.r_[starts, len(node)])
    wholes = -(-lengths // np.maximum(1, parts[starts]))
    before = np.cumsum(wholes) - wholes
    first_run_of_node = np.r_[True, node[starts][1:] != node[starts][:-1]]
    base = before - np.maximum.accumulate(np.where(first_run_of_node, before, 0))
    in_run = np.arange(len(node)) - np.repeat(starts, lengths)
    safe = np.maximum(1, parts)
    return _Ends(link, side, node, rate, np.repeat(base, lengths) + in_run // safe, in_run % safe, parts)


def _parts_of(switch: Ints, rate_bps: Ints, switches: list[SwitchFacts]) -> Ints:
    """Logical ports of that rate in one port of that switch, for each link end; 1 on a node that is no switch."""
    parts = np.ones(len(switch), np.int64)
    for number, facts in enumerate(switches):
        for rate in np.unique(rate_bps[switch == number]):
            parts[(switch == number) & (rate_bps == rate)] = parts_at(facts, int(rate))
    return parts


def _shortages(nodes: NDArray[np.void], ends: _Ends, switch_of: Ints, limits: Ints) -> tuple[Finding, ...]:
    """One finding a tier whose switches lack ports: ports wanted, ports there, short by (sum over its switches)."""
    wanted = np.zeros(len(nodes), np.int64)
    np.maximum.at(wanted, ends.node, ends.whole + 1)
    found = []
    for kind, tier in TIER_OF_KIND.items():
        mine = (nodes["kind"] == kind) & (switch_of != NO_SWITCH)
        short = np.maximum(0, wanted - limits)[mine]
        if short.any():
            there, want = int(limits[mine].sum()), int(wanted[mine].sum())
            args = {
                "tier": tier,
                "short": int(short.sum()),
                "switches": int(np.count_nonzero(short)),
                "of": int(mine.sum()),
            }
            found.append(Finding("EW-FAB-001", "error", tier, there, want, "ports", args, path=f"fabric.{tier}"))
    return tuple(found)


def _port_rows(
    nodes: NDArray[np.void],
    links: NDArray[np.void],
    ends: _Ends,
    switch_of: Ints,
    switches: list[SwitchFacts],
    hosts: tuple[NDArray[np.void], Ints],
) -> NDArray[np.void]:
    """All ports, used and free, in the order of the nodes; numbers the nodes' port ranges and gives the links their
    ports.
    """
    blocks = [hosts]
    blocks += [_switch_rows(np.flatnonzero(switch_of == number), ends, facts) for number, facts in enumerate(switches)]
    ports = np.concatenate([rows for rows, _ in blocks])
    end_of_row = np.concatenate([found for _, found in blocks])
    order = np.lexsort((ports["number"], ports["node"]))
    ports, end_of_row = ports[order], end_of_row[order]
    counts = np.bincount(ports["node"], minlength=len(nodes))
    nodes["n_ports"], nodes["first_port"] = counts, np.cumsum(counts) - counts
    rows = np.flatnonzero(end_of_row >= 0)
    end = end_of_row[rows]
    ports["link"] = -1
    ports["link"][rows] = ends.link[end]
    for side, name in ((0, "a_port"), (1, "b_port")):
        mine = ends.side[end] == side
        links[name][ends.link[end[mine]]] = rows[mine]
    return ports


def _host_rows(
    nodes: NDArray[np.void], hosts: Ints, ends: _Ends, lane_rate_bps: int, nics_per_cage: int
) -> tuple[NDArray[np.void], Ints]:
    """Ports of servers, controllers and boxes: one a link, each its own cage but where NICs of a server share one."""
    end = np.flatnonzero(np.isin(ends.node, hosts))
    rows = np.zeros(len(end), PORT_DTYPE)
    rows["node"] = ends.node[end]
    rows["number"] = rows["whole"] = rows["cage"] = ends.whole[end]
    rows["rate_bps"] = ends.rate_bps[end]
    rows["lane_rate_bps"] = np.minimum(lane_rate_bps, ends.rate_bps[end])
    if nics_per_cage > 1:
        shared = nodes["kind"][rows["node"]] == NodeKind.SERVER
        lanes = -(-rows["rate_bps"] // np.maximum(1, rows["lane_rate_bps"]))
        rows["lane"] = np.where(shared, rows["number"] % nics_per_cage * lanes, 0)
        rows["cage"] = np.where(shared, rows["number"] // nics_per_cage, rows["number"])
    return rows, end


def _switch_rows(mine: Ints, ends: _Ends, facts: SwitchFacts) -> tuple[NDArray[np.void], Ints]:
    """Logical ports of all switches of one model: parts of broken-out ports, whole ports, free ones too."""
    local = np.full(1 + max(int(ends.node.max(initial=0)), int(mine.max(initial=0))), -1, np.int64)
    local[mine] = np.arange(len(mine))
    end = np.flatnonzero(local[ends.node] >= 0)
    row, whole_of_end = local[ends.node[end]], ends.whole[end]
    parts, rate = _port_sizes(row, whole_of_end, ends.parts[end], ends.rate_bps[end], len(mine), facts)
    first, flat = np.cumsum(parts, axis=1) - parts, parts.ravel()
    whole = np.repeat(np.tile(np.arange(facts.ports), len(mine)), flat)
    part = np.arange(len(whole)) - np.repeat(np.cumsum(flat) - flat, flat)
    rows = np.zeros(len(whole), PORT_DTYPE)
    rows["node"] = np.repeat(np.repeat(mine, facts.ports), flat)
    rows["number"] = np.repeat(first.ravel(), flat) + part
    rows["rate_bps"] = np.repeat(rate.ravel(), flat)
    rows["lane_rate_bps"] = np.minimum(facts.lane_rate_bps, rows["rate_bps"])
    lanes, per_cage = max(1, facts.port_rate_bps // facts.lane_rate_bps), max(1, facts.ports_per_cage)
    rows["whole"], rows["cage"] = whole, whole // per_cage
    rows["lane"] = whole % per_cage * lanes + part * (lanes // np.maximum(1, np.repeat(flat, flat)))
    end_of_row = np.full(len(rows), -1, np.int64)
    start_of_node = np.cumsum(parts.sum(axis=1)) - parts.sum(axis=1)
    end_of_row[start_of_node[row] + first[row, whole_of_end] + ends.part[end]] = end
    return rows, end_of_row


def _port_sizes(row: Ints, whole: Ints, parts: Ints, rate_bps: Ints, n: int, facts: SwitchFacts) -> tuple[Ints, Ints]:
    """(n, ports) logical parts and their rate of every port of n switches, from the ports that links take.

    Free ports of a switch whose links all have one broken-out rate count as broken out alike; else they are whole.
    """
    taken, rate = np.zeros((n, facts.ports), np.int64), np.zeros((n, facts.ports), np.int64)
    taken[row, whole], rate[row, whole] = parts, rate_bps
    most = taken.max(axis=1, initial=0)
    least = np.where(taken > 0, taken, most[:, None]).min(axis=1, initial=facts.port_rate_bps)
    usual = np.where((most == least) & (most > 0), most, 1)[:, None]
    free = taken == 0
    return np.where(free, usual, taken), np.where(free, facts.port_rate_bps // usual, rate)


def _by_tier(nodes: NDArray[np.void], ports: NDArray[np.void]) -> dict[str, TierPorts]:
    """Ports used and free, by tier of switches."""
    kind = nodes["kind"][ports["node"]]
    tiers: dict[str, TierPorts] = {}
    for member, tier in TIER_OF_KIND.items():
        mine = ports[kind == member]
        if len(mine) or member is not NodeKind.CORE:
            tiers[tier] = count_ports(mine)
    return tiers


def count_ports(ports: NDArray[np.void]) -> TierPorts:
    """Ports of the data sheet, used and free, of rows that stand in the order of node and port."""
    if len(ports) == 0:
        return TierPorts(0, 0)
    node, whole = ports["node"], ports["whole"]
    start = np.flatnonzero(np.r_[True, (node[1:] != node[:-1]) | (whole[1:] != whole[:-1])])
    used = int(np.count_nonzero(np.maximum.reduceat(ports["link"], start) >= 0))
    return TierPorts(used, len(start) - used)
