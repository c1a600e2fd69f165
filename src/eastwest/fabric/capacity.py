"""How ports become a fabric: the split of a leaf, the even spread of its uplinks over spines, and how far that grows.
Closed forms only.

Down and up are seen from the leaf. A *logical* port is what one link takes: a 400G port broken out 2 x 200G is two
logical ports of 200G.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric.tables import LinkKind
from eastwest.spec.resolve import SwitchFacts
from eastwest.units import GIGA

LEAST_SHARE = 0.75  # of the servers that a leaf could take, when fewer let its uplinks spread better
LANE_RATES_BPS = (  # electrical lanes in use: 1000BASE, FDR, IEEE 802.3ae, by, cd, ck, dj; EDR, HDR, NDR, XDR
    *(1 * GIGA, 10 * GIGA, 14 * GIGA, 25 * GIGA, 50 * GIGA, 100 * GIGA, 200 * GIGA),
)
LANES_OF_PORT = (1, 2, 4, 8)
RATIO_DENOMINATOR = 10_000  # an oversubscription wish is kept as a fraction with at most this denominator


@dataclass(frozen=True, slots=True)
class LeafSplit:
    """One leaf at one uplink rate: logical ports down and up, servers that fit.

    `down_ports` is what the ratio allows, `reserved` what the servers (and the spare ports) of a full leaf take of it;
    `uplinks` carries `reserved` at the wished ratio, `most_uplinks` is what the remaining ports could carry.
    """

    down_rate_bps: int
    down_parts: int
    down_ports: int
    servers: int
    reserved: int
    up_rate_bps: int
    up_parts: int
    uplinks: int
    most_uplinks: int


@dataclass(frozen=True, slots=True)
class Kept:
    """Ports of a tier that no link to the tier below may take: `spare` on each switch, and `room_links` of a room and
    plane spread over its switches, `room_parts` of them on one port.
    """

    spare: int = 0
    room_links: int = 0
    room_parts: int = 1

    def ports(self, switches: int) -> int:
        """Ports kept on each of that many switches."""
        return self.spare + ceil(ceil(self.room_links / switches) / max(1, self.room_parts))


@dataclass(frozen=True, slots=True)
class Climb:
    """How a spine goes on upward: the accepted down:up ratio, the rate of its links to cores, links a port carries."""

    ratio: float
    rate_bps: int
    parts: int

    def links(self, down_bps: int) -> int:
        """Uplinks of a spine that serves that much downward."""
        return _uplinks(down_bps, self.ratio, self.rate_bps)


@dataclass(frozen=True, slots=True)
class Spread:
    """Uplinks of a leaf spread evenly: `per_pair` links between each leaf and each of `spines`; `up` links of each
    spine to cores, at most `most_up`; `fits` is False when spine ports do not suffice.
    """

    uplinks: int
    spines: int
    per_pair: int
    fits: bool
    up: int = 0
    most_up: int = 0


@dataclass(frozen=True, slots=True)
class CoreSpread:
    """Uplinks of spines spread evenly: spine i of every pod goes to set i // `shared` of cores, `per_pair` links to
    each core of the set; `fits` is False when core ports do not suffice.
    """

    uplinks: int
    rate_bps: int
    shared: int
    per_set: int
    cores: int
    fits: bool

    @property
    def per_pair(self) -> int:
        """Links between a spine and each core of its set."""
        return self.uplinks // self.per_set


def parts_at(switch: SwitchFacts, rate_bps: int) -> int:
    """Logical ports of that rate that one port of the switch gives: 1, its breakout, or 0 when the port is slower.

    A slower link without a matching breakout takes a whole port.
    """
    if rate_bps > switch.port_rate_bps:
        return 0
    return max((parts for parts, rate in switch.breakouts if rate == rate_bps), default=1)


def possible_rates(switch: SwitchFacts) -> tuple[int, ...]:
    """Rates that a link on a port of the switch can have, slowest first: 1, 2, 4 or 8 lanes of a rate that fills the
    port with as many, and what its data sheet breaks it out to; none when no lanes give the port's own rate.

    >>> from eastwest.spec.resolve import resolve_switch
    >>> from eastwest.spec.switches import SwitchWish
    >>> switch = resolve_switch(SwitchWish.model_validate({"ports": 64, "rate": "400G"}))
    >>> [rate // 10**9 for rate in possible_rates(switch)]
    [50, 100, 200, 400]
    """
    port = switch.port_rate_bps
    fills = [lane for lane in LANE_RATES_BPS if port % lane == 0 and port // lane in LANES_OF_PORT]
    rates = {lane * lanes for lane in fills for lanes in LANES_OF_PORT if lane * lanes <= port}
    known = {rate for _, rate in switch.breakouts} if switch.model else set()
    return tuple(sorted(rates | known))


def split_leaf(
    leaf: SwitchFacts,
    nic_rate_bps: int,
    up_rate_bps: int,
    links_per_server: int,
    ratio: float,
    most_servers: int | None,
    spare: int,
) -> LeafSplit:
    """The split of a leaf's ports so that down bandwidth is at most `ratio` times up bandwidth.

    With P ports, D bit/s down per port and U up: down ports = floor(P ratio U / (D + ratio U)). `links_per_server`
    links of one server end on this leaf.
    """
    wish = Fraction(ratio).limit_denominator(RATIO_DENOMINATOR)
    down_rate = min(nic_rate_bps, leaf.port_rate_bps)
    down_parts, up_parts = parts_at(leaf, down_rate), max(1, parts_at(leaf, up_rate_bps))
    down_bps, up_bps = down_parts * down_rate, up_parts * up_rate_bps
    down_ports = int(leaf.ports * wish * up_bps / (down_bps + wish * up_bps)) * down_parts
    servers = max(1, (down_ports - spare) // links_per_server)
    if most_servers is not None:
        servers = min(servers, most_servers)
    reserved = servers * links_per_server + spare
    uplinks = _uplinks(reserved * down_rate, ratio, up_rate_bps)
    left = leaf.ports - ceil(reserved / down_parts)
    return LeafSplit(
        down_rate,
        down_parts,
        down_ports,
        servers,
        reserved,
        up_rate_bps,
        up_parts,
        uplinks,
        max(uplinks, left * up_parts),
    )


def narrower_splits(
    split: LeafSplit, leaf: SwitchFacts, links_per_server: int, ratio: float, spare: int
) -> Iterator[LeafSplit]:
    """The split itself, then splits that turn the ports of one more server each into possible uplinks, to three
    quarters. Above 1:1 they need fewer uplinks too; at 1:1 a leaf keeps the uplinks of its full ports.

    A few servers less under a leaf can let its uplinks divide over far fewer spines: at 1.5:1, 38 down and 26 up of 64
    ports need 13 spines for 8 leaves, 36 down and 24 up need 3.
    """
    yield split
    for servers in range(split.servers - 1, ceil(split.servers * LEAST_SHARE) - 1, -1):
        reserved = servers * links_per_server + spare
        uplinks = _uplinks(reserved * split.down_rate_bps, ratio, split.up_rate_bps) if ratio > 1 else split.uplinks
        left = leaf.ports - ceil(reserved / split.down_parts)
        most = max(uplinks, left * split.up_parts)
        yield replace(split, servers=servers, reserved=reserved, uplinks=uplinks, most_uplinks=most)


def _uplinks(down_bps: int, ratio: float, up_rate_bps: int) -> int:
    """Fewest uplinks that carry so much at the wished ratio."""
    wish = Fraction(ratio).limit_denominator(RATIO_DENOMINATOR)
    return max(1, ceil(Fraction(down_bps) / (wish * up_rate_bps)))


def flat_leaf(
    leaf: SwitchFacts, nic_rate_bps: int, links_per_server: int, most_servers: int | None, spare: int
) -> LeafSplit:
    """A leaf without uplinks: all its ports face servers (64 servers of one rail on 64 x 400G)."""
    down_rate = min(nic_rate_bps, leaf.port_rate_bps)
    parts = max(1, parts_at(leaf, down_rate))
    down_ports = leaf.ports * parts
    servers = max(1, (down_ports - spare) // links_per_server)
    servers = servers if most_servers is None else min(servers, most_servers)
    reserved = servers * links_per_server + spare
    return LeafSplit(down_rate, parts, down_ports, servers, reserved, leaf.port_rate_bps, 1, 0, 0)


def spread_uplinks(
    split: LeafSplit, leaves: int, spine: SwitchFacts, kept: Kept, climb: Climb | None = None, least: int = 1
) -> Spread:
    """The fewest spines (`least` of them at least) over which a leaf's uplinks divide evenly, then the fewest uplinks;
    `kept` ports stay free on the spines, and with `climb` a spine also carries its links to cores.

    A leaf may take more uplinks than the ratio needs when that saves a spine. When nothing fits, one link per leaf and
    spine, `fits` False.
    """
    parts = max(1, parts_at(spine, split.up_rate_bps))
    for spines in range(least, max(least, split.most_uplinks) + 1):
        for uplinks in _multiples(spines, split.uplinks, split.most_uplinks):
            down = leaves * (uplinks // spines)
            left = spine.ports - ceil(down / parts) - kept.ports(spines)
            up = climb.links(down * split.up_rate_bps) if climb else 0
            most_up = left * climb.parts if climb else 0
            if left >= 0 and up <= most_up:
                return Spread(uplinks, spines, uplinks // spines, True, up, most_up)
    up = climb.links(leaves * split.up_rate_bps) if climb else 0
    return Spread(split.uplinks, split.uplinks, 1, False, up, up)


def _multiples(step: int, low: int, high: int) -> Iterator[int]:
    """Multiples of `step` from `low` to `high`."""
    return iter(range(ceil(low / step) * step, high + 1, step))


def most_leaves(split: LeafSplit, spine: SwitchFacts, kept: Kept, climb: Climb | None = None) -> int:
    """Leaves of one room or pod when it is full: one link between each leaf and each of `uplinks` spines, so as many
    as a spine has ports for beside its links to cores.
    """
    parts = max(1, parts_at(spine, split.up_rate_bps))
    ports = max(0, spine.ports - kept.ports(max(1, split.uplinks)))
    if climb is None:
        return ports * parts
    for leaves in range(ports * parts, 0, -1):
        if ceil(leaves / parts) + ceil(climb.links(leaves * split.up_rate_bps) / climb.parts) <= ports:
            return leaves
    return 0


def spread_spines(spread: Spread, pods: int, core: SwitchFacts, rate_bps: int, kept: Kept) -> CoreSpread:
    """The fewest cores over which the uplinks of every spine divide evenly, then the fewest spines of a pod that share
    a set of cores, then the fewest uplinks. When nothing fits, one link per spine and core, `fits` False.
    """
    parts = max(1, parts_at(core, rate_bps))
    best = CoreSpread(spread.up, rate_bps, 1, max(1, spread.up), spread.spines * max(1, spread.up), False)
    for shared in (n for n in range(1, spread.spines + 1) if spread.spines % n == 0):
        for per_set in range(1, spread.most_up + 1):
            cores = spread.spines // shared * per_set
            if best.fits and cores >= best.cores:
                break
            uplinks = ceil(spread.up / per_set) * per_set
            down = pods * shared * (uplinks // per_set)
            if uplinks <= spread.most_up and ceil(down / parts) + kept.ports(cores) <= core.ports:
                best = CoreSpread(uplinks, rate_bps, shared, per_set, cores, True)
                break
    return best


def most_pods(core: SwitchFacts, rate_bps: int, cores: int, kept: Kept) -> int:
    """Pods of one room when it is full: one link between each spine and each core of its set."""
    return max(0, core.ports - kept.ports(max(1, cores))) * max(1, parts_at(core, rate_bps))


def uplink_rates(leaf: SwitchFacts, spine: SwitchFacts, nic_rate_bps: int) -> tuple[int, ...]:
    """Rates that a leaf-spine link may have, fastest first: the slower of the two port rates, then what both ends break
    out to.

    None below the NIC rate: a single flow could not fill its NIC.
    """
    top = min(leaf.port_rate_bps, spine.port_rate_bps)
    ends = [{switch.port_rate_bps, *(rate for _, rate in switch.breakouts)} for switch in (leaf, spine)]
    lower = sorted((rate for rate in ends[0] & ends[1] if nic_rate_bps <= rate < top), reverse=True)
    return (top, *lower)


def bisection_bps(links: NDArray[np.void]) -> int:
    """Bit/s, one way, between two halves of the leaves: half of what all leaf-spine links carry; rooms taken together.

    A link between rooms may be narrower: that is the `room` oversubscription.
    """
    return int(links["rate_bps"][links["kind"] == LinkKind.LEAF_SPINE].sum()) // 2
