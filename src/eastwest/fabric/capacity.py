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

LEAST_SHARE = 0.75  # of the servers that a leaf could take, when fewer let its uplinks spread better
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
class Spread:
    """Uplinks spread evenly: `per_pair` links between each leaf and each of `spines`; `fits` is False when spine
    ports do not suffice.
    """

    uplinks: int
    spines: int
    per_pair: int
    fits: bool


def parts_at(switch: SwitchFacts, rate_bps: int) -> int:
    """Logical ports of that rate that one port of the switch gives: 1, its breakout, or 0 when the port is slower.

    A slower link without a matching breakout takes a whole port.
    """
    if rate_bps > switch.port_rate_bps:
        return 0
    return max((parts for parts, rate in switch.breakouts if rate == rate_bps), default=1)


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
    uplinks = max(1, ceil(Fraction(reserved * down_rate) / (wish * up_rate_bps)))
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


def narrower_splits(split: LeafSplit, leaf: SwitchFacts, links_per_server: int, spare: int) -> Iterator[LeafSplit]:
    """The split itself, then splits that turn the ports of one more server each into possible uplinks, to three
    quarters.

    A few servers less under a leaf can let its uplinks divide over far fewer spines: 38 down and 26 up of 64 ports need
    13 spines for 8 leaves, 36 down and 28 up need 4.
    """
    yield split
    for servers in range(split.servers - 1, ceil(split.servers * LEAST_SHARE) - 1, -1):
        reserved = servers * links_per_server + spare
        left = leaf.ports - ceil(reserved / split.down_parts)
        most = max(split.uplinks, left * split.up_parts)
        yield replace(split, servers=servers, reserved=reserved, most_uplinks=most)


def spread_uplinks(split: LeafSplit, leaves: int, spine: SwitchFacts, room_links: int, room_parts: int) -> Spread:
    """The fewest spines over which a leaf's uplinks divide evenly, then the fewest uplinks; ports for `room_links` are
    kept on the spines.

    A leaf may take more uplinks than the ratio needs when that saves a spine. When nothing fits, one link per leaf and
    spine, `fits` False.
    """
    parts = max(1, parts_at(spine, split.up_rate_bps))
    for spines in range(1, split.most_uplinks + 1):
        room_ports = ceil(ceil(room_links / spines) / max(1, room_parts))
        for uplinks in _multiples(spines, split.uplinks, split.most_uplinks):
            if ceil(leaves * (uplinks // spines) / parts) + room_ports <= spine.ports:
                return Spread(uplinks, spines, uplinks // spines, True)
    return Spread(split.uplinks, split.uplinks, 1, False)


def _multiples(step: int, low: int, high: int) -> Iterator[int]:
    """Multiples of `step` from `low` to `high`."""
    return iter(range(ceil(low / step) * step, high + 1, step))


def most_leaves(split: LeafSplit, spine: SwitchFacts, room_links: int, room_parts: int) -> int:
    """Leaves of one room when it is full: one link between each leaf and each of `uplinks` spines, so as many as a
    spine has ports.
    """
    room_ports = ceil(ceil(room_links / split.uplinks) / max(1, room_parts))
    return max(0, spine.ports - room_ports) * max(1, parts_at(spine, split.up_rate_bps))


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
