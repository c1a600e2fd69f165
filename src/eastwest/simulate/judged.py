"""What a result must say beside its numbers: whether the network mattered at all, where flows collide, what the engine
does not model.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from eastwest.finding import Finding
from eastwest.simulate.meetings import meetings_of
from eastwest.simulate.network import Ints, Level, Network, Place
from eastwest.simulate.prepared import Prepared
from eastwest.simulate.result import SimResult
from eastwest.simulate.routing_paths import SPREAD
from eastwest.simulate.scenario_traffic import CollectiveWish
from eastwest.units import BITS_PER_BYTE, PS_PER_S, format_percent, format_size, format_time

FABRIC_LEVELS = (Level.LEAF_SPINE, Level.SPINE_CORE, Level.ROOM)
COLLISION_RATIO = 1.1  # a switch link that takes this much longer than the busiest host link is worth a word
NARROW_RATIO = 0.8  # of the worst link: when its neighbours are as full, no hash would help
POLARISED_RATIO = 0.6  # of the uplinks that a good hash would use
MOST_PAIRS = 4  # senders that a sentence names
LEAST_FLOWS = 4  # on a switch, below which the number of used uplinks says nothing
MODELLED = ("roce", "spray", "tcp")  # transports that fair shares do not misjudge, or that are modelled


def judge(prepared: Prepared, result: SimResult) -> Iterator[Finding]:
    """The findings about a result."""
    yield from _insensitive(prepared, result)
    yield from _collisions(prepared)
    yield from _polarised(prepared)
    yield from _meetings(prepared, result)
    wish, is_bound = prepared.scenario.wish, result.engine == "analytic"
    has_more = prepared.scenario.transport == "tcp" or wish.loss is not None or wish.policers
    if prepared.scenario.transport not in MODELLED or (is_bound and has_more):
        yield Finding("EW-SIM-037", "info", prepared.scenario.transport, args={"engine": result.engine})
    if result.status == "interrupted":
        flows = result.flows
        words = {"at": format_time(result.time_ps / PS_PER_S), "n_done": int((flows.end_ps >= 0).sum())}
        yield Finding("EW-SIM-036", "warning", prepared.scenario.name, len(flows), None, "flows", words)
    if result.status == "stalled" and not any(finding.code == "EW-SIM-070" for finding in result.findings):
        left = int((result.flows.end_ps < 0).sum())
        yield Finding("EW-SIM-038", "error", prepared.scenario.name, 0, left, "flows", {"n": left})


def _insensitive(prepared: Prepared, result: SimResult) -> Iterator[Finding]:
    """Whether the answer depends on the network at all, or on what lies above the leaves."""
    sizes, network = result.tier_bytes, prepared.network
    total = sum(sizes.values())
    inside = sizes.get("local", 0) + sizes.get("scale_up", 0)
    if total and inside == total:
        yield Finding("EW-SIM-030", "warning", "traffic", None, 0, "B", _inside_words(prepared, total))
    above = sum(sizes.get(tier, 0) for tier in ("spine", "core", "room"))
    if inside < total and not above and (network.kinds == Place.SPINE).any():
        words = {"n_flows": len(result.flows), "spine_flows": 0}
        yield Finding("EW-SIM-031", "warning", "traffic", None, 0, "B", words)


def _inside_words(prepared: Prepared, total: int) -> dict[str, object]:
    """Words for traffic that stays inside: `groups of 8` for collectives of one size, `flows` otherwise."""
    sizes = {
        wish.what.group_size or wish.what.ranks or len(wish.what.hosts) or prepared.network.n_hosts
        for wish in prepared.scenario.traffics
        if isinstance(wish.what, CollectiveWish)
    }
    only_groups = all(isinstance(wish.what, CollectiveWish) for wish in prepared.scenario.traffics)
    who = f"groups of {sizes.pop()}" if only_groups and len(sizes) == 1 else "all flows"
    return {"total": format_size(total), "who": who}


def path_rows(prepared: Prepared) -> tuple[Ints, Ints]:
    """(m,) request and link of every link on the first path of every request."""
    paths, n = prepared.paths, len(prepared.requests)
    lengths = np.diff(paths.offsets)[:n]
    request, link = np.repeat(np.arange(n, dtype=np.int64), lengths), paths.links[: int(paths.offsets[n])]
    if prepared.n_ways > 1:  # of the ways that flowlets can choose from, those that were taken
        is_used = np.isin(request, prepared.flows.path)
        request, link = request[is_used], link[is_used]
    return request, link.astype(np.int64)


def _collisions(prepared: Prepared) -> Iterator[Finding]:
    """The link between switches that takes longer than the busiest link of a host: where flows collide."""
    from eastwest.simulate.analytic.bound import link_times_ps

    links = prepared.network.links
    link_ps = link_times_ps(prepared.links, prepared.paths, prepared.flows)
    is_switch = np.isin(links["level"], FABRIC_LEVELS)
    if not is_switch.any() or prepared.scenario.load_balancing in SPREAD:
        return
    worst = int(np.where(is_switch, link_ps, -1).argmax())
    host_ps = int(np.where(is_switch, 0, link_ps).max())
    if link_ps[worst] <= COLLISION_RATIO * host_ps:
        return
    is_narrow = _beside_ps(links, link_ps, worst) >= NARROW_RATIO * link_ps[worst]
    request, link = path_rows(prepared)
    n_flows = len(np.unique(request[link == worst]))
    words = {
        "n_flows": n_flows,
        "time": format_time(int(link_ps[worst]) / PS_PER_S),
        "host_time": format_time(host_ps / PS_PER_S),
        "ratio": f"{link_ps[worst] / max(1, host_ps):.1f}",
    }
    code = "EW-SIM-034" if is_narrow else "EW-SIM-033"
    yield Finding(code, "warning", link_name(prepared.network, worst), host_ps, None, "ps", words)


def _meetings(prepared: Prepared, result: SimResult) -> Iterator[Finding]:
    """The most loaded link on which the same elephants meet again and again."""
    found = next(meetings_of(prepared, result), None) if result.engine != "analytic" else None
    if found is None:
        return
    network, names = prepared.network, prepared.network.names
    hosts = network.hosts
    shown = [f"{names[hosts[src]]} -> {names[hosts[dst]]}" for src, dst in found.pairs[:MOST_PAIRS]]
    seconds = result.time_ps / PS_PER_S
    load = int(result.links.carried_bytes[found.link]) * BITS_PER_BYTE / max(1, int(result.links.rate_bps[found.link]))
    words = {
        "n_pairs": len(found.pairs),
        "pairs": ", ".join([*shown, *(["…"] if len(found.pairs) > MOST_PAIRS else [])]),
        "n": len(found.start_ps),
        "period": format_time(found.period_ps / PS_PER_S),
        "length": format_time(float(np.median(found.length_ps)) / PS_PER_S),
        "alone": format_time(found.alone_ps / PS_PER_S),
        "mean": format_percent(load / seconds if seconds else 0.0),
    }
    subject = link_name(network, found.link)
    yield Finding("EW-SIM-100", "warning", subject, found.alone_ps, int(np.median(found.length_ps)), "ps", words)


def _beside_ps(links: NDArray[np.void], link_ps: Ints, worst: int) -> float:
    """Mean time of the links of one level at the lower end of a link: what it would need if its neighbours helped."""
    row = links[worst]
    same = links["level"] == row["level"]
    ends = (same & (links["src"] == row["src"]), same & (links["dst"] == row["dst"]))
    return float(min(link_ps[end].mean() for end in ends))


def link_name(network: Network, link: int) -> str:
    """`leaf1 -> spine2`: the two ends of a link."""
    row = network.links[link]
    return f"{network.names[row['src']]} -> {network.names[row['dst']]}"


def _polarised(prepared: Prepared) -> Iterator[Finding]:
    """Tiers at which hashing leaves uplinks idle that it would use if its choices were independent."""
    if prepared.scenario.load_balancing not in ("ecmp", "flowlet"):
        return
    network, links = prepared.network, prepared.network.links
    _, link = path_rows(prepared)
    for tier, place, level in (("leaf", Place.LEAF, Level.LEAF_SPINE), ("spine", Place.SPINE, Level.SPINE_CORE)):
        up = (links["level"] == level) & (network.kinds[links["src"]] == place)
        uplinks = np.bincount(links["src"][up], minlength=len(network.names))
        mine = up[link]
        flows = np.bincount(links["src"][link[mine]], minlength=len(network.names))
        used = np.bincount(links["src"][np.unique(link[mine])], minlength=len(network.names))
        busy = np.flatnonzero((flows >= LEAST_FLOWS) & (uplinks > 1))
        expected = uplinks[busy] * (1 - (1 - 1 / uplinks[busy]) ** flows[busy])
        if len(busy) and used[busy].sum() < POLARISED_RATIO * expected.sum():
            words = {"used": int(used[busy].sum()), "uplinks": int(uplinks[busy].sum()), "kind": tier}
            yield Finding("EW-SIM-032", "warning", tier, round(float(expected.sum())), words["used"], "links", words)
