"""The links that packets take: the way of a flow, or the ways its packets are spread over, and that of the answers.

Packets that are spread over a network take one way each. A way is what the switches' hashes give for one entropy value,
so many values cover all shortest paths about evenly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eastwest.simulate.choice import Requests
from eastwest.simulate.network import Ints, Network
from eastwest.simulate.packet.kernel import NONE, Int32s
from eastwest.simulate.packet.lb import BALANCES, Balance
from eastwest.simulate.packet.world import World
from eastwest.simulate.prepared import Prepared
from eastwest.simulate.routing_paths import Paths
from eastwest.simulate.scenario_routes import router_of

LEAST_WAYS, MOST_WAYS = 16, 256  # of a request whose packets are spread
MOST_WAY_LINKS = 20_000_000  # of all of them together
WAY_SHIFT = 48  # of a label: above queue pair, channel and traffic
SPREAD = (Balance.SPRAY, Balance.ADAPTIVE)


@dataclass(frozen=True, eq=False)
class Routes:
    """Links of all ways, each ended by -1: where each path of the scenario begins (`first`), the way of a request's
    answers (`first_back`), and the rows of `ways` from `first_way` of each request, `n_ways` in turn.
    """

    links: Int32s
    first: Ints
    first_back: Ints
    ways: Int32s
    first_way: Ints
    n_ways: int


def routes_of(prepared: Prepared) -> Routes:
    """The routes of a scenario as it begins."""
    requests, paths, scenario = prepared.requests, prepared.paths, prepared.scenario
    n = len(requests)
    is_spread = BALANCES[scenario.load_balancing] in SPREAD
    hashed = router_of(scenario, prepared.network, "ecmp" if is_spread else "")
    back = hashed.paths(Requests(requests.dst, requests.src, requests.label, requests.way))
    again, first_back = _ended(back.first, back.links, n)
    if is_spread:
        n_ways = int(np.clip(MOST_WAY_LINKS // max(1, 8 * n), LEAST_WAYS, MOST_WAYS))
        found = _spread_paths(prepared, prepared.network, np.arange(n, dtype=np.int64), n_ways)
        there, first = _ended(found.first, found.links, n * n_ways)
    else:
        n_ways = prepared.n_ways
        there, first = _ended(paths.offsets, paths.links.astype(np.int64), paths.n_paths)
    first = first + len(again)
    links = np.r_[again, there].astype(np.int32)
    first_way = np.arange(n, dtype=np.int64) * (n_ways if is_spread else 1)
    return Routes(
        links, first[first_way] if is_spread else first, first_back, first.astype(np.int32), first_way, n_ways
    )


def _spread_paths(prepared: Prepared, network: Network, rows: Ints, n_ways: int) -> Paths:
    """`n_ways` paths in turn of each of these requests, through the network as it is."""
    requests = prepared.requests
    turn = np.tile(np.arange(n_ways, dtype=np.int64) << WAY_SHIFT, len(rows))
    each = np.repeat(rows, n_ways)
    wanted = Requests(requests.src[each], requests.dst[each], requests.label[each] + turn, requests.way[each])
    return router_of(prepared.scenario, network, "ecmp").paths(wanted)


def swapped(world: World, prepared: Prepared, routes: Routes, subject: Ints, value: Ints) -> World:
    """The world with other ways for these requests (paths): the paths `value`, or, where packets are spread, the ways
    through what is up now.
    """
    flows, path = world.flows, prepared.flows.path.astype(np.int64)
    if BALANCES[prepared.scenario.load_balancing] not in SPREAD:
        world.ways[subject] = routes.first[value]
        now = np.arange(prepared.paths.n_paths, dtype=np.int64)
        now[subject] = value
        touched = np.isin(path, subject)
        flows["route"][touched] = routes.first[now[path[touched]]]
        return world
    network = prepared.network.with_rates(world.links["rate_bps"].copy())
    found = _spread_paths(prepared, network, subject, routes.n_ways)
    there, first = _ended(found.first, found.links, len(subject) * routes.n_ways)
    first = np.where(found.reached, first + len(world.routes), -1)
    at = (routes.first_way[subject][:, None] + np.arange(routes.n_ways)).reshape(-1)
    world.ways[at] = np.where(first >= 0, first, world.ways[at])
    return world._replace(routes=np.r_[world.routes, there].astype(np.int32))


def _ended(offsets: Ints, links: Ints, n: int) -> tuple[Int32s, Ints]:
    """Rows of links with -1 behind each, and where each begins."""
    lengths = np.diff(offsets[: n + 1])
    first = (offsets[:n] + np.arange(n)).astype(np.int64)
    found = np.full(int(offsets[n]) + n, NONE, np.int32)
    at = np.repeat(first - offsets[:n], lengths) + np.arange(int(offsets[n]))
    found[at] = links[: int(offsets[n])]
    return found, first
